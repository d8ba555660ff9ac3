"""From cells to rows: cells run in parallel, and each adds one line to a file when it is finished.

A line has the columns of the cell, its results, its seconds and the versions of libraries. If the
run is killed, the next one goes on with the cells that have no line.
"""

import json
import platform
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, fields
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

import joblib
from threadpoolctl import threadpool_limits

from reproduction.datasets import load
from reproduction.methods import METHODS, Method, posterior_seconds
from reproduction.plan import Cell, Profile
from reproduction.protocol import Bench, Row, TrainValidTest, select, split_parts, svm_row
from reproduction.toy import toy_row

LIBRARIES = ("pacfourier", "numpy", "scipy", "scikit-learn", "numba")
# What results may depend on.
VERSIONS = ", ".join(
    [f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in LIBRARIES)]
)


def run(
    cells: list[Cell],
    profile: Profile,
    path: Path,
    n_jobs: int = -1,
    methods: dict[str, Method] = METHODS,
) -> Iterator[Cell]:
    """Run the cells that have no line in a file yet; yield each one when its line is written.

    The SVMs run first, because the other cells of a split need the bandwidth that its SVM chose.
    """
    parallel = joblib.Parallel(n_jobs, batch_size=1, return_as="generator_unordered")
    with path.open("ab") as file:
        for is_svm in (True, False):
            finished = read_lines(path)
            tasks = [
                joblib.delayed(timed_line)(
                    cell, profile, bandwidth_of(cell, finished), methods.get(cell.method)
                )
                for cell in cells
                if cell not in finished and (cell.experiment == "svm") == is_svm
            ]
            for line in parallel(tasks):
                # The line break comes first, in case a kill has cut the last line short.
                file.write(b"\n" + json.dumps(line).encode())
                file.flush()
                yield cell_of(line)


def read_lines(path: Path) -> dict[Cell, Row]:
    """Return the lines of a file by cell. A line that a kill has cut short is left out."""
    finished = {}
    for text in path.read_text("utf-8").splitlines():
        with suppress(json.JSONDecodeError):
            line = json.loads(text)
            finished[cell_of(line)] = line
    for line in finished.values():
        if line["versions"] != VERSIONS:
            raise ValueError(
                f"{path} must have results of {VERSIONS}, got some of {line['versions']}: choose "
                "another folder."
            )
    return finished


def cell_of(line: Row) -> Cell:
    """Return the cell of a line."""
    return Cell(**{field.name: line[field.name] for field in fields(Cell)})


def bandwidth_of(cell: Cell, finished: dict[Cell, Row]) -> float | None:
    """Return the bandwidth that the SVM of the split chose; None if it has not run."""
    line = finished.get(Cell("svm", cell.dataset, cell.split, "SVM", 0))
    return line["settings"]["gamma"] if line else None


def timed_line(cell: Cell, profile: Profile, gamma: float | None, method: Method | None) -> Row:
    """Run a cell and return its line."""
    start = time.perf_counter()
    try:
        row = run_cell(cell, profile, gamma, method)
    except Exception as error:
        raise RuntimeError(f"{cell} failed: {error}") from error
    seconds = time.perf_counter() - start
    return {**asdict(cell), **row, "seconds": seconds, "versions": VERSIONS}


def run_cell(cell: Cell, profile: Profile, gamma: float | None, method: Method | None) -> Row:
    """Return the results of a cell.

    The cell runs on one thread: more threads would change the order of sums, and with it the last
    digits.
    """
    with threadpool_limits(1):
        if cell.experiment == "toy":
            return toy_row(cell.dataset, cell.split, cell.method)
        if cell.experiment == "svm":
            return svm_row(_parts(cell.dataset, cell.split), profile)
        if gamma is None or method is None:
            raise ValueError(f"bandwidth and method must be known, got {gamma} and {method}.")
        bench = _bench(profile, cell.dataset, cell.split, gamma)
        if cell.experiment == "posterior":
            return {"posterior_seconds": posterior_seconds(bench, cell.method)}
        return select(method(bench, cell.width), bench.parts)


# The next cell of a worker is most likely one of the same split.
@lru_cache(maxsize=1)
def _parts(dataset: str, split: int) -> TrainValidTest:
    return split_parts(load(dataset), split)


@lru_cache(maxsize=1)
def _bench(profile: Profile, dataset: str, split: int, gamma: float) -> Bench:
    return Bench(profile, dataset, split, _parts(dataset, split), gamma)
