r"""What "should be similar" means: label agreements written as a quadratic form.

The alignment loss needs :math:`\lambda_{ij} \in [-1, 1]`, how much two labels agree. Every kind
of label here is coded as a row :math:`u_i` such that :math:`\lambda_{ij} = u_i^\top A\, u_j`:

- classes: :math:`u` the indicator of the class, :math:`A = 2 I - 1 1^\top`, hence +1 or -1;
- label sets: :math:`u = (y, 1)`, the mean over labels of the product of signs;
- numbers: :math:`u = (y, 1)` up to a change of unit, the mean over outputs of the product of the
  centred values, divided by the squared largest deviation.

The rows are additive data, the matrix :math:`A` is not: it may wait until all data are seen.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacfourier.arrays import FloatArray

__all__ = [
    "LABELS",
    "ClassTarget",
    "Coder",
    "ContinuousTarget",
    "LabelSetTarget",
    "Target",
    "label_witnesses",
    "target_of",
]

Labels = Literal["auto", "binary", "multiclass", "multilabel", "continuous"]
LABELS = ("auto", "binary", "multiclass", "multilabel", "continuous")


class Coder(Protocol):
    """How labels are coded."""

    def encode(self, y: NDArray[Any]) -> sparse.csr_array:
        """Return the rows u_i, of shape (n_samples, n_codes), none of them without an entry."""


class Target(Coder, Protocol):
    """How labels are coded, and how the codes agree."""

    @property
    def is_binary(self) -> bool:
        """Whether the labels were declared to have two classes."""

    @property
    def has_sign_agreements(self) -> bool:
        """Whether every agreement is +1 or -1, so that second moments of losses are known."""

    @property
    def is_fixed_in_advance(self) -> bool:
        """Whether agreements do not depend on the other labels of the sample."""

    def agreement(self, totals: FloatArray) -> FloatArray:
        """Return A given sum_i w_i u_i, of shape (n_codes, n_codes)."""

    def observe(self, y: NDArray[Any]) -> Self:
        """Return the target after more labels; raise ValueError on labels it cannot hold."""

    def merge(self, other: Self) -> Self:
        """Return the target of the union of two data sets."""

    def recoder(self, other: Self) -> FloatArray:
        """Return the matrix that turns rows coded by another target into rows coded by this."""


@dataclass(frozen=True, eq=False)
class ClassTarget:
    """One of finitely many classes (Propositions 7 and 8 of the paper's supplement)."""

    classes: NDArray[Any]
    is_binary: bool = False
    """Whether the label space has two elements by declaration, not only in the sample."""
    has_sign_agreements: ClassVar[bool] = True
    is_fixed_in_advance: ClassVar[bool] = True

    def encode(self, y: NDArray[Any]) -> sparse.csr_array:
        """Return the indicator of the class of each row."""
        codes = np.searchsorted(self.classes, y)
        entries = (np.ones(len(y)), codes, np.arange(len(y) + 1))
        return sparse.csr_array(entries, shape=(len(y), len(self.classes)))

    def agreement(self, totals: FloatArray) -> FloatArray:
        """Return 2 I - 1 1^T: one for the same class, minus one for another."""
        return 2 * np.eye(len(totals)) - 1.0

    def observe(self, y: NDArray[Any]) -> Self:
        """Check that every label is a known class."""
        if y.ndim != 1:
            raise ValueError(f"y must be one-dimensional as before, got {y.ndim} axes.")
        # Not by a set difference, which sorts all of y.
        unknown = np.unique(y[~np.isin(y, self.classes)])
        if len(unknown):
            raise ValueError(
                f"y must hold known classes {self.classes.tolist()}, got {unknown.tolist()}: "
                "pass every class to the first partial_fit as classes=."
            )
        return self

    def merge(self, other: Self) -> Self:
        """Check that both sides know the same classes."""
        if not np.array_equal(self.classes, other.classes):
            raise ValueError(
                f"merge needs the same classes, got {self.classes.tolist()} "
                f"and {other.classes.tolist()}."
            )
        return replace(self, is_binary=self.is_binary and other.is_binary)

    def recoder(self, other: Self) -> FloatArray:
        """Return the identity."""
        return np.eye(len(other.classes))


@dataclass(frozen=True)
class LabelSetTarget:
    """A set of labels a row, given as an indicator matrix of zeros and ones."""

    n_labels: int
    is_binary: ClassVar[bool] = False
    has_sign_agreements: ClassVar[bool] = False
    is_fixed_in_advance: ClassVar[bool] = True

    def encode(self, y: NDArray[Any]) -> sparse.csr_array:
        """Return (y, 1)."""
        return sparse.csr_array(np.column_stack([y, np.ones(len(y))]).astype(np.float64))

    def agreement(self, totals: FloatArray) -> FloatArray:
        """Return the mean over labels of the product of the signs 2 y - 1."""
        del totals
        signs = np.column_stack([2 * np.eye(self.n_labels), -np.ones(self.n_labels)])
        return signs.T @ signs / self.n_labels

    def observe(self, y: NDArray[Any]) -> Self:
        """Check the width and the values of y."""
        _check_width(y, self.n_labels)
        _check_indicators(y)
        return self

    def merge(self, other: Self) -> Self:
        """Check that both sides have the same labels."""
        _check_same_width(self.n_labels, other.n_labels)
        return self

    def recoder(self, other: Self) -> FloatArray:
        """Return the identity."""
        return np.eye(other.n_labels + 1)


@dataclass(frozen=True, eq=False)
class ContinuousTarget:
    """One or several numbers a row, coded as (y - origin) / unit.

    Origin and unit come from the first data and stay: an offset of y costs no digits, and sums
    stay additive. What the codes mean waits for all data, in ``agreement``.
    """

    origin: FloatArray
    unit: FloatArray
    lowest: FloatArray
    highest: FloatArray
    is_binary: ClassVar[bool] = False
    has_sign_agreements: ClassVar[bool] = False
    is_fixed_in_advance: ClassVar[bool] = False

    @classmethod
    def spanning(cls, values: FloatArray) -> Self:
        """Return the target of values of shape (n_samples, n_outputs)."""
        lowest, highest = values.min(axis=0), values.max(axis=0)
        unit = np.where(highest > lowest, (highest - lowest) / 2, 1.0)
        return cls((lowest + highest) / 2, unit, lowest, highest)

    def encode(self, y: NDArray[Any]) -> sparse.csr_array:
        """Return ((y - origin) / unit, 1)."""
        coded = (_as_columns(y) - self.origin) / self.unit
        return sparse.csr_array(np.column_stack([coded, np.ones(len(y))]))

    def agreement(self, totals: FloatArray) -> FloatArray:
        """Return the mean over outputs of the product of deviations, scaled into [-1, 1]."""
        centre = totals[:-1] / totals[-1]
        lowest = (self.lowest - self.origin) / self.unit
        highest = (self.highest - self.origin) / self.unit
        reach = np.maximum(highest - centre, centre - lowest)
        # A constant output agrees with nothing: deviation zero, whatever the scale.
        reach = np.where(reach > 0, reach, 1.0)
        deviations = np.column_stack([np.eye(len(centre)), -centre]) / reach[:, np.newaxis]
        return deviations.T @ deviations / len(centre)

    def observe(self, y: NDArray[Any]) -> Self:
        """Widen the range to hold new values."""
        values = _as_columns(y).astype(np.float64)
        _check_width(values, len(self.lowest))
        return replace(
            self,
            lowest=np.minimum(self.lowest, values.min(axis=0)),
            highest=np.maximum(self.highest, values.max(axis=0)),
        )

    def merge(self, other: Self) -> Self:
        """Return the target over the union of both ranges, in this one's code."""
        _check_same_width(len(self.lowest), len(other.lowest))
        return self.observe(np.stack([other.lowest, other.highest]))

    def recoder(self, other: Self) -> FloatArray:
        """Return the change of origin and unit."""
        matrix = np.diag(np.append(other.unit / self.unit, 1.0))
        matrix[:-1, -1] = (other.origin - self.origin) / self.unit
        return matrix


def target_of(y: NDArray[Any], labels: Labels = "auto", classes: Any = None) -> Target:
    """Return the target that labels declare, or that y shows if they are "auto".

    Parameters
    ----------
    y : array of shape (n_samples,) or (n_samples, n_outputs)
    labels : {"auto", "binary", "multiclass", "multilabel", "continuous"}
    classes : array-like, default=None
        All classes that may come, if y does not show them all.
    """
    kind = labels_shown(y) if labels == "auto" else labels
    if kind in ("binary", "multiclass"):
        return _class_target(y, kind, classes)
    if classes is not None:
        raise ValueError(f"classes must be None when labels are {kind}, got {classes!r}.")
    if kind == "multilabel":
        _check_indicators(y)
        return LabelSetTarget(y.shape[1])
    if kind == "continuous":
        values = _as_columns(y).astype(np.float64)
        if (np.ptp(values, axis=0) == 0).all():
            raise ValueError("y must not be constant: there is nothing to align with.")
        return ContinuousTarget.spanning(values)
    raise ValueError(f"target_type must be one of {LABELS}, got {labels!r}.")


def label_witnesses(y: NDArray[Any], labels: Labels = "auto") -> NDArray[Any]:
    """Return a few rows that have the same target as all of y.

    Classes are shown by one row each; all else by the extremes of each column, and by a row that
    is not of whole numbers. Witnesses of the witnesses of parts are witnesses of the whole.
    """
    fractions = _fractions(y)
    are_classes = labels in ("binary", "multiclass") or y.dtype.kind not in "biuf"
    if y.ndim == 1 and (are_classes or (labels == "auto" and not fractions.any())):
        return np.unique(y)
    is_fraction = _as_columns(fractions).any(axis=1)
    extremes = np.stack([y.min(axis=0), y.max(axis=0)])
    return np.concatenate([extremes, y[np.flatnonzero(is_fraction)[:1]]])


def labels_shown(y: NDArray[Any]) -> Labels:
    """Return the kind of labels that y holds, by scikit-learn's conventions.

    Two columns or more of zeros and ones are label sets; numbers with a fractional part are
    continuous; all else are classes.
    """
    is_fractional = bool(_fractions(y).any())
    if is_fractional or y.ndim == 1:
        return "continuous" if is_fractional else "multiclass"
    if np.isin(y, (0, 1)).all():
        return "multilabel"
    raise ValueError(
        "y has columns of integers: pass target_type='continuous' if they are numbers."
    )


def _class_target(y: NDArray[Any], kind: Labels, classes: Any) -> ClassTarget:
    if y.ndim != 1:
        raise ValueError(f"y must be one-dimensional when labels='{kind}', got {y.ndim} axes.")
    known = np.unique(y if classes is None else np.asarray(classes))
    if len(known) < 2:
        raise ValueError(f"y must hold at least two classes, got one class: {known.tolist()}.")
    if kind == "binary" and len(known) > 2:
        raise ValueError(f"y must hold two classes when target_type='binary', got {len(known)}.")
    return ClassTarget(known, is_binary=kind == "binary").observe(y)


def _fractions(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which labels are not whole numbers."""
    return y != np.round(y) if y.dtype.kind == "f" else np.zeros(y.shape, dtype=bool)


def _as_columns(y: NDArray[Any]) -> NDArray[Any]:
    return y.reshape(len(y), -1)


def _check_indicators(y: NDArray[Any]) -> None:
    if y.ndim != 2 or not np.isin(y, (0, 1)).all():
        raise ValueError("y must be a matrix of zeros and ones when labels are label sets.")


def _check_width(y: NDArray[Any], expected: int) -> None:
    width = y.shape[1] if y.ndim == 2 else 1
    if width != expected:
        raise ValueError(f"y must have {expected} columns as before, got {width}.")


def _check_same_width(first: int, second: int) -> None:
    if first != second:
        raise ValueError(f"merge needs targets of the same width, got {first} and {second}.")
