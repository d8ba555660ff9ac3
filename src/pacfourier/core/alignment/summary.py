"""A summary of a sample that shows how it may have been prepared.

Certificates assume independent draws. Repeated rows may be copies, and columns that were scaled on
the sample itself depend on all of it.
"""

from dataclasses import dataclass
from functools import reduce
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from pacfourier.arrays import FloatArray, IntArray, Samples, by_kind
from pacfourier.core.products import ROW_BLOCK, row_parts
from pacfourier.core.threads import run_tasks

__all__ = ["SampleSummary", "sample_summary"]

# Fixed, so that equal rows have equal fingerprints everywhere.
FINGERPRINT_SEED = 20190416
# Enough to find repeated rows in any sample. Up to this number of rows, the counts are exact.
MOST_FINGERPRINTS = 16384
# Rows that are hashed together, few enough to stay near the core.
HASHED_TOGETHER = 256
# The largest probability that honest data look scaled by chance, for each of the four rules of
# ``is_standardised`` and ``is_range_scaled``. Together, they have one in a thousand per fit.
ONE_COLUMN, MOST_COLUMNS, ONE_END, BOTH_ENDS = 1e-4, 7e-4, 1.5e-4, 5e-5
# A scaler of the whole table leaves its trace in nearly all columns.
NEARLY_ALL = 0.9
# How far a scaler in single precision may miss 0 or 1.
END_ROUNDING = 2.0**-22
# With 64 marks a column has more values than this, save with a chance of 1e-6.
MANY_VALUES = 100
# Columns with fewer values do not count among those that a scaler of ranges may have moved.
FEWEST_VALUES = 14

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
    powers : array of shape (4, n_features)
        Sums of the values and of their second, third and fourth powers.
    lowest, n_lowest, highest, n_highest : arrays of shape (n_features,)
        The smallest and the largest value of each column, each with the number of its rows.
    marks : array of shape (n_features,)
        64 bits per column. Every value sets one of them, which tells few values from many.
    is_weighted : bool
        Whether some samples counted more than others.
    """

    n_samples: int
    fingerprints: NDArray[np.uint64]
    counts: IntArray
    first_labels: NDArray[np.uint64]
    last_labels: NDArray[np.uint64]
    powers: FloatArray
    lowest: FloatArray
    n_lowest: IntArray
    highest: FloatArray
    n_highest: IntArray
    marks: NDArray[np.uint64]
    is_weighted: bool

    def merge(self, other: Self) -> "SampleSummary":
        """Return the summary of both samples."""
        # The smallest fingerprints of the union are among the smallest of each sample, so none of
        # their counts is lost.
        rows: Any = map(np.concatenate, zip(self._rows(), other._rows(), strict=True))
        return SampleSummary(
            self.n_samples + other.n_samples,
            *distinct_rows(*rows),
            self.powers + other.powers,
            *_merged_ends((self.lowest, self.n_lowest), (other.lowest, other.n_lowest), np.minimum),
            *_merged_ends(
                (self.highest, self.n_highest), (other.highest, other.n_highest), np.maximum
            ),
            self.marks | other.marks,
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
    def n_values(self) -> IntArray:
        """A number that each column has at least as many different values as."""
        n_marks = np.bitwise_count(self.marks).astype(np.intp)
        return np.where(n_marks == 64, MANY_VALUES, n_marks)

    @property
    def standardised_chances(self) -> FloatArray:
        r"""The chance that a column has mean 0 and variance 1 on the sample without a scaler.

        Suppose that a fixed transform put the values on a grid. Two of v different values are at
        most :math:`h = (\max - \min) / (v - 1)` apart, in units of the standard deviation. By the
        local limit theorem, the sums of n values and of their squares are two given numbers with
        probability

        .. math:: \frac{h^3}{\pi n \kappa} , \qquad \kappa^2 = \mathrm{kurtosis} - 1
                  - \mathrm{skewness}^2 ,

        because the grid of :math:`(k, k^2)` has cells of area 2, and :math:`\kappa` is the
        deviation of the squares that the values do not explain. There are two kinds of variance,
        which doubles the chance. Columns of two values have :math:`\kappa = 0`: whatever their
        mean, it proves nothing.
        """
        mean, square, cube, fourth = self.powers / self.n_samples
        with np.errstate(all="ignore"):
            variance = square - mean**2
            skewness = (cube - 3 * mean * square + 2 * mean**3) / variance**1.5
            kurtosis = (fourth - 4 * mean * cube + 6 * mean**2 * square - 3 * mean**4) / variance**2
            unexplained = np.sqrt(np.maximum(kurtosis - 1 - skewness**2, 0))
            steps = (self.highest - self.lowest) / (self.n_values - 1) / np.sqrt(variance)
            chances = 2 * steps**3 / (np.pi * self.n_samples * unexplained)
        return np.where(self.highest > self.lowest, np.nan_to_num(chances, nan=0.0), np.inf)

    @property
    def is_standardised(self) -> bool:
        r"""Whether columns have mean zero and variance one on this sample, and not by chance.

        A scaler that was fitted on the sample leaves rounding errors only. One column is enough if
        its ``standardised_chances``, times the number of columns, is small. Otherwise nine of ten
        columns must be scaled. The chances need not be added then: by Markov's inequality, nine of
        ten events happen together with at most their mean chance divided by 0.9, however they
        depend on each other.

        If a column without ties has mean 0 and variance 1 in truth, the density of its mean on the
        sample is at most about :math:`0.4 \sqrt{n}`, and that of its variance :math:`0.3 \sqrt{n}`.
        Both are within t of their targets by chance with probability :math:`0.5\, n t^2`. Two kinds
        of variance and d columns make :math:`n d t^2`, which is 1.6e-5 for the t below.
        """
        tolerance = min(1e-5, 0.004 / np.sqrt(self.n_samples * self.powers.shape[1]))
        mean, square = self.powers[:2] / self.n_samples
        variance = square - mean**2
        unbiased = variance * self.n_samples / max(self.n_samples - 1, 1)
        distance = np.minimum(np.abs(variance - 1), np.abs(unbiased - 1))
        is_scaled = np.maximum(np.abs(mean), distance) < tolerance
        chances = self.standardised_chances
        is_rare = chances <= ONE_COLUMN / len(chances)
        telling = is_scaled[chances <= NEARLY_ALL * MOST_COLUMNS]
        return bool(
            (is_scaled & is_rare).any() or telling.sum() >= max(NEARLY_ALL * telling.size, 1)
        )

    @property
    def is_range_scaled(self) -> bool:
        r"""Whether many columns end exactly where a scaler of ranges puts their ends.

        A scaler that was fitted on the sample moves the largest absolute value to 1, or both ends
        to 0 and 1 or to -1 and 1. Other columns may end there too: shares, the brightness of
        pixels, or whole numbers scaled on other rows that have the same end. But the number of rows
        at such an end is one with probability at most

        .. math:: \max_p\, n p (1 - p)^{n-1} = (1 - 1/n)^{n-1} \approx e^{-1} ,

        and it is one at both ends with probability at most :math:`(1 - 1/n) (1 - 2/n)^{n-2} \approx
        e^{-2}`. So the number of such columns is compared with a binomial distribution, as if the
        columns were independent. It takes 9 columns with one such end, or 5 with two: fewer prove
        nothing.
        """
        n, rounding = max(self.n_samples, 2), min(END_ROUNDING, 1e-3 / self.n_samples)
        is_top, is_zero, is_bottom = (
            np.abs(gap) < rounding for gap in (self.highest - 1, self.lowest, self.lowest + 1)
        )
        is_within = np.maximum(np.abs(self.highest), np.abs(self.lowest)) < 1 + rounding
        has_one = is_within & (is_top * self.n_highest + is_bottom * self.n_lowest == 1)
        is_pair = is_top & (is_zero | is_bottom)
        has_two = is_pair & (self.n_highest == 1) & (self.n_lowest == 1)
        is_varied = self.n_values >= FEWEST_VALUES
        return bool(
            _chance_of_so_many(has_one[is_varied], (1 - 1 / n) ** (n - 1)) <= ONE_END
            or _chance_of_so_many(has_two[is_varied], (1 - 1 / n) * (1 - 2 / n) ** (n - 2))
            <= BOTH_ENDS
        )


def _chance_of_so_many(are_seen: NDArray[np.bool_], chance: float) -> float:
    """Return the probability of at least so many of several independent events."""
    return float(special.bdtrc(are_seen.sum() - 1, are_seen.size, chance))


def _merged_ends(
    first: tuple[FloatArray, IntArray], second: tuple[FloatArray, IntArray], end: np.ufunc
) -> tuple[FloatArray, IntArray]:
    """Return the smaller or larger ends of two samples, and the number of their rows."""
    ends = end(first[0], second[0])
    mine, theirs = (np.where(value == ends, count, 0) for value, count in (first, second))
    return ends, mine + theirs


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


def labelled_prints(prints: NDArray[np.uint64], codes: sparse.csr_array) -> DistinctRows:
    """Return the distinct fingerprints of rows, with the coded labels of these rows."""
    labels = row_fingerprints(codes)
    return distinct_rows(prints, np.ones(len(labels), dtype=np.intp), labels, labels)


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
    return reduce(SampleSummary.merge, (parts[start] for start in sorted(parts)))


def _dense_summary(X: FloatArray, codes: sparse.csr_array, is_weighted: bool) -> SampleSummary:
    from pacfourier.core import loops

    n_samples, n_features = X.shape
    prints = np.empty(n_samples, dtype=np.uint64)
    marks = np.zeros(n_features, dtype=np.uint64)
    powers, multipliers = np.zeros((4, n_features)), fingerprint_multipliers(n_features)
    lowest, highest = np.zeros((2, n_features)), np.zeros((2, n_features))
    lowest[0], highest[0] = np.inf, -np.inf
    for start in range(0, n_samples, ROW_BLOCK):
        rows = np.ascontiguousarray(X[start : start + ROW_BLOCK])
        loops.add_statistics(
            rows,
            rows.view(np.uint32 if rows.dtype == np.float32 else np.uint64),
            multipliers,
            prints[start : start + ROW_BLOCK],
            (marks, powers, lowest, highest),
        )
    return SampleSummary(
        n_samples,
        *labelled_prints(prints, codes),
        powers=powers,
        lowest=lowest[0],
        n_lowest=lowest[1].astype(np.intp),
        highest=highest[0],
        n_highest=highest[1].astype(np.intp),
        marks=marks,
        is_weighted=is_weighted,
    )


def _sparse_summary(X: Any, codes: sparse.csr_array, is_weighted: bool) -> SampleSummary:
    rows, marks = labelled_prints(row_fingerprints(X), codes), _value_marks(X)
    # A sparse matrix sums in its own precision, even if another dtype is given.
    X = X.astype(np.float64)
    lowest, highest = (end.toarray().ravel() for end in (X.min(axis=0), X.max(axis=0)))
    return SampleSummary(
        X.shape[0],
        *rows,
        powers=_power_sums(X),
        lowest=lowest,
        n_lowest=_n_equal(X, lowest),
        highest=highest,
        n_highest=_n_equal(X, highest),
        marks=marks,
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


def _n_equal(X: Any, ends: FloatArray) -> IntArray:
    """Count in how many rows each column of a sparse matrix has a given value."""
    stored = np.bincount(X.indices[X.data == ends[X.indices]], minlength=X.shape[1])
    n_absent = X.shape[0] - np.bincount(X.indices, minlength=X.shape[1])
    return stored + np.where(ends == 0, n_absent, 0)


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
    prints = np.empty(len(X), dtype=np.uint64)
    for start in range(0, len(X), HASHED_TOGETHER):
        rows = slice(start, start + HASHED_TOGETHER)
        prints[rows] = _bits(np.ascontiguousarray(X[rows])) @ multipliers
    return prints


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


def _value_marks(X: Any) -> NDArray[np.uint64]:
    """Return 64 bits per column of a sparse matrix. Every value sets one, by its highest bits."""
    found = np.zeros((64, X.shape[1]), dtype=bool)
    found[_bits(X.data) >> np.uint64(58), X.indices] = True
    # Zeros that are not stored set the first bit.
    found[0] |= np.bincount(X.indices, minlength=X.shape[1]) < X.shape[0]
    return packed_marks(found)


def packed_marks(found: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return one number per column, whose bits are the 64 rows of an array."""
    weights = np.uint64(1) << np.arange(64, dtype=np.uint64)
    return np.asarray((found * weights[:, np.newaxis]).sum(axis=0, dtype=np.uint64))
