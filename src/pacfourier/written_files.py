"""Files that are written completely or not at all, and files that only one process has."""

import os
import re
import stat
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from pacfourier.errors import InputError

# Windows does not remove or move open files, so files are not locked there.
if sys.platform != "win32":
    from fcntl import LOCK_EX, LOCK_NB, flock


def _claimed_file(path: Path) -> BinaryIO | None:
    """Open a file to append to it, and lock it until it is closed or the process ends.

    Parameters
    ----------
    path : pathlib.Path
        The file; it is created if it does not exist.

    Returns
    -------
    file : binary file or None
        None if the file is locked by somebody else, or was moved away or removed meanwhile.
    """
    return _locked(path.open("ab"), path)


def _locked(file: BinaryIO, path: Path) -> BinaryIO | None:
    with suppress(OSError):
        if sys.platform != "win32":
            flock(file, LOCK_EX | LOCK_NB)
        if os.path.samestat(os.fstat(file.fileno()), path.stat()):
            return file
    file.close()
    return None


def _move_claimed(file: BinaryIO, path: Path, target: Path) -> None:
    """Move a claimed file to another name, completely or not at all.

    Parameters
    ----------
    file : binary file
        The file, as ``_claimed_file`` returned it.
    path, target : pathlib.Path
        Its name, and its new name.
    """
    file.flush()
    os.fsync(file.fileno())
    # An open file is not moved there.
    if sys.platform == "win32":
        file.close()
    path.replace(target)


def _remove_unclaimed(path: Path) -> None:
    """Remove a file, unless somebody has claimed it."""
    with suppress(OSError), path.open("rb") as opened:
        if _locked(opened, path):
            if sys.platform == "win32":
                opened.close()
            path.unlink()


@contextmanager
def written_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file whose content becomes that of ``path`` when the context ends without an error.

    Until then an older file stays as it is. The new file has the permissions of the older one.
    Temporary files of the same path that killed processes left are removed.

    Parameters
    ----------
    path : pathlib.Path

    Yields
    ------
    file : binary file

    Raises
    ------
    InputError
        If the file cannot be written, for example because the disk is full.
    """
    # A link stays a link.
    path, temporary = path.resolve(), None
    try:
        _remove_left_over(path)
        file, temporary = _temporary_file(path)
        with file:
            with suppress(FileNotFoundError):
                temporary.chmod(stat.S_IMODE(path.stat().st_mode))
            yield file
            _move_claimed(file, temporary, path)
    except OSError as error:
        raise InputError(f"the output must be writable, got {str(path)!r}: {error}") from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_file(path: Path, data: bytes) -> None:
    """Write a file completely or not at all: an older file stays until the new one is complete.

    Parameters
    ----------
    path : pathlib.Path
    data : bytes

    Raises
    ------
    InputError
        If the file cannot be written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp(), "formula.txt")
    >>> write_file(path, b"cos(x)")
    >>> path.read_bytes()
    b'cos(x)'
    """
    with written_file(path) as file:
        file.write(data)


def _temporary_file(path: Path) -> tuple[BinaryIO, Path]:
    while True:
        temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
        file = _claimed_file(temporary)
        # Before it was locked, another process may have taken the new file for one left over.
        if file is not None:
            return file, temporary


def _remove_left_over(path: Path) -> None:
    names = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{32}}")
    for other in path.parent.iterdir():
        if names.fullmatch(other.name):
            _remove_unclaimed(other)
