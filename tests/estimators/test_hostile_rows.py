"""Rows that are written in an unusual way, or lie far from zero, give the same model."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import RidgeClassifier

from pacfourier import (
    OKRFF,
    PBRFF,
    RFF,
    BoostedRFF,
    FourierClassifier,
    FourierRegressor,
    GibbsRFF,
    PBLandmarks,
    RBFLandmarks,
    alignment_losses,
    certify,
)

MAPS = {
    "RFF": RFF(20, gamma="median", random_state=0),
    "RFF, scale": RFF(20, gamma="scale", random_state=0),
    "PBRFF": PBRFF(20, n_candidates=200, random_state=0),
    "OKRFF": OKRFF(20, n_candidates=200, random_state=0),
    "BoostedRFF": BoostedRFF(5, random_state=0),
    "RBFLandmarks": RBFLandmarks(n_landmarks=10, random_state=0),
    "PBLandmarks": PBLandmarks(n_landmarks=10, n_frequencies=10, random_state=0),
    "FourierClassifier": FourierClassifier(5, alpha=1.0, piecewise=False, random_state=0),
}


def rows_and_classes(n_rows=120):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 5)) * (rng.random((n_rows, 5)) < 0.6)
    return X, (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)


def doubled_entries(X):
    """Return a CSR matrix in which every entry stands twice, with half of its value each time."""
    csr = sparse.csr_matrix(X)
    indices, data = np.repeat(csr.indices, 2), np.repeat(csr.data / 2, 2)
    return sparse.csr_matrix((data, indices, 2 * csr.indptr), shape=X.shape)


def unsorted_entries(X):
    """Return a CSR matrix whose rows list their entries from right to left."""
    csr = sparse.csr_matrix(X)
    rows = [slice(*csr.indptr[k : k + 2]) for k in range(X.shape[0])]
    indices = np.concatenate([csr.indices[row][::-1] for row in rows])
    data = np.concatenate([csr.data[row][::-1] for row in rows])
    return sparse.csr_matrix((data, indices, csr.indptr), shape=X.shape)


def long_indices(X):
    """Return a CSR matrix with 64-bit indices, which the constructor would shorten."""
    csr = sparse.csr_array(X)
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    return csr


def outputs(model, X, y):
    model.fit(X, y)
    return model.decision_function(X) if hasattr(model, "predict") else model.transform(X)


@pytest.mark.parametrize("written", [doubled_entries, unsorted_entries, long_indices])
@pytest.mark.parametrize("name", MAPS)
def test_sparse_rows_may_be_written_in_any_way(name, written):
    X, y = rows_and_classes()
    unusual = written(X)
    before = [unusual.data.copy(), unusual.indices.copy(), unusual.indptr.copy()]
    expected = outputs(MAPS[name], sparse.csr_matrix(X), y)
    np.testing.assert_allclose(outputs(MAPS[name], unusual, y), expected, atol=1e-10)
    for old, new in zip(before, (unusual.data, unusual.indices, unusual.indptr), strict=True):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize("written", [doubled_entries, unsorted_entries])
def test_entries_that_share_a_place_add_up_in_losses_and_in_fingerprints(written):
    X, y = rows_and_classes()
    frequencies = np.random.default_rng(1).standard_normal((7, 5))
    expected = alignment_losses(X, y, frequencies)
    np.testing.assert_allclose(alignment_losses(written(X), y, frequencies), expected, atol=1e-12)
    rows = sparse.csr_matrix(np.vstack([X[:30], X[:30]]))
    model = FourierClassifier(5, alpha=1.0, piecewise=False, random_state=0).fit(X[30:], y[30:])
    mixed = sparse.vstack([sparse.csr_matrix(X[:30]), written(X[:30])], format="csr")
    for repeated in (rows, mixed):
        certificate = certify(model, repeated, np.tile(y[:30], 2))
        assert [item.name for item in certificate.violations] == ["sample"]


@pytest.mark.parametrize("shift", [1e4, 1e8])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "model",
    [
        RBFLandmarks(n_landmarks=15, random_state=0),
        PBLandmarks(n_landmarks=15, n_frequencies=20, random_state=0),
        RFF(30, gamma="median", random_state=0),
        PBRFF(30, n_candidates=200, random_state=0),
        OKRFF(30, n_candidates=200, random_state=0),
    ],
    ids=lambda each: type(each).__name__,
)
def test_kernels_do_not_depend_on_where_zero_is(model, dtype, shift):
    X, y = shiftable_rows(dtype, shift)
    expected = kernel_of(model.fit(X, y), X)
    found = kernel_of(model.fit(X + dtype(shift), y), X + dtype(shift))
    np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize("shift", [1e4, 1e8])
@pytest.mark.parametrize("model", [GibbsRFF(5, random_state=0), BoostedRFF(5, random_state=0)])
def test_maps_whose_frequencies_move_are_as_good_wherever_zero_is(model, shift):
    """Rounding sends samplers and descents along other paths, to another model of its kind."""
    X, y = shiftable_rows(np.float64, shift)
    scores = []
    for rows in (X, X + shift):
        features = model.fit(rows, y).transform(rows)
        scores.append(RidgeClassifier(1e-3).fit(features, y).score(features, y))
    assert min(scores) > 0.8
    assert abs(scores[0] - scores[1]) < 0.05


@pytest.mark.parametrize("shift", [1e4, 1e8])
@pytest.mark.parametrize("estimator", [FourierClassifier, FourierRegressor])
def test_predictions_do_not_depend_on_where_zero_is(estimator, shift):
    X, y = shiftable_rows(np.float64, shift)
    model = estimator(10, alpha=1.0, random_state=0)
    expected = model.fit(X, y).predict(X)
    found = model.fit(X + shift, y).predict(X + shift)
    assert np.mean(np.abs(found - expected) > 0.05) <= 0.02


def shiftable_rows(dtype, shift):
    """Return rows that a shift does not round: multiples of the spacing of numbers of its size."""
    X, y = np.random.default_rng(0).standard_normal((150, 4)), np.arange(150) % 2
    unit = np.spacing(dtype(2 * shift)) * dtype(2)
    if unit > 0.5:
        pytest.skip("single precision has no digits for such rows")
    X[:, 0] += 2 * y
    return (np.round(X / unit) * unit).astype(dtype), y


def kernel_of(model, X):
    """Return the kernel of a map, or the similarities to its landmarks."""
    features = np.asarray(model.transform(X), dtype=np.float64)
    is_landmark = hasattr(model, "landmarks_")
    return features if is_landmark else features @ features.T
