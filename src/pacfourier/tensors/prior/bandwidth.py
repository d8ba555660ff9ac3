"""Moments of tensors, from which the bandwidth of a kernel is chosen."""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

from functools import reduce

import numpy as np
import torch

from pacfourier.arrays import FloatArray, host
from pacfourier.core.prior.bandwidth import merged_moments, scale_moments
from pacfourier.tensors.phases import row_blocks


@scale_moments.register(torch.Tensor)
def _tensor_scale_moments(X: torch.Tensor, sample_weight: FloatArray | None = None) -> FloatArray:
    """Return the weight of all values, their mean and their weighted squared deviations."""
    weights = np.ones(len(X)) if sample_weight is None else sample_weight
    blocks = (_block_moments(X[rows].double(), weights[rows]) for rows in row_blocks(*X.shape))
    return reduce(merged_moments, blocks)


def _block_moments(X: torch.Tensor, weights: FloatArray) -> FloatArray:
    weight = weights.sum() * X.shape[1]
    mean = weights @ host(X.sum(dim=1)) / weight
    squares = host((X - mean).square().sum(dim=1))
    return np.array([weight, mean, weights @ squares])
