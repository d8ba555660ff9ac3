"""Penalised linear models, which validation rows may blend with a trained model.

A descent regularises slopes by a fixed decay. That is too little on few rows with many columns,
where a linear model whose penalty is chosen does better.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from pacfourier.arrays import FloatArray, host
from pacfourier.core.boosting.columns import Columns, described_columns
from pacfourier.core.boosting.cosine_model import (
    CosineModel,
    Penalties,
    model_scores,
    moved_model,
)
from pacfourier.estimators.training import Task, best_constant, coded_rows, row_losses, splits

# The penalties to choose from, for a mean loss. The path starts at the largest.
_PENALTIES = tuple(10.0**k for k in range(1, -5, -1))
_N_STEPS = 100


class _LinearTrial(NamedTuple):
    """The best penalty of a linear model, and its scores on validation rows."""

    penalty: float
    scores: FloatArray


def _linear_path(task: Task) -> Iterator[tuple[Columns, CosineModel]]:
    r"""Yield the linear model of each penalty p, and the columns that it reads.

    .. math:: \min_{L, c} \sum_i \frac{v_i}{\sum_j v_j} \ell(c + L^\top x_i, y_i)
              + \frac p2 \|L\|^2

    for rows x in units of their columns, with weights v. Each model starts from the one before.
    """
    columns = described_columns(task.rows.X, task.rows.weights.astype(np.float64), coded=False)
    rows = coded_rows(columns, task.rows)
    model = CosineModel.constant(rows.X.shape[1], best_constant(task)).sloped()
    shares = rows.weights / rows.weights.sum()
    for penalty in _PENALTIES:
        model = moved_model(
            model,
            rows.X,
            rows.labels,
            task.objective.losses,
            shares,
            Penalties(penalty, 0.0),
            n_steps=_N_STEPS,
        )
        yield columns, model


def linear_trial(task: Task) -> _LinearTrial:
    """Return how linear models do on validation rows, with the best penalty."""
    pairs = list(splits(task.rows.n_samples, task.seed))
    parts = [_path_scores(task.part(learned), task.rows.X[aside]) for learned, aside in pairs]
    scores = np.concatenate(parts, axis=1)
    _, labels, weights = task.rows.take(np.concatenate([aside for _, aside in pairs]))
    losses = [row_losses(each, labels, weights, task.objective).mean() for each in scores]
    best = int(np.argmin(losses))
    return _LinearTrial(_PENALTIES[best], scores[best])


def _path_scores(task: Task, X: Any) -> FloatArray:
    """Return the scores of rows for each penalty, of shape (n_penalties, n_samples, n_outputs)."""
    path = _linear_path(task)
    return np.stack([np.asarray(host(model_scores(c.inputs(X), model))) for c, model in path])


def linear_model(task: Task, penalty: float) -> CosineModel:
    """Return the linear model of one penalty, learned from all rows."""
    path = zip(_PENALTIES, _linear_path(task), strict=True)
    return next(model for each, (_, model) in path if each == penalty)
