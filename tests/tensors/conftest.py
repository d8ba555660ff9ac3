"""Versions of the Triton kernels in plain torch, for machines without CUDA."""

import sys
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from pacfourier.tensors.triton.halves import _row_scaled_halves, halves  # noqa: E402


def plain_chunk_sums(frequencies, samples, chunks, tile, *, is_exact):
    """Return the sums that the kernel computes."""
    left = (frequencies.high.double() + is_exact * frequencies.low.double()) * (
        frequencies.scales.double()[:, None]
    )
    right = samples.high.double() + is_exact * samples.low.double()
    sums = torch.zeros((len(chunks.starts), 4, len(left)))
    for number, (start, count) in enumerate(zip(chunks.starts, chunks.counts, strict=True)):
        rows = slice(start, start + count * tile.samples)
        angles = 2 * torch.pi * left @ right[rows].T
        values, firsts = chunks.values[rows].double(), chunks.firsts[rows].double()
        if chunks.is_plain:
            values, firsts = torch.ones_like(values), torch.ones_like(firsts)
        sums[number, 0] = angles.cos() @ values
        sums[number, 1] = angles.sin() @ values
        sums[number, 2] = angles.cos().square() @ firsts
        sums[number, 3] = (angles.cos() * angles.sin()) @ firsts
    return sums


def plain_tile_gradients(frequencies, samples, chunks, tilts, tile, *, is_exact):
    """Return the products that the kernel computes, with slopes in halves as well."""
    scales = frequencies.scales.double()[:, None]
    left = (frequencies.high.double() + is_exact * frequencies.low.double()) * scales
    right = (samples.high.double() + is_exact * samples.low.double()).split(tile.samples)
    found = []
    tiles = zip(right, chunks.values.split(tile.samples), chunks.columns, strict=True)
    for rows, values, column in tiles:
        angles = 2 * torch.pi * left @ rows.T
        real, imaginary = tilts[column].double()[:, :, None]
        slopes = values.double() * (imaginary * angles.cos() - real * angles.sin())
        assert slopes.abs().max() <= 2**7
        high = slopes.half()
        low = (slopes - high.double()).half()
        found.append((high.double() + is_exact * low.double()) @ rows)
    return torch.stack(found).float()


def plain_frequency_halves(frequencies, units, magnitudes, n_rows, width):
    """Return what the kernel writes, in plain torch."""
    omegas = frequencies.double() * units.double() / (2 * torch.pi)
    sizes = torch.linalg.vector_norm(frequencies.double() * magnitudes.double(), dim=1)
    return _row_scaled_halves(omegas, n_rows, width), sizes


def plain_sample_halves(X, chunks, units, width):
    """Return what the kernel writes, in plain torch."""
    is_sample = (chunks.values != 0) | (not chunks.is_plain)
    return halves(X[chunks.rows] * is_sample[:, None] / units, width)


def plain_add_columns(sums, ends, totals):
    """Add chunk by chunk."""
    for column, total in enumerate(totals):
        for chunk in range(ends[column], ends[column + 1]):
            total += sums[chunk].double()


@pytest.fixture
def plain_layouts():
    """Return versions of the kernels of layouts in plain torch."""
    return SimpleNamespace(
        frequency_halves=plain_frequency_halves,
        sample_halves=plain_sample_halves,
        add_columns=plain_add_columns,
    )


@pytest.fixture
def plain_kernels(monkeypatch, plain_layouts):
    """Replace the kernels, which need a CUDA device, by their versions in plain torch."""
    from pacfourier.tensors.triton import gradients, sums
    from pacfourier.tensors.triton.halves import Tile

    module = SimpleNamespace(chunk_sums=plain_chunk_sums, tile_gradients=plain_tile_gradients)
    monkeypatch.setitem(sys.modules, "pacfourier.tensors.triton.kernels", module)
    monkeypatch.setitem(sys.modules, "pacfourier.tensors.triton.layouts", plain_layouts)
    tile = Tile(4, 4, 16, warps=1, stages=1)
    monkeypatch.setattr(sums, "tile_of", lambda _: tile)
    monkeypatch.setattr(gradients, "gradient_tile", lambda _: tile)
