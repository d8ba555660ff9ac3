"""CONTRIBUTING lists the files that a fit, a certificate and a Dask fit visit: exactly these."""

import re
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer

import pacfourier
from pacfourier import PBRFF

PACKAGE = Path(pacfourier.__file__).parent
GUIDE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
X, Y = load_breast_cancer(return_X_y=True)


def model():
    return PBRFF(5, n_candidates=600, random_state=0)


def listed(heading):
    """Return the files of the numbered list under a bold heading."""
    section = GUIDE.partition(f"**{heading}**")[2].partition("\n\n**")[0].partition("\n## ")[0]
    return re.findall(r"^\d+\. `([\w/]+\.py)`", section, flags=re.MULTILINE)


@contextmanager
def visited_files():
    """Record the files of the package whose functions are entered, in the order of first entry.

    scikit-learn asks every estimator for its tags at each call: these are left out.
    """
    found = []

    def enter(frame, event, argument):
        del event, argument
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(PACKAGE) and frame.f_code.co_name != "__sklearn_tags__":
            name = path.relative_to(PACKAGE).as_posix()
            if name not in found:
                found.append(name)

    before, before_in_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(enter)
    threading.settrace(enter)
    try:
        yield found
    finally:
        sys.settrace(before)
        threading.settrace(before_in_threads)


def test_the_walk_of_a_fit():
    estimator = model().fit(X, Y)
    with visited_files() as files:
        estimator.fit(X, Y)
    assert files == listed("A fit")
    assert len(files) <= 12


def test_the_walk_of_a_certificate():
    estimator = model().fit(X, Y)
    assert estimator.certificate().value > 0
    with visited_files() as files:
        assert estimator.certificate().value > 0
    assert files == listed("A certificate")
    assert len(files) <= 10


def test_the_walks_of_a_dask_fit():
    dask = pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")
    blocks = da.from_array(X, chunks=(100, -1)), da.from_array(Y, chunks=100)
    on_workers = []

    def scheduler(graph, keys, **options):
        before = sys.gettrace()
        with visited_files() as files:
            result = dask.local.get_sync(graph, keys, **options)
        sys.settrace(before)
        on_workers.extend(name for name in files if name not in on_workers)
        return result

    with dask.config.set(scheduler=scheduler):
        estimator = model().fit(*blocks)
        on_workers.clear()
        with visited_files() as files:
            estimator.fit(*blocks)
    assert files == listed("A fit on Dask collections")
    assert on_workers == listed("The same fit, on a worker")
    assert max(len(files), len(on_workers)) <= 12
