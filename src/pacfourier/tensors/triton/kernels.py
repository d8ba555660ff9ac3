"""Triton kernels that compute phases, their cosines and sines, and sums of these.

Phases are never written to memory.
"""

# mypy: allow-untyped-defs
# Triton compiles untyped functions.

from typing import Any

import torch
import triton
import triton.language as tl

# Adding and subtracting 1.5 * 2^23 rounds a number under 2^22 to the nearest integer.
_ROUNDER = tl.constexpr(12582912.0)
_PERIOD = tl.constexpr(6.283185307179586)


@triton.jit
def _cosine(angles):
    """Return the hardware's cosine, which is accurate to 2^-20 within a period."""
    return tl.inline_asm_elementwise(
        "cos.approx.f32 $0, $1;", "=f,f", [angles], dtype=tl.float32, is_pure=True, pack=1
    )


@triton.jit
def _sine(angles):
    return tl.inline_asm_elementwise(
        "sin.approx.f32 $0, $1;", "=f,f", [angles], dtype=tl.float32, is_pure=True, pack=1
    )


@triton.jit
def _cosine_sine(turns):
    turns -= (turns + _ROUNDER) - _ROUNDER
    return _cosine(turns * _PERIOD), _sine(turns * _PERIOD)


@triton.jit
def _cross_product(left_high, left_low, right_high, right_low, total):
    """Add the products of a high half and a low half to a total.

    The product of both low halves is left out, because it is below 2^-22 of the whole.
    """
    total = tl.dot(left_high, right_low.T, total)
    return tl.dot(left_low, right_high.T, total)


@triton.jit
def _streamed_turns(
    frequency_high,
    frequency_low,
    scale,
    sample_high,
    sample_low,
    left,
    right,
    width: tl.constexpr,
    is_exact: tl.constexpr,
    stages: tl.constexpr,
):
    """Return the phases of a tile in turns, reading its features block by block.

    Tensor cores cut digits off a sum at every step. Therefore large and small terms are summed
    apart, and the sum of large terms leaves the tensor cores after every block. Without the
    factor ``scale`` the compiler would merge the sums again.
    """
    turns = tl.zeros((left.shape[0], right.shape[0]), tl.float32)
    small = tl.zeros((left.shape[0], right.shape[0]), tl.float32)
    for first in tl.range(0, width, left.shape[1], num_stages=stages):
        high = tl.load(frequency_high + left + first)
        low = tl.load(frequency_low + left + first)
        sample = tl.load(sample_high + right + first)
        rest = tl.load(sample_low + right + first)
        turns += tl.dot(high, sample.T) * scale
        if is_exact:
            small = _cross_product(high, low, sample, rest, small)
    return turns + small * scale


@triton.jit
def _loaded(matrix, rows, first: tl.constexpr, second: tl.constexpr, third: tl.constexpr):
    """Load rows in blocks of features. Blocks of size zero are not loaded.

    The size of a block must be a power of two, so that 112 features take three of them.
    """
    block = tl.load(matrix + rows + tl.arange(0, first)[None, :])
    next_block, last_block = block, block
    if second:
        next_block = tl.load(matrix + rows + first + tl.arange(0, second)[None, :])
    if third:
        last_block = tl.load(matrix + rows + first + second + tl.arange(0, third)[None, :])
    return block, next_block, last_block


@triton.jit
def _add_product(
    total,
    left,
    next_left,
    last_left,
    right,
    next_right,
    last_right,
    second: tl.constexpr,
    third: tl.constexpr,
):
    """Add the product of two matrices in blocks of features to a total."""
    total = tl.dot(left, right.T, total)
    if second:
        total = tl.dot(next_left, next_right.T, total)
    if third:
        total = tl.dot(last_left, last_right.T, total)
    return total


@triton.jit
def _resident_turns(
    high,
    next_high,
    last_high,
    low,
    next_low,
    last_low,
    scale,
    sample_high,
    sample_low,
    rows,
    first: tl.constexpr,
    second: tl.constexpr,
    third: tl.constexpr,
    is_exact: tl.constexpr,
):
    """Return the phases of a tile in turns, for frequencies that are already loaded."""
    # All loads come first, so that the program waits for memory only once.
    a, b, c = _loaded(sample_high, rows, first, second, third)
    if is_exact:
        d, e, f = _loaded(sample_low, rows, first, second, third)
    none = tl.zeros((high.shape[0], rows.shape[0]), tl.float32)
    turns = _add_product(none, high, next_high, last_high, a, b, c, second, third) * scale
    if is_exact:
        small = _add_product(none, high, next_high, last_high, d, e, f, second, third)
        turns += _add_product(small, low, next_low, last_low, a, b, c, second, third) * scale
    return turns


