"""A cluster of processes, one of which dies."""

import os
import resource
import signal
import threading
import time

import numpy as np
import pytest

from pacfourier import PBRFF

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

WIDTH = 20


def rows_of(seed, n_rows):
    return np.random.default_rng(seed).standard_normal((n_rows, WIDTH))


def lazy_rows(n_blocks, n_rows, make=rows_of):
    """Return inputs that exist only block by block, where they are used, and their labels."""
    blocks = [
        da.from_delayed(dask.delayed(make)(seed, n_rows), (n_rows, WIDTH), dtype=np.float64)
        for seed in range(n_blocks)
    ]
    X = da.concatenate(blocks)
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def model():
    return PBRFF(5, n_candidates=60, precision="double", random_state=0)


def peak_memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
def test_a_cluster_finds_the_losses_of_one_machine(client):
    assert client is distributed.default_client()
    X, y = lazy_rows(11, 300)
    lazy = model().fit(X, y)
    inputs, labels = dask.compute(X, y, scheduler="synchronous")
    whole = model().fit(inputs, labels)
    np.testing.assert_allclose(lazy.losses_, whole.losses_, rtol=1e-12)
    mapped = lazy.transform(X).compute()
    np.testing.assert_allclose(mapped, whole.transform(inputs), atol=1e-12)


@pytest.mark.slow
def test_a_killed_worker_costs_time_and_nothing_else(client, tmp_path):
    expected = model().fit(*dask.compute(*lazy_rows(20, 200), scheduler="synchronous"))
    marker = tmp_path / "killed"

    def rows_of_a_mortal(seed, n_rows):
        if seed == 13 and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return rows_of(seed, n_rows)

    X, _ = lazy_rows(20, 200, rows_of_a_mortal)
    _, y = lazy_rows(20, 200)
    before = set(client.run(os.getpid).values())
    lazy = model().fit(X, y)
    assert marker.exists()
    client.wait_for_workers(3)
    assert len(set(client.run(os.getpid).values()) - before) == 1
    np.testing.assert_allclose(lazy.losses_, expected.losses_, rtol=1e-12)
    assert lazy.sums_.n_samples == 4000


@pytest.mark.slow
def test_the_memory_of_a_worker_does_not_grow_with_the_data(client):
    few, many = 12, 120
    model().fit(*lazy_rows(few, 10_000))
    before = client.run(peak_memory)
    model().fit(*lazy_rows(many, 10_000))
    after = client.run(peak_memory)
    growth = max(after[worker] - before[worker] for worker in before)
    # A block is 1.6 MB; workers keep records of their tasks, and may hold a few blocks more.
    assert growth < 0.25 * (many - few) * 10_000 * WIDTH * 8


@pytest.mark.slow
@pytest.mark.usefixtures("client")
def test_an_error_of_a_worker_is_the_error_of_the_fit():
    X, y = lazy_rows(5, 50)
    unfitted = model()
    before = dict(vars(unfitted))
    with pytest.raises(ValueError, match="X contains NaN"):
        unfitted.fit(da.where(X > 2, np.nan, X), y)
    assert vars(unfitted) == before


@pytest.mark.slow
def test_data_in_the_memory_of_a_closed_cluster_are_lost():
    X, y = lazy_rows(3, 50)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", processes=False
        ) as cluster,
        distributed.Client(cluster),
    ):
        kept, labels = X.persist(), y.persist()
    for data in ((kept, y), (kept * 2, y), (X, labels)):
        with pytest.raises(RuntimeError, match="cluster was lost"):
            model().fit(*data)


STARTED = threading.Event()


def slow_rows(seed, n_rows):
    STARTED.set()
    time.sleep(0.2)
    return rows_of(seed, n_rows)


@pytest.mark.slow
def test_a_lost_cluster_leaves_the_estimator_as_it_was():
    fitted = model().fit(*dask.compute(*lazy_rows(2, 50), scheduler="synchronous"))
    before = dict(vars(fitted))
    X, _ = lazy_rows(50, 50, slow_rows)
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", processes=False
    )
    closing = threading.Thread(target=lambda: STARTED.wait(30) and cluster.close())
    with cluster, distributed.Client(cluster):
        closing.start()
        with pytest.raises(RuntimeError, match="cluster was lost"):
            fitted.partial_fit(X, np.resize([0, 1], 2500))
        closing.join()
    assert all(value is before[name] for name, value in vars(fitted).items())
