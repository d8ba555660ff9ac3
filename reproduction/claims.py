"""The claims of the paper's Section 6, each judged by an interval over splits.

Most claims say that a difference is positive, or negative on data sets that the paper excepts. The
others say that two errors are similar: the one test part of the paper could not tell them apart,
because they differ by at most two standard errors of an error rate on that part.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import stats

from reproduction.datasets import PAPER_DATASETS
from reproduction.protocol import Row
from reproduction.published import table
from reproduction.results import CONFIDENCE, datasets_of

CONFIRMED, REFUTED, UNKNOWN = "Confirmed", "Refuted", "Cannot tell"
Split = list[Row]


class Claim(NamedTuple):
    """A claim that some methods make more errors than others, or that they make similar errors."""

    experiment: str
    says: str
    worse: tuple[str, ...]
    better: tuple[str, ...]
    # The smallest and the largest width that count.
    widths: tuple[float, float]
    # A name of MEASURES, and "larger" or "similar".
    measure: str
    judged: str
    # Data sets on which the paper says that the difference is negative.
    excepted: tuple[str, ...]
    # On how many of the paper's seven data sets it may fail; 1 for "almost all".
    n_allowed: int


def claim_of(row: dict[str, str]) -> Claim:
    """Return the claim of a row of ``published/claims.csv``."""
    worse, better, excepted = (tuple(row[k].split()) for k in ("worse", "better", "excepted"))
    widths = float(row["least"] or 0), float(row["most"] or np.inf)
    how = row["measure"], row["judged"], excepted, int(row["allowed"])
    return Claim(row["experiment"], row["says"], worse, better, widths, *how)


CLAIMS = tuple(map(claim_of, table("claims.csv")))


def errors(split: Split, method: str, claim: Claim) -> np.ndarray:
    """Return the test errors of a method on a split in %, at the widths of a claim.

    The RBF SVM has no width.
    """
    low, high = claim.widths if method != "SVM" else (0, 0)
    rows = [row for row in split if row["method"] == method and low <= row["width"] <= high]
    return np.array([100 * row["test_errors"] / row["n_test"] for row in rows if "n_test" in row])


def mean_error(split: Split, claim: Claim, methods: tuple[str, ...]) -> float:
    """Return the test error in %, the mean over methods and widths."""
    return float(np.mean([errors(split, method, claim) for method in methods]))


def difference(split: Split, claim: Claim) -> float:
    """Return the mean error of the worse methods minus that of the better ones."""
    return mean_error(split, claim, claim.worse) - mean_error(split, claim, claim.better)


def best_difference(split: Split, claim: Claim) -> float:
    """Return the smallest error of the worse methods minus the mean error of the better ones."""
    best = min(mean_error(split, claim, (method,)) for method in claim.worse)
    return best - mean_error(split, claim, claim.better)


def difference_of_changes(split: Split, claim: Claim) -> float:
    """Return how much more the errors of the worse methods change from one width to the next."""
    worse, better = (
        np.mean([np.abs(np.diff(errors(split, method, claim))) for method in methods])
        for methods in (claim.worse, claim.better)
    )
    return float(worse - better)


def log_ratio_of_times(split: Split, claim: Claim) -> float:
    """Return the logarithm of how many times longer the worse posterior takes."""
    seconds = {r["method"]: r["posterior_seconds"] for r in split if "posterior_seconds" in r}
    return float(np.log(seconds[claim.worse[0]] / seconds[claim.better[0]]))


MEASURES: dict[str, tuple[Callable[[Split, Claim], float], str]] = {
    "difference": (difference, "error of {} minus error of {}, in points"),
    "best": (best_difference, "error of the best of {} minus error of {}, in points"),
    "changes": (difference_of_changes, "change between widths of {} minus that of {}, in points"),
    "times": (log_ratio_of_times, "time of {} divided by time of {}"),
}


class DataSetEvidence(NamedTuple):
    """What the splits of one data set say about a claim."""

    dataset: str
    mean: float
    low: float
    high: float
    verdict: str


class Judgement(NamedTuple):
    """A claim, what each data set says about it, and the verdict on these together."""

    claim: Claim
    verdict: str
    evidence: list[DataSetEvidence]

    def __str__(self) -> str:
        names = (", ".join(each) for each in (self.claim.worse, self.claim.better))
        measured = MEASURES[self.claim.measure][1].format(*names)
        numbers = "; ".join(map(self._numbers, self.evidence))
        return f"{self.verdict}: {self.claim.says} ({measured}: {numbers or 'not run'})."

    def _numbers(self, found: DataSetEvidence) -> str:
        shown = np.exp if self.claim.measure == "times" else np.asarray
        mean, low, high = (f"{shown(number):.2f}" for number in found[1:4])
        return f"{found.dataset} {mean}" + (f" [{low}, {high}]" if np.isfinite(found.low) else "")


def judge(claim: Claim, rows: list[Row]) -> Judgement:
    """Judge a claim on the data sets that were run.

    It is confirmed if all of them confirm it, and refuted if one refutes it. A claim about almost
    all of the seven data sets may fail on one. The intervals hold together with probability 0.95.
    """
    datasets = datasets_of(rows, claim.experiment)
    risk = (1 - CONFIDENCE) / max(len(datasets), 1)
    found = [evidence(claim, each, splits_of(rows, claim, each), risk) for each in datasets]
    verdicts = [each.verdict for each in found]
    n_allowed = claim.n_allowed if len(found) == len(PAPER_DATASETS) else 0
    verdict = UNKNOWN
    if verdicts.count(REFUTED) > claim.n_allowed:
        verdict = REFUTED
    elif found and verdicts.count(CONFIRMED) >= len(found) - n_allowed:
        verdict = CONFIRMED
    return Judgement(claim, verdict, found)


def splits_of(rows: list[Row], claim: Claim, dataset: str) -> list[Split]:
    """Return the rows of each split on which a claim's experiment was run."""
    found = defaultdict(list)
    for row in rows:
        if row["dataset"] == dataset:
            found[row["split"]].append(row)
    return [s for s in found.values() if any(r["experiment"] == claim.experiment for r in s)]


