"""Errors by width, averages over splits, and intervals that predict the error on one more split."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy import stats

from reproduction.plan import GREEDY, LANDMARKS, TABLE_PERCENTAGE
from reproduction.protocol import Row
from reproduction.published import published_curves, published_table

CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """The error in % over splits, and the interval for one new split."""

    mean: float
    low: float
    high: float
    # The error on split 0, which has the rows of the paper.
    first: float | None
    n_splits: int

    def verdict(self, published: float) -> str:
        """Return whether a published error lies "inside" or "outside" the interval, if any."""
        if self.n_splits == 1:
            return "no interval"
        # Published errors are rounded to two decimals.
        return "inside" if self.low - 0.005 <= published <= self.high + 0.005 else "outside"

    def __str__(self) -> str:
        if self.n_splits == 1:
            return f"{self.mean:.2f}"
        return f"{self.mean:.2f} [{self.low:.2f}, {self.high:.2f}]"


def estimate(values: dict[int, float]) -> Estimate:
    r"""Return the mean of the errors of splits, and the interval for one new split.

    .. math:: \bar e \pm t_{K-1} s \sqrt{1 + 1/K}

    for K splits with standard deviation s. The interval is for one split, not for the mean, because
    a published error comes from one split.
    """
    errors = np.array([values[split] for split in sorted(values)])
    mean, n_splits = errors.mean(), len(errors)
    reach = 0.0
    if n_splits > 1:
        quantile = stats.t.ppf((1 + CONFIDENCE) / 2, n_splits - 1)
        reach = quantile * errors.std(ddof=1) * np.sqrt(1 + 1 / n_splits)
    return Estimate(mean, max(mean - reach, 0.0), mean + reach, values.get(0), n_splits)


def datasets_of(rows: Iterable[Row], experiment: str) -> list[str]:
    """Return the data sets that have results in an experiment."""
    return sorted({row["dataset"] for row in rows if row["experiment"] == experiment})


def curve(
    rows: Iterable[Row], experiment: str, dataset: str, method: str, part: str = "test"
) -> dict[float, Estimate]:
    """Return the errors of a method by width."""
    errors: dict[float, dict[int, float]] = defaultdict(dict)
    for row in rows:
        if (row["experiment"], row["dataset"], row["method"]) == (experiment, dataset, method):
            errors[row["width"]][row["split"]] = 100 * row[f"{part}_errors"] / row[f"n_{part}"]
    return {width: estimate(errors[width]) for width in sorted(errors)}


class Comparison(NamedTuple):
    """A published error beside ours."""

    dataset: str
    method: str
    width: float
    published: float
    ours: Estimate


def table1(rows: list[Row]) -> list[Comparison]:
    """Return the cells of Table 1 for which we have results."""
    cells = []
    for (dataset, method), published in published_table().items():
        place = ("svm", 0) if method == "SVM" else ("landmarks", TABLE_PERCENTAGE)
        ours = curve(rows, place[0], dataset, method).get(place[1])
        if ours is not None:
            cells.append(Comparison(dataset, method, place[1], published, ours))
    return cells


def figure_points(rows: list[Row], experiment: str) -> list[Comparison]:
    """Return the published points of test curves for which we have results."""
    points = []
    for dataset in datasets_of(rows, experiment):
        for method in {"greedy": GREEDY, "landmarks": LANDMARKS}[experiment]:
            published = published_curves()[experiment, dataset, method, "test"]
            found = curve(rows, experiment, dataset, method)
            shared = [width for width in found if width in published]
            points += [Comparison(dataset, method, w, published[w], found[w]) for w in shared]
    return points
