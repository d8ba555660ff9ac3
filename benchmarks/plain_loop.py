"""Compare the time of the quick reproduction with that of a plain loop over the same cells.

The plain loop follows the text of the paper and shares nothing between settings: it fits the map
again for every setting, computes it again for every C, and trains scikit-learn's LinearSVC for each
C separately. Both loops use the same seeds and one thread.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from pacfourier import OKRFF, PBRFF, RFF, PBLandmarks, RBFLandmarks
from reproduction.datasets import load
from reproduction.plan import (
    BETAS,
    CS,
    GAMMAS,
    GREEDY,
    LANDMARK_WIDTHS,
    LANDMARKS,
    N_CANDIDATES,
    PROFILES,
    RHOS,
    Cell,
    grid_cells,
)
from reproduction.protocol import Bench, Row, TrainValidTest, split_parts
from reproduction.runner import read_lines, run

PUBLISHED = (*GREEDY, *LANDMARKS)
KINDS = {"C": "kmeans", "R": "random"}


class Chosen(NamedTuple):
    """The errors of the model that the plain loop selected."""

    valid_errors: int
    test_errors: int
    has_converged: bool
    """Whether LinearSVC converged for every setting and every C."""


def plain_settings(bench: Bench, name: str, width: int) -> Iterator[Callable[[], Any]]:
    """Yield one function per setting of a method, which fits its map."""
    parts, gamma = bench.parts, bench.gamma
    if name == "RFF":
        seed = bench.seed("RFF", "iid", width)
        yield lambda: RFF(width, gamma=gamma, random_state=seed).fit(parts.X_train)
    elif name in ("PBRFF", "OKRFF"):
        common = {
            "n_candidates": N_CANDIDATES,
            "gamma": gamma,
            "draw": "replacement",
            "target_type": "binary",
            "class_weight": None,
            "random_state": bench.seed("candidates"),
        }
        betas = [PBRFF(width, beta=beta, **common) for beta in BETAS]
        rhos = [OKRFF(width, rho=rho * N_CANDIDATES, **common) for rho in RHOS]
        for model in betas if name == "PBRFF" else rhos:
            yield lambda model=model: model.fit(parts.X_train, parts.y_train)
    else:
        kind, common = KINDS[name[-1]], {"n_landmarks": width / 100, "gamma": gamma}
        common["random_state"] = bench.seed("landmarks", kind, width)
        models = [RBFLandmarks(kind, **common)]
        if name.startswith("PB"):
            models = [
                PBLandmarks(kind, n_frequencies=n_frequencies, beta=beta, **common)
                for n_frequencies in LANDMARK_WIDTHS
                for beta in BETAS
            ]
        for model in models:
            yield lambda model=model: model.fit(parts.X_train, parts.y_train)


def plain_cell(bench: Bench, name: str, width: int) -> Chosen:
    """Choose the setting and C of a method on validation data, in a plain loop."""
    parts, best, converged = bench.parts, None, True
    for fit in plain_settings(bench, name, width):
        model = fit()
        for C in CS:
            machine = LinearSVC(C=C, dual=False, tol=1e-6, max_iter=10_000)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", ConvergenceWarning)
                machine.fit(model.transform(parts.X_train), parts.y_train)
            converged &= not caught
            predicted = machine.predict(model.transform(parts.X_valid))
            valid_errors = int(np.sum(predicted != parts.y_valid))
            if best is None or valid_errors < best[0]:
                best = valid_errors, model, machine
    valid_errors, model, machine = best
    test_errors = int(np.sum(machine.predict(model.transform(parts.X_test)) != parts.y_test))
    return Chosen(valid_errors, test_errors, converged)


def plain_svm(parts: TrainValidTest) -> tuple[float, Chosen]:
    """Return the bandwidth with the fewest validation errors of the RBF SVM, and its errors."""
    best = None
    for C in CS:
        for gamma in GAMMAS:
            machine = SVC(C=C, gamma=gamma).fit(parts.X_train, parts.y_train)
            valid_errors = int(np.sum(machine.predict(parts.X_valid) != parts.y_valid))
            test_errors = int(np.sum(machine.predict(parts.X_test) != parts.y_test))
            if best is None or valid_errors < best[1].valid_errors:
                best = gamma, Chosen(valid_errors, test_errors, True)
    return best


def quick_cells(methods: tuple[str, ...]) -> list[Cell]:
    """Return the cells of some methods in the quick profile, on the first split of breast."""
    profile = PROFILES["quick"]
    grids = {"greedy": (GREEDY, profile.widths), "landmarks": (LANDMARKS, profile.percentages)}
    chosen = [
        (experiment, [name for name in methods if name in known], widths)
        for experiment, (known, widths) in grids.items()
    ]
    return grid_cells(chosen, profile.datasets, 1)


def plain_quick(methods: tuple[str, ...] = PUBLISHED) -> dict[tuple[str, float], Chosen]:
    """Return the selection of the plain loop in every cell of the quick profile, on breast."""
    parts = split_parts(load("breast"), 0)
    gamma, svm = plain_svm(parts)
    bench = Bench(PROFILES["quick"], "breast", 0, parts, gamma)
    found = {("SVM", 0): svm}
    for cell in quick_cells(methods)[1:]:
        found[cell.method, cell.width] = plain_cell(bench, cell.method, int(cell.width))
    return found


def library_quick(methods: tuple[str, ...] = PUBLISHED) -> dict[tuple[str, float], Row]:
    """Return the results of the library for the same cells, in one process."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "cells.jsonl")
        for _ in run(quick_cells(methods), PROFILES["quick"], path, n_jobs=1):
            pass
        return {(cell.method, cell.width): row for cell, row in read_lines(path).items()}


def main() -> None:
    """Time both loops, compare their selections and print the results."""
    # The first run compiles the loops, which must not be timed.
    library_quick(("RFF", "PB-R"))
    start = time.perf_counter()
    rows = library_quick()
    middle = time.perf_counter()
    with threadpool_limits(1):
        found = plain_quick()
    end = time.perf_counter()
    ours, plain = middle - start, end - middle
    print(f"library {ours:.1f} s, plain loop {plain:.1f} s, ratio {plain / ours:.1f}")
    agreeing = {"valid_errors": 0, "test_errors": 0}
    converged = [key for key, chosen in found.items() if chosen.has_converged]
    for key, chosen in found.items():
        row = rows[key]
        for name in agreeing:
            agreeing[name] += row[name] == getattr(chosen, name)
        if row["valid_errors"] != chosen.valid_errors:
            note = "" if chosen.has_converged else ", LinearSVC did not converge"
            pair = f"{row['valid_errors']} and {chosen.valid_errors}"
            print(f"{key[0]} at {key[1]}: {pair} validation errors{note}")
    print(f"{len(found)} cells; LinearSVC converged for every C in {len(converged)}")
    print(f"equal validation errors in {agreeing['valid_errors']}", end=", ")
    print(f"equal test errors in {agreeing['test_errors']}")
    for key in converged:
        if rows[key]["valid_errors"] != found[key].valid_errors:
            raise SystemExit(f"{key}: both solvers converged, but the validation errors differ")


if __name__ == "__main__":
    main()
