from functools import reduce

import numpy as np
import pytest
from scipy import sparse

from pacfourier.core import loops
from pacfourier.core.features import (
    ROWS_PER_TASK,
    features_in,
    features_within,
    fourier_features,
)
from pacfourier.core.precision import phase_sizes, precision_groups
from pacfourier.core.prior.bandwidth import (
    _MEDIAN_SAMPLES,
    median_gamma,
    median_rows,
    merged_moments,
    scale_gamma,
    scale_moments,
)
from pacfourier.core.products import frequency_bands


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-13), (np.float32, 2e-6)])
@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_features_are_cosines_and_sines(container, dtype, tolerance, rng):
    X = rng.standard_normal((ROWS_PER_TASK + 700, 4)).astype(dtype)
    frequencies = rng.standard_normal((9, 4)).astype(np.float32)
    weights = rng.random(9)
    phases = X.astype(float) @ frequencies.T.astype(float)
    expected = np.sqrt(weights) * np.stack([np.cos(phases), np.sin(phases)])
    features = fourier_features(container(X), frequencies, weights)
    assert features.dtype == dtype
    np.testing.assert_allclose(features, np.hstack(expected), rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [np.ascontiguousarray, np.asfortranarray])
def test_features_within_a_limit_are_the_features_or_none(container, dtype, rng):
    X = rng.standard_normal((ROWS_PER_TASK + 700, 4)).astype(dtype)
    frequencies, weights = rng.standard_normal((9, 4)), rng.random(9)
    expected = fourier_features(X, frequencies, weights)
    largest = float(np.abs(X).max())
    for limit in (largest, np.inf):
        features = features_within(container(X), frequencies, weights, limit)
        np.testing.assert_array_equal(features, expected)
    assert features_within(container(X), frequencies, weights, np.nextafter(largest, 0)) is None
    for place in (0, len(X) - 1):
        for number in (np.nan, np.inf, -np.inf, -2 * largest):
            worse = X.copy()
            worse[place, 3] = number
            assert features_within(container(worse), frequencies, weights, largest) is None


def test_features_of_large_phases_keep_their_digits(rng):
    X = rng.standard_normal((20, 2)).astype(np.float32)
    frequencies = np.array([[1.0, 2.0], [1e5, -1e5]])
    phases = X.astype(float) @ frequencies.T
    features = fourier_features(X, frequencies, np.ones(2))
    np.testing.assert_allclose(features[:, :2], np.cos(phases), rtol=0, atol=1e-6)


def test_features_in_single_precision_keep_the_digits_of_large_phases(rng):
    """The rows are not rounded first: that would move the large phases by about 0.01."""
    X = rng.standard_normal((20, 2))
    frequencies = np.array([[1.0, 2.0], [1e5, -1e5]])
    phases = X @ frequencies.T
    features = features_in(X, frequencies, np.ones(2), "single")
    assert features.dtype == np.float32
    expected = np.hstack([np.cos(phases), np.sin(phases)])
    np.testing.assert_allclose(features, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 2.0**-20), (np.float64, 2.0**-50)])
def test_cosine_and_sine_of_turns(dtype, tolerance):
    turns = np.linspace(-3, 3, 100_001).astype(dtype).reshape(1, -1)
    cosines, sines = np.empty_like(turns), np.empty_like(turns)
    loops.write_features(turns, np.ones(turns.shape[1], dtype), cosines, sines)
    # Reduced first, as NumPy's own cosine of a large phase would round it.
    angles = 2 * np.pi * (turns.astype(np.float64) - np.rint(turns.astype(np.float64)))
    np.testing.assert_allclose(cosines, np.cos(angles), rtol=0, atol=tolerance)
    np.testing.assert_allclose(sines, np.sin(angles), rtol=0, atol=tolerance)


def test_frequency_blocks_cover_the_pool_once():
    for n_frequencies, n_features in [(1, 1), (512, 10), (20_001, 108), (300, 60_000)]:
        blocks = list(frequency_bands(n_frequencies, n_features))
        covered = np.concatenate([np.arange(n_frequencies)[block] for block in blocks])
        np.testing.assert_array_equal(covered, np.arange(n_frequencies))
        largest = max(block.stop - block.start for block in blocks)
        assert largest * n_features <= max(2**23, 16 * n_features)


