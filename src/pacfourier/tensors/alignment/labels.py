"""Class labels of tensors, coded without leaving the device."""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pacfourier.arrays import host
from pacfourier.core.alignment.sums import AlignmentSums, wave_sums, weighted_sums
from pacfourier.core.alignment.targets import (
    ClassTarget,
    Target,
    coded_labels,
    distinct_labels,
    encoded,
)
from pacfourier.core.precision import Precision
from pacfourier.tensors.arrays import queued
from pacfourier.tensors.codes import ClassCodes

# Labels with more distinct values are hardly classes.
_MOST_CLASSES = 4096
# Up to this number, labels are counted on the host.
_FEW_LABELS = 2**16
# The types of labels that torch can sort.
_SORTABLE = ("bool", "int8", "uint8", "int16", "int32", "int64", "float32", "float64")


@dataclass(frozen=True, eq=False)
class ClassLabels:
    """Labels with few distinct values, as given and as numbers on the device of the samples.

    Attributes
    ----------
    values : array of shape (n_samples,)
        The labels.
    classes : array of shape (n_classes,)
        Their distinct values, in order.
    numbers : tensor of shape (n_samples,)
        The place of each label among the classes.
    counts : array of shape (n_classes,)
        How many samples each class has.
    """

    values: NDArray[Any]
    classes: NDArray[Any]
    numbers: torch.Tensor
    counts: NDArray[np.intp]


@coded_labels.register(torch.Tensor)
def _tensor_labels(X: torch.Tensor, y: Any) -> Any:
    """Return labels as numbers of classes beside X, or unchanged if they are no classes."""
    if y.ndim != 1 or y.dtype.name not in _SORTABLE:
        return y
    if len(y) <= _FEW_LABELS and y.dtype.kind in "iu":
        counted = _counted_labels(X, y)
        if counted is not None:
            return counted
    moved = torch.as_tensor(np.ascontiguousarray(y), device=X.device)
    classes, numbers, counts = torch.unique(moved, return_inverse=True, return_counts=True)
    if len(classes) > _MOST_CLASSES:
        return y
    return ClassLabels(y, host(classes), numbers, host(counts))


def _counted_labels(X: torch.Tensor, y: NDArray[Any]) -> ClassLabels | None:
    """Return the classes of integers by counting on the host, None if their range is large.

    For few labels this takes less time than starting a sort on the device and waiting for it.
    """
    lowest = y.min()
    if int(y.max()) - int(lowest) >= _MOST_CLASSES:
        return None
    places = y.astype(np.int64) - int(lowest)
    counts = np.bincount(places)
    present = np.flatnonzero(counts)
    # Short numbers, because there is one for every label to be copied.
    numbers = (np.cumsum(counts > 0) - 1).astype(np.int16)[places]
    classes = present.astype(y.dtype) + lowest
    return ClassLabels(y, classes, queued(numbers, X.device).long(), counts[present])


@distinct_labels.register(ClassLabels)
def _classes_of(y: ClassLabels) -> NDArray[Any]:
    """Return each class once."""
    return y.classes


@encoded.register(ClassLabels)
def _class_codes(y: ClassLabels, target: Target) -> Any:
    """Return the codes of classes on the device, and those of other targets on the host."""
    if type(target).encode is not ClassTarget.encode:
        return target.encode(y.values)
    classes: Any = target.classes
    places = np.searchsorted(classes, y.classes)
    counts = np.zeros(len(classes), dtype=np.intp)
    counts[places] = y.counts
    columns = y.numbers
    if len(places) < len(classes):
        columns = torch.as_tensor(places, device=columns.device)[columns]
    return ClassCodes(columns, counts)


@weighted_sums.register(ClassCodes)
def _class_sums(
    codes: ClassCodes, X: Any, weights: None, frequencies: Any, precision: Precision
) -> AlignmentSums:
    """Return the sums of samples of weight one."""
    del weights
    waves, harmonics, rounding = wave_sums(X, codes, frequencies, precision)
    totals = codes.totals
    n_samples = len(codes.columns)
    return AlignmentSums(
        waves,
        np.diag(totals),
        totals,
        float(n_samples),
        float(n_samples),
        harmonics,
        n_samples,
        rounding,
    )
