"""Dask collections with bad blocks, and clusters that lose a worker."""

import os
import signal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.torture.attacks import attack

from pacfourier import OKRFF, PBRFF

N_BLOCKS, N_ROWS = 4, 20


def rows(seed: int, block: int, marker: Path | None = None) -> Any:
    """Return the rows of a block. Where a marker is given, the first process to come dies."""
    if marker is not None and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return np.random.default_rng([seed, block]).standard_normal((N_ROWS, 3))


def labels(X: Any) -> Any:
    """Return the classes of rows."""
    return (X[:, 0] > 0).astype(int)


def collection(seed: int, marker: Path | None = None) -> Any:
    """Return rows that are made where they are used."""
    import dask
    import dask.array as da

    dying = seed % N_BLOCKS
    blocks = [
        da.from_delayed(
            dask.delayed(partial(rows, marker=marker if block == dying else None))(seed, block),
            (N_ROWS, 3),
            dtype=float,
        )
        for block in range(N_BLOCKS)
    ]
    return da.concatenate(blocks)


@attack(40)
def dask_bad_blocks(seed: int, _folder: Path) -> None:
    """Fit on a collection with one bad block: an error of ours, and the next fit works."""
    import dask.array as da

    X = np.vstack([rows(seed, block) for block in range(N_BLOCKS)])
    y, bad, bad_y = labels(X), X.copy(), labels(X).astype(float)
    model = (PBRFF, OKRFF)[seed % 2](5, n_candidates=40, random_state=0)
    expected = type(model)(**model.get_params()).fit(X, y).losses_
    if seed % 4 < 3:
        bad[seed % len(X), 1] = [np.nan, np.inf, 1e300][seed % 4]
    else:
        bad_y[seed % len(X)] = np.nan
    chunks = int(np.random.default_rng(seed).integers(5, 40))
    try:
        model.fit(da.from_array(bad, chunks=(chunks, 3)), da.from_array(bad_y, chunks=chunks))
    except ValueError:
        assert not hasattr(model, "losses_")
    else:
        raise AssertionError("A bad block was accepted.")
    model.fit(da.from_array(X, chunks=(chunks, 3)), da.from_array(y, chunks=chunks))
    np.testing.assert_allclose(model.losses_, expected, rtol=0, atol=1e-12)


@attack(10)
def dask_killed_workers(seed: int, folder: Path) -> None:
    """Kill a worker of a cluster while it makes a block: the fit ends with the same losses."""
    import distributed

    X = np.vstack([rows(seed, block) for block in range(N_BLOCKS)])
    expected = PBRFF(5, n_candidates=40, random_state=0).fit(X, labels(X)).losses_
    marker = folder / "killed"
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster),
    ):
        model = PBRFF(5, n_candidates=40, random_state=0)
        model.fit(collection(seed, marker), labels(collection(seed)))
    assert marker.exists()
    np.testing.assert_allclose(model.losses_, expected, rtol=0, atol=1e-12)
