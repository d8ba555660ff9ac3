"""The public files: found in a folder or downloaded, and always checked."""

import gzip
import hashlib
import os
import zlib
from pathlib import Path

from pacfourier.datasets.sources import Source
from pacfourier.extras import MissingExtraError, explain_missing_extra

# The largest public file has 47 MB; a gzip of a megabyte may hold gigabytes of zeros.
MOST_BYTES = 2**27


def contents(source: Source, folder: str | os.PathLike[str] | None) -> dict[str, bytes]:
    """Return the uncompressed content of the files of a source, by name.

    Each file, or its gzip, is looked for in the folder, then in the cache of downloads. A file
    that is in neither place is downloaded.
    """
    paths = _files_in(folder or os.environ.get("PACFOURIER_DATA"), source)
    absent = [name for name in source.files if name not in paths]
    if absent:
        paths |= _downloads(source, absent)
    return {name: _content(paths[name], file.content_sha256) for name, file in source.files.items()}


def _files_in(folder: str | os.PathLike[str] | None, source: Source) -> dict[str, Path]:
    if not folder:
        return {}
    forms = [(name, Path(folder, form)) for name in source.files for form in (name, f"{name}.gz")]
    return {name: path for name, path in forms if path.is_file()}


def _downloads(source: Source, names: list[str]) -> dict[str, Path]:
    try:
        # Here, because the module needs pooch.
        with explain_missing_extra():
            from pacfourier.datasets.download import cached_files
    except MissingExtraError as error:
        raise MissingExtraError(
            f"{', '.join(names)} must be in the folder that PACFOURIER_DATA names, or be "
            f"downloaded, but {error}",
            name=error.name,
        ) from error
    return cached_files(source, names)


def _content(path: Path, sha256: str) -> bytes:
    """Return the content of a file; raise an error if it is damaged or much too large."""
    content = b""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        found = hashlib.sha256(content).hexdigest()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        found = f"a damaged gzip file ({error})"
    if len(content) > MOST_BYTES:
        found = f"more than {MOST_BYTES:,} bytes"
    if found != sha256:
        raise ValueError(
            f"{path} must have content of SHA-256 {sha256}, got {found}. "
            "Remove the file or replace it by a good copy."
        )
    return content
