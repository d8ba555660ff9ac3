"""Prototypes of what a trainer on real tables could do, around the engine of the package.

A *preparation* turns columns into numbers in their units. A *run* trains one model on them. What
pays here may enter the package; nothing in the package needs this module.
"""

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from benchmarks.real_tables_data import Parts, RealTable
from numba import njit
from scipy import stats
from sklearn.preprocessing import TargetEncoder

from pacfourier.core.boosting.blending import Blend, best_blend
from pacfourier.core.boosting.columns import Columns, described_columns
from pacfourier.core.boosting.cosine_model import (
    CosineModel,
    Penalties,
    gradient_sums,
    model_scores,
    moved_model,
)
from pacfourier.core.boosting.descent import Descent, Labelled
from pacfourier.core.boosting.objectives import OBJECTIVES
from pacfourier.estimators.frames import fitted_encoder
from pacfourier.estimators.linear_trials import _N_STEPS, _PENALTIES
from pacfourier.estimators.training import (
    Recipe,
    Task,
    _rows_to_take,
    best_constant,
    coded_rows,
    decays_of,
    epoch_losses,
    epochs,
    start_of,
)

# A normal column has this interquartile range, in standard deviations.
NORMAL_RANGE = 1.349
# Categories with more levels than this are "many".
MANY_LEVELS = 10
MOST_ROWS_OF_A_LINE = 10_000


@dataclass(frozen=True)
class Preparation:
    """How columns are prepared.

    Attributes
    ----------
    tail : float
        Columns are limited to the quantiles of this share and of one minus it. Zero: no limits.
    wider : float
        Limits are moved out by this multiple of their distance.
    units : {"deviation", "range"}
        Standard deviations, or interquartile ranges.
    pairs : float
        Multiplies the units of columns with two values.
    screen : float or None
        Categories whose univariate test has a larger p-value fail.
    is_shared : bool
        Whether this level is divided by the number of categories (Bonferroni).
    failed : {"out", "weak", "linear"}
        What happens to them: they are left out, have units four times as large, or only enter the
        linear part.
    targets : {None, "many", "all"}
        Which categories are replaced by cross-fitted means of the labels.
    knots : int or None
        The most knots of a column that is coded. None: those of the package.
    """

    tail: float = 0.0
    wider: float = 0.0
    units: str = "deviation"
    pairs: float = 1.0
    screen: float | None = None
    is_shared: bool = False
    failed: str = "out"
    targets: str | None = None
    knots: int | None = None


@dataclass(frozen=True)
class TrainingRun:
    """How one model is trained: codes, alpha, frequencies, seed, length and details of Adam."""

    alpha: float
    coded: bool = False
    size: int = 100
    seed: int = 0
    length: float = 1.0
    memory: float = 0.99
    scale_rate: float = 0.0
    smoothing: float = 0.0

    @property
    def name(self) -> str:
        """What differs from the usual run."""
        usual, fields = TrainingRun(self.alpha), ("size", "seed", "length", "memory")
        changes = [
            f"{field} {getattr(self, field):g}"
            for field in (*fields, "scale_rate", "smoothing")
            if getattr(self, field) != getattr(usual, field)
        ]
        return ", ".join([f"{'codes ' if self.coded else ''}{self.alpha:g}", *changes])


class Prepared(NamedTuple):
    """Three parts of a table as numbers, with the source of each column."""

    learned: np.ndarray
    aside: np.ndarray
    reported: np.ndarray
    sources: np.ndarray


class Scored(NamedTuple):
    """The scores of the rows aside and of the reported rows, and the seconds of the training."""

    aside: np.ndarray
    reported: np.ndarray
    seconds: float


def categories_of(X: pd.DataFrame) -> list[Any]:
    """Return the names of the columns that do not hold numbers."""
    return [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]


def texts_of(column: pd.Series) -> pd.Series:
    """Return the levels of a category as texts, with a level of its own for gaps."""
    return column.astype(object).where(column.notna(), "missing").astype(str)


