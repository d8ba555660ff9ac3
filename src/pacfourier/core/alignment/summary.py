"""A summary of a sample that shows how it may have been prepared.

Certificates assume independent draws. Repeated rows may be copies, and columns that were scaled on
the sample itself depend on all of it.
"""

from dataclasses import dataclass
from functools import reduce
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacfourier.arrays import FloatArray, IntArray, Samples, by_kind
from pacfourier.core.phases import ROW_BLOCK

__all__ = ["SampleSummary", "sample_summary"]

# Fixed, so that equal rows have equal fingerprints everywhere.
FINGERPRINT_SEED = 20190416
# Enough to find repeated rows in any sample. Up to this number of rows, the counts are exact.
MOST_FINGERPRINTS = 16384
# The largest probability, over all columns of a fit, that honest data look scaled by chance.
COINCIDENCE = 1e-3
# How far a scaler in single precision may miss 1.
ONE_ROUNDING = 2.0**-22

DistinctRows: TypeAlias = tuple[
    NDArray[np.uint64], IntArray, NDArray[np.uint64], NDArray[np.uint64]
]
"""Fingerprints, counts, and the smallest and the largest fingerprint of the labels."""


@dataclass(frozen=True, eq=False)
class SampleSummary:
    """Column statistics and repeated rows of a sample.

    Summaries can be merged, and their memory does not grow with the number of samples.

    Attributes
    ----------
    n_samples : int
    fingerprints, counts : arrays of shape (n_fingerprints,)
        The smallest distinct fingerprints of rows, and how often each of them occurs.
    first_labels, last_labels : arrays of shape (n_fingerprints,)
        The smallest and the largest fingerprint among the labels of these rows.
    sums, squares, lowest, highest : arrays of shape (n_features,)
    marks : array of shape (n_features,)
        64 bits per column. Every value sets one of them, which tells few values from many.
    n_ones : array of shape (n_features,)
        How many values of the column are 1 or -1, up to rounding.
    is_weighted : bool
        Whether some samples counted more than others.
    """

    n_samples: int
    fingerprints: NDArray[np.uint64]
    counts: IntArray
    first_labels: NDArray[np.uint64]
    last_labels: NDArray[np.uint64]
    sums: FloatArray
    squares: FloatArray
    lowest: FloatArray
    highest: FloatArray
    marks: NDArray[np.uint64]
    n_ones: IntArray
    is_weighted: bool

    def merge(self, other: Self) -> "SampleSummary":
        """Return the summary of both samples."""
        # The smallest fingerprints of the union are among the smallest of each sample, so none of
        # their counts is lost.
        rows: Any = map(np.concatenate, zip(self._rows(), other._rows(), strict=True))
        return SampleSummary(
            self.n_samples + other.n_samples,
            *distinct_rows(*rows),
            self.sums + other.sums,
            self.squares + other.squares,
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
            self.marks | other.marks,
            self.n_ones + other.n_ones,
            self.is_weighted or other.is_weighted,
        )

    def _rows(self) -> DistinctRows:
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
    def n_values(self) -> FloatArray:
        """About how many different values each column has; infinity stands for 250 or more.

        With v values a bit stays unset with probability (1 - 1/64)^v, about exp(-v / 64).
        """
        with np.errstate(divide="ignore"):
            return np.asarray(-64 * np.log(1 - np.bitwise_count(self.marks) / 64))

    @property
    def is_varied(self) -> NDArray[np.bool_]:
        r"""Whether a column has so many values that it cannot look standardised by chance.

        Take a column of numbers on a grid, with v different values. Its standard deviation is at
        least :math:`s = v / \sqrt{12}` steps of the grid. By the local limit theorem the sum of n
        values hits a given number with probability :math:`1 / (s \sqrt{2 \pi n})` at most, and
        then the sum of squares, whose parity is known, with :math:`2 / (0.9 s^2 \sqrt{2 \pi n})`.
        With :math:`n \ge v`, two kinds of variance and d columns, the chance is below

        .. math:: d \cdot 30 / v^4 \le 10^{-3} \quad \text{if} \quad v \ge 14\, d^{1/4}.
        """
        return np.asarray(self.n_values >= (30 * len(self.marks) / COINCIDENCE) ** 0.25)

    @property
    def is_standardised(self) -> bool:
        r"""Whether a varied column has mean zero and variance one on this sample.

        A scaler that was fitted on the sample leaves rounding errors only. If a column without
        ties has mean 0 and variance 1 in truth, the density of its mean on the sample is at most
        about :math:`0.4 \sqrt{n}`, and that of its variance :math:`0.3 \sqrt{n}`. Both are within
        t of their targets by chance with probability :math:`0.5\, n t^2`. Two kinds of variance
        and d columns make :math:`n d t^2`, which is 1.6e-5 for the t below. This leaves a factor of
        60 for columns whose variance varies less.
        """
        tolerance = min(1e-5, 0.004 / np.sqrt(self.n_samples * len(self.sums)))
        means = self.sums / self.n_samples
        variances = self.squares / self.n_samples - means**2
        unbiased = variances * self.n_samples / max(self.n_samples - 1, 1)
        distance = np.minimum(np.abs(variances - 1), np.abs(unbiased - 1))
        is_scaled = np.maximum(np.abs(means), distance) < tolerance
        return bool((self.is_varied & is_scaled).any())

    @property
    def is_range_scaled(self) -> bool:
        r"""Whether nine varied columns out of ten reach 1 or -1, each in a single row.

        That is what a scaler of ranges leaves that was fitted on the sample. Columns with a natural
        limit of 1, such as the brightness of pixels, reach it in many rows. If the density of a
        column is at most one near its limit, n values come within t of it with probability
        :math:`n t`, and are rounded to it in single precision with probability
        :math:`n\, 2^{-25}`. With k independent columns the chance is the k-th power. A column with
        a natural limit reaches it in exactly one row with probability 1/e at most, so seven such
        columns all do with a chance below 1e-3. For fewer of them this is not guaranteed.
        """
        tolerance = min(ONE_ROUNDING, COINCIDENCE / (2 * self.n_samples))
        tops, bottoms = np.abs(self.highest - 1), np.abs(self.lowest + 1)
        n_ends = (tops < tolerance).astype(np.intp) + (bottoms < tolerance)
        reach = np.maximum(np.abs(self.highest), np.abs(self.lowest))
        is_scaled = (np.abs(reach - 1) < tolerance) & (self.n_ones == n_ends)
        chance = self.n_samples * (tolerance + 2.0**-25)
        is_rare = chance ** self.is_varied.sum() <= COINCIDENCE
        return bool(is_rare and is_scaled[self.is_varied].mean() >= 0.9)


