"""Array types shared by the core."""

import sys
from functools import singledispatch
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

FloatArray: TypeAlias = NDArray[np.floating[Any]]
ComplexArray: TypeAlias = NDArray[np.complex128]
IntArray: TypeAlias = NDArray[np.intp]
Samples: TypeAlias = FloatArray | sparse.csr_array | sparse.csr_matrix


def is_tensor(X: Any) -> bool:
    """Return whether X is a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)


@singledispatch
def matching(X: Any, values: NDArray[Any]) -> Any:
    """Return values as an array of the kind, type and device of X."""
    return values.astype(X.dtype)


@singledispatch
def host(X: Any) -> Any:
    """Return X where NumPy can read it."""
    return X
