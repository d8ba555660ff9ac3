"""A summary of a sample that shows how it was prepared.

Repeated rows, or columns that were scaled on the sample itself, mean that the samples are not
independent draws, as certificates assume.
"""

from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

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


@dataclass(frozen=True, eq=False)
class SampleSummary:
    """Column statistics and repeated rows of a sample.

    Summaries can be merged, and their memory does not grow with the number of samples.

    Attributes
    ----------
    n_samples : int
    fingerprints, counts : arrays of shape (n_fingerprints,)
        The smallest distinct fingerprints of rows, and how often each of them occurs.
    sums, squares, lowest, highest : arrays of shape (n_features,)
    is_integral : array of shape (n_features,)
        Whether all values of the column are whole numbers.
    is_weighted : bool
        Whether some samples counted more than others.
    """

    n_samples: int
    fingerprints: NDArray[np.uint64]
    counts: IntArray
    sums: FloatArray
    squares: FloatArray
    lowest: FloatArray
    highest: FloatArray
    is_integral: NDArray[np.bool_]
    is_weighted: bool

    def merge(self, other: Self) -> "SampleSummary":
        """Return the summary of both samples."""
        # The smallest fingerprints of the union are among the smallest of each sample, so none of
        # their counts is lost.
        joined = np.concatenate([self.fingerprints, other.fingerprints])
        fingerprints, places = np.unique(joined, return_inverse=True)
        counts = np.bincount(places, np.concatenate([self.counts, other.counts])).astype(np.intp)
        return SampleSummary(
            self.n_samples + other.n_samples,
            fingerprints[:MOST_FINGERPRINTS],
            counts[:MOST_FINGERPRINTS],
            self.sums + other.sums,
            self.squares + other.squares,
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
            self.is_integral & other.is_integral,
            self.is_weighted or other.is_weighted,
        )

    @property
    def repeated_share(self) -> float:
        """The share of rows that repeat another row, among those with the smallest fingerprints."""
        return float(1 - len(self.counts) / self.counts.sum())

    @property
    def is_multiplied(self) -> bool:
        """Whether the numbers of copies of all rows have a common divisor above one."""
        return bool(np.gcd.reduce(self.counts) > 1)

    @property
    def is_standardised(self) -> bool:
        """Whether a column of fractions has mean zero and variance one on this sample."""
        means = self.sums / self.n_samples
        variances = self.squares / self.n_samples - means**2
        unbiased = variances * self.n_samples / max(self.n_samples - 1, 1)
        has_unit_variance = np.isclose(variances, 1, atol=1e-4) | np.isclose(unbiased, 1, atol=1e-4)
        return bool((~self.is_integral & (np.abs(means) < 1e-4) & has_unit_variance).any())

    @property
    def is_range_scaled(self) -> bool:
        """Whether the largest magnitude of every column of fractions is one on this sample."""
        fractions = ~self.is_integral
        reach = np.maximum(np.abs(self.lowest[fractions]), np.abs(self.highest[fractions]))
        return bool(fractions.any() and np.isclose(reach, 1).all())


@by_kind
def sample_summary(X: Samples, *, is_weighted: bool = False) -> SampleSummary:
    """Return the summary of a sample, block by block."""
    starts = range(0, X.shape[0], ROW_BLOCK)
    blocks = (X[start : start + ROW_BLOCK] for start in starts)
    return reduce(SampleSummary.merge, (_block_summary(block, is_weighted) for block in blocks))


def _block_summary(X: Samples, is_weighted: bool) -> SampleSummary:
    fingerprints, counts = np.unique(row_fingerprints(X), return_counts=True)
    if sparse.issparse(X):
        # A sparse matrix sums in its own precision, even if another dtype is given.
        X = X.astype(np.float64)
    squares = X.power(2) if sparse.issparse(X) else np.square(X, dtype=np.float64)
    return SampleSummary(
        n_samples=X.shape[0],
        fingerprints=fingerprints,
        counts=counts,
        sums=_columns(X.sum(axis=0, dtype=np.float64)),
        squares=_columns(squares.sum(axis=0, dtype=np.float64)),
        lowest=_columns(X.min(axis=0)),
        highest=_columns(X.max(axis=0)),
        is_integral=_n_fractions(X) == 0,
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


def _n_fractions(X: Samples) -> FloatArray:
    """Count the values of each column that are not whole numbers."""
    if sparse.issparse(X):
        fractions = (X.data != np.rint(X.data)).astype(np.float64)
        counts = np.bincount(X.indices, fractions, minlength=X.shape[1])
        return np.asarray(counts, dtype=np.float64)
    return np.count_nonzero(X - np.rint(X), axis=0).astype(np.float64)


def _columns(row: Any) -> FloatArray:
    # Sums of a sparse matrix are dense, but its minimum and maximum are sparse.
    dense = row.toarray() if hasattr(row, "toarray") else row
    return np.asarray(dense, dtype=np.float64).ravel()
