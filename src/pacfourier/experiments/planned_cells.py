"""Which cells a plan asks for: a plan is plain data, and these functions list its cells."""

import itertools
from collections.abc import Collection
from typing import NamedTuple

from pacfourier.datasets import DATASETS
from pacfourier.datasets.toy_samples import TOYS
from pacfourier.errors import InputError
from pacfourier.experiments.methods import METHODS
from pacfourier.experiments.plan import (
    EXPERIMENTS,
    GAMMAS,
    PAPER_EXPERIMENTS,
    PROFILES,
    SMALL_WIDTHS,
    Cell,
    Profile,
)
from pacfourier.experiments.toy_landmarks import N_LANDMARKS, TOY_METHODS


class Plan(NamedTuple):
    """What a run should compute."""

    profile: str
    experiments: tuple[str, ...]
    datasets: tuple[str, ...]
    n_splits: int
    methods: tuple[str, ...] = tuple(METHODS)


def plan_of(profile: str, experiment: str, datasets: str, n_splits: int, methods: str = "") -> Plan:
    """Return the plan that a command line asks for.

    Parameters
    ----------
    profile : str
        A name of ``PROFILES``.
    experiment : str
        One of ``EXPERIMENTS``, or "all" for the three of the paper.
    datasets : str
        Names separated by commas. An empty text means the data sets of the profile.
    n_splits : int
    methods : str, default=""
        Names of ``METHODS`` separated by commas. An empty text means all of them.
    """
    _check_name("profile", profile, PROFILES)
    _check_name("experiment", experiment, ("all", *EXPERIMENTS))
    names = tuple(filter(None, datasets.split(","))) or PROFILES[profile].datasets
    for name in names:
        _check_name("datasets", name, DATASETS)
    experiments = PAPER_EXPERIMENTS if experiment == "all" else (experiment,)
    chosen = tuple(filter(None, methods.split(","))) or tuple(METHODS)
    for name in chosen:
        _check_name("methods", name, METHODS)
    return Plan(profile, experiments, names, n_splits, chosen)


def _check_name(parameter: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise InputError(f"{parameter} must be among {', '.join(known)}, got {name!r}.")


def all_cells(plan: Plan) -> list[Cell]:
    """Return every cell of a plan."""
    return toy_cells(plan) + grid_cells(plan) + method_cells(plan)


def toy_cells(plan: Plan) -> list[Cell]:
    """Return the cells of the toy experiment."""
    if "toy" not in plan.experiments:
        return []
    return [
        Cell(plan.profile, "toy", dataset, split, method, N_LANDMARKS)
        for dataset in TOYS
        for split in range(plan.n_splits)
        for method in TOY_METHODS
    ]


def grid_cells(plan: Plan) -> list[Cell]:
    """Return the cells that choose the bandwidths, if a method needs them."""
    if not needs_bandwidths(plan):
        return []
    return [
        Cell(plan.profile, "svm", dataset, split, "SVM grid", gamma)
        for dataset in plan.datasets
        for split in range(plan.n_splits)
        for gamma in GAMMAS
    ]


def needs_bandwidths(plan: Plan) -> bool:
    """Return whether the bandwidths of an RBF SVM must be known.

    A plan without methods asks for the SVM alone.
    """
    is_wanted = bool(set(plan.experiments) - {"toy"})
    return is_wanted and (
        not plan.methods or any(METHODS[name].needs_bandwidth for name in plan.methods)
    )


def method_cells(plan: Plan) -> list[Cell]:
    """Return the cells of the methods and of the SVM, grouped by split, the widest first."""
    work = [
        (experiment, name, width)
        for name in plan.methods
        for experiment in METHODS[name].experiments
        if experiment in plan.experiments
        for width in reversed(widths_of(experiment, PROFILES[plan.profile]))
    ]
    if not set(plan.experiments) - {"toy"}:
        return []
    cells = []
    for dataset, split in itertools.product(plan.datasets, range(plan.n_splits)):
        if needs_bandwidths(plan):
            cells.append(Cell(plan.profile, "svm", dataset, split, "SVM", 0))
        cells += [
            Cell(plan.profile, experiment, dataset, split, name, width)
            for experiment, name, width in work
        ]
    return cells


def widths_of(experiment: str, profile: Profile) -> tuple[int, ...]:
    """Return the widths at which an experiment runs its methods."""
    widths = {
        "greedy": profile.widths,
        "landmarks": profile.percentages,
        "small-d": SMALL_WIDTHS,
    }
    return widths[experiment]
