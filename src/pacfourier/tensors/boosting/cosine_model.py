"""What moving frequencies need of tensors: scaled columns, and gradients of the model."""

from typing import Any

import numpy as np
import torch

from pacfourier.arrays import FloatArray, host
from pacfourier.core.boosting.cosine_model import CosineModel, Losses, gradient_sums
from pacfourier.core.boosting.scaling import column_moments, column_scales, scaled_columns
from pacfourier.tensors.alignment.sums import TYPES, row_blocks


@scaled_columns.register(torch.Tensor)
def tensor_scaled_columns(
    X: torch.Tensor, copies: FloatArray, dtype: type[Any]
) -> tuple[torch.Tensor, FloatArray]:
    """Return samples with columns of deviation one, and the deviations."""
    means, variances = column_moments(X, copies)
    scales = column_scales(means, variances, len(X))
    centre, units = (torch.as_tensor(values, device=X.device) for values in (means, scales))
    scaled = X.new_empty(X.shape, dtype=TYPES[dtype])
    for rows in row_blocks(*X.shape):
        scaled[rows] = (X[rows].double() - centre) / units
    return scaled, scales


@column_moments.register(torch.Tensor)
def tensor_column_moments(X: torch.Tensor, copies: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the means and variances of the columns, in double precision."""
    weights = torch.as_tensor(copies, device=X.device)
    weights = weights / weights.sum()
    means = X.new_zeros(X.shape[1], dtype=torch.float64)
    variances = torch.zeros_like(means)
    for rows in row_blocks(*X.shape):
        means += weights[rows] @ X[rows].double()
    for rows in row_blocks(*X.shape):
        variances += weights[rows] @ (X[rows].double() - means).square()
    return host(means), host(variances)


@gradient_sums.register(torch.Tensor)
def tensor_gradient_sums(
    X: torch.Tensor,
    model: CosineModel,
    labels: FloatArray,
    losses: Losses,
    sample_weight: FloatArray,
    residuals: FloatArray,
) -> tuple[float, CosineModel]:
    """Return the loss and gradient of all rows, and write their residuals.

    Losses of scores are taken on the host: they are small, and any function will do.
    """
    frequencies, cosine_weights, sine_weights, intercepts = (
        torch.as_tensor(part, dtype=X.dtype, device=X.device) for part in model
    )
    loss, gradient = 0.0, model.zeros()
    for rows in row_blocks(len(X), max(len(frequencies), 1)):
        phases = X[rows] @ frequencies.T
        cosines, sines = phases.cos(), phases.sin()
        scores = cosines @ cosine_weights + sines @ sine_weights + intercepts
        values, residuals[rows] = losses(host(scores), labels[rows])
        weights = sample_weight[rows, np.newaxis]
        loss += float((values * weights).sum())
        pull = torch.as_tensor(residuals[rows] * weights, dtype=X.dtype, device=X.device)
        turning = (pull @ cosine_weights.T) * sines - (pull @ sine_weights.T) * cosines
        parts = (-(turning.T @ X[rows]), cosines.T @ pull, sines.T @ pull, pull.sum(dim=0))
        for total, part in zip(gradient, parts, strict=True):
            total -= host(part)
    return loss, gradient
