"""The public files: found in a folder or downloaded, and always checked."""

import gzip
import hashlib
import os
import zlib
from pathlib import Path

from pacfourier.datasets.sources import Source


def contents(source: Source, folder: str | os.PathLike | None) -> dict[str, bytes]:
    """Return the uncompressed content of a source's files, by name.

    Each file, or its gzip, is looked for in the folder, then in the cache of downloads, and is
    downloaded if it is in neither.
    """
    paths = _files_in(folder or os.environ.get("PACFOURIER_DATA"), source)
    absent = [name for name in source.files if name not in paths]
    if absent:
        paths |= _downloads(source, absent)
    return {name: _content(paths[name], file.content_sha256) for name, file in source.files.items()}


def _files_in(folder: str | os.PathLike | None, source: Source) -> dict[str, Path]:
    if not folder:
        return {}
    forms = [(name, Path(folder, form)) for name in source.files for form in (name, f"{name}.gz")]
    return {name: path for name, path in forms if path.is_file()}


def _downloads(source: Source, names: list[str]) -> dict[str, Path]:
    try:
        from pacfourier.datasets.download import cached_files
    except ModuleNotFoundError as error:
        raise ImportError(
            f"{', '.join(names)} must be in the folder that PACFOURIER_DATA names, or pooch must "
            "be there to download: pip install pacfourier[datasets]"
        ) from error
    return cached_files(source, names)


def _content(path: Path, sha256: str) -> bytes:
    """Read a file whole and check it: what is damaged must not become a data set."""
    content = path.read_bytes()
    try:
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        found = hashlib.sha256(content).hexdigest()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        found = f"a damaged gzip file ({error})"
    if found != sha256:
        raise ValueError(f"{path} must have content of SHA-256 {sha256}, got {found}.")
    return content
