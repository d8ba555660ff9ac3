"""Samples, whole or in blocks: what a fit asks of its data, wherever they are.

A fit is a few passes over the data, each the sum of a function of blocks. Arrays are one block;
Dask collections and streams of batches are many, each validated where it is, as an array is.
"""

import operator
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from pacfourier.arrays import host, is_tensor, matching
from pacfourier.core.alignment.targets import label_witnesses
from pacfourier.core.phases import precision_of
from pacfourier.core.prior.bandwidth import merged_moments, scale_moments
from pacfourier.data.labels import check_no_missing, dense_labels, positive_weights
from pacfourier.sklearn_compat import output_container

# What an estimator knows of the columns of its inputs.
HEADING = ("n_features_in_", "feature_names_in_")


class Block(NamedTuple):
    """Validated rows; ``weights`` is None where all weigh one."""

    X: Any
    y: np.ndarray | None = None
    weights: np.ndarray | None = None
    is_weighted: bool = False
    index: int = 0


class Part(NamedTuple):
    """What was made of some blocks: nothing, where no sample of them counts."""

    result: Any = None
    is_thinned: bool = False
    """Whether a whole block was left out because it has no weight."""


class Witnesses(NamedTuple):
    """A few labels that have the same target as those of all samples, and how many these are."""

    labels: np.ndarray
    n_samples: int

    @classmethod
    def of(cls, y, labels):
        """Return the witnesses of labels of a kind."""
        return cls(label_witnesses(y, labels), len(y))

    def merge(self, other, labels):
        """Return the witnesses of both."""
        joined = label_witnesses(np.concatenate([self.labels, other.labels]), labels)
        return Witnesses(joined, self.n_samples + other.n_samples)


@dataclass(frozen=True, eq=False)
class Sample:
    """A sample in memory: one block."""

    block: Block

    @property
    def n_samples(self):
        """The number of samples."""
        return self.block.X.shape[0]

    @property
    def n_features(self):
        """The number of columns."""
        return self.block.X.shape[1]

    @property
    def heading(self):
        """No rows, with the columns and the type of all."""
        return self.block.X[:0]

    def reduce(self, function, merge, thinned=None):
        """Return the merged results of a function of blocks."""
        del merge, thinned
        return function(self.block)

    def witnesses(self, labels):
        """Return a few labels that have the same target as all, and the number of samples."""
        return Witnesses.of(self.block.y, labels)

    def moments(self):
        """Return what ``scale_gamma`` takes."""
        return _moments(self.block)

    def take(self, rows):
        """Return chosen rows."""
        return self.block.X[rows]


@dataclass(frozen=True, eq=False)
class BlockedSample:
    """A sample in blocks.

    Attributes
    ----------
    fold : callable
        ``fold(function, merge, only_labels)`` merges, in the order of the blocks, the results of
        ``function(index, X, y, weights)``; X is None where only the labels are asked for.
    reader : estimator
        Validates a block by its ``_block``; not fitted, but for its knowledge of the columns.
    heading : array of shape (0, n_features)
    """

    fold: Callable
    reader: Any
    heading: np.ndarray

    @property
    def n_features(self):
        """The number of columns."""
        return self.heading.shape[1]

    @property
    def n_samples(self):
        """The number of samples, counted in a pass."""
        return sum(size for _, size in self.reduce(_size, operator.add))

    def reduce(self, function, merge, thinned=None):
        """Return the merged results of a function of blocks.

        Whole blocks without weight leave no result; ``thinned`` marks the others with that.
        """
        part = self._present(partial(_of_block, self.reader, self.heading, function), merge)
        return thinned(part.result) if thinned and part.is_thinned else part.result

    def witnesses(self, labels):
        """Return a few labels that have the same target as all, and the number of samples."""
        merge = partial(Witnesses.merge, labels=labels)
        return self._present(partial(_of_labels, labels), merge, only_labels=True).result

    def moments(self):
        """Return what ``scale_gamma`` takes."""
        return self.reduce(_moments, merged_moments)

    def take(self, rows):
        """Return chosen rows, which must be sorted."""
        indices, sizes = np.transpose(self.reduce(_size, operator.add))
        ends = np.cumsum(sizes)
        parts = np.split(rows, np.searchsorted(rows, ends[:-1]))
        chosen = dict(zip(indices.tolist(), map(np.subtract, parts, ends - sizes), strict=True))
        return self.reduce(partial(_rows, chosen), _stacked)

    def _present(self, function, merge, only_labels=False):
        part = self.fold(function, partial(_merged_parts, merge), only_labels)
        if part.result is None:
            raise ValueError("X must have samples of positive weight, got none.")
        return part


