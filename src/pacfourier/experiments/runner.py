"""From a plan to records: independent cells in parallel, written one by one by the parent."""

import os
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import joblib
from threadpoolctl import threadpool_limits

from pacfourier.datasets import DATASETS, load
from pacfourier.datasets.toy_samples import TOYS
from pacfourier.errors import InputError
from pacfourier.experiments.methods import METHODS, Method
from pacfourier.experiments.plan import (
    EXPERIMENTS,
    GAMMAS,
    PAPER_EXPERIMENTS,
    PROFILES,
    SMALL_WIDTHS,
    Cell,
)
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
from pacfourier.experiments.toy_landmarks import N_LANDMARKS, toy_maps, toy_row

Rows = dict[str, dict[str, Any]]


class Bandwidth(NamedTuple):
    """What the RBF SVM chose on validation."""

    gamma: float
    C: float


def run_cell(
    cell: Cell, bandwidth: Bandwidth | None, folder: str | None, method: Method | None = None
) -> Rows:
    """Return the rows of a cell, by method: a pure function, on one thread.

    More threads would change the order of sums, and with it the last digits. The method is given
    where the registry of this process may lack it.
    """
    with threadpool_limits(1):
        if cell.experiment == "toy":
            return {cell.method: toy_row(cell.dataset, cell.split, cell.method)}
        if cell.method == "SVM grid":
            parts = _parts(cell.dataset, cell.split, folder)
            row = svm_grid_row(parts, cell.width, PROFILES[cell.profile])
            return {cell.method: row}
        assert bandwidth is not None, "the bandwidth is chosen before"
        if cell.method == "SVM":
            parts = _parts(cell.dataset, cell.split, folder)
            return {cell.method: svm_row(parts, *bandwidth)}
        bench = _bench(cell.dataset, cell.split, bandwidth.gamma, folder)
        return _method_rows(cell, bench, method or METHODS[cell.method])


def _method_rows(cell: Cell, bench: Bench, method: Method) -> Rows:
    settings = method.settings(bench, PROFILES[cell.profile], cell.width)
    selections = method.selections(cell.method, cell.width)
    best = select(settings, bench.parts, selections)
    return {name: selected_row(selected, bench.parts) for name, selected in best.items()}


# A worker keeps what its next cell will most likely need again.
@lru_cache(maxsize=1)
def _parts(dataset: str, split: int, folder: str | None) -> TrainValidTest:
    return split_parts(load(dataset, folder), split)


@lru_cache(maxsize=1)
def _bench(dataset: str, split: int, gamma: float, folder: str | None) -> Bench:
    return Bench(dataset, split, _parts(dataset, split, folder), gamma)


class Plan(NamedTuple):
    """Which cells are wanted."""

    profile: str
    experiments: tuple[str, ...]
    datasets: tuple[str, ...]
    n_splits: int
    methods: tuple[str, ...] = tuple(METHODS)

    def toy_cells(self) -> list[Cell]:
        """Return the cells of the toy experiment."""
        if "toy" not in self.experiments:
            return []
        return [
            Cell(self.profile, "toy", dataset, split, method, N_LANDMARKS)
            for dataset in TOYS
            for split in range(self.n_splits)
            for method in toy_maps(0)
        ]

    def grid_cells(self) -> list[Cell]:
        """Return the cells that choose the bandwidths."""
        if not set(self.experiments) - {"toy"}:
            return []
        return [
            Cell(self.profile, "svm", dataset, split, "SVM grid", gamma)
            for dataset in self.datasets
            for split in range(self.n_splits)
            for gamma in GAMMAS
        ]

    def method_cells(self) -> list[Cell]:
        """Return the cells that need a bandwidth, those of one split together, widest first."""
        profile = PROFILES[self.profile]
        widths = {
            "greedy": profile.widths,
            "landmarks": profile.percentages,
            "small-d": SMALL_WIDTHS,
        }
        work = [
            (experiment, name, width)
            for name in self.methods
            for experiment in METHODS[name].experiments
            if experiment in self.experiments
            for width in reversed(widths[experiment])
        ]
        cells = []
        for dataset, split in dict.fromkeys((c.dataset, c.split) for c in self.grid_cells()):
            cells.append(Cell(self.profile, "svm", dataset, split, "SVM", 0))
            cells += [
                Cell(self.profile, experiment, dataset, split, name, width)
                for experiment, name, width in work
            ]
        return cells

    def cells(self) -> list[Cell]:
        """Return all cells."""
        return self.toy_cells() + self.grid_cells() + self.method_cells()


