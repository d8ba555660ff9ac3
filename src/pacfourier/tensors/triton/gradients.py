"""Losses and gradients of frequencies on CUDA by two kernels, which never write a phase.

A sampler evaluates a hundred frequencies hundreds of times, and each evaluation launches about
thirty small operations. Launching them takes longer than they do. The first evaluation is therefore
recorded as a CUDA graph, and the others replay it.
"""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from scipy import sparse

from pacfourier.arrays import FloatArray, host
from pacfourier.core.alignment.gradients import (
    AlignmentObjective,
    kept_bands,
    losses_and_gradients,
)
from pacfourier.tensors.graphs import recorded_work
from pacfourier.tensors.phases import FACTOR_ROUNDING, magnitudes, product_precision
from pacfourier.tensors.triton.halves import (
    LARGEST_SLAB,
    Chunks,
    Halves,
    Tile,
    code_chunks,
    gradient_tile,
    halves,
    powers_of_two,
)

# The largest second dimension of a grid of programs that CUDA can launch.
_LARGEST_GRID = 65535


class _Replay(NamedTuple):
    """A recorded evaluation, with the tensor that it reads and the one that it writes.

    ``sent`` and ``received`` are the same tensors in pinned memory of the host, from and to which
    a device copies fastest.
    """

    graph: torch.cuda.CUDAGraph
    frequencies: torch.Tensor
    found: torch.Tensor
    sent: torch.Tensor
    received: torch.Tensor


class SortedSamples(NamedTuple):
    """Samples as the kernels read them: in halves, sorted by code, in chunks of one tile.

    Attributes
    ----------
    samples : Halves
    units : tensor of shape (n_features,)
        The powers of two that the features were divided by.
    chunks : Chunks
    owners : tensor of shape (n_columns, n_tiles)
        One where a tile belongs to a column of the codes, else zero.
    tile : Tile
    is_exact : bool
        Whether products have the accuracy of single precision.
    largest_slope : tensor without axes
        The largest slope of a sample, for tilts of at most one.
    replays : dict
        Recorded evaluations by their number of frequencies. It is filled on CUDA only.
    """

    samples: Halves
    units: torch.Tensor
    chunks: Chunks
    owners: torch.Tensor
    tile: Tile
    is_exact: bool
    largest_slope: torch.Tensor
    replays: dict[int, _Replay]


def sorted_samples(X: torch.Tensor, weighted: sparse.csr_array) -> SortedSamples:
    """Return samples in the form that the kernels read."""
    tile = gradient_tile(X)
    chunks = code_chunks(weighted, tile.samples, X.device, tile.samples)
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
        chunks.values.abs().max().double() * math.sqrt(2),
        {},
    )


@kept_bands.register(SortedSamples)
def _whole_band(X: SortedSamples, n_frequencies: int) -> Iterator[slice]:
    """Take all frequencies at once, because no phases are kept."""
    del X
    yield slice(0, n_frequencies)


@losses_and_gradients.register(SortedSamples)
def _fused_losses_and_gradients(
    X: SortedSamples, objective: AlignmentObjective, frequencies: FloatArray, dtype: type[Any]
) -> tuple[FloatArray, FloatArray]:
    """Return the losses and gradients of a few frequencies."""
    del dtype  # The kernels are for single precision only.
    found = _evaluated(X, objective, torch.from_numpy(frequencies))
    return found[:, -1].copy(), found[:, :-1].copy()


