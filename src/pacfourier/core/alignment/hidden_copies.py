"""Find copied rows that a column or the last digits of numbers make different.

Copies of rows look different if each has a number, a time stamp or a little noise of its own. They
still agree in all other columns at once, and in their labels. Rows that agree by chance do so in
one column at a time: many more agree if one more column is left out. Nothing here is a proof, so
what is found is a warning.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray, IntArray

__all__ = ["MOST_COLUMNS", "HiddenCopies", "hidden_copies", "looked_at", "rounded"]

# Of more rows, so many random ones are looked at: a fixed price, whatever the size of the sample.
# In them, copies are found while more than one row in a hundred has a copy. Samples with more
# columns are not looked at.
MOST_ROWS, MOST_COLUMNS = 4096, 256
# Rounded measurements may coincide up to this share of the rows.
LARGEST_SHARE = 0.01
# Numbers are rounded to this part of the standard deviation of their column.
ROUNDING = 2.0**-20
# Larger ones stand for gaps, or are far from what is measured.
LARGEST_NUMBER = 2.0**48
# With fewer pairs of equal rows, pairs may be missing by chance: with probability 0.002 if half of
# all pairs agree in the column that was left out (a Poisson variable of mean 20 below 9).
FEWEST_PAIRS = 20
# Rounding may split some pairs of copies with noise, so leaving a column out may add pairs.
LARGEST_GAIN = 2.0
ROW_SEED = 20261119


class HiddenCopies(NamedTuple):
    """Rows that would repeat others, but for one column or for the last digits.

    Attributes
    ----------
    share : float
        The share of rows that repeat others in everything else.
    column : int, str or None
        The number or the name of the column. None if only the last digits differ.
    """

    share: float
    column: int | str | None = None

    def __str__(self) -> str:
        hidden = "the last digits of numbers"
        if self.column is not None:
            is_name = isinstance(self.column, str)
            hidden = f"the column {self.column!r}" if is_name else f"column {self.column} of X"
        return f"{100 * self.share:.1f} % of the rows repeat others but for {hidden}"


def looked_at(n_samples: int) -> IntArray:
    """Return the rows among which copies are looked for: all of them, or random ones."""
    if n_samples <= MOST_ROWS:
        return np.arange(n_samples)
    return np.random.default_rng(ROW_SEED).choice(n_samples, MOST_ROWS, replace=False)


def rounded(X: FloatArray) -> FloatArray:
    """Return columns as whole multiples of a millionth of their standard deviations.

    Constants, NaN and numbers that stand for gaps have no place in this, and stay as they are.
    """
    are_numbers = np.abs(X) < LARGEST_NUMBER
    numbers, counts = np.where(are_numbers, X, 0.0), np.maximum(are_numbers.sum(axis=0), 1)
    deviations = np.where(are_numbers, numbers - numbers.sum(axis=0) / counts, 0.0)
    units = ROUNDING * np.sqrt(np.square(deviations).sum(axis=0) / counts)
    multiples = np.rint(numbers / np.where(units > 0, units, 1.0))
    return np.where(are_numbers & (units > 0), multiples, X)


def hidden_copies(cells: NDArray[np.uint64], labels: NDArray[np.uint64]) -> HiddenCopies | None:
    """Return the copies that one column or rounding hides, or None if none were found.

    Parameters
    ----------
    cells : array of shape (n_columns, n_rows)
        What each cell adds to the fingerprint of its row, after rounding.
    labels : array of shape (n_rows,)
        Fingerprints of the labels. Copies have the label of their original.

    Returns
    -------
    found : HiddenCopies or None
        None also if rounded rows repeat without being copies, as rows of categories do.
    """
    cells = np.vstack([cells, labels])
    prints = cells.sum(axis=0, dtype=np.uint64)
    share = repeated_share(prints)
    if share > LARGEST_SHARE:
        return HiddenCopies(share) if are_copies(prints, cells) else None
    return hiding_column(prints, cells, range(len(cells) - 1))


def hiding_column(
    prints: NDArray[np.uint64], cells: NDArray[np.uint64], columns: range
) -> HiddenCopies | None:
    """Return the copies that one of some columns hides, or None.

    Rows that agree without one column also agree without several. So columns are left out together
    first, and their halves only if rows then repeat.
    """
    left = prints - cells[columns.start : columns.stop].sum(axis=0, dtype=np.uint64)
    share, size = repeated_share(left), len(columns)
    if share <= LARGEST_SHARE or not size:
        return None
    if size == 1:
        others = np.delete(cells, columns.start, axis=0)
        return HiddenCopies(share, columns.start) if are_copies(left, others) else None
    halves = (columns[: size // 2], columns[size // 2 :])
    found = (hiding_column(prints, cells, half) for half in halves)
    return next((each for each in found if each), None)


def repeated_share(prints: NDArray[np.uint64]) -> float:
    """Return the share of rows that repeat another row."""
    ordered = np.sort(prints)
    return int((ordered[1:] == ordered[:-1]).sum()) / len(prints)


def n_pairs(prints: NDArray[np.uint64]) -> int:
    """Return the number of pairs of equal rows."""
    counts = np.unique(prints, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def are_copies(prints: NDArray[np.uint64], cells: NDArray[np.uint64]) -> bool:
    r"""Return whether rows that agree do so because they were copied.

    Let a share :math:`q \le 1/2` of all pairs of rows agree in a column. If the rows that agree in
    all columns are copies, no more of them agree when this column is left out. If they agree by
    chance, :math:`1/q` times as many do. The limit lies between both: :math:`q^{-1/2}`, but at most
    2, because columns may depend on each other. All such columns must speak for copies.

    Parameters
    ----------
    prints : array of shape (n_rows,)
        Fingerprints of the rows.
    cells : array of shape (n_columns, n_rows)
        What each column, and the label, adds to them.
    """
    pairs, n_rows = n_pairs(prints), len(prints)
    if pairs < FEWEST_PAIRS:
        return False
    shares = np.array([n_pairs(terms) for terms in cells]) / (n_rows * (n_rows - 1) / 2)
    telling = np.flatnonzero(shares <= 0.5)
    limits = np.maximum(shares, LARGEST_GAIN**-2) ** -0.5
    gains = (n_pairs(prints - cells[place]) / pairs for place in telling)
    are_few = (gain <= limit for gain, limit in zip(gains, limits[telling], strict=True))
    return len(telling) > 0 and all(are_few)
