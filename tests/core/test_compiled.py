import ast
import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import config, njit

import pacfourier
from pacfourier.core.compiled import _SOURCES
from pacfourier.core.loops import _prefer_wide_vectors

PACKAGE = Path(pacfourier.__file__).parent

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


LOAD = """
import numpy as np
from pacfourier.core import loops
loops.write_features(np.ones((2, 3)), np.ones(3), np.zeros((2, 3)), np.zeros((2, 3)))
print(sum(loops.write_features.stats.cache_hits.values()))
"""


def loaded_from(cache, package):
    """Return whether a copy of the package finds its compiled code in a folder."""
    paths = {"PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", LOAD]
    found = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | paths
    )
    return int(found.stdout) == 1


@pytest.mark.slow
def test_compiled_code_is_not_used_after_a_change_of_another_file_that_is_part_of_it(tmp_path):
    """Functions of compiled.py are part of those of loops.py."""
    cache, copy = tmp_path / "cache", tmp_path / "pacfourier"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    assert not loaded_from(cache, copy)
    assert loaded_from(cache, copy)
    with (copy / "core" / "compiled.py").open("a") as file:
        file.write("# A change.\n")
    assert not loaded_from(cache, copy)
    assert loaded_from(cache, copy)


DOUBLED = """
from pacfourier.core.compiled import compiled

@compiled()
def doubled(x):
    return 2 * x
"""
DAMAGES = {
    "empty": lambda contents: contents[:0],
    "cut": lambda contents: contents[: len(contents) // 2],
    "nearly whole": lambda contents: contents[:-1],
    "zeros": lambda contents: bytes(len(contents)),
    "garbage": lambda contents: bytes(reversed(contents)),
}


def hits_of_doubled():
    """Declare a compiled function anew, call it, and return how often its code was found."""
    sys.modules.pop("doubling", None)
    doubled = importlib.import_module("doubling").doubled
    assert doubled(21) == 42
    return sum(doubled.stats.cache_hits.values())


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_of_compiled_code_are_replaced(damage, suffix, tmp_path, monkeypatch):
    """A power cut leaves such files. Undamaged ones are used."""
    (tmp_path / "doubling.py").write_text(DOUBLED)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    assert [hits_of_doubled() for _ in range(2)] == [0, 1]
    (file,) = (tmp_path / "cache").rglob(f"*.{suffix}")
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    assert [hits_of_doubled() for _ in range(2)] == [0, 1]


@pytest.mark.slow
def test_a_fit_with_only_damaged_files_is_the_same(usual, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert fitted(is_hidden=False).stdout == usual.stdout
    files = [file for suffix in ("nbi", "nbc") for file in tmp_path.rglob(f"*.{suffix}")]
    assert len(files) > 4
    for file in files:
        file.write_bytes(b"")
    found = fitted(is_hidden=False)
    assert (found.stdout, found.stderr) == (usual.stdout, "")


def test_compiled_code_depends_on_all_files_that_it_takes_anything_from():
    """These are the files that use numba, and what they import of the package."""
    core = PACKAGE / "core"
    using_numba = [path for path in core.rglob("*.py") if "from numba import" in path.read_text()]
    assert len(using_numba) >= 3
    needed = {str(path.relative_to(core)) for path in using_numba}
    for path in using_numba:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("pacfourier"):
                assert node.module.startswith("pacfourier.core.")
                needed.add(node.module.removeprefix("pacfourier.core.").replace(".", "/") + ".py")
    # No compiled function takes anything from it.
    assert set(_SOURCES) == needed - {"forks.py"}


def test_only_the_function_that_asks_gets_wide_vectors():
    def doubled(x):
        for i in range(len(x)):
            x[i] *= 2

    def widely_doubled(x):
        _prefer_wide_vectors()
        for i in range(len(x)):
            x[i] *= 2

    for function, is_wide in ((njit(doubled), False), (njit(widely_doubled), True)):
        x = np.arange(100.0)
        function(x)
        np.testing.assert_array_equal(x, 2 * np.arange(100.0))
        (code,) = function.inspect_llvm().values()
        assert ('"prefer-vector-width"="512"' in code) == is_wide
