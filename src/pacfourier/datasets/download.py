"""Downloads that resume where they stopped.

This is the only module that needs pooch, so it is imported only when a file must be downloaded.
"""

import hashlib
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

import pooch
import requests

from pacfourier.datasets.sources import PublicFile, Source
from pacfourier.written_files import claimed_file, move_claimed, remove_unclaimed

CHUNK_BYTES = 8192
TIMEOUT_SECONDS = 30


def cached_files(source: Source, names: list[str]) -> dict[str, Path]:
    """Return files in the cache of pooch, after downloading those that are missing."""
    cache = pooch.os_cache("pacfourier")
    if not all((cache / _served_name(source.files[name])).is_file() for name in names):
        pooch.get_logger().info(
            "%s. Licence: %s. Cite: %s", source.title, source.licence, source.citation
        )
    return {name: _cached_file(source.files[name], cache) for name in names}


def _served_name(file: PublicFile) -> str:
    return file.urls[0].rsplit("/", 1)[-1]


def _cached_file(file: PublicFile, cache: Path) -> Path:
    name = _served_name(file)
    failures = []
    for url in file.urls:
        try:
            pooch.retrieve(
                url, file.download_sha256, fname=name, path=cache, downloader=resume_download
            )
        except (requests.RequestException, ValueError) as error:
            failures.append(f"{url}: {error}")
            pooch.get_logger().warning("Failed: %s", failures[-1])
        else:
            _remove_parts(name, cache)
            return cache / name
    raise FileNotFoundError(
        f"{name} must be in the folder that PACFOURIER_DATA names or at one of its addresses, got:"
        + "".join(f"\n  {failure}" for failure in failures)
        + "\nGet the file by other means and put it in that folder."
    )


def resume_download(url: str, output_file: str, _pooch: pooch.Pooch | None) -> None:
    """Download to a part file, then move it to the output file.

    If interrupted, the part file stays, and the next call resumes at its end. Downloads at the same
    time have a part file each. This function is a downloader for pooch, which checks the output
    file and removes it if its SHA-256 is wrong.
    """
    part, file = _claimed_part(url, Path(output_file).parent)
    with file:
        try:
            _append_rest(url, file)
            move_claimed(file, part, Path(output_file))
        finally:
            if not file.closed and not file.tell():
                part.unlink(missing_ok=True)


def _append_rest(url: str, file: BinaryIO) -> None:
    start = file.tell()
    # A range counts the bytes of the stored file, so the transfer must not be compressed.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT_SECONDS) as response:
        if start and response.status_code == requests.codes.range_not_satisfiable:
            return
        response.raise_for_status()
        # A server without support for ranges sends the file from its start.
        if response.status_code != requests.codes.partial_content:
            file.truncate(0)
        for chunk in response.iter_content(CHUNK_BYTES):
            file.write(chunk)


def _claimed_part(url: str, folder: Path) -> tuple[Path, BinaryIO]:
    """Return a part file of an address that no other download has.

    Each address has its own part files, so servers are never mixed.
    """
    name = f"{url.rsplit('/', 1)[-1]}.{hashlib.sha256(url.encode()).hexdigest()[:8]}"
    left_over = sorted(folder.glob(f"{name}.*.part"))
    while True:
        part = left_over.pop() if left_over else folder / f"{name}.{uuid4().hex}.part"
        file = claimed_file(part)
        if file is not None:
            return part, file


def _remove_parts(name: str, cache: Path) -> None:
    for part in cache.glob(f"{name}.*.part"):
        remove_unclaimed(part)
