"""Compare the searches "racing" and "full": time, posterior, certificates and test errors.

``times`` fits ``PBRFF`` with both searches on each data set, in turns, and prints a table. ``work``
varies the share of rows that all candidates see and the share of candidates that see all rows, and
draws ``docs/images/racing.png``, with a ring around the setting of the library.

"Mass elsewhere" is the part of the full search's posterior that lies elsewhere after a race, if the
members of a group share its weight evenly. The linear model of the test errors is scikit-learn's
``RidgeClassifierCV`` on at most 200,000 rows. Adult is scaled by its test rows, which certify
nothing, and is also taken as it is. The data set "synthetic" has a million rows and 50 columns.
"""

import argparse
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import RidgeClassifierCV

from pacfourier import OKRFF, PBRFF
from pacfourier.core.alignment.racing import (
    CANDIDATES_PER_SURVIVOR,
    ROWS_PER_FIRST,
    representatives,
)
from pacfourier.core.alignment.sums import AlignmentSums, alignment_sums, balanced_losses
from pacfourier.pacbayes.posteriors import gibbs_posterior, inverse_temperature_of_size
from reproduction.datasets import load
from ten_digits import ten_digits

PICTURE = Path("docs", "images", "racing.png")
RIDGES = tuple(10.0**k for k in range(-5, 2))
LEARNED_ROWS = 200_000
# Of so many rows, one is among the first; of so many candidates, one is among the best.
ROW_SHARES, BEST_SHARES = (4, 8, 16, 32, 64), (4, 8, 16, 32)
NAMES = ("MNIST", "adult", "adult, unscaled", "synthetic")


class Parts(NamedTuple):
    """Rows and labels for learning and for testing."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any


def parts_of(name: str) -> Parts:
    """Return the rows of a data set, in single precision."""
    if name == "MNIST":
        images, digits = ten_digits(60_000)
        X, y = (np.concatenate(each[:2]) for each in (images, digits))
        return Parts(X, y, images[2], digits[2])
    if name == "synthetic":
        return synthetic_parts(1_000_000, 50_000)
    data = load("adult")
    X, n = data.X.astype(np.float32), data.n_train
    if name == "adult":
        deviations = X[n:].std(axis=0)
        X = (X - X[n:].mean(axis=0)) / np.where(deviations > 0, deviations, 1)
    return Parts(X[:n], data.y[:n], X[n:], data.y[n:])


def synthetic_parts(n_train: int, n_test: int) -> Parts:
    """Return normal columns, ten of which decide on one of two classes, with noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_train + n_test, 50), dtype=np.float32)
    scores = np.sin(X[:, 0] + X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] + 0.3 * X[:, 4:10].sum(axis=1)
    y = (scores + 0.5 * rng.standard_normal(len(X)) > 0).astype(int)
    return Parts(X[:n_train], y[:n_train], X[n_train:], y[n_train:])


def test_error(model: Any, parts: Parts) -> float:
    """Return the test error of a linear model, in %."""
    rows = slice(LEARNED_ROWS)
    linear = RidgeClassifierCV(RIDGES).fit(model.transform(parts.X[rows]), parts.y[rows])
    return 100 - 100 * linear.score(model.transform(parts.X_test), parts.y_test)


def shared_weights(weights: Any, groups: Any) -> Any:
    """Return weights in which the members of each group share that of its representative."""
    return weights[groups] / np.bincount(groups, minlength=len(groups))[groups]


def timed_fit(model: Any, parts: Parts) -> float:
    """Return the seconds of a fit."""
    start = time.perf_counter()
    model.fit(parts.X, parts.y)
    return time.perf_counter() - start


def compared(estimator: Any, parts: Parts, seed: int, parameters: dict[str, Any]) -> list[float]:
    """Return the row of one seed: times, mass elsewhere, differences of certificates, errors."""
    full, raced = (
        estimator(100, random_state=seed, search=search, **parameters)
        for search in ("full", "racing")
    )
    seconds = [timed_fit(model, parts) for model in (full, raced)]
    shared = shared_weights(raced.posterior_, raced._representatives)
    elsewhere = float(np.maximum(full.posterior_ - shared, 0).sum())
    worse = [
        raced.certificate(of=of, ties="genuine").details.value
        - full.certificate(of=of, ties="genuine").details.value
        for of in ("deployed", "posterior")
    ]
    same = len(np.intersect1d(full.kept_, raced.kept_))
    errors = [test_error(model, parts) for model in (full, raced)]
    return [*seconds, elsewhere, *worse, same, *errors]


