"""The feature map of tensors: cosines and sines of weighted frequencies."""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

import numpy as np
import torch

from pacfourier.arrays import FloatArray
from pacfourier.core.features import fourier_features
from pacfourier.tensors.phases import phase_blocks


@fourier_features.register(torch.Tensor)
def _tensor_features(X: torch.Tensor, frequencies: FloatArray, weights: FloatArray) -> torch.Tensor:
    """Return all cosines, then all sines, as a tensor on the device of X."""
    n_frequencies = len(frequencies)
    features = X.new_empty((len(X), 2 * n_frequencies))
    for members, rows, phases in phase_blocks(X, frequencies):
        amplitudes = torch.as_tensor(np.sqrt(weights[members]), device=X.device)
        columns = torch.as_tensor(members, device=X.device)
        block = features[rows]
        block[:, columns] = (amplitudes * phases.cos()).to(X.dtype)
        block[:, n_frequencies + columns] = (amplitudes * phases.sin()).to(X.dtype)
    return features
