"""What a sample shows of its past: repeated rows, columns scaled on the sample itself."""

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacfourier.core.arrays import FloatArray, Samples
from pacfourier.core.phases import ROW_BLOCK

__all__ = ["SampleSummary", "sample_summary"]

# Fixed, so that equal rows have equal fingerprints everywhere.
FINGERPRINT_SEED = 20190416


@dataclass(frozen=True, eq=False)
class SampleSummary:
    """Column statistics and repetitions of a sample; additive but for repetitions.

    Attributes
    ----------
    n_samples : int
    n_repeated : int
        Rows equal to an earlier row of the same batch.
    sums, squares, lowest, highest : arrays of shape (n_features,)
    is_integral : bool
        Whether all values are whole numbers.
    """

    n_samples: int
    n_repeated: int
    sums: FloatArray
    squares: FloatArray
    lowest: FloatArray
    highest: FloatArray
    is_integral: bool

    def merge(self, other: Self) -> "SampleSummary":
        """Return the summary of both samples; rows repeated across them are not seen."""
        return SampleSummary(
            self.n_samples + other.n_samples,
            self.n_repeated + other.n_repeated,
            self.sums + other.sums,
            self.squares + other.squares,
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
            self.is_integral and other.is_integral,
        )

    @property
    def is_standardised(self) -> bool:
        """Whether every column that varies has mean zero and variance one on this very sample."""
        varies = self.highest > self.lowest
        means = self.sums[varies] / self.n_samples
        variances = self.squares[varies] / self.n_samples - means**2
        unbiased = variances * self.n_samples / max(self.n_samples - 1, 1)
        has_unit_variance = np.isclose(variances, 1, atol=1e-4) | np.isclose(unbiased, 1, atol=1e-4)
        return bool(varies.any() and (np.abs(means) < 1e-4).all() and has_unit_variance.all())

    @property
    def is_range_scaled(self) -> bool:
        """Whether every column that varies reaches exactly one on this very sample."""
        varies = self.highest > self.lowest
        reach = np.maximum(np.abs(self.lowest[varies]), np.abs(self.highest[varies]))
        return bool(not self.is_integral and varies.any() and np.isclose(reach, 1).all())


def sample_summary(X: Samples) -> SampleSummary:
    """Return the summary of a sample, in a few blocks of memory."""
    starts = range(0, X.shape[0], ROW_BLOCK)
    blocks = [X[start : start + ROW_BLOCK] for start in starts]
    summary = reduce(SampleSummary.merge, map(_block_summary, blocks))
    fingerprints = np.concatenate([row_fingerprints(block) for block in blocks])
    return replace(summary, n_repeated=len(fingerprints) - len(np.unique(fingerprints)))


def _block_summary(X: Samples) -> SampleSummary:
    values = X.data if sparse.issparse(X) else X
    squares = X.multiply(X) if sparse.issparse(X) else np.square(X)
    return SampleSummary(
        n_samples=X.shape[0],
        n_repeated=0,
        sums=_columns(X.sum(axis=0, dtype=np.float64)),
        squares=_columns(squares.sum(axis=0, dtype=np.float64)),
        lowest=_columns(X.min(axis=0)),
        highest=_columns(X.max(axis=0)),
        is_integral=bool((values == np.rint(values)).all()),
    )


def row_fingerprints(X: Samples) -> NDArray[np.uint64]:
    """Return a number a row, equal for equal rows: the bits of the values times fixed numbers.

    Sums are taken modulo 2^64; zeros add nothing, so that sparse and dense rows agree.
    """
    rng = np.random.default_rng(FINGERPRINT_SEED)
    multipliers = np.asarray(rng.integers(0, 2**64, size=X.shape[1], dtype=np.uint64))
    if sparse.issparse(X):
        terms = multipliers[X.indices] * _bits(X.data)
        ends: NDArray[np.uint64] = np.zeros(len(terms) + 1, dtype=np.uint64)
        ends[1:] = np.cumsum(terms)
        ends = ends[X.indptr]
        return np.diff(ends)
    return _bits(np.ascontiguousarray(X)) @ multipliers


def _bits(values: FloatArray) -> NDArray[np.uint64]:
    """Return the bits of the values, mixed; zero stays zero."""
    # Adding zero makes minus zero plus zero.
    words = (values + 0.0).view(np.uint32 if values.dtype == np.float32 else np.uint64)
    bits = words.astype(np.uint64)
    # Round numbers end in zero bits, which a product modulo 2^64 would keep.
    bits ^= bits >> np.uint64(32)
    bits *= np.uint64(0x9E3779B97F4A7C15)
    bits ^= bits >> np.uint64(32)
    return bits


def _columns(row: Any) -> FloatArray:
    # A sum of a sparse matrix is dense, its extremes are sparse.
    dense = row.toarray() if hasattr(row, "toarray") else row
    return np.asarray(dense, dtype=np.float64).ravel()