def p_value(column: pd.Series, y: np.ndarray, *, is_amount: bool) -> float:
    """Return the p-value of a test that labels do not depend on a category.

    It is the F test of one-way analysis of variance for amounts, and chi-square for classes.
    """
    groups = texts_of(column).to_numpy(dtype=object)
    if len(np.unique(groups)) < 2:
        return 1.0
    if not is_amount:
        return float(stats.chi2_contingency(pd.crosstab(groups, y).to_numpy()).pvalue)
    samples = [y[groups == level] for level in np.unique(groups)]
    if len(samples) >= len(y):
        return 1.0
    return float(np.nan_to_num(stats.f_oneway(*samples).pvalue, nan=1.0))


def target_coded(
    X: pd.DataFrame, y: np.ndarray, learned: np.ndarray, names: list[Any], *, is_amount: bool
) -> pd.DataFrame:
    """Return the table with some categories replaced by means of the labels.

    The rows that are learned from take the means of other folds.
    """
    kinds = {True: "continuous", False: "multiclass" if y.max() > 1 else "binary"}
    encoder = TargetEncoder(target_type=kinds[is_amount], random_state=0)
    texts = X[names].apply(texts_of).astype(object)
    folded = encoder.fit_transform(texts.iloc[learned], y[learned])
    codes = encoder.transform(texts)
    codes[learned] = folded
    frame = pd.DataFrame(codes, index=X.index).add_prefix("mean ")
    return X.drop(columns=names).join(frame)