def evidence(claim: Claim, dataset: str, splits: list[Split], risk: float) -> DataSetEvidence:
    """Return the interval of the mean difference on a data set, and the verdict."""
    values = [MEASURES[claim.measure][0](split, claim) for split in splits]
    sizes = next(row for row in splits[0] if row["experiment"] == claim.experiment)
    # The samples of the toy experiment have no validation part, and share no rows.
    is_drawn_anew = "n_valid" not in sizes
    overlap = 0 if is_drawn_anew else sizes["n_test"] / (sizes["n_train"] + sizes["n_valid"])
    low, high = mean_interval(values, overlap, risk)
    if claim.judged == "similar":
        rate = np.mean([mean_error(split, claim, claim.better) for split in splits]) / 100
        margin = 200 * np.sqrt(rate * (1 - rate) / sizes["n_test"])
        verdicts = {CONFIRMED: -margin <= low <= high <= margin}
        verdicts[REFUTED] = low > margin or high < -margin
    else:
        verdicts = {CONFIRMED: low > 0, REFUTED: high < 0}
        if dataset in claim.excepted:
            verdicts = {CONFIRMED: high < 0, REFUTED: low > 0}
    verdict = next((name for name, holds in verdicts.items() if holds), UNKNOWN)
    return DataSetEvidence(dataset, float(np.mean(values)), low, high, verdict)


def mean_interval(values: list[float], overlap: float, risk: float) -> tuple[float, float]:
    r"""Return the interval that contains the mean of all splits, except with a given risk.

    .. math:: \bar v \pm t_{K-1} s \sqrt{1/K + o}

    where o is the number of test rows by the number of other rows. Random splits of one sample
    share rows, so Student's interval (o = 0) would be too short (Nadeau and Bengio, 2003).
    """
    mean, n_splits = float(np.mean(values)), len(values)
    if n_splits == 1:
        return -np.inf, np.inf
    quantile = stats.t.ppf(1 - risk / 2, n_splits - 1)
    reach = float(quantile * np.std(values, ddof=1) * np.sqrt(1 / n_splits + overlap))
    return mean - reach, mean + reach
