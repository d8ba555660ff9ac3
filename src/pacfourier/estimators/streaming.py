"""Predictors that learn from rows in parts: as they arrive, or in passes over blocks of rows."""

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from pacfourier.arrays import FloatArray, host
from pacfourier.core.alignment.summary import SampleSummary
from pacfourier.core.boosting.columns import Columns, described_columns
from pacfourier.core.boosting.cosine_model import CosineModel
from pacfourier.core.boosting.descent import Decays, Descent, Labelled, one_cycle
from pacfourier.data.blocks import stacked
from pacfourier.data.samples import Block
from pacfourier.estimators.prediction_certificates import row_summary
from pacfourier.estimators.training import (
    PEAK_RATE,
    SCORED_ROWS,
    Recipe,
    Report,
    Task,
    Trained,
    batch_size,
    coded_rows,
    decays_of,
    epochs,
    start_of,
)

# Steps after which the rate of a stream has fallen to seven tenths of its peak.
_PATIENCE = 300
# The alpha of a stream, which has no validation rows, unless it is given.
USUAL_ALPHA = 0.3
# The larger this number, the faster the average of a stream forgets its first models.
_FORGETTING = 9
# Rows of a random sample of data in blocks. A recipe, the columns and the start come from them.
_SAMPLE_ROWS = 50_000


def _falling_rate(step: int) -> float:
    r"""Return :math:`\eta / \sqrt{1 + t / 300}`: nobody knows how long a stream will be."""
    return PEAK_RATE / math.sqrt(1 + step / _PATIENCE)


def _falling_decays(decays: Decays, step: int) -> Decays:
    r"""Return :math:`\lambda / (1 + t / 300)`: a prior counts less, the more rows were seen.

    Decays that stay as they are pull the frequencies of a long stream to zero.
    """
    return Decays(*(decay / (1 + step / _PATIENCE) for decay in decays))


def _averaged(average: CosineModel, model: CosineModel, step: int) -> CosineModel:
    r"""Return the average of the models of a stream after one more step.

    .. math:: \bar\theta_t = \bar\theta_{t-1} + \frac{10}{t + 9} (\theta_t - \bar\theta_{t-1})

    A single model of a stream is noisy, because the last mini-batches moved it. This average
    (shamir2013) weighs recent models more.
    """
    share = np.float32((_FORGETTING + 1) / (step + _FORGETTING))
    return CosineModel(
        *(old + share * (new - old) for old, new in zip(average, model, strict=True))
    )


@dataclass(frozen=True, eq=False)
class Stream:
    """A model that learns from rows as they arrive.

    Attributes
    ----------
    columns : Columns
        Those of the first rows.
    descent : Descent
    decays : Decays
        The decays of the first step.
    average : CosineModel
        The average of the models so far, which predicts.
    weight : float
        The mean weight of the first rows, in units of which all weights are measured.
    seed : int
    """

    columns: Columns
    descent: Descent
    decays: Decays
    average: CosineModel
    weight: float
    seed: int

    @classmethod
    def of(
        cls, model: CosineModel, columns: Columns, task: Task, recipe: Recipe, weight: float
    ) -> "Stream":
        """Return a stream that goes on from a model."""
        decays = decays_of(recipe)
        descent = Descent.start(model, task.objective.losses, decays)
        return cls(columns, descent, decays, descent.model, weight, task.seed)

    @property
    def trained(self) -> Trained:
        """The model at this moment."""
        return Trained(self.average, self.columns)

    def taught(self, rows: Labelled) -> "Stream":
        """Return the stream after one pass over more rows. This one does not change."""
        descent, average = copy.deepcopy(self.descent), self.average
        order = np.random.default_rng([self.seed, descent.step]).permutation(rows.n_samples)
        inputs, size = coded_rows(self.columns, rows), batch_size(rows.n_samples)
        for start in range(0, rows.n_samples, size):
            descent.decays = _falling_decays(self.decays, descent.step)
            descent.pass_over(inputs, order[start : start + size], size, _falling_rate)
            average = _averaged(average, descent.model, descent.step)
        return replace(self, descent=descent, average=average)


def new_stream(task: Task, recipe: Recipe, weight: float) -> Stream:
    """Return a stream whose columns and start come from its first rows."""
    copies = task.rows.weights.astype(np.float64)
    columns = described_columns(task.rows.X, copies, coded=recipe.coded)
    return Stream.of(start_of(task, columns), columns, task, recipe, weight)


