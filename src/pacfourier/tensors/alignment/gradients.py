"""Losses and gradients of frequencies, for tensors: two kernels on CUDA, products elsewhere."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import sparse

from pacfourier.arrays import FloatArray, host
from pacfourier.core.alignment.gradients import (
    AlignmentObjective,
    kept_blocks,
    losses_and_gradients,
    prepared,
)
from pacfourier.core.phases import Precision
from pacfourier.tensors.alignment.sums import (
    FACTOR_ROUNDING,
    LARGEST_BLOCK,
    TYPES,
    has_triton,
    magnitudes,
    product_precision,
    row_blocks,
)
from pacfourier.tensors.triton.halves import (
    LARGEST_SLAB,
    Chunks,
    Halves,
    Tile,
    code_chunks,
    gradient_tile,
    halves,
    powers_of_two,
    row_scaled_halves,
)

# What CUDA takes as the second number of programs of a launch.
LARGEST_GRID = 65535


class SortedSamples(NamedTuple):
    """Samples in halves, sorted by code in chunks of one tile: what the kernels read.

    Attributes
    ----------
    samples : Halves
    units : tensor of shape (n_features,)
        What the features were divided by.
    chunks : Chunks
    owners : tensor of shape (n_columns, n_tiles)
        Whether a tile is of a column of the codes.
    tile : Tile
    is_exact : bool
        Whether products are as good as in single precision.
    """

    samples: Halves
    units: torch.Tensor
    chunks: Chunks
    owners: torch.Tensor
    tile: Tile
    is_exact: bool


@prepared.register(torch.Tensor)
def tensor_prepared(
    X: torch.Tensor, weighted: sparse.csr_array, precision: Precision
) -> tuple[torch.Tensor | SortedSamples, torch.Tensor]:
    """Return the samples as they are or sorted for the kernels, and dense codes beside them."""
    is_fused = X.is_cuda and precision == "single" and has_triton()
    rounded = sorted_samples(X, weighted) if is_fused else X
    return rounded, torch.as_tensor(weighted.toarray(), device=X.device)


def sorted_samples(X: torch.Tensor, weighted: sparse.csr_array) -> SortedSamples:
    """Return samples as the kernels read them."""
    tile = gradient_tile(X)
    chunks = code_chunks(weighted, tile.samples, X.device, tiles=1)
    units = powers_of_two(magnitudes(X))
    width = -(-X.shape[1] // tile.features) * tile.features
    columns = torch.arange(weighted.shape[1], device=X.device)
    slabs = chunks.rows.split(LARGEST_SLAB // width)
    parts = [halves(X[rows] / units, width) for rows in slabs]
    return SortedSamples(
        Halves(*(torch.cat(halves_of_all) for halves_of_all in zip(*parts, strict=True))),
        units,
        chunks,
        (columns[:, None] == chunks.columns).double(),
        tile,
        FACTOR_ROUNDING[product_precision(X.device)] == 0,
    )


@kept_blocks.register(torch.Tensor)
def tensor_kept_blocks(X: torch.Tensor, n_frequencies: int) -> Iterator[slice]:
    """Cut frequencies into blocks whose phases are of bounded size."""
    size = max(1, LARGEST_BLOCK // len(X))
    for start in range(0, n_frequencies, size):
        yield slice(start, min(start + size, n_frequencies))


@kept_blocks.register(SortedSamples)
def whole_block(X: SortedSamples, n_frequencies: int) -> Iterator[slice]:
    """Take all frequencies at once: no phase is kept."""
    del X
    yield slice(0, n_frequencies)


@losses_and_gradients.register(SortedSamples)
def fused_losses_and_gradients(
    X: SortedSamples, objective: AlignmentObjective, frequencies: FloatArray, dtype: type[Any]
) -> tuple[FloatArray, FloatArray]:
    """Return the losses and gradients of a few frequencies: two kernels, no phase stored."""
    del dtype  # Single precision is what this is for.
    n_frequencies, n_features = frequencies.shape
    n_padded = -(-n_frequencies // X.tile.frequencies) * X.tile.frequencies
    omegas = torch.as_tensor(frequencies, device=X.units.device) * X.units / (2 * math.pi)
    left = row_scaled_halves(omegas, n_padded, X.samples.high.shape[1])
    losses, tilts = objective.losses_and_tilts(fused_waves(X, left))
    gradients = fused_gradients(X, left, tilts)[:n_frequencies, :n_features] * X.units
    return host(losses[:n_frequencies]), host(-gradients)


def fused_waves(X: SortedSamples, left: Halves) -> torch.Tensor:
    """Return S as (real, imaginary), of shape (2, n_columns, n_frequencies)."""
    from pacfourier.tensors.triton.kernels import chunk_sums

    waves = X.owners.new_zeros((len(X.owners), 2 * len(left.high)))
    for tiles in tile_slabs(X, left):
        part = tiles_of(X, tiles)
        with torch.cuda.device_of(X.units):
            sums = chunk_sums(left, part.samples, part.chunks, X.tile, is_exact=X.is_exact)
        waves += part.owners @ sums[:, :2].double().flatten(1)
    return waves.reshape(len(waves), 2, -1).transpose(0, 1)


def fused_gradients(X: SortedSamples, left: Halves, tilts: torch.Tensor) -> torch.Tensor:
    """Return minus the gradients, of shape (n_frequencies, width), features still in units."""
    from pacfourier.tensors.triton.kernels import tile_gradients

    largest = tilts.abs().amax(dim=(0, 1)) * X.chunks.values.abs().max() * math.sqrt(2)
    units = powers_of_two(largest)
    scaled = (tilts / units).transpose(0, 1).float().contiguous()
    gradients = torch.zeros(left.high.shape, dtype=torch.float64, device=units.device)
    for tiles in tile_slabs(X, left):
        part = tiles_of(X, tiles)
        with torch.cuda.device_of(X.units):
            parts = tile_gradients(
                left, part.samples, part.chunks, scaled, X.tile, is_exact=X.is_exact
            )
        gradients += parts.sum(dim=0, dtype=torch.float64)
    return gradients * units[:, None]


def tile_slabs(X: SortedSamples, left: Halves) -> Iterator[slice]:
    """Cut the tiles into slabs whose gradients are of bounded size, and launches too."""
    size = max(1, min(LARGEST_GRID, LARGEST_SLAB // left.high.numel()))
    for start in range(0, len(X.chunks.starts), size):
        yield slice(start, min(start + size, len(X.chunks.starts)))


def tiles_of(X: SortedSamples, tiles: slice) -> SortedSamples:
    """Return some of the tiles."""
    rows = slice(tiles.start * X.tile.samples, tiles.stop * X.tile.samples)
    chunks = Chunks(
        X.chunks.rows[rows],
        X.chunks.values[rows],
        X.chunks.firsts[rows],
        X.chunks.starts[tiles] - rows.start,
        X.chunks.counts[tiles],
        X.chunks.columns[tiles],
    )
    samples = X.samples._replace(high=X.samples.high[rows], low=X.samples.low[rows])
    return X._replace(samples=samples, chunks=chunks, owners=X.owners[:, tiles])


@losses_and_gradients.register(torch.Tensor)
def tensor_losses_and_gradients(
    X: torch.Tensor, objective: AlignmentObjective, frequencies: FloatArray, dtype: type[Any]
) -> tuple[FloatArray, FloatArray]:
    """Return the losses and gradients of a few frequencies: two products with the data."""
    kind = TYPES[dtype]
    columns = torch.as_tensor(frequencies, dtype=kind, device=X.device).T
    codes: Any = objective.codes
    waves = X.new_zeros((2, codes.shape[1], len(frequencies)), dtype=torch.float64)
    phases = X.new_empty((len(X), len(frequencies)), dtype=kind)
    for rows in row_blocks(len(X), len(frequencies)):
        torch.matmul(X[rows].to(kind), columns, out=phases[rows])
        weights = codes[rows].to(kind).T
        waves += torch.stack([weights @ phases[rows].cos(), weights @ phases[rows].sin()])
    losses, tilts = objective.losses_and_tilts(waves)
    real, imaginary = tilts.to(kind)
    gradients = X.new_zeros(frequencies.shape, dtype=torch.float64)
    for rows in row_blocks(len(X), len(frequencies)):
        weights = codes[rows].to(kind)
        slopes = (weights @ imaginary) * phases[rows].cos() - (weights @ real) * phases[rows].sin()
        gradients -= slopes.T @ X[rows].to(kind)
    return host(losses), np.asarray(host(gradients))