def plan_of(profile: str, experiment: str, datasets: str, n_splits: int) -> Plan:
    """Return the plan that a command line asks for.

    Parameters
    ----------
    profile : str
        A name of ``PROFILES``.
    experiment : str
        One of ``EXPERIMENTS``, or "all" of the paper's.
    datasets : str
        Names with commas between; those of the profile if empty.
    n_splits : int
    """
    _check_name("profile", profile, PROFILES)
    _check_name("experiment", experiment, ("all", *EXPERIMENTS))
    names = tuple(filter(None, datasets.split(","))) or PROFILES[profile].datasets
    for name in names:
        _check_name("datasets", name, DATASETS)
    experiments = PAPER_EXPERIMENTS if experiment == "all" else (experiment,)
    return Plan(profile, experiments, names, n_splits)


def _check_name(parameter: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise InputError(f"{parameter} must be among {', '.join(known)}, got {name!r}.")


def check_data(plan: Plan, folder: str | None) -> None:
    """Read every data set of a plan once: what is missing is downloaded now, or named."""
    for name in dict.fromkeys(cell.dataset for cell in plan.grid_cells()):
        try:
            load(name, folder)
        except (OSError, ValueError, ImportError) as error:
            raise InputError(str(error)) from error


def run_plan(
    plan: Plan,
    records: Records,
    folder: str | None = None,
    n_jobs: int | None = None,
    scheduler: str | None = None,
) -> Iterator[Cell]:
    """Run what is not in the records yet; yield each cell when it is written.

    Parameters
    ----------
    plan : Plan
    records : Records
    folder : path, default=None
        Where the data are; see ``pacfourier.datasets.load``.
    n_jobs : int, default=None
        Worker processes; None means one a core. They change no result.
    scheduler : str, default=None
        Address of a Dask cluster that does the work in place of ``n_jobs`` processes. Its workers
        have one thread each, this package and the data.
    """
    with _workers(n_jobs, scheduler) as parallel:
        yield from _run_wave(plan.toy_cells() + plan.grid_cells(), records, folder, parallel)
        yield from _run_wave(plan.method_cells(), records, folder, parallel)


@contextmanager
def _workers(n_jobs: int | None, scheduler: str | None) -> Iterator[joblib.Parallel]:
    """Yield joblib's workers: processes of this machine, or those of a Dask cluster."""
    options = {"batch_size": 1, "return_as": "generator_unordered"}
    if scheduler is None:
        yield joblib.Parallel(n_jobs=n_jobs or os.cpu_count(), **options)
        return
    from distributed import Client

    with Client(scheduler, set_as_default=False) as client:
        with joblib.parallel_config(backend="dask", client=client):
            parallel = joblib.Parallel(n_jobs=-1, **options)
        yield parallel


def _run_wave(
    cells: list[Cell], records: Records, folder: str | None, parallel: joblib.Parallel
) -> Iterator[Cell]:
    finished = records.finished()
    bandwidths = chosen_bandwidths(records)
    tasks = [
        joblib.delayed(_timed)(
            cell, bandwidths.get(_split_of(cell)), folder, METHODS.get(cell.method)
        )
        for cell in cells
        if cell not in finished
    ]
    for cell, rows, seconds in parallel(tasks):
        records.write(cell, rows, seconds)
        yield cell


def _timed(
    cell: Cell, bandwidth: Bandwidth | None, folder: str | None, method: Method | None
) -> tuple[Cell, Rows, float]:
    start = time.perf_counter()
    try:
        rows = run_cell(cell, bandwidth, folder, method)
    except Exception as error:
        raise RuntimeError(f"{cell} failed: {error}") from error
    return cell, rows, time.perf_counter() - start


def _split_of(cell: Cell) -> tuple[str, str, int]:
    return cell.profile, cell.dataset, cell.split


def chosen_bandwidths(records: Records) -> dict[tuple[str, str, int], Bandwidth]:
    """Return the bandwidth and C of fewest validation errors, by profile, data set and split.

    Of equals the one with the smallest C wins, then the smallest bandwidth.
    """
    best: dict[tuple[str, str, int], tuple[float, ...]] = {}
    for row in records.results():
        if row["method"] != "SVM grid":
            continue
        key = (row["profile"], row["dataset"], row["split"])
        score = (row["valid_errors"], row["C"], row["width"])
        best[key] = min(score, best.get(key, score))
    return {key: Bandwidth(gamma, C) for key, (_, C, gamma) in best.items()}
