"""How good predictions for rows held out are."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray
from pacfourier.bounds.safe_side import safely_rounded
from pacfourier.pacbayes.predictions import half_width

# The recalls for which thresholds are printed.
_RECALLS = (0.5, 0.8, 0.9, 0.95, 0.99)


class Result(NamedTuple):
    """How good a model is on the rows held out.

    Parameters
    ----------
    name : str
    error : float
        Share of wrong predictions, or the mean absolute error of a regression.
    standard_error : float
        Of the error.
    seconds : float
        How long the fit took.
    r2 : float or None
        Share of the variance that a regression explains.
    """

    name: str
    error: float
    standard_error: float
    seconds: float
    r2: float | None = None


def group_standard_error(losses: FloatArray, groups: NDArray[Any]) -> float:
    r"""Return the standard error of a mean of losses, of which only groups are independent.

    .. math:: \frac{1}{n} \sqrt{\frac{k}{k - 1} \sum_g s_g^2}, \quad
        s_g = \sum_{i \in g} (\ell_i - \bar\ell)

    for n rows in k groups g. With one row per group, this is the usual standard error.
    """
    _, places = np.unique(groups, return_inverse=True)
    sums = np.bincount(places, weights=losses - losses.mean())
    if len(sums) < 2:
        return np.inf
    return float(np.sqrt(len(sums) / (len(sums) - 1) * (sums**2).sum()) / len(losses))


def losses_of(truth: NDArray[Any], predictions: NDArray[Any], task: str) -> FloatArray:
    """Return the loss of each row: whether a class is wrong, or the absolute error."""
    if task == "classification":
        return (truth != predictions).astype(np.float64)
    return np.abs(truth - predictions)


def explained_variance(truth: FloatArray, predictions: FloatArray) -> float | None:
    r"""Return the coefficient of determination.

    .. math:: R^2 = 1 - \frac{\sum_i (y_i - f_i)^2}{\sum_i (y_i - \bar y)^2} .
    """
    total = float(((truth - truth.mean()) ** 2).sum())
    return 1 - float(((truth - predictions) ** 2).sum()) / total if total else None


def confusion_counts(
    truth: NDArray[Any], predictions: NDArray[Any], classes: list[str]
) -> NDArray[np.int64]:
    """Return the number of rows by true class (row) and predicted class (column)."""
    table = np.zeros((len(classes), len(classes)), dtype=np.int64)
    is_known = np.isin(truth, classes)
    places = [np.searchsorted(classes, each[is_known]) for each in (truth, predictions)]
    np.add.at(table, tuple(places), 1)
    return table


class _Threshold(NamedTuple):
    """A probability from which on the rarer class is predicted.

    Parameters
    ----------
    recall : float
        The share of new rows of this class that the threshold finds at least.
    threshold : float
        Predict the class if its probability is at least this. Zero if there are too few rows to
        promise the recall.
    precision : float
        Share of the predictions of the class that were right, among the rows held out.
    alarms : float
        Share of the rows held out for which the class is predicted.
    """

    recall: float
    threshold: float
    precision: float
    alarms: float


def recall_thresholds(
    probabilities: FloatArray, is_class: NDArray[np.bool_], epsilon: float
) -> list[_Threshold]:
    r"""Return one threshold for each of ``_RECALLS``: it finds at least this share of a class.

    A threshold for the recall r is a number t with :math:`\Pr(p \ge t) \ge r` for the probability p
    that the model gives to a new row of the class. This is a ``half_width`` of -p with coverage r.
    All thresholds together hold with probability :math:`1 - \varepsilon`, so that the user may
    choose among them. Each is rounded down to the digits that are shown.
    """
    found = []
    for recall in _RECALLS:
        width = half_width(-probabilities[is_class], recall, epsilon / len(_RECALLS))
        # What is stored is the number that is shown.
        threshold = 0.0 if np.isinf(width) else float(safely_rounded(-width, "down"))
        is_alarm = probabilities >= threshold
        precision = float(is_class[is_alarm].mean())
        found.append(_Threshold(recall, threshold, precision, float(is_alarm.mean())))
    return found
