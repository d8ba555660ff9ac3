"""Losses and gradients of frequencies, for tensors."""

from typing import Any

import numpy as np
import torch
from scipy import sparse

from pacfourier.core.arrays import FloatArray, host
from pacfourier.core.gradients import AlignmentObjective, losses_and_gradients, prepared
from pacfourier.core.phases import Precision
from pacfourier.tensors.sums import TYPES, row_blocks


@prepared.register(torch.Tensor)
def tensor_prepared(
    X: torch.Tensor, weighted: sparse.csr_array, precision: Precision
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the samples as they are, and dense codes in double precision beside them."""
    del precision  # Blocks are cast when their turn comes.
    return X, torch.as_tensor(weighted.toarray(), device=X.device)


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
    losses, tilts = objective.losses_and_tilts(host(waves))
    real, imaginary = torch.as_tensor(tilts, dtype=kind, device=X.device)
    gradients = X.new_zeros(frequencies.shape, dtype=torch.float64)
    for rows in row_blocks(len(X), len(frequencies)):
        weights = codes[rows].to(kind)
        slopes = (weights @ imaginary) * phases[rows].cos() - (weights @ real) * phases[rows].sin()
        gradients -= slopes.T @ X[rows].to(kind)
    return losses, np.asarray(host(gradients))