def read_sample(estimator, data, *, reset, persist=False):
    """Return the data that an estimator was given, validated or with what validates them.

    Parameters
    ----------
    estimator : estimator
    data : Batches, or tuple (X, y) or (X, y, sample_weight)
    reset : bool
        Whether the estimator learns its columns from these data.
    persist : bool, default=False
        Whether lazy data stay in memory, for many passes.
    """
    if not isinstance(data, tuple):
        return blocked_sample(estimator, data.fold, data.heading(), reset=reset)
    if not is_lazy(data[0]):
        return Sample(estimator._block(*data, reset=reset, fewest=2 if reset else 1))
    if data[1] is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, got None.")
    from pacfourier.data import dask as distributed

    names, blocks = distributed.heading(data[0]), distributed.aligned_blocks(*data)
    fold = partial(distributed.fold, distributed.persisted(blocks) if persist else blocks)
    return blocked_sample(estimator, fold, names, reset=reset)


def blocked_sample(estimator, fold, names, *, reset):
    """Return a sample in blocks whose columns are those of ``names``, a table or an array."""
    validate_data(estimator, names, reset=reset, skip_check_array=True)
    return BlockedSample(fold, light_copy(estimator, HEADING), _checked_heading(names))


def is_lazy(X):
    """Return whether X is a Dask collection."""
    return hasattr(X, "__dask_graph__")


def n_rows(X):
    """Return the number of rows of an array, a table or a list."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def light_copy(estimator, attributes):
    """Return a clone that knows some of the fitted attributes, where there are such."""
    copied = clone(estimator)
    for name in attributes:
        if hasattr(estimator, name):
            setattr(copied, name, getattr(estimator, name))
    return copied


def lazily_mapped(estimator, X, attributes):
    """Return what ``transform`` makes of a Dask collection, block by block and when asked for."""
    from pacfourier.data import dask as distributed

    _check_container(estimator)
    names = distributed.heading(X)
    validate_data(estimator, names, reset=False, skip_check_array=True)
    # By itself, whatever the configuration is where and when the blocks are computed.
    copied = light_copy(estimator, (*HEADING, *attributes)).set_output(transform="default")
    n_columns = len(estimator.get_feature_names_out())
    return distributed.mapped(copied.transform, X, n_columns, _checked_heading(names).dtype)


def adopt(estimator, trial):
    """Give an estimator all that a copy of it has learned: after a failure nothing is changed."""
    # What the copy has forgotten, such as the names of columns, is forgotten.
    for name in vars(estimator).keys() - vars(trial).keys():
        delattr(estimator, name)
    vars(estimator).update(vars(trial))
    return estimator


def _check_container(estimator):
    container = output_container(estimator)
    if container != "default":
        raise ValueError(
            "set_output must be 'default' for Dask collections, which are mapped to lazy arrays, "
            f"got {container!r}."
        )


def _checked_heading(names):
    if is_tensor(names):
        from pacfourier.tensors import validated_tensor

        return validated_tensor(names[:0], "X", 0)
    return check_array(
        names[:0], accept_sparse="csr", dtype=(np.float64, np.float32), ensure_min_samples=0
    )


def _of_block(reader, heading, function, index, X, y, weights):
    """Return a function of a block, nothing if no sample of it counts."""
    if n_rows(X) == 0 == n_rows(y):
        return Part()
    with _about_block(index):
        block = reader._block(X, y, weights, reset=False, fewest=0)
        if not block.X.shape[0]:
            return Part(is_thinned=True)
        return Part(function(block._replace(X=_alike(heading, block.X), index=index)))


@contextmanager
def _about_block(index):
    """Name the block in the errors of it."""
    try:
        yield
    except ValueError as error:
        error.add_note(f"This is about block {index} of the data.")
        raise


def _alike(heading, X):
    """Return rows in the precision of the heading: equal rows of two types have unequal bits."""
    return X if precision_of(X) == precision_of(heading) else matching(heading, host(X))


def _of_labels(labels, index, X, y, weights):
    del X
    if n_rows(y) == 0:
        return Part()
    with _about_block(index):
        check_no_missing(y)
        y = dense_labels(
            check_array(host(y), accept_sparse="csr", ensure_2d=False, dtype=None, input_name="y")
        )
        _, y, _ = positive_weights(y, y, weights, fewest=0)
        return Part(Witnesses.of(y, labels)) if len(y) else Part()


def _merged_parts(merge, first, second):
    results = [part.result for part in (first, second) if part.result is not None]
    merged = reduce(merge, results) if results else None
    return Part(merged, first.is_thinned or second.is_thinned)


def _size(block):
    return [(block.index, block.X.shape[0])]


def _moments(block):
    return scale_moments(block.X, block.weights)


def _rows(chosen, block):
    return host(block.X[chosen[block.index]])


def _stacked(first, second):
    if sparse.issparse(first) or sparse.issparse(second):
        return sparse.vstack([first, second], format="csr")
    return np.vstack([first, second])
