"""The error of ``pacfourier fit`` beside its two baselines, on six real tables and three made up.

Every table is written to a CSV file and read by the command's own code, with several seeds. The
result is one Markdown table. ``--write`` puts it into docs/tables.md.
"""

import argparse
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

from pacfourier.tabular.fitting import fit_table
from pacfourier.tabular.model import FitSettings

PAGE = Path(__file__).parents[1] / "docs" / "tables.md"
START, END = "<!-- table of benchmarks/tables.py -->", "<!-- end of the table -->"
ADULT = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
]
WORDS = {"good": "great fine quick helpful friendly", "bad": "slow broken late rude cold"}


class Measured(NamedTuple):
    """The mean errors of four models over several splits, and how ours and the linear one differ.

    Parameters
    ----------
    errors : array of shape (4,)
        Of ours, of the linear model, of boosted trees and of the constant: shares, or in units of
        the target.
    difference : float
        Our mean error minus that of the linear model.
    standard_error : float
        Of this difference.
    """

    errors: NDArray[np.float64]
    difference: float
    standard_error: float


def adult() -> pd.DataFrame:
    """Who earns more than 50,000 dollars: numbers, categories and gaps written as '?'."""
    folder = Path(os.environ["PACFOURIER_DATA"])
    parts = [
        pd.read_csv(folder / name, header=None, skiprows=skip, skipinitialspace=True, dtype=str)
        for name, skip in (("adult.data.gz", 0), ("adult.test.gz", 1))
    ]
    table = pd.concat(parts, ignore_index=True).set_axis([*ADULT, "target"], axis=1)
    return table.assign(target=table["target"].str.rstrip("."))


def ads() -> pd.DataFrame:
    """Which images are advertisements: 1,558 columns, gaps written as '?'."""
    path = Path(os.environ["PACFOURIER_DATA"]) / "ad.data.gz"
    table = pd.read_csv(path, header=None, skipinitialspace=True, dtype=str)
    return table.set_axis([*(f"x{i}" for i in range(table.shape[1] - 1)), "target"], axis=1)


def of_sklearn(load: Callable[..., object]) -> Callable[[], pd.DataFrame]:
    """Return a function that makes a table of a data set of scikit-learn."""

    def table() -> pd.DataFrame:
        X, y = load(return_X_y=True)  # type: ignore[misc]
        return pd.DataFrame(X).add_prefix("x").assign(target=y)

    return table


def mixed() -> pd.DataFrame:
    """Numbers with stray words, categories, dates, free text, row numbers and a threshold."""
    rng = np.random.default_rng(0)
    n = 4000
    income = rng.lognormal(10, 0.6, n).round(2)
    town = rng.choice(["north", "south", "east", "west"], n, p=[0.4, 0.3, 0.2, 0.1])
    day = rng.integers(0, 1000, n)
    mood = rng.choice(["good", "bad"], n)
    text = [" ".join(rng.permutation(WORDS[each].split())[:3]) for each in mood]
    score = (
        1.5 * (income > 30_000)
        + np.select([town == "north", town == "west"], [1.0, -1.0])
        + np.sin(2 * np.pi * day / 365)
        + 0.8 * (mood == "good")
        - 1.2
    )
    target = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * score)), "stays", "leaves")
    return pd.DataFrame(
        {
            "customer": np.arange(n) + 1000,
            "income": np.where(rng.random(n) < 0.01, "unknown", income.astype(str)),
            "town": np.where(rng.random(n) < 0.05, "", town),
            "since": (pd.Timestamp("2020-01-01") + pd.to_timedelta(day, "D")).strftime("%Y-%m-%d"),
            "comment": text,
            "target": target,
        }
    )


