r"""The losses that a predictor can minimise.

Each is a function of scores and labels, both of shape (n_samples, n_outputs), that returns the
losses and their negative derivatives in the scores.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special

from pacfourier.arrays import FloatArray
from pacfourier.core.boosting.cosine_model import Losses, square_losses

__all__ = ["OBJECTIVES", "Objective"]

# Errors of standardised labels from which the Huber loss grows linearly. At 1.345 the squared loss
# is only 5 % more efficient when errors are normal.
HUBER_BEND = 1.345


def softmax_losses(scores: FloatArray, labels: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return :math:`-y_k \ln p_k` with :math:`p_k = e^{f_k} / \sum_j e^{f_j}`, and y - p."""
    logs = scores - special.logsumexp(scores, axis=1, keepdims=True)
    return -labels * logs, labels - np.exp(logs)


def logistic_losses(scores: FloatArray, labels: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return :math:`\ln(1 + e^f) - y f` for labels 0 or 1, and y - 1 / (1 + exp(-f))."""
    return np.logaddexp(0, scores) - labels * scores, labels - special.expit(scores)


def absolute_losses(scores: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return absolute errors, and the signs of what is missing."""
    rest = values - scores
    return np.abs(rest), np.sign(rest)


def huber_losses(scores: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return :math:`r^2 / 2` for errors up to a bend b, and :math:`b (|r| - b / 2)` beyond."""
    rest = values - scores
    bounded = np.clip(rest, -HUBER_BEND, HUBER_BEND)
    return bounded * (rest - bounded / 2), bounded


def _log_shares(means: FloatArray) -> FloatArray:
    # A rare class may have no row among those to learn from.
    logs: FloatArray = np.log(means.clip(1e-6))
    return logs - logs.mean()


def _log_odds(means: FloatArray) -> FloatArray:
    return np.asarray(special.logit(means.clip(1e-6, 1 - 1e-6)))


class Objective(NamedTuple):
    """A loss, the best constant scores for given means of the labels, and what scores are."""

    losses: Losses
    constant: Callable[[FloatArray], FloatArray]
    is_odds: bool = False
    """Whether scores are logarithms of odds, rather than amounts."""


OBJECTIVES = {
    "softmax": Objective(softmax_losses, _log_shares, is_odds=True),
    "logistic": Objective(logistic_losses, _log_odds, is_odds=True),
    "squared_error": Objective(square_losses, lambda means: means),
    "absolute_error": Objective(absolute_losses, lambda means: means),
    "huber": Objective(huber_losses, lambda means: means),
}
