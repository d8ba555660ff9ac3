"""Arrays in zip archives, such as ``.npz`` files: no pickles, and no more memory than allowed."""

import io
import math
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacfourier.errors import InputError
from pacfourier.written_files import write_file

# More bytes than these are unpacked from no file: a small file can hold terabytes of zeros.
MOST_BYTES = 2**30
# Of a ``.npy`` file in format 1.0: six bytes of magic, two of version, two of length, and a text.
_LONGEST_HEADER = 10 + 2**16
# The kinds of numbers that arrays may hold, and the most bytes of each. U stands for texts.
NUMBER_KINDS, MOST_ITEM_BYTES = "biuf", 8


class UnreadableError(ValueError):
    """A file holds what no file of plain data holds."""


def write_arrays(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write an ``.npz`` file, completely or not at all."""
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    write_file(path, file.getvalue())


def arrays_of_file(path: Path, rule: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of numbers and texts in an ``.npz`` file.

    Parameters
    ----------
    path : pathlib.Path
    rule : str
        What the file must be, and its name; errors start with it.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _arrays_of(archive)
    except FileNotFoundError:
        reason = "no such file."
    except UnreadableError as error:
        reason = str(error)
    # zipfile and numpy raise many kinds of errors on a damaged file, MemoryError among them.
    except Exception as error:
        reason = f"it is damaged ({type(error).__name__}: {' '.join(str(error).split())[:200]})."
    raise InputError(f"{rule}: {reason}")


def _arrays_of(archive: zipfile.ZipFile) -> dict[str, NDArray[Any]]:
    """Return the arrays of an archive by name, if all of them are small enough."""
    n_bytes = sum(part.file_size for part in archive.infolist())
    if n_bytes > MOST_BYTES:
        raise UnreadableError(f"it unpacks to {n_bytes:,} bytes, more than {MOST_BYTES:,}.")
    return {
        name.removesuffix(".npy"): array_of(unpacked(archive, name), f"{NUMBER_KINDS}U")
        for name in archive.namelist()
    }


def unpacked(archive: zipfile.ZipFile, name: str) -> bytearray:
    """Return one part of an archive."""
    content = bytearray()
    for piece in _pieces(archive, name):
        content += piece
    return content


def _pieces(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """Yield one part of an archive in pieces of at most a megabyte.

    zipfile would unpack gigabytes at once from a part that claims to be short. In pieces, it stops
    at the length claimed, and raises BadZipFile if there is more.
    """
    with archive.open(name) as part:
        while piece := part.read(2**20):
            yield piece


def is_of_kind(dtype: Any, kinds: str = NUMBER_KINDS) -> bool:
    """Return whether a dtype is of given kinds, and of at most eight bytes unless it is text."""
    return dtype.kind in kinds and (dtype.kind == "U" or dtype.itemsize <= MOST_ITEM_BYTES)


def array_of(content: bytearray, kinds: str = NUMBER_KINDS) -> NDArray[Any]:
    """Return the array in a ``.npy`` file, in the memory of the file, whose size it must have.

    Objects, which NumPy would store as pickles, are refused.
    """
    file = io.BytesIO(content[:_LONGEST_HEADER])
    if np.lib.format.read_magic(file) != (1, 0):
        raise UnreadableError("it holds an array in an unknown format.")
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
    if not is_of_kind(dtype, kinds):
        raise UnreadableError(f"it holds an array of {dtype}, which are not numbers.")
    data = memoryview(content)[file.tell() :]
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(data):
        raise UnreadableError(f"it holds an array of {len(data)} bytes for the shape {shape}.")
    # NumPy reads no elements of zero bytes from memory, such as empty texts.
    flat = np.frombuffer(data, dtype=dtype) if len(data) else np.empty(math.prod(shape), dtype)
    return flat.reshape(shape[::-1]).T if is_fortran else flat.reshape(shape)
