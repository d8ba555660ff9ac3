"""Wave sums on CUDA by one kernel, which never writes a phase to memory."""

import math

import torch
from scipy import sparse

from pacfourier.arrays import ComplexArray, host
from pacfourier.core.phases import double_angle_sums
from pacfourier.tensors.phases import (
    FACTOR_ROUNDING,
    magnitudes,
    product_precision,
)
from pacfourier.tensors.triton.halves import (
    LARGEST_SLAB,
    Chunks,
    Tile,
    code_chunks,
    halves,
    powers_of_two,
    row_scaled_halves,
    slabs,
    tile_of,
)


def fused_wave_sums(
    X: torch.Tensor, weighted: sparse.csr_array, frequencies: torch.Tensor, dtype: torch.dtype
) -> tuple[ComplexArray, ComplexArray]:
    """Return the sums of u_i exp(i omega . x_i) and of exp(2 i omega . x_i)."""
    del dtype  # The kernel is for single precision only.
    tile = tile_of(X)
    chunks = code_chunks(weighted, tile.samples, X.device)
    sums = host(column_sums(X, chunks, weighted.shape[1], frequencies, tile))
    waves = sums[:, 0] + 1j * sums[:, 1]
    squares, products = sums[:, 2:].sum(axis=0)
    return waves, double_angle_sums(squares, products, len(X))


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
        # Triton launches on the current device, which may not be the device of X.
        with torch.cuda.device_of(X):
            sums = chunk_sums(left, right, slab, tile, is_exact=is_exact)
        # Chunks are sorted by column, so the sums of a column are added in a fixed order.
        columns, sizes = torch.unique_consecutive(slab.columns, return_counts=True)
        parts = sums.split(sizes.tolist())
        for column, part in zip(columns.tolist(), parts, strict=True):
            totals[column] += part.sum(dim=0, dtype=torch.float64)
    return totals[:, :, : len(omegas)]