def continued(found: Trained, task: Task, recipe: Recipe, weight: float) -> Stream:
    """Return a stream that goes on from a trained model."""
    return Stream.of(found.model, found.columns, task, recipe, weight)


class Survey(NamedTuple):
    """What one pass over blocks finds: their number of rows, their classes, and a random sample.

    Attributes
    ----------
    n_samples : int
    classes : array of shape (n_classes,) or None
        None if the labels are not single classes.
    keys : array of shape (n_sampled,)
        Random numbers, one for each row. The sample has the rows with the smallest ones, in order.
    X, y, weights
        The rows of the sample.
    summary : SampleSummary
        What all rows are, to find them again.
    """

    n_samples: int
    classes: NDArray[Any] | None
    keys: FloatArray
    X: Any
    y: NDArray[Any]
    weights: FloatArray
    summary: SampleSummary

    def merge(self, other: "Survey") -> "Survey":
        """Return the survey of the blocks of both."""
        classes = None
        if self.classes is not None and other.classes is not None:
            classes = np.union1d(self.classes, other.classes)
        keys = np.concatenate([self.keys, other.keys])
        chosen = np.argsort(keys, kind="stable")[:_SAMPLE_ROWS]
        return Survey(
            self.n_samples + other.n_samples,
            classes,
            keys[chosen],
            stacked(self.X, other.X)[chosen],
            np.concatenate([self.y, other.y])[chosen],
            np.concatenate([self.weights, other.weights])[chosen],
            self.summary.merge(other.summary),
        )


def surveyed(block: Block, seed: int, has_classes: bool) -> Survey:
    """Return the survey of one block. The sample does not depend on how blocks are merged."""
    y, n_samples = np.asarray(block.y), block.X.shape[0]
    if has_classes:
        check_classification_targets(y)
    keys = np.random.default_rng([seed, 3, block.number]).random(n_samples)
    chosen = np.argsort(keys, kind="stable")[:_SAMPLE_ROWS]
    weights = np.ones(n_samples) if block.weights is None else block.weights
    classes = np.unique(y) if has_classes and y.ndim == 1 else None
    return Survey(
        n_samples,
        classes,
        keys[chosen],
        host(block.X[chosen]),
        y[chosen],
        weights[chosen],
        row_summary(block.X, y),
    )


def trained_on_blocks(
    task: Task,
    recipe: Recipe,
    report: Report,
    *,
    blocks: Callable[[], Iterator[Labelled]],
    n_samples: int,
) -> Trained:
    """Return the model that a recipe gives, with as many steps as ``trained`` makes in memory.

    Columns and start come from the rows of the task, which are a sample.
    """
    stream = new_stream(task, recipe, 1.0)
    size, n_epochs = batch_size(n_samples), epochs(n_samples)
    n_steps = n_epochs * -(-n_samples // size)
    rng = np.random.default_rng(task.seed)
    for number in range(n_epochs):
        total = 0.0
        for rows in _regrouped(blocks(), size, rng):
            loss = stream.descent.pass_over(
                coded_rows(stream.columns, rows),
                np.arange(rows.n_samples),
                size,
                lambda step: PEAK_RATE * one_cycle((step + 1) / n_steps),
            )
            total += loss * rows.n_samples
        report(f"epoch {number + 1}/{n_epochs}: mean loss {total / n_samples:.4f}")
    return Trained(stream.descent.model, stream.columns)


def _regrouped(
    blocks: Iterator[Labelled], size: int, rng: np.random.Generator
) -> Iterator[Labelled]:
    """Yield the rows of shuffled blocks again, in pieces of whole mini-batches.

    Rows that do not fill a mini-batch go before those of the next block. Only the last mini-batch
    of all may be smaller, so the number of steps does not depend on the sizes of blocks.
    """
    piece = size * max(1, SCORED_ROWS // size)
    rest = None
    for block in blocks:
        shuffled = block.take(rng.permutation(block.n_samples))
        rows = shuffled if rest is None else _joined(rest, shuffled)
        end = rows.n_samples - rows.n_samples % size
        for start in range(0, end, piece):
            yield rows.take(slice(start, min(start + piece, end)))
        rest = rows.take(slice(end, None))
    if rest is not None and rest.n_samples:
        yield rest


def _joined(first: Labelled, second: Labelled) -> Labelled:
    """Return the rows of both."""
    return Labelled(
        stacked(host(first.X), host(second.X)),
        np.concatenate([first.labels, second.labels]),
        np.concatenate([first.weights, second.weights]),
    )
