"""What scikit-learn checks of arrays, for tensors that stay where they are."""

from typing import Any

import torch
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, validate_data

from pacfourier.core.arrays import host


def validated_samples(
    estimator: Any,
    X: torch.Tensor,
    y: Any = "no_validation",
    *,
    reset: bool,
    multi_output: bool = False,
    ensure_min_samples: int = 1,
) -> Any:
    """Return X, or X and y, if they are fit for an estimator; y comes back as a NumPy array."""
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    X = validated_tensor(X, "X", ensure_min_samples)
    if isinstance(y, str) and y == "no_validation":
        return X
    if y is None:
        raise ValueError(f"{type(estimator).__name__} needs y, got None.")
    labels = check_array(host(y), ensure_2d=False, dtype=None, input_name="y")
    if labels.ndim > 1 and not multi_output:
        raise ValueError(f"y must have one axis, got shape {labels.shape}.")
    check_consistent_length(X, labels)
    return X, labels


def validated_tensor(X: torch.Tensor, name: str, smallest: int = 1) -> torch.Tensor:
    """Return a matrix of finite floats, by the rules of ``sklearn.utils.check_array``."""
    if X.layout != torch.strided:
        raise ValueError(f"{name} must be a dense tensor, got layout {X.layout}.")
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D tensor instead: {name}.")
    if len(X) < smallest:
        raise ValueError(f"Found array with {len(X)} sample(s) in {name}, needs {smallest}.")
    if X.shape[1] < 1:
        raise ValueError(f"Found array with 0 feature(s) in {name}, needs 1.")
    if X.is_complex():
        raise ValueError(f"Complex data not supported: {name}.")
    if X.dtype not in (torch.float32, torch.float64):
        X = X.to(torch.float32 if X.dtype in (torch.float16, torch.bfloat16) else torch.float64)
    if not bool(torch.isfinite(X).all()):
        raise ValueError(f"Input {name} contains NaN or infinity.")
    return X.detach()


def beside(X: torch.Tensor, values: Any, name: str) -> torch.Tensor:
    """Return a matrix of finite floats on the device of X."""
    return validated_tensor(torch.as_tensor(values).to(X.device), name)
