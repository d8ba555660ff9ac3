"""Similarities of tensors to landmarks."""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

import numpy as np
import torch

from pacfourier.arrays import FloatArray
from pacfourier.core.alignment.landmarks import landmark_similarities, landmarks_per_band
from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.tensors.phases import phase_blocks


@landmark_similarities.register(torch.Tensor)
def _tensor_similarities(
    X: torch.Tensor, pool: FrequencyPool, phases: FloatArray, posteriors: FloatArray
) -> torch.Tensor:
    """Return maps of shape (n_maps, n_samples, n_landmarks) as a tensor on the device of X."""
    n_landmarks, n_frequencies = phases.shape
    similarities = X.new_zeros((len(posteriors), len(X), n_landmarks))
    size = landmarks_per_band(n_frequencies, X.shape[1])
    for start in range(0, n_landmarks, size):
        block = slice(start, min(start + size, n_landmarks))
        frequencies = pool[start * n_frequencies : block.stop * n_frequencies]
        offsets = phases[block].ravel()
        # A frequency has weight zero for every landmark but its own. The weights of a block
        # have shape (n_maps, n_frequencies_of_block, n_landmarks_of_block).
        owners = np.repeat(np.eye(block.stop - start), n_frequencies, axis=0)
        own = posteriors[:, block].reshape(len(posteriors), -1, 1) * owners
        for members, rows, turned in phase_blocks(X, frequencies):
            angles = turned - torch.as_tensor(offsets[members], device=X.device)
            weights = torch.as_tensor(own[:, members], dtype=X.dtype, device=X.device)
            similarities[:, rows, block] += angles.cos().to(X.dtype) @ weights
    return similarities