def distinct_rows(
    fingerprints: NDArray[np.uint64],
    counts: IntArray,
    first_labels: NDArray[np.uint64],
    last_labels: NDArray[np.uint64],
) -> DistinctRows:
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


def rows_with_labels(X: Any, codes: sparse.csr_array) -> DistinctRows:
    """Return the distinct rows of a block of samples, with the coded labels of these samples."""
    labels = row_fingerprints(codes)
    return distinct_rows(row_fingerprints(X), np.ones(len(labels), dtype=np.intp), labels, labels)


@by_kind
def sample_summary(
    X: Samples, codes: sparse.csr_array, *, is_weighted: bool = False
) -> SampleSummary:
    """Return the summary of a sample, block by block.

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
    rows = (slice(start, start + ROW_BLOCK) for start in range(0, X.shape[0], ROW_BLOCK))
    blocks = (_block_summary(X[each], codes[each], is_weighted) for each in rows)
    return reduce(SampleSummary.merge, blocks)


def _block_summary(X: Samples, codes: sparse.csr_array, is_weighted: bool) -> SampleSummary:
    rows, marks = rows_with_labels(X, codes), _value_marks(X)
    if sparse.issparse(X):
        # A sparse matrix sums in its own precision, even if another dtype is given.
        X = X.astype(np.float64)
    squares = X.power(2) if sparse.issparse(X) else np.square(X, dtype=np.float64)
    return SampleSummary(
        X.shape[0],
        *rows,
        sums=_columns(X.sum(axis=0, dtype=np.float64)),
        squares=_columns(squares.sum(axis=0, dtype=np.float64)),
        lowest=_columns(X.min(axis=0)),
        highest=_columns(X.max(axis=0)),
        marks=marks,
        n_ones=_n_ones(X),
        is_weighted=is_weighted,
    )


@by_kind
def row_fingerprints(X: Samples) -> NDArray[np.uint64]:
    """Return one number per row, which is equal for equal rows.

    It is the sum modulo 2^64 of the bits of the values times fixed numbers. Zeros add nothing, so
    sparse and dense rows have the same fingerprints.
    """
    multipliers = fingerprint_multipliers(X.shape[1])
    if sparse.issparse(X):
        terms = multipliers[X.indices] * _bits(X.data)
        ends: NDArray[np.uint64] = np.zeros(len(terms) + 1, dtype=np.uint64)
        ends[1:] = np.cumsum(terms)
        ends = ends[X.indptr]
        return np.diff(ends)
    return _bits(np.ascontiguousarray(X)) @ multipliers


def fingerprint_multipliers(n_features: int) -> NDArray[np.uint64]:
    """Return one fixed number per feature."""
    rng = np.random.default_rng(FINGERPRINT_SEED)
    return np.asarray(rng.integers(0, 2**64, size=n_features, dtype=np.uint64))


def _bits(values: FloatArray) -> NDArray[np.uint64]:
    """Return the bits of the values, mixed; zero stays zero."""
    # Adding zero turns minus zero, which has other bits, into plus zero.
    words = (values + 0.0).view(np.uint32 if values.dtype == np.float32 else np.uint64)
    bits = words.astype(np.uint64)
    # Round numbers end in many zero bits, and products modulo 2^64 would keep these.
    bits ^= bits >> np.uint64(32)
    bits *= np.uint64(0x9E3779B97F4A7C15)
    bits ^= bits >> np.uint64(32)
    return bits


def _value_marks(X: Samples) -> NDArray[np.uint64]:
    """Return 64 bits per column, of which every value sets the one named by its highest bits."""
    if not sparse.issparse(X):
        marks = np.uint64(1) << (_bits(np.ascontiguousarray(X)) >> np.uint64(58))
        return np.asarray(np.bitwise_or.reduce(marks, axis=0))
    found = np.zeros((64, X.shape[1]), dtype=bool)
    found[_bits(X.data) >> np.uint64(58), X.indices] = True
    # Zeros that are not stored set the first bit.
    found[0] |= np.bincount(X.indices, minlength=X.shape[1]) < X.shape[0]
    return packed_marks(found)


def packed_marks(found: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return one number per column, whose bits are the 64 rows of an array."""
    weights = np.uint64(1) << np.arange(64, dtype=np.uint64)
    return np.asarray((found * weights[:, np.newaxis]).sum(axis=0, dtype=np.uint64))


def _n_ones(X: Samples) -> IntArray:
    """Count the values of each column that are 1 or -1, up to rounding."""
    if sparse.issparse(X):
        is_one = np.abs(np.abs(X.data) - 1) < ONE_ROUNDING
        return np.bincount(X.indices[is_one], minlength=X.shape[1])
    return np.count_nonzero(np.abs(np.abs(X) - 1) < ONE_ROUNDING, axis=0)


def _columns(row: Any) -> FloatArray:
    # Sums of a sparse matrix are dense, but its minimum and maximum are sparse.
    dense = row.toarray() if hasattr(row, "toarray") else row
    return np.asarray(dense, dtype=np.float64).ravel()
