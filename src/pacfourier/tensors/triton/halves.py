r"""Numbers split into halves of 16 bits, laid out for the kernels.

A tensor core multiplies numbers of 11 bits. A number in single precision is the sum of two such
halves up to 2^-22 of its size, and

.. math:: x \omega \approx x_{high}\, \omega_{high} + x_{high}\, \omega_{low}
          + x_{low}\, \omega_{high}

costs three products of 16-bit numbers, each at twice the rate of the chip's own 32-bit mode.

The entries of the codes are sorted by column and cut into chunks. All samples of a chunk then
belong to one column, so that a program can add them up without reading which column it is.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from pacfourier.arrays import host
from pacfourier.tensors.arrays import queued

# The number of samples that one program adds up before it writes its sums.
_ROWS_PER_CHUNK = 2048
# The most numbers in a slab of samples that is on the device in halves: 512 MB.
LARGEST_SLAB = 2**27
# Scaled numbers are at most 2^7, so that products do not overflow and low halves do not underflow.
LARGEST_EXPONENT = 7
# The bits of the mantissa in double precision, and the smallest stored exponent that is scaled.
MANTISSA_BITS, SMALLEST_STORED = 52, 64


class Tile(NamedTuple):
    """The shape of the work of one program at a time, its warps and its pipeline stages."""

    frequencies: int
    samples: int
    features: int
    warps: int
    stages: int


class Halves(NamedTuple):
    """A matrix stored as (high + low) * scales, with its rows padded with zeros."""

    high: torch.Tensor
    low: torch.Tensor
    scales: torch.Tensor


class Chunks(NamedTuple):
    """The entries of the codes, sorted by column and cut into chunks of whole tiles.

    Attributes
    ----------
    rows, values, firsts : tensors of shape (n_entries,)
        The sample of each entry, its value, and whether it is the first entry of its sample.
        Entries of value zero pad every column to whole tiles.
    starts, counts, columns : tensors of shape (n_chunks,)
        The first entry of each chunk, its number of tiles, and its column of the codes.
    ends : tensor of shape (n_columns + 1,)
        The chunks of column k are those from ``ends[k]`` to ``ends[k + 1]``.
    padding : tensor of shape (n_columns,)
        The number of entries that pad each column.
    is_plain : bool
        Whether all values are one, but for padding.
    """

    rows: torch.Tensor
    values: torch.Tensor
    firsts: torch.Tensor
    starts: torch.Tensor
    counts: torch.Tensor
    columns: torch.Tensor
    ends: torch.Tensor
    padding: torch.Tensor
    is_plain: bool


def tile_of(X: torch.Tensor) -> Tile:
    """Return the tile that was measured to be fastest, or a smaller one if the chip is smaller."""
    if _shared_memory(X.device) < 200_000:
        return gradient_tile(X)
    width = -(-X.shape[1] // 16) * 16
    if width <= 128:
        # So small that two programs share a processor: one multiplies, the other takes cosines.
        return Tile(128, 64, width, warps=8, stages=2 if width <= 112 else 1)
    return Tile(128, 128, 64, warps=8, stages=3)


def gradient_tile(X: torch.Tensor) -> Tile:
    """Return a small tile: with few frequencies, only small tiles keep all processors busy."""
    return Tile(64, 64, min(64, _width(X)), warps=4, stages=2)


def _shared_memory(device: torch.device) -> int:
    """Return the bytes of shared memory that one program may use."""
    properties: Any = torch.cuda.get_device_properties(device)
    return int(properties.shared_memory_per_block_optin)


def _width(X: torch.Tensor) -> int:
    return max(16, 2 ** math.ceil(math.log2(X.shape[1])))


def code_chunks(
    weighted: sparse.csr_array, tile: int, device: torch.device, most: int = _ROWS_PER_CHUNK
) -> Chunks:
    """Sort the entries of the codes by column, and cut each column into chunks of ``most`` rows."""
    columns = torch.as_tensor(weighted.indices, device=device).long()
    starts = torch.as_tensor(weighted.indptr, device=device).long()
    lengths = starts.diff()
    owners = torch.arange(len(lengths), device=device).repeat_interleave(lengths)
    is_first = torch.zeros(len(columns), device=device)
    is_first[starts[:-1]] = 1
    values = torch.as_tensor(weighted.data, dtype=torch.float32, device=device)
    sizes = np.bincount(weighted.indices, minlength=weighted.shape[1])
    layout = _Layout.of(sizes, tile, most // tile, device)
    order = torch.argsort(columns, stable=True)
    places = layout.places(columns[order])
    rows, values, is_first = (
        layout.laid_out(entries[order], places) for entries in (owners, values, is_first)
    )
    return layout.chunks(rows, values, is_first, is_plain=False)


def class_chunks(
    columns: torch.Tensor, sizes: NDArray[np.intp], tile: int, most: int = _ROWS_PER_CHUNK
) -> Chunks:
    """Return the chunks of codes with a single one in every row.

    Parameters
    ----------
    columns : tensor of shape (n_samples,)
        The column of each row.
    sizes : array of shape (n_columns,)
        The number of rows of each column.
    tile, most : int
        The number of rows of a tile, and of a chunk.
    """
    layout = _Layout.of(sizes, tile, most // tile, columns.device)
    # Sorting bytes takes one pass.
    ordered, order = torch.sort(
        columns.to(torch.uint8) if len(sizes) < 256 else columns, stable=True
    )
    places = layout.places(ordered.long())
    ones = layout.laid_out(torch.ones(len(order), device=columns.device), places)
    return layout.chunks(layout.laid_out(order, places), ones, ones, is_plain=True)


class _Layout(NamedTuple):
    """Where sorted entries go, so that every column starts a new tile.

    Attributes
    ----------
    shifts : tensor of shape (n_columns,)
        How far the entries of a column move.
    table : tensor of shape (3, n_chunks)
        The starts, counts and columns of ``Chunks``.
    ends : tensor of shape (n_columns + 1,)
    padding : tensor of shape (n_columns,)
    n_padded : int
        The number of entries after padding.
    """

    shifts: torch.Tensor
    table: torch.Tensor
    ends: torch.Tensor
    padding: torch.Tensor
    n_padded: int

    @classmethod
    def of(cls, sizes: NDArray[Any], tile: int, tiles: int, device: torch.device) -> "_Layout":
        """Return the layout of columns of given sizes."""
        padded = -(-sizes // tile) * tile
        offsets = np.cumsum(padded) - padded
        size = tiles * tile
        n_chunks = -(-padded // size)
        column = np.repeat(np.arange(len(sizes)), n_chunks)
        ends = np.concatenate([[0], np.cumsum(n_chunks)])
        within = size * (np.arange(len(column)) - ends[column])
        counts = np.minimum(size, padded[column] - within) // tile
        shifts = offsets - (np.cumsum(sizes) - sizes)
        # One copy to the device, because every copy takes time.
        table = np.stack([offsets[column] + within, counts, column])
        parts = (shifts, table.ravel(), ends, padded - sizes)
        moved = queued(np.concatenate(parts).astype(np.int64), device)
        first, table_there, ends_there, padding = moved.split([len(part) for part in parts])
        return cls(first, table_there.view(3, -1), ends_there, padding, int(padded.sum()))

    def chunks(
        self, rows: torch.Tensor, values: torch.Tensor, firsts: torch.Tensor, *, is_plain: bool
    ) -> Chunks:
        """Return the chunks of entries that are laid out."""
        starts, counts, columns = self.table
        return Chunks(
            rows, values, firsts, starts, counts, columns, self.ends, self.padding, is_plain
        )

    def places(self, columns: torch.Tensor) -> torch.Tensor:
        """Return the place of each entry, given the sorted columns."""
        return torch.arange(len(columns), device=columns.device) + self.shifts[columns]

    def laid_out(self, entries: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Return the entries in their places. Padding entries refer to row zero, with value 0."""
        return entries.new_zeros(self.n_padded).scatter_(0, places, entries)


