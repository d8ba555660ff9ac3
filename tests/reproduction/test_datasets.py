import gzip
import hashlib
import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from pacfourier import PBRFF
from reproduction import datasets
from reproduction.datasets import DATASETS, FILES, PAPER_DATASETS, contents, load

CONTENT = b"0,1,1,0\n" * 1000


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """A public file that we made up, and the folder where it is looked for first."""
    entry = {"sha256": hashlib.sha256(CONTENT).hexdigest(), "address": "https://nowhere/made.up"}
    monkeypatch.setitem(FILES, "made.up", entry)
    monkeypatch.setenv("PACFOURIER_DATA", str(tmp_path))
    return tmp_path / "made.up"


# Rows, columns and positive labels of the public files.
SIZES = {
    "ads": (3279, 1554, 459),
    "adult": (48842, 108, 11687),
    "breast": (569, 30, 357),
    "farm": (4143, 54877, 2210),
    "mnist17": (15170, 784, 7293),
    "mnist49": (13782, 784, 6958),
    "mnist56": (13189, 784, 6876),
}


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("name", PAPER_DATASETS)
def test_sizes_are_those_of_the_paper(name):
    data = load(name)
    assert (*data.X.shape, int((data.y == 1).sum())) == SIZES[name]
    assert set(np.unique(data.y)) == {-1, 1}
    assert data.n_train == (32561 if name == "adult" else None)
    assert sparse.issparse(data.X) == (name == "farm")
    values = data.X.data if name == "farm" else data.X
    assert np.isfinite(values).all()
    if name.startswith("mnist"):
        assert (values.min(), values.max()) == (0.0, 1.0)


# Rows, columns and positive labels.
EMBEDDED_SIZES = {
    "breast": (569, 30, 357),
    "digits49": (361, 64, 180),
}


@pytest.mark.parametrize("name", EMBEDDED_SIZES)
def test_what_ships_with_scikit_learn_needs_no_files(name, monkeypatch):
    monkeypatch.setattr(datasets, "contents", None)
    data = load(name)
    assert (*data.X.shape, int((data.y == 1).sum())) == EMBEDDED_SIZES[name]
    assert set(np.unique(data.y)) == {-1, 1}
    if name.startswith("digits"):
        assert (data.X.min(), data.X.max()) == (0.0, 1.0)


def test_the_lower_digit_is_the_negative_one():
    X, digits = load_digits(return_X_y=True)
    data = load("digits49")
    np.testing.assert_array_equal(data.X[data.y == -1], X[digits == 4] / 16)
    np.testing.assert_array_equal(data.X[data.y == 1], X[digits == 9] / 16)


def test_every_data_set_has_a_licence_and_every_file_a_checksum():
    page = Path(datasets.__file__).with_name("README.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ") and "CC BY" in line]
    assert {name for row in rows for name in row.split(" | ")[0][2:].split(", ")} == set(DATASETS)
    assert set(PAPER_DATASETS) == set(SIZES)
    for entry in FILES.values():
        assert re.fullmatch("[0-9a-f]{64}", entry["sha256"])
        assert entry["address"].startswith("https://")


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match=r"data set must be one of .*, got 'iris'"):
        load("iris")


def test_a_file_or_any_gzip_of_it_is_found(made_up):
    made_up.write_bytes(CONTENT)
    assert contents("made.up") == CONTENT
    made_up.unlink()
    for level in (1, 9):
        Path(f"{made_up}.gz").write_bytes(gzip.compress(CONTENT, level))
        assert contents("made.up") == CONTENT


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_tampered_files_are_refused_by_name_and_sum(made_up, suffix):
    tampered, path = b"1" + CONTENT[1:], Path(f"{made_up}{suffix}")
    path.write_bytes(gzip.compress(tampered) if suffix else tampered)
    expected, found = (hashlib.sha256(each).hexdigest() for each in (CONTENT, tampered))
    message = rf"{re.escape(str(path))} must have content of SHA-256 {expected}, got {found}\."
    with pytest.raises(ValueError, match=message):
        contents("made.up")


@pytest.mark.parametrize(
    "damaged",
    [gzip.compress(CONTENT)[:-20], gzip.compress(CONTENT)[:12] + b"\xff" * 30, CONTENT, b""],
    ids=["truncated", "overwritten", "not a gzip", "empty"],
)
def test_damaged_gzips_are_refused_by_name_and_sum(made_up, damaged):
    Path(f"{made_up}.gz").write_bytes(damaged)
    with pytest.raises(ValueError, match=r"made\.up\.gz must have content of SHA-256 "):
        contents("made.up")


def test_a_gzip_of_too_many_bytes_is_not_read_to_its_end(made_up, monkeypatch):
    Path(f"{made_up}.gz").write_bytes(gzip.compress(CONTENT))
    monkeypatch.setattr(datasets, "MOST_BYTES", len(CONTENT))
    assert contents("made.up") == CONTENT
    monkeypatch.setattr(datasets, "MOST_BYTES", len(CONTENT) - 1)
    with pytest.raises(ValueError, match="must have content of SHA-256"):
        contents("made.up")


@pytest.mark.parametrize("content", [CONTENT, b"an error page"])
def test_what_pooch_downloads_is_checked(made_up, content, monkeypatch):
    """The file is in no folder; pooch stores it under the name that the address has."""
    cache = made_up.parent / "cache"
    cache.mkdir()

    def retrieve(address, known_hash, name, path):
        assert (address, known_hash, name, path) == (
            FILES["made.up"]["address"],
            None,
            "made.up",
            cache,
        )
        (cache / name).write_bytes(content)
        return str(cache / name)

    pooch = Mock(retrieve=retrieve, os_cache=Mock(return_value=cache))
    monkeypatch.setitem(sys.modules, "pooch", pooch)
    if content == CONTENT:
        assert contents("made.up") == CONTENT
        return
    with pytest.raises(ValueError, match=r"cache.made\.up must have content of SHA-256 "):
        contents("made.up")


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize("pooch", [None, Mock(retrieve=Mock(side_effect=OSError("no network")))])
def test_a_file_that_is_nowhere_is_named_with_its_address(pooch, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", pooch)
    message = r"made\.up must be in the folder that PACFOURIER_DATA names, .* https://nowhere/made"
    with pytest.raises(FileNotFoundError, match=message):
        contents("made.up")


def test_pooch_is_not_imported_before_a_download_is_due():
    code = "import sys; from reproduction import datasets as d; d.load('digits49');"
    code += "sys.exit('pooch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.usefixtures("data_folder")
def test_sparse_data_give_the_losses_of_dense_data():
    data = load("farm")
    rows = slice(0, 200)
    columns = np.argsort(-np.asarray(data.X[rows].sum(axis=0)).ravel())[:500]
    X, y = data.X[rows][:, columns], data.y[rows]
    model = PBRFF(10, n_candidates=2000, random_state=0)
    from_sparse = model.fit(X, y).losses_
    from_dense = model.fit(X.toarray(), y).losses_
    np.testing.assert_allclose(from_sparse, from_dense, atol=1e-10)


@pytest.mark.usefixtures("data_folder")
def test_learned_frequencies_beat_random_ones_on_digits_four_and_nine():
    """A linear model on 10 frequencies, 2,000 training images; the published RFF has 32 %."""
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline

    data = load("mnist49")
    order = np.random.default_rng(0).permutation(len(data.y))
    X, y = data.X[order[:6000]], data.y[order[:6000]]
    model = make_pipeline(PBRFF(10, random_state=0), RidgeClassifier(1e-3))
    assert 1 - model.fit(X[:2000], y[:2000]).score(X[2000:], y[2000:]) < 0.16
