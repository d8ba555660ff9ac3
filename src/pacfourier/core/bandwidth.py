"""Rules of thumb for the bandwidth of a kernel."""

from functools import singledispatch

import numpy as np
from scipy import sparse

from pacfourier.core.arrays import FloatArray, IntArray, Samples, host

__all__ = ["median_gamma", "median_rows", "scale_gamma", "scale_moments"]

MEDIAN_SAMPLES = 1000


@singledispatch
def scale_moments(X: Samples, sample_weight: FloatArray | None = None) -> FloatArray:
    """Return the sums over all values of their weight, of the values and of their squares."""
    weights = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    if sparse.issparse(X):
        # Its sums have its own precision, whatever type is asked for.
        X = X.astype(np.float64)
    squares = X.power(2) if sparse.issparse(X) else np.square(X, dtype=np.float64)
    total = weights @ np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
    squared = weights @ np.asarray(squares.sum(axis=1)).ravel()
    return np.array([weights.sum() * X.shape[1], total, squared])


def scale_gamma(moments: FloatArray, n_features: int) -> float:
    """Return 1 / (n_features * variance of X), scikit-learn's ``gamma="scale"``.

    The moments are additive. Nine digits are kept, so that the order of the samples, or their
    blocks, does not move the frequencies.
    """
    mean, square = moments[1:] / moments[0]
    variance = square - mean**2
    # Constant data have no scale of their own.
    gamma = 1.0 / (n_features * variance) if variance > 1e-15 * mean**2 else 1.0
    return float(f"{gamma:.9g}")


def median_rows(n_samples: int, rng: np.random.Generator) -> IntArray:
    """Return which samples ``median_gamma`` looks at: 1,000 at most, in their order."""
    size = min(MEDIAN_SAMPLES, n_samples)
    return np.sort(rng.choice(n_samples, size=size, replace=False))


def median_gamma(X: Samples) -> float:
    """Return 1 / (2 m^2), m the median distance between the samples.

    Weights of samples play no part.
    """
    if X.shape[0] < 2:
        return 1.0
    X = host(X)
    if sparse.issparse(X):
        X = X.astype(np.float64)
        gram = (X @ X.T).toarray()
    else:
        # Distances do not change by centring; their digits do.
        chosen = X - X.mean(axis=0, dtype=np.float64)
        gram = chosen @ chosen.T
    squares = np.diagonal(gram)
    distances = (squares[:, np.newaxis] + squares - 2 * gram)[np.triu_indices(len(gram), k=1)]
    median = float(np.median(distances))
    return 1.0 / (2 * median) if median > 1e-15 * squares.max() else 1.0
