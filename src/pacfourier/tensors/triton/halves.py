r"""Wave sums on CUDA, in one kernel that never writes a phase.

A tensor core multiplies numbers of 11 bits. A number of single precision is the sum of two such
halves up to 2^-22 of its size, and

.. math:: x \omega \approx x_{high}\, \omega_{high} + x_{high}\, \omega_{low}
          + x_{low}\, \omega_{high}

costs three products at the rate of 16-bit numbers: twice that of the chip's own 32-bit mode.
Samples are sorted by code, so that a chunk of them has one, and every chunk leaves its sums.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import sparse

from pacfourier.arrays import ComplexArray, host
from pacfourier.tensors.alignment.sums import FACTOR_ROUNDING, magnitudes, product_precision

# Tiles of samples that one program adds up before it writes its sums.
TILES = 16
# Numbers of a slab of samples that is on the device in halves: 512 MB.
LARGEST_SLAB = 2**27
# Scaled numbers are at most 2^7: products fit, and low halves stay above the smallest numbers.
LARGEST_EXPONENT = 7


class Tile(NamedTuple):
    """What one program works on at a time: shapes, warps and loads in flight."""

    frequencies: int
    samples: int
    features: int
    warps: int
    stages: int


class Halves(NamedTuple):
    """A matrix as (high + low) * scales, its rows filled up with zeros."""

    high: torch.Tensor
    low: torch.Tensor
    scales: torch.Tensor


class Chunks(NamedTuple):
    """The entries of the codes, sorted by column, each column filled up to whole tiles.

    Attributes
    ----------
    rows, values, firsts : tensors of shape (n_entries,)
        The sample, its code's value, and whether it is the sample's first entry.
    starts, counts, columns : tensors of shape (n_chunks,)
        The first entry of each chunk, its number of tiles, and its column.
    """

    rows: torch.Tensor
    values: torch.Tensor
    firsts: torch.Tensor
    starts: torch.Tensor
    counts: torch.Tensor
    columns: torch.Tensor


def fused_wave_sums(
    X: torch.Tensor, weighted: sparse.csr_array, frequencies: torch.Tensor, dtype: torch.dtype
) -> tuple[ComplexArray, ComplexArray]:
    """Return the sums of u_i exp(i omega . x_i) and of exp(2 i omega . x_i)."""
    del dtype  # Single precision is what this is for.
    tile = tile_of(X)
    chunks = code_chunks(weighted, tile.samples, X.device)
    sums = host(column_sums(X, chunks, weighted.shape[1], frequencies, tile))
    waves = sums[:, 0] + 1j * sums[:, 1]
    squares, products = sums[:, 2:].sum(axis=0)
    # cos 2a = 2 cos^2 a - 1 and sin 2a = 2 cos a sin a.
    return waves, 2 * squares - len(X) + 2j * products


def column_sums(
    X: torch.Tensor, chunks: Chunks, n_columns: int, frequencies: torch.Tensor, tile: Tile
) -> torch.Tensor:
    """Return sums of shape (n_columns, 4, n_frequencies), in double precision, on the device."""
    from pacfourier.tensors.triton.kernels import chunk_sums

    width = -(-X.shape[1] // tile.features) * tile.features
    units = powers_of_two(magnitudes(X))
    omegas = frequencies * (units / (2 * math.pi)).to(frequencies.dtype)
    n_padded = -(-len(omegas) // tile.frequencies) * tile.frequencies
    left = row_scaled_halves(omegas, n_padded, width)
    is_exact = FACTOR_ROUNDING[product_precision(X.device)] == 0
    totals = X.new_zeros((n_columns, 4, n_padded), dtype=torch.float64)
    for slab in slabs(chunks, tile.samples, LARGEST_SLAB // width):
        right = halves(X[slab.rows] / units, width)
        # Triton launches on the current device, which may be another one.
        with torch.cuda.device_of(X):
            sums = chunk_sums(left, right, slab, tile, is_exact=is_exact)
        # Chunks are sorted by column: one sum a column, in a fixed order.
        columns, sizes = torch.unique_consecutive(slab.columns, return_counts=True)
        parts = sums.split(sizes.tolist())
        for column, part in zip(columns.tolist(), parts, strict=True):
            totals[column] += part.sum(dim=0, dtype=torch.float64)
    return totals[:, :, : len(omegas)]


def tile_of(X: torch.Tensor) -> Tile:
    """Return the shape of tiles that was measured to be fast, or one that fits a smaller chip."""
    if shared_memory(X.device) < 200_000:
        return gradient_tile(X)
    if _width(X) <= 128:
        return Tile(128, 128, _width(X), warps=8, stages=2)
    return Tile(128, 128, 64, warps=8, stages=3)


def gradient_tile(X: torch.Tensor) -> Tile:
    """Return the shape of tiles for few frequencies: small ones, so that all processors work."""
    return Tile(64, 64, min(64, _width(X)), warps=4, stages=2)


def shared_memory(device: torch.device) -> int:
    """Return the bytes that one program may keep near its processor."""
    return int(torch.cuda.get_device_properties(device).shared_memory_per_block_optin)


def _width(X: torch.Tensor) -> int:
    return max(16, 2 ** math.ceil(math.log2(X.shape[1])))


def code_chunks(
    weighted: sparse.csr_array, tile: int, device: torch.device, tiles: int = TILES
) -> Chunks:
    """Sort the entries of the codes by column, and cut each column into chunks of some tiles."""
    columns = torch.as_tensor(weighted.indices, device=device).long()
    starts = torch.as_tensor(weighted.indptr, device=device).long()
    lengths = starts.diff()
    owners = torch.arange(len(lengths), device=device).repeat_interleave(lengths)
    is_first = torch.zeros(len(columns), device=device)
    is_first[starts[:-1]] = 1
    values = torch.as_tensor(weighted.data, dtype=torch.float32, device=device)
    sizes = np.bincount(weighted.indices, minlength=weighted.shape[1])
    padded = -(-sizes // tile) * tile
    offsets = np.cumsum(padded) - padded
    shifts = torch.as_tensor(offsets - (np.cumsum(sizes) - sizes), device=device)
    order = torch.argsort(columns, stable=True)
    places = torch.arange(len(order), device=device) + shifts[columns[order]]

    def laid_out(entries: torch.Tensor) -> torch.Tensor:
        # What fills a column up is row zero, with the value zero.
        filled = entries.new_zeros(int(padded.sum()))
        filled[places] = entries[order]
        return filled

    size = tiles * tile
    n_chunks = -(-padded // size)
    column = np.repeat(np.arange(len(sizes)), n_chunks)
    within = size * (np.arange(len(column)) - np.repeat(np.cumsum(n_chunks) - n_chunks, n_chunks))
    counts = np.minimum(size, padded[column] - within) // tile
    table = torch.as_tensor(np.stack([offsets[column] + within, counts, column]), device=device)
    return Chunks(laid_out(owners), laid_out(values), laid_out(is_first), *table)


def slabs(chunks: Chunks, tile: int, largest: int) -> Any:
    """Cut the chunks into slabs of at most so many rows, or one chunk."""
    starts, counts = host(chunks.starts), host(chunks.counts)
    ends = starts + counts * tile
    first = 0
    while first < len(starts):
        last = max(first + 1, int(np.searchsorted(ends, starts[first] + largest, side="right")))
        begin, end = int(starts[first]), int(ends[last - 1])
        yield Chunks(
            chunks.rows[begin:end],
            chunks.values[begin:end],
            chunks.firsts[begin:end],
            chunks.starts[first:last] - begin,
            chunks.counts[first:last],
            chunks.columns[first:last],
        )
        first = last


def powers_of_two(sizes: torch.Tensor) -> torch.Tensor:
    """Return the powers of two by which numbers up to these sizes come to 2^7 at most."""
    exponents = torch.frexp(sizes.double()).exponent
    units = torch.ldexp(torch.ones_like(sizes, dtype=torch.float64), exponents - LARGEST_EXPONENT)
    return torch.where(sizes > 0, units, 1.0).to(sizes.dtype)


def row_scaled_halves(matrix: torch.Tensor, n_rows: int, width: int) -> Halves:
    """Return a matrix in halves, each row divided by a power of two first."""
    units = powers_of_two(matrix.abs().amax(dim=1))
    filled = matrix.new_zeros((n_rows, width))
    filled[: len(matrix), : matrix.shape[1]] = matrix / units[:, None]
    scales = torch.zeros(n_rows, dtype=torch.float32, device=matrix.device)
    scales[: len(matrix)] = units
    return halves(filled, width)._replace(scales=scales)


def halves(matrix: torch.Tensor, width: int) -> Halves:
    """Return a matrix, filled up with zero columns, as the sum of two of 16-bit numbers."""
    high = torch.zeros((len(matrix), width), dtype=torch.float16, device=matrix.device)
    low = torch.zeros_like(high)
    high[:, : matrix.shape[1]] = matrix
    low[:, : matrix.shape[1]] = matrix - high[:, : matrix.shape[1]]
    return Halves(high, low, high.new_empty(0))
