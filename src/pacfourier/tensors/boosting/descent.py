"""Passes of stochastic descent whose vectors stay on the device of the samples."""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

from typing import Any

import numpy as np
import torch

from pacfourier.arrays import IntArray, host
from pacfourier.core.boosting.descent import (
    FIRST_MEMORY,
    SECOND_MEMORY,
    Descent,
    Labelled,
    passed_over,
)
from pacfourier.tensors.boosting.cosine_model import block_gradient, tensor_parts


@passed_over.register(torch.Tensor)
def tensor_pass(
    X: torch.Tensor,
    descent: Descent,
    rows: Labelled,
    order: IntArray,
    batch_size: int,
    rates: Any,
) -> float:
    """Make one step per mini-batch, and return the mean loss. Parameters move to X and back."""
    labels, weights, places = (
        torch.as_tensor(each, device=X.device) for each in (rows.labels, rows.weights, order)
    )
    shapes = tensor_parts(descent.seen(), X)
    states = [
        torch.as_tensor(each.packed(), device=X.device)
        for each in (descent.model, descent.first, descent.second)
    ]
    vector, first, second = states
    parts = shapes.unpacked(vector)
    sizes = torch.tensor([part.numel() for part in parts], device=X.device)
    decays, factors = (
        torch.tensor(each, device=X.device).repeat_interleave(sizes)
        for each in (descent.decays.by_part(), (*descent.penalties.by_part(), 0.0))
    )
    total = vector.new_zeros(())
    for chosen in places.split(batch_size):
        shares = weights[chosen] / len(chosen)
        found = block_gradient(X[chosen], parts, labels[chosen], descent.losses, shares)
        slope, rate = found.gradient.packed().addcmul_(factors, vector), rates(descent.step)
        descent.step += 1
        first.mul_(FIRST_MEMORY).add_(slope, alpha=1 - FIRST_MEMORY)
        second.mul_(SECOND_MEMORY).addcmul_(slope, slope, value=1 - SECOND_MEMORY)
        size = (second / (1 - SECOND_MEMORY**descent.step)).sqrt_().add_(1e-8)
        vector.sub_(vector * decays, alpha=rate)
        vector.addcdiv_(first, size, value=-rate / (1 - FIRST_MEMORY**descent.step))
        total += found.loss * len(chosen)
    models = (descent.model, descent.first, descent.second)
    for model, state in zip(models, states, strict=True):
        for part, new in zip(model, model.unpacked(np.asarray(host(state))), strict=True):
            part[...] = new
    return float(total) / len(order)
