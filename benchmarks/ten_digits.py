"""Compare feature maps on all ten digits of MNIST: test errors and fit times.

The last 10,000 of the 60,000 training images are for validation. MNIST's own order mixes the
digits, so no shuffling is needed. All maps have 2 D columns, and the same linear model is trained
on each: scikit-learn's ``RidgeClassifier``, one regression per digit.

If a map needs a bandwidth, three multiples of the median bandwidth compete. The bandwidth and the
ridge are chosen on validation data. The chosen model is tested as it is, without a new fit.

Times are the seconds to fit the map, for all its settings together, without the linear model.
"PBRFF-paper" uses the paper's beta = 1, draw and class_weight. The other learned maps use their
defaults.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier

from pacfourier import PBRFF, RFF, BoostedRFF
from pacfourier.core.prior.bandwidth import median_gamma, median_rows
from reproduction.datasets import mnist

WIDTHS = (50, 100, 500)
GAMMA_MULTIPLES = (0.25, 1.0, 4.0)
RIDGES = tuple(10.0**k for k in range(-4, 2))
PAPER = {"beta": 1.0, "draw": "replacement", "class_weight": None}

MAPS: dict[str, Callable[[int], Any]] = {
    "RFF-median": partial(RFF, gamma="median"),
    "PBRFF": PBRFF,
    "BoostedRFF": BoostedRFF,
}
TUNED_MAPS: dict[str, Callable[[int, float], Any]] = {
    "RFF": lambda width, gamma: RFF(width, gamma=gamma),
    "Nystroem": lambda width, gamma: Nystroem(gamma=gamma, n_components=2 * width),
    "PBRFF-paper": lambda width, gamma: PBRFF(width, gamma=gamma, **PAPER),
}
NAMES = ("RFF-median", "RFF", "Nystroem", "PBRFF-paper", "PBRFF", "BoostedRFF")


def settings_of(name: str, width: int, gammas: list[float]) -> list[Any]:
    """Return the settings of a map to choose from."""
    if name in MAPS:
        return [MAPS[name](width)]
    return [TUNED_MAPS[name](width, gamma) for gamma in gammas]


class DigitParts(NamedTuple):
    """Images and digits, each as a tuple of training, validation and test part."""

    X: tuple[np.ndarray, np.ndarray, np.ndarray]
    digits: tuple[np.ndarray, np.ndarray, np.ndarray]


def ten_digits(n_rows: int) -> DigitParts:
    """Return the parts: a sixth of the rows for validation, and as many test images."""
    n_valid = n_rows // 6
    parts = []
    for train, test in zip(mnist("train"), mnist("t10k"), strict=True):
        parts.append((train[: n_rows - n_valid], train[n_rows - n_valid : n_rows], test[:n_valid]))
    images = tuple(part / np.float32(255) for part in parts[0])
    return DigitParts(images, parts[1])


def best_ridge(model: Any, parts: DigitParts) -> tuple[float, RidgeClassifier]:
    """Return the smallest validation error over all ridges, and its classifier."""
    train, valid = (model.transform(X).astype(np.float64) for X in parts.X[:2])
    found = []
    for ridge in RIDGES:
        machine = RidgeClassifier(alpha=ridge, solver="cholesky").fit(train, parts.digits[0])
        found.append((1 - machine.score(valid, parts.digits[1]), machine))
    return min(found, key=lambda each: each[0])


def measured_map(settings: list[Any], parts: DigitParts, seed: int) -> tuple[float, float]:
    """Return the test error in % of the best setting on validation, and the time of all fits."""
    elapsed, found = 0.0, []
    for setting in settings:
        model = clone(setting).set_params(random_state=seed)
        start = time.perf_counter()
        model.fit(parts.X[0], parts.digits[0])
        elapsed += time.perf_counter() - start
        found.append((*best_ridge(model, parts), model))
    _, machine, model = min(found, key=lambda each: each[0])
    return 100 - 100 * machine.score(model.transform(parts.X[2]), parts.digits[2]), elapsed


def main() -> None:
    """Print the table, one row per map as soon as it is finished."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--widths", type=int, nargs="+", default=WIDTHS, help="numbers of frequencies D"
    )
    parser.add_argument("--methods", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument(
        "--rows", type=int, default=60_000, help="number of training and validation rows"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    parts = ten_digits(options.rows)
    rows = median_rows(len(parts.X[0]), np.random.default_rng(options.seed))
    median = median_gamma(parts.X[0][rows])
    gammas = [multiple * median for multiple in GAMMA_MULTIPLES]
    # The first fits compile the loops, which must not be timed.
    measured_map([PBRFF(5), BoostedRFF(5)], ten_digits(600), options.seed)
    print("| error in % (fit, s) |" + "".join(f" D = {width} |" for width in options.widths))
    print("| --- |" + " --- |" * len(options.widths))
    for name in options.methods:
        print(f"| {name} |", end="", flush=True)
        for width in options.widths:
            error, elapsed = measured_map(settings_of(name, width, gammas), parts, options.seed)
            print(f" {error:.2f} ({elapsed:.1f}) |", end="", flush=True)
        print()


if __name__ == "__main__":
    main()
