"""Certificates of our predictors, and a check that certified abstention keeps its promise."""

from typing import Any, NamedTuple, Self

import numpy as np
from benchmarks.predictors_data import Rows, Table
from sklearn.base import BaseEstimator, ClassifierMixin

from pacfourier import certify_predictions

WISHED_ERROR = 0.01
N_RESAMPLINGS = 400


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
        certificate = certify_predictions(self.model, numbers, self.y[rows], ties="genuine")
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


def abstention_checks(pool: Pool, n_resamplings: int = N_RESAMPLINGS) -> dict[str, float]:
    """Return how often the error of accepted rows is at most the wished one.

    ``held_by_halves``: a random half certifies, and the error is counted on the other half. That
    count is noisy itself. ``held_by_draws``: rows that certify are drawn from the pool with
    replacement, so that the pool is the distribution and its error is known exactly.
    """
    n_rows = len(pool.y)
    held = np.zeros((n_resamplings, 2))
    for number in range(n_resamplings):
        rng = np.random.default_rng(number)
        first, second = np.array_split(rng.permutation(n_rows), 2)
        drawn = rng.integers(n_rows, size=len(first))
        for column, (certify, check) in enumerate(((first, second), (drawn, np.arange(n_rows)))):
            error, _ = pool.accepted_error(check, pool.threshold(certify))
            held[number, column] = error <= WISHED_ERROR
    by_halves, by_draws = held.mean(axis=0)
    return {"held_by_halves": by_halves, "held_by_draws": by_draws}


def certified_record(model: Any, table: Table, test: Rows) -> dict[str, Any]:
    """Return what the certificate of a classifier says, if rows were kept for one."""
    if hasattr(model, "certificate_"):
        certificate = model.certificate_
        return {"certified": certificate.error, "n_certified": certificate.n_samples}
    if table.fresh is None:
        return {}
    certificate = certify_predictions(model, *table.fresh)
    abstention = certificate.abstention(WISHED_ERROR)
    pool = pool_of(model, [table.fresh, test])
    error, accepted = pool.accepted_error(np.arange(len(pool.y)), abstention.threshold)
    return {
        "certified": certificate.error,
        "n_certified": certificate.n_samples,
        "accepted": abstention.accepted,
        "accepted_of_pool": accepted,
        "error_of_accepted": error,
        **abstention_checks(pool),
    }