def print_times(options: argparse.Namespace) -> None:
    """Print one row per data set, the means over seeds."""
    parameters: dict[str, Any] = {"draw": options.draw}
    if options.beta is not None:
        parameters["beta"] = options.beta
    estimator = {"PBRFF": PBRFF, "OKRFF": OKRFF}[options.estimator]
    head = (
        "| data | full, s | racing, s | ratio | mass elsewhere | deployed certificate | "
        "posterior certificate | same of 100 | error, full | error, racing |"
    )
    print(head + "\n|" + " --- |" * 10)
    for name in options.datasets:
        parts = parts_of(name)
        timed_fit(estimator(5, search="racing"), Parts(parts.X[:8000], parts.y[:8000], None, None))
        rows = np.array([compared(estimator, parts, s, parameters) for s in range(options.seeds)])
        full, raced, mass, deployed, posterior, same, error, raced_error = rows.mean(axis=0)
        print(
            f"| {name} | {full:.2f} | {raced:.2f} | {full / raced:.2f} | {mass:.4f} | "
            f"{deployed:+.5f} | {posterior:+.5f} | {same:.1f} | {error:.2f} | {raced_error:.2f} |",
            flush=True,
        )


def misplaced(full: Any, first: AlignmentSums, n_best: int, n_groups: int) -> float:
    """Return the mass elsewhere after a race of a given size, with ``beta="ess"``."""
    groups = representatives(balanced_losses(first, full._target), n_best, n_groups)
    losses = full.selection_losses_[groups]
    temperature = inverse_temperature_of_size(losses, 2 * full.n_frequencies)
    return float(np.maximum(full.posterior_ - gibbs_posterior(losses, temperature), 0).sum())


def work_curves(name: str) -> dict[int, list[tuple[float, float]]]:
    """Return (work, mass elsewhere) for each share of rows, over shares of candidates.

    Work is relative to the full search. Half as many candidates represent groups as are the best.
    """
    parts = parts_of(name)
    full = PBRFF(100, search="full", random_state=0).fit(parts.X, parts.y)
    order = np.random.default_rng(0).permutation(len(parts.y))
    curves = {}
    for share in ROW_SHARES:
        rows = np.sort(order[: len(order) // share])
        first = alignment_sums(parts.X[rows], parts.y[rows], full._target, full.pool_)
        n = len(full.pool_)
        curves[share] = [
            (1 / share + 1.5 / best, misplaced(full, first, n // best, n // best // 2))
            for best in BEST_SHARES
        ]
        print(name, share, curves[share], flush=True)
    return curves


def draw_work(options: argparse.Namespace) -> None:
    """Draw work against mass elsewhere, one panel per data set."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(
        1, len(options.datasets), figsize=(3.2 * len(options.datasets), 3.2), sharey=True
    )
    for axis, name in zip(np.atleast_1d(axes), options.datasets, strict=True):
        for share, curve in work_curves(name).items():
            axis.plot(*zip(*curve, strict=True), "o-", ms=4, label=f"1/{share}")
            if share == ROWS_PER_FIRST:
                place = BEST_SHARES.index(CANDIDATES_PER_SURVIVOR)
                axis.plot(*curve[place], "o", ms=10, mfc="none", mec="black")
        axis.axhline(0.01, color="0.4", ls="--", lw=1)
        axis.set(title=name, xlabel="work, relative to the full search", yscale="log")
        axis.set_xlim(0, 0.7)
        axis.grid(alpha=0.3)
    np.atleast_1d(axes)[0].set_ylabel("posterior mass elsewhere")
    np.atleast_1d(axes)[-1].legend(title="first rows", fontsize=8, title_fontsize=8)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=130)


def main() -> None:
    """Run one of the two parts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=("times", "work"))
    parser.add_argument("--datasets", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--estimator", choices=("PBRFF", "OKRFF"), default="PBRFF")
    parser.add_argument("--draw", default="weighted")
    parser.add_argument("--beta", type=lambda text: text if text.isalpha() else float(text))
    options = parser.parse_args()
    (print_times if options.part == "times" else draw_work)(options)


if __name__ == "__main__":
    main()
