"""The same computations on torch tensors, on the device where they are.

Imported when a tensor arrives, never before. The modules here register themselves with the
functions of the core that take samples; what is learned of the data (sums, losses, posteriors) is
small, and kept in NumPy as for any other fit. The same seed gives the same frequencies.
"""

from pacfourier.tensors import features
from pacfourier.tensors.alignment import gradients, summary, sums
from pacfourier.tensors.boosting import cosine_model
from pacfourier.tensors.features import tensor_kernel
from pacfourier.tensors.samples import (
    alike,
    beside,
    validated_labels,
    validated_samples,
    validated_tensor,
)
from pacfourier.tensors.selection import tensor_centroids, tensor_nearest

__all__ = [
    "alike",
    "beside",
    "cosine_model",
    "features",
    "gradients",
    "summary",
    "sums",
    "tensor_centroids",
    "tensor_kernel",
    "tensor_nearest",
    "validated_labels",
    "validated_samples",
    "validated_tensor",
]
