import gzip
import hashlib
import re
import subprocess
import sys
import tracemalloc

import pytest

from pacfourier.datasets import public_files
from pacfourier.datasets.public_files import contents
from pacfourier.datasets.sources import PublicFile, Source

CONTENT = b"0,1,1,0\n" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
SOURCE = Source("Made up", "none", "nobody", {"made.up": PublicFile(SHA256, SHA256, ())})


@pytest.mark.parametrize("by", ["argument", "variable"])
def test_a_file_or_any_gzip_of_it_is_found(by, tmp_path, monkeypatch):
    monkeypatch.delenv("PACFOURIER_DATA", raising=False)
    folder = tmp_path
    if by == "variable":
        monkeypatch.setenv("PACFOURIER_DATA", str(tmp_path))
        folder = None
    plain, zipped = tmp_path / "made.up", tmp_path / "made.up.gz"
    plain.write_bytes(CONTENT)
    assert contents(SOURCE, folder) == {"made.up": CONTENT}
    plain.unlink()
    for level in (1, 9):
        zipped.write_bytes(gzip.compress(CONTENT, level))
        assert contents(SOURCE, folder) == {"made.up": CONTENT}


def test_tampered_files_are_refused_by_name_and_sum(tmp_path):
    tampered = b"1" + CONTENT[1:]
    found = hashlib.sha256(tampered).hexdigest()
    for path, written in (
        (tmp_path / "made.up", tampered),
        (tmp_path / "made.up.gz", gzip.compress(tampered)),
    ):
        path.write_bytes(written)
        message = rf"{re.escape(str(path))} must have content of SHA-256 {SHA256}, got {found}\."
        with pytest.raises(ValueError, match=message):
            contents(SOURCE, tmp_path)


@pytest.mark.parametrize(
    "damaged",
    [
        gzip.compress(CONTENT)[:-20],
        gzip.compress(CONTENT)[:12] + b"\xff" * 30,
        CONTENT,
        b"",
    ],
    ids=["truncated", "overwritten", "not a gzip", "empty"],
)
def test_damaged_gzips_are_refused_by_name_and_sum(damaged, tmp_path):
    path = tmp_path / "made.up.gz"
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match=rf"made\.up\.gz must have content of SHA-256 {SHA256}"):
        contents(SOURCE, tmp_path)


@pytest.mark.parametrize("name", ["made.up", "made.up.gz"])
def test_a_file_with_too_much_content_is_refused_before_it_fills_the_memory(name, tmp_path):
    """A gzip of 16 MB of zeros is 16 kB; no more than the limit of it is unpacked."""
    path = tmp_path / name
    content = bytes(public_files.MOST_BYTES + 2**24)
    path.write_bytes(gzip.compress(content, 1) if path.suffix == ".gz" else content)
    del content
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=rf"{name} must have content .*, got more than"):
            contents(SOURCE, tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 1.5 * public_files.MOST_BYTES
    finally:
        tracemalloc.stop()


def test_a_file_of_the_largest_size_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(public_files, "MOST_BYTES", len(CONTENT))
    (tmp_path / "made.up.gz").write_bytes(gzip.compress(CONTENT))
    assert contents(SOURCE, tmp_path) == {"made.up": CONTENT}


def test_without_pooch_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "pacfourier.datasets.download", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    advice = r'made\.up must be .*: pip install "pacfourier\[datasets\]"$'
    with pytest.raises(ImportError, match=advice):
        contents(SOURCE, tmp_path)


def test_pooch_is_not_imported_before_a_download_is_due(tmp_path):
    code = (
        "import sys; from pacfourier.datasets import load; load('digits49');"
        "sys.exit('pooch' in sys.modules or 'requests' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=tmp_path).returncode == 0
