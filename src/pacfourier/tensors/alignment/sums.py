"""The wave sums of tensors: a fused kernel on CUDA, blocked products elsewhere."""

import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import torch
from scipy import sparse

from pacfourier.arrays import ComplexArray, FloatArray
from pacfourier.core.alignment.sums import wave_sums
from pacfourier.core.phases import Precision, precision_groups, single_rounding
from pacfourier.core.prior.frequencies import FrequencyPool

# Numbers of a block of frequencies, and of a block of phases: 256 MB each in single precision.
LARGEST_BLOCK = 2**26
TYPES: dict[Any, torch.dtype] = {np.float32: torch.float32, np.float64: torch.float64}
# How far a product rounds its factors, by torch's settings: the newer names, and the older ones.
FACTOR_ROUNDING = {"ieee": 0.0, "none": 0.0, "tf32": 2.0**-11, "bf16": 2.0**-8}
OLDER_NAMES = {"highest": "ieee", "high": "tf32", "medium": "bf16"}


@wave_sums.register(torch.Tensor)
def tensor_wave_sums(
    X: torch.Tensor,
    weighted: sparse.csr_array,
    frequencies: FrequencyPool | FloatArray | torch.Tensor,
    precision: Precision,
) -> tuple[ComplexArray, ComplexArray, FloatArray]:
    """Return waves, harmonics and rounding; sums of blocks are added in double precision."""
    n_frequencies, n_features = frequencies.shape
    waves = np.empty((weighted.shape[1], n_frequencies), dtype=np.complex128)
    harmonics = np.empty(n_frequencies, dtype=np.complex128)
    rounding = np.zeros(n_frequencies)
    largest = magnitudes(X)
    coarse = FACTOR_ROUNDING[product_precision(X.device)]
    size = max(1, LARGEST_BLOCK // n_features)
    for start in range(0, n_frequencies, size):
        block = torch.as_tensor(frequencies[start : start + size], device=X.device)
        sizes = phase_sizes(block, largest)
        for dtype, members in precision_groups(sizes, precision):
            columns = start + members
            if dtype == np.float32:
                # Both factors of a phase, and the cosines that codes are multiplied with.
                coarser = coarse * (1 + 4 * sizes[members])
                rounding[columns] = single_rounding(sizes[members], n_features) + coarser
            chosen = block if len(members) == len(block) else block[torch.as_tensor(members)]
            add = wave_sums_of(X, TYPES[dtype])
            waves[:, columns], harmonics[columns] = add(X, weighted, chosen, TYPES[dtype])
    return waves, harmonics, rounding


def magnitudes(X: torch.Tensor) -> torch.Tensor:
    """Return the largest absolute value of each feature, without a copy of X."""
    return torch.maximum(X.amax(dim=0), -X.amin(dim=0))


def product_precision(device: torch.device) -> str:
    """Return how torch was told to round the factors of products in single precision."""
    try:
        return OLDER_NAMES[torch.get_float32_matmul_precision()]
    except RuntimeError:
        # Told by the newer names, which the older function refuses to read.
        backend = torch.backends.cuda if device.type == "cuda" else torch.backends.mkldnn
        return str(backend.matmul.fp32_precision)


def phase_sizes(frequencies: torch.Tensor, magnitudes: torch.Tensor) -> FloatArray:
    """Return the root of the summed squares of the largest terms of each phase."""
    terms = frequencies.double() * magnitudes.double()
    return np.asarray(torch.linalg.vector_norm(terms, dim=1).cpu())


def wave_sums_of(X: torch.Tensor, dtype: torch.dtype) -> Any:
    """Return the function that adds up waves of these samples in this precision."""
    if X.is_cuda and dtype == torch.float32 and has_triton():
        from pacfourier.tensors.triton.halves import fused_wave_sums

        return fused_wave_sums
    return blocked_wave_sums


@cache
def has_triton() -> bool:
    """Return whether the fused kernel can run; say so once if it cannot."""
    try:
        import triton  # noqa: F401
    except ImportError:
        message = "triton is not installed: sums on CUDA take blocked products, about half as fast."
        warnings.warn(message, RuntimeWarning, stacklevel=2)
        return False
    return True


def blocked_wave_sums(
    X: torch.Tensor, weighted: sparse.csr_array, frequencies: torch.Tensor, dtype: torch.dtype
) -> tuple[ComplexArray, ComplexArray]:
    """Return the sums of u_i exp(i omega . x_i) and of exp(2 i omega . x_i)."""
    columns = frequencies.to(dtype).T
    waves = X.new_zeros((2, weighted.shape[1], len(frequencies)), dtype=torch.float64)
    harmonics = X.new_zeros((2, len(frequencies)), dtype=torch.float64)
    for rows in row_blocks(len(X), len(frequencies)):
        phases = X[rows].to(dtype) @ columns
        codes = torch.as_tensor(weighted[rows].toarray().T, dtype=dtype, device=X.device)
        cosines, sines = phases.cos(), phases.sin()
        waves[0] += codes @ cosines
        waves[1] += codes @ sines
        # cos 2a = 2 cos^2 a - 1 and sin 2a = 2 cos a sin a.
        harmonics[0] += (2 * cosines.square() - 1).sum(dim=0)
        harmonics[1] += (2 * cosines * sines).sum(dim=0)
    return _complex(waves), _complex(harmonics)


def row_blocks(n_samples: int, n_frequencies: int) -> Iterator[slice]:
    """Cut the rows into blocks whose phases are of bounded size."""
    size = max(1, min(4096, LARGEST_BLOCK // n_frequencies))
    for start in range(0, n_samples, size):
        yield slice(start, min(start + size, n_samples))


def _complex(parts: torch.Tensor) -> ComplexArray:
    real, imaginary = np.asarray(parts.cpu())
    return real + 1j * imaginary
