"""Print what the measurements of ``benchmarks.real_tables`` say, as tables of Markdown.

Run ``python -m benchmarks.real_tables_choices``. A ratio compares the mean errors over splits, each
with half a wrong row (0.0001 for amounts) added. Means over tables are geometric; after the sign
comes the standard error over tables.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from benchmarks.real_tables import (
    FEW,
    GRID,
    HARDER,
    RESULTS,
    SCALED,
    SCALED_CODES,
    TableCell,
    cell_of,
    changed,
    error_of,
    read_records,
)
from benchmarks.real_tables_data import FOLDER, SPLITS, is_amount
from benchmarks.real_tables_fits import TrainingRun

from pacfourier.core.boosting.blending import best_blend
from pacfourier.core.boosting.objectives import OBJECTIVES
from pacfourier.estimators.training import _MOST_CODED_COLUMNS

Records = dict[TableCell, dict[str, Any]]
# The error of a cell, or None if it was not measured.
Errors = Callable[[str, int], float | None]
HALF_AMOUNT = 1e-4
RIVALS = ("ours, dee62b3", "linear", "svm", "lgbm", "lgbm_tuned", "realmlp", "tabm")


class Recipes(NamedTuple):
    """Runs of a variant, of which the rows aside choose one."""

    variant: str
    runs: tuple[TrainingRun, ...]


def runs_of(records: Records, cell: TableCell) -> dict[str, Any] | None:
    """Return the runs of a cell. A variant that changed nothing has those of its base."""
    record = records.get(cell)
    if record is None or not record.get("is_same"):
        return record and record["runs"]
    base = "halves" if cell.variant.startswith("halves") else "limits"
    return runs_of(records, cell._replace(variant=base))


def chosen(records: Records, *recipes: Recipes) -> Errors:
    """Return the errors of the runs that the rows aside choose."""

    def error(table: str, split: int) -> float | None:
        found = []
        for variant, runs in recipes:
            measured = runs_of(records, TableCell(table, split, variant))
            if measured is None:
                return None
            found += [measured[run.name] for run in runs if run.name in measured]
        return min(found, key=lambda run: run["loss"])["error"] if found else None

    return error


def of_today(records: Records) -> Errors:
    """Return the errors of the recipes that are tried today."""

    def error(table: str, split: int) -> float | None:
        record = records[TableCell(table, split, "limits")]
        strengths = [0.3, 3.0]
        strengths += [1.0, 10.0] if sum(record["n"][:2]) <= 10_000 else []
        strengths += [0.03] if record["n_columns"] <= 10 else []
        runs = [TrainingRun(alpha) for alpha in strengths]
        runs += [TrainingRun(3.0, coded=True)] if record["n_columns"] <= _MOST_CODED_COLUMNS else []
        return chosen(records, Recipes("today", tuple(runs)))(table, split)

    return error


def log_ratios(
    records: Records, first: Errors, second: Errors, names: list[str], variant: str = "limits"
) -> pd.Series:
    """Return the logarithm of the ratio of two mean errors, for each table.

    The records of the variant say how many rows were reported on.
    """
    found = {}
    for name in names:
        cells = [TableCell(name, split, variant) for split in SPLITS]
        pairs = [(first(*c[:2]), second(*c[:2]), records[c]) for c in cells if c in records]
        pairs = [pair for pair in pairs if pair[0] is not None and pair[1] is not None]
        if pairs:
            record = pairs[0][2]
            half = HALF_AMOUNT if record["is_amount"] else 0.5 / record["n"][2]
            ours, theirs = (np.mean([pair[k] for pair in pairs]) + half for k in (0, 1))
            found[name] = np.log(ours / theirs)
    return pd.Series(found, dtype=float)


def described(logs: pd.Series) -> str:
    """Return the geometric mean of ratios, and its standard error."""
    if len(logs) < 2:
        return "-"
    return f"{np.exp(logs.mean()):.3f} ± {logs.std() / np.sqrt(len(logs)):.3f}"


def line(label: str, logs: pd.Series) -> str:
    """Return a row: classes, amounts, all, and the number of tables."""
    has_amounts = np.array([is_amount(name) for name in logs.index], dtype=bool)
    parts = (logs[~has_amounts], logs[has_amounts], logs)
    return f"| {label} | {' | '.join(map(described, parts))} | {len(logs)} |"


class Scores(NamedTuple):
    """The kept scores of the runs of a cell, aside and reported, with the labels."""

    runs: dict[str, tuple[np.ndarray, np.ndarray]]
    aside: np.ndarray
    reported: np.ndarray
    is_amount: bool

    def sum_of(self, names: list[str]) -> tuple[float, float]:
        """Return the loss aside and the error of the best sum of some runs and the line."""
        names = names + (["line"] if "line" in self.runs else [])
        kind = "squared_error" if self.is_amount else "logistic"
        objective = OBJECTIVES["softmax" if self.aside.shape[1] > 1 else kind]
        constant = objective.constant(self.aside.mean(axis=0))
        parts = [self.runs[name] for name in names]
        aside = [part[0] for part in parts]
        blend = best_blend(aside, self.aside, np.ones(len(self.aside)), constant, objective)
        loss = objective.losses(blend.scores(aside), self.aside)[0].sum(axis=1).mean()
        scores = blend.scores([part[1] for part in parts])
        return float(loss), error_of(scores, self.reported, is_amount=self.is_amount)

    def best(self, runs: tuple[TrainingRun, ...], n_runs: int = 1) -> list[str]:
        """Return the names of the best runs on the rows aside."""
        names = [run.name for run in runs if run.name in self.runs]
        return sorted(names, key=lambda name: self.sum_of([name])[0])[:n_runs]


def read_scores(folder: Path, record: dict[str, Any], variants: tuple[str, ...]) -> Scores:
    """Return the kept scores of some variants on a table."""
    runs = {}
    for variant in variants:
        with np.load(folder / "scores" / cell_of(record)._replace(variant=variant).file) as file:
            kept = {name: file[name].astype(float) for name in file.files}
        aside, reported = kept.pop("labels aside"), kept.pop("labels")
        runs |= {
            name: (kept[f"{name} aside"], scores)
            for name, scores in kept.items()
            if f"{name} aside" in kept
        }
    return Scores(runs, aside, reported, record["is_amount"])


BOTH = SCALED + SCALED_CODES
WHOLE, QUARTERS = changed(BOTH, size=100), changed(BOTH, size=25)
# Two or three strengths, for variants that take longer.
TWO, THREE = (SCALED[1], SCALED[2]), GRID[::2]
CODES = (TrainingRun(3.0, coded=True),)
# Each change, and what it changes.
CHANGES: dict[str, tuple[Recipes, Recipes]] = {
    "limits at 0.5 %": (Recipes("limits", FEW), Recipes("today", FEW)),
    "limits at 1 %": (Recipes("limits 1 %", FEW), Recipes("today", FEW)),
    "limits at 0.5 %, moved out by half their distance": (
        Recipes("wide limits", FEW),
        Recipes("today", FEW),
    ),
    "interquartile ranges as units": (Recipes("limits, ranges", FEW), Recipes("limits", FEW)),
    "0/1 columns in units x 2": (Recipes("pairs 2", FEW), Recipes("limits", FEW)),
    "0/1 columns in units x 4": (Recipes("pairs 4", FEW), Recipes("limits", FEW)),
    "target codes for more than ten levels": (
        Recipes("targets, many", FEW),
        Recipes("limits", FEW),
    ),
    "target codes for all categories": (Recipes("targets, all", FEW), Recipes("limits", FEW)),
    "categories that fail at 5 % left out": (
        Recipes("screen 5 %, out", FEW),
        Recipes("limits", FEW),
    ),
    "... in units x 4": (Recipes("screen 5 %, weak", FEW), Recipes("limits", FEW)),
    "... in the linear part only": (Recipes("screen 5 %, linear", FEW), Recipes("limits", FEW)),
    "labels smoothed by 0.1": (
        Recipes("smooth", changed(FEW, smoothing=0.1)),
        Recipes("limits", FEW),
    ),
    "beta2 = 0.95": (
        Recipes("memory 0.95", changed(FEW[::2], memory=0.95)),
        Recipes("limits", FEW[::2]),
    ),
    "three times the steps": (
        Recipes("long", changed(THREE, length=3.0)),
        Recipes("limits", THREE),
    ),
    "D = 200": (Recipes("large", changed(THREE, size=200)), Recipes("limits", THREE)),
    "another seed": (Recipes("seed 1", changed(FEW, seed=1)), Recipes("limits", FEW)),
    "strengths 0.03 and 0.1, too": (Recipes("limits", GRID), Recipes("limits", FEW)),
    "codes with 255 knots at alpha 3, too": (
        Recipes("limits", FEW + CODES),
        Recipes("limits", FEW),
    ),
    "codes with 16 knots instead": (
        Recipes("codes, few", changed(FEW, coded=True)),
        Recipes("limits", FEW),
    ),
    "**learned column scales**": (
        Recipes("scales", changed(FEW, scale_rate=6.0)),
        Recipes("limits", FEW),
    ),
}
# The same for the second round: limits at 1 %, learned scales, 16 knots, D = 50.
SECOND_CHANGES: dict[str, tuple[Recipes, Recipes]] = {
    "no codes": (Recipes("halves", SCALED), Recipes("halves", BOTH)),
    "codes only": (Recipes("halves", SCALED_CODES), Recipes("halves", BOTH)),
    "codes without learned scales": (
        Recipes("halves", changed(FEW, coded=True, size=50)),
        Recipes("halves", SCALED_CODES),
    ),
    "strengths 1 and 3 only": (
        Recipes("halves", SCALED[1:3] + SCALED_CODES[1:3]),
        Recipes("halves", BOTH),
    ),
    "codes at alpha 1 only": (Recipes("halves", SCALED_CODES[1:2]), Recipes("halves", BOTH)),
    "rate of scales x 3": (
        Recipes("rates", changed(TWO, scale_rate=3.0)),
        Recipes("halves", TWO),
    ),
    "rate of scales x 20": (
        Recipes("rates", changed(TWO, scale_rate=20.0)),
        Recipes("halves", TWO),
    ),
    "8 knots": (
        Recipes("8 knots", changed(TWO, coded=True)),
        Recipes("halves", changed(TWO, coded=True)),
    ),
    "32 knots": (
        Recipes("32 knots", changed(TWO, coded=True)),
        Recipes("halves", changed(TWO, coded=True)),
    ),
    "three times the steps": (
        Recipes("halves, long", changed(TWO, length=3.0)),
        Recipes("halves", TWO),
    ),
    "D = 100": (Recipes("whole", WHOLE), Recipes("halves", BOTH)),
    "D = 25": (Recipes("quarters", QUARTERS), Recipes("halves", BOTH)),
    "categories that fail at 5 % / their number left out": (
        Recipes("halves, screened", BOTH),
        Recipes("halves", BOTH),
    ),
    "target codes for all categories": (Recipes("halves, targets", BOTH), Recipes("halves", BOTH)),
}
# Changes that validation rows may take or leave, table by table.
OFFERS = {
    "... if validation rows want it (leaving out)": "halves, screened",
    "... if validation rows want it (target codes)": "halves, targets",
}
SUMS: dict[str, Callable[[Scores], list[str]]] = {
    "one of 50": lambda scores: scores.best(BOTH),
    "one of 25": lambda scores: scores.best(QUARTERS),
    "best two of 50": lambda scores: scores.best(BOTH, 2),
    "best of 50 without codes and best with": lambda scores: [
        *scores.best(SCALED),
        *scores.best(SCALED_CODES),
    ],
    "best four of 25": lambda scores: scores.best(QUARTERS, 4),
    "all eight of 25 (200 waves)": lambda scores: scores.best(QUARTERS, 8),
    "best two of 100 (200 waves)": lambda scores: scores.best(WHOLE, 2),
    "all eight of 50 (400 waves)": lambda scores: scores.best(BOTH, 8),
}


def sum_lines(records: Records, folder: Path, names: list[str]) -> Iterator[str]:
    """Yield a row for each way to sum, relative to the best run of 100 waves."""
    errors: dict[str, dict[tuple[str, int], float]] = {label: {} for label in ("base", *SUMS)}
    for cell in [TableCell(name, split, "whole") for name in names for split in SPLITS]:
        if cell in records:
            scores = read_scores(folder, records[cell], ("halves", "whole", "quarters"))
            errors["base"][cell[:2]] = scores.sum_of(scores.best(WHOLE))[1]
            for label, pick in SUMS.items():
                errors[label][cell[:2]] = scores.sum_of(pick(scores))[1]
    for label in SUMS:
        first, second = (
            lambda table, split, one=one: errors[one].get((table, split)) for one in (label, "base")
        )
        yield line(label, log_ratios(records, first, second, names))


def change_lines(
    records: Records, changes: dict[str, tuple[Recipes, Recipes]], names: list[str]
) -> Iterator[str]:
    """Yield a row for each change, relative to what it changes."""
    for label, (new, old) in changes.items():
        yield line(label, log_ratios(records, chosen(records, new), chosen(records, old), names))


def offer_lines(records: Records, names: list[str]) -> Iterator[str]:
    """Yield a row for each change that the rows aside may take or leave."""
    old = Recipes("halves", BOTH)
    for label, variant in OFFERS.items():
        new = chosen(records, old, Recipes(variant, BOTH))
        yield line(label, log_ratios(records, new, chosen(records, old), names))


def today_lines(records: Records, names: list[str]) -> Iterator[str]:
    """Yield a row for each set of recipes, relative to those of today."""
    sets = {
        "today with strengths 0.03 to 10 everywhere": Recipes("today", GRID + CODES),
        "limits at 0.5 %, strengths 0.3 to 10, codes at 3": Recipes("limits", FEW + CODES),
        "limits at 1 %, learned scales, 16 knots, D = 25": Recipes("quarters", QUARTERS),
        "... D = 50": Recipes("halves", BOTH),
        "... D = 100": Recipes("whole", WHOLE),
    }
    for label, recipes in sets.items():
        logs = log_ratios(records, chosen(records, recipes), of_today(records), names)
        yield line(label, logs)


def harder_lines(records: Records) -> Iterator[str]:
    """Yield a row for each table made harder: the errors of variants, and of clean tables."""
    for way, variants in HARDER.items():
        known = {cell.table for cell in records if cell.table.endswith(f"+{way}")}
        for name in sorted(known) if way != "clean" else []:
            clean = name.replace(way, "clean")
            parts = [f"clean {mean_error(records, 'halves', clean):.4f}"]
            parts += [f"{v} {mean_error(records, v, name):.4f}" for v in variants]
            yield f"| {name} | {' | '.join(parts)} |"


def mean_error(records: Records, variant: str, table: str) -> float:
    """Return the mean error over seeds of a variant on a table made harder."""
    runs = {"scales": changed(FEW, scale_rate=6.0)}
    usual = BOTH if variant.startswith("halves") else runs.get(variant, FEW)
    error = chosen(records, Recipes(variant, usual))
    return float(np.mean([error(table, seed) for seed in SPLITS]))


def test_lines(records: Records, names: list[str]) -> Iterator[str]:
    """Yield a row for each rival: our test errors over theirs."""
    table = pd.read_csv(FOLDER / "results.csv").set_index(["model", "table", "split"])["err"]
    for way in ("sum", "single"):
        ours = tested(records, way)
        for rival in RIVALS:
            theirs = table[rival].to_dict()
            logs = log_ratios(records, ours, lambda *cell, of=theirs: of.get(cell), names, "test")
            yield line(f"{way} / {rival}", logs)


def tested(records: Records, way: str) -> Errors:
    """Return the test errors."""

    def error(table: str, split: int) -> float | None:
        record = records.get(TableCell(table, split, "test"))
        return None if record is None else record[way]["error"]

    return error


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=RESULTS)
    folder = parser.parse_args().folder
    found = read_records(folder / "cells.jsonl")
    records = {cell_of(record): record for record in found if "failure" not in record}
    names = sorted({cell.table for cell in records if "+" not in cell.table})
    parts = {
        "First round": change_lines(records, CHANGES, names),
        "Second round": change_lines(records, SECOND_CHANGES, names),
        "Offers": offer_lines(records, names),
        "Sums, relative to one of 100": sum_lines(records, folder, names),
        "Relative to today": today_lines(records, names),
        "Harder tables": harder_lines(records),
        "Test rows": test_lines(records, names),
    }
    for title, lines in parts.items():
        print(f"\n{title}\n")
        print("\n".join(lines))


if __name__ == "__main__":
    main()
