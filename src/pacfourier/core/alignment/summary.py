"""A summary of a sample that shows how it may have been prepared.

Certificates assume independent draws. Repeated rows may be copies, and columns that were scaled on
the sample itself depend on all of it.
"""

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacfourier.arrays import FloatArray, IntArray, Samples, by_kind
from pacfourier.core.products import ROW_BLOCK, row_parts
from pacfourier.core.threads import run_tasks

# Fixed, so that equal rows have equal fingerprints everywhere.
_FINGERPRINT_SEED = 20190416
# Enough to find repeated rows in any sample. Up to this number of rows, the counts are exact.
MOST_FINGERPRINTS = 16384
# Rows that are hashed together, few enough to stay near the core.
_HASHED_TOGETHER = 256
# Columns of which the squares are explained by the values up to this share have two values only.
_TWO_VALUES = 1e-6
# Of more rows, so many random ones are looked at: a fixed price, whatever the size of the sample.
# In them, copies are found while more than one row in a hundred has a copy. Samples with more
# columns are not looked at.
MOST_ROWS, MOST_COLUMNS = 4096, 256
# Rounded measurements may coincide up to this share of the rows.
_LARGEST_SHARE = 0.01
# Numbers are rounded to this part of the standard deviation of their column.
_ROUNDING = 2.0**-20
# Larger ones stand for gaps, or are far from what is measured.
_LARGEST_NUMBER = 2.0**48
# With fewer pairs of equal rows, pairs may be missing by chance: with probability 0.002 if half of
# all pairs agree in the column that was left out (a Poisson variable of mean 20 below 9).
_FEWEST_PAIRS = 20
# Rounding may split some pairs of copies with noise, so leaving a column out may add pairs.
_LARGEST_GAIN = 2.0
_ROW_SEED = 20261119

_DistinctRows: TypeAlias = tuple[
    NDArray[np.uint64], IntArray, NDArray[np.uint64], NDArray[np.uint64]
]
"""Fingerprints, counts, and the smallest and the largest fingerprint of the labels."""


class _HiddenCopies(NamedTuple):
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


@dataclass(frozen=True, eq=False)
class SampleSummary:
    """Repeated rows of a sample, and sums over its columns.

    Summaries can be merged, and their memory does not grow with the number of samples.

    Attributes
    ----------
    n_samples : int
    fingerprints, counts : arrays of shape (n_fingerprints,)
        The smallest distinct fingerprints of rows, and how often each of them occurs.
    first_labels, last_labels : arrays of shape (n_fingerprints,)
        The smallest and the largest fingerprint among the labels of these rows.
    powers : array of shape (4, n_features)
        Sums of the values and of their second, third and fourth powers.
    is_weighted : bool
        Whether some samples counted more than others.
    hidden : HiddenCopies or None
        Rows that repeat others but for a column or the last digits, where they were looked for.
    """

    n_samples: int
    fingerprints: NDArray[np.uint64]
    counts: IntArray
    first_labels: NDArray[np.uint64]
    last_labels: NDArray[np.uint64]
    powers: FloatArray
    is_weighted: bool
    hidden: _HiddenCopies | None = None

    def merge(self, other: Self) -> "SampleSummary":
        """Return the summary of both samples."""
        # The smallest fingerprints of the union are among the smallest of each sample, so none of
        # their counts is lost.
        rows: Any = map(np.concatenate, zip(self._rows(), other._rows(), strict=True))
        return SampleSummary(
            self.n_samples + other.n_samples,
            *_distinct_rows(*rows),
            self.powers + other.powers,
            self.is_weighted or other.is_weighted,
            _most_copies(self.hidden, other.hidden),
        )

    def _rows(self) -> _DistinctRows:
        return self.fingerprints, self.counts, self.first_labels, self.last_labels

    @property
    def repeated_share(self) -> float:
        """The share of rows that repeat another row, among those with the smallest fingerprints."""
        n_rows = self.counts.sum()
        return float((n_rows - len(self.counts)) / n_rows)

    @property
    def n_repeated(self) -> int:
        """The number of different rows that occur more than once, among the same rows."""
        return int((self.counts > 1).sum())

    @property
    def n_disputed(self) -> int:
        """How many of these occur with different labels. A copy has the label of its original."""
        return int((self.first_labels != self.last_labels).sum())

    @property
    def is_standardised(self) -> bool:
        r"""Whether most columns have mean zero and variance one on this sample.

        A scaler that was fitted on the sample leaves rounding errors only. If a column without ties
        has mean 0 and variance 1 in truth, the density of its mean on the sample is at most about
        :math:`0.4 \sqrt{n}`, and that of its variance :math:`0.3 \sqrt{n}`. Both are within t of
        their targets by chance with probability :math:`0.5\, n t^2`. Two kinds of variance and d
        columns make :math:`n d t^2`, which is 1.6e-5 for the t below.

        Columns of two values do not count, because signs often have mean 0 by chance. Their squares
        are a linear function of their values.
        """
        tolerance = min(1e-5, 0.004 / np.sqrt(self.n_samples * self.powers.shape[1]))
        mean, square, cube, fourth = self.powers / self.n_samples
        # Huge values overflow, and constants divide by zero: neither is a scaled column.
        with np.errstate(all="ignore"):
            variance = square - mean**2
            unexplained = fourth - square**2 - (cube - mean * square) ** 2 / variance
            is_telling = unexplained > _TWO_VALUES * variance**2
        unbiased = variance * self.n_samples / max(self.n_samples - 1, 1)
        distance = np.minimum(np.abs(variance - 1), np.abs(unbiased - 1))
        is_scaled = np.maximum(np.abs(mean), distance) < tolerance
        return bool(2 * (is_scaled & is_telling).sum() > is_telling.sum())


