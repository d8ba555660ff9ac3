r"""Kinds of labels (classes, label sets, numbers): how each is recognised, coded and compared.

The alignment loss needs the agreement :math:`\lambda_{ij} \in [-1, 1]` of every two labels. Each
label is coded as a row :math:`u_i` such that :math:`\lambda_{ij} = u_i^\top A\, u_j`:

- classes: :math:`u` is the indicator of the class and :math:`A = 2 I - 1 1^\top`, which gives +1
  for the same class and -1 for another (or -1 / (K - 1), if K classes are declared);
- label sets: :math:`u = (y, 1)`, and the agreement is the mean over labels of the product of signs;
- numbers: :math:`u = (y, 1)` up to a change of unit, and the agreement is the mean over outputs of
  the product of the centred values, divided by the squared largest deviation.

The rows are computed block by block. The matrix :math:`A` may depend on all data, so it is
computed at the end.

To add a kind of label, write a class with the methods of ``Target`` and the two class methods of
``TargetType``, and pass it as ``target_type=`` to any estimator.
"""

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacfourier.arrays import FloatArray, by_kind

_Residuals: TypeAlias = Literal["hinge", "square"]
# The labels that are sorted first, those that are looked at together after them, and the most
# classes that each of these is compared with.
FIRST_LABELS, LABELS_TOGETHER, FEW_CLASSES = 2**10, 2**16, 32


class Coder(Protocol):
    """How labels are coded."""

    def encode(self, y: NDArray[Any]) -> sparse.csr_array:
        """Return the rows u_i, of shape (n_samples, n_codes). Every row has at least one entry."""


class _Balance(NamedTuple):
    """Factors that give all classes the same total weight, and the agreement matrix to use."""

    scale: FloatArray
    agreement: FloatArray


class Outputs(NamedTuple):
    """Labels for a regression, of shape (n_samples, n_outputs), and the loss to use."""

    values: FloatArray
    loss: _Residuals


class Target(Coder, Protocol):
    """Labels of one kind: how they are coded, and how the codes agree.

    Attributes
    ----------
    classes : array of shape (n_classes,) or None
        The classes, if the labels are classes.
    is_binary : bool
        Whether the user declared that only two classes exist.
    has_sign_agreements : bool
        Whether every agreement is +1 or -1, so that the second moment of the loss is known.
    is_fixed_in_advance : bool
        Whether the loss is fixed before the sample is seen; a certificate needs this.
    """

    @property
    def classes(self) -> NDArray[Any] | None: ...  # noqa: D102

    @property
    def is_binary(self) -> bool: ...  # noqa: D102

    @property
    def has_sign_agreements(self) -> bool: ...  # noqa: D102

    @property
    def is_fixed_in_advance(self) -> bool: ...  # noqa: D102

    def agreement(self, totals: FloatArray) -> FloatArray:
        """Return A given sum_i w_i u_i, of shape (n_codes, n_codes)."""

    def balance(self, totals: FloatArray) -> _Balance | None:
        """Return how to give all classes the same weight, or None without two classes."""

    def outputs(self, y: NDArray[Any]) -> Outputs:
        """Return what a regression on these labels predicts."""

    def observe(self, y: NDArray[Any]) -> Self:
        """Return the target after more labels, or raise ValueError if they do not fit it."""

    def merge(self, other: Self) -> Self:
        """Return the target of the union of two data sets."""

    def recoder(self, other: Self) -> FloatArray:
        """Return the matrix that translates the codes of another target into those of this one."""


