r"""Blends of a trained model and a linear one, around the best constant.

.. math:: f(x) = c + \sum_j w_j (f_j(x) - c) , \qquad w_j \ge 0

Weights below one pull predictions to the constant. With one model this is a temperature (guo2017).
A blend of a cosine model and a linear model is a cosine model, so it costs nothing to predict with.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pacfourier.arrays import FloatArray
from pacfourier.core.boosting.cosine_model import CosineModel
from pacfourier.core.boosting.objectives import Objective

# Where classes are separated the best weight would be infinite.
_LARGEST_WEIGHT = 4.5
# Amounts are only averaged: a single wild label among the validation rows must not amplify all
# predictions.
_LARGEST_SUM_OF_AMOUNTS = 1.0


class Blend(NamedTuple):
    """How models are blended: the constant, one number per output, and a weight per model."""

    constant: FloatArray
    weights: FloatArray

    def scores(self, parts: Sequence[FloatArray]) -> FloatArray:
        """Return the blend of the scores of each model, of shape (n_samples, n_outputs)."""
        pulls = (w * (part - self.constant) for w, part in zip(self.weights, parts, strict=True))
        return np.asarray(sum(pulls, start=self.constant))

    def model(self, first: CosineModel, *others: CosineModel) -> CosineModel:
        """Return the blend of a model with linear ones, whose inputs are the first of its own."""
        weight = first.linear.dtype.type(self.weights[0])
        linear = weight * first.linear
        for each, other in zip(self.weights[1:], others, strict=True):
            linear[: len(other.linear)] += (each * other.linear).astype(linear.dtype)
        intercepts = self.scores([model.intercepts for model in (first, *others)])
        return CosineModel(
            first.frequencies,
            weight * first.cosines,
            weight * first.sines,
            linear,
            intercepts.astype(linear.dtype),
        )


def best_blend(
    parts: Sequence[FloatArray],
    labels: FloatArray,
    sample_weight: FloatArray,
    constant: FloatArray,
    objective: Objective,
) -> Blend:
    """Return the blend that fits best on rows from which no model has learned.

    Each weight is between 0 and 4.5. For amounts, the weights add up to at most 1.

    Parameters
    ----------
    parts : sequence of arrays of shape (n_samples, n_outputs)
        The scores of each model.
    labels : array of shape (n_samples, n_outputs)
    sample_weight : array of shape (n_samples,)
    constant : array of shape (n_outputs,)
    objective : Objective
    """
    # Predictions import this package, and need no optimiser.
    from scipy.optimize import LinearConstraint, minimize

    pulls = np.stack([part - constant for part in parts]).astype(np.float64)
    shares = (sample_weight / sample_weight.sum())[:, np.newaxis]

    def mean_loss(weights: FloatArray) -> tuple[float, FloatArray]:
        losses, residuals = objective.losses(constant + np.tensordot(weights, pulls, 1), labels)
        return float((losses * shares).sum()), -np.tensordot(pulls, residuals * shares, 2)

    largest_sum = np.inf if objective.is_odds else _LARGEST_SUM_OF_AMOUNTS
    found = minimize(
        mean_loss,
        np.eye(len(parts))[0],
        jac=True,
        method="SLSQP",
        bounds=[(0, _LARGEST_WEIGHT)] * len(parts),
        constraints=LinearConstraint(np.ones(len(parts)), 0, largest_sum),
        options={"ftol": 1e-9},
    )
    return Blend(constant, np.asarray(found.x))
