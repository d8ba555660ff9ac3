"""A bounded random part of the rows, the same however the data are cut into blocks.

Each row gets a random number that depends on its values and a seed only. The rows with the smallest
numbers are kept. So the smallest of two parts are among the smallest of each, and parts merge.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray, host
from pacfourier.core.alignment.summary import row_fingerprints
from pacfourier.data.blocks import stacked
from pacfourier.data.samples import Block

# Enough rows that chance does not decide between candidates, few enough to keep in memory.
_MOST_ROWS = 5000


class Reservoir(NamedTuple):
    """Some rows in the memory of the CPU, with their labels and weights, sorted by their keys."""

    keys: NDArray[np.uint64]
    X: Any
    y: NDArray[Any]
    weights: FloatArray

    def merge(self, other: Self) -> "Reservoir":
        """Return the rows of smallest keys among both."""
        joined = Reservoir(
            np.concatenate([self.keys, other.keys]),
            stacked(self.X, other.X),
            np.concatenate([self.y, other.y]),
            np.concatenate([self.weights, other.weights]),
        )
        return joined._smallest()

    def _smallest(self) -> "Reservoir":
        order = np.argsort(self.keys, kind="stable")[:_MOST_ROWS]
        return Reservoir(self.keys[order], self.X[order], self.y[order], self.weights[order])


def reservoir_of(block: Block, seed: int) -> Reservoir:
    """Return a random part of the rows of a block, at most ``_MOST_ROWS``."""
    keys = _row_keys(block.X, seed)
    order = np.argsort(keys, kind="stable")[:_MOST_ROWS]
    weights = np.ones(len(keys)) if block.weights is None else block.weights
    # Tensors are indexed by sorted positions on their device, and only the chosen rows are copied.
    return Reservoir(keys[order], host(block.X[order]), block.y[order], weights[order])


def _row_keys(X: Any, seed: int) -> NDArray[np.uint64]:
    """Return one random number per row, a hash (SplitMix64) of its values and a seed."""
    start = np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
    keys: NDArray[np.uint64] = row_fingerprints(X) + start
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        keys = (keys ^ (keys >> np.uint64(shift))) * np.uint64(factor)
    return keys ^ (keys >> np.uint64(31))
