"""Averages over splits, and intervals that predict the error on one more split."""

from collections import defaultdict
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from pacfourier.experiments.methods import METHODS
from pacfourier.experiments.published import published_curves, published_table

CONFIDENCE = 0.95
Curve = dict[float, "Estimate"]
Splits = Collection[int] | None


class Estimate(NamedTuple):
    """The error in % over splits.

    Attributes
    ----------
    mean : float
    low, high : float
        The interval in which one new split falls with probability ``CONFIDENCE``.
    first : float or None
        The error on split 0, which has the rows of the paper; None if it was not run.
    n_splits : int
    """

    mean: float
    low: float
    high: float
    first: float | None
    n_splits: int

    @property
    def has_interval(self) -> bool:
        """Whether there are at least two splits, which an interval needs."""
        return self.n_splits > 1

    def verdict(self, published: float) -> str:
        """Return whether a published error lies "inside" or "outside" the interval, if any."""
        if not self.has_interval:
            return "no interval"
        # Published errors are rounded to two decimals.
        return "inside" if self.low - 0.005 <= published <= self.high + 0.005 else "outside"

    def __str__(self) -> str:
        if not self.has_interval:
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


class ResultsSummary:
    """The numbers behind tables and figures, from the rows of one profile.

    Parameters
    ----------
    rows : list of dict
        What ``Records.results`` returns.
    profile : str
    """

    def __init__(self, rows: list[dict[str, Any]], profile: str) -> None:
        self.profile = profile
        self.rows = [row for row in rows if row["profile"] == profile]
        if not self.rows:
            raise ValueError(f"profile must have results, got none of {profile!r}.")
        self.toys = self.datasets("toy")
        self.n_splits = 1 + max(row["split"] for row in self.rows)

    def curve(
        self,
        experiment: str,
        dataset: str,
        method: str,
        part: str = "test",
        splits: Splits = None,
    ) -> Curve:
        """Return the errors of a method by width; splits=None means all. "svm" has width 0."""
        values: dict[float, dict[int, float]] = defaultdict(dict)
        for row in self._rows_of(experiment, dataset, method, splits):
            percent = 100 * row[f"{part}_errors"] / row[f"n_{part}"]
            values[row["width"]][row["split"]] = percent
        return {width: estimate(values[width]) for width in sorted(values)}

    def means(
        self, experiment: str, dataset: str, method: str, column: str, splits: Splits = None
    ) -> dict[float, float]:
        """Return the mean of a column by width, where it has values; splits=None means all."""
        values: dict[float, list[float]] = defaultdict(list)
        for row in self._rows_of(experiment, dataset, method, splits):
            if row[column] is not None:
                values[row["width"]].append(row[column])
        return {width: float(np.mean(values[width])) for width in sorted(values)}

    def shared_splits(self, experiment: str, dataset: str, method: str) -> set[int]:
        """Return the splits for which a method has results at all its widths."""
        found: dict[float, set[int]] = defaultdict(set)
        for row in self._rows_of(experiment, dataset, method):
            found[row["width"]].add(row["split"])
        return set.intersection(*found.values()) if found else set()

    def datasets(self, experiment: str) -> list[str]:
        """Return the data sets that have results in an experiment."""
        return sorted({row["dataset"] for row in self.rows if row["experiment"] == experiment})

    def methods(self, experiment: str) -> list[str]:
        """Return the methods that have results in an experiment, in the order of ``METHODS``."""
        found = {row["method"] for row in self.rows if row["experiment"] == experiment}
        return [name for name in METHODS if name in found] + sorted(found - set(METHODS))

    def _rows_of(
        self, experiment: str, dataset: str, method: str, splits: Splits = None
    ) -> list[dict[str, Any]]:
        key = (experiment, dataset, method)
        rows = [r for r in self.rows if (r["experiment"], r["dataset"], r["method"]) == key]
        return rows if splits is None else [row for row in rows if row["split"] in splits]


class Comparison(NamedTuple):
    """A published error beside ours."""

    dataset: str
    method: str
    width: float
    published: float
    ours: Estimate

    @property
    def verdict(self) -> str:
        """Whether the published error lies inside our interval for one new split."""
        return self.ours.verdict(self.published)


def table1(summary: ResultsSummary) -> list[Comparison]:
    """Return the cells of Table 1 for which we have results."""
    cells = []
    for (dataset, method), published in published_table().items():
        experiment, width = ("svm", 0) if method == "SVM" else ("landmarks", 10)
        ours = summary.curve(experiment, dataset, method)
        if width in ours:
            cells.append(Comparison(dataset, method, width, published, ours[width]))
    return cells


def figure_points(summary: ResultsSummary, experiment: str) -> list[Comparison]:
    """Return the published points of test curves for which we have results."""
    points = []
    for (figure, dataset, method, part), published in published_curves().items():
        if figure == experiment and part == "test" and method != "SVM":
            ours = summary.curve(experiment, dataset, method)
            points += [
                Comparison(dataset, method, width, published[width], found)
                for width, found in ours.items()
                if width in published
            ]
    return points
