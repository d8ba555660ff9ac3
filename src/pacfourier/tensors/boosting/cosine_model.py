"""The loss and gradient of the cosine model on tensors, computed on their device."""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from pacfourier.arrays import FloatArray, host
from pacfourier.core.boosting.cosine_model import (
    CosineModel,
    Losses,
    PackedObjective,
    PenalisedLoss,
    gradient_sums,
    model_scores,
    packed_objective,
)
from pacfourier.tensors.phases import row_blocks

# More rows than for sums, because every operation on a block has to be launched: with 500
# frequencies, the cosines of a block take 64 MB.
MOST_ROWS, SMALLER_BLOCK = 2**16, 4


class TensorParts(NamedTuple):
    """The parameters of a ``CosineModel`` as tensors."""

    frequencies: torch.Tensor
    cosines: torch.Tensor
    sines: torch.Tensor
    linear: torch.Tensor
    intercepts: torch.Tensor

    def to(self, dtype: torch.dtype) -> "TensorParts":
        """Return the parameters in another precision."""
        return TensorParts(*(part.to(dtype) for part in self))

    def packed(self) -> torch.Tensor:
        """Return all parameters as one vector."""
        return torch.cat([part.flatten() for part in self])

    def unpacked(self, vector: torch.Tensor) -> "TensorParts":
        """Return parameters of the same shapes that are views of one vector."""
        pieces = vector.split([part.numel() for part in self])
        return TensorParts(*(new.view_as(old) for new, old in zip(pieces, self, strict=True)))


def _tensor_parts(model: CosineModel, X: torch.Tensor) -> TensorParts:
    """Return the parameters of a model in the precision and on the device of X."""
    return TensorParts(*(torch.as_tensor(part, dtype=X.dtype, device=X.device) for part in model))


class _BlockGradient(NamedTuple):
    """What some rows add to the loss and the gradient, and their residuals."""

    loss: torch.Tensor
    gradient: TensorParts
    residuals: torch.Tensor


def block_gradient(
    X: torch.Tensor,
    parts: TensorParts,
    labels: torch.Tensor,
    losses: Losses,
    sample_weight: torch.Tensor,
) -> _BlockGradient:
    """Return the loss and gradient of some rows, with all work queued on the device."""
    frequencies, cosine_weights, sine_weights, slopes, _ = parts
    cosines, sines, scores = _waves_and_scores(X, parts)
    found: Any = losses(scores, labels)  # type: ignore[arg-type]
    values, residuals = found
    weights = sample_weight[:, None]
    # The sign goes into the scores' derivative, because each part of the gradient has many numbers.
    push = (residuals * -weights).to(X.dtype)
    turning = (push @ sine_weights.T) * cosines - (push @ cosine_weights.T) * sines
    gradient = TensorParts(
        turning.T @ X[:, : frequencies.shape[1]],
        cosines.T @ push,
        sines.T @ push,
        X.T @ push if len(slopes) else slopes,
        push.sum(dim=0),
    )
    return _BlockGradient((values * weights).sum(), gradient, residuals)


def _blocks_of(X: torch.Tensor, n_frequencies: int) -> Iterator[slice]:
    """Cut rows into blocks whose cosines take a bounded amount of memory."""
    yield from row_blocks(len(X), SMALLER_BLOCK * max(n_frequencies, 1), MOST_ROWS)


@gradient_sums.register(torch.Tensor)
def _tensor_gradient_sums(
    X: torch.Tensor,
    model: CosineModel,
    labels: FloatArray,
    losses: Losses,
    sample_weight: FloatArray,
    residuals: FloatArray,
) -> tuple[float, CosineModel]:
    """Return the loss and the gradient of all rows, and write the residuals in place."""
    parts = _tensor_parts(model, X)
    labels_there, weights = (
        torch.as_tensor(each, device=X.device) for each in (labels, sample_weight)
    )
    loss, gradient = 0.0, model.zeros()
    for rows in _blocks_of(X, len(model.frequencies)):
        found = block_gradient(X[rows], parts, labels_there[rows], losses, weights[rows])
        loss += float(found.loss)
        residuals[rows] = host(found.residuals)
        for total, part in zip(gradient, found.gradient, strict=True):
            total += host(part)
    return loss, gradient


@packed_objective.register(torch.Tensor)
def _tensor_packed_objective(
    X: torch.Tensor, model: CosineModel, loss: PenalisedLoss
) -> PackedObjective:
    """Return the penalised loss and its gradient, of which only the parameters travel."""
    labels, weights = (
        torch.as_tensor(each, device=X.device) for each in (loss.labels, loss.sample_weight)
    )
    start = TensorParts(*(torch.as_tensor(part, device=X.device).double() for part in model))

    def objective(vector: FloatArray) -> tuple[float, FloatArray]:
        there = torch.as_tensor(vector, device=X.device)
        exact = start.unpacked(there)
        parts, value = exact.to(X.dtype), there.new_zeros(())
        gradient = torch.zeros_like(there)
        for rows in _blocks_of(X, len(parts.frequencies)):
            found = block_gradient(X[rows], parts, labels[rows], loss.losses, weights[rows])
            value = value + found.loss
            gradient += found.gradient.packed()
        slopes = start.unpacked(gradient)
        factors = loss.penalties.by_part()
        for factor, part, slope in zip(factors, exact[:4], slopes[:4], strict=True):
            value = value + factor / 2 * part.square().sum()
            slope.add_(part, alpha=factor)
        return float(value), np.asarray(host(gradient))

    return objective


def _waves_and_scores(
    X: torch.Tensor, parts: TensorParts
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return cosines, sines and scores of some rows."""
    frequencies, cosine_weights, sine_weights, slopes, intercepts = parts
    phases = X[:, : frequencies.shape[1]] @ frequencies.T
    cosines, sines = phases.cos(), phases.sin()
    scores = torch.addmm(intercepts, cosines, cosine_weights) + sines @ sine_weights
    return cosines, sines, scores + X @ slopes if len(slopes) else scores


@model_scores.register(torch.Tensor)
def _tensor_model_scores(X: torch.Tensor, model: CosineModel) -> torch.Tensor:
    """Return the outputs of the model for each row, on the device of X."""
    parts = _tensor_parts(model, X)
    blocks = row_blocks(len(X), max(len(model.frequencies), 1))
    scores = [_waves_and_scores(X[rows], parts)[2] for rows in blocks]
    return torch.cat(scores) if scores else X.new_empty((0, len(model.intercepts)))
