r"""Frequencies chosen together, each for what the others leave unexplained.

Frequencies of small alignment loss are often near copies of each other, so the next one adds little
to a linear model. Forward selection looks at the residuals instead: it takes the candidate that
explains most of them, fits again, and goes on (orthogonal least squares; Chen, Billings and Luo,
1989). A sweep of exchanges then takes each out again and chooses anew, because the first were
chosen when the later ones were not known.
"""

from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from pacfourier.arrays import FloatArray, IntArray
from pacfourier.core.products import cut
from pacfourier.core.threads import run_tasks

# Added to the mean squares of all columns; those of a candidate are one together. Differences of
# near copies may be as small as its root, and a linear model can still use them.
_RIDGE = 1e-5
# Gains below this share of the outputs' variance are rounding errors or due to the ridge, and count
# as equal. Chance alone explains more than that on a million rows.
_NEGLIGIBLE_GAIN = 1e-5
# A thread computes the products of so many rows with so many others.
_ROWS_TOGETHER = 256
# Relative to the largest value of an output; a smaller standard deviation is a rounding error.
_SMALLEST_DEVIATION = 1e-9


class _ColumnProducts(NamedTuple):
    """What a choice needs to know of the columns of candidates.

    Attributes
    ----------
    columns : array of shape (2 n_candidates, 2 n_candidates)
        Products of all cosines, followed by all sines, with each other.
    aligned : array of shape (2, n_candidates, n_outputs)
        Their products with the outputs.
    merits : array of shape (n_candidates,)
        Non-negative factors of the gains.
    total : float
        The sum of the squares of the outputs.
    """

    columns: FloatArray
    aligned: FloatArray
    merits: FloatArray
    total: float

    @property
    def gram(self) -> FloatArray:
        """The products c.c, c.s and s.s of each candidate, of shape (3, n_candidates)."""
        cosines = np.arange(len(self.merits))
        sines = len(self.merits) + cosines
        pairs = ((cosines, cosines), (cosines, sines), (sines, sines))
        return np.stack([self.columns[pair] for pair in pairs]).astype(np.float64)

    def gains(self, aligned: FloatArray, gram: FloatArray) -> FloatArray:
        """Return how much of the residuals each candidate explains, or zero if it is negligible."""
        gains = _explained_gains(aligned, gram)
        gains[gains < _NEGLIGIBLE_GAIN * self.total] = 0.0
        return gains


def column_products(
    waves: FloatArray, outputs: FloatArray, weights: FloatArray, merits: FloatArray
) -> _ColumnProducts:
    """Return the products of columns from which candidates are chosen.

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
        Non-negative factors of the gains. Equal merits give plain least squares.
    """
    shares = weights / weights.sum()
    roots = np.sqrt(shares).astype(waves.dtype)
    outputs = _standardised(outputs, shares).astype(waves.dtype) * roots[:, np.newaxis]
    # The intercept is taken out of the columns, and all later work is done on their products.
    waves = waves - (waves @ shares.astype(waves.dtype))[..., np.newaxis]
    waves *= roots
    columns = waves.reshape(-1, len(roots))
    return _ColumnProducts(
        _products_of_rows(columns),
        (waves @ outputs).astype(np.float64),
        merits,
        float(np.square(outputs).sum()),
    )


def _products_of_rows(rows: FloatArray) -> FloatArray:
    """Return ``rows @ rows.T``. The bits do not depend on the number of threads."""
    products = np.empty((len(rows), len(rows)), dtype=rows.dtype)

    def fill(pair: tuple[slice, slice]) -> None:
        upper, lower = pair
        products[upper, lower] = rows[upper] @ rows[lower].T
        products[lower, upper] = products[upper, lower].T

    bands = list(cut(len(rows), _ROWS_TOGETHER))
    run_tasks(fill, combinations_with_replacement(bands, 2))
    return products