def _evaluated(
    X: SortedSamples, objective: AlignmentObjective, frequencies: torch.Tensor
) -> FloatArray:
    """Return the gradients, and the losses as a last column.

    On CUDA, this replays what was recorded, and the next call overwrites the result.
    """
    n_frequencies, n_features = frequencies.shape
    n_padded = -(-n_frequencies // X.tile.frequencies) * X.tile.frequencies
    if not X.units.is_cuda:
        padded = frequencies.new_zeros((n_padded, n_features))
        padded[:n_frequencies] = frequencies
        return host(_evaluation(X, objective, padded))[:n_frequencies]
    if n_padded not in X.replays:
        X.replays[n_padded] = _recorded(X, objective, (n_padded, n_features))
    replay = X.replays[n_padded]
    # What an earlier call left in the other rows does not matter.
    replay.sent[:n_frequencies] = frequencies
    replay.frequencies.copy_(replay.sent, non_blocking=True)
    replay.graph.replay()
    replay.received.copy_(replay.found, non_blocking=True)
    torch.cuda.current_stream(X.units.device).synchronize()
    return host(replay.received)[:n_frequencies]


def _recorded(X: SortedSamples, objective: AlignmentObjective, shape: tuple[int, int]) -> _Replay:
    """Record one evaluation of frequencies of a given shape."""
    device = X.units.device
    # Nothing may be copied from the host while recording.
    agreement: Any = torch.as_tensor(objective.agreement, device=device)
    objective = replace(objective, agreement=agreement)
    placed = torch.zeros(shape, dtype=torch.float64, device=device)
    graph, found = recorded_work(lambda: _evaluation(X, objective, placed), device)
    sent, received = (torch.zeros_like(each, device="cpu").pin_memory() for each in (placed, found))
    return _Replay(graph, placed, found, sent, received)


def _evaluation(
    X: SortedSamples, objective: AlignmentObjective, frequencies: torch.Tensor
) -> torch.Tensor:
    """Return the gradients of whole tiles of frequencies, and the losses as a last column."""
    from pacfourier.tensors.triton.layouts import frequency_halves

    n_frequencies, n_features = frequencies.shape
    with torch.cuda.device_of(X.units):
        left, _ = frequency_halves(
            frequencies, X.units, X.units, n_frequencies, X.samples.high.shape[1]
        )
    # The objective is typed for arrays, but computes with tensors alike.
    waves: Any = _fused_waves(X, left)
    losses, tilts = objective.losses_and_tilts(waves)
    slopes = _fused_gradients(X, left, torch.as_tensor(tilts))
    gradients = slopes[:, :n_features] * -X.units
    return torch.cat([gradients, torch.as_tensor(losses)[:, None]], dim=1)


def _fused_waves(X: SortedSamples, left: Halves) -> torch.Tensor:
    """Return the waves S as (real, imaginary), of shape (2, n_columns, n_frequencies)."""
    from pacfourier.tensors.triton.kernels import chunk_sums

    waves = X.owners.new_zeros((len(X.owners), 2 * len(left.high)))
    for tiles in _tile_slabs(X, left):
        part = _tiles_of(X, tiles)
        with torch.cuda.device_of(X.units):
            sums = chunk_sums(left, part.samples, part.chunks, X.tile, is_exact=X.is_exact)
        waves += part.owners @ sums[:, :2].double().flatten(1)
    return waves.reshape(len(waves), 2, -1).transpose(0, 1)


def _fused_gradients(X: SortedSamples, left: Halves, tilts: torch.Tensor) -> torch.Tensor:
    """Return minus the gradients in the scaled features, of shape (n_frequencies, width)."""
    from pacfourier.tensors.triton.kernels import tile_gradients

    largest = tilts.abs().amax(dim=(0, 1)) * X.largest_slope
    units = powers_of_two(largest)
    scaled = (tilts / units).transpose(0, 1).float().contiguous()
    gradients = torch.zeros(left.high.shape, dtype=torch.float64, device=units.device)
    for tiles in _tile_slabs(X, left):
        part = _tiles_of(X, tiles)
        with torch.cuda.device_of(X.units):
            parts = tile_gradients(
                left, part.samples, part.chunks, scaled, X.tile, is_exact=X.is_exact
            )
        gradients += parts.sum(dim=0, dtype=torch.float64)
    return gradients * units[:, None]


def _tile_slabs(X: SortedSamples, left: Halves) -> Iterator[slice]:
    """Cut the tiles into slabs that bound the memory of gradients and the size of launches."""
    size = max(1, min(_LARGEST_GRID, LARGEST_SLAB // left.high.numel()))
    for start in range(0, len(X.chunks.starts), size):
        yield slice(start, min(start + size, len(X.chunks.starts)))


def _tiles_of(X: SortedSamples, tiles: slice) -> SortedSamples:
    """Return a slice of the tiles, or all of them without copies."""
    if tiles.start == 0 and tiles.stop == len(X.chunks.starts):
        return X
    rows = slice(tiles.start * X.tile.samples, tiles.stop * X.tile.samples)
    chunks = Chunks(
        X.chunks.rows[rows],
        X.chunks.values[rows],
        X.chunks.firsts[rows],
        X.chunks.starts[tiles] - rows.start,
        X.chunks.counts[tiles],
        X.chunks.columns[tiles],
        *X.chunks[6:],
    )
    samples = X.samples._replace(high=X.samples.high[rows], low=X.samples.low[rows])
    return X._replace(samples=samples, chunks=chunks, owners=X.owners[:, tiles])