def rare() -> pd.DataFrame:
    """Two percent of the rows belong to a class that lies in a ring."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((8000, 6))
    radius = np.hypot(X[:, 0], X[:, 1])
    is_rare = rng.random(8000) < 0.25 * np.exp(-40 * (radius - 2) ** 2)
    return pd.DataFrame(X).add_prefix("x").assign(target=np.where(is_rare, "fault", "fine"))


def survey() -> pd.DataFrame:
    """Twenty answers from one to five, some of them missing, and a score to predict."""
    rng = np.random.default_rng(2)
    answers = rng.integers(1, 6, (3000, 20)).astype(float)
    score = answers[:, :5].sum(axis=1) + 2 * np.abs(answers[:, 5] - 3) * (answers[:, 6] > 2)
    target = (score + rng.standard_normal(3000)).round(2)
    answers[rng.random(answers.shape) < 0.03] = np.nan
    return pd.DataFrame(answers).add_prefix("q").assign(target=target)


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "adult": adult,
    "ads": ads,
    "breast": of_sklearn(load_breast_cancer),
    "digits": of_sklearn(load_digits),
    "wine": of_sklearn(load_wine),
    "diabetes": of_sklearn(load_diabetes),
    "mixed types (made up)": mixed,
    "rare class (made up)": rare,
    "survey (made up)": survey,
}


def measured(table: pd.DataFrame, seeds: Sequence[int], settings: FitSettings) -> Measured:
    """Fit a table with several seeds, which divide the same rows in several ways."""
    errors, rows = [], {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        table.to_csv(path, index=False)
        for seed in seeds:
            fit = fit_table(path, "target", replace(settings, seed=seed, duplicates="genuine"))
            errors.append([each.error for each in fit.results])
            rows = fit.model.record["rows"]
    found = np.array(errors)
    differences = found[:, 0] - found[:, 1]
    noise = split_standard_error(differences, rows["held out"] / rows["learned"])
    return Measured(found.mean(axis=0), float(differences.mean()), noise)


def split_standard_error(differences: NDArray[np.float64], ratio: float) -> float:
    r"""Return the standard error of the mean of differences over k random splits of the same rows.

    .. math:: s \sqrt{1 / k + n_{test} / n_{learned}}

    with the standard deviation s of the differences. The second term is there because the splits
    share rows, so their differences are not independent (Nadeau and Bengio, Inference for the
    generalization error, Machine Learning 52, 2003).

    Parameters
    ----------
    differences : array of shape (k,)
    ratio : float
        Rows held out per row that is learned from.
    """
    return float(differences.std(ddof=1) * np.sqrt(1 / len(differences) + ratio))


def line(name: str, table: pd.DataFrame, found: Measured) -> str:
    """Return one line of the table."""
    is_amount = table["target"].dtype.kind in "fi" and table["target"].nunique() > 30
    factor, digits, unit = (1, ".3g", "") if is_amount else (100, ".2f", " %")
    cells = [f"{factor * error:{digits}}{unit}" for error in found.errors]
    gap, noise = factor * found.difference, factor * found.standard_error
    cells.append(f"{gap:+{digits}} ± {noise:{digits}}")
    verdict = "better" if gap < -noise else "worse" if gap > noise else "equal"
    size = f"{len(table):,} x {table.shape[1] - 1:,}"
    return f"| {name} | {size} | {' | '.join(cells)} | {verdict} |"


def page_table(names: Sequence[str], n_seeds: int) -> str:
    """Return the whole table, and print each line when it is there."""
    lines = [
        "| table | rows x columns | this model | linear | boosted trees | constant "
        "| this model - linear | compared with linear |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for name in names:
        table = TABLES[name]()
        lines.append(line(name, table, measured(table, range(n_seeds), FitSettings())))
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    """Measure tables, and write the page if wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=",".join(TABLES), help="names, by commas")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    options = parser.parse_args()
    found = page_table(options.tables.split(","), options.seeds)
    if options.write:
        before, rest = PAGE.read_text("utf-8").split(START)
        PAGE.write_text(f"{before}{START}\n{found}\n{END}{rest.split(END)[1]}", "utf-8")


if __name__ == "__main__":
    main()
