"""How a predictor is trained: the start of its frequencies, its descent, and the choice of recipe.

Frequencies start from a Gibbs draw and move together with everything else. Validation rows choose
a recipe: how strongly frequencies are held to their prior, and whether columns are coded.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from pacfourier.arrays import FloatArray, IntArray, host, is_tensor
from pacfourier.core.boosting.blending import Blend, best_blend
from pacfourier.core.boosting.columns import Columns, described_columns
from pacfourier.core.boosting.cosine_model import (
    CosineModel,
    first_columns,
    model_gradient,
)
from pacfourier.core.boosting.descent import Decays, Descent, Labelled, one_cycle, passes_over
from pacfourier.core.boosting.objectives import Objective
from pacfourier.core.boosting.residuals import residual_losses
from pacfourier.core.prior.frequencies import DRAW_STREAM, FrequencyPool
from pacfourier.model.folding import folded_model
from pacfourier.pacbayes.posteriors import (
    draw_frequencies,
    gibbs_posterior,
    inverse_temperature_of_size,
)
from pacfourier.spectra import RBF, Mixture

Report = Callable[[str], None]

# Bandwidths of the candidates, times the mean squared distance between two samples.
_RELATIVE_GAMMAS = tuple(2 * 10.0**k for k in np.arange(-2, 1.25, 0.5))
N_CANDIDATES = 1200
# Rows from which the start is drawn: enough to rank candidates, whatever the sample size.
_START_ROWS = 5000
# The largest rate of a descent, and the decays of amplitudes, slopes, and slopes of coded columns.
PEAK_RATE, AMPLITUDE_DECAY, LINEAR_DECAY, CODED_DECAY = 0.01, 0.1, 1.0, 0.0
# The decays of frequencies to choose from. Codes need a strong one. Small samples have more: on
# large ones the strongest wins short trials and loses long runs. The weakest is for a few columns,
# along which the labels may change quickly.
ALPHAS, CODED_ALPHAS, SMALL_ALPHAS = (0.3, 3.0), (3.0,), (1.0, 10.0)
_NARROW_ALPHAS = (0.03,)
# Standard errors by which a recipe must be worse than the best so far to be given up.
_CLEARLY_WORSE = 2.0
FEW_COLUMNS = 10
# More columns than these would get too few knots each.
_MOST_CODED_COLUMNS = 128
# Limits on the number of steps and of passes over the rows, and on the rows of a mini-batch.
FEWEST_STEPS, FEWEST_EPOCHS, MOST_EPOCHS = 1600, 5, 60
SMALLEST_BATCH, LARGEST_BATCH, BATCHES_PER_EPOCH = 32, 500, 20
# Smaller samples are split three times to choose a recipe, larger ones once.
SMALL_SAMPLE, LARGE_SAMPLE = 1000, 10_000
ASIDE, MOST_ASIDE = 0.2, 10_000
# Recipes are compared on at most so many rows, because more would hardly change the choice.
_MOST_TRIED = 60_000
# Rows with their codes are kept in memory up to so many numbers (64 MB).
_MOST_CODED_NUMBERS = 2**24
# Runs on large samples that only compare recipes are shortened to this share.
_SHORT_RUN = 0.3
# Rows that are coded at a time when scores are computed.
SCORED_ROWS = 8192


class Recipe(NamedTuple):
    """What validation rows choose: whether columns are coded, and the decay of frequencies."""

    coded: bool
    alpha: float


class Trained(NamedTuple):
    """The parameters of a training: a model, and the columns in whose units and codes it is."""

    model: CosineModel
    columns: Columns

    def scores(self, X: Any) -> FloatArray:
        """Return the outputs of the model for rows of the user's table."""
        return folded_model(*self).unchecked_scores(X)


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
    return Mixture([RBF(gamma / spread) for gamma in _RELATIVE_GAMMAS])


def best_constant(task: Task) -> FloatArray:
    """Return the constant scores that fit best."""
    _, labels, weights = task.rows
    return task.objective.constant(np.average(labels, axis=0, weights=weights))


def start_rows(n_samples: int) -> IntArray:
    """Return rows to start from, spread over all rows, because their order may mean something."""
    return np.linspace(0, n_samples - 1, min(n_samples, _START_ROWS)).astype(np.intp)


def start_of(task: Task, columns: Columns) -> CosineModel:
    """Return the best constant, with frequencies drawn on its residuals and amplitudes of zero."""
    few = coded_rows(columns, task.rows.take(start_rows(task.rows.n_samples)))
    constant = CosineModel.constant(few.X.shape[1], best_constant(task))
    n_seen = columns.n_seen or few.X.shape[1]
    constant = constant.sloped()._replace(frequencies=np.zeros((0, n_seen)))
    return drawn_onto(constant, few, task)


