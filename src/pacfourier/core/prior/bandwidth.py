"""Rules of thumb for the bandwidth of a kernel."""

from collections.abc import Callable
from functools import reduce

import numpy as np
from scipy import sparse

from pacfourier.arrays import FloatArray, IntArray, Samples, by_kind, host
from pacfourier.core.products import ROW_BLOCK

_MEDIAN_SAMPLES = 1000


@by_kind
def scale_moments(X: Samples, sample_weight: FloatArray | None = None) -> FloatArray:
    """Return the total weight of all values, their mean and their sum of squared deviations."""
    weights = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    block_moments: Callable[..., FloatArray] = (
        _sparse_moments if sparse.issparse(X) else _dense_moments
    )
    # Block by block, so that the deviations in double precision take little memory.
    starts = range(0, X.shape[0], ROW_BLOCK)
    blocks = (slice(start, start + ROW_BLOCK) for start in starts)
    return reduce(merged_moments, (block_moments(X[rows], weights[rows]) for rows in blocks))


def _dense_moments(X: FloatArray, weights: FloatArray) -> FloatArray:
    weight = weights.sum() * X.shape[1]
    mean = weights @ X.sum(axis=1, dtype=np.float64) / weight
    squares = np.square(np.subtract(X, mean, dtype=np.float64))
    return np.array([weight, mean, weights @ squares.sum(axis=1)])


def _sparse_moments(X: sparse.csr_array | sparse.csr_matrix, weights: FloatArray) -> FloatArray:
    counts, values = np.diff(X.indptr), X.data.astype(np.float64)
    stored = np.repeat(weights, counts)
    weight = weights.sum() * X.shape[1]
    mean = stored @ values / weight
    zeros = weights @ (X.shape[1] - counts)
    return np.array([weight, mean, stored @ np.square(values - mean) + zeros * mean**2])


def merged_moments(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the moments of two samples together, by Chan, Golub and LeVeque (1983).

    Sums of squares about zero could be added directly, but they would lose the digits of the
    variance if the mean is large.
    """
    weight = first[0] + second[0]
    step = second[1] - first[1]
    share = second[0] / weight
    scatter = first[2] + second[2] + step**2 * first[0] * share
    return np.array([weight, first[1] + step * share, scatter])


def scale_gamma(moments: FloatArray, n_features: int) -> float:
    """Return 1 / (n_features * variance of X), scikit-learn's ``gamma="scale"``.

    The result is rounded to nine digits, so that neither the order of the samples nor the size of
    the blocks changes the frequencies.
    """
    weight, mean, scatter = moments
    variance = scatter / weight
    # The variance of constant data is not a scale, but the rounding error of their mean.
    gamma = 1.0 / (n_features * variance) if variance > (1e-13 * mean) ** 2 else 1.0
    return float(f"{gamma:.9g}")


def median_rows(n_samples: int, rng: np.random.Generator) -> IntArray:
    """Draw the rows that ``median_gamma`` uses: at most 1,000, in increasing order."""
    size = min(_MEDIAN_SAMPLES, n_samples)
    return np.sort(rng.choice(n_samples, size=size, replace=False))


def median_gamma(X: Samples) -> float:
    """Return 1 / (2 m^2), where m is the median distance between the samples.

    Sample weights are not used.
    """
    if X.shape[0] < 2:
        return 1.0
    X = host(X)
    if sparse.issparse(X):
        X = X.astype(np.float64)
        gram = (X @ X.T).toarray()
    else:
        # Centring does not change the distances, but it makes them more accurate.
        chosen = X - X.mean(axis=0, dtype=np.float64)
        gram = chosen @ chosen.T
    squares = np.diagonal(gram)
    distances = (squares[:, np.newaxis] + squares - 2 * gram)[np.triu_indices(len(gram), k=1)]
    median = float(np.median(distances))
    return 1.0 / (2 * median) if median > 1e-15 * squares.max() else 1.0
