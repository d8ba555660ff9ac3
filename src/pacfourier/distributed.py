"""Dask collections as blocks: one task a block, and a tree that merges what the tasks return.

Nothing here knows what is computed. Any scheduler does: threads, processes, or the
``distributed.Client`` that is active.
"""

from concurrent.futures import CancelledError
from functools import partial, reduce

import dask
import dask.array as da
import numpy as np

# Results that one task merges: the tree has log_8 of the number of blocks levels.
FAN_IN = 8


def heading(X):
    """Return no rows with the columns of a collection of shape (n_samples, n_features)."""
    if X.ndim != 2:
        raise ValueError(f"X must have two axes, got {X.ndim}.")
    if _is_table(X):
        return X._meta
    if np.isnan(X.shape[1]):
        raise ValueError("X must have a known number of columns: call X.compute_chunk_sizes().")
    return np.empty((0, X.shape[1]), dtype=X.dtype)


def aligned_blocks(X, y=None, weights=None):
    """Return (X, y, weights) block by block, each of them lazy, or None where it is not given.

    Labels and weights in memory, or in chunks of other sizes, are cut as X is, if the sizes of
    the chunks are known; else they must come in as many blocks, of the same rows.
    """
    if not _is_table(X):
        X = X.rechunk({1: -1})
    columns = [_row_blocks(X)]
    for name, rows in (("y", y), ("sample_weight", weights)):
        aligned = None if rows is None else _cut_alike(name, rows, X)
        blocks = [None] * len(columns[0]) if aligned is None else _row_blocks(aligned)
        if len(blocks) != len(columns[0]):
            raise ValueError(
                f"{name} must have {len(columns[0])} blocks as X has, got {len(blocks)}: "
                "repartition it."
            )
        columns.append(blocks)
    return list(zip(*columns, strict=True))


def fold(blocks, function, merge, only_labels=False):
    """Return the results of ``function(index, X, y, weights)``, merged in a tree, in order."""
    # A node of its own in the graph: what the function carries is sent once to a worker.
    shared = dask.delayed(function, traverse=False)
    call, merge_all = dask.delayed(_call), dask.delayed(partial(reduce, merge))
    results = [
        call(shared, index, None if only_labels else X, y, weights)
        for index, (X, y, weights) in enumerate(blocks)
    ]
    while len(results) > 1:
        starts = range(0, len(results), FAN_IN)
        results = [merge_all(results[start : start + FAN_IN]) for start in starts]
    try:
        return dask.compute(*results)[0]
    except CancelledError as error:
        raise RuntimeError(
            "The cluster was lost, or the work cancelled, before all blocks were seen: "
            "nothing was learned."
        ) from error


def persisted(blocks):
    """Return the same blocks, computed once and kept where they are."""
    flat = iter(dask.persist(*(part for block in blocks for part in block)))
    return [tuple(next(flat) for _ in block) for block in blocks]


def mapped(function, X, n_columns, dtype):
    """Return a lazy array: a function of each block, which gives as many columns."""
    meta = np.empty((0, n_columns), dtype=dtype)
    on_block = partial(_unless_empty, function, meta)
    if _is_table(X):
        return X.map_partitions(on_block, meta=meta)
    X = X.rechunk({1: -1})
    return X.map_blocks(on_block, chunks=(X.chunks[0], (n_columns,)), meta=meta)


def _is_table(X):
    return hasattr(X, "to_dask_array")


def _row_blocks(X):
    """Return the blocks of a collection from the first row to the last."""
    return np.ravel(X.to_delayed()).tolist()


def _cut_alike(name, rows, X):
    """Return labels or weights in the chunks of X, where that can be known."""
    if not hasattr(rows, "__dask_graph__"):
        rows = da.from_array(np.asarray(rows), chunks=-1)
    if _is_table(rows):
        return rows
    if rows.ndim == 2:
        rows = rows.rechunk({1: -1})
    if _is_table(X) or np.isnan([*X.chunks[0], *rows.chunks[0]]).any():
        return rows
    if rows.shape[0] != X.shape[0]:
        raise ValueError(f"{name} must have {X.shape[0]} rows as X has, got {rows.shape[0]}.")
    return rows.rechunk({0: X.chunks[0]})


def _call(function, *arguments):
    return function(*arguments)


def _unless_empty(function, meta, block):
    return function(block) if block.shape[0] else meta
