"""The functions that the losses of predictors need, for tensors."""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

import torch

from pacfourier.core.boosting.objectives import log_softmax, sigmoid


@log_softmax.register(torch.Tensor)
def _tensor_log_softmax(scores: torch.Tensor) -> torch.Tensor:
    """Return the logarithms of the softmax of each row."""
    return torch.log_softmax(scores, dim=1)


@sigmoid.register(torch.Tensor)
def _tensor_sigmoid(scores: torch.Tensor) -> torch.Tensor:
    """Return 1 / (1 + exp(-f))."""
    return torch.sigmoid(scores)
