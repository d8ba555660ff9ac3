"""Triton kernels that summarise samples: fingerprints of rows and statistics of columns.

``tensors/alignment/summary.py`` has the same computations in plain torch.
"""

# mypy: allow-untyped-defs
# Triton compiles untyped functions.

from typing import Any

import torch
import triton
import triton.language as tl

# The constant of the core, which mixes bits.
MIXER = tl.constexpr(0x9E3779B97F4A7C15)
ROWS, COLUMNS = 32, 128
# Enough programs to keep a large device busy.
PROGRAMS = 1024


@triton.jit
def _bits(values):
    """Return the bits of the values, mixed as in the core."""
    # Adding zero turns minus zero, which has other bits, into plus zero.
    values += 0.0
    if values.dtype == tl.float32:
        bits = values.to(tl.uint32, bitcast=True).to(tl.uint64)
    else:
        bits = values.to(tl.uint64, bitcast=True)
        bits ^= bits >> 32
    bits *= tl.full((1, 1), MIXER, tl.uint64)
    return bits ^ (bits >> 32)


@triton.jit
def _either(first, second):
    return first | second


@triton.jit
def _with_count(end, count, other, other_count, is_lowest: tl.constexpr):
    """Return the smaller or larger of two ends, and the number of rows that have it."""
    new = tl.minimum(end, other) if is_lowest else tl.maximum(end, other)
    return new, tl.where(end == new, count, 0) + tl.where(other == new, other_count, 0)


@triton.jit
def _fingerprints(
    samples, multipliers, found, n_rows, n_features, row_block: tl.constexpr, block: tl.constexpr
):
    """Write one number per row."""
    rows = tl.program_id(0).to(tl.int64) * row_block + tl.arange(0, row_block)
    total = tl.zeros((row_block,), tl.uint64)
    for first in tl.range(0, n_features, block):
        columns = first + tl.arange(0, block)
        mask = (rows < n_rows)[:, None] & (columns < n_features)[None, :]
        values = tl.load(
            samples + rows[:, None] * n_features + columns[None, :], mask=mask, other=0.0
        )
        factors = tl.load(multipliers + columns, mask=columns < n_features, other=0)
        total += tl.sum(_bits(values) * factors.to(tl.uint64, bitcast=True)[None, :], axis=1)
    tl.store(found + rows, total.to(tl.int64, bitcast=True), mask=rows < n_rows)


def fingerprints(X: Any, multipliers: Any) -> Any:
    """Return one 64-bit number per row, given one per column."""
    X = X.contiguous()
    found = torch.empty(len(X), dtype=torch.int64, device=X.device)
    grid = (triton.cdiv(len(X), ROWS),)
    _fingerprints[grid](X, multipliers, found, *X.shape, row_block=ROWS, block=COLUMNS)
    return found


@triton.jit
def _column_statistics(
    samples,
    statistics,
    marks,
    n_rows,
    n_features,
    n_tiles,
    row_block: tl.constexpr,
    block: tl.constexpr,
):
    """Write the statistics of the columns of some rows, and set the marks of their values."""
    program = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * block + tl.arange(0, block)
    is_column = columns < n_features
    first = tl.zeros((block,), tl.float64)
    second = tl.zeros((block,), tl.float64)
    third = tl.zeros((block,), tl.float64)
    fourth = tl.zeros((block,), tl.float64)
    lowest = tl.full((block,), float("inf"), tl.float64)
    highest = tl.full((block,), float("-inf"), tl.float64)
    n_lowest = tl.zeros((block,), tl.int32)
    n_highest = tl.zeros((block,), tl.int32)
    seen = tl.zeros((block,), tl.int64)
    for tile in tl.range(0, n_tiles):
        rows = (program * n_tiles + tile) * row_block + tl.arange(0, row_block)
        mask = (rows < n_rows)[:, None] & is_column[None, :]
        place = samples + rows[:, None] * n_features + columns[None, :]
        values = tl.load(place, mask=mask, other=0.0)
        one = tl.full((1, 1), 1, tl.uint64) << (_bits(values) >> 58)
        one = tl.where(mask, one.to(tl.int64, bitcast=True), 0)
        seen |= tl.reduce(one, 0, _either)
        wide = values.to(tl.float64)
        square = wide * wide
        first += tl.sum(wide, axis=0)
        second += tl.sum(square, axis=0)
        third += tl.sum(square * wide, axis=0)
        fourth += tl.sum(square * square, axis=0)
        low = tl.min(tl.where(mask, wide, float("inf")), axis=0)
        high = tl.max(tl.where(mask, wide, float("-inf")), axis=0)
        n_low = tl.sum((mask & (wide == low[None, :])).to(tl.int32), axis=0)
        n_high = tl.sum((mask & (wide == high[None, :])).to(tl.int32), axis=0)
        lowest, n_lowest = _with_count(lowest, n_lowest, low, n_low, True)
        highest, n_highest = _with_count(highest, n_highest, high, n_high, False)
    out = statistics + program * 8 * n_features + columns
    tl.store(out, first, mask=is_column)
    tl.store(out + n_features, second, mask=is_column)
    tl.store(out + 2 * n_features, third, mask=is_column)
    tl.store(out + 3 * n_features, fourth, mask=is_column)
    tl.store(out + 4 * n_features, lowest, mask=is_column)
    tl.store(out + 5 * n_features, highest, mask=is_column)
    tl.store(out + 6 * n_features, n_lowest.to(tl.float64), mask=is_column)
    tl.store(out + 7 * n_features, n_highest.to(tl.float64), mask=is_column)
    tl.atomic_or(marks + columns, seen, mask=is_column)


def column_statistics(X: Any) -> tuple[Any, Any]:
    """Return the statistics of columns, and the marks of their values.

    Parameters
    ----------
    X : tensor of shape (n_samples, n_features)

    Returns
    -------
    statistics : tensor of shape (8, n_features)
        Sums of four powers, the smallest and the largest value, and the number of rows that have
        each of these two, all in double precision.
    marks : tensor of shape (n_features,)
        64 bits per column, of which every value sets one.
    """
    X = X.contiguous()
    n_samples, n_features = X.shape
    n_tiles = triton.cdiv(triton.cdiv(n_samples, ROWS), PROGRAMS)
    n_programs = triton.cdiv(n_samples, ROWS * n_tiles)
    parts = torch.empty((n_programs, 8, n_features), dtype=torch.float64, device=X.device)
    marks = torch.zeros(n_features, dtype=torch.int64, device=X.device)
    grid = (n_programs, triton.cdiv(n_features, COLUMNS))
    _column_statistics[grid](
        X, parts, marks, n_samples, n_features, n_tiles, row_block=ROWS, block=COLUMNS
    )
    ends = torch.stack([parts[:, 4].amin(dim=0), parts[:, 5].amax(dim=0)])
    # The rows of a program count if its end is that of all.
    parts[:, 6:] *= parts[:, 4:6] == ends
    sums = parts.sum(dim=0)
    sums[4:6] = ends
    return sums, marks
