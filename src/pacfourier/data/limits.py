"""What samples and labels must be, beyond what scikit-learn checks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

from pacfourier.arrays import by_kind

# The fourth powers of larger numbers overflow, which the guards of certificates sum up.
LARGEST = 1e75
# In single precision, the squares of larger numbers overflow.
LARGEST_SINGLE = 1e15


def check_size(values: Any, name: str, user: str) -> None:
    """Raise ValueError if a number is so large that its powers overflow.

    Parameters
    ----------
    values : array or sparse matrix
    name : str
        The name of the values, for the error.
    user : str
        The name of the estimator or function that they were passed to.
    """
    # The extremes of a sparse matrix would sort the entries of the caller's matrix.
    stored = values.data if hasattr(values, "tocsr") else values
    if not stored.size:
        return
    is_single = stored.dtype == np.float32
    limit = LARGEST_SINGLE if is_single else LARGEST
    low, high = float(stored.min()), float(stored.max())
    if max(-low, high) > limit:
        remedy = f"pass {name} in double precision" if is_single else f"divide {name} by a constant"
        raise ValueError(
            f"{name} must lie between -{_short(limit)} and {_short(limit)} for {user}, "
            f"got {high if high > -low else low:g}: {remedy}."
        )


def _short(number: float) -> str:
    return f"{number:.0e}".replace("+", "")


def check_target(y: Any, estimator: Any) -> None:
    """Raise ValueError if labels are missing, or cannot be used by an estimator."""
    name = type(estimator).__name__
    if y is None:
        raise ValueError(
            f"This {name} estimator requires y to be passed, but the target y is None: call "
            "fit(X, y) with one label per row of X."
        )
    check_no_missing(y)
    labels = np.asarray(y)
    if is_regressor(estimator):
        _check_numbers(labels, name)
    if labels.ndim == 0 or labels.dtype.kind not in "OSU":
        return
    if labels.ndim == 2 and labels.shape[1] > 1:
        if labels.dtype.kind != "O" or any(isinstance(each, str) for each in labels.flat):
            raise ValueError(
                f"y must have one column if it holds text for {name}, got {labels.shape[1]}: fit "
                "one model per column."
            )
        return
    _check_one_type(labels, name, must_be_text=is_classifier(estimator))


def _check_numbers(labels: NDArray[Any], name: str) -> None:
    is_object = labels.dtype.kind == "O"
    objects = [each for each in labels.flat if not _is_number(each)] if is_object else []
    if labels.dtype.kind in "mMSU" or objects:
        kinds = ", ".join(sorted({type(each).__name__ for each in labels.flat}))
        found = kinds if objects else str(labels.dtype)
        raise ValueError(
            f"y must hold numbers for {name}, got {found}: convert y to numbers, for example with "
            "astype(float)."
        )
    if labels.dtype.kind == "f":
        check_size(labels, "y", name)


def _is_number(label: Any) -> bool:
    return isinstance(label, (bool, int, float, np.number, np.bool_))


def _check_one_type(labels: NDArray[Any], name: str, *, must_be_text: bool) -> None:
    """Refuse objects that have no order and, for classifiers, those that are not text."""
    if labels.dtype.kind != "O":
        return
    kinds = sorted({type(each).__name__ for each in labels.flat})
    remedy = "convert them, for example with y.astype(str)"
    if must_be_text and kinds not in ([], ["str"]):
        raise ValueError(
            f"y must hold text or an array of numbers for {name}, got objects of type "
            f"{', '.join(kinds)}: {remedy}."
        )
    try:
        sorted(set(labels.flat))
    except TypeError:
        raise ValueError(
            f"y must hold labels of one type for {name}, got {', '.join(kinds)}: {remedy}."
        ) from None


@by_kind
def check_no_missing(y: Any) -> None:
    """Raise ValueError if objects or times are missing. Scikit-learn checks numbers."""
    labels = np.asarray(y)
    # None and sparse matrices become arrays without an axis.
    if labels.ndim == 0 or labels.dtype.kind not in "OmM":
        return
    missing = [each for each in _distinct(labels) if _is_missing(each)]
    if missing:
        raise ValueError(f"y must have no missing labels, got {missing[0]!r}: drop these rows.")


def _distinct(labels: NDArray[Any]) -> set[Any]:
    try:
        return set(labels.flat)
    except TypeError:
        kinds = sorted({type(each).__name__ for each in labels.flat})
        raise ValueError(f"y must hold numbers or text, got {', '.join(kinds)}.") from None


def _is_missing(label: Any) -> bool:
    # NaN is not equal to itself. For the NA of pandas the comparison gives NA.
    return label is None or str(label == label) != "True"
