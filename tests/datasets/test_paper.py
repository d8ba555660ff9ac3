import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from pacfourier import PBRFF
from pacfourier.datasets import DATASETS, PAPER_DATASETS, describe, load
from pacfourier.datasets.sources import SOURCES

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


@pytest.mark.parametrize("name", PAPER_DATASETS)
def test_sizes_are_those_of_the_paper(name, data_folder):
    data = load(name, data_folder)
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
    "digits17": (361, 64, 179),
    "digits49": (361, 64, 180),
    "digits56": (363, 64, 181),
}


@pytest.mark.parametrize("name", EMBEDDED_SIZES)
def test_what_ships_with_scikit_learn_needs_no_files(name, tmp_path):
    data = load(name, tmp_path)
    assert (*data.X.shape, int((data.y == 1).sum())) == EMBEDDED_SIZES[name]
    assert set(np.unique(data.y)) == {-1, 1}
    if name.startswith("digits"):
        assert (data.X.min(), data.X.max()) == (0.0, 1.0)


def test_the_lower_digit_is_the_negative_one():
    X, digits = load_digits(return_X_y=True)
    data = load("digits49")
    np.testing.assert_array_equal(data.X[data.y == -1], X[digits == 4] / 16)
    np.testing.assert_array_equal(data.X[data.y == 1], X[digits == 9] / 16)


def test_every_dataset_has_a_source_with_a_licence_and_a_citation():
    assert set(DATASETS) == set(SOURCES) == set(SIZES) | set(EMBEDDED_SIZES)
    assert set(PAPER_DATASETS) == set(SIZES)
    for name in DATASETS:
        source = describe(name)
        assert source.title.split()[0] in source.citation
        assert "CC BY" in source.licence
        assert bool(source.files) == (name not in EMBEDDED_SIZES)
        for file in source.files.values():
            assert file.urls
            assert all(url.startswith("https://") for url in file.urls)
            assert len(file.content_sha256) == len(file.download_sha256) == 64


@pytest.mark.parametrize("name", ["mnist17", "ads", "adult", "farm"])
def test_sums_of_downloads_are_those_of_the_public_files(name, data_folder):
    for file_name, file in describe(name).files.items():
        is_gzip = file.urls[0].endswith(".gz")
        path = Path(data_folder, f"{file_name}.gz")
        content = path.read_bytes() if is_gzip else gzip.decompress(path.read_bytes())
        assert hashlib.sha256(content).hexdigest() == file.download_sha256


@pytest.mark.parametrize("function", [load, describe])
def test_unknown_names_are_refused(function):
    with pytest.raises(ValueError, match=r"name must be one of .*, got 'iris'"):
        function("iris")


def test_sparse_data_give_the_losses_of_dense_data(data_folder):
    data = load("farm", data_folder)
    rows = slice(0, 200)
    columns = np.argsort(-np.asarray(data.X[rows].sum(axis=0)).ravel())[:500]
    X, y = data.X[rows][:, columns], data.y[rows]
    model = PBRFF(10, n_candidates=2000, random_state=0)
    from_sparse = model.fit(X, y).losses_
    from_dense = model.fit(X.toarray(), y).losses_
    np.testing.assert_allclose(from_sparse, from_dense, atol=1e-10)


def test_learned_frequencies_beat_random_ones_on_digits_four_and_nine(data_folder):
    """A linear model on 10 frequencies, 2,000 training images; the published RFF has 32 %."""
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline

    data = load("mnist49", data_folder)
    order = np.random.default_rng(0).permutation(len(data.y))
    X, y = data.X[order[:6000]], data.y[order[:6000]]
    model = make_pipeline(PBRFF(10, random_state=0), RidgeClassifier(1e-3))
    assert 1 - model.fit(X[:2000], y[:2000]).score(X[2000:], y[2000:]) < 0.16
