import subprocess
import sys

import pytest

FIT = """
import warnings
from numba.core import caching
if {is_hidden}:
    caching.CacheImpl._locator_classes = []
warnings.simplefilter("default")
import numpy as np
from pacfourier import PBRFF
X = np.random.default_rng(0).standard_normal((40, 3))
print(PBRFF(5, n_candidates=40, random_state=0).fit(X, X[:, 0] > 0).transform(X).sum().hex())
"""


def fitted(is_hidden):
    command = [sys.executable, "-c", FIT.format(is_hidden=is_hidden)]
    return subprocess.run(command, capture_output=True, text=True, check=True)


@pytest.fixture(scope="module")
def usual():
    return fitted(is_hidden=False)


def test_a_fit_runs_where_no_folder_is_writable_and_says_so_once(usual):
    """Numba finds no folder if it has nowhere to look."""
    found = fitted(is_hidden=True)
    assert found.stdout == usual.stdout
    assert found.stderr.count("set NUMBA_CACHE_DIR to a writable folder") == 1


def test_nothing_is_said_where_a_folder_is_writable(usual):
    assert "NUMBA_CACHE_DIR" not in usual.stderr
