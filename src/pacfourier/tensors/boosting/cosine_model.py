"""The loss and gradient of the cosine model on tensors."""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

import numpy as np
import torch

from pacfourier.arrays import FloatArray, host
from pacfourier.core.boosting.cosine_model import CosineModel, Losses, gradient_sums
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
