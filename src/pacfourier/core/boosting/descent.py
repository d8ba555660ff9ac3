r"""Stochastic descent of a cosine model: Adam with decoupled decay, on mini-batches.

Every parameter :math:`\theta` has running means m and v of its gradient g and of :math:`g^2`. A
step is

.. math:: \theta \leftarrow (1 - \eta \lambda)\, \theta
          - \eta\, \frac{m / (1 - 0.9^t)}{\sqrt{v / (1 - 0.99^t)} + 10^{-8}} .

The rate :math:`\eta` rises and falls once over the run. The decay :math:`\lambda` holds a parameter
to its prior: it keeps its size below about :math:`1 / \lambda`, whatever the sample size. Squared
penalties are part of the loss instead, so g is the gradient of the penalised loss.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from pacfourier.arrays import FloatArray, IntArray, Samples, by_kind
from pacfourier.core.boosting.cosine_model import (
    CosineModel,
    Losses,
    Penalties,
    gradient_sums,
)
from pacfourier.core.threads import single_threaded_blas

# How fast the means of gradients and of their squares forget.
FIRST_MEMORY, SECOND_MEMORY = 0.9, 0.99
# Share of the run in which the rate rises.
_RISE = 0.2
_NO_PENALTIES = Penalties(0.0, 0.0)


class Decays(NamedTuple):
    """The decay of frequencies, amplitudes (cosines and sines), and slopes."""

    frequencies: float
    amplitudes: float
    linear: float

    def by_part(self) -> tuple[float, ...]:
        """Return one decay for each part of a model. Intercepts do not decay."""
        return (self.frequencies, self.amplitudes, self.amplitudes, self.linear, 0.0)


class Labelled(NamedTuple):
    """Rows with their labels, of shape (n_samples, n_outputs), and weights of mean one."""

    X: Samples
    labels: FloatArray
    weights: FloatArray

    def take(self, rows: IntArray | slice) -> "Labelled":
        """Return chosen rows."""
        return Labelled(self.X[rows], self.labels[rows], self.weights[rows])

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return len(self.labels)


class _RowsToTake(Protocol):
    """Labelled rows of which some can be taken."""

    @property
    def X(self) -> Samples:  # noqa: N802
        """The samples, perhaps before they are coded."""

    def take(self, rows: IntArray, /) -> Labelled:
        """Return chosen rows."""


def one_cycle(progress: float) -> float:
    """Return the rate relative to its peak: it rises for a fifth of the run, then falls to zero."""
    if progress < _RISE:
        return progress / _RISE
    return 0.5 * (1 + math.cos(math.pi * (progress - _RISE) / (1 - _RISE)))


@dataclass
class Descent:
    """A model on its way down: its parameters, the means of its gradients, and the steps so far."""

    model: CosineModel
    losses: Losses
    decays: Decays
    first: CosineModel
    second: CosineModel
    step: int = 0
    penalties: Penalties = _NO_PENALTIES

    @classmethod
    def start(
        cls,
        model: CosineModel,
        losses: Losses,
        decays: Decays,
        penalties: Penalties = _NO_PENALTIES,
    ) -> Self:
        """Return the descent before its first step. It works on a copy, in single precision."""
        single = model.astype(np.float32)
        means = single.zeros(), single.zeros()
        return cls(single, losses, decays, *means, penalties=penalties)

    def seen(self) -> CosineModel:
        """Return the model at which gradients are taken."""
        return self.model

    def move(self, batch: Labelled, rate: float) -> float:
        """Make one step with the rows of a mini-batch, and return their mean loss."""
        from pacfourier.core import loops

        weights = batch.weights / np.float32(batch.n_samples)
        residuals = np.empty_like(batch.labels)
        loss, gradient = gradient_sums(
            batch.X, self.seen(), batch.labels, self.losses, weights, residuals
        )
        for factor, part, slope in zip(
            self.penalties.by_part(), self.seen()[:4], gradient[:4], strict=True
        ):
            if factor:
                slope += np.float32(factor) * part
        self.step += 1
        scale = rate / (1 - FIRST_MEMORY**self.step)
        correction = 1 / (1 - SECOND_MEMORY**self.step)
        for part, slope, first, second, decay in zip(
            self.model, gradient, self.first, self.second, self.decays.by_part(), strict=True
        ):
            factors = np.array([scale, correction, 1 - rate * decay], dtype=np.float32)
            loops.adam(part.ravel(), slope.ravel(), first.ravel(), second.ravel(), factors)
        return float(loss)

    def pass_over(self, rows: _RowsToTake, order: IntArray, batch_size: int, rates: Any) -> float:
        """Make one step per mini-batch of rows in an order, and return the mean loss.

        ``rates`` is a function of the number of the step.
        """
        (loss,) = passes_over(rows.X, self, rows, [order], batch_size, rates)
        return float(loss)


@by_kind
def passes_over(
    X: Samples,
    descent: Descent,
    rows: _RowsToTake,
    orders: Iterable[IntArray],
    batch_size: int,
    rates: Any,
) -> Iterator[float]:
    """Make one pass for each order of the rows, whose samples are X, and yield the mean losses.

    Do not read ``descent.model`` before all passes are done: for tensors it is written at the end.
    """
    del X
    for order in orders:
        total = 0.0
        # Every step limits the threads of BLAS, which takes no time if they are limited already.
        with single_threaded_blas():
            for start in range(0, len(order), batch_size):
                batch = rows.take(order[start : start + batch_size])
                total += descent.move(batch, rates(descent.step)) * batch.n_samples
        yield total / len(order)
