"""Columns of unit deviation, for models that start alike in all of them."""

from typing import Any

import numpy as np
from scipy import sparse

from pacfourier.arrays import FloatArray, Samples, by_kind

__all__ = ["column_moments", "column_scales", "scaled_columns"]


@by_kind
def scaled_columns(
    X: Samples, copies: FloatArray, dtype: type[np.floating[Any]]
) -> tuple[Samples, FloatArray]:
    """Return samples with columns of deviation one, and the deviations.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    copies : array of shape (n_samples,)
        How many samples each stands for.
    dtype : type
        Precision of the scaled samples.
    """
    means, variances = column_moments(X, copies)
    scales = column_scales(means, variances, X.shape[0])
    if sparse.issparse(X):
        return (X @ sparse.diags_array(1 / scales)).tocsr().astype(dtype, copy=False), scales
    # A shift turns every cosine and sine pair, which its amplitudes undo: it saves digits, and
    # a frequency can move without turning them.
    scaled = X - means
    scaled /= scales
    return scaled.astype(dtype, copy=False), scales


def column_scales(means: FloatArray, variances: FloatArray, n_samples: int) -> FloatArray:
    """Return the deviations; infinity where a column never varied, up to rounding."""
    deviations = np.sqrt(variances)
    rounding = n_samples * np.finfo(np.float64).eps * np.abs(means)
    # Such a column is endlessly wide: no frequency looks at it.
    return np.where(deviations > rounding, deviations, np.inf)


@by_kind
def column_moments(X: Samples, copies: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the means and variances of the columns, in double precision."""
    if sparse.issparse(X):
        return _sparse_moments(X, copies)
    total = copies.sum()
    # One array of the size of X at a time.
    means = np.einsum("i,ij->j", copies, X) / total
    centred = X - means
    return means, np.einsum("i,ij,ij->j", copies, centred, centred) / total


def _sparse_moments(X: Any, copies: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the moments from the entries that are there, and from how many are not."""
    total, n_features = copies.sum(), X.shape[1]
    weights = np.repeat(copies, np.diff(X.indptr))
    means = np.bincount(X.indices, weights * X.data, minlength=n_features) / total
    centred = X.data - means[X.indices]
    squares = np.bincount(X.indices, weights * centred**2, minlength=n_features)
    # Where none is absent, the difference would be rounding: a constant column must show as such.
    is_full = np.bincount(X.indices, minlength=n_features) == X.shape[0]
    absent = total - np.bincount(X.indices, weights, minlength=n_features)
    return means, (squares + np.where(is_full, 0, np.maximum(absent, 0)) * means**2) / total
