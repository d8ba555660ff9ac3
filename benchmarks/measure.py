"""Measure time, as ratios within one run, and peak memory, above a baseline."""

import os
import subprocess
import sys
import time
import tracemalloc

import numpy as np


def seconds(call):
    """Return the seconds of one call, after the BLAS threads of the last one have stopped."""
    time.sleep(0.1)
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def median_ratio(first, second, rounds=7):
    """Return the median of time(first) / time(second) over rounds; the calls alternate."""
    first(), second()
    ratios = [seconds(first) / seconds(second) for _ in range(rounds)]
    return float(np.median(ratios))


def peak_megabytes(call):
    """Return the peak memory that a call allocates, in NumPy arrays and Python objects."""
    tracemalloc.start()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 2**20


def python_seconds(code, **environment):
    """Run code that prints a number of seconds in a new interpreter, and return that number."""
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(result.stdout)
