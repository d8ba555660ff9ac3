import numpy as np
import pytest
from scipy import sparse

from pacfourier.core.boosting.scaling import column_moments, scaled_columns


def sample(rng):
    X = rng.standard_normal((60, 4)) * (rng.random((60, 4)) < 0.5)
    # One column is constant, one is empty.
    X[:, 2], X[:, 3] = 0.1, 0
    return X, rng.uniform(0.5, 2, 60)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_moments_are_those_of_the_copies(container, dtype, rng):
    X, copies = sample(rng)
    X = X.astype(dtype)
    means, variances = column_moments(container(X), copies)
    expected = np.average(X.astype(np.float64), axis=0, weights=copies)
    np.testing.assert_allclose(means, expected, atol=1e-15)
    squares = np.square(X - expected)
    np.testing.assert_allclose(variances, np.average(squares, axis=0, weights=copies), atol=1e-15)


def test_an_absent_row_that_hardly_counts_leaves_a_constant_column():
    X = np.array([[0.1], [0.1], [0.1], [0.0]])
    scales = scaled_columns(sparse.csr_array(X), np.array([1, 0.3, 0.7, 1e-90]), np.float64)[1]
    assert np.isinf(scales).all()


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_columns_have_deviation_one_or_are_left_out(container, rng):
    X, copies = sample(rng)
    scaled, scales = scaled_columns(container(X), copies, np.float32)
    assert scaled.dtype == np.float32
    assert np.isinf(scales).tolist() == [False, False, True, True]
    variances = column_moments(scaled, copies)[1]
    np.testing.assert_allclose(variances, [1, 1, 0, 0], atol=1e-6)
