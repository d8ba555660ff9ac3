"""Load objects from ``.skops`` files. Only expected types are loaded, and loading runs no code."""

import io
import json
import zipfile
from collections import deque
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from pacfourier.errors import InputError, listed
from pacfourier.extras import explain_missing_extra

# More bytes than these are unpacked from no file: a small file can hold terabytes of zeros.
MOST_BYTES = 2**30
# The part that lists all others, and the most bytes of it: in memory it takes many times as much.
SCHEMA, MOST_SCHEMA_BYTES = "schema.json", 2**28
# Types that are data and nothing else.
PLAIN_TYPES = frozenset(
    {f"builtins.{name}" for name in ("dict", "float", "int", "list", "slice", "str", "tuple")}
    | {f"numpy.{name}" for name in ("dtype", "float32", "float64", "int64", "ndarray")}
    | {"numpy.random.mtrand.RandomState"}
)


def trusted_object(path: Path, types: Collection[str], rule: str) -> Any:
    """Return the object in a ``.skops`` file; a file that holds other types gives an error.

    skops trusts all types of scikit-learn. Some of them crash if their numbers were forged, so
    only those that the caller names are loaded, besides plain data.

    Parameters
    ----------
    path : pathlib.Path
    types : collection of str
        The full names of all types that the object may hold.
    rule : str
        What the file must be, for errors.
    """
    with explain_missing_extra():
        import skops.io
    rule = f"{rule}, got {str(path)!r}"
    if not path.is_file():
        raise InputError(f"{rule}: no such file.")
    try:
        data = path.read_bytes()
        check_contents(data, types, rule)
        return skops.io.loads(data, trusted=sorted(PLAIN_TYPES | set(types)))
    except InputError:
        raise
    # skops raises many kinds of errors on a damaged file; to a user they all mean the same.
    except Exception as error:
        raise InputError(f"{rule}: {type(error).__name__}: {error}") from None


def check_contents(data: bytes, types: Collection[str], rule: str) -> None:
    """Raise an error if a file would take too much memory, or holds other types."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if excess := excess_size(archive):
            raise InputError(f"{rule}: {excess}")
        # skops reads a part at once, whatever it claims. A false claim is an error here.
        for name in archive.namelist():
            deque(pieces(archive, name), maxlen=0)
        schema = json.loads(archive.read(SCHEMA))
    foreign = sorted(types_in(schema) - PLAIN_TYPES - set(types))
    if foreign:
        raise InputError(f"{rule}: it holds types that no model has, {listed(foreign)}.")


def excess_size(archive: zipfile.ZipFile) -> str | None:
    """Return what is too large to be unpacked, if parts are as long as they claim."""
    n_bytes = sum(part.file_size for part in archive.infolist())
    if n_bytes > MOST_BYTES:
        return f"it unpacks to {n_bytes:,} bytes, more than {MOST_BYTES:,}."
    n_bytes = archive.getinfo(SCHEMA).file_size
    if n_bytes > MOST_SCHEMA_BYTES:
        return f"its structure has {n_bytes:,} bytes, more than {MOST_SCHEMA_BYTES:,}."
    return None


def pieces(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """Yield one part of an archive in pieces of at most a megabyte.

    zipfile would unpack gigabytes at once from a part that claims to be short. In pieces, it stops
    at the length claimed, and raises BadZipFile if there is more.
    """
    with archive.open(name) as part:
        while piece := part.read(2**20):
            yield piece


def types_in(schema: Any) -> set[str]:
    """Return the full names of all types that a schema of skops names, at any depth."""
    found, left = set(), [schema]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            if "__class__" in node:
                found.add(f"{node.get('__module__')}.{node['__class__']}")
            left += node.values()
        elif isinstance(node, list):
            left += node
    return found
