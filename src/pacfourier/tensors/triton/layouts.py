"""Triton kernels that lay out samples and frequencies, and add up the sums of chunks.

``halves.py`` has the same layouts in plain torch.
"""

# mypy: allow-untyped-defs
# Triton compiles untyped functions.

from typing import Any

import torch
import triton
import triton.language as tl

from pacfourier.tensors.triton import halves

# Double precision has 52 bits of mantissa, and its exponents are stored with this added to them.
MANTISSA_BITS, EXPONENT_OFFSET = tl.constexpr(halves.MANTISSA_BITS), tl.constexpr(1023)
_SMALLEST_STORED = tl.constexpr(halves.SMALLEST_STORED)
# The exponent of ``torch.frexp`` is by one larger than that of the stored number.
_LARGEST_EXPONENT = tl.constexpr(halves.LARGEST_EXPONENT - 1)
ROWS, FEATURES, FREQUENCIES = 8, 128, 256


@triton.jit
def _power_of_two(exponent):
    """Return two to a power, given by its exponent, in double precision."""
    return ((exponent + EXPONENT_OFFSET) << MANTISSA_BITS).to(tl.float64, bitcast=True)


@triton.jit
def _frequency_halves(
    frequencies,
    factors,
    magnitudes,
    high,
    low,
    scales,
    sizes,
    n_frequencies,
    n_features,
    width,
    row_block: tl.constexpr,
    feature_block: tl.constexpr,
):
    """Write rows of frequencies in halves, their scales, and the sizes of their phases."""
    rows = tl.program_id(0) * row_block + tl.arange(0, row_block)
    is_row = (rows < n_frequencies)[:, None]
    start = frequencies + rows.to(tl.int64)[:, None] * n_features
    largest = tl.zeros((row_block,), tl.float64)
    squares = tl.zeros((row_block,), tl.float64)
    for first in tl.range(0, n_features, feature_block):
        columns = first + tl.arange(0, feature_block)
        is_column = columns < n_features
        mask = is_row & is_column[None, :]
        values = tl.load(start + columns[None, :], mask=mask, other=0.0).to(tl.float64)
        terms = values * tl.load(magnitudes + columns, mask=is_column, other=0.0)[None, :]
        squares += tl.sum(terms * terms, axis=1)
        values *= tl.load(factors + columns, mask=is_column, other=0.0)[None, :]
        largest = tl.maximum(largest, tl.max(tl.abs(values), axis=1))
    stored = largest.to(tl.int64, bitcast=True) >> MANTISSA_BITS
    exponent = stored - EXPONENT_OFFSET - _LARGEST_EXPONENT
    # Rows of zeros, and rows too small for a normal number, are not scaled.
    exponent = tl.where(stored > _SMALLEST_STORED, exponent, 0)
    inverse = _power_of_two(-exponent)[:, None]
    tl.store(scales + rows, _power_of_two(exponent).to(tl.float32))
    tl.store(sizes + rows, tl.sqrt(squares))
    out = rows.to(tl.int64)[:, None] * width
    for first in tl.range(0, width, feature_block):
        columns = first + tl.arange(0, feature_block)
        is_column = columns < n_features
        mask = is_row & is_column[None, :]
        values = tl.load(start + columns[None, :], mask=mask, other=0.0).to(tl.float64)
        values *= tl.load(factors + columns, mask=is_column, other=0.0)[None, :] * inverse
        upper = values.to(tl.float32).to(tl.float16)
        rest = (values - upper.to(tl.float64)).to(tl.float32)
        place = out + columns[None, :]
        tl.store(high + place, upper, mask=(columns < width)[None, :])
        tl.store(low + place, rest.to(tl.float16), mask=(columns < width)[None, :])


