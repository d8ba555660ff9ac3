"""Passes of stochastic descent whose vectors stay on the device of the samples.

A step is about fifty small operations, and launching them takes several times longer than they do.
On CUDA, one step is therefore recorded as a graph, and the others replay it.
"""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from pacfourier.arrays import FloatArray, IntArray, host
from pacfourier.core.boosting.cosine_model import CosineModel, Losses
from pacfourier.core.boosting.descent import (
    FIRST_MEMORY,
    SECOND_MEMORY,
    Descent,
    Labelled,
    passes_over,
)
from pacfourier.tensors.arrays import queued
from pacfourier.tensors.boosting.cosine_model import TensorParts, block_gradient
from pacfourier.tensors.graphs import recorded_work

# With fewer mini-batches in a pass, recording a step would take longer than it saves.
_FEWEST_RECORDED = 16


@passes_over.register(torch.Tensor)
def _tensor_passes(
    X: torch.Tensor,
    descent: Descent,
    rows: Labelled,
    orders: Iterable[IntArray],
    batch_size: int,
    rates: Any,
) -> Iterator[float]:
    """Make passes and yield their mean losses. Parameters move to X first, and back at the end."""
    state = _State.of(X, descent, rows)
    whole: _WholeBatches | None = None
    for order in orders:
        n_whole, n_steps = len(order) // batch_size, -(-len(order) // batch_size)
        if whole is None or len(whole.places) != n_whole:
            whole = _WholeBatches(state, n_whole, batch_size)
        places = queued(order, X.device)
        factors = queued(_step_factors(descent.step, n_steps, rates), X.device)
        state.total.zero_()
        whole.run(places, factors)
        if n_steps > n_whole:
            state.move(places[n_whole * batch_size :], factors[-1])
        descent.step += n_steps
        yield float(state.total) / len(order)
    for model, vector in zip(
        (descent.model, descent.first, descent.second), state[:3], strict=True
    ):
        _write_parts(model, vector)


def _step_factors(first: int, n_steps: int, rates: Any) -> FloatArray:
    """Return what changes from step to step, of shape (n_steps, 3).

    These are the rate, and the factors of the means of gradients and of their squares, which make
    up for the steps that are missing in them.
    """
    steps = np.arange(first + 1, first + n_steps + 1)
    found = np.array([rates(step - 1) for step in steps.tolist()])
    scales = found / (1 - FIRST_MEMORY**steps)
    return np.stack([found, scales, 1 / (1 - SECOND_MEMORY**steps)], axis=1).astype(np.float32)


def _write_parts(model: CosineModel, vector: torch.Tensor) -> None:
    """Write a vector into the parts of a model."""
    for part, new in zip(model, model.unpacked(np.asarray(host(vector))), strict=True):
        part[...] = new


class _State(NamedTuple):
    """A descent on the device of its samples.

    Attributes
    ----------
    vector, first, second : tensors of shape (n_parameters,)
        The parameters, and the means of gradients and of their squares.
    parts : TensorParts
        The parameters again, as views of the vector.
    decays, penalties : tensors of shape (n_parameters,)
    X, labels, weights : tensors
        The rows.
    losses : callable
    total : tensor without axes
        The sum of losses in this pass.
    """

    vector: torch.Tensor
    first: torch.Tensor
    second: torch.Tensor
    parts: TensorParts
    decays: torch.Tensor
    penalties: torch.Tensor
    X: torch.Tensor
    labels: torch.Tensor
    weights: torch.Tensor
    losses: Losses
    total: torch.Tensor

    @classmethod
    def of(cls, X: torch.Tensor, descent: Descent, rows: Labelled) -> "_State":
        """Return copies of all vectors of a descent beside its samples."""
        models = (descent.model, descent.first, descent.second)
        vector, first, second = (queued(each.packed(), X.device) for each in models)
        shapes = TensorParts(*(torch.empty(part.shape, device="meta") for part in descent.model))
        sizes = [part.size for part in descent.model]
        by_part = (descent.decays.by_part(), (*descent.penalties.by_part(), 0.0))
        decays, penalties = (
            queued(np.repeat(np.asarray(each, dtype=np.float32), sizes), X.device)
            for each in by_part
        )
        labels, weights = (queued(each, X.device) for each in (rows.labels, rows.weights))
        return cls(
            vector,
            first,
            second,
            shapes.unpacked(vector),
            decays,
            penalties,
            X,
            labels,
            weights,
            descent.losses,
            vector.new_zeros(()),
        )

    def move(self, chosen: torch.Tensor, factors: torch.Tensor) -> None:
        """Make one step with chosen rows, given its ``_step_factors``."""
        rate, scale, correction = factors
        shares = self.weights[chosen] / len(chosen)
        found = block_gradient(self.X[chosen], self.parts, self.labels[chosen], self.losses, shares)
        slope = found.gradient.packed().addcmul_(self.penalties, self.vector)
        self.first.mul_(FIRST_MEMORY).add_(slope, alpha=1 - FIRST_MEMORY)
        self.second.mul_(SECOND_MEMORY).addcmul_(slope, slope, value=1 - SECOND_MEMORY)
        size = (self.second * correction).sqrt_().add_(1e-8)
        self.vector.addcmul_(self.vector, self.decays * rate, value=-1)
        self.vector.addcdiv_(self.first * scale, size, value=-1)
        self.total.add_(found.loss, alpha=len(chosen))


class _WholeBatches:
    """The steps of a pass with whole mini-batches, each of which takes the next rows by itself.

    Attributes
    ----------
    places : tensor of shape (n_batches, batch_size)
        The rows of each mini-batch.
    factors : tensor of shape (n_batches, 3)
    number : tensor of shape (1,)
        The number of the next mini-batch.
    graph : torch.cuda.CUDAGraph or None
        A recorded step.
    """

    def __init__(self, state: _State, n_batches: int, batch_size: int) -> None:
        device = state.vector.device
        self.state = state
        self.places = torch.empty((n_batches, batch_size), dtype=torch.int64, device=device)
        self.factors = torch.empty((n_batches, 3), device=device)
        self.number = torch.zeros(1, dtype=torch.int64, device=device)
        self.graph: torch.cuda.CUDAGraph | None = None

    def run(self, places: torch.Tensor, factors: torch.Tensor) -> None:
        """Make all steps, with the first of the given places and factors."""
        n_batches = len(self.places)
        self.places.view(-1).copy_(places[: self.places.numel()])
        self.factors.copy_(factors[:n_batches])
        self.number.zero_()
        if not self.places.is_cuda or n_batches < _FEWEST_RECORDED:
            for _ in range(n_batches):
                self.move()
            return
        n_done = 0
        if self.graph is None:
            self.graph, _ = recorded_work(self.move, self.places.device)
            n_done = 1
        for _ in range(n_done, n_batches):
            self.graph.replay()

    def move(self) -> None:
        """Make the next step."""
        (chosen,) = self.places.index_select(0, self.number)
        (factors,) = self.factors.index_select(0, self.number)
        self.state.move(chosen, factors)
        self.number.add_(1)
