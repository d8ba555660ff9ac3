"""Dask collections as blocks of rows: one task per block, and a tree that merges the results.

The functions that are applied to the blocks come from elsewhere. Any scheduler works: threads,
processes, or the active ``distributed.Client``.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from functools import partial, reduce
from typing import Any, TypeAlias

import dask
import dask.array as da
import numpy as np
from sklearn.utils.validation import validate_data

from pacfourier.arrays import host
from pacfourier.data.blocks import HEADING, light_copy
from pacfourier.data.samples import checked_heading
from pacfourier.sklearn_compat import output_container

_Blocks: TypeAlias = list[tuple[Any, ...]]

# The number of results that one task merges. The tree has log_8(number of blocks) levels.
_FAN_IN = 8
_LOST = (
    "The cluster was lost or the work was cancelled before all blocks were read. The estimator did "
    "not change: fit it again."
)


def heading(X: Any) -> Any:
    """Return an array or table without rows, with the columns of a Dask collection."""
    _check_kind("X", X)
    if X.ndim != 2:
        raise ValueError(f"X must have two axes, got {X.ndim}.")
    if _is_table(X):
        return X._meta
    if np.isnan(X.shape[1]):
        raise ValueError("X must have a known number of columns: call X.compute_chunk_sizes().")
    return np.empty((0, X.shape[1]), dtype=X.dtype)


def aligned_blocks(X: Any, y: Any = None, weights: Any = None) -> _Blocks:
    """Return lazy (X, y, weights) for each block. Labels or weights that are not given are None.

    If the sizes of the chunks are known, labels and weights may be in memory or have chunks of
    other sizes. They are then cut like X. Otherwise they must be Dask collections whose blocks have
    the same rows as those of X.
    """
    _check_held(each for each in (X, y, weights) if hasattr(each, "__dask_graph__"))
    if not _is_table(X):
        X = X.rechunk({1: -1})
    columns = [_row_blocks(X)]
    for name, rows in (("y", y), ("sample_weight", weights)):
        blocks = [None] * len(columns[0]) if rows is None else _cut_alike(name, rows, X)
        if len(blocks) != len(columns[0]):
            raise ValueError(
                f"{name} must have {len(columns[0])} blocks as X has, got {len(blocks)}: "
                "repartition it."
            )
        columns.append(blocks)
    return list(zip(*columns, strict=True))


def fold(
    blocks: _Blocks,
    function: Callable[..., Any],
    merge: Callable[[Any, Any], Any],
    only_labels: bool = False,
) -> Any:
    """Return the results of ``function(index, X, y, weights)``, merged in order by a tree."""
    # As a separate node of the graph, the function is sent to each worker only once.
    shared = dask.delayed(function, traverse=False)
    call, merge_all = dask.delayed(_call), dask.delayed(partial(reduce, merge))
    results = [
        call(shared, index, None if only_labels else X, y, weights)
        for index, (X, y, weights) in enumerate(blocks)
    ]
    while len(results) > 1:
        starts = range(0, len(results), _FAN_IN)
        results = [merge_all(results[start : start + _FAN_IN]) for start in starts]
    return _computed(*results)[0]


def each(blocks: _Blocks) -> Iterator[tuple[Any, ...]]:
    """Yield (index, X, y, weights) of one block after another, in the memory of the caller."""
    for index, block in enumerate(blocks):
        yield index, *_computed(*block)


def _computed(*results: Any) -> tuple[Any, ...]:
    try:
        return tuple(dask.compute(*results))
    except CancelledError as error:
        raise RuntimeError(_LOST) from error


def persisted(blocks: _Blocks) -> _Blocks:
    """Return the same blocks, computed once and kept in the memory of the workers."""
    flat = iter(dask.persist(*(part for block in blocks for part in block)))
    return [tuple(next(flat) for _ in block) for block in blocks]


def transformed(estimator: Any, X: Any, attributes: tuple[str, ...]) -> Any:
    """Return the result of ``transform`` as a lazy array that is computed block by block.

    Parameters
    ----------
    estimator : fitted transformer
    X : Dask collection of shape (n_samples, n_features)
    attributes : tuple of str
        The fitted attributes that ``transform`` uses. Only these are sent to the workers.

    Returns
    -------
    features : dask.array.Array
    """
    container = output_container(estimator)
    if container != "default":
        raise ValueError(
            "set_output must be 'default' for Dask collections, because they become lazy Dask "
            f"arrays, got {container!r}."
        )
    names = heading(X)
    validate_data(estimator, names, reset=False, skip_check_array=True)
    # The configuration of a worker must not change the type of the result.
    copied = light_copy(estimator, (*HEADING, *attributes)).set_output(transform="default")
    n_columns = len(estimator.get_feature_names_out())
    meta = np.empty((0, n_columns), dtype=checked_heading(names).dtype)
    return _mapped(copied.transform, X, meta)


def predicted(estimator: Any, X: Any, method: str, attributes: tuple[str, ...]) -> Any:
    """Return the result of a method of a predictor as a lazy array, computed block by block.

    Parameters
    ----------
    estimator : fitted predictor
    X : Dask collection of shape (n_samples, n_features)
    method : str
        Such as "predict".
    attributes : tuple of str
        The fitted attributes that the method uses. Only these are sent to the workers.

    Returns
    -------
    predictions : dask.array.Array
    """
    validate_data(estimator, heading(X), reset=False, skip_check_array=True)
    function = getattr(light_copy(estimator, (*HEADING, *attributes)), method)
    # One made-up row tells the type and shape of the result.
    row = X._meta_nonempty[:1] if _is_table(X) else np.zeros((1, X.shape[1]), dtype=X.dtype)
    return _mapped(function, X, function(row)[:0])


def _mapped(function: Callable[[Any], Any], X: Any, meta: Any) -> Any:
    """Return a function of each block of rows as a lazy array. ``meta`` is a result without rows.

    The result has a known number of columns.
    """
    on_block = partial(_unless_empty, function, meta)
    if _is_table(X):
        return X.map_partitions(on_block, meta=meta)
    X = X.rechunk({1: -1})
    if meta.ndim == 1:
        return X.map_blocks(on_block, drop_axis=1, meta=meta)
    return X.map_blocks(on_block, chunks=(X.chunks[0], meta.shape[1:]), meta=meta)


def _check_held(collections: Iterable[Any]) -> None:
    """Raise RuntimeError if blocks were in the memory of a cluster that no longer exists."""
    # Without an import of distributed there are no such blocks.
    distributed = sys.modules.get("distributed")
    if distributed and any(block.cancelled() for block in distributed.futures_of([*collections])):
        raise RuntimeError(_LOST)


def _is_table(X: Any) -> bool:
    # We ask the class, because a Delayed object seems to have every attribute.
    return hasattr(type(X), "to_dask_array")


def _check_kind(name: str, rows: Any) -> None:
    if not _is_table(rows) and not (isinstance(rows, da.Array) and rows.ndim):
        raise ValueError(f"{name} must be a Dask array of rows, or a Dask table, got {rows!r}.")


def _row_blocks(X: Any) -> list[Any]:
    """Return the blocks of a collection from the first row to the last."""
    return np.ravel(X.to_delayed()).tolist()


def _cut_alike(name: str, rows: Any, X: Any) -> list[Any]:
    """Return the blocks of labels or weights, cut like X if the sizes of the chunks are known."""
    sizes = None if _is_table(X) or np.isnan(X.chunks[0]).any() else X.chunks[0]
    if not hasattr(rows, "__dask_graph__"):
        return _parts(name, host(rows), sizes)
    _check_kind(name, rows)
    if _is_table(rows):
        return _row_blocks(rows)
    rows = rows.rechunk(dict.fromkeys(range(1, rows.ndim), -1))
    if sizes is not None and not np.isnan(rows.chunks[0]).any():
        _check_length(name, rows, X.shape[0])
        rows = rows.rechunk({0: sizes})
    return _row_blocks(rows)


def _parts(name: str, rows: Any, sizes: tuple[int, ...] | None) -> list[Any]:
    """Cut rows in memory into parts, so that a worker receives only those it needs."""
    if sizes is None:
        raise ValueError(
            f"{name} must be a Dask collection with the partitions of X, because their sizes are "
            f"not known, got {type(rows).__name__}."
        )
    rows = rows.tocsr() if hasattr(rows, "tocsr") else np.asarray(rows)
    _check_length(name, rows, sum(sizes))
    ends = np.cumsum(sizes)
    cuts = zip(ends - sizes, ends, strict=True)
    return [dask.delayed(rows[start:end], traverse=False) for start, end in cuts]


def _check_length(name: str, rows: Any, expected: int) -> None:
    if rows.shape[:1] != (expected,):
        raise ValueError(f"{name} must have {expected} rows as X has, got shape {rows.shape}.")


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def _unless_empty(function: Callable[[Any], Any], meta: Any, block: Any) -> Any:
    return function(block) if block.shape[0] else meta
