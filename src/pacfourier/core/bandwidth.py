"""Rules of thumb for the bandwidth of a kernel."""

from functools import singledispatch

import numpy as np
from scipy import sparse

from pacfourier.core.arrays import FloatArray, Samples, host

__all__ = ["median_gamma", "scale_gamma"]

MEDIAN_SAMPLES = 1000


@singledispatch
def scale_gamma(X: Samples, sample_weight: FloatArray | None = None) -> float:
    """Return 1 / (n_features * variance of X), scikit-learn's ``gamma="scale"``."""
    n_samples, n_features = X.shape
    weights = np.ones(n_samples) if sample_weight is None else sample_weight
    shares = weights / (weights.sum() * n_features)
    squares = X.multiply(X) if sparse.issparse(X) else np.square(X, dtype=np.float64)
    mean = float(shares @ np.asarray(X.sum(axis=1, dtype=np.float64)).ravel())
    variance = float(shares @ np.asarray(squares.sum(axis=1)).ravel()) - mean**2
    # Constant data have no scale of their own.
    return 1.0 / (n_features * variance) if variance > 1e-15 * mean**2 else 1.0


def median_gamma(X: Samples, rng: np.random.Generator) -> float:
    """Return 1 / (2 m^2), m the median distance between at most 1,000 random samples.

    Weights of samples play no part.
    """
    size = min(MEDIAN_SAMPLES, X.shape[0])
    if size < 2:
        return 1.0
    rows = np.sort(rng.choice(X.shape[0], size=size, replace=False))
    chosen = host(X[rows])
    if sparse.issparse(X):
        gram = (chosen @ chosen.T).toarray().astype(np.float64)
    else:
        # Distances do not change by centring; their digits do.
        centred = chosen - chosen.mean(axis=0, dtype=np.float64)
        gram = centred @ centred.T
    squares = np.diagonal(gram)
    distances = (squares[:, np.newaxis] + squares - 2 * gram)[np.triu_indices(size, k=1)]
    median = float(np.median(distances))
    return 1.0 / (2 * median) if median > 1e-15 * squares.max() else 1.0
