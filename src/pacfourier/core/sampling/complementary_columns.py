r"""Columns chosen together, each for what the others leave unexplained.

Forward selection takes the column that explains most of the residuals of a linear model, fits
again, and goes on (orthogonal least squares; Chen, Billings and Luo, 1989).
"""

import numpy as np

from pacfourier.arrays import FloatArray, IntArray
from pacfourier.core.sampling.complementary import NEGLIGIBLE_GAIN, RIDGE, standardised


def forward_columns(columns: FloatArray, outputs: FloatArray, size: int) -> IntArray:
    r"""Return the indices of columns, in the order in which forward selection takes them.

    .. math:: \frac{\sum_k (c \cdot r_k)^2}{c \cdot c + \rho}

    is the gain of a column. Here c is what the chosen columns and the intercept leave of it,
    :math:`r_k` are the residuals of output k, and the ridge :math:`\rho` is tiny. The selection
    ends when no column gains more than rounding errors.

    Parameters
    ----------
    columns : array of shape (n_samples, n_columns)
    outputs : array of shape (n_samples, n_outputs)
        What a linear model with an intercept should predict. They are scaled to variance one.
    size : int
        How many columns to choose at most.
    """
    n_samples = len(columns)
    shares = np.full(n_samples, 1 / n_samples)
    root = np.float32(np.sqrt(n_samples))
    residuals = (standardised(outputs, shares) / root).astype(np.float32)
    columns = (columns - columns.mean(axis=0)).astype(np.float32) / root
    aligned = (columns.T @ residuals).astype(np.float64)
    squares = np.einsum("ij,ij->j", columns, columns).astype(np.float64)
    negligible = NEGLIGIBLE_GAIN * float(np.square(residuals).sum())
    is_free = np.ones(columns.shape[1], dtype=bool)
    basis = np.zeros((size, n_samples), dtype=np.float32)
    chosen = np.empty(size, dtype=np.intp)
    for k in range(size):
        gains = np.square(aligned).sum(axis=1) / (np.maximum(squares, 0.0) + RIDGE)
        gains[~is_free] = 0.0
        chosen[k] = np.argmax(gains)
        if gains[chosen[k]] <= negligible:
            return chosen[:k]
        is_free[chosen[k]] = False
        basis[k], length = _direction(columns[:, chosen[k]], basis[:k])
        # The ridge makes a chosen column explain slightly less than all of its direction.
        kept = length / np.sqrt(length**2 + RIDGE)
        products = kept * (columns.T @ basis[k]).astype(np.float64)
        aligned -= np.outer(products, aligned[chosen[k]] / np.sqrt(length**2 + RIDGE))
        squares -= products**2
    return chosen


def _direction(column: FloatArray, basis: FloatArray) -> tuple[FloatArray, float]:
    """Return what an orthonormal basis leaves of a column, with length one, and its length."""
    rest = column
    # Once would leave rounding errors as large as the rest of a near copy.
    for _ in range(2):
        rest = rest - (basis @ rest) @ basis
    length = float(np.linalg.norm(rest))
    return rest / (length or 1.0), length