def test_precision_follows_the_size_of_the_phases():
    sizes = phase_sizes(np.array([[3.0, 4.0], [1e6, 0.0]]), np.array([1.0, 1.0]))
    np.testing.assert_allclose(sizes, [5.0, 1e6])
    groups = dict(precision_groups(sizes, "single"))
    assert groups[np.float32].tolist() == [0]
    assert groups[np.float64].tolist() == [1]
    assert [dtype for dtype, _ in precision_groups(sizes, "double")] == [np.float64]
    with pytest.raises(ValueError, match="precision must be one of"):
        list(precision_groups(sizes, "half"))


def gamma_of_scale(X, weights=None):
    return scale_gamma(scale_moments(X, weights), X.shape[1])


def test_scale_gamma_is_scikit_learns(rng):
    X = rng.standard_normal((50, 3)) * 2
    # Nine digits are kept.
    assert gamma_of_scale(X) == pytest.approx(1 / (3 * X.var()), rel=1e-8)
    assert gamma_of_scale(sparse.csr_array(X)) == gamma_of_scale(X)
    assert gamma_of_scale(np.full((4, 2), 0.1)) == 1.0
    weights = rng.integers(1, 4, 50)
    assert gamma_of_scale(X, weights) == gamma_of_scale(np.repeat(X, weights, axis=0))


def test_median_gamma_of_sparse_samples_is_in_double_precision(rng):
    X = 3000 + rng.standard_normal((20, 3)).astype(np.float32)
    assert median_gamma(sparse.csr_array(X)) == pytest.approx(median_gamma(X), rel=1e-8)


def test_scale_moments_of_sparse_samples_are_in_double_precision(rng):
    X = 1e20 * rng.standard_normal((20, 3)).astype(np.float32)
    moments = scale_moments(sparse.csr_array(X))
    np.testing.assert_allclose(moments, scale_moments(X), rtol=1e-12)


def test_scale_moments_merge(rng):
    X, weights = rng.standard_normal((50, 3)), rng.random(50)
    parts = scale_moments(X[:7], weights[:7]), scale_moments(X[7:], weights[7:])
    assert scale_gamma(merged_moments(*parts), 3) == gamma_of_scale(X, weights)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("offset", [1e4, 1e6, 1e8])
def test_scale_gamma_of_samples_far_from_zero(kind, offset, rng):
    X = offset + rng.standard_normal((3000, 3))
    expected = 1 / (3 * np.var(X - offset))
    assert gamma_of_scale(kind(X)) == pytest.approx(expected, rel=1e-8)
    parts = map(scale_moments, map(kind, np.array_split(X, 13)))
    assert scale_gamma(reduce(merged_moments, parts), 3) == pytest.approx(expected, rel=1e-8)


def test_median_gamma_is_the_median_heuristic(rng):
    X = rng.standard_normal((31, 3))
    distances = [np.linalg.norm(X[i] - X[j]) for i in range(31) for j in range(i)]
    expected = 1 / (2 * np.median(distances) ** 2)
    assert median_gamma(X) == pytest.approx(expected, rel=1e-9)
    assert median_gamma(sparse.csr_array(X)) == pytest.approx(expected, rel=1e-9)
    assert median_gamma(np.full((4, 2), 0.1)) == 1.0
    assert median_gamma(X + 1e6) == pytest.approx(expected, rel=1e-6)


def test_median_gamma_takes_a_sample_of_large_data(rng):
    rows = median_rows(3 * _MEDIAN_SAMPLES, rng)
    assert len(np.unique(rows)) == _MEDIAN_SAMPLES
    X = rng.standard_normal((3 * _MEDIAN_SAMPLES, 3))
    assert median_gamma(X[rows]) == pytest.approx(1 / (2 * 2.1**2), rel=0.2)
    np.testing.assert_array_equal(median_rows(5, rng), np.arange(5))


def test_constant_sparse_data_have_no_scale():
    X = sparse.csr_array(np.full((50_000, 4), 0.1))
    assert scale_gamma(scale_moments(X), 4) == 1.0
