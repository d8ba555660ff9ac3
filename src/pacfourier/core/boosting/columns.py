r"""How the columns of a table enter a predictor: their scales, and their piecewise-linear codes.

A column with knots :math:`t_0 < \dots < t_k` is also coded by the k numbers

.. math:: c_i(x) = \min(1, \max(0, (x - t_{i-1}) / (t_i - t_{i-1}))) .

A linear function of these codes is any piecewise-linear function of x with bends at the knots. A
model of few cosines can then see a threshold, such as the amount from which a tax applies.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacfourier.arrays import FloatArray, IntArray, Samples, host, is_tensor, matching, namespace
from pacfourier.core.boosting.scaling import column_moments
from pacfourier.core.precision import largest_magnitudes

# Codes are as far apart as the two values of a column that has only two.
CODE_UNIT = 2.0
# At most so many knots in one column, so many codes in a row, and so many in all rows (1 GiB).
MOST_KNOTS, MOST_CODES, MOST_NUMBERS = 255, 2048, 2**28
# Frequencies see at most so many columns of sparse samples. The linear part sees all of them.
WIDEST = 4096
# Numbers that are made at a time when rows are coded (16 MB in single precision).
_CODED_NUMBERS = 2**22
# Each interval between knots holds at least so many rows on average.
_ROWS_PER_KNOT = 50


@dataclass(frozen=True, eq=False)
class Columns:
    """Units and knots of the columns, and the means of all inputs.

    Attributes
    ----------
    units : array of shape (n_columns,)
    knots : dict from the number of a column to its knots
        Empty if no column is coded.
    centres : array of shape (n_inputs,)
        Means of the columns in their units, then of the codes. Zero for sparse samples.
    order : array of shape (n_columns,), default=None
        Order of the columns in wide sparse samples: those with most entries come first.
    n_seen : int, default=None
        How many of the inputs the frequencies see; None means all.
    """

    units: FloatArray
    knots: dict[int, FloatArray]
    centres: FloatArray
    order: IntArray | None = None
    n_seen: int | None = None

    def inputs(self, X: Any) -> Any:
        """Return columns in their units, then the codes of each coded column.

        Sparse samples stay sparse and are not centred, if those of the fit were sparse.
        """
        if hasattr(X, "tocsr") and (self.knots or self.centres.any()):
            X = X.toarray()
        if hasattr(X, "tocsr"):
            measured = (X @ sparse.diags_array(1 / self.units)).tocsr().astype(X.dtype)
        else:
            measured = self._coded(X) - matching(X, self.centres)
        return measured if self.order is None else measured[:, self.order]

    def _coded(self, X: Any) -> Any:
        """Return columns in their units and codes, before they are centred."""
        measured = X / matching(X, self.units)
        if not self.knots:
            return measured
        if is_tensor(X):
            parts = [_piecewise_codes(X[:, j], each) for j, each in self.knots.items()]
        else:
            parts = [_array_codes(X, self.knots)]
        return namespace(X).concatenate([measured, *parts], 1)


def _piecewise_codes(values: Any, knots: FloatArray) -> Any:
    """Return the codes of one column, of shape (n_samples, n_knots - 1)."""
    starts, widths = (matching(values, each) for each in (knots[:-1], np.diff(knots)))
    return CODE_UNIT * namespace(values).clip((values[:, None] - starts) / widths, 0, 1)


def _array_codes(X: FloatArray, knots: dict[int, FloatArray]) -> FloatArray:
    """Return the codes of all columns that have knots, in one compiled loop."""
    from pacfourier.core import loops

    columns, joined = np.array(list(knots)), np.concatenate(list(knots.values()))
    starts = np.cumsum([0, *(len(each) for each in knots.values())])
    # Differences in double precision: in single precision, two knots may be equal.
    widths = (np.diff(joined, append=np.inf) / CODE_UNIT).astype(X.dtype)
    codes = np.empty((len(X), len(joined) - len(knots)), dtype=X.dtype)
    intervals = (columns, starts, joined.astype(X.dtype), widths)
    loops.write_codes(X, intervals, CODE_UNIT, codes)
    return codes


def described_columns(X: Samples, copies: FloatArray, *, coded: bool) -> Columns:
    """Return the scales of the columns, with knots if ``coded``.

    Parameters
    ----------
    X : array, CSR matrix or tensor of shape (n_samples, n_columns)
    copies : array of shape (n_samples,)
        How many times each sample counts.
    coded : bool
        Whether columns with more than two values also get piecewise-linear codes.
    """
    if sparse.issparse(X):
        return _sparse_columns(X)
    means, variances = column_moments(X, copies)
    lowest, highest = (host(_extremes(X, which)) for which in ("min", "max"))
    is_pair = _have_two_values(X, lowest, highest)
    units = _column_units(np.sqrt(variances), highest - lowest, is_pair)
    columns = Columns(
        units, _knots(X, np.isfinite(units) & ~is_pair) if coded else {}, means / units
    )
    if not columns.knots:
        return columns
    return replace(columns, centres=_input_means(columns, X, copies))


def _input_means(columns: Columns, X: Any, copies: FloatArray) -> FloatArray:
    """Return the means of columns and codes. Codes are made for a block of rows at a time."""
    total = np.zeros(len(columns.centres) + sum(len(each) - 1 for each in columns.knots.values()))
    size = _CODED_NUMBERS // len(total)
    for start in range(0, X.shape[0], size):
        rows = slice(start, start + size)
        means, _ = column_moments(columns._coded(X[rows]), copies[rows])
        total += copies[rows].sum() * means
    return np.asarray(total / copies.sum())


def _sparse_columns(X: Any) -> Columns:
    """Return the units of sparse columns: half of the largest absolute value."""
    largest = largest_magnitudes(X)
    units = np.where(largest > 0, largest / CODE_UNIT, np.inf)
    columns = Columns(units, {}, np.zeros(X.shape[1]))
    if X.shape[1] <= WIDEST:
        return columns
    order = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")
    return replace(columns, order=order, n_seen=WIDEST)


def _have_two_values(X: Any, lowest: FloatArray, highest: FloatArray) -> NDArray[np.bool_]:
    """Return which columns have no value between the smallest and the largest."""
    is_end = (matching(X, lowest) == X) | (matching(X, highest) == X)
    return np.asarray(host(is_end.all(0)))


def _extremes(X: Any, which: str) -> Any:
    found = getattr(X, which)(0)
    return found.values if is_tensor(X) else found


def _column_units(
    deviations: FloatArray, ranges: FloatArray, is_pair: NDArray[np.bool_]
) -> FloatArray:
    """Return the unit in which each column is measured.

    The unit of a column is its standard deviation, with two exceptions. Columns with two values
    have half the difference as unit, so that a rare value does not become a large one. Columns of
    one kind, such as pixels, share a unit: if half of the other columns have the same range, then
    those of at most this range have the root mean square of their deviations as unit. Constant
    columns have an infinite unit, and no model sees them.
    """
    # The mean of equal numbers is rounded, so a constant column may seem to deviate from it.
    varies = (ranges > 0) & (deviations > 1e-9 * ranges)
    units = np.where(varies, np.where(is_pair, ranges / CODE_UNIT, deviations), np.inf)
    is_other = varies & ~is_pair
    kinds, counts = np.unique(ranges[is_other], return_counts=True)
    if len(counts) and counts.max() > 1 and counts.max() >= counts.sum() / 2:
        is_alike = is_other & (ranges <= kinds[counts.argmax()])
        units[is_alike] = np.sqrt(np.mean(np.square(units[is_alike])))
    return units


def _knots(X: Any, is_used: Any) -> dict[int, FloatArray]:
    """Return knots at the distinct values of each column, or at quantiles of them."""
    distinct = {j: np.unique(host(X[:, j])).astype(np.float64) for j in np.flatnonzero(is_used)}
    codes = min(MOST_CODES, MOST_NUMBERS // X.shape[0])
    most = min(MOST_KNOTS, codes // max(len(distinct), 1), X.shape[0] // _ROWS_PER_KNOT)
    if most < 2:
        return {}
    return {int(j): _spread_values(values, most + 1) for j, values in distinct.items()}


def _spread_values(values: FloatArray, most: int) -> FloatArray:
    """Return the values, or as many of them as allowed, evenly spread by rank."""
    if len(values) <= most:
        return values
    return values[np.linspace(0, len(values) - 1, most).round().astype(int)]
