"""Certificates of a predictor, from rows that it was not learned from."""

from abc import abstractmethod
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacfourier.arrays import FloatArray, IntArray
from pacfourier.bounds import holdout
from pacfourier.bounds.arguments import bounded_vector, non_negative, positive, unit_open
from pacfourier.bounds.safe_side import confidence, safely_rounded
from pacfourier.pacbayes.assumptions import (
    Assumption,
    Duplicates,
    Statement,
    new_rows,
    run_assumption,
)
from pacfourier.pacbayes.holdout import (
    FreshRows,
    fresh_row_assumptions,
    preparation_assumption,
)
from pacfourier.pacbayes.predictions import (
    Abstention,
    Confidences,
    certified_abstention,
    half_width,
    least_rates,
    mean_loss_bound,
)

__all__ = [
    "ClassCounts",
    "ClassificationCertificate",
    "Confidences",
    "PredictionCertificate",
    "RegressionCertificate",
    "class_counts",
    "label_set_counts",
    "prediction_assumptions",
]

# The share of new rows that the printed text of a regression is about.
USUAL_COVERAGE = 0.9


@dataclass(frozen=True, repr=False, eq=False)
class PredictionCertificate(Statement):
    """What rows that a predictor was not learned from say about it.

    Every statement holds with probability 1 - epsilon over these rows. If you read several of them
    together, their epsilons add up.

    Attributes
    ----------
    epsilon : float
        Probability, over the rows, that a statement fails.
    assumptions : tuple of Assumption
        If one of them is violated, every bound raises an error that says how to fix it.
    group : str, default=None
        The column that names groups, of which these are one random row each. Every statement is
        then about a random row of a random new group. None means independent rows.
    period : str, default=None
        When these rows were taken. Every statement is then about this period.
    """

    epsilon: float
    assumptions: tuple[Assumption, ...]
    group: str | None = field(default=None, kw_only=True)
    period: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        unit_open("epsilon", self.epsilon)

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """The number of rows."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as a dictionary that can be written as JSON."""

    def mean_loss(self, losses: ArrayLike) -> float:
        """Return an upper bound on the mean of any loss with values in [0, 1].

        Use it for a loss of your own, such as a cost per row divided by the largest possible cost.

        Parameters
        ----------
        losses : array-like of shape (n_samples,)
            The loss of each row of the certificate. It may depend on the row, its label and the
            prediction, but not on other rows.

        Returns
        -------
        bound : float
            It holds at any number of rows (betting: waudbysmith2024).
        """
        self._check_assumptions()
        values = bounded_vector("losses", losses, 0.0, 1.0, size=self.n_samples)
        return mean_loss_bound(values, self.epsilon)

    def _shared(self) -> dict[str, Any]:
        return {
            "n_samples": self.n_samples,
            "epsilon": self.epsilon,
            "assumptions": [asdict(item) for item in self.assumptions],
        }

    def _probability(self) -> tuple[str, str]:
        one_of_each = ", one random row of each group" if self.group else ""
        text = f"{confidence(self.epsilon)} over samples of {self.n_samples:,}{one_of_each}"
        return "holds with probability", text


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """How often each class is the label, is predicted, and is both.

    Attributes
    ----------
    classes : array of shape (n_classes,)
    n_labelled, n_predicted, n_hits : arrays of shape (n_classes,)
    are_disjoint : bool, default=True
        Whether every row has one class. Otherwise it may have several labels, or none.
    """

    classes: NDArray[Any]
    n_labelled: IntArray
    n_predicted: IntArray
    n_hits: IntArray
    are_disjoint: bool = True


def class_counts(y: NDArray[Any], predictions: NDArray[Any], classes: NDArray[Any]) -> ClassCounts:
    """Return the counts of classes, of those that are given and of those that occur."""
    known = np.unique(np.concatenate([classes, y, predictions]))
    labelled, predicted = np.searchsorted(known, y), np.searchsorted(known, predictions)
    n = len(known)
    return ClassCounts(
        classes=known,
        n_labelled=np.bincount(labelled, minlength=n),
        n_predicted=np.bincount(predicted, minlength=n),
        n_hits=np.bincount(labelled[labelled == predicted], minlength=n),
    )


def label_set_counts(y: NDArray[Any], predictions: NDArray[Any]) -> ClassCounts:
    """Return the counts of the labels in label sets, which are columns of zeros and ones."""
    labelled, predicted = y.astype(bool), predictions.astype(bool)
    return ClassCounts(
        classes=np.arange(y.shape[1]),
        n_labelled=labelled.sum(axis=0),
        n_predicted=predicted.sum(axis=0),
        n_hits=(labelled & predicted).sum(axis=0),
        are_disjoint=False,
    )