def drawn_onto(model: CosineModel, few: Labelled, task: Task) -> CosineModel:
    """Return the model with more frequencies, drawn on its residuals in a few coded rows."""
    shares = few.weights / few.weights.sum()
    _, _, residuals = model_gradient(model, few.X, few.labels, task.objective.losses, shares)
    seen = first_columns(few.X, model.frequencies)
    prior = residual_prior(2 * max(mean_square(seen), 1e-12))
    n_candidates = max(N_CANDIDATES, 2 * task.n_frequencies)
    pool = FrequencyPool(prior, n_candidates, model.frequencies.shape[1], task.seed)
    pulls = residuals * shares[:, np.newaxis]
    return model.extended(drawn_frequencies(seen, pulls, pool, task.n_frequencies))


def in_memory(X: Any) -> Any:
    """Return a tensor of the CPU as an array, which shares its memory. Others are unchanged.

    The compiled loops for arrays are much faster on mini-batches than calls of torch.
    """
    return host(X) if is_tensor(X) and X.device.type == "cpu" else X


def mean_square(X: Any) -> float:
    """Return the mean squared length of the rows."""
    squares = X.multiply(X) if hasattr(X, "tocsr") else X * X
    return float(squares.sum()) / X.shape[0]


def coded_rows(columns: Columns, rows: Labelled) -> Labelled:
    """Return rows with columns in their units and codes, in single precision."""
    inputs = columns.inputs(rows.X)
    single = inputs.float() if is_tensor(inputs) else inputs.astype(np.float32, copy=False)
    return rows._replace(X=single)


class _CodedRows(NamedTuple):
    """Rows that are coded when they are taken: all codes at once would need too much memory."""

    columns: Columns
    rows: Labelled

    @property
    def X(self) -> Any:  # noqa: N802
        """The samples, before they are coded."""
        return self.rows.X

    def take(self, chosen: IntArray) -> Labelled:
        """Return chosen rows with their codes."""
        return coded_rows(self.columns, self.rows.take(chosen))


def _rows_to_take(columns: Columns, rows: Labelled) -> Labelled | _CodedRows:
    """Return rows with their codes, which are made later if there are very many of them."""
    is_large = rows.n_samples * len(columns.centres) > _MOST_CODED_NUMBERS
    is_array = isinstance(rows.X, np.ndarray)
    return _CodedRows(columns, rows) if is_large and is_array else coded_rows(columns, rows)