class TargetType(Protocol):
    """A kind of label: how to make a ``Target`` from labels in memory or in blocks."""

    def of(self, y: NDArray[Any], classes: Any = None) -> Target:
        """Return the target of labels; ``classes`` lists all classes that may occur."""

    def witnesses(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return a few rows of y that have the same target as all of y.

        Blocks are merged by joining their witnesses and taking the witnesses of the result, which
        must be witnesses of all blocks together.
        """


@dataclass(frozen=True, eq=False)
class ClassTarget:
    """One of finitely many classes (Propositions 7 and 8 of the paper's supplement)."""

    classes: NDArray[Any]

    name: ClassVar[str] = "multiclass"
    is_binary: ClassVar[bool] = False
    has_sign_agreements: ClassVar[bool] = True
    is_fixed_in_advance: ClassVar[bool] = True

    @classmethod
    def of(cls, y: NDArray[Any], classes: Any = None) -> Self:
        """Return the target of the classes in y, or of given classes."""
        if y.ndim != 1:
            raise ValueError(
                f"y must be one-dimensional when target_type='{cls.name}', got {y.ndim} axes."
            )
        known = np.unique(y if classes is None else np.asarray(classes))
        if len(known) < 2:
            raise ValueError(f"y must hold at least two classes, got one class: {known.tolist()}.")
        return cls(known).observe(y)

    @staticmethod
    def witnesses(y: NDArray[Any]) -> NDArray[Any]:
        """Return each class once. A matrix gives its extremes, which ``of`` then refuses."""
        return _distinct_values(y) if y.ndim == 1 else _extremes(y)

    def encode(self, y: NDArray[Any]) -> sparse.csr_array:
        """Return the indicator of the class of each row."""
        codes = np.searchsorted(self.classes, y)
        entries = (np.ones(len(y)), codes, np.arange(len(y) + 1))
        return sparse.csr_array(entries, shape=(len(y), len(self.classes)))

    def agreement(self, totals: FloatArray) -> FloatArray:
        """Return 2 I - 1 1^T: one for the same class, minus one for another."""
        return 2 * np.eye(len(totals)) - 1.0

    def balance(self, totals: FloatArray) -> _Balance | None:
        r"""Return factors in inverse proportion to the totals of the classes, and an agreement.

        .. math:: \lambda_{ij} = 1 \text{ if } y_i = y_j, \qquad -\frac{1}{C - 1} \text{ otherwise}

        C is the number of classes seen, and the agreements are the inner products of the corners of
        a regular simplex. The paper uses -1 for all pairs of different classes. With many classes
        most pairs then disagree, and a frequency that aligns nothing has a smaller loss than one
        that aligns a class. For two classes of equal size both losses are the same.
        """
        seen = totals > 0
        n_classes = int(seen.sum())
        if n_classes < 2:
            return None
        scale = np.zeros(len(seen))
        scale[seen] = totals.sum() / (n_classes * totals[seen])
        return _Balance(scale, (n_classes * np.eye(len(seen)) - 1) / (n_classes - 1))

    def outputs(self, y: NDArray[Any]) -> Outputs:
        """Return one sign per class, or a single sign if there are two classes."""
        signs = 2 * self.encode(y).toarray() - 1
        return Outputs(signs[:, 1:] if len(self.classes) == 2 else signs, "hinge")

    def observe(self, y: NDArray[Any]) -> Self:
        """Check that every label is a known class."""
        if y.ndim != 1:
            raise ValueError(f"y must be one-dimensional as before, got {y.ndim} axes.")
        # A set difference would sort all of y.
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
        # The result is binary only if both sides were declared binary.
        return self if self.is_binary <= other.is_binary else other

    def recoder(self, other: Self) -> FloatArray:
        """Return the identity."""
        return np.eye(len(other.classes))


class _BinaryTarget(ClassTarget):
    """One of two classes, where the user declares that no others exist.

    A sample that happens to contain two classes does not prove this.
    """

    name: ClassVar[str] = "binary"
    is_binary: ClassVar[bool] = True

    @classmethod
    def of(cls, y: NDArray[Any], classes: Any = None) -> Self:
        """Return the target of two classes."""
        target = super().of(y, classes)
        if len(target.classes) > 2:
            raise ValueError(
                f"y must hold two classes when target_type='binary', got {len(target.classes)}."
            )
        return target


@dataclass(frozen=True)
class _LabelSetTarget:
    """A set of labels for each row, given as an indicator matrix of zeros and ones."""

    n_labels: int

    name: ClassVar[str] = "multilabel"
    classes: ClassVar[None] = None
    is_binary: ClassVar[bool] = False
    has_sign_agreements: ClassVar[bool] = False
    is_fixed_in_advance: ClassVar[bool] = True

    @classmethod
    def of(cls, y: NDArray[Any], classes: Any = None) -> Self:
        """Return the target of an indicator matrix."""
        _check_no_classes(cls.name, classes)
        _check_indicators(y)
        return cls(y.shape[1])

    @staticmethod
    def witnesses(y: NDArray[Any]) -> NDArray[Any]:
        """Return the extremes of each column, and a row with a fraction if there is one."""
        return _extremes(y)

    def encode(self, y: NDArray[Any]) -> sparse.csr_array:
        """Return (y, 1)."""
        return sparse.csr_array(np.column_stack([y, np.ones(len(y))]).astype(np.float64))

    def agreement(self, totals: FloatArray) -> FloatArray:
        """Return the mean over labels of the product of the signs 2 y - 1."""
        del totals
        signs = np.column_stack([2 * np.eye(self.n_labels), -np.ones(self.n_labels)])
        return signs.T @ signs / self.n_labels

    def balance(self, totals: FloatArray) -> None:
        """Return None: label sets are not balanced."""

    def outputs(self, y: NDArray[Any]) -> Outputs:
        """Return one sign per label."""
        return Outputs(2 * y.astype(np.float64) - 1, "hinge")

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
class _ContinuousTarget:
    """One or several numbers per row, coded as (y - origin) / unit.

    Origin and unit come from the first data and never change. Sums therefore stay additive, and a
    large offset of y does not cost digits. ``agreement`` centres and scales the codes at the end.
    """

    origin: FloatArray
    unit: FloatArray
    lowest: FloatArray
    highest: FloatArray

    name: ClassVar[str] = "continuous"
    classes: ClassVar[None] = None
    is_binary: ClassVar[bool] = False
    has_sign_agreements: ClassVar[bool] = False
    is_fixed_in_advance: ClassVar[bool] = False

    @classmethod
    def of(cls, y: NDArray[Any], classes: Any = None) -> Self:
        """Return the target of numbers that are not all equal."""
        _check_no_classes(cls.name, classes)
        values = _as_columns(y).astype(np.float64)
        if (np.ptp(values, axis=0) == 0).all():
            raise ValueError(
                f"y must not be constant, got only {values[0].tolist()}: pass labels that differ."
            )
        return cls.spanning(values)

    @staticmethod
    def witnesses(y: NDArray[Any]) -> NDArray[Any]:
        """Return the extremes of each column, and a row with a fraction if there is one."""
        return _extremes(y)

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
        # A constant output has deviation zero, so its scale does not matter.
        reach = np.where(reach > 0, reach, 1.0)
        deviations = np.column_stack([np.eye(len(centre)), -centre]) / reach[:, np.newaxis]
        return deviations.T @ deviations / len(centre)

    def balance(self, totals: FloatArray) -> None:
        """Return None: numbers are not balanced."""

    def outputs(self, y: NDArray[Any]) -> Outputs:
        """Return the codes."""
        return Outputs(self.encode(y).toarray()[:, :-1], "square")

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
        """Return the target of the union of both ranges, with the codes of this target."""
        _check_same_width(len(self.lowest), len(other.lowest))
        return self.observe(np.stack([other.lowest, other.highest]))

    def recoder(self, other: Self) -> FloatArray:
        """Return the change of origin and unit."""
        matrix = np.diag(np.append(other.unit / self.unit, 1.0))
        matrix[:-1, -1] = (other.origin - self.origin) / self.unit
        return matrix


class _AutoTarget:
    """The kind of label that y appears to have, by scikit-learn's conventions."""

    name = "auto"

    @staticmethod
    def of(y: NDArray[Any], classes: Any = None) -> Target:
        """Return the target of the kind that y appears to have."""
        return shown_type(y).of(y, classes)

    @staticmethod
    def witnesses(y: NDArray[Any]) -> NDArray[Any]:
        """Return witnesses from which the kind can be found, even if later blocks change it."""
        are_classes = y.ndim == 1 and not (y.dtype.kind == "f" and _fractions(y).any())
        return _distinct_values(y) if are_classes else _extremes(y)


_NAMED_TYPES = (
    _AutoTarget,
    _BinaryTarget,
    ClassTarget,
    _LabelSetTarget,
    _ContinuousTarget,
)
_TARGET_TYPES: dict[str, TargetType] = {each.name: each for each in _NAMED_TYPES}
"""Kinds of labels by name, as in ``target_type="binary"``."""


@by_kind
def coded_labels(X: Any, y: NDArray[Any]) -> Any:
    """Return labels in the form that is fastest beside X: another type for tensors, else y."""
    del X
    return y


@singledispatch
def distinct_labels(y: Any) -> NDArray[Any]:
    """Return labels as an array. Repeated ones may be left out."""
    return np.asarray(y)


@singledispatch
def encoded(y: Any, target: Coder) -> Any:
    """Return the codes of labels: a CSR array, unless the labels are of another type."""
    return target.encode(y)


def target_type_of(target_type: str | TargetType) -> TargetType:
    """Return the kind of label with a given name. A kind of label is returned as it is."""
    if not isinstance(target_type, str):
        if hasattr(target_type, "of") and hasattr(target_type, "witnesses"):
            return target_type
    elif target_type in _TARGET_TYPES:
        return _TARGET_TYPES[target_type]
    raise ValueError(
        f"target_type must be one of {tuple(_TARGET_TYPES)} or a kind of label with the methods "
        f"'of' and 'witnesses', got {target_type!r}."
    )


def target_of(
    y: NDArray[Any], target_type: str | TargetType = "auto", classes: Any = None
) -> Target:
    """Return the target of labels of a declared kind.

    Parameters
    ----------
    y : array of shape (n_samples,) or (n_samples, n_outputs)
    target_type : str or TargetType
        A name in ``_TARGET_TYPES``, or a kind of label.
    classes : array-like, default=None
        All classes that may occur, if y does not contain them all.

    Returns
    -------
    target : Target
    """
    return target_type_of(target_type).of(y, classes)


def shown_type(y: NDArray[Any]) -> TargetType:
    """Return the kind of label that y appears to have.

    Numbers with a fractional part are continuous. One column of anything else holds classes. Two or
    more columns of zeros and ones are label sets; other integers raise ValueError.
    """
    if _fractions(y).any():
        return _ContinuousTarget
    if y.ndim == 1:
        return ClassTarget
    if y.dtype.kind not in "biuf":
        raise ValueError(f"y must have one column if it holds text, got {y.shape[1]}.")
    if np.isin(y, (0, 1)).all():
        return _LabelSetTarget
    raise ValueError(
        "y has columns of integers: pass target_type='continuous' if they are numbers."
    )


def _distinct_values(y: NDArray[Any]) -> NDArray[Any]:
    """Return each value once, in order.

    Sorting all labels would take longer than most fits on a GPU. If there are few values, most
    blocks of labels hold only those that were found before.

    >>> _distinct_values(np.array([7, -1, 7, 3]))
    array([-1,  3,  7])
    """
    known = np.unique(y[:FIRST_LABELS])
    for start in range(FIRST_LABELS, len(y), LABELS_TOGETHER):
        if len(known) > FEW_CLASSES:
            return np.unique(y)
        block = y[start : start + LABELS_TOGETHER]
        is_new = block != known[0]
        for value in known[1:]:
            is_new &= block != value
        if is_new.any():
            known = np.union1d(known, block[is_new])
    return known


def _extremes(y: NDArray[Any]) -> NDArray[Any]:
    """Return the extremes of each column, and a row with a fraction if there is one."""
    if y.dtype.kind not in "biuf":
        return np.unique(y) if y.ndim == 1 else y[:2]
    is_fraction = _as_columns(_fractions(y)).any(axis=1)
    extremes = np.stack([y.min(axis=0), y.max(axis=0)])
    return np.concatenate([extremes, y[np.flatnonzero(is_fraction)[:1]]])


def _check_no_classes(name: str, classes: Any) -> None:
    if classes is not None:
        raise ValueError(f"classes must be None when labels are {name}, got {classes!r}.")


def _fractions(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which labels are not whole numbers."""
    return y != np.round(y) if y.dtype.kind == "f" else np.zeros(y.shape, dtype=bool)


def _as_columns(y: NDArray[Any]) -> NDArray[Any]:
    return y.reshape(len(y), -1)


def _check_indicators(y: NDArray[Any]) -> None:
    if y.ndim != 2 or not np.isin(y, (0, 1)).all():
        raise ValueError("y must be a matrix of zeros and ones when target_type='multilabel'.")


def _check_width(y: NDArray[Any], expected: int) -> None:
    width = y.shape[1] if y.ndim == 2 else 1
    if width != expected:
        raise ValueError(f"y must have {expected} columns as before, got {width}.")


def _check_same_width(first: int, second: int) -> None:
    if first != second:
        raise ValueError(f"merge needs targets of the same width, got {first} and {second}.")
