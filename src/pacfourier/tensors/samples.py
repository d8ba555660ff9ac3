"""Validate tensors by the rules that scikit-learn applies to arrays, without moving them."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import check_consistent_length, validate_data

from pacfourier.arrays import host
from pacfourier.data.samples import (
    check_labels,
    check_no_missing,
    check_size,
    checked_heading,
    validated,
    validated_inputs,
    validated_pair,
)


@validated.register(torch.Tensor)
def _validated_samples(
    X: torch.Tensor,
    estimator: Any,
    y: Any = "no_validation",
    *,
    reset: bool,
    multi_output: bool = False,
    ensure_min_samples: int = 1,
) -> Any:
    """Return validated X, or X and y, for an estimator; y is returned as a NumPy array."""
    needs_labels = not (isinstance(y, str) and y == "no_validation")
    check_no_missing(y)
    X = _validated_tensor(X, "X", ensure_min_samples)
    if needs_labels:
        y = _validated_labels(X, y, type(estimator).__name__, multi_output=multi_output)
    # This changes the estimator, so it comes last: invalid input must leave no trace.
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return (X, y) if needs_labels else X


@check_no_missing.register(torch.Tensor)
def _check_no_missing_tensor(y: torch.Tensor) -> None:
    """Accept every tensor: a tensor holds numbers only."""
    del y


@check_labels.register(torch.Tensor)
def _check_label_tensor(y: torch.Tensor) -> NDArray[Any]:
    """Return labels as a dense array."""
    return np.asarray(check_labels(host(y)))


def _validated_labels(X: torch.Tensor, y: Any, name: str, *, multi_output: bool) -> Any:
    """Return the labels of the rows of X as a NumPy array or CSR matrix."""
    if y is None:
        raise ValueError(
            f"{name} requires y to be passed, but the target y is None: pass one label per row "
            "of X."
        )
    labels = check_array(host(y), accept_sparse="csr", ensure_2d=False, dtype=None, input_name="y")
    if not multi_output:
        labels = column_or_1d(labels, warn=True)
    check_consistent_length(X, labels)
    return labels


def _validated_tensor(X: torch.Tensor, name: str, smallest: int = 1) -> torch.Tensor:
    """Return a matrix of finite floats, by the rules of ``sklearn.utils.check_array``."""
    X = _matrix_of_floats(X, name, smallest)
    if X.numel():
        # The extremes need no copy of X, and both are NaN if any value is.
        _check_extremes(host(torch.stack(torch.aminmax(X))), name)
    return X


def _matrix_of_floats(X: torch.Tensor, name: str, smallest: int = 1) -> torch.Tensor:
    """Return a matrix of floats, after checks of its type and shape.

    Values are not checked, because the host would have to wait for them.
    """
    _check_kind(X, name)
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D tensor instead: {name}. "
            "Reshape it to (n_samples, n_features)."
        )
    if len(X) < smallest:
        raise ValueError(
            f"Found array with {len(X)} sample(s) in {name}, while at least {smallest} is needed."
        )
    if X.shape[1] < 1:
        raise ValueError(f"Found array with 0 feature(s) in {name}, while at least 1 is needed.")
    if X.dtype not in (torch.float32, torch.float64):
        X = X.to(torch.float32 if X.dtype in (torch.float16, torch.bfloat16) else torch.float64)
    return X.detach()


def _check_extremes(ends: NDArray[Any], name: str) -> None:
    """Raise ValueError if the smallest and the largest value of a tensor are not allowed."""
    if not np.isfinite(ends).all():
        raise ValueError(
            f"Input {name} contains NaN or infinity. Impute or remove these values first."
        )
    check_size(ends.astype(np.float64), name, "tensors")


def _check_kind(X: torch.Tensor, name: str) -> None:
    if X.device.type not in ("cpu", "cuda"):
        raise ValueError(
            f"{name} must be on the CPU or on CUDA, got device {str(X.device)!r}. "
            "Move it with its method to()."
        )
    if X.layout != torch.strided:
        raise ValueError(
            f"{name} must be a dense tensor, got layout {X.layout}. "
            "Call its method to_dense(), or pass a SciPy sparse matrix."
        )
    if X.is_complex():
        raise ValueError(f"Complex data not supported: {name} has type {X.dtype}.")


@validated_inputs.register(torch.Tensor)
def _validated_tensor_inputs(
    X: torch.Tensor, y: Any, frequencies: Any
) -> tuple[torch.Tensor, Any, torch.Tensor]:
    """Return samples, labels and frequencies; the frequencies are moved beside the samples."""
    X = _matrix_of_floats(X, "X", 2)
    if not isinstance(frequencies, torch.Tensor):
        # NumPy reads a list of numbers in double precision, torch would in single.
        frequencies = torch.tensor(np.asarray(frequencies))
    frequencies = _matrix_of_floats(frequencies, "frequencies").to(X.device)
    # The device finds the extremes of both while the host looks at the labels.
    ends = torch.stack([*torch.aminmax(X), *torch.aminmax(frequencies)])
    y = _validated_labels(X, y, "alignment_losses", multi_output=True)
    for found, name in zip(host(ends).reshape(2, 2), ("X", "frequencies"), strict=True):
        _check_extremes(found, name)
    return X, y, frequencies


@checked_heading.register(torch.Tensor)
def _tensor_heading(names: torch.Tensor) -> torch.Tensor:
    """Return no rows of a tensor, with its columns and a floating dtype."""
    return _validated_tensor(names[:0], "X", 0)


@validated_pair.register(torch.Tensor)
def _validated_tensors(
    X: torch.Tensor, estimator: Any, Y: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return two validated tensors on one device; None for the second means the first."""
    X = _validated_samples(X, estimator, reset=False)
    if Y is None:
        return X, X
    return _alike(X, validated(Y, estimator, reset=False))


def _alike(X: Any, Y: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Return both tensors in the larger of their precisions; they must be on one device."""
    first, second = (str(getattr(each, "device", "cpu")) for each in (X, Y))
    are_tensors = isinstance(X, torch.Tensor) and isinstance(Y, torch.Tensor)
    if not are_tensors or first != second:
        raise ValueError(
            "X and Y must be tensors on one device, or neither of them a tensor, "
            f"got {type(X).__name__} on {first} and {type(Y).__name__} on {second}."
        )
    dtype = torch.promote_types(X.dtype, Y.dtype)
    return X.to(dtype), Y.to(dtype)
