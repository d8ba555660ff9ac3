"""Certificates of our predictors, and a check that certified abstention keeps its promise."""

from typing import Any, NamedTuple, Self

import numpy as np
from benchmarks.predictors_data import DataSet, Rows
from sklearn.base import BaseEstimator, ClassifierMixin

from pacfourier import certify

WISHED_ERROR = 0.01
N_RESAMPLINGS = 1000


class Recorded(ClassifierMixin, BaseEstimator):
    """A classifier whose predictions were computed before; a row of X holds its number."""

    def __init__(self, classes: np.ndarray, probabilities: np.ndarray) -> None:
        self.classes_ = classes
        self.probabilities = probabilities

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn nothing."""
        del X, y
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the recorded probabilities."""
        return self.probabilities[X[:, 0].astype(int)]

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the most likely classes."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Pool(NamedTuple):
    """Fresh rows: their classifier, its confidences and errors, and their labels."""

    model: Recorded
    confidences: np.ndarray
    is_wrong: np.ndarray
    y: np.ndarray

    def threshold(self, rows: np.ndarray) -> float:
        """Return the confidence from which on predictions are accepted, certified on rows."""
        numbers = rows[:, np.newaxis].astype(np.float64)
        certificate = certify(self.model, numbers, self.y[rows], duplicates="genuine")
        return certificate.abstention(WISHED_ERROR).threshold

    def accepted_error(self, rows: np.ndarray, threshold: float) -> tuple[float, float]:
        """Return the share of errors among accepted rows, and the share accepted."""
        is_accepted = self.confidences[rows] >= threshold
        if not is_accepted.any():
            return 0.0, 0.0
        return float(self.is_wrong[rows][is_accepted].mean()), float(is_accepted.mean())


def pool_of(model: Any, parts: list[Rows]) -> Pool:
    """Return the pool of all rows of some parts."""
    probabilities = np.concatenate([model.predict_proba(part.X) for part in parts])
    y = np.concatenate([part.y for part in parts])
    recorded = Recorded(model.classes_, probabilities)
    is_wrong = model.classes_[probabilities.argmax(axis=1)] != y
    return Pool(recorded, probabilities.max(axis=1), is_wrong, y)


def share_kept(pool: Pool, n_resamplings: int = N_RESAMPLINGS) -> float:
    """Return how often the error of accepted rows is at most the wished one.

    The pool is the distribution: rows that certify, half as many as it has, are drawn from it with
    replacement. So the error that is promised is known exactly. Errors counted on other rows would
    be noisy themselves, by a tenth of the wished error for 10,000 rows.
    """
    everything, n_rows = np.arange(len(pool.y)), len(pool.y)
    n_kept = 0
    for number in range(n_resamplings):
        drawn = np.random.default_rng(number).integers(n_rows, size=n_rows // 2)
        error, _ = pool.accepted_error(everything, pool.threshold(drawn))
        n_kept += error <= WISHED_ERROR
    return n_kept / n_resamplings


def certified_record(model: Any, table: DataSet, test: Rows) -> dict[str, Any]:
    """Return what the certificate of a classifier says, if rows were kept for one."""
    if hasattr(model, "certificate_"):
        certificate = model.certificate_
        return {"certified": certificate.error, "n_certified": certificate.n_samples}
    if table.fresh is None:
        return {}
    certificate = certify(model, *table.fresh)
    abstention = certificate.abstention(WISHED_ERROR)
    pool = pool_of(model, [table.fresh, test])
    error, accepted = pool.accepted_error(np.arange(len(pool.y)), abstention.threshold)
    return {
        "certified": certificate.error,
        "n_certified": certificate.n_samples,
        "accepted": abstention.accepted,
        "accepted_of_pool": accepted,
        "error_of_accepted": error,
        "kept": share_kept(pool),
    }
