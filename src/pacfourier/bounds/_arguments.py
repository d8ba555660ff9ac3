"""Checks of the numbers a bound receives: the name, the rule, the value."""

import math
from numbers import Integral
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]

ROUNDING = 1e-5
"""Largest excursion out of an interval that is taken for rounding and clipped."""


def open_interval(name: str, value: float, lower: float, upper: float) -> float:
    """Return a value of the open interval (lower, upper)."""
    if not lower < value < upper:
        raise ValueError(f"{name} must be in ({lower:g}, {upper:g}), got {value!r}.")
    return float(value)


def unit_open(name: str, value: float) -> float:
    """Return a value of the open interval (0, 1)."""
    return open_interval(name, value, 0.0, 1.0)


def interval(name: str, value: float, lower: float, upper: float) -> float:
    """Return a value of [lower, upper], clipped when it leaves it by rounding only."""
    if not lower - ROUNDING <= value <= upper + ROUNDING:
        raise ValueError(f"{name} must be in [{lower:g}, {upper:g}], got {value!r}.")
    return min(max(float(value), lower), upper)


def positive(name: str, value: float) -> float:
    """Return a finite positive value."""
    if not 0.0 < value < math.inf:
        raise ValueError(f"{name} must be positive and finite, got {value!r}.")
    return float(value)


def non_negative(name: str, value: float) -> float:
    """Return a finite non-negative value, clipped at zero when it is below by rounding only."""
    if not -ROUNDING <= value < math.inf:
        raise ValueError(f"{name} must be non-negative and finite, got {value!r}.")
    return max(float(value), 0.0)


def count(name: str, value: int, minimum: int) -> int:
    """Return an integer of at least a minimum."""
    if not isinstance(value, Integral) or value < minimum:
        raise ValueError(f"{name} must be an integer of at least {minimum}, got {value!r}.")
    return int(value)


def vector(name: str, values: npt.ArrayLike, *, size: int | None = None) -> FloatArray:
    """Return a finite vector in double precision, of a given size if one is asked."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0 or not np.isfinite(array).all():
        raise ValueError(f"{name} must be a non-empty finite vector, got {values!r}.")
    if size is not None and array.size != size:
        raise ValueError(f"{name} must have {size} entries, got {array.size}.")
    return array


def bounded_vector(
    name: str, values: npt.ArrayLike, lower: float, upper: float, *, size: int | None = None
) -> FloatArray:
    """Return a vector with entries in [lower, upper], clipped as in :func:`interval`."""
    array = vector(name, values, size=size)
    interval(f"the smallest of {name}", float(array.min()), lower, upper)
    interval(f"the largest of {name}", float(array.max()), lower, upper)
    return np.clip(array, lower, upper)


def distribution(name: str, weights: npt.ArrayLike, *, size: int | None = None) -> FloatArray:
    """Return non-negative weights, scaled to sum to one exactly when they do up to rounding."""
    array = bounded_vector(name, weights, 0.0, 1.0, size=size)
    total = float(array.sum())
    if abs(total - 1.0) > ROUNDING:
        raise ValueError(f"{name} must sum to 1, got a sum of {total!r}.")
    return array / total
