"""The alignment losses of given frequencies on the device of the samples."""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

from typing import Any

import torch

from pacfourier.arrays import FloatArray
from pacfourier.core.alignment.sums import sample_losses, summed_losses
from pacfourier.core.alignment.targets import Target, encoded
from pacfourier.tensors.alignment.labels import ClassLabels
from pacfourier.tensors.codes import ClassCodes
from pacfourier.tensors.phases import frequency_bands
from pacfourier.tensors.triton import has_triton


@sample_losses.register(torch.Tensor)
def _tensor_losses(
    X: torch.Tensor,
    y: Any,
    target: Target,
    frequencies: torch.Tensor,
    sample_weight: FloatArray | None,
) -> Any:
    """Return the losses. Those of classes come from sums that never leave a CUDA device."""
    if X.is_cuda and X.dtype == torch.float32 and has_triton():
        found = _class_losses(X, y, target, frequencies)
        if found is not None:
            return found
    samples: Any = X
    return summed_losses(samples, y, target, frequencies, sample_weight)  # type: ignore[arg-type]


def _class_losses(
    X: torch.Tensor, y: Any, target: Target, frequencies: torch.Tensor
) -> torch.Tensor | None:
    """Return the losses of classes. None for other labels, and for several bands of frequencies."""
    from pacfourier.tensors.triton.sums import fused_losses

    if not isinstance(y, ClassLabels) or len(list(frequency_bands(*frequencies.shape))) > 1:
        return None
    codes = encoded(y, target)
    if not isinstance(codes, ClassCodes):
        return None
    return fused_losses(X, codes, target.agreement(codes.totals), frequencies)
