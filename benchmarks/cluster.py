"""Measure fits on a local Dask cluster, from data that the workers generate and never store.

    python benchmarks/cluster.py                        # 40 million rows, workers of 1 GB
    python benchmarks/cluster.py --rows 200000 --block 20000 --candidates 200   # a smoke run

There are two measurements. The first fits many rows on workers with little memory. The second
compares the time of one worker with that of two, on a shape where computing takes all the time.
"""

import argparse
import time

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from sklearn.base import clone

from pacfourier import PBRFF

WIDTH = 16


def rows_of(block, n_rows):
    """Return the inputs of one block, which depend only on its number and size."""
    rng = np.random.default_rng([20190416, block])
    return rng.standard_normal((n_rows, WIDTH), dtype=np.float32)


def lazy_data(n_rows, block):
    """Return lazy inputs and labels, cut into blocks of rows."""
    sizes = [min(block, n_rows - start) for start in range(0, n_rows, block)]
    make = dask.delayed(rows_of)
    X = da.concatenate(
        [
            da.from_delayed(make(index, size), (size, WIDTH), dtype=np.float32)
            for index, size in enumerate(sizes)
        ]
    )
    return X, (X[:, 0] * X[:, 1] > 0).astype(np.int8)


def largest_memory(dask_worker):
    """Return the peak memory of a worker, in bytes."""
    del dask_worker
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def timed_fit(n_workers, n_rows, block, n_candidates):
    """Return the seconds of a fit on single-threaded workers, and their largest peak memory."""
    settings = {"threads_per_worker": 1, "memory_limit": "1GB", "dashboard_address": ":0"}
    with LocalCluster(n_workers=n_workers, **settings) as cluster, Client(cluster) as client:
        model = PBRFF(100, n_candidates=n_candidates, precision="single", random_state=0)
        # The first fit compiles the loops in every worker, which must not be timed.
        model.fit(*lazy_data(64 * n_workers, 4))
        X, y = lazy_data(n_rows, block)
        started = time.perf_counter()
        # With the classes declared, one pass over the data is enough.
        fitted = clone(model).partial_fit(X, y, classes=[0, 1])
        seconds = time.perf_counter() - started
        assert fitted.sums_.n_samples == n_rows
        return seconds, max(client.run(largest_memory).values())


def main():
    """Print both measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=40_000_000)
    parser.add_argument("--block", type=int, default=200_000)
    parser.add_argument("--candidates", type=int, default=500)
    arguments = parser.parse_args()
    n_rows, block, n_candidates = arguments.rows, arguments.block, arguments.candidates
    seconds, memory = timed_fit(2, n_rows, block, n_candidates)
    print(
        f"{n_rows:,} x {WIDTH} rows, {n_candidates:,} candidates, 2 workers of 1 GB: "
        f"{seconds:.1f} s, {n_rows / seconds:,.0f} rows per second, "
        f"{memory / 2**20:.0f} MB in the larger worker"
    )
    # A twentieth of the rows and twenty times the candidates: almost all the time goes to the sums.
    one, two = (timed_fit(n, n_rows // 20, block // 20, 20 * n_candidates)[0] for n in (1, 2))
    print(f"one worker {one:.1f} s, two workers {two:.1f} s: {one / two:.2f}x (goal 1.7x)")


if __name__ == "__main__":
    main()
