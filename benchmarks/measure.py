"""Measure times, as ratios within one run, and peaks of memory, and compare them with goals.

A single ratio of times means little on a shared machine. A row is therefore measured again and
again, until the interval of its median lies on one side of the goal. If it still contains the goal
after the last round, the row is undecided.
"""

import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import binom

Relation = Literal[">=", "<=", "within 15% of"]
Verdict = Literal["met", "missed", "undecided"]

# The smallest and the largest of six numbers contain the median with probability 1 - 2 / 2^6.
FEWEST_ROUNDS, MOST_ROUNDS, CONFIDENCE = 6, 40, 0.95
# A row that takes longer than this is not measured again.
MOST_SECONDS = 60.0


class Row(NamedTuple):
    """One measurement with its goal.

    Attributes
    ----------
    name : str
    measure : callable
        Measures once, and returns a number.
    relation : {">=", "<=", "within 15% of"}
    goal : float
    unit : str
    most_rounds : int
        1 for numbers that do not change, such as peaks of memory.
    """

    name: str
    measure: Callable[[], float]
    relation: Relation
    goal: float
    unit: str
    most_rounds: int = MOST_ROUNDS


class Measured(NamedTuple):
    """The median of all rounds, its interval, and whether it meets the goal."""

    median: float
    low: float
    high: float
    n_rounds: int
    verdict: Verdict


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the two values of a sample between which the median of its law lies.

    With k values in order, the j-th from either end are such an interval with probability
    1 - 2 P(B < j), where B is the number of heads in k throws of a fair coin. We take the largest
    j for which this is at least 0.95, and both ends if there is none.
    """
    ordered = sorted(values)
    place = max(1, int(binom.ppf((1 - CONFIDENCE) / 2, len(ordered), 0.5)))
    return ordered[place - 1], ordered[-place]


def verdict_of(low: float, high: float, relation: Relation, goal: float) -> Verdict:
    """Return whether an interval lies on the right side of the goal, on the wrong one, or on both.

    >>> verdict_of(1.1, 1.3, "<=", 1.2)
    'undecided'
    """
    smallest = {">=": goal, "<=": -np.inf}.get(relation, 0.85 * goal)
    largest = {">=": np.inf, "<=": goal}.get(relation, 1.15 * goal)
    if smallest <= low and high <= largest:
        return "met"
    return "missed" if high < smallest or low > largest else "undecided"


def measured(row: Row) -> Measured:
    """Measure a row until it is decided, or until its rounds or its time are used up."""
    start, values = time.perf_counter(), []
    while True:
        values.append(row.measure())
        low, high = median_interval(values)
        verdict = verdict_of(low, high, row.relation, row.goal)
        is_enough = len(values) >= min(FEWEST_ROUNDS, row.most_rounds)
        is_late = time.perf_counter() - start > MOST_SECONDS
        if len(values) == row.most_rounds or (is_enough and (is_late or verdict != "undecided")):
            return Measured(float(np.median(values)), low, high, len(values), verdict)


def seconds(call):
    """Return the seconds of one call, after the BLAS threads of the last one have stopped."""
    time.sleep(0.1)
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def time_ratio(first, second):
    """Return a function that measures time(first) / time(second) once, after a warm-up."""
    first(), second()
    return lambda: seconds(first) / seconds(second)


def median_ratio(first, second, rounds=7):
    """Return the median of time(first) / time(second) over rounds; the calls alternate."""
    ratio = time_ratio(first, second)
    return float(np.median([ratio() for _ in range(rounds)]))


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
