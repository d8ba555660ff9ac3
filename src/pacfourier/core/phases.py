"""Phases of samples against frequencies, block by block, in a sufficient precision."""

from collections.abc import Iterator
from functools import singledispatch
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacfourier.arrays import FloatArray, IntArray, Samples

Precision = Literal["single", "double"]
PRECISIONS = ("single", "double")

# Measured at d = 108 to 1,554: large enough for an efficient product, small enough for the
# block of phases to stay near the core. Not 1,024 frequencies: rows of phases 4,096 bytes apart
# would share cache sets, which costs a fifth of the speed.
ROW_BLOCK = 1024
FREQUENCY_BLOCK = 1008
# A block of frequencies takes at most 32 MB, however wide the data are.
LARGEST_BLOCK = 2**23
# Rounding a phase of this size to single precision moves it by 1e-4 at most.
LARGEST_SINGLE_PHASE = 1e-4 * 2.0**24


def frequency_blocks(n_frequencies: int, n_features: int) -> Iterator[slice]:
    """Cut the pool into blocks that depend on its shape alone, never on the machine."""
    size = max(16, min(FREQUENCY_BLOCK, LARGEST_BLOCK // n_features))
    for start in range(0, n_frequencies, size):
        yield slice(start, min(start + size, n_frequencies))


def precision_of(X: Samples) -> Precision:
    """Return the precision that samples themselves have."""
    # numpy's name of the type, or torch's.
    return "single" if str(X.dtype).endswith("float32") else "double"


@singledispatch
def largest_magnitudes(X: Samples) -> FloatArray:
    """Return the largest absolute value of each feature, of shape (n_features,)."""
    if sparse.issparse(X):
        largest = np.zeros(X.shape[1])
        np.maximum.at(largest, X.indices, np.abs(X.data))
        return largest
    return np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)


def phase_sizes(frequencies: FloatArray, magnitudes: FloatArray) -> FloatArray:
    """Return the root of the summed squares of the largest terms of each phase."""
    squares = np.einsum("mk,mk,k->m", frequencies, frequencies, magnitudes**2, optimize=True)
    return np.sqrt(squares)


def precision_groups(
    sizes: FloatArray, precision: Precision
) -> Iterator[tuple[type[np.floating[Any]], IntArray]]:
    """Split frequencies by the precision that phases of their size need.

    A dot product in single precision errs by about 2^-24 times its size; where that exceeds
    1e-4 radian the frequency is taken in double precision.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"precision must be one of {PRECISIONS}, got {precision!r}.")
    is_single = (precision == "single") & (sizes <= LARGEST_SINGLE_PHASE)
    for dtype, members in ((np.float32, is_single), (np.float64, ~is_single)):
        if members.any():
            yield dtype, np.flatnonzero(members)


def single_rounding(sizes: FloatArray, n_steps: int) -> FloatArray:
    """Return how far single precision may move the mean of cos or sin of phases.

    Both factors and their scaling are rounded, then the sum as a random walk of n_steps
    (the features of a product); cosines and their sums over a few rows err by less than 3e-6.
    """
    return 3e-6 + (4 + np.sqrt(n_steps)) * 2.0**-24 * sizes


def turn_blocks(
    X: Samples, frequencies: FloatArray, dtype: type[np.floating[Any]]
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield blocks of rows with their phases in turns, ``x . omega / 2 pi``.

    The array of phases is reused: take what is needed before the next block.
    """
    columns = np.ascontiguousarray((frequencies.astype(dtype) * dtype(0.5 / np.pi)).T)
    n_samples = X.shape[0]
    turns = np.empty((min(ROW_BLOCK, n_samples), columns.shape[1]), dtype=dtype)
    for start in range(0, n_samples, ROW_BLOCK):
        rows = slice(start, min(start + ROW_BLOCK, n_samples))
        if sparse.issparse(X):
            yield rows, np.asarray(X[rows].astype(dtype, copy=False) @ columns)
        else:
            block = X[rows].astype(dtype, copy=False)
            yield rows, np.dot(block, columns, out=turns[: len(block)])