def _distinct_rows(
    fingerprints: NDArray[np.uint64],
    counts: IntArray,
    first_labels: NDArray[np.uint64],
    last_labels: NDArray[np.uint64],
) -> _DistinctRows:
    """Return the smallest distinct fingerprints, their counts and the ends of their labels."""
    order = np.argsort(fingerprints, kind="stable")
    ordered = fingerprints[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    kept = slice(MOST_FINGERPRINTS)
    return (
        ordered[starts][kept],
        np.add.reduceat(counts[order], starts)[kept],
        np.minimum.reduceat(first_labels[order], starts)[kept],
        np.maximum.reduceat(last_labels[order], starts)[kept],
    )


def _most_copies(first: _HiddenCopies | None, second: _HiddenCopies | None) -> _HiddenCopies | None:
    """Return the larger of two findings."""
    return max(
        (each for each in (first, second) if each), key=lambda each: each.share, default=None
    )


def _labelled_prints(prints: NDArray[np.uint64], codes: sparse.csr_array) -> _DistinctRows:
    """Return the distinct fingerprints of rows, with the coded labels of these rows."""
    labels = row_fingerprints(codes)
    return _distinct_rows(prints, np.ones(len(labels), dtype=np.intp), labels, labels)


@by_kind
def sample_summary(
    X: Samples, codes: sparse.csr_array, *, is_weighted: bool = False
) -> SampleSummary:
    """Return the summary of a sample, block by block and in threads.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    codes : sparse array of shape (n_samples, n_codes)
        The labels, as ``Target.encode`` returns them.
    is_weighted : bool, default=False
        Whether some samples count more than others.

    Returns
    -------
    summary : SampleSummary
    """
    parts: dict[int, SampleSummary] = {}
    of_part: Any = _sparse_summary if sparse.issparse(X) else _dense_summary

    def fill(part: slice) -> None:
        parts[part.start] = of_part(X[part], codes[part], is_weighted)

    run_tasks(fill, row_parts(X.shape[0]))
    summary: SampleSummary = reduce(SampleSummary.merge, (parts[start] for start in sorted(parts)))
    return summary if sparse.issparse(X) else replace(summary, hidden=_hidden_in(X, codes))


def _hidden_in(X: FloatArray, codes: sparse.csr_array) -> _HiddenCopies | None:
    """Return the copies that one column or the last digits hide in a dense array, or None.

    They are looked for while the array is in memory. To find copies in different blocks of a
    stream, a summary would have to keep rows, or fingerprints per column. So it keeps the largest
    share that was found in a block. Sparse rows and those on devices are not looked at.
    """
    if X.shape[1] > MOST_COLUMNS:
        return None
    rows = _looked_at(len(X))
    columns = np.ascontiguousarray(_rounded(X[rows]).T)
    cells = _mixed_bits(columns) * fingerprint_multipliers(len(columns))[:, np.newaxis]
    return _hidden_copies(cells, row_fingerprints(codes[rows]))


def _dense_summary(X: FloatArray, codes: sparse.csr_array, is_weighted: bool) -> SampleSummary:
    from pacfourier.core import loops

    n_samples, n_features = X.shape
    prints = np.empty(n_samples, dtype=np.uint64)
    powers, multipliers = np.zeros((4, n_features)), fingerprint_multipliers(n_features)
    for start in range(0, n_samples, ROW_BLOCK):
        rows = np.ascontiguousarray(X[start : start + ROW_BLOCK])
        loops.add_statistics(
            rows,
            rows.view(np.uint32 if rows.dtype == np.float32 else np.uint64),
            multipliers,
            prints[start : start + ROW_BLOCK],
            powers,
        )
    return SampleSummary(
        n_samples,
        *_labelled_prints(prints, codes),
        powers=powers,
        is_weighted=is_weighted,
    )


def _sparse_summary(X: Any, codes: sparse.csr_array, is_weighted: bool) -> SampleSummary:
    return SampleSummary(
        X.shape[0],
        *_labelled_prints(row_fingerprints(X), codes),
        # A sparse matrix sums in its own precision, even if another dtype is given.
        powers=_power_sums(X.astype(np.float64)),
        is_weighted=is_weighted,
    )


def _power_sums(X: Any) -> FloatArray:
    """Return the sums of the first four powers of each column of a sparse matrix."""
    values = X.data
    # The higher powers of huge values overflow. Only columns of variance one need them.
    with np.errstate(over="ignore"):
        powers = [values, np.square(values)]
        powers += [values * powers[1], np.square(powers[1])]
        return np.stack([np.bincount(X.indices, each, X.shape[1]) for each in powers])


@by_kind
def row_fingerprints(X: Samples) -> NDArray[np.uint64]:
    """Return one number per row, which is equal for equal rows.

    It is the sum modulo 2^64 of the bits of the values times fixed numbers. Zeros add nothing, so
    sparse and dense rows have the same fingerprints.
    """
    multipliers = fingerprint_multipliers(X.shape[1])
    if sparse.issparse(X):
        terms = multipliers[X.indices] * _mixed_bits(X.data)
        ends: NDArray[np.uint64] = np.zeros(len(terms) + 1, dtype=np.uint64)
        ends[1:] = np.cumsum(terms)
        ends = ends[X.indptr]
        return np.diff(ends)
    prints = np.empty(len(X), dtype=np.uint64)
    for start in range(0, len(X), _HASHED_TOGETHER):
        rows = slice(start, start + _HASHED_TOGETHER)
        prints[rows] = _mixed_bits(np.ascontiguousarray(X[rows])) @ multipliers
    return prints


def fingerprint_multipliers(n_features: int) -> NDArray[np.uint64]:
    """Return one fixed number per feature."""
    rng = np.random.default_rng(_FINGERPRINT_SEED)
    return np.asarray(rng.integers(0, 2**64, size=n_features, dtype=np.uint64))


def _mixed_bits(values: FloatArray) -> NDArray[np.uint64]:
    """Return the bits of the values, mixed; zero stays zero."""
    # Adding zero turns minus zero, which has other bits, into plus zero.
    words = (values + 0.0).view(np.uint32 if values.dtype == np.float32 else np.uint64)
    bits = words.astype(np.uint64)
    # Round numbers end in many zero bits, and products modulo 2^64 would keep these.
    bits ^= bits >> np.uint64(32)
    bits *= np.uint64(0x9E3779B97F4A7C15)
    bits ^= bits >> np.uint64(32)
    return bits


# Hidden copies ----------------------------------------------------------------------------------
# Copies of rows look different if each has a number, a time stamp or a little noise of its own.
# They still agree in all other columns at once, and in their labels. Rows that agree by chance do
# so in one column at a time: many more agree if one more column is left out. Nothing here is a
# proof, so what is found is a warning.


def _looked_at(n_samples: int) -> IntArray:
    """Return the rows among which copies are looked for: all of them, or random ones."""
    if n_samples <= MOST_ROWS:
        return np.arange(n_samples)
    return np.random.default_rng(_ROW_SEED).choice(n_samples, MOST_ROWS, replace=False)


def _rounded(X: FloatArray) -> FloatArray:
    """Return columns as whole multiples of a millionth of their standard deviations.

    Constants, NaN and numbers that stand for gaps have no place in this, and stay as they are.
    """
    are_numbers = np.abs(X) < _LARGEST_NUMBER
    numbers, counts = np.where(are_numbers, X, 0.0), np.maximum(are_numbers.sum(axis=0), 1)
    deviations = np.where(are_numbers, numbers - numbers.sum(axis=0) / counts, 0.0)
    units = _ROUNDING * np.sqrt(np.square(deviations).sum(axis=0) / counts)
    multiples = np.rint(numbers / np.where(units > 0, units, 1.0))
    return np.where(are_numbers & (units > 0), multiples, X)


def _hidden_copies(cells: NDArray[np.uint64], labels: NDArray[np.uint64]) -> _HiddenCopies | None:
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
    share = _repeated_share(prints)
    if share > _LARGEST_SHARE:
        return _HiddenCopies(share) if _are_copies(prints, cells) else None
    return _hiding_column(prints, cells, range(len(cells) - 1))


def _hiding_column(
    prints: NDArray[np.uint64], cells: NDArray[np.uint64], columns: range
) -> _HiddenCopies | None:
    """Return the copies that one of some columns hides, or None.

    Rows that agree without one column also agree without several. So columns are left out together
    first, and their halves only if rows then repeat.
    """
    left = prints - cells[columns.start : columns.stop].sum(axis=0, dtype=np.uint64)
    share, size = _repeated_share(left), len(columns)
    if share <= _LARGEST_SHARE or not size:
        return None
    if size == 1:
        others = np.delete(cells, columns.start, axis=0)
        return _HiddenCopies(share, columns.start) if _are_copies(left, others) else None
    halves = (columns[: size // 2], columns[size // 2 :])
    found = (_hiding_column(prints, cells, half) for half in halves)
    return next((each for each in found if each), None)


def _repeated_share(prints: NDArray[np.uint64]) -> float:
    """Return the share of rows that repeat another row."""
    ordered = np.sort(prints)
    return int((ordered[1:] == ordered[:-1]).sum()) / len(prints)


def _n_pairs(prints: NDArray[np.uint64]) -> int:
    """Return the number of pairs of equal rows."""
    counts = np.unique(prints, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def _are_copies(prints: NDArray[np.uint64], cells: NDArray[np.uint64]) -> bool:
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
    pairs, n_rows = _n_pairs(prints), len(prints)
    if pairs < _FEWEST_PAIRS:
        return False
    shares = np.array([_n_pairs(terms) for terms in cells]) / (n_rows * (n_rows - 1) / 2)
    telling = np.flatnonzero(shares <= 0.5)
    limits = np.maximum(shares, _LARGEST_GAIN**-2) ** -0.5
    gains = (_n_pairs(prints - cells[place]) / pairs for place in telling)
    are_few = (gain <= limit for gain, limit in zip(gains, limits[telling], strict=True))
    return len(telling) > 0 and all(are_few)
