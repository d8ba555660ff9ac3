"""A Triton kernel that makes candidate frequencies, with the same bits as tensors/normals.py."""

# mypy: allow-untyped-defs
# Triton compiles untyped functions.

from typing import Any

import torch
import triton
import triton.language as tl

from pacfourier.tensors import normals as plain

FIRST_MULTIPLIER, SECOND_MULTIPLIER = (tl.constexpr(value) for value in plain.MULTIPLIERS)
FIRST_WEYL, SECOND_WEYL = (tl.constexpr(value) for value in plain.WEYL)
ROOT_OF_HALF, MANTISSA_BITS = tl.constexpr(plain.ROOT_OF_HALF), tl.constexpr(plain.MANTISSA_BITS)
UNIT, HALF_UNIT = tl.constexpr(2.0**-32), tl.constexpr(2.0**-33)
_LOG_OF_TWO = tl.constexpr(0.6931471805599453)
LOG_SERIES, SINE, COSINE = (tl.constexpr(c) for c in (plain.LOG_SERIES, plain.SINE, plain.COSINE))
ROWS, COUNTERS = 16, 64


@triton.jit
def _words(value, multiplier: tl.constexpr):
    """Return the high and the low word of a product of two words."""
    product = value.to(tl.uint64) * multiplier
    return (product >> 32).to(tl.uint32), product.to(tl.uint32)


@triton.jit
def _polynomial(z, coefficients: tl.constexpr):
    """Return a polynomial of degree four by Horner's rule."""
    total = coefficients[3] + z * coefficients[4]
    total = coefficients[2] + z * total
    total = coefficients[1] + z * total
    return coefficients[0] + z * total


@triton.jit
def _normal_pair(first_bits, second_bits):
    """Return two independent standard normals from 64 random bits (Box and Muller)."""
    uniform = first_bits.to(tl.float32) * UNIT + HALF_UNIT
    word = uniform.to(tl.int32, bitcast=True)
    exponent = (word - ROOT_OF_HALF) >> MANTISSA_BITS
    mantissa = (word - (exponent << MANTISSA_BITS)).to(tl.float32, bitcast=True)
    s = tl.div_rn(mantissa - 1.0, mantissa + 1.0)
    logarithm = exponent.to(tl.float32) * _LOG_OF_TWO + s * _polynomial(s * s, LOG_SERIES)
    radius = tl.sqrt_rn(-2.0 * logarithm)
    turns = second_bits.to(tl.int32, bitcast=True).to(tl.float32) * UNIT
    squares = turns * turns
    sine, cosine = turns * _polynomial(squares, SINE), _polynomial(squares, COSINE)
    twice = 2.0 * sine
    return radius * (1.0 - twice * sine), radius * (twice * cosine)


@triton.jit(do_not_specialize=["key", "other_key", "first"])
def _scaled_normals(
    scales,
    normals,
    key,
    other_key,
    first,
    n_rows,
    n_features,
    quarter,
    scale_stride: tl.constexpr,
    rows_block: tl.constexpr,
    counters_block: tl.constexpr,
):
    """Write four numbers per counter, one in each quarter of a row."""
    rows = tl.program_id(0) * rows_block + tl.arange(0, rows_block)[:, None]
    counters = tl.program_id(1) * counters_block + tl.arange(0, counters_block)[None, :]
    c0 = (counters + 0 * rows).to(tl.uint32)
    c1 = (rows + first + 0 * counters).to(tl.uint32)
    c2 = tl.zeros((rows_block, counters_block), tl.uint32)
    c3 = tl.zeros((rows_block, counters_block), tl.uint32)
    k0 = tl.full((1, 1), 0, tl.uint32) + key.to(tl.uint32, bitcast=True)
    k1 = tl.full((1, 1), 0, tl.uint32) + other_key.to(tl.uint32, bitcast=True)
    for _ in tl.static_range(10):
        high, low = _words(c0, FIRST_MULTIPLIER)
        other_high, other_low = _words(c2, SECOND_MULTIPLIER)
        c0, c1 = other_high ^ c1 ^ k0, other_low
        c2, c3 = high ^ c3 ^ k1, low
        k0 += tl.full((1, 1), FIRST_WEYL, tl.uint32)
        k1 += tl.full((1, 1), SECOND_WEYL, tl.uint32)
    x0, x1 = _normal_pair(c0, c1)
    x2, x3 = _normal_pair(c2, c3)
    is_row = (rows < n_rows) & (counters < quarter)
    out = normals + rows.to(tl.int64) * n_features
    own = scales + rows.to(tl.int64) * (n_features if scale_stride else 1)
    for part in tl.static_range(4):
        columns = counters + part * quarter
        is_in = is_row & (columns < n_features)
        scale = tl.load(own + columns * scale_stride, mask=is_in, other=0.0)
        value = x0 if part == 0 else (x1 if part == 1 else (x2 if part == 2 else x3))
        tl.store(out + columns, scale * value, mask=is_in)


def scaled_normals(scales: Any, seed: int, first: int, n_features: int) -> Any:
    """Return rows of the infinite normal matrix of a seed, times their scales.

    Parameters
    ----------
    scales : tensor of shape (n_rows, 1) or (n_rows, n_features)
    seed : int
    first : int
        The number of the first row.
    n_features : int

    Returns
    -------
    normals : tensor of shape (n_rows, n_features)
    """
    n_rows = len(scales)
    normals = torch.empty((n_rows, n_features), dtype=torch.float32, device=scales.device)
    quarter = -(-n_features // 4)
    grid = (triton.cdiv(n_rows, ROWS), triton.cdiv(quarter, COUNTERS))
    _scaled_normals[grid](
        scales,
        normals,
        _signed(seed & plain.LOW_WORD),
        _signed(seed >> 32),
        first,
        n_rows,
        n_features,
        quarter,
        scale_stride=int(scales.shape[1] > 1),
        rows_block=ROWS,
        counters_block=COUNTERS,
        # Without fused products every step is rounded as on the plain.
        enable_fp_fusion=False,
    )
    return normals


def _signed(word: int) -> int:
    return word - 2**32 if word >= 2**31 else word