@dataclass(frozen=True, repr=False, eq=False)
class ClassificationCertificate(PredictionCertificate):
    """Bounds on the error of a classifier, from rows that it was not learned from.

    Each of ``error``, the bounds of all classes together, and each result of ``abstention`` and
    ``mean_loss`` holds with probability 1 - epsilon over these rows. If you read several of them,
    their epsilons add up.

    Attributes
    ----------
    epsilon : float
        Probability, over the rows, that a statement fails.
    assumptions : tuple of Assumption
        If one of them is violated, every bound raises an error that says how to fix it.
    is_wrong : array of shape (n_samples,)
        Whether the prediction of a row is wrong. For label sets: whether any label is.
    confidences : Confidences or None
        How confident the classifier is of each prediction. None if it does not say.
    counts : ClassCounts
    group : str, default=None
        The column that names groups, of which these are one random row each.
    period : str, default=None
        When these rows were taken.
    """

    is_wrong: NDArray[np.bool_]
    confidences: Confidences | None
    counts: ClassCounts

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return len(self.is_wrong)

    @property
    def observed_error(self) -> float:
        """The share of these rows that is predicted wrongly."""
        return float(self.is_wrong.mean())

    @property
    def error(self) -> float:
        """An upper bound on the share of new rows that is predicted wrongly (Clopper-Pearson)."""
        self._check_assumptions()
        n_errors = int(self.is_wrong.sum())
        return holdout(n_errors=n_errors, n_samples=self.n_samples, epsilon=self.epsilon).value

    @property
    def recall(self) -> dict[Any, float]:
        """Lower bounds, by class: of new rows of this class, how many are predicted as such.

        The bounds of recall and precision hold for all classes together, with probability
        1 - epsilon. The bound of a class without rows is zero.
        """
        return self._rates(self.counts.n_labelled)

    @property
    def precision(self) -> dict[Any, float]:
        """Lower bounds, by class: of new rows predicted as this class, how many belong to it.

        They hold together with those of recall.
        """
        return self._rates(self.counts.n_predicted)

    def _rates(self, n_rows: IntArray) -> dict[Any, float]:
        self._check_assumptions()
        # Recall and precision get half of epsilon each.
        counts = self.counts
        rates = least_rates(
            counts.n_hits, n_rows, self.epsilon / 2, are_disjoint=counts.are_disjoint
        )
        return dict(zip(counts.classes.tolist(), rates.tolist(), strict=True))

    def abstention(self, error: float = 0.01) -> Abstention:
        """Return the confidence from which on few predictions are wrong.

        The confidence of a prediction is the largest probability of ``predict_proba``. For
        classifiers without it, it is the difference of the two largest scores of
        ``decision_function``, or the absolute score if there are two classes. Of several labels,
        the least certain one counts.

        Parameters
        ----------
        error : float, default=0.01
            The error that you wish among the predictions that you accept. Name it before you see
            results for other values.

        Returns
        -------
        abstention : Abstention
            ``threshold``, with the share of rows that it accepts. If you accept a prediction only
            if its confidence is at least the threshold, then the share of errors among accepted
            predictions is at most ``error``, with probability 1 - epsilon. If no threshold could
            be certified, it is infinite.
        """
        self._check_assumptions()
        unit_open("error", error)
        if self.confidences is None:
            raise ValueError(
                "abstention needs a classifier with predict_proba or decision_function, "
                "got one that has neither."
            )
        return certified_abstention(
            self.confidences, self.is_wrong, error=error, epsilon=self.epsilon
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as a dictionary that can be written as JSON.

        Returns
        -------
        contents : dict
            The bounds are None if the certificate is refused.
        """
        is_refused = bool(self.violations)
        return {
            "error": None if is_refused else self.error,
            "observed_error": self.observed_error,
            "classes": self.counts.classes.tolist(),
            "recall": None if is_refused else list(self.recall.values()),
            "precision": None if is_refused else list(self.precision.values()),
            **self._shared(),
        }

    def _headline(self) -> str:
        if self.violations:
            return "No certificate for the classifier"
        about = new_rows(self.group, self.period)
        on = f" on {about}" if self.group or self.period else ""
        return f"Error of the classifier{on} <= {safely_rounded(self.error, 'up', decimals=4)}"

    def _facts(self) -> list[tuple[str, str]]:
        facts = [self._probability(), ("observed error", f"{self.observed_error:.4f}")]
        if self.violations:
            return facts
        rates = {"lowest recall": self.recall, "lowest precision": self.precision}
        return facts + [(name, _lowest(bounds)) for name, bounds in rates.items()]


def _lowest(rates: dict[Any, float]) -> str:
    name = min(rates, key=lambda each: rates[each])
    return f">= {safely_rounded(rates[name], 'down', decimals=4)} (class {name})"


@dataclass(frozen=True, repr=False, eq=False)
class RegressionCertificate(PredictionCertificate):
    """Bounds on the absolute error of a regressor, from rows that it was not learned from.

    Each result holds with probability 1 - epsilon over these rows. If you read several of them,
    their epsilons add up: name the coverage, tolerance or limit before you see results.

    Attributes
    ----------
    epsilon : float
        Probability, over the rows, that a statement fails.
    assumptions : tuple of Assumption
        If one of them is violated, every bound raises an error that says how to fix it.
    absolute_errors : array of shape (n_samples,)
        Distance between prediction and label. Of several outputs, the largest counts.
    least_half_widths : array of shape (n_samples,)
        The least h for which the interval of prediction - h to prediction + h contains the label,
        as floating-point numbers are added. Otherwise like the absolute errors.
    group : str, default=None
        The column that names groups, of which these are one random row each.
    period : str, default=None
        When these rows were taken.
    """

    absolute_errors: FloatArray
    least_half_widths: FloatArray

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return len(self.absolute_errors)

    def half_width(self, coverage: float = USUAL_COVERAGE) -> float:
        """Return h such that the interval of prediction - h to prediction + h is reliable.

        Parameters
        ----------
        coverage : float, default=0.9
            The share of new rows whose label must lie in the interval.

        Returns
        -------
        half_width : float
            With probability 1 - epsilon, the interval contains the labels of at least this share
            of new rows, if its ends are computed in the type of the predictions. Infinite if there
            are too few rows to tell.
        """
        self._check_assumptions()
        return half_width(self.least_half_widths, unit_open("coverage", coverage), self.epsilon)

    def exceedance(self, tolerance: float) -> float:
        """Return an upper bound on the share of new rows whose error exceeds a tolerance.

        Parameters
        ----------
        tolerance : float
            The largest absolute error that you accept, in the unit of y.

        Returns
        -------
        bound : float
            The exact binomial (Clopper-Pearson) bound.
        """
        self._check_assumptions()
        n_errors = int((self.absolute_errors > non_negative("tolerance", tolerance)).sum())
        return holdout(n_errors=n_errors, n_samples=self.n_samples, epsilon=self.epsilon).value

    def mean_absolute_error(self, limit: float) -> float:
        """Return an upper bound on the mean absolute error, where larger errors count as a limit.

        No bound on the mean itself is possible without a limit: a rare row may have any error.

        Parameters
        ----------
        limit : float
            The largest error that counts, in the unit of y. Name one that errors rarely exceed.

        Returns
        -------
        bound : float
            In the unit of y. It bounds the mean of the smaller of absolute error and limit.
        """
        largest = positive("limit", limit)
        return largest * self.mean_loss(np.minimum(self.absolute_errors / largest, 1.0))

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as a dictionary that can be written as JSON.

        Returns
        -------
        contents : dict
            ``"half_width"`` is None if the certificate is refused, or if there are too few rows.
        """
        width = None if self.violations else self.half_width()
        return {
            "half_width": None if width == np.inf else width,
            "coverage": USUAL_COVERAGE,
            "observed_mean_absolute_error": float(self.absolute_errors.mean()),
            **self._shared(),
        }

    def _headline(self) -> str:
        if self.violations:
            return "No certificate for the regressor"
        about = new_rows(self.group, self.period)
        width, share = self.half_width(), f"{100 * USUAL_COVERAGE:g} % of {about}"
        if width == np.inf:
            return f"Too few rows to bound the absolute error of the regressor for {share}"
        return f"Absolute error of the regressor <= {safely_rounded(width, 'up')} for {share}"

    def _facts(self) -> list[tuple[str, str]]:
        mean, median = self.absolute_errors.mean(), np.median(self.absolute_errors)
        observed = f"mean {mean:.4g}, median {median:.4g}"
        return [self._probability(), ("observed absolute error", observed)]


def prediction_assumptions(
    rows: FreshRows, duplicates: Duplicates = None
) -> tuple[Assumption, ...]:
    """Return the assumptions of all statements about a predictor, given what its rows are."""
    reason = "you use exactly this model. A model that is fitted again needs a new certificate."
    return (
        *fresh_row_assumptions(rows, duplicates),
        preparation_assumption(rows),
        Assumption("object", "declared", reason),
        *((run_assumption(),) if rows.is_split else ()),
    )
