"""Phases of tensors against frequencies, block by block, in a sufficient precision."""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from pacfourier.arrays import FloatArray, IntArray, host
from pacfourier.core.precision import largest_magnitudes, precision_groups, precision_of

# The most numbers in a band of frequencies or a block of phases: 256 MB each in single precision.
_LARGEST_BLOCK = 2**26
_LARGEST_ROW_BLOCK = 4096
TYPES: dict[Any, torch.dtype] = {np.float32: torch.float32, np.float64: torch.float64}
# The relative rounding of the factors of a matrix product, for each setting of torch.
FACTOR_ROUNDING = {"ieee": 0.0, "none": 0.0, "tf32": 2.0**-11, "bf16": 2.0**-8}
# The settings of torch's older interface, by their names in the newer one.
_OLDER_NAMES = {"highest": "ieee", "high": "tf32", "medium": "bf16"}


def product_precision(device: torch.device) -> str:
    """Return how torch rounds the factors of products in single precision, a user's setting."""
    try:
        return _OLDER_NAMES[torch.get_float32_matmul_precision()]
    except RuntimeError:
        # Once the newer interface has been used, torch refuses to answer through the older one.
        backend: Any = torch.backends.cuda if device.type == "cuda" else torch.backends.mkldnn
        return str(backend.matmul.fp32_precision)


def row_blocks(
    n_samples: int, n_frequencies: int, most: int = _LARGEST_ROW_BLOCK
) -> Iterator[slice]:
    """Cut the rows into blocks of at most ``most`` rows, whose phases take bounded memory."""
    yield from _slices(n_samples, min(most, _LARGEST_BLOCK // n_frequencies))


def frequency_bands(n_frequencies: int, length: int) -> Iterator[slice]:
    """Cut frequencies into bands of bounded memory, given how many numbers each one needs."""
    yield from _slices(n_frequencies, _LARGEST_BLOCK // length)


def _slices(total: int, size: int) -> Iterator[slice]:
    size = max(1, size)
    for start in range(0, total, size):
        yield slice(start, min(start + size, total))


@largest_magnitudes.register(torch.Tensor)
def _tensor_largest_magnitudes(X: torch.Tensor) -> FloatArray:
    """Return the largest absolute value of each feature as an array of shape (n_features,)."""
    return np.asarray(host(magnitudes(X).double()))


def magnitudes(X: torch.Tensor) -> torch.Tensor:
    """Return the largest absolute value of each feature as a tensor, without a copy of X."""
    lowest, highest = torch.aminmax(X, dim=0)
    return torch.maximum(highest, -lowest)


def phase_sizes(frequencies: torch.Tensor, magnitudes: torch.Tensor) -> FloatArray:
    """Return the root of the summed squares of the largest terms of each phase."""
    terms = frequencies.double() * magnitudes.double()
    return np.asarray(host(torch.linalg.vector_norm(terms, dim=1)))


def phase_blocks(
    X: torch.Tensor, frequencies: FloatArray
) -> Iterator[tuple[IntArray, slice, torch.Tensor]]:
    """Yield indices of frequencies, a block of rows and their phases in sufficient precision."""
    table = torch.tensor(frequencies, device=X.device)
    sizes = phase_sizes(table, magnitudes(X))
    samples: Any = X
    for dtype, members in precision_groups(sizes, precision_of(samples)):
        columns = table[torch.as_tensor(members, device=X.device)].to(TYPES[dtype]).T
        for rows in row_blocks(len(X), len(members)):
            yield members, rows, X[rows].to(TYPES[dtype]) @ columns