def frequency_halves(
    frequencies: Any, units: Any, magnitudes: Any, n_rows: int, width: int
) -> tuple[Any, Any]:
    """Return frequencies in halves, for samples in given units, and the sizes of their phases.

    Parameters
    ----------
    frequencies : tensor of shape (n_frequencies, n_features)
    units : tensor of shape (n_features,)
        The powers of two that the samples are divided by.
    magnitudes : tensor of shape (n_features,)
        The largest absolute values of the samples.
    n_rows, width : int
        The shape of the halves, padded with zeros.

    Returns
    -------
    halves : Halves
    sizes : tensor of shape (n_frequencies,)
        As ``tensors.phases.phase_sizes``, in double precision.
    """
    n_frequencies, n_features = frequencies.shape
    frequencies = frequencies.contiguous()
    device = frequencies.device
    both = torch.empty((2, n_rows, width), dtype=torch.float16, device=device)
    scales = torch.empty(n_rows, dtype=torch.float32, device=device)
    sizes = torch.empty(n_rows, dtype=torch.float64, device=device)
    _frequency_halves[(n_rows // ROWS,)](
        frequencies,
        units.double() * (0.5 / torch.pi),
        magnitudes.double(),
        *both,
        scales,
        sizes,
        n_frequencies,
        n_features,
        width,
        row_block=ROWS,
        feature_block=FEATURES,
    )
    return halves.Halves(both[0], both[1], scales), sizes[:n_frequencies]


@triton.jit
def _sample_halves(
    samples,
    entries,
    values,
    inverses,
    high,
    low,
    n_entries,
    n_features,
    width,
    is_plain: tl.constexpr,
    row_block: tl.constexpr,
    feature_block: tl.constexpr,
):
    """Write chosen samples in halves, after multiplying each feature by a power of two.

    Entries of plain codes with value zero pad a tile. They are written as zeros.
    """
    rows = tl.program_id(0).to(tl.int64) * row_block + tl.arange(0, row_block)
    columns = tl.program_id(1) * feature_block + tl.arange(0, feature_block)
    is_row, is_column = (rows < n_entries)[:, None], (columns < n_features)[None, :]
    entry = tl.load(entries + rows, mask=rows < n_entries, other=0)[:, None]
    is_sample = is_row
    if is_plain:
        is_sample = tl.load(values + rows, mask=rows < n_entries, other=0.0)[:, None] != 0
    factor = tl.load(inverses + columns, mask=columns < n_features, other=0.0)[None, :]
    place = samples + entry * n_features + columns[None, :]
    scaled = tl.load(place, mask=is_sample & is_column, other=0.0) * factor
    upper = scaled.to(tl.float32).to(tl.float16)
    rest = (scaled - upper.to(scaled.dtype)).to(tl.float32)
    out = rows[:, None] * width + columns[None, :]
    mask = is_row & (columns < width)[None, :]
    tl.store(high + out, upper, mask=mask)
    tl.store(low + out, rest.to(tl.float16), mask=mask)


def sample_halves(X: Any, chunks: Any, units: Any, width: int) -> Any:
    """Return the rows of chunks in halves, in given units, padded with zero columns."""
    X, rows = X.contiguous(), chunks.rows
    both = torch.empty((2, len(rows), width), dtype=torch.float16, device=X.device)
    grid = (triton.cdiv(len(rows), ROWS), triton.cdiv(width, FEATURES))
    _sample_halves[grid](
        X,
        rows,
        chunks.values,
        1 / units,
        *both,
        len(rows),
        X.shape[1],
        width,
        is_plain=chunks.is_plain,
        row_block=ROWS,
        feature_block=FEATURES,
    )
    return halves.Halves(both[0], both[1], both.new_empty(0))


@triton.jit
def _add_columns(sums, ends, totals, size, block: tl.constexpr):
    """Add the chunks of one column to its totals, in order and in double precision."""
    column = tl.program_id(1)
    places = tl.program_id(0) * block + tl.arange(0, block)
    mask = places < size
    out = totals + column.to(tl.int64) * size + places
    total = tl.load(out, mask=mask, other=0.0)
    for chunk in tl.range(tl.load(ends + column), tl.load(ends + column + 1)):
        total += tl.load(sums + chunk * size + places, mask=mask, other=0.0).to(tl.float64)
    tl.store(out, total, mask=mask)


def add_columns(sums: Any, ends: Any, totals: Any) -> None:
    """Add the sums of chunks, which are sorted by column, to the totals of their columns.

    Parameters
    ----------
    sums : tensor of shape (n_chunks, 4, n_frequencies)
    ends : tensor of shape (n_columns + 1,)
        The chunks of column k are those from ``ends[k]`` to ``ends[k + 1]``.
    totals : tensor of shape (n_columns, 4, n_frequencies)
        Changed in place, in double precision.
    """
    size = sums.shape[1] * sums.shape[2]
    grid = (triton.cdiv(size, FREQUENCIES), len(totals))
    _add_columns[grid](sums, ends, totals, size, block=FREQUENCIES)
