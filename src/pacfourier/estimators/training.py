"""How a predictor is trained: the start of its frequencies, its descent, and the choice of recipe.

Frequencies start from a Gibbs draw and move together with everything else. Some rows are set aside
to choose a recipe: how strongly frequencies are held to their prior, and whether columns are coded.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from pacfourier.arrays import FloatArray, IntArray
from pacfourier.core.boosting.columns import Columns, described_columns
from pacfourier.core.boosting.cosine_model import CosineModel, model_gradient, model_scores
from pacfourier.core.boosting.descent import Decays, Descent, Labelled, one_cycle
from pacfourier.core.boosting.objectives import Objective
from pacfourier.core.boosting.residuals import residual_losses
from pacfourier.core.prior.frequencies import DRAW_STREAM, FrequencyPool
from pacfourier.pacbayes.posteriors import (
    draw_frequencies,
    gibbs_posterior,
    inverse_temperature_of_size,
)
from pacfourier.spectra import RBF, Mixture

# Bandwidths of the candidates, times the mean squared distance between two samples.
RELATIVE_GAMMAS = tuple(2 * 10.0**k for k in np.arange(-2, 1.25, 0.5))
N_CANDIDATES = 1200
# Rows from which the start is drawn: enough to rank candidates, whatever the sample size.
START_ROWS = 5000
# The largest rate of a descent, its decay of amplitudes and slopes, and the decays of frequencies
# to choose from.
PEAK_RATE, AMPLITUDE_DECAY, LINEAR_DECAY, CODED_DECAY = 0.01, 0.1, 1.0, 0.0
STRENGTHS = (0.3, 1.0, 3.0)
# A run has at least so many steps and epochs.
FEWEST_STEPS, FEWEST_EPOCHS, MOST_EPOCHS = 2000, 10, 60
SMALLEST_BATCH, LARGEST_BATCH, BATCHES_PER_EPOCH = 32, 500, 20


class Recipe(NamedTuple):
    """What is chosen on rows set aside: whether columns are coded, and the decay of frequencies."""

    coded: bool
    strength: float


class Trained(NamedTuple):
    """A trained model, and the columns that it reads."""

    model: CosineModel
    columns: Columns

    def scores(self, X: Any) -> Any:
        """Return the outputs of the model for rows of the user's table."""
        return model_scores(self.columns.inputs(X), self.model)


class Task(NamedTuple):
    """What is learned: rows of the user's table with coded labels, the loss, and the size."""

    rows: Labelled
    objective: Objective
    n_frequencies: int
    seed: int

    def part(self, rows: IntArray) -> "Task":
        """Return the same task on chosen rows."""
        return self._replace(rows=self.rows.take(rows))


def drawn_frequencies(X: Any, residuals: FloatArray, pool: FrequencyPool, size: int) -> FloatArray:
    """Draw frequencies from the Gibbs posterior of their alignment with the residuals."""
    scores = residual_losses(X, residuals, pool)
    temperature = inverse_temperature_of_size(scores, min(2 * size, len(pool) / 2))
    posterior = gibbs_posterior(scores, temperature)
    chosen, _ = draw_frequencies(posterior, size, "distinct", pool.stream(DRAW_STREAM))
    return pool[chosen]


def residual_prior(spread: float) -> Mixture:
    """Return the prior of the candidates; ``spread`` is the mean squared distance of samples."""
    return Mixture([RBF(gamma / spread) for gamma in RELATIVE_GAMMAS])


def start_of(task: Task, rows: Labelled) -> CosineModel:
    """Return the best constant with frequencies drawn on its residuals, whose amplitudes are zero.

    ``rows`` are those of the task, with scaled and coded columns.
    """
    few = rows.take(np.arange(min(len(rows), START_ROWS)))
    means = np.average(rows.labels, axis=0, weights=rows.weights)
    constant = CosineModel.constant(rows.X.shape[1], task.objective.constant(means))
    weights = few.weights / few.weights.sum()
    _, _, residuals = model_gradient(constant, few.X, few.labels, task.objective.losses, weights)
    spread = 2 * max(float(mean_square(few.X)), 1e-12)
    n_candidates = max(N_CANDIDATES, 2 * task.n_frequencies)
    pool = FrequencyPool(residual_prior(spread), n_candidates, rows.X.shape[1], task.seed)
    drawn = drawn_frequencies(few.X, residuals * weights[:, np.newaxis], pool, task.n_frequencies)
    return constant.extended(drawn).sloped()


def mean_square(X: Any) -> float:
    """Return the mean squared length of the rows."""
    squares = X.multiply(X) if hasattr(X, "multiply") and hasattr(X, "indptr") else X * X
    return float(squares.sum()) / X.shape[0]


def batch_size(n_samples: int) -> int:
    """Return the rows of a mini-batch: a twentieth of the sample, within limits."""
    return int(np.clip(n_samples // BATCHES_PER_EPOCH, SMALLEST_BATCH, LARGEST_BATCH))


def epochs(n_samples: int) -> int:
    """Return the number of passes, from the fewest steps and the fewest passes of a run."""
    steps = -(-n_samples // batch_size(n_samples))
    return int(np.clip(-(-FEWEST_STEPS // steps), FEWEST_EPOCHS, MOST_EPOCHS))


def trained(
    task: Task, recipe: Recipe, report: Callable[[str], None], share: float = 1.0
) -> Trained:
    """Return the model that a recipe gives. ``share`` shortens the run."""
    X, labels, weights = task.rows
    columns = described_columns(X, weights.astype(np.float64), coded=recipe.coded)
    rows = Labelled(columns.inputs(X), labels, weights)
    slopes = CODED_DECAY if recipe.coded else LINEAR_DECAY
    decays = Decays(recipe.strength, AMPLITUDE_DECAY, slopes)
    descent = Descent.start(start_of(task, rows), task.objective.losses, decays)
    size, n_epochs = batch_size(len(rows)), max(2, round(share * epochs(len(rows))))
    n_steps = n_epochs * -(-len(rows) // size)
    rng = np.random.default_rng(task.seed)
    for number in range(n_epochs):
        order = rng.permutation(len(rows))
        loss = descent.pass_over(
            rows, order, size, lambda step: PEAK_RATE * one_cycle((step + 1) / n_steps)
        )
        report(f"epoch {number + 1}/{n_epochs}: mean loss {loss:.4f}")
    return Trained(descent.model, columns)
