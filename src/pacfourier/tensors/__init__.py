"""The same computations on torch tensors, on the device where they are.

Imported when a tensor arrives, never before. The modules here register themselves with the
functions of the core that take samples; what is learned of the data (sums, losses, posteriors) is
small, and kept in NumPy as for any other fit. The same seed gives the same frequencies.
"""

from pacfourier.tensors import boosting, gradients, maps, summary, sums
from pacfourier.tensors.clusters import tensor_centroids, tensor_nearest
from pacfourier.tensors.maps import tensor_kernel
from pacfourier.tensors.validation import (
    alike,
    beside,
    validated_labels,
    validated_samples,
    validated_tensor,
)

__all__ = [
    "alike",
    "beside",
    "boosting",
    "gradients",
    "maps",
    "summary",
    "sums",
    "tensor_centroids",
    "tensor_kernel",
    "tensor_nearest",
    "validated_labels",
    "validated_samples",
    "validated_tensor",
]
