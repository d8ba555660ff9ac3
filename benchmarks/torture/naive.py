"""Twins: what the library computes, by loops or plain sums over all pairs of rows."""

from typing import Any

import numpy as np
from benchmarks.torture.samples import Case
from numpy.typing import NDArray

Array = NDArray[Any]


def agreements(case: Case) -> Array:
    """Return how much the labels of every two rows agree."""
    y, weights = case.y, np.ones(len(case.y)) if case.weights is None else case.weights
    if y.dtype.kind == "f" and case.target_type in ("auto", "continuous") and has_fractions(y):
        values = y.reshape(len(y), -1)
        centred = values - np.average(values, axis=0, weights=weights)
        scaled = centred / np.abs(centred[weights > 0]).max(axis=0)
        return np.asarray(scaled @ scaled.T / scaled.shape[1])
    if y.ndim == 2:
        signs = 2.0 * y - 1
        return np.asarray(signs @ signs.T / y.shape[1])
    return np.where(y[:, np.newaxis] == y, 1.0, -1.0)


def has_fractions(y: Array) -> bool:
    """Return whether some labels are not whole numbers."""
    return bool((y != np.round(y)).any())


def alignment_losses(case: Case, frequencies: Array) -> Array:
    """Return the weighted mean of (1 - agreement * cosine) / 2 over all pairs of rows."""
    X, together = case.X.astype(np.float64), agreements(case)
    weights = np.ones(len(X)) if case.weights is None else case.weights
    losses, total = np.zeros(len(frequencies)), 0.0
    for i in range(len(X)):
        others = weights[i] * weights
        others[i] = 0
        cosines = np.cos((X[i] - X) @ frequencies.T)
        losses += others @ ((1 - together[i][:, np.newaxis] * cosines) / 2)
        total += others.sum()
    return losses / total


def features(X: Array, frequencies: Array, weights: Array) -> Array:
    """Return the weighted cosines of all frequencies, and their sines."""
    phases = X.astype(np.float64) @ frequencies.T
    return np.sqrt(np.tile(weights, 2)) * np.hstack([np.cos(phases), np.sin(phases)])


def landmark_losses(X: Array, y: Array, point: Array, label: Any, frequencies: Array) -> Array:
    """Return the sum of (1 - agreement * cosine) / 2 over pairs of a landmark and a row."""
    cosines = np.cos((point - X.astype(np.float64)) @ frequencies.T)
    return ((1 - np.where(y == label, 1.0, -1.0)[:, np.newaxis] * cosines) / 2).sum(axis=0)


def largest_phase(X: Array, frequencies: Array) -> float:
    """Return a bound on all phases, from which rounding errors follow."""
    return float((np.abs(X.astype(np.float64)) @ np.abs(frequencies.T)).max())
