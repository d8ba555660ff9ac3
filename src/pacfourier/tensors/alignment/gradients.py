"""Losses and gradients of frequencies for tensors.

Two Triton kernels compute them on CUDA in single precision, blocked matrix products elsewhere.
"""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy import sparse

from pacfourier.arrays import FloatArray, host
from pacfourier.core.alignment.gradients import (
    AlignmentObjective,
    kept_bands,
    losses_and_gradients,
    prepared,
)
from pacfourier.core.precision import Precision
from pacfourier.tensors.phases import TYPES, frequency_bands, row_blocks
from pacfourier.tensors.triton import has_triton

if TYPE_CHECKING:
    from pacfourier.tensors.triton.gradients import SortedSamples


@prepared.register(torch.Tensor)
def _tensor_prepared(
    X: torch.Tensor, weighted: sparse.csr_array, precision: Precision
) -> "tuple[torch.Tensor | SortedSamples, torch.Tensor]":
    """Return the samples, sorted if the kernels will read them, and the codes as a dense tensor."""
    codes = torch.as_tensor(weighted.toarray(), device=X.device)
    if X.is_cuda and precision == "single" and has_triton():
        from pacfourier.tensors.triton.gradients import sorted_samples

        return sorted_samples(X, weighted), codes
    return X, codes


@kept_bands.register(torch.Tensor)
def _tensor_kept_bands(X: torch.Tensor, n_frequencies: int) -> Iterator[slice]:
    """Cut frequencies into bands whose phases are kept for all samples, in bounded memory."""
    yield from frequency_bands(n_frequencies, len(X))


@losses_and_gradients.register(torch.Tensor)
def _tensor_losses_and_gradients(
    X: torch.Tensor, objective: AlignmentObjective, frequencies: FloatArray, dtype: type[Any]
) -> tuple[FloatArray, FloatArray]:
    """Return the losses and gradients of a few frequencies: two products with the data."""
    kind = TYPES[dtype]
    columns = torch.as_tensor(frequencies, dtype=kind, device=X.device).T
    codes: Any = objective.codes
    # The objective is typed for arrays, but computes with tensors alike.
    waves: Any = X.new_zeros((2, codes.shape[1], len(frequencies)), dtype=torch.float64)
    phases = X.new_empty((len(X), len(frequencies)), dtype=kind)
    for rows in row_blocks(len(X), len(frequencies)):
        torch.matmul(X[rows].to(kind), columns, out=phases[rows])
        weights = codes[rows].to(kind).T
        waves += torch.stack([weights @ phases[rows].cos(), weights @ phases[rows].sin()])
    losses, tilts = objective.losses_and_tilts(waves)
    real, imaginary = torch.as_tensor(tilts).to(kind)
    gradients = X.new_zeros(frequencies.shape, dtype=torch.float64)
    for rows in row_blocks(len(X), len(frequencies)):
        weights = codes[rows].to(kind)
        slopes = (weights @ imaginary) * phases[rows].cos() - (weights @ real) * phases[rows].sin()
        gradients -= slopes.T @ X[rows].to(kind)
    return host(losses), np.asarray(host(gradients))
