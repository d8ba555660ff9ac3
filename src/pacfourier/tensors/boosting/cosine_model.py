"""The loss and gradient of the cosine model on tensors."""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

import numpy as np
import torch

from pacfourier.arrays import FloatArray, host
from pacfourier.core.boosting.cosine_model import (
    CosineModel,
    Losses,
    gradient_sums,
    model_scores,
)
from pacfourier.tensors.phases import row_blocks


@gradient_sums.register(torch.Tensor)
def tensor_gradient_sums(
    X: torch.Tensor,
    model: CosineModel,
    labels: FloatArray,
    losses: Losses,
    sample_weight: FloatArray,
    residuals: FloatArray,
) -> tuple[float, CosineModel]:
    """Return the loss and the gradient of all rows, and write the residuals in place.

    The scores are few, so they move to the host, where ``losses`` can be any NumPy function.
    """
    parts = tensor_parts(model, X)
    frequencies, cosine_weights, sine_weights, slopes, _ = parts
    loss, gradient = 0.0, model.zeros()
    for rows in row_blocks(len(X), max(len(frequencies), 1)):
        cosines, sines, scores = waves_and_scores(X[rows], parts)
        values, residuals[rows] = losses(host(scores), labels[rows])
        weights = sample_weight[rows, np.newaxis]
        loss += float((values * weights).sum())
        pull = torch.as_tensor(residuals[rows] * weights, dtype=X.dtype, device=X.device)
        turning = (pull @ cosine_weights.T) * sines - (pull @ sine_weights.T) * cosines
        slopes_part = X[rows].T @ pull if len(slopes) else slopes
        moved = -(turning.T @ X[rows][:, : frequencies.shape[1]])
        found = (moved, cosines.T @ pull, sines.T @ pull, slopes_part, pull.sum(dim=0))
        for total, part in zip(gradient, found, strict=True):
            total -= host(part)
    return loss, gradient


def tensor_parts(model: CosineModel, X: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return the parameters of a model in the precision and on the device of X."""
    return tuple(torch.as_tensor(part, dtype=X.dtype, device=X.device) for part in model)


def waves_and_scores(
    X: torch.Tensor, parts: tuple[torch.Tensor, ...]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return cosines, sines and scores of some rows."""
    frequencies, cosine_weights, sine_weights, slopes, intercepts = parts
    phases = X[:, : frequencies.shape[1]] @ frequencies.T
    cosines, sines = phases.cos(), phases.sin()
    scores = cosines @ cosine_weights + sines @ sine_weights + intercepts
    return cosines, sines, scores + X @ slopes if len(slopes) else scores


@model_scores.register(torch.Tensor)
def tensor_model_scores(X: torch.Tensor, model: CosineModel) -> torch.Tensor:
    """Return the outputs of the model for each row, on the device of X."""
    parts = tensor_parts(model, X)
    blocks = row_blocks(len(X), max(len(model.frequencies), 1))
    scores = [waves_and_scores(X[rows], parts)[2] for rows in blocks]
    return torch.cat(scores) if scores else X.new_empty((0, len(model.intercepts)))
