"""Predictors that learn from rows in parts: as they arrive, or in passes over blocks of rows."""

import copy
import math
from dataclasses import dataclass, replace

import numpy as np

from pacfourier.core.boosting.columns import Columns, described_columns
from pacfourier.core.boosting.descent import Descent, Labelled
from pacfourier.estimators.training import (
    PEAK_RATE,
    Recipe,
    Task,
    Trained,
    batch_size,
    coded_rows,
    decays_of,
    start_of,
)

# Steps after which the rate of a stream has fallen to seven tenths of its peak.
PATIENCE = 300
# The strength of a stream, which has no rows to set aside, unless it is given.
USUAL_STRENGTH = 1.0


def falling_rate(step: int) -> float:
    r"""Return :math:`\eta / \sqrt{1 + t / 300}`: nobody knows how long a stream will be."""
    return PEAK_RATE / math.sqrt(1 + step / PATIENCE)


@dataclass(frozen=True, eq=False)
class Stream:
    """A model that learns from rows as they arrive.

    Attributes
    ----------
    columns : Columns
        Those of the first rows.
    descent : Descent
    weight : float
        The mean weight of the first rows, in units of which all weights are measured.
    seed : int
    """

    columns: Columns
    descent: Descent
    weight: float
    seed: int

    @property
    def trained(self) -> Trained:
        """The model at this moment."""
        return Trained.of(self.descent.model, self.columns)

    def taught(self, rows: Labelled) -> "Stream":
        """Return the stream after one pass over more rows. This one does not change."""
        descent = copy.deepcopy(self.descent)
        order = np.random.default_rng([self.seed, descent.step]).permutation(rows.n_samples)
        inputs = coded_rows(self.columns, rows)
        descent.pass_over(inputs, order, batch_size(rows.n_samples), falling_rate)
        return replace(self, descent=descent)


def new_stream(task: Task, recipe: Recipe, weight: float) -> Stream:
    """Return a stream whose columns and start come from its first rows."""
    copies = task.rows.weights.astype(np.float64)
    columns = described_columns(task.rows.X, copies, coded=recipe.coded)
    descent = Descent.start(start_of(task, columns), task.objective.losses, decays_of(recipe))
    return Stream(columns, descent, weight, task.seed)


def continued(found: Trained, task: Task, recipe: Recipe, weight: float) -> Stream:
    """Return a stream that goes on from a trained model."""
    descent = Descent.start(found.model, task.objective.losses, decays_of(recipe))
    return Stream(found.columns, descent, weight, task.seed)
