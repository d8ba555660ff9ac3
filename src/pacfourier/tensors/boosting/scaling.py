"""Columns of unit standard deviation, for tensors."""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

from typing import Any

import torch

from pacfourier.arrays import FloatArray, host
from pacfourier.core.boosting.scaling import column_moments, column_scales, scaled_columns
from pacfourier.tensors.phases import TYPES, row_blocks


@scaled_columns.register(torch.Tensor)
def _tensor_scaled_columns(
    X: torch.Tensor, copies: FloatArray, dtype: type[Any]
) -> tuple[torch.Tensor, FloatArray]:
    """Return samples whose columns have standard deviation one, and the original deviations."""
    means, variances = _tensor_column_moments(X, copies)
    scales = column_scales(means, variances, len(X))
    centre, units = (torch.as_tensor(values, device=X.device) for values in (means, scales))
    scaled = X.new_empty(X.shape, dtype=TYPES[dtype])
    for rows in row_blocks(*X.shape):
        scaled[rows] = (X[rows].double() - centre) / units
    return scaled, scales


@column_moments.register(torch.Tensor)
def _tensor_column_moments(X: torch.Tensor, copies: FloatArray) -> tuple[FloatArray, FloatArray]:
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