def slabs(chunks: Chunks, tile: int, largest: int) -> Iterator[Chunks]:
    """Cut the chunks into slabs of at most ``largest`` rows, or of one chunk if that is longer."""
    if len(chunks.rows) <= largest:
        yield chunks
        return
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
            (chunks.ends - first).clamp(0, last - first),
            chunks.padding,
            chunks.is_plain,
        )
        first = last


def powers_of_two(sizes: torch.Tensor) -> torch.Tensor:
    """Return powers of two; numbers up to these sizes, divided by them, are at most 2^7."""
    stored = sizes.double().view(torch.int64) >> MANTISSA_BITS
    # The stored exponent of 1 is 1023, and that of a number from 1 to 2 too.
    units = ((stored - (LARGEST_EXPONENT - 1)) << MANTISSA_BITS).view(torch.float64)
    # Zeros, and numbers too small for a unit that is a normal number, are not scaled.
    return torch.where(stored > SMALLEST_STORED, units, 1.0).to(sizes.dtype)


def _row_scaled_halves(matrix: torch.Tensor, n_rows: int, width: int) -> Halves:
    """Return a matrix in halves, after dividing each row by a power of two."""
    units = powers_of_two(matrix.abs().amax(dim=1))
    filled = matrix.new_zeros((n_rows, width))
    filled[: len(matrix), : matrix.shape[1]] = matrix / units[:, None]
    scales = torch.zeros(n_rows, dtype=torch.float32, device=matrix.device)
    scales[: len(matrix)] = units
    return halves(filled, width)._replace(scales=scales)


def halves(matrix: torch.Tensor, width: int) -> Halves:
    """Return a matrix, padded with zero columns, as the sum of two matrices of 16-bit numbers."""
    high = torch.zeros((len(matrix), width), dtype=torch.float16, device=matrix.device)
    low = torch.zeros_like(high)
    high[:, : matrix.shape[1]] = matrix
    low[:, : matrix.shape[1]] = matrix - high[:, : matrix.shape[1]]
    return Halves(high, low, high.new_empty(0))
