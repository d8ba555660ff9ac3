"""Compare the time of the quick reproduction with that of a plain loop over the same cells.

The plain loop follows the text of the paper and shares nothing between settings: it fits the map
again for every setting, computes it again for every C, and trains scikit-learn's LinearSVC for each
C separately. Both loops use the same seeds and one thread.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from pacfourier import OKRFF, PBRFF, RFF, PBLandmarks, RBFLandmarks
from pacfourier.datasets import load
from pacfourier.experiments.methods import METHODS
from pacfourier.experiments.plan import (
    BETAS,
    CS,
    GAMMAS,
    LANDMARK_WIDTHS,
    N_CANDIDATES,
    PROFILES,
    RHOS,
)
from pacfourier.experiments.protocol import Bench, split_parts
from pacfourier.experiments.records import Records
from pacfourier.experiments.runner import Plan, run_plan

PUBLISHED = tuple(name for name, method in METHODS.items() if method.is_published)
LANDMARKS = {"C": "kmeans", "R": "random"}


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
        kind, common = LANDMARKS[name[-1]], {"n_landmarks": width / 100, "gamma": gamma}
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


def plain_svm(bench: Bench) -> tuple[float, Chosen]:
    """Return the bandwidth with the fewest validation errors of the RBF SVM, and its errors."""
    parts, best = bench.parts, None
    for C in CS:
        for gamma in GAMMAS:
            machine = SVC(C=C, gamma=gamma).fit(parts.X_train, parts.y_train)
            valid_errors = int(np.sum(machine.predict(parts.X_valid) != parts.y_valid))
            test_errors = int(np.sum(machine.predict(parts.X_test) != parts.y_test))
            if best is None or valid_errors < best[1].valid_errors:
                best = gamma, Chosen(valid_errors, test_errors, True)
    return best


def plain_quick(methods: tuple[str, ...] = PUBLISHED) -> dict[tuple[str, int], Chosen]:
    """Return the selection of the plain loop in every cell of the quick profile, on breast."""
    profile = PROFILES["quick"]
    widths = {"greedy": profile.widths, "landmarks": profile.percentages}
    bench = Bench("breast", 0, split_parts(load("breast"), 0), gamma=np.nan)
    bench.gamma, svm = plain_svm(bench)
    found = {("SVM", 0): svm}
    for name in methods:
        for width in widths[METHODS[name].experiments[0]]:
            found[name, width] = plain_cell(bench, name, width)
    return found


def library_quick(methods: tuple[str, ...] = PUBLISHED) -> dict[tuple[str, int], dict[str, Any]]:
    """Return the result rows of the library for the same cells, in one process."""
    plan = Plan("quick", ("landmarks", "greedy"), ("breast",), 1, methods)
    with Records(":memory:") as records:
        for _ in run_plan(plan, records, n_jobs=1):
            pass
        return {(row["method"], row["width"]): row for row in records.results()}


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
