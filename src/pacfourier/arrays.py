"""Array types, and a decorator for functions with one implementation per kind of array.

The library computes with NumPy arrays and SciPy CSR matrices. A function decorated with
``by_kind`` can have another implementation for another kind of array. ``pacfourier.tensors``
registers those for torch tensors. It is loaded when the first tensor arrives, so the package does
not import torch for users who have none.
"""

import sys
from abc import ABC
from collections.abc import Callable
from functools import singledispatch
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacfourier.tensor_loading import tensor_loaders

FloatArray: TypeAlias = NDArray[np.floating[Any]]
ComplexArray: TypeAlias = NDArray[np.complex128]
IntArray: TypeAlias = NDArray[np.intp]
Samples: TypeAlias = FloatArray | sparse.csr_array | sparse.csr_matrix


def is_tensor(X: Any) -> bool:
    """Return whether X is a torch tensor, without importing torch."""
    return isinstance(X, _TensorLike)


class _TensorLike(ABC):  # noqa: B024
    """Any torch tensor; torch is not imported to find out."""

    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        torch = sys.modules.get("torch")
        return torch is not None and issubclass(other, torch.Tensor)


def by_kind(function: Callable[..., Any]) -> Any:
    """Choose the implementation of a function by the kind of its first argument.

    This is ``functools.singledispatch``, except that the first tensor loads the implementations
    for tensors. Other kinds of arrays add theirs with ``register``.
    """
    dispatcher = singledispatch(function)

    @dispatcher.register(_TensorLike)
    def load_and_call(X: Any, *args: Any, **kwargs: Any) -> Any:
        for load in tensor_loaders:
            load()
        registered = dispatcher.dispatch(type(X))
        if registered is load_and_call:
            raise TypeError(f"{function.__name__} does not take tensors.")
        return registered(X, *args, **kwargs)

    return dispatcher


def namespace(X: Any) -> Any:
    """Return the module whose ``exp``, ``sqrt`` and ``where`` take X: torch for tensors, or NumPy.

    Examples
    --------
    >>> namespace(np.ones(2)).__name__
    'numpy'
    """
    return sys.modules["torch"] if is_tensor(X) else np


@by_kind
def host(X: Any) -> Any:
    """Return X in the memory of the CPU, where NumPy can read it."""
    return X


@by_kind
def matching(X: Any, values: NDArray[Any]) -> Any:
    """Return values as an array of the kind, dtype and device of X."""
    return values.astype(X.dtype)


@by_kind
def beside(X: Any, values: NDArray[Any]) -> Any:
    """Return values as a tensor on the device of X if X is a tensor, else unchanged."""
    del X
    return values
