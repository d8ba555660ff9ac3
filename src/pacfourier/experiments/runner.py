"""From a plan to records: cells run in parallel, and the parent process writes their results."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import joblib
from threadpoolctl import threadpool_limits

from pacfourier.datasets import describe, load
from pacfourier.errors import InputError, listed
from pacfourier.experiments.methods import METHODS, Method
from pacfourier.experiments.orphans import end_with_parent
from pacfourier.experiments.plan import PROFILES, Cell
from pacfourier.experiments.planned_cells import Plan, grid_cells, method_cells, toy_cells
from pacfourier.experiments.protocol import (
    Bench,
    TrainValidTest,
    select,
    selected_row,
    split_parts,
    svm_grid_row,
    svm_row,
)
from pacfourier.experiments.records import Records
from pacfourier.experiments.toy_landmarks import toy_row
from pacfourier.extras import explain_missing_extra

Rows = dict[str, dict[str, Any]]


class Bandwidth(NamedTuple):
    """The gamma and the C that the RBF SVM chose on the validation rows."""

    gamma: float
    C: float


def run_cell(
    cell: Cell, bandwidth: Bandwidth | None, folder: str | None, method: Method | None = None
) -> Rows:
    """Return the rows of a cell, by method.

    The cell runs on one thread: more threads would change the order of sums, and with it the last
    digits. Pass the method if it may be missing from the ``METHODS`` of this process.
    """
    with threadpool_limits(1):
        if cell.experiment == "toy":
            return {cell.method: toy_row(cell.dataset, cell.split, cell.method)}
        if cell.method == "SVM grid":
            parts = _parts(cell.dataset, cell.split, folder)
            row = svm_grid_row(parts, cell.width, PROFILES[cell.profile])
            return {cell.method: row}
        method = method or METHODS.get(cell.method)
        if method is not None and not method.needs_bandwidth:
            return _method_rows(cell, _bench(cell.dataset, cell.split, None, folder), method)
        if bandwidth is None:
            raise ValueError(f"bandwidth must be chosen before {cell}, got None.")
        if method is None:
            parts = _parts(cell.dataset, cell.split, folder)
            return {cell.method: svm_row(parts, *bandwidth)}
        bench = _bench(cell.dataset, cell.split, bandwidth.gamma, folder)
        return _method_rows(cell, bench, method)


def _method_rows(cell: Cell, bench: Bench, method: Method) -> Rows:
    settings = method.settings(bench, PROFILES[cell.profile], cell.width)
    selections = method.selections(cell.method, cell.width)
    best = select(settings, bench.parts, selections)
    return {name: selected_row(selected, bench.parts) for name, selected in best.items()}


# The next cell of a worker is most likely one of the same split.
@lru_cache(maxsize=1)
def _parts(dataset: str, split: int, folder: str | None) -> TrainValidTest:
    return split_parts(load(dataset, folder), split)


@lru_cache(maxsize=1)
def _bench(dataset: str, split: int, gamma: float | None, folder: str | None) -> Bench:
    return Bench(dataset, split, _parts(dataset, split, folder), gamma)


def check_data(plan: Plan, folder: str | None) -> None:
    """Read every data set of a plan once, so that a missing file is found before the work starts.

    Files that can be downloaded are downloaded here.
    """
    if folder and not Path(folder).is_dir():
        raise InputError(f"--data must be a folder, got {folder!r}: no such folder.")
    for name in dict.fromkeys(cell.dataset for cell in method_cells(plan)):
        check_folder(name, folder)
        try:
            load(name, folder)
        except (OSError, ValueError, ImportError) as error:
            raise InputError(str(error)) from error


def check_folder(name: str, folder: str | None) -> None:
    """Raise an error if the user names a folder that lacks a file of a data set."""
    files = describe(name).files if folder else {}
    forms = {file: [Path(folder or "", form) for form in (file, f"{file}.gz")] for file in files}
    absent = [file for file, paths in forms.items() if not any(map(Path.is_file, paths))]
    if absent:
        raise InputError(
            f"--data must be a folder with {listed(absent)} or their .gz for {name!r}, got "
            f"{folder!r}: put the files there, or leave --data out to download them."
        )


def run_plan(
    plan: Plan,
    records: Records,
    folder: str | None = None,
    n_jobs: int | None = None,
    scheduler: str | None = None,
) -> Iterator[Cell]:
    """Run every cell that is not in the records yet; yield each cell once it is written.

    Parameters
    ----------
    plan : Plan
    records : Records
    folder : path, default=None
        Where the data are; see ``pacfourier.datasets.load``.
    n_jobs : int, default=None
        Number of worker processes. None means one per core. The results do not depend on it.
    scheduler : str, default=None
        Address of a Dask cluster that does the work instead of ``n_jobs`` processes. Its workers
        need one thread each, this package and the data.
    """
    # Processes of a cluster are not ours to end.
    parent = None if scheduler else os.getpid()
    with _workers(n_jobs, scheduler) as parallel:
        for cells in (toy_cells(plan) + grid_cells(plan), method_cells(plan)):
            yield from _run_wave(cells, records, folder, parallel, parent)


@contextmanager
def _workers(n_jobs: int | None, scheduler: str | None) -> Iterator[joblib.Parallel]:
    """Yield joblib's workers: processes of this machine, or those of a Dask cluster."""
    options = {"batch_size": 1, "return_as": "generator_unordered"}
    if scheduler is None:
        yield joblib.Parallel(n_jobs=n_jobs or os.cpu_count(), **options)
        return
    with explain_missing_extra():
        from distributed import Client

    with Client(scheduler, set_as_default=False) as client:
        with joblib.parallel_config(backend="dask", client=client):
            parallel = joblib.Parallel(n_jobs=-1, **options)
        yield parallel


def _run_wave(
    cells: list[Cell],
    records: Records,
    folder: str | None,
    parallel: joblib.Parallel,
    parent: int | None,
) -> Iterator[Cell]:
    finished = records.finished()
    bandwidths = chosen_bandwidths(records)
    tasks = [
        joblib.delayed(_timed)(
            cell, bandwidths.get(_split_of(cell)), folder, METHODS.get(cell.method), parent
        )
        for cell in cells
        if cell not in finished
    ]
    for cell, rows, seconds in parallel(tasks):
        records.write(cell, rows, seconds)
        yield cell


def _timed(
    cell: Cell,
    bandwidth: Bandwidth | None,
    folder: str | None,
    method: Method | None,
    parent: int | None,
) -> tuple[Cell, Rows, float]:
    if parent is not None:
        end_with_parent(parent)
    start = time.perf_counter()
    try:
        rows = run_cell(cell, bandwidth, folder, method)
    except Exception as error:
        raise RuntimeError(f"{cell} failed: {error}") from error
    return cell, rows, time.perf_counter() - start


def _split_of(cell: Cell) -> tuple[str, str, int]:
    return cell.profile, cell.dataset, cell.split


def chosen_bandwidths(records: Records) -> dict[tuple[str, str, int], Bandwidth]:
    """Return the bandwidth and C with the fewest validation errors, per profile, data and split.

    Ties go to the smallest C, then to the smallest bandwidth.
    """
    best: dict[tuple[str, str, int], tuple[float, ...]] = {}
    for row in records.results():
        if row["method"] != "SVM grid":
            continue
        key = (row["profile"], row["dataset"], row["split"])
        score = (row["valid_errors"], row["C"], row["width"])
        best[key] = min(score, best.get(key, score))
    return {key: Bandwidth(gamma, C) for key, (_, C, gamma) in best.items()}
