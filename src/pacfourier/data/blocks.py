"""Samples that come in blocks: Dask collections and batches.

A pass over the data applies a function to each block and merges the results. This is called a fold.
Each block is validated like an array in memory, by the worker that holds it.
"""

import copy
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from pacfourier.arrays import FloatArray, IntArray, host, matching
from pacfourier.core.alignment.targets import TargetType
from pacfourier.core.precision import precision_of
from pacfourier.core.prior.bandwidth import merged_moments
from pacfourier.data.samples import (
    Block,
    Reader,
    Witnesses,
    block_moments,
    check_labels,
    checked_heading,
    positive_weights,
)

# The fitted attributes that describe the columns of the inputs.
HEADING = ("n_features_in_", "feature_names_in_")


class _Part(NamedTuple):
    """The result of some blocks, or None if none of their samples has a positive weight."""

    result: Any = None
    is_thinned: bool = False
    """Whether a whole block was left out because all its weights are zero."""


@dataclass(frozen=True, eq=False)
class BlockedSample:
    """A sample in blocks.

    Attributes
    ----------
    fold : callable
        ``fold(function, merge, only_labels)`` calls ``function(index, X, y, weights)`` on each
        block and merges the results in the order of the blocks. X is None if ``only_labels``.
    each : callable
        ``each()`` yields (index, X, y, weights) of one block after another.
    read : callable
        Validates the rows of a block.
    heading : array of shape (0, n_features)
    """

    fold: Callable[..., _Part]
    each: Callable[[], Iterator[Any]]
    read: Reader
    heading: Any

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return int(self.heading.shape[1])

    @property
    def n_samples(self) -> int:
        """The number of samples, counted in a pass over the data."""
        return sum(size for _, size in self.reduce(_size, operator.add))

    @property
    def whole(self) -> None:
        """None: the rows are never in memory together."""
        return None

    def reduce(
        self,
        function: Callable[[Block], Any],
        merge: Callable[[Any, Any], Any],
        thinned: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Return the merged results of a function of blocks.

        Blocks whose weights are all zero give no result. If there are any, ``thinned`` is applied
        to the result of the other blocks.
        """
        part = self._present(partial(_of_block, self.read, self.heading, function), merge)
        return thinned(part.result) if thinned and part.is_thinned else part.result

    def blocks(self) -> Iterator[Block]:
        """Yield one block after another, for what must be learned in order."""
        for block in self.each():
            part = _of_block(self.read, self.heading, _itself, *block)
            if part.result is not None:
                yield part.result

    def witnesses(self, kind: TargetType) -> Witnesses:
        """Return a few labels that have the same target as all labels, and their number."""
        merge = partial(_merged_witnesses, kind)
        found: Witnesses = self._present(partial(_of_labels, kind), merge, only_labels=True).result
        return found

    def moments(self) -> FloatArray:
        """Return the moments from which ``scale_gamma`` computes a bandwidth."""
        moments: FloatArray = self.reduce(block_moments, merged_moments)
        return moments

    def take(self, rows: IntArray) -> Any:
        """Return chosen rows, which must be sorted."""
        indices, sizes = np.transpose(self.reduce(_size, operator.add))
        ends = np.cumsum(sizes)
        parts = np.split(rows, np.searchsorted(rows, ends[:-1]))
        chosen = dict(zip(indices.tolist(), map(np.subtract, parts, ends - sizes), strict=True))
        return self.reduce(partial(_rows, chosen), stacked)

    def _present(
        self,
        function: Callable[..., _Part],
        merge: Callable[[Any, Any], Any],
        only_labels: bool = False,
    ) -> _Part:
        part = self.fold(function, partial(_merged_parts, merge), only_labels)
        if part.result is None:
            raise ValueError("X must have samples of positive weight, got none.")
        return part


def blocked_sample(
    estimator: Any,
    reader: Reader,
    fold: Callable[..., _Part],
    each: Callable[[], Iterator[Any]],
    names: Any,
    *,
    reset: bool,
) -> BlockedSample:
    """Return a sample in blocks that has the columns of ``names``, a table or an array."""
    validate_data(estimator, names, reset=reset, skip_check_array=True)
    read = partial(reader, light_copy(estimator, HEADING), reset=False, fewest=0)
    return BlockedSample(fold, each, read, checked_heading(names))


def light_copy(estimator: Any, attributes: tuple[str, ...]) -> Any:
    """Return a copy with the parameters and, of the fitted attributes, only those named."""
    copied = copy.copy(estimator)
    kept = {*estimator.get_params(deep=False), *attributes}
    for name in vars(estimator).keys() - kept:
        delattr(copied, name)
    return copied


def n_rows(X: Any) -> int:
    """Return the number of rows of an array, a table or a list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _of_block(
    read: Reader,
    heading: Any,
    function: Callable[[Block], Any],
    index: int,
    X: Any,
    y: Any,
    weights: Any,
) -> _Part:
    """Return a function of a block, or an empty part if no sample has a positive weight."""
    if n_rows(X) == 0 == n_rows(y):
        return _Part()
    with _naming_block(index):
        block = read(X, y, weights)
        if not block.X.shape[0]:
            return _Part(is_thinned=True)
        return _Part(function(block._replace(X=_alike(heading, block.X), number=index)))


@contextmanager
def _naming_block(index: int) -> Iterator[None]:
    """Add the number of the block to the error messages."""
    try:
        yield
    except ValueError as error:
        error.add_note(f"The error is in block {index} of the data.")
        raise


def _alike(heading: Any, X: Any) -> Any:
    """Return rows in the precision of the heading.

    Equal rows have equal fingerprints only if they have the same precision.
    """
    return X if precision_of(X) == precision_of(heading) else matching(heading, host(X))


def _of_labels(kind: TargetType, index: int, X: Any, y: Any, weights: Any) -> _Part:
    del X
    if n_rows(y) == 0:
        return _Part()
    with _naming_block(index):
        y = check_labels(y)
        _, y, _ = positive_weights(y, y, weights, fewest=0)
        return _Part(Witnesses(kind.witnesses(y), len(y))) if len(y) else _Part()


def _merged_witnesses(kind: TargetType, first: Witnesses, second: Witnesses) -> Witnesses:
    labels = kind.witnesses(np.concatenate([first.labels, second.labels]))
    return Witnesses(labels, first.n_samples + second.n_samples)


def _merged_parts(merge: Callable[[Any, Any], Any], first: _Part, second: _Part) -> _Part:
    results = [part.result for part in (first, second) if part.result is not None]
    merged = reduce(merge, results) if results else None
    return _Part(merged, first.is_thinned or second.is_thinned)


def _itself(block: Block) -> Block:
    return block


def _size(block: Block) -> list[tuple[int, int]]:
    return [(block.number, block.X.shape[0])]


def _rows(chosen: dict[int, IntArray], block: Block) -> Any:
    return host(block.X[chosen[block.number]])


def stacked(first: Any, second: Any) -> Any:
    """Return the rows of both, which are arrays or sparse matrices."""
    if sparse.issparse(first) or sparse.issparse(second):
        return sparse.vstack([first, second], format="csr")
    return np.vstack([first, second])