def forward_choice(products: _ColumnProducts, size: int) -> IntArray:
    """Return the indices of candidates, in the order in which forward selection takes them.

    Each step takes the candidate with the largest product of its merit and its gain, which is what
    it explains of the residuals. If no candidate gains anything, the first free one is taken. The
    first indices do not depend on ``size``.
    """
    columns, merits = products.columns, products.merits
    aligned, gram = products.aligned.copy(), products.gram
    # Row k holds the products of all columns with the k-th chosen one, made orthogonal.
    taken = np.empty((2 * size, len(columns)))
    chosen = np.empty(size, dtype=np.intp)
    is_free = np.ones(len(merits), dtype=bool)
    for k in range(size):
        scores = merits * products.gains(aligned, gram)
        chosen[k] = np.argmax(np.where(is_free, scores, -1.0))
        is_free[chosen[k]] = False
        for i in (0, 1):
            column, before = i * len(merits) + chosen[k], taken[: 2 * k + i]
            rest = columns[column] - before[:, column] @ before
            length = np.sqrt(max(rest[column], 0.0) + _RIDGE)
            taken[2 * k + i] = rest / length
            new = taken[2 * k + i].reshape(2, len(merits))
            aligned -= new[..., np.newaxis] * (aligned[i, chosen[k]] / length)
            gram -= np.stack([new[0] ** 2, new[0] * new[1], new[1] ** 2])
    return chosen


def exchanged_choice(products: _ColumnProducts, chosen: IntArray) -> IntArray:
    """Take each chosen candidate out once, and return what is chosen in their places.

    Here the gains alone decide, so the squared error never rises. A candidate stays if no other
    gains more.
    """
    chosen = chosen.copy()
    for place, old in enumerate(chosen):
        others = np.delete(chosen, place)
        gains = products.gains(*_left_over(products, others))
        gains[others] = -1.0
        best = np.argmax(gains)
        if gains[best] > gains[old]:
            chosen[place] = best
    return chosen


def _left_over(products: _ColumnProducts, chosen: IntArray) -> tuple[FloatArray, FloatArray]:
    r"""Return what chosen candidates leave of the products that gains are computed from.

    .. math:: B - G_S^\top (G_{SS} + \rho I)^{-1} B_S, \qquad
              G - G_S^\top (G_{SS} + \rho I)^{-1} G_S

    Here G are the products of all columns, B their products with the outputs, S the chosen columns,
    and :math:`\rho` is the ridge. Of the second, only the 2 x 2 blocks of candidates are computed.
    """
    n_candidates = len(products.merits)
    columns = np.concatenate([chosen, n_candidates + chosen])
    rows = products.columns[columns].astype(np.float64)
    values, vectors = np.linalg.eigh(rows[:, columns])
    # Rounding may leave eigenvalues slightly negative.
    roots = (vectors / np.sqrt(np.maximum(values, 0.0) + _RIDGE)).T
    taken = roots @ rows
    flat = products.aligned.reshape(2 * n_candidates, -1)
    explained = (taken.T @ (roots @ flat[columns])).reshape(products.aligned.shape)
    taken = taken.reshape(-1, 2, n_candidates)
    pairs = ((0, 0), (0, 1), (1, 1))
    shared = [np.einsum("km,km->m", taken[:, i], taken[:, j]) for i, j in pairs]
    return products.aligned - explained, products.gram - np.stack(shared)


def _standardised(outputs: FloatArray, shares: FloatArray) -> FloatArray:
    """Return outputs of mean zero and variance one under weights of sum one. Constants are zero."""
    centred = outputs - shares @ outputs
    deviations = np.sqrt(shares @ centred**2)
    is_constant = deviations <= _SMALLEST_DEVIATION * np.abs(outputs).max(axis=0)
    return np.where(is_constant, 0.0, centred / np.where(is_constant, 1.0, deviations))


def _explained_gains(aligned: FloatArray, gram: FloatArray) -> FloatArray:
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
    cosines, crossed, sines = gram[0] + _RIDGE, gram[1], gram[2] + _RIDGE
    squares = np.einsum("imk,jmk->ijm", aligned, aligned)
    weighted = sines * squares[0, 0] - 2 * crossed * squares[0, 1] + cosines * squares[1, 1]
    # Rounding may leave c.c or s.s slightly negative.
    return weighted / np.maximum(cosines * sines - crossed**2, _RIDGE**2)
