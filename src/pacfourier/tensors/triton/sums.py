"""Wave sums on CUDA by one kernel, which never writes a phase to memory."""

import numpy as np
import torch
from scipy import sparse

from pacfourier.arrays import ComplexArray, FloatArray, host
from pacfourier.core.alignment.sums import alignment_loss, double_angle_sums
from pacfourier.core.precision import LARGEST_SINGLE_PHASE
from pacfourier.tensors.arrays import queued
from pacfourier.tensors.codes import ClassCodes
from pacfourier.tensors.phases import (
    FACTOR_ROUNDING,
    magnitudes,
    product_precision,
)
from pacfourier.tensors.triton.halves import (
    LARGEST_SLAB,
    Chunks,
    Tile,
    class_chunks,
    code_chunks,
    powers_of_two,
    slabs,
    tile_of,
)


def _fused_wave_sums(
    X: torch.Tensor,
    codes: sparse.csr_array | ClassCodes,
    frequencies: torch.Tensor,
    dtype: torch.dtype,
) -> tuple[ComplexArray, ComplexArray]:
    """Return the sums of u_i exp(i omega . x_i) and of exp(2 i omega . x_i)."""
    del dtype  # The kernel is for single precision only.
    return fused_sums_and_sizes(X, codes, frequencies, magnitudes(X))[:2]


def fused_sums_and_sizes(
    X: torch.Tensor,
    codes: sparse.csr_array | ClassCodes,
    frequencies: torch.Tensor,
    largest: torch.Tensor,
) -> tuple[ComplexArray, ComplexArray, FloatArray]:
    """Return waves, harmonics and the sizes of phases, given the magnitudes of the features.

    All work is queued on the device, and the results come back in one copy.
    """
    totals, sizes = _code_sums(X, codes, frequencies, largest)
    squares, products = totals[:, 2:].sum(dim=0)
    harmonics = double_angle_sums(squares, products, len(X))
    waves = torch.complex(totals[:, 0], totals[:, 1])
    packed = host(torch.cat([waves, harmonics[None], sizes[None].to(waves.dtype)]))
    return packed[:-2], packed[-2], packed[-1].real


def fused_losses(
    X: torch.Tensor, codes: ClassCodes, agreement: FloatArray, frequencies: torch.Tensor
) -> torch.Tensor | None:
    """Return the losses of frequencies, None if the phases of some need double precision.

    All work is queued on the device, and only the size of the largest phase comes back.
    """
    totals, sizes = _code_sums(X, codes, frequencies, magnitudes(X))
    n_codes, n_samples = len(agreement), len(X)
    waves = totals[:, :2].reshape(n_codes, -1)
    tilts = queued(np.ascontiguousarray(agreement), X.device) @ waves
    aligned = (waves * tilts).view(n_codes, 2, -1).sum(dim=(0, 1))
    self_pairs = float(codes.totals @ np.diagonal(agreement))
    losses = alignment_loss(aligned, self_pairs, float(n_samples) * (n_samples - 1)).to(X.dtype)
    return losses if host(sizes.max()) <= LARGEST_SINGLE_PHASE else None


def _code_sums(
    X: torch.Tensor,
    codes: sparse.csr_array | ClassCodes,
    frequencies: torch.Tensor,
    largest: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the sums of ``_column_sums`` for any codes."""
    tile = tile_of(X)
    if isinstance(codes, ClassCodes):
        chunks = class_chunks(codes.columns, codes.counts, tile.samples)
    else:
        chunks = code_chunks(codes, tile.samples, X.device)
    return _column_sums(X, chunks, codes.shape[1], frequencies, largest, tile)


def _column_sums(
    X: torch.Tensor,
    chunks: Chunks,
    n_columns: int,
    frequencies: torch.Tensor,
    largest: torch.Tensor,
    tile: Tile,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return sums of shape (n_columns, 4, n_frequencies) and sizes, both in double precision."""
    from pacfourier.tensors.triton.kernels import chunk_sums
    from pacfourier.tensors.triton.layouts import add_columns, frequency_halves, sample_halves

    width = -(-X.shape[1] // tile.features) * tile.features
    n_padded = -(-len(frequencies) // tile.frequencies) * tile.frequencies
    units = powers_of_two(largest)
    is_exact = FACTOR_ROUNDING[product_precision(X.device)] == 0
    totals = X.new_zeros((n_columns, 4, n_padded), dtype=torch.float64)
    # Triton launches on the current device, which may not be the device of X.
    with torch.cuda.device_of(X):
        left, sizes = frequency_halves(frequencies, units, largest, n_padded, width)
        for slab in slabs(chunks, tile.samples, LARGEST_SLAB // width):
            right = sample_halves(X, slab, units, width)
            # Chunks are sorted by column, so the sums of a column are added in a fixed order.
            add_columns(chunk_sums(left, right, slab, tile, is_exact=is_exact), slab.ends, totals)
    if chunks.is_plain:
        # Padding is zero, so each of its rows has added a cosine of one and a sine of zero.
        totals[:, 0::2] -= chunks.padding[:, None, None]
    return totals[:, :, : len(frequencies)], sizes
