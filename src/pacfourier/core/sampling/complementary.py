r"""Frequencies chosen together, each for what the others leave unexplained.

Frequencies of small alignment loss are often near copies of each other, so the next one adds little
to a linear model. Forward selection looks at the residuals instead: it takes the candidate that
explains most of them, fits again, and goes on (orthogonal least squares; Chen, Billings and Luo,
1989).
"""

import numpy as np

from pacfourier.arrays import FloatArray, IntArray

__all__ = ["complementary_indices", "explained_gains"]

# Added to the mean squares of the columns of a candidate, which are one together. Differences of
# near copies may be as small as its root, and a linear model can still use them.
RIDGE = 1e-5
# Gains below this share of the outputs' variance are rounding errors, and count as equal.
NEGLIGIBLE_GAIN = 1e-6
# A column that is shorter than this after the others are taken out adds nothing but rounding.
SHORTEST_COLUMN = 1e-4
# Relative to the largest value of an output; a smaller standard deviation is a rounding error.
SMALLEST_DEVIATION = 1e-9


def complementary_indices(
    waves: FloatArray,
    outputs: FloatArray,
    weights: FloatArray,
    merits: FloatArray,
    size: int,
) -> IntArray:
    """Return the indices of candidates, in the order in which forward selection takes them.

    Each step takes the candidate with the largest product of its merit and its gain, which is what
    it explains of the residuals. If no candidate gains anything, the first free one is taken. The
    first indices do not depend on ``size``.

    Parameters
    ----------
    waves : array of shape (2, n_candidates, n_samples)
        The cosines and the sines of each candidate.
    outputs : array of shape (n_samples, n_outputs)
        What a linear model with an intercept should predict. They are scaled to variance one, so
        that each of them counts the same.
    weights : array of shape (n_samples,)
        Positive weights of the samples. Only their ratios matter.
    merits : array of shape (n_candidates,)
        Non-negative factors of the gains. Equal merits give plain forward selection.
    size : int
        How many candidates to take, at most all of them.

    Returns
    -------
    indices : array of shape (size,)
    """
    shares = weights / weights.sum()
    roots = np.sqrt(shares).astype(waves.dtype)
    outputs = standardised(outputs, shares).astype(waves.dtype) * roots[:, np.newaxis]
    waves = np.multiply(waves, roots, order="C")
    basis = np.empty((1 + 2 * size, len(roots)), dtype=waves.dtype)
    basis[0] = roots / np.linalg.norm(roots)
    n_columns = 1

    # Products with the columns of the basis are taken out as the basis grows.
    aligned = (waves @ outputs).astype(np.float64)
    gram = np.stack(
        [np.einsum("mi,mi->m", waves[i], waves[j]) for i, j in ((0, 0), (0, 1), (1, 1))]
    )
    gram = gram.astype(np.float64)
    _take_out(basis[:1], waves, outputs, aligned, gram)
    least = NEGLIGIBLE_GAIN * np.square(outputs).sum()

    chosen = np.empty(size, dtype=np.intp)
    is_free = np.ones(waves.shape[1], dtype=bool)
    for k in range(size):
        gains = explained_gains(aligned, gram)
        gains[gains < least] = 0.0
        chosen[k] = np.argmax(np.where(is_free, merits * gains, -1.0))
        is_free[chosen[k]] = False
        new = _orthonormal(waves[:, chosen[k]], basis[:n_columns])
        basis[n_columns : n_columns + len(new)] = new
        n_columns += len(new)
        _take_out(new, waves, outputs, aligned, gram)
    return chosen


def standardised(outputs: FloatArray, shares: FloatArray) -> FloatArray:
    """Return outputs of mean zero and variance one under weights of sum one. Constants are zero."""
    centred = outputs - shares @ outputs
    deviations = np.sqrt(shares @ centred**2)
    is_constant = deviations <= SMALLEST_DEVIATION * np.abs(outputs).max(axis=0)
    return np.where(is_constant, 0.0, centred / np.where(is_constant, 1.0, deviations))


def explained_gains(aligned: FloatArray, gram: FloatArray) -> FloatArray:
    r"""Return how much of the residuals each candidate explains.

    .. math:: \sum_k b_k^\top (G + \rho I)^{-1} b_k, \qquad
              b_k = (c \cdot r_k,\; s \cdot r_k)

    Here c and s are the cosines and sines of a candidate after the columns chosen so far are taken
    out, G is their 2 x 2 Gram matrix, :math:`r_k` are the residuals of output k, and the ridge
    :math:`\rho` is tiny. Without the ridge, the gain is the decrease of the squared error of a
    linear model when c and s are added to it.

    Parameters
    ----------
    aligned : array of shape (2, n_candidates, n_outputs)
        The b_k.
    gram : array of shape (3, n_candidates)
        The entries c.c, c.s and s.s of G.

    Returns
    -------
    gains : array of shape (n_candidates,)
    """
    cosines, crossed, sines = gram[0] + RIDGE, gram[1], gram[2] + RIDGE
    squares = np.einsum("imk,jmk->ijm", aligned, aligned)
    weighted = sines * squares[0, 0] - 2 * crossed * squares[0, 1] + cosines * squares[1, 1]
    # Rounding may leave c.c or s.s slightly negative.
    return weighted / np.maximum(cosines * sines - crossed**2, RIDGE**2)


def _orthonormal(columns: FloatArray, basis: FloatArray) -> FloatArray:
    """Return the columns made orthogonal to the basis and to each other, with length one.

    Columns of which nothing but rounding remains are left out.
    """
    found = np.empty((0, columns.shape[1]), dtype=columns.dtype)
    for column in columns:
        # A second round removes what rounding left of the first.
        for _ in range(2):
            for others in (basis, found):
                column = column - (others @ column) @ others
        length = np.linalg.norm(column)
        if length > SHORTEST_COLUMN:
            found = np.vstack([found, column / length])
    return found


def _take_out(
    new: FloatArray,
    waves: FloatArray,
    outputs: FloatArray,
    aligned: FloatArray,
    gram: FloatArray,
) -> None:
    """Subtract the part of the products that new orthonormal columns account for, in place."""
    if not len(new):
        return
    # Two products with one column each are twice as fast as one with both.
    shares = np.stack([waves @ column for column in new], axis=-1).astype(np.float64)
    aligned -= shares @ (new @ outputs)
    gram -= np.stack(
        [np.einsum("mi,mi->m", shares[i], shares[j]) for i, j in ((0, 0), (0, 1), (1, 1))]
    )
