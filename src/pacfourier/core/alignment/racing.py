"""A race among candidates: all of them see some of the rows, and few of them see all rows.

The losses on some of the rows rank the candidates. The best ones then see all rows. Most of the
others have nearly the same loss, and so nearly the same weight in a posterior. They are sorted by
their first losses and cut into groups. One candidate of each group, its *representative*, sees all
rows, and the others of the group take its sums.

A posterior over the candidates is valid if it gives no weight to candidates that did not see all
rows. So the weight of a group goes to its representative.
"""

import numpy as np

from pacfourier.arrays import FloatArray, IntArray

__all__ = ["first_rows", "representatives", "represented_weights", "size_of_race"]

# The first losses are computed on one row in sixteen, but not on fewer rows than this.
ROWS_PER_FIRST, FEWEST_ROWS = 16, 2000
# One candidate in eight is among the best, and there is one group for every sixteen candidates.
CANDIDATES_PER_SURVIVOR, CANDIDATES_PER_GROUP = 8, 16


def first_rows(n_samples: int, rng: np.random.Generator) -> IntArray:
    """Return the rows of the first losses, in order: all rows, if the sample is small."""
    size = max(n_samples // ROWS_PER_FIRST, FEWEST_ROWS)
    if 2 * size > n_samples:
        return np.arange(n_samples)
    return np.sort(rng.choice(n_samples, size, replace=False))


def size_of_race(n_candidates: int, n_frequencies: int) -> tuple[int, int]:
    """Return how many of the best candidates see all rows, and how many groups the others make."""
    n_best = max(n_candidates // CANDIDATES_PER_SURVIVOR, 4 * n_frequencies)
    return n_best, max(n_candidates // CANDIDATES_PER_GROUP, 1)


def representatives(losses: FloatArray, n_best: int, n_groups: int) -> IntArray:
    """Return the representative of each candidate. The best candidates represent themselves.

    Parameters
    ----------
    losses : array of shape (n_candidates,)
        Losses on some of the rows.
    n_best : int
        How many candidates of smallest loss represent themselves.
    n_groups : int
        How many groups of neighbours the others make. The middle of a group represents it.

    Returns
    -------
    indices : array of shape (n_candidates,)

    Examples
    --------
    >>> representatives(np.array([0.1, 0.5, 0.2, 0.4, 0.6, 0.9, 0.8, 0.7]), 2, 2)
    array([0, 1, 2, 1, 1, 6, 6, 6])
    """
    order = np.argsort(losses, kind="stable")
    found = np.arange(len(losses))
    for group in np.array_split(order[n_best:], n_groups):
        found[group] = group[len(group) // 2 : len(group) // 2 + 1]
    return found


def represented_weights(weights: FloatArray, indices: IntArray) -> FloatArray:
    """Return the weights after each candidate gave its own to its representative.

    >>> represented_weights(np.array([0.5, 0.3, 0.2]), np.array([0, 2, 2]))
    array([0.5, 0. , 0.5])
    """
    moved: FloatArray = np.bincount(indices, weights, minlength=len(weights)).astype(np.float64)
    return moved
