"""How time and memory are measured: ratios inside one run, peaks above a baseline."""

import os
import subprocess
import sys
import time
import tracemalloc

import numpy as np


def seconds(call):
    """Time one call, after the BLAS threads of the last one have gone to sleep."""
    time.sleep(0.1)
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def median_ratio(first, second, rounds=7):
    """Return the median over rounds of time(first) / time(second), taken in turns."""
    first(), second()
    ratios = [seconds(first) / seconds(second) for _ in range(rounds)]
    return float(np.median(ratios))


def peak_megabytes(call):
    """Return the peak of what a call allocates (NumPy arrays and Python objects)."""
    tracemalloc.start()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 2**20


def python_seconds(code, **environment):
    """Return what a fresh interpreter prints: a number of seconds."""
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(result.stdout)