def batch_size(n_samples: int) -> int:
    """Return the rows of a mini-batch: a twentieth of the sample, within limits."""
    return int(np.clip(n_samples // BATCHES_PER_EPOCH, SMALLEST_BATCH, LARGEST_BATCH))


def epochs(n_samples: int) -> int:
    """Return the number of passes over the rows of a run."""
    steps = -(-n_samples // batch_size(n_samples))
    return int(np.clip(-(-FEWEST_STEPS // steps), FEWEST_EPOCHS, MOST_EPOCHS))


def decays_of(recipe: Recipe) -> Decays:
    """Return the decays of all parts of a model.

    At the peak rate, the largest decay of frequencies removes them at every step. A larger one
    would turn them around, and make them grow without end.
    """
    alpha = min(recipe.alpha, 1 / PEAK_RATE)
    return Decays(alpha, AMPLITUDE_DECAY, CODED_DECAY if recipe.coded else LINEAR_DECAY)


def trained(task: Task, recipe: Recipe, report: Report, share: float = 1.0) -> Trained:
    """Return the model that a recipe gives. ``share`` shortens the run."""
    columns = described_columns(
        task.rows.X, task.rows.weights.astype(np.float64), coded=recipe.coded
    )
    rows = _rows_to_take(columns, task.rows)
    descent = Descent.start(start_of(task, columns), task.objective.losses, decays_of(recipe))
    n_epochs = max(2, round(share * epochs(task.rows.n_samples)))
    rng = np.random.default_rng(task.seed)
    losses = epoch_losses(descent, rows, task.rows.n_samples, n_epochs, rng)
    for number, loss in enumerate(losses):
        report(f"epoch {number + 1}/{n_epochs}: mean loss {loss:.4f}")
    return Trained(descent.model, columns)


def epoch_losses(
    descent: Descent,
    rows: Labelled | _CodedRows,
    n_samples: int,
    n_epochs: int,
    rng: np.random.Generator,
) -> Iterator[float]:
    """Make passes over the rows, each in a random order, and yield the mean loss of each."""
    size = batch_size(n_samples)
    n_steps = n_epochs * -(-n_samples // size)
    orders = (rng.permutation(n_samples) for _ in range(n_epochs))
    losses: Iterator[float] = passes_over(
        rows.X,
        descent,
        rows,
        orders,
        size,
        lambda step: PEAK_RATE * one_cycle((step + 1) / n_steps),
    )
    return losses


class _Trial(NamedTuple):
    """How a recipe did on validation rows: the best blend of its scores, and the losses then."""

    recipe: Recipe
    blend: Blend
    losses: FloatArray


def possible_recipes(X: Any, piecewise: Any, alpha: Any) -> list[Recipe]:
    """Return the recipes that the parameters of an estimator allow."""
    can_be_coded = not hasattr(X, "tocsr") and X.shape[1] <= _MOST_CODED_COLUMNS
    plain = ALPHAS + (SMALL_ALPHAS if X.shape[0] <= LARGE_SAMPLE else ())
    plain += _NARROW_ALPHAS if X.shape[1] <= FEW_COLUMNS else ()
    recipes = []
    for coded, alphas in ((False, plain), (True, CODED_ALPHAS)):
        if piecewise == coded or (piecewise == "auto" and (can_be_coded or not coded)):
            chosen = alphas if isinstance(alpha, str) else (float(alpha),)
            recipes += [Recipe(coded, each) for each in chosen]
    return recipes


def usual_recipe(recipes: list[Recipe]) -> Recipe:
    """Return the recipe of alpha 3, or of the given one, without codes unless they are given."""
    plain = [recipe for recipe in recipes if not recipe.coded] or recipes
    return next((recipe for recipe in plain if recipe.alpha == ALPHAS[-1]), plain[0])


def splits(n_samples: int, seed: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield training and validation rows: three folds of a small sample, else one part."""
    order = np.random.default_rng([seed, 1]).permutation(n_samples)
    if n_samples < SMALL_SAMPLE:
        for fold in np.array_split(order, 3):
            yield np.setdiff1d(order, fold), fold
        return
    size = min(int(ASIDE * n_samples), MOST_ASIDE)
    yield order[size:][:_MOST_TRIED], order[:size]


def _silence(line: str) -> None:
    """Report nothing: the passes of a trial are of no interest."""


def trials_of(
    task: Task, recipes: list[Recipe], report: Report, others: Sequence[FloatArray] = ()
) -> list[_Trial]:
    """Return how recipes do on validation rows, blended with the scores of other models.

    After each fold, recipes that are clearly worse than the best one are given up.
    """
    share = _SHORT_RUN if task.rows.n_samples > LARGE_SAMPLE else 1.0
    parts: dict[Recipe, list[FloatArray]] = {recipe: [] for recipe in recipes}
    seen, trials = np.empty(0, dtype=int), list[_Trial]()
    for learned, aside in splits(task.rows.n_samples, task.seed):
        left = _promising(trials) if trials else recipes
        seen = np.concatenate([seen, aside])
        straight = [each[: len(seen)] for each in others]
        trials = []
        for recipe in left:
            found = trained(task.part(learned), recipe, _silence, share)
            parts[recipe].append(found.scores(task.rows.X[aside]))
            scores = [np.concatenate(parts[recipe]), *straight]
            trials.append(_trial_of(task, seen, recipe, scores))
    for trial in trials:
        name = f"{'piecewise, ' if trial.recipe.coded else ''}alpha {trial.recipe.alpha:g}"
        report(f"{name}: loss {trial.losses.mean():.4f} on validation rows")
    return trials


def _trial_of(task: Task, seen: IntArray, recipe: Recipe, scores: list[FloatArray]) -> _Trial:
    """Return how a recipe does on some rows, with the best blend of its scores and others."""
    _, labels, weights = task.rows.take(seen)
    blend = best_blend(scores, labels, weights, best_constant(task), task.objective)
    return _Trial(recipe, blend, row_losses(blend.scores(scores), labels, weights, task.objective))


def _promising(trials: list[_Trial]) -> list[Recipe]:
    """Return the recipes that are not clearly worse than the best one."""
    best = min(trials, key=lambda trial: float(trial.losses.mean()))
    return [
        trial.recipe
        for trial in trials
        if not _is_larger(trial.losses, best.losses, _CLEARLY_WORSE)
    ]


def _is_larger(losses: FloatArray, others: FloatArray, n_errors: float) -> bool:
    """Return whether losses exceed others on the same rows by some standard errors."""
    gaps = losses - others
    return bool(gaps.mean() > n_errors * gaps.std() / np.sqrt(len(gaps)))


def row_losses(
    scores: FloatArray, labels: FloatArray, weights: FloatArray, objective: Objective
) -> FloatArray:
    """Return the weighted loss of each row, summed over outputs."""
    losses: FloatArray = objective.losses(scores, labels)[0].sum(axis=1) * weights
    return losses


def best_trial(trials: list[_Trial]) -> _Trial:
    """Return the trial with the smallest loss. Codes must win by more than one standard error."""
    ranked = sorted(trials, key=lambda trial: float(trial.losses.mean()))
    best = ranked[0]
    plain = [trial for trial in ranked if not trial.recipe.coded]
    if not best.recipe.coded or not plain:
        return best
    return best if _is_larger(plain[0].losses, best.losses, 1.0) else plain[0]
