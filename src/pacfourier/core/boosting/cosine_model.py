r"""A linear model on cosines and sines whose frequencies are learned too.

.. math:: f(x) = c + L^\top x + \sum_m a_m \cos(\omega_m \cdot x) + b_m \sin(\omega_m \cdot x)

It has one or several outputs, and the linear part is optional. One pass over the rows gives the
loss and its gradient in all parameters.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np

from pacfourier.arrays import FloatArray, Samples, by_kind
from pacfourier.core.products import ROW_BLOCK, transposed_product, turn_blocks
from pacfourier.core.threads import run_tasks, single_threaded_blas

# A function of scores and labels that returns losses and their negative derivatives.
Losses = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
# The value and the gradient of a loss at a packed model.
PackedObjective = Callable[[FloatArray], tuple[float, FloatArray]]

# Rows of a task, for long samples and for mini-batches. Two threads share a mini-batch of 500 rows.
ROWS_PER_TASK, ROWS_PER_SLICE = 8 * ROW_BLOCK, 256
# Pairs of vectors that L-BFGS remembers.
_MEMORY = 8


class CosineModel(NamedTuple):
    """The parameters of a model with D frequencies of d features, and K outputs.

    Attributes
    ----------
    frequencies : array of shape (D, d)
        With fewer columns, the frequencies see the first columns of the samples only.
    cosines, sines : arrays of shape (D, K)
        The amplitudes a_m and b_m.
    linear : array of shape (d, K), or (0, K) without a linear part
        The slopes L.
    intercepts : array of shape (K,)
    """

    frequencies: FloatArray
    cosines: FloatArray
    sines: FloatArray
    linear: FloatArray
    intercepts: FloatArray

    @classmethod
    def constant(cls, n_features: int, intercepts: FloatArray) -> Self:
        """Return the model without frequencies and without a linear part."""
        empty = np.zeros((0, len(intercepts)))
        return cls(np.zeros((0, n_features)), empty, empty, empty, intercepts)

    def extended(self, frequencies: FloatArray) -> Self:
        """Return the same function with more frequencies, whose amplitudes are zero."""
        silent = np.zeros((len(frequencies), len(self.intercepts)))
        return type(self)(
            np.vstack([self.frequencies, frequencies]),
            np.vstack([self.cosines, silent]),
            np.vstack([self.sines, silent]),
            self.linear,
            self.intercepts,
        )

    def sloped(self) -> Self:
        """Return the same function with a linear part, whose slopes are zero."""
        return self._replace(linear=np.zeros((self.frequencies.shape[1], len(self.intercepts))))

    def astype(self, dtype: Any) -> Self:
        """Return the model in another precision."""
        return type(self)(*(part.astype(dtype) for part in self))

    def zeros(self) -> Self:
        """Return a model of the same shape with all parameters zero."""
        return type(self)(*(np.zeros_like(part) for part in self))

    def packed(self) -> FloatArray:
        """Return all parameters as one vector."""
        return np.concatenate([part.ravel() for part in self])

    def unpacked(self, vector: FloatArray) -> Self:
        """Return the model of the same shape whose parameters are in one vector."""
        ends = np.cumsum([part.size for part in self])
        parts = np.split(vector, ends[:-1])
        return type(self)(*(new.reshape(old.shape) for new, old in zip(parts, self, strict=True)))


class Penalties(NamedTuple):
    """Weights of the squared amplitudes and slopes (ridge) and of the frequencies (prior)."""

    ridge: float
    prior: float

    def by_part(self) -> tuple[float, float, float, float]:
        """Return one factor for each part of a model. Intercepts have none."""
        return self.prior, self.ridge, self.ridge, self.ridge


def hinge_losses(scores: FloatArray, signs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return squared hinge losses of scores against signs, and their negative derivatives."""
    slack = (1 - signs * scores).clip(0)
    return slack**2, 2 * signs * slack


