import numpy as np
import pytest
from scipy import sparse

from pacfourier import PBRFF
from pacfourier.datasets import DATASETS, load

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


@pytest.mark.parametrize("name", DATASETS)
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


def test_breast_needs_no_files(tmp_path):
    assert load("breast", tmp_path).X.shape == (569, 30)


def test_missing_files_and_names_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"ad\.data\.gz must be in the folder"):
        load("ads", tmp_path)
    with pytest.raises(ValueError, match="name must be one of"):
        load("iris")


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
