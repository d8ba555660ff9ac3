"""The commands ``predict`` and ``certify`` on long tables: their memory, and interrupts."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.tabular.command import TABLES, contents, fitted, patients, started, written

import pacfourier

pytestmark = pytest.mark.slow

# Arrow reads ahead by some 30 MB, which both tables exceed.
N_ROWS, TIMES = 40_000, 3
# The command line, and the peak of its memory in kB.
SCRIPT = """
import re, sys
from pathlib import Path
from pacfourier.__main__ import main
try:
    main()
except SystemExit as error:
    assert not error.code, error.code
print(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
"""


def long_table(n_rows):
    """Rows of about 1,100 bytes. The last column, a long text, is not used by the model."""
    rng = np.random.default_rng([TABLES, n_rows])
    numbers = pd.Series(rng.integers(10**9, size=n_rows)).astype(str)
    return patients(n_rows, seed=2).assign(remark=numbers + 1000 * "x")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model, a long table, and one that is three times longer."""
    folder = tmp_path_factory.mktemp("streaming")
    fitted(written(patients(600), folder / "data.csv"), out=folder / "model.skops")
    for name, n_rows in (("long.csv", N_ROWS), ("longer.csv", TIMES * N_ROWS)):
        written(long_table(n_rows), folder / name)
    return folder


def peak(folder, *arguments):
    """Return the largest memory of a command, in bytes."""
    command = [sys.executable, "-c", SCRIPT, *map(str, arguments)]
    # With one thread and one pool of memory, peaks hardly depend on what else the machine does.
    single = {
        "OMP_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
    }
    source = {"PYTHONPATH": str(Path(pacfourier.__file__).parents[1])}
    result = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | single | source,
    )
    assert result.returncode == 0, result.stderr
    return 1024 * int(result.stdout.split()[-1])


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
@pytest.mark.parametrize("command", ["predict", "certify"])
def test_memory_does_not_grow_with_the_table(command, folder):
    """In memory, the longer table would need at least the size of its file more.

    ``certify`` keeps 16 bytes per row, its loss and its confidence.
    """
    options = ("--out", "p.parquet", "--overwrite") if command == "predict" else ()
    peaks = [
        peak(folder, command, "model.skops", name, *options) for name in ("long.csv", "longer.csv")
    ]
    sizes = [(folder / name).stat().st_size for name in ("long.csv", "longer.csv")]
    assert peaks[1] - peaks[0] < (sizes[1] - sizes[0]) / 2


def test_an_interrupt_of_predict_is_quiet_and_leaves_no_file(folder, monkeypatch):
    monkeypatch.chdir(folder)
    before = {path: len(content) for path, content in contents(".").items()}
    process = started("predict", "model.skops", "longer.csv", "--out", "cut.csv")
    # The output is written to a hidden file that is renamed at the end.
    while not any(path.stat().st_size for path in folder.glob(".cut.csv.*")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode in (130, -signal.SIGINT)
    assert stderr == ""
    assert {path: len(content) for path, content in contents(".").items()} == before
