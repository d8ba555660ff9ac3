"""Scaling of columns to standard deviation one, so that a model starts the same in all of them."""

from typing import Any

import numpy as np
from scipy import sparse

from pacfourier.arrays import FloatArray, Samples, by_kind
from pacfourier.core.products import ROW_BLOCK


@by_kind
def scaled_columns(
    X: Samples, copies: FloatArray, dtype: type[np.floating[Any]]
) -> tuple[Samples, FloatArray]:
    """Return samples with columns of standard deviation one, and the deviations before.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    copies : array of shape (n_samples,)
        How many times each sample counts.
    dtype : type
        Precision of the scaled samples.

    Returns
    -------
    scaled : array or CSR matrix of shape (n_samples, n_features)
        Dense samples are also centred.
    scales : array of shape (n_features,)
    """
    means, variances = column_moments(X, copies)
    scales = column_scales(means, variances, X.shape[0])
    if sparse.issparse(X):
        return (X @ sparse.diags_array(1 / scales)).tocsr().astype(dtype, copy=False), scales
    # The amplitudes of each cosine and sine can undo a shift of X. Centring saves digits, and it
    # lets a frequency change with little change of the phases.
    scaled = X - means
    scaled /= scales
    return scaled.astype(dtype, copy=False), scales


def column_scales(means: FloatArray, variances: FloatArray, n_samples: int) -> FloatArray:
    """Return the standard deviations, or infinity for columns that are constant up to rounding."""
    deviations = np.sqrt(variances)
    rounding = n_samples * np.finfo(np.float64).eps * np.abs(means)
    # Divided by infinity, a constant column becomes zero, and no frequency sees it.
    return np.where(deviations > rounding, deviations, np.inf)


@by_kind
def column_moments(X: Samples, copies: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the means and variances of the columns, in double precision."""
    if sparse.issparse(X):
        return _sparse_moments(X, copies)
    total = copies.sum()
    blocks = [slice(start, start + ROW_BLOCK) for start in range(0, X.shape[0], ROW_BLOCK)]
    means, variances = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for rows in blocks:
        means += copies[rows] @ X[rows].astype(np.float64, copy=False)
    means /= total
    for rows in blocks:
        variances += copies[rows] @ np.square(X[rows] - means)
    return means, variances / total


def _sparse_moments(X: Any, copies: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the moments from the stored entries and the number of zeros that are not stored."""
    total, n_features = copies.sum(), X.shape[1]
    weights = np.repeat(copies, np.diff(X.indptr))
    means = np.bincount(X.indices, weights * X.data, minlength=n_features) / total
    centred = X.data - means[X.indices]
    squares = np.bincount(X.indices, weights * centred**2, minlength=n_features)
    # In a column without zeros the difference would be a rounding error, and a constant column
    # would seem to vary.
    is_full = np.bincount(X.indices, minlength=n_features) == X.shape[0]
    absent = total - np.bincount(X.indices, weights, minlength=n_features)
    return means, (squares + np.where(is_full, 0, np.maximum(absent, 0)) * means**2) / total