def square_losses(scores: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return squared errors, and their negative derivatives."""
    rest = values - scores
    return rest**2, 2 * rest


def model_gradient(
    model: CosineModel, X: Samples, labels: FloatArray, losses: Losses, sample_weight: FloatArray
) -> tuple[float, CosineModel, FloatArray]:
    r"""Return the weighted sum of losses, its gradient, and the residuals.

    The residuals are r = -dl/df. The gradient in a frequency is a second product with X,
    :math:`\sum_i x_i \sum_k r_{ik} (a_k \sin \theta_i - b_k \cos \theta_i)`. Threads work on
    blocks of rows. Their results are added in order, so the number of threads does not change the
    sum. Phases and products have the precision of X.
    """
    residuals = np.empty_like(labels)
    loss, gradient = gradient_sums(X, model, labels, losses, sample_weight, residuals)
    return loss, gradient, residuals


@by_kind
def gradient_sums(
    X: Samples,
    model: CosineModel,
    labels: FloatArray,
    losses: Losses,
    sample_weight: FloatArray,
    residuals: FloatArray,
) -> tuple[float, CosineModel]:
    """Return the loss and gradient of all rows, and write their residuals."""
    # A mini-batch is cut into slices, whatever the number of threads, so that sums do not depend
    # on it.
    size = ROWS_PER_TASK if X.shape[0] > ROWS_PER_TASK // 8 else ROWS_PER_SLICE
    starts = range(0, X.shape[0], size)
    parts: dict[int, tuple[float, CosineModel]] = {}

    def fill(start: int) -> None:
        rows = slice(start, start + size)
        parts[start] = _partial_gradient(
            X[rows], model, labels[rows], losses, sample_weight[rows], residuals[rows]
        )

    run_tasks(fill, starts)
    loss, gradient = parts[0]
    for start in starts[1:]:
        loss += parts[start][0]
        for total, part in zip(gradient, parts[start][1], strict=True):
            total += part
    return loss, gradient


def _partial_gradient(
    X: Samples,
    model: CosineModel,
    labels: FloatArray,
    losses: Losses,
    sample_weight: FloatArray,
    residuals: FloatArray,
) -> tuple[float, CosineModel]:
    """Return the loss and gradient of some rows, and write their residuals."""
    _, cosine_weights, sine_weights, slopes, _ = typed = model.astype(X.dtype)
    loss, gradient = 0.0, model.zeros()
    seen = first_columns(X, model.frequencies)
    for rows, cosines, sines in _wave_blocks(seen, model.frequencies):
        block = X[rows]
        scores = _block_scores(typed, block, cosines, sines)
        values, residuals[rows] = losses(scores, labels[rows])
        weights = sample_weight[rows, np.newaxis]
        loss += float((values * weights).sum())
        pull = (residuals[rows] * weights).astype(X.dtype)
        turning = (
            _product(pull, cosine_weights.T) * sines - _product(pull, sine_weights.T) * cosines
        )
        parts = (
            -transposed_product(turning, seen[rows]),
            transposed_product(cosines, pull),
            transposed_product(sines, pull),
            transposed_product(pull, block).T if len(slopes) else slopes,
            pull.sum(axis=0),
        )
        for total, part in zip(gradient, parts, strict=True):
            total -= part
    return loss, gradient


def first_columns(X: Samples, frequencies: FloatArray) -> Samples:
    """Return the columns of X that the frequencies see."""
    n_seen = frequencies.shape[1]
    return X if n_seen == X.shape[1] else X[:, :n_seen]


def _wave_blocks(
    X: Samples, frequencies: FloatArray
) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
    """Yield blocks of rows with the cosines and sines of their phases."""
    from pacfourier.core import loops

    ones = np.ones(len(frequencies), dtype=X.dtype)
    for rows, turns in turn_blocks(X, frequencies, X.dtype.type):
        cosines, sines = np.empty_like(turns), np.empty_like(turns)
        loops.write_features(turns, ones, cosines, sines)
        yield rows, cosines, sines


def _block_scores(
    model: CosineModel, block: Samples, cosines: FloatArray, sines: FloatArray
) -> FloatArray:
    """Return the scores of a block of rows whose cosines and sines are known."""
    scores = _product(cosines, model.cosines) + _product(sines, model.sines) + model.intercepts
    return scores + _product(block, model.linear) if len(model.linear) else scores


def _product(block: Samples, weights: FloatArray) -> FloatArray:
    """Return ``block @ weights`` for a dense or sparse block of rows, without false warnings.

    With five columns in single precision OpenBLAS 0.3.31 also computes with lanes that it then
    drops. They hold what the stack held before, and NumPy would warn of their invalid operations.
    """
    with np.errstate(invalid="ignore"):
        return block @ weights


@by_kind
def model_scores(X: Samples, model: CosineModel) -> FloatArray:
    """Return the outputs of the model for each row, in the precision of X."""
    typed = model.astype(X.dtype)
    scores = np.empty((X.shape[0], len(model.intercepts)), dtype=X.dtype)

    def fill(start: int) -> None:
        task = slice(start, start + ROWS_PER_TASK)
        seen = first_columns(X[task], model.frequencies)
        for rows, cosines, sines in _wave_blocks(seen, model.frequencies):
            scores[task][rows] = _block_scores(typed, X[task][rows], cosines, sines)

    run_tasks(fill, range(0, X.shape[0], ROWS_PER_TASK))
    return scores


def _penalised_gradient(
    model: CosineModel,
    X: Samples,
    labels: FloatArray,
    losses: Losses,
    sample_weight: FloatArray,
    penalties: Penalties,
) -> tuple[float, CosineModel]:
    r"""Return the loss and its gradient with the penalties added.

    .. math:: \frac{ridge}2 \sum_m (\|a_m\|^2 + \|b_m\|^2)
              + \frac{ridge}2 \|L\|^2 + \frac{prior}2 \sum_m \|\omega_m\|^2
    """
    loss, gradient, _ = model_gradient(model, X, labels, losses, sample_weight)
    for factor, part, slope in zip(penalties.by_part(), model[:4], gradient[:4], strict=True):
        loss += factor / 2 * float(np.vdot(part, part))
        slope += factor * part
    return loss, gradient


def moved_model(
    model: CosineModel,
    X: Samples,
    labels: FloatArray,
    losses: Losses,
    sample_weight: FloatArray,
    penalties: Penalties,
    *,
    n_steps: int,
) -> CosineModel:
    """Return the model after some steps of L-BFGS on the penalised loss, in all parameters."""
    # Predictions import this module, and need no optimiser.
    from scipy.optimize import minimize

    objective = packed_objective(X, model, PenalisedLoss(labels, losses, sample_weight, penalties))
    with single_threaded_blas():
        found = minimize(
            objective,
            model.packed(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": n_steps, "maxcor": _MEMORY},
        )
    return model.unpacked(np.asarray(found.x))


class PenalisedLoss(NamedTuple):
    """What L-BFGS minimises over the parameters of a model: the arguments of the gradient."""

    labels: FloatArray
    losses: Losses
    sample_weight: FloatArray
    penalties: Penalties


@by_kind
def packed_objective(X: Samples, model: CosineModel, loss: PenalisedLoss) -> PackedObjective:
    """Return the penalised loss and its gradient, as a function of the packed parameters."""

    def objective(vector: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = _penalised_gradient(model.unpacked(vector), X, *loss)
        return value, gradient.packed()

    return objective