@triton.jit
def _weighted(cosines, sines, values, firsts, rows, is_plain: tl.constexpr):
    """Return cosines and sines times the values of their samples, and cosines of first entries.

    If the codes are plain, all values are one.
    """
    counted = cosines
    if not is_plain:
        value = tl.load(values + rows)[None, :]
        counted = cosines * tl.load(firsts + rows)[None, :]
        cosines, sines = value * cosines, value * sines
    return cosines, sines, counted


@triton.jit
def _store_sums(out, n_frequencies, reals, imaginaries, squares, products):
    """Sum over threads, and write the sums of every frequency."""
    tl.store(out, tl.sum(reals, axis=1))
    tl.store(out + n_frequencies, tl.sum(imaginaries, axis=1))
    tl.store(out + 2 * n_frequencies, tl.sum(squares, axis=1))
    tl.store(out + 3 * n_frequencies, tl.sum(products, axis=1))


@triton.jit
def _thread_sums(values):
    """Sum over samples, but only those that one thread holds: two neighbours in every eight.

    Sums over threads take time, so they are left to the end. The result has four columns.
    """
    groups = tl.reshape(values, (values.shape[0], values.shape[1] // 8, 4, 2))
    return tl.sum(tl.sum(groups, axis=1), axis=2)


@triton.jit
def _wave_sums(
    frequency_high,
    frequency_low,
    scales,
    sample_high,
    sample_low,
    values,
    firsts,
    starts,
    counts,
    sums,
    n_frequencies,
    width: tl.constexpr,
    width_block: tl.constexpr,
    second_block: tl.constexpr,
    third_block: tl.constexpr,
    frequency_block: tl.constexpr,
    sample_block: tl.constexpr,
    is_plain: tl.constexpr,
    is_exact: tl.constexpr,
    stages: tl.constexpr,
):
    """Sum over one chunk of samples, tile by tile, for one block of frequencies.

    Frequencies are the rows of a tile. A thread then holds many samples of a few frequencies, and
    can add up most of them without other threads.
    """
    members = tl.program_id(0) * frequency_block + tl.arange(0, frequency_block)
    chunk = tl.program_id(1)
    start = tl.load(starts + chunk)
    scale = tl.load(scales + members)[:, None]
    features = tl.arange(0, width_block)[None, :]
    own = members[:, None] * width
    reals = tl.zeros((frequency_block, 4), tl.float32)
    imaginaries = tl.zeros((frequency_block, 4), tl.float32)
    squares = tl.zeros((frequency_block, 4), tl.float32)
    products = tl.zeros((frequency_block, 4), tl.float32)
    # If one tile covers all features, the frequencies are loaded only once.
    is_resident: tl.constexpr = width == width_block + second_block + third_block
    if is_resident:
        high, next_high, last_high = _loaded(
            frequency_high, own, width_block, second_block, third_block
        )
        low, next_low, last_low = _loaded(
            frequency_low, own, width_block, second_block, third_block
        )
    for tile in tl.range(tl.load(counts + chunk), num_stages=stages):
        rows = start + tile * sample_block + tl.arange(0, sample_block)
        first = rows.to(tl.int64)[:, None] * width
        if is_resident:
            turns = _resident_turns(
                high,
                next_high,
                last_high,
                low,
                next_low,
                last_low,
                scale,
                sample_high,
                sample_low,
                first,
                width_block,
                second_block,
                third_block,
                is_exact,
            )
        else:
            turns = _streamed_turns(
                frequency_high,
                frequency_low,
                scale,
                sample_high,
                sample_low,
                own + features,
                first + features,
                width,
                is_exact,
                stages,
            )
        cosines, sines = _cosine_sine(turns)
        real, imaginary, counted = _weighted(cosines, sines, values, firsts, rows, is_plain)
        reals += _thread_sums(real)
        imaginaries += _thread_sums(imaginary)
        squares += _thread_sums(counted * cosines)
        products += _thread_sums(counted * sines)
    out = sums + chunk.to(tl.int64) * 4 * n_frequencies + members
    _store_sums(out, n_frequencies, reals, imaginaries, squares, products)


def chunk_sums(frequencies: Any, samples: Any, chunks: Any, tile: Any, *, is_exact: bool) -> Any:
    """Return sums of shape (n_chunks, 4, n_frequencies): u cos, u sin, cos^2 and cos sin.

    Parameters
    ----------
    frequencies : Halves
        The number of rows is a multiple of ``tile.frequencies``.
    samples : Halves
        The number of rows is a multiple of ``tile.samples``.
    chunks : Chunks
    tile : Tile
    is_exact : bool
        Whether products have the accuracy of single precision, at three times the cost.
    """
    n_frequencies, width = frequencies.high.shape
    shape = (len(chunks.starts), 4, n_frequencies)
    sums = torch.empty(shape, dtype=torch.float32, device=frequencies.high.device)
    grid = (n_frequencies // tile.frequencies, len(chunks.starts))
    codes = (chunks.values, chunks.firsts, chunks.starts, chunks.counts)
    _wave_sums[grid](
        *frequencies,
        *samples[:2],
        *codes,
        sums,
        n_frequencies,
        width,
        *_feature_blocks(tile.features),
        is_plain=chunks.is_plain,
        **_options(tile, is_exact),
    )
    return sums


def _feature_blocks(n_features: int) -> list[int]:
    """Return three powers of two or zeros, the largest first, that sum up to a number.

    >>> _feature_blocks(112)
    [64, 32, 16]
    >>> _feature_blocks(128)
    [128, 0, 0]
    """
    blocks = [2**k for k in range(n_features.bit_length(), -1, -1) if n_features >> k & 1]
    return [*blocks, 0, 0][:3]


def _options(tile: Any, is_exact: bool) -> dict[str, int]:
    return {
        "frequency_block": tile.frequencies,
        "sample_block": tile.samples,
        "is_exact": is_exact,
        "stages": tile.stages,
        "num_warps": tile.warps,
        "num_stages": tile.stages,
    }


@triton.jit
def _tile_gradients(
    frequency_high,
    frequency_low,
    scales,
    sample_high,
    sample_low,
    values,
    columns,
    tilts,
    gradients,
    n_frequencies,
    width: tl.constexpr,
    width_block: tl.constexpr,
    frequency_block: tl.constexpr,
    sample_block: tl.constexpr,
    is_exact: tl.constexpr,
    stages: tl.constexpr,
):
    """Multiply the slopes of one tile, of shape (frequencies, samples), with its samples."""
    members = tl.program_id(0) * frequency_block + tl.arange(0, frequency_block)
    tile = tl.program_id(1)
    rows = tile * sample_block + tl.arange(0, sample_block)
    features = tl.arange(0, width_block)[None, :]
    right = rows.to(tl.int64)[:, None] * width + features
    turns = _streamed_turns(
        frequency_high,
        frequency_low,
        tl.load(scales + members)[:, None],
        sample_high,
        sample_low,
        members[:, None] * width + features,
        right,
        width,
        is_exact,
        stages,
    )
    cosines, sines = _cosine_sine(turns)
    tilt = tilts + 2 * tl.load(columns + tile) * n_frequencies + members
    real, imaginary = tl.load(tilt)[:, None], tl.load(tilt + n_frequencies)[:, None]
    slopes = tl.load(values + rows)[None, :] * (imaginary * cosines - real * sines)
    high = slopes.to(tl.float16)
    low = (slopes - high.to(tl.float32)).to(tl.float16)
    out = (tile.to(tl.int64) * n_frequencies + members)[:, None] * width + features
    for first in tl.range(0, width, width_block, num_stages=stages):
        sample = tl.load(sample_high + right + first)
        total = tl.dot(high, sample)
        if is_exact:
            rest = tl.load(sample_low + right + first)
            total += tl.dot(low, sample, tl.dot(high, rest))
        tl.store(gradients + out + first, total)


def tile_gradients(
    frequencies: Any, samples: Any, chunks: Any, tilts: Any, tile: Any, *, is_exact: bool
) -> Any:
    """Return the products of slopes and samples, of shape (n_tiles, n_frequencies, width).

    For a sample of value u, in a column of tilt a + i b, the slope is ``u (b cos - a sin)``.

    Parameters
    ----------
    frequencies, samples : Halves
        As in ``chunk_sums``.
    chunks : Chunks
        Each has one tile.
    tilts : tensor of shape (n_columns, 2, n_frequencies)
        Scaled so that slopes are at most 2^7.
    tile : Tile
    is_exact : bool
    """
    n_frequencies, width = frequencies.high.shape
    shape = (len(chunks.columns), n_frequencies, width)
    gradients = torch.empty(shape, dtype=torch.float32, device=frequencies.high.device)
    grid = (n_frequencies // tile.frequencies, len(chunks.columns))
    codes = (chunks.values, chunks.columns, tilts)
    _tile_gradients[grid](
        *frequencies,
        *samples[:2],
        *codes,
        gradients,
        n_frequencies,
        width,
        width_block=tile.features,
        **_options(tile, is_exact),
    )
    return gradients