def limits_of(X: np.ndarray, tail: float, wider: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of each column: quantiles, of the rarer values if one value has half.

    The most common value and those of columns with two values are always within the limits.
    """
    low, high = np.full(X.shape[1], -np.inf), np.full(X.shape[1], np.inf)
    for j, column in enumerate(X.T):
        values, counts = np.unique(column, return_counts=True)
        if len(values) <= 2:
            continue
        common = values[counts.argmax()]
        rest = column[column != common] if 2 * counts.max() >= len(column) else column
        ends = np.quantile(rest, (tail, 1 - tail))
        width = wider * (ends[1] - ends[0])
        low[j], high[j] = min(ends[0] - width, common), max(ends[1] + width, common)
    return low, high


def prepared(
    table: RealTable, parts: Parts, preparation: Preparation
) -> tuple[Prepared, np.ndarray]:
    """Return the parts of a table as numbers, and which columns failed the test.

    Everything is learned from the rows to learn from.
    """
    X, y, learned = table.X, table.y, parts.learned
    failed: set[Any] = set()
    if preparation.screen is not None:
        names = categories_of(X)
        level = preparation.screen / (max(1, len(names)) if preparation.is_shared else 1)
        failed = {
            name
            for name in names
            if p_value(X[name].iloc[learned], y[learned], is_amount=table.is_amount) > level
        }
        if preparation.failed == "out" and len(failed) < X.shape[1]:
            X, failed = X.drop(columns=list(failed)), set()
    if preparation.targets is not None:
        fewest = MANY_LEVELS if preparation.targets == "many" else 2
        names = [name for name in categories_of(X) if X[name].nunique(dropna=False) > fewest]
        if names:
            X = target_coded(X, y, learned, names, is_amount=table.is_amount)
    encoder = fitted_encoder(X.iloc[learned])
    numbers = [encoder.encoded(X.iloc[rows]).astype(np.float64) for rows in parts]
    if preparation.tail:
        low, high = limits_of(numbers[0], preparation.tail, preparation.wider)
        numbers = [part.clip(low, high) for part in numbers]
    names = np.array(X.columns, dtype=object)[encoder.sources]
    return Prepared(*numbers, names), np.array([name in failed for name in names])


def in_units(columns: Columns, X: np.ndarray, preparation: Preparation, failed: Any) -> Columns:
    """Return the columns with other units, and with those that failed seen by slopes only."""
    old = columns.units
    distinct, counts = np.unique(old, return_counts=True)
    is_pair = np.array([len(np.unique(column)) <= 2 for column in X.T])
    is_shared = np.isin(old, distinct[counts > 1]) & ~is_pair
    units = old.copy()
    if preparation.units == "range":
        ranges = np.subtract(*np.quantile(X, (0.75, 0.25), axis=0)) / NORMAL_RANGE
        units = np.where(is_pair | is_shared | (ranges <= 0), units, ranges)
    units = np.where(is_pair, preparation.pairs * units, units)
    if preparation.failed == "weak":
        units = np.where(failed & is_pair, 4 * units, units)
    with np.errstate(invalid="ignore"):
        kept = np.where(np.isfinite(units), old / units, 1.0)
    centres = columns.centres.copy()
    centres[: len(old)] *= kept
    columns = replace(columns, units=units, centres=centres)
    if preparation.failed != "linear" or not failed.any() or failed.all():
        return columns
    n_inputs = len(centres)
    is_last = np.zeros(n_inputs, dtype=bool)
    is_last[: len(failed)] = failed
    order = np.argsort(is_last, kind="stable")
    return replace(columns, order=order, n_seen=int(n_inputs - failed.sum()))


def with_fewer_knots(columns: Columns, X: np.ndarray, most: int) -> Columns:
    """Return the columns with at most so many knots each, evenly spread by rank."""
    knots = {
        j: each[np.unique(np.linspace(0, len(each) - 1, most).round().astype(int))]
        for j, each in columns.knots.items()
    }
    bare = Columns(columns.units, knots, np.zeros(1))
    return replace(bare, centres=bare.inputs(X).mean(axis=0))


@njit(cache=True, nogil=True)
def adam(part, slope, first, second, factors):
    """Make one step of Adam in place, with a memory of squares that can be chosen."""
    scale, correction, kept, older = factors
    old, new = np.float32(0.9), np.float32(0.1)
    newer = np.float32(1) - older
    for i in range(len(part)):
        gradient = slope[i]
        first[i] = old * first[i] + new * gradient
        second[i] = older * second[i] + newer * gradient * gradient
        size = np.sqrt(correction * second[i]) + np.float32(1e-8)
        part[i] = kept * part[i] - scale * first[i] / size


@dataclass
class ScaledDescent(Descent):
    """A descent whose frequencies are V diag(s), with learned scales s of the columns."""

    memory: float = 0.99
    scale_rate: float = 0.0

    @cached_property
    def scales(self) -> np.ndarray:
        """The scale of each column, and the running means of its gradient."""
        scales = np.zeros((3, self.model.frequencies.shape[1]), dtype=np.float32)
        scales[0] = 1
        return scales

    def seen(self) -> CosineModel:
        """Return the model whose frequencies have their scales."""
        if not self.scale_rate:
            return self.model
        return self.model._replace(frequencies=self.model.frequencies * self.scales[0])

    def move(self, batch: Labelled, rate: float) -> float:
        """Make one step with the rows of a mini-batch, and return their mean loss."""
        weights = batch.weights / np.float32(batch.n_samples)
        residuals = np.empty_like(batch.labels)
        loss, gradient = gradient_sums(
            batch.X, self.seen(), batch.labels, self.losses, weights, residuals
        )
        self.step += 1
        first, correction = 1 - 0.9**self.step, 1 / (1 - self.memory**self.step)

        def step(part, slope, means, squares, rate, decay):
            factors = (rate / first, correction, 1 - rate * decay, self.memory)
            flat = part.ravel(), slope.ravel(), means.ravel(), squares.ravel()
            adam(*flat, np.array(factors, dtype=np.float32))

        if self.scale_rate:
            pulls = gradient.frequencies
            slopes = (pulls * self.model.frequencies).sum(axis=0)
            gradient = gradient._replace(frequencies=pulls * self.scales[0])
            scales, means, squares = self.scales
            step(scales, slopes, means, squares, self.scale_rate * rate, 0.0)
        for part in zip(
            self.model, gradient, self.first, self.second, self.decays.by_part(), strict=True
        ):
            step(*part[:4], rate, part[4])
        return float(loss)


class Trainer:
    """Trains runs on the prepared parts of a table, and returns their scores of the other parts."""

    def __init__(self, table: RealTable, parts: Parts, preparation: Preparation) -> None:
        self.preparation = preparation
        self.parts, self.failed = prepared(table, parts, preparation)
        y = table.y[parts.learned]
        self.classes = None if table.is_amount else np.unique(y)
        self.centre, self.unit = (y.mean(), y.std() or 1.0) if table.is_amount else (0.0, 1.0)
        self.labels, self.aside, self.reported = (self.coded(table.y[rows]) for rows in parts)
        kind = "squared_error" if table.is_amount else "logistic"
        self.objective = OBJECTIVES["softmax" if self.labels.shape[1] > 1 else kind]
        self.penalty = 0.0
        self._columns: dict[bool, Columns] = {}
        self._starts: dict[tuple[Any, ...], CosineModel] = {}

    def coded(self, y: np.ndarray) -> np.ndarray:
        """Return labels as numbers, one column per output. Unknown classes are rows of zeros."""
        if self.classes is None:
            return ((y - self.centre) / self.unit)[:, np.newaxis].astype(np.float32)
        table = (y[:, np.newaxis] == self.classes).astype(np.float32)
        return table[:, 1:] if len(self.classes) == 2 else table

    def task(self, run: TrainingRun) -> Task:
        """Return what a run learns."""
        weights, labels = np.ones(len(self.labels), dtype=np.float32), self.labels
        if self.classes is not None and run.smoothing:
            n_classes = max(2, labels.shape[1])
            labels = (1 - run.smoothing) * labels + np.float32(run.smoothing / n_classes)
        rows = Labelled(self.parts.learned, labels, weights)
        return Task(rows, self.objective, run.size, run.seed)

    def columns(self, *, coded: bool) -> Columns:
        """Return the units and codes of the columns."""
        if coded not in self._columns:
            X = self.parts.learned
            found = described_columns(X, np.ones(len(X)), coded=coded)
            if self.preparation.knots and found.knots:
                found = with_fewer_knots(found, X, self.preparation.knots)
            self._columns[coded] = in_units(found, X, self.preparation, self.failed)
        return self._columns[coded]

    def trained(self, run: TrainingRun) -> CosineModel:
        """Return the model of a run."""
        task, columns = self.task(run), self.columns(coded=run.coded)
        key = run.coded, run.size, run.seed
        if key not in self._starts:
            self._starts[key] = start_of(task, columns)
        descent = ScaledDescent.start(
            self._starts[key], self.objective.losses, decays_of(Recipe(run.coded, run.alpha))
        )
        descent.memory, descent.scale_rate = run.memory, run.scale_rate
        rng = np.random.default_rng(run.seed)
        n_epochs = max(2, round(run.length * epochs(len(self.labels))))
        rows = _rows_to_take(columns, task.rows)
        for _ in epoch_losses(descent, rows, len(self.labels), n_epochs, rng):
            pass
        return descent.seen()

    def scores(self, model: CosineModel, *, coded: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of the rows aside and of the reported rows."""
        columns = self.columns(coded=coded)
        inputs = (columns.inputs(X).astype(np.float32) for X in self.parts[1:3])
        aside, reported = (np.asarray(model_scores(X, model)) for X in inputs)
        return aside, reported

    def run(self, run: TrainingRun) -> Scored:
        """Return the scores of a run."""
        start = time.perf_counter()
        scores = self.scores(self.trained(run), coded=run.coded)
        return Scored(*scores, time.perf_counter() - start)

    def blend(self, parts: list[Scored]) -> Blend:
        """Return the blend of several models that is best on the rows aside."""
        constant = best_constant(self.task(TrainingRun(1.0)))
        weights = np.ones(len(self.aside))
        scores = [part.aside for part in parts]
        return best_blend(scores, self.aside, weights, constant, self.objective)

    def line(self, penalty: float | None = None) -> Scored | None:
        """Return the scores of the linear model of a penalty, or of the best on the rows aside.

        None for large tables.
        """
        if penalty is None and len(self.labels) > MOST_ROWS_OF_A_LINE:
            return None
        start = time.perf_counter()
        task, columns = self.task(TrainingRun(1.0)), self.columns(coded=False)
        rows = coded_rows(columns, task.rows)
        model = CosineModel.constant(rows.X.shape[1], best_constant(task)).sloped()
        shares = rows.weights / rows.weights.sum()
        tried = []
        for each in _PENALTIES:
            loss = rows.labels, task.objective.losses, shares, Penalties(each, 0.0)
            model = moved_model(model, rows.X, *loss, n_steps=_N_STEPS)
            scores = self.scores(model, coded=False)
            mean = task.objective.losses(scores[0], self.aside)[0].sum(axis=1).mean()
            tried.append((float(mean), each, scores))
            if each == penalty:
                break
        best = tried[-1] if penalty else min(tried, key=lambda one: one[0])
        self.penalty = best[1]
        return Scored(*best[2], time.perf_counter() - start)
