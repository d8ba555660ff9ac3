"""The wave sums of tensors: a fused Triton kernel on CUDA, blocked matrix products elsewhere."""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

from typing import Any, TypeAlias

import numpy as np
import torch
from scipy import sparse

from pacfourier.arrays import ComplexArray, FloatArray, host
from pacfourier.core.alignment.sums import double_angle_sums, wave_sums
from pacfourier.core.precision import Precision, precision_groups
from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.tensors.codes import ClassCodes
from pacfourier.tensors.phases import (
    FACTOR_ROUNDING,
    TYPES,
    frequency_bands,
    magnitudes,
    phase_sizes,
    product_precision,
    row_blocks,
)
from pacfourier.tensors.prior.frequencies import placed_frequencies
from pacfourier.tensors.triton import has_triton

# Codes of labels as a sparse matrix on the host, or as numbers of classes on the device.
_Codes: TypeAlias = sparse.csr_array | ClassCodes


@wave_sums.register(torch.Tensor)
def _tensor_wave_sums(
    X: torch.Tensor,
    weighted: _Codes,
    frequencies: FrequencyPool | FloatArray | torch.Tensor,
    precision: Precision,
) -> tuple[ComplexArray, ComplexArray, FloatArray]:
    """Return waves, harmonics and rounding; the sums of blocks are added in double precision."""
    largest = magnitudes(X)
    parts = [
        _band_wave_sums(
            X, weighted, placed_frequencies(frequencies, columns, X.device), largest, precision
        )
        for columns in frequency_bands(*frequencies.shape)
    ]
    # Most often there is one band, and copies of its sums would take time.
    if len(parts) == 1:
        return parts[0]
    waves, harmonics, rounding = zip(*parts, strict=True)
    return np.concatenate(waves, axis=1), np.concatenate(harmonics), np.concatenate(rounding)


def _band_wave_sums(
    X: torch.Tensor,
    weighted: _Codes,
    frequencies: torch.Tensor,
    largest: torch.Tensor,
    precision: Precision,
) -> tuple[ComplexArray, ComplexArray, FloatArray]:
    """Return the same for one band of frequencies, given the magnitudes of the features."""
    is_fused = precision == "single" and X.is_cuda and has_triton()
    if is_fused:
        from pacfourier.tensors.triton.sums import fused_sums_and_sizes

        # For all frequencies, because reading the sizes first would make the host wait twice.
        waves, harmonics, sizes = fused_sums_and_sizes(X, weighted, frequencies, largest)
    else:
        sizes = phase_sizes(frequencies, largest)
        waves = np.empty((weighted.shape[1], len(sizes)), dtype=np.complex128)
        harmonics = np.empty(len(sizes), dtype=np.complex128)
    rounding = np.zeros(len(sizes))
    coarse = FACTOR_ROUNDING[product_precision(X.device)]
    for dtype, members in precision_groups(sizes, precision):
        chosen: Any = slice(None) if len(members) == len(sizes) else members
        if dtype == np.float32:
            rounding[chosen] = _device_rounding(sizes[chosen], X.shape[1], coarse)
        if dtype == np.float64 or not is_fused:
            waves[:, chosen], harmonics[chosen] = _blocked_wave_sums(
                X, weighted, frequencies[chosen], TYPES[dtype]
            )
    return waves, harmonics, rounding


def _device_rounding(sizes: FloatArray, n_features: int, coarse: float) -> FloatArray:
    """Return how far single precision on a device may move a mean of waves.

    How tensor cores round is not documented, so this is a model, tested on devices, and no proof as
    ``single_rounding`` is for arrays. The errors of a sum of products add up like a random walk.
    Settings such as TF32 round both factors of a phase by ``coarse``, and the cosines that meet the
    codes. The errors of cosines, and of their sums over a few rows, are below 3e-6.
    """
    walk = 3e-6 + (4 + np.sqrt(n_features)) * 2.0**-24 * sizes
    return np.asarray(walk + coarse * (1 + 4 * sizes))


def _blocked_wave_sums(
    X: torch.Tensor, weighted: _Codes, frequencies: torch.Tensor, dtype: torch.dtype
) -> tuple[ComplexArray, ComplexArray]:
    """Return the sums of u_i exp(i omega . x_i) and of exp(2 i omega . x_i)."""
    columns = frequencies.to(dtype).T
    waves = X.new_zeros((2, weighted.shape[1], len(frequencies)), dtype=torch.float64)
    harmonics = X.new_zeros((2, len(frequencies)), dtype=torch.float64)
    for rows in row_blocks(len(X), len(frequencies)):
        phases = X[rows].to(dtype) @ columns
        codes = _dense_codes(weighted, rows, X.device).double().T
        cosines, sines = phases.cos(), phases.sin()
        # All sums are in double precision. In single precision, many cosines just below one would
        # all be rounded to the same side.
        waves[0] += codes @ cosines.double()
        waves[1] += codes @ sines.double()
        harmonics[0] += cosines.square().sum(dim=0, dtype=torch.float64)
        harmonics[1] += (cosines * sines).sum(dim=0, dtype=torch.float64)
    real, imaginary = host(waves)
    squared_cosines, products = host(harmonics)
    return real + 1j * imaginary, double_angle_sums(squared_cosines, products, len(X))


def _dense_codes(codes: _Codes, rows: slice, device: torch.device) -> torch.Tensor:
    """Return the codes of some rows as a matrix on a device."""
    if isinstance(codes, ClassCodes):
        return codes.dense(rows)
    return torch.as_tensor(codes[rows].toarray(), device=device)
