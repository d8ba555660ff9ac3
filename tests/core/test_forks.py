"""A child that is forked while another thread of its parent works can work itself."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no forks")

# The child ends by an alarm if it waits for a lock that nobody will release.
FORK = """
import os, signal, sys, threading, time, warnings
import numpy as np
from numba.core.compiler_lock import global_compiler_lock
from threadpoolctl import ThreadpoolController, threadpool_limits
from pacfourier import PBRFF
from pacfourier.core import loops, threads

def blas_threads():
    return max(lib["num_threads"] for lib in ThreadpoolController().select(user_api="blas").info())

def fit():
    X = np.random.default_rng(0).standard_normal((40, 3))
    return PBRFF(5, n_candidates=40, random_state=0).fit(X, X[:, 0] > 0).transform(X).sum()

def child(work):
    warnings.simplefilter("ignore")
    process = os.fork()
    if process == 0:
        signal.alarm(20)
        try:
            os._exit(0 if work() else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

def busy(context):
    '''Be inside a context for a second, in another thread that is now inside it.'''
    is_inside = threading.Event()
    def stay():
        with context():
            is_inside.set()
            time.sleep(1)
    thread = threading.Thread(target=stay)
    thread.start()
    is_inside.wait()
    return thread

expected = fit()
"""

CASES = {
    "the lock of BLAS": """
thread = busy(lambda: threads._BLAS._lock)
found = child(lambda: fit() == expected)
""",
    "the lock of the compiler": """
thread = busy(lambda: global_compiler_lock)
def compiles():
    with global_compiler_lock:
        return True
found = child(compiles)
""",
    "BLAS on one thread": """
with threadpool_limits(2, user_api="blas"):
    thread = busy(threads.single_threaded_blas)
    found = child(lambda: blas_threads() == 2 and fit() == expected and blas_threads() == 2)
    assert blas_threads() == 1, "the parent's other thread is still inside"
    thread.join()
    assert blas_threads() == 2
""",
    "BLAS on one thread for the child too": """
def leaves():
    held.__exit__(None, None, None)
    return blas_threads() == 2
with threadpool_limits(2, user_api="blas"):
    held = threads.single_threaded_blas()
    held.__enter__()
    thread = busy(threads.single_threaded_blas)
    found = child(lambda: blas_threads() == 1 and fit() == expected and leaves())
    held.__exit__(None, None, None)
""",
    "a child of a child": """
thread = busy(lambda: threads._BLAS._lock)
found = child(lambda: child(lambda: fit() == expected) == 0)
""",
}


@pytest.mark.parametrize("held", CASES)
def test_a_child_works_if_another_thread_held_something_when_it_was_forked(held):
    code = FORK + CASES[held] + "thread.join()\nsys.exit(found)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, "")
