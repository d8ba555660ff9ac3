import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from pacfourier.core.alignment.summary import MOST_FINGERPRINTS, row_fingerprints, sample_summary
from pacfourier.core.phases import ROW_BLOCK

CONTAINERS = [np.asarray, sparse.csr_matrix, sparse.csr_array]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", CONTAINERS)
def test_summary_counts_repeated_rows_and_columns(container, dtype, rng):
    X = rng.standard_normal((50, 4)).astype(dtype)
    X[:, 2] = 0
    X[10:13] = X[:3]
    X[20] = X[0]
    summary = sample_summary(container(X))
    assert (summary.n_samples, summary.counts.sum(), len(summary.counts)) == (50, 50, 46)
    assert summary.repeated_share == pytest.approx(4 / 50)
    assert summary.is_integral.tolist() == [False, False, True, False]
    np.testing.assert_allclose(summary.sums, X.sum(axis=0), atol=1e-4)
    np.testing.assert_allclose(summary.squares, (X**2).sum(axis=0), rtol=1e-4)
    np.testing.assert_array_equal(summary.lowest, X.min(axis=0))
    np.testing.assert_array_equal(summary.highest, X.max(axis=0))


@pytest.mark.parametrize("container", CONTAINERS)
def test_fingerprints_are_equal_exactly_for_equal_rows(container, rng):
    X = rng.integers(0, 3, (400, 5)).astype(float)
    fingerprints = row_fingerprints(container(X))
    _, rows = np.unique(X, axis=0, return_inverse=True)
    same = fingerprints[:, np.newaxis] == fingerprints
    np.testing.assert_array_equal(same, rows.ravel()[:, np.newaxis] == rows.ravel())


def test_fingerprints_do_not_see_the_sign_of_zero():
    assert len(set(row_fingerprints(np.array([[0.0, 1.0], [-0.0, 1.0]])))) == 1


def test_repetitions_are_seen_across_blocks(rng):
    X = rng.standard_normal((3 * ROW_BLOCK, 2))
    X[-5:] = X[:5]
    summary = sample_summary(X)
    assert summary.counts.sum() - len(summary.counts) == 5
    assert not summary.is_multiplied


def test_a_sample_given_twice_is_seen_in_constant_memory(rng):
    X = rng.standard_normal((2 * MOST_FINGERPRINTS, 2))
    once = sample_summary(X)
    assert len(once.fingerprints) == MOST_FINGERPRINTS
    assert once.repeated_share == 0
    twice = once.merge(sample_summary(X))
    assert len(twice.fingerprints) == MOST_FINGERPRINTS
    assert twice.repeated_share == 0.5
    assert twice.is_multiplied


def test_merge_adds_up(rng):
    X = rng.standard_normal((60, 3))
    merged = sample_summary(X[:20]).merge(sample_summary(X[20:]))
    whole = sample_summary(X)
    for name in ("n_samples", "fingerprints", "counts", "sums", "squares", "lowest", "highest"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scalers_fitted_on_the_sample_are_noticed(dtype, rng):
    X = rng.gamma(2.0, size=(80, 3)) * [1, 10, 100]
    standardised = StandardScaler().fit_transform(X).astype(dtype)
    assert sample_summary(standardised).is_standardised
    unbiased = ((X - X.mean(axis=0)) / X.std(axis=0, ddof=1)).astype(dtype)
    assert sample_summary(unbiased).is_standardised
    for scaler in (MinMaxScaler(), MaxAbsScaler(), MinMaxScaler((-1, 1))):
        assert sample_summary(scaler.fit_transform(X).astype(dtype)).is_range_scaled
    beside_indicators = np.column_stack([standardised, rng.integers(0, 2, 80)])
    assert sample_summary(beside_indicators.astype(dtype)).is_standardised
    halves = sample_summary(standardised[:40]).merge(sample_summary(standardised[40:]))
    assert halves.is_standardised


def test_scalers_fitted_elsewhere_are_not(rng):
    X = rng.gamma(2.0, size=(160, 3)) * [1, 10, 100]
    for scaler in (StandardScaler(), MinMaxScaler(), MaxAbsScaler()):
        summary = sample_summary(scaler.fit(X[:80]).transform(X[80:]))
        assert not summary.is_standardised
        assert not summary.is_range_scaled
    indicators = sample_summary(rng.integers(0, 2, (50, 4)).astype(float))
    assert not indicators.is_range_scaled
    constant = sample_summary(np.ones((5, 2)) / 3)
    assert not constant.is_standardised
    assert not constant.is_range_scaled


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_squares_of_single_precision_do_not_overflow(container, rng):
    X = (1e30 * rng.standard_normal((50, 3))).astype(np.float32)
    found = sample_summary(container(X)).squares
    np.testing.assert_allclose(found, np.square(X.astype(np.float64)).sum(axis=0))


def test_sums_of_sparse_columns_are_in_double_precision(rng):
    X = 1e6 * rng.standard_normal((50, 3)).astype(np.float32)
    sparse_summary, summary = sample_summary(sparse.csr_array(X)), sample_summary(X)
    np.testing.assert_allclose(sparse_summary.sums, summary.sums, rtol=1e-12)
    np.testing.assert_allclose(sparse_summary.squares, summary.squares, rtol=1e-12)
    np.testing.assert_array_equal(sparse_summary.fingerprints, summary.fingerprints)
