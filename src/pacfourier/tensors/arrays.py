"""Move numbers between tensors and NumPy arrays."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pacfourier.arrays import beside, host, matching


@host.register(torch.Tensor)
def _tensor_host(X: torch.Tensor) -> NDArray[Any]:
    """Return the values of a tensor as a NumPy array; a CPU tensor is not copied."""
    if X.device.type == "meta":
        raise ValueError("tensors must have data, got device 'meta'.")
    # NumPy has no bfloat16, but float32 represents all its values exactly.
    X = X.float() if X.dtype == torch.bfloat16 else X
    if X.is_cuda:
        # A copy to memory that is not pinned holds a lock of the driver while it waits for work of
        # the device, and copies that other threads start would wait with it.
        torch.cuda.current_stream(X.device).synchronize()
    return np.asarray(X.detach().cpu())


def queued(values: NDArray[Any], device: torch.device) -> torch.Tensor:
    """Return a small new array as a tensor. The host does not wait for work of the device."""
    return torch.from_numpy(values).to(device, non_blocking=True)


@beside.register(torch.Tensor)
@matching.register(torch.Tensor)
def _tensor_matching(X: torch.Tensor, values: NDArray[Any]) -> torch.Tensor:
    """Return values as a tensor of the type of X, on the device of X."""
    # The host does not wait for the copy.
    return torch.as_tensor(values, dtype=X.dtype).to(X.device, non_blocking=True)
