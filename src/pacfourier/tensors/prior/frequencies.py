"""Candidate frequencies made on the device of the samples, with the same bits as on the host."""

import numpy as np
import torch

from pacfourier.arrays import FloatArray
from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.tensors.arrays import queued
from pacfourier.tensors.normals import plain_normals
from pacfourier.tensors.triton import has_triton


def placed_frequencies(
    frequencies: FrequencyPool | FloatArray | torch.Tensor, rows: slice, device: torch.device
) -> torch.Tensor:
    """Return some rows of a pool or matrix as a tensor on a device.

    Independent candidates are made there. Other pools are made on the host and copied.
    """
    if not isinstance(frequencies, FrequencyPool):
        return torch.as_tensor(frequencies[rows], device=device)
    first, stop, _ = rows.indices(len(frequencies))
    scales = queued(frequencies.scales(np.arange(first, stop)), device)
    if device.type == "cuda" and has_triton():
        from pacfourier.tensors.triton.candidates import scaled_normals

        with torch.cuda.device(device):
            return scaled_normals(scales, frequencies.seed, first, frequencies.n_features)
    return scales * plain_normals(frequencies.seed, first, stop, frequencies.n_features, device)
