"""Measure prototypes of the trainer on real tables, on validation rows.

Run ``python -m benchmarks.real_tables --jobs 2`` with the tables in ``$PACFOURIER_DATA/tables``.
Each line of ``results/real_tables/cells.jsonl`` is a cell: a table, a split, and a variant with all
its runs. Finished cells are skipped, so a run that was stopped goes on. The scores of the rows are
kept beside it, so that sums of runs can be compared afterwards, by
``python -m benchmarks.real_tables_choices``. Test rows are only touched by the variant "test",
which must be asked for.
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from benchmarks.real_tables_data import (
    CATEGORY_TABLES,
    FOLDER,
    SPLITS,
    WILD_TABLES,
    opened,
    splits_of,
    table_names,
)
from benchmarks.real_tables_fits import Preparation, Scored, Trainer, TrainingRun
from threadpoolctl import threadpool_limits

from pacfourier.core.boosting.blending import Blend

RESULTS = Path(__file__).parents[1] / "results" / "real_tables"
GRID = tuple(TrainingRun(alpha) for alpha in (0.03, 0.1, 0.3, 1.0, 3.0, 10.0))
FEW = GRID[2:]
ALPHAS = tuple(run.alpha for run in FEW)
CODES = (TrainingRun(3.0, coded=True),)
LIMITS = Preparation(tail=0.005)
# Scores are kept of so many rows times outputs.
MOST_ASIDE, MOST_REPORTED = 6_000, 12_000


class Variant(NamedTuple):
    """A way to prepare columns, the runs to train on them, and whether it can equal "limits"."""

    preparation: Preparation
    runs: tuple[TrainingRun, ...] = FEW
    base: Preparation | None = None


def with_limits(**changes: Any) -> Variant:
    """Return a variant that only differs from "limits" for tables with some kind of column."""
    return Variant(Preparation(tail=0.005, **changes), FEW, LIMITS)


def changed(runs: tuple[TrainingRun, ...], **changes: Any) -> tuple[TrainingRun, ...]:
    """Return runs with another size, seed, length, or other details."""
    return tuple(TrainingRun(**{**vars(run), **changes}) for run in runs)


VARIANTS = {
    "limits": Variant(LIMITS, GRID + CODES),
    "today": Variant(Preparation(), GRID + CODES),
    "wide limits": with_limits(wider=0.5),
    "limits 1 %": Variant(Preparation(tail=0.01), FEW, LIMITS),
    "limits, ranges": with_limits(units="range"),
    "pairs 2": with_limits(pairs=2.0),
    "pairs 4": with_limits(pairs=4.0),
    "parts": Variant(
        LIMITS, changed(FEW + CODES, size=50) + changed(FEW, size=25) + changed(CODES, size=25)
    ),
    "scales": Variant(LIMITS, changed(FEW, scale_rate=6.0)),
    "targets, many": with_limits(targets="many"),
    "targets, all": with_limits(targets="all"),
    "screen 5 %, out": with_limits(screen=0.05),
    "screen 5 %, weak": with_limits(screen=0.05, failed="weak"),
    "screen 5 %, linear": with_limits(screen=0.05, failed="linear"),
    "seed 1": Variant(LIMITS, changed(FEW, seed=1)),
    "short": Variant(LIMITS, changed(GRID + CODES, length=0.25)),
    "memory 0.95": Variant(LIMITS, changed((TrainingRun(0.3), TrainingRun(3.0)), memory=0.95)),
    "smooth": Variant(LIMITS, changed(FEW, smoothing=0.1)),
    "long": Variant(
        LIMITS, changed((TrainingRun(0.03), TrainingRun(0.3), TrainingRun(3.0)), length=3.0)
    ),
    "large": Variant(
        LIMITS, changed((TrainingRun(0.03), TrainingRun(0.3), TrainingRun(3.0)), size=200)
    ),
    "codes, few": Variant(Preparation(tail=0.005, knots=16), changed(FEW, coded=True)),
}
# The second round: what did well in the first, together, with half of the frequencies each.
ONE = Preparation(tail=0.01, knots=16)
SCALED = changed(FEW, scale_rate=6.0, size=50)
SCALED_CODES = changed(SCALED, coded=True)
TWO = (SCALED[1], SCALED[2])
VARIANTS |= {
    "halves": Variant(ONE, SCALED + SCALED_CODES + changed(FEW, coded=True, size=50)),
    "whole": Variant(ONE, changed(SCALED + SCALED_CODES, size=100)),
    "quarters": Variant(ONE, changed(SCALED + SCALED_CODES, size=25)),
    "rates": Variant(ONE, changed(TWO, scale_rate=3.0) + changed(TWO, scale_rate=20.0)),
    "8 knots": Variant(Preparation(tail=0.01, knots=8), changed(TWO, coded=True)),
    "32 knots": Variant(Preparation(tail=0.01, knots=32), changed(TWO, coded=True)),
    "halves, short": Variant(ONE, changed(SCALED + SCALED_CODES, length=0.25)),
    "halves, long": Variant(ONE, changed(TWO, length=3.0)),
    "halves, screened": Variant(
        Preparation(tail=0.01, knots=16, screen=0.05, is_shared=True), SCALED + SCALED_CODES, ONE
    ),
    "halves, screened 1 %": Variant(
        Preparation(tail=0.01, knots=16, screen=0.01), SCALED + SCALED_CODES, ONE
    ),
    "halves, targets": Variant(
        Preparation(tail=0.01, knots=16, targets="all"), SCALED + SCALED_CODES, ONE
    ),
    "halves, seed 1": Variant(ONE, changed(SCALED + SCALED_CODES, seed=1)),
}
# Variants whose scores are kept.
KEPT = {"halves", "whole", "quarters", "halves, seed 1"}
HARDER = {
    "clean": ("limits", "today", "halves", "halves, screened"),
    "useless": (
        *("limits", "today", "pairs 2", "pairs 4", "scales", "targets, all"),
        *("screen 5 %, out", "screen 5 %, weak", "screen 5 %, linear"),
        *("halves", "halves, screened", "halves, screened 1 %", "halves, targets"),
    ),
    "wild": ("limits", "today", "limits 1 %", "wide limits", "limits, ranges", "halves"),
}


class TableCell(NamedTuple):
    """What is measured at a time."""

    table: str
    split: int
    variant: str

    @property
    def file(self) -> str:
        """The name of the file with the scores."""
        return "~".join(map(str, self)).replace(" ", "_") + ".npz"


def plain_cells(variants: list[str], names: list[str]) -> Iterator[TableCell]:
    """Yield the cells of the tables as they are: for each variant, large tables first."""
    manifest = pd.read_csv(FOLDER / "manifest.csv").set_index("name")
    work = (manifest["rows"] * (20 + manifest["columns"])).loc[names]
    for variant in variants:
        for name in work.sort_values(ascending=False).index:
            for split in splits_of(*manifest.loc[name, ["rows", "columns"]]):
                yield TableCell(name, split, variant)


def harder_cells(variants: list[str]) -> Iterator[TableCell]:
    """Yield the cells of tables made harder."""
    ways = {"clean": set(CATEGORY_TABLES + WILD_TABLES)}
    ways |= {"useless": set(CATEGORY_TABLES), "wild": set(WILD_TABLES)}
    for way, names in ways.items():
        found = sorted(name for name in names if (FOLDER / f"{name}.csv.gz").exists())
        for name in found:
            for seed in SPLITS:
                yield from (
                    TableCell(f"{name}+{way}", seed, variant)
                    for variant in HARDER[way]
                    if variant in variants
                )


def error_of(scores: np.ndarray, labels: np.ndarray, *, is_amount: bool) -> float:
    """Return the share of wrong rows, or 1 - R²."""
    if is_amount:
        return float(np.square(scores - labels).sum() / np.square(labels - labels.mean()).sum())
    if labels.shape[1] == 1:
        return float(np.mean((scores > 0) != labels))
    is_right = labels[np.arange(len(labels)), scores.argmax(axis=1)]
    return float(1 - is_right.mean())


def is_same(first: Trainer, second: Trainer) -> bool:
    """Return whether two preparations give the same inputs."""
    if not np.array_equal(first.parts.learned, second.parts.learned):
        return False
    one, two = (trainer.columns(coded=False) for trainer in (first, second))
    return np.array_equal(one.units, two.units) and one.n_seen == two.n_seen


def measured(cell: TableCell, folder: Path) -> dict[str, Any]:
    """Train the runs of a cell, keep their scores, and return what was measured."""
    variant, start = VARIANTS[cell.variant], time.perf_counter()
    table, parts = opened(cell.table, cell.split)
    trainer = Trainer(table, parts, variant.preparation)
    record: dict[str, Any] = {
        **cell._asdict(),
        "is_amount": table.is_amount,
        "n": [len(rows) for rows in parts],
        "n_columns": trainer.parts.learned.shape[1],
        "runs": {},
    }
    if variant.base is not None and is_same(trainer, Trainer(table, parts, variant.base)):
        return record | {"is_same": True}
    is_harder = "+" in cell.table
    runs = tuple(run for run in variant.runs if not is_harder or run.alpha in ALPHAS)
    done = {run.name: trainer.run(run) for run in runs}
    line = trainer.line()
    for name, found in (done | ({"line": line} if line else {})).items():
        record["runs"][name] = run_record(trainer, found, line)
    if cell.variant in KEPT and not is_harder:
        np.savez(folder / "scores" / cell.file, **scores_to_keep(trainer, done, line))
    return record | {"is_same": False, "seconds": time.perf_counter() - start}


def run_record(trainer: Trainer, found: Scored, line: Scored | None) -> dict[str, float]:
    """Return the loss aside and the error of a run, both after its blend with the best line."""
    others = [line] if line is not None and line is not found else []
    blend = trainer.blend([found, *others])
    aside, reported = (blend.scores([each[k] for each in (found, *others)]) for k in (0, 1))
    plain, losses = (
        trainer.objective.losses(each, trainer.aside)[0].sum(axis=1).mean()
        for each in (found.aside, aside)
    )
    is_amount = trainer.classes is None
    return {
        "plain loss": float(plain),
        "plain": error_of(found.reported, trainer.reported, is_amount=is_amount),
        "loss": float(losses),
        "error": error_of(reported, trainer.reported, is_amount=is_amount),
        "seconds": found.seconds,
    }


def scores_to_keep(
    trainer: Trainer, done: dict[str, Scored], line: Scored | None
) -> dict[str, np.ndarray]:
    """Return labels and scores of some rows, in half precision."""
    n_outputs = trainer.labels.shape[1]
    few, more = MOST_ASIDE // n_outputs, MOST_REPORTED // n_outputs
    kept = {"labels aside": trainer.aside[:few], "labels": trainer.reported[:more]}
    for name, found in (done | ({"line": line} if line else {})).items():
        kept[f"{name} aside"] = found.aside[:few].astype(np.float16)
        kept[name] = found.reported[:more].astype(np.float16)
    return kept


class Way(NamedTuple):
    """Runs whose blend is used, after they were trained again on all training rows."""

    runs: tuple[TrainingRun, ...]
    blend: Blend


def chosen_ways(trainer: Trainer, line: Scored | None) -> dict[str, Way]:
    """Return what the rows aside choose.

    "single" is the best recipe, and "sum" the best one without codes and the best one with codes,
    of half the size each. Recipes are tried at half the size for both.
    """
    tried = {run: trainer.run(run) for run in SCALED + SCALED_CODES}
    losses = {run: run_record(trainer, found, line)["loss"] for run, found in tried.items()}
    both = tuple(min(runs, key=losses.__getitem__) for runs in (SCALED, SCALED_CODES))
    single = min(both, key=losses.__getitem__)
    lines = [] if line is None else [line]
    return {
        "sum": Way(both, trainer.blend([*(tried[run] for run in both), *lines])),
        "single": Way((replace(single, size=100),), trainer.blend([tried[single], *lines])),
    }


def tested(cell: TableCell) -> dict[str, Any]:
    """Choose on the rows aside, train again on all training rows, and return the test errors."""
    start = time.perf_counter()
    table, parts = opened(cell.table, cell.split, on_test=True)
    trainer = Trainer(table, parts, ONE)
    line = trainer.line()
    ways = chosen_ways(trainer, line)
    record: dict[str, Any] = {
        **cell._asdict(),
        "is_amount": table.is_amount,
        "n": [len(rows) for rows in parts],
        "trials": time.perf_counter() - start,
    }
    rows = np.concatenate([parts.learned, parts.aside])
    again = Trainer(table, parts._replace(learned=rows), ONE)
    lines = [] if line is None else [again.line(trainer.penalty)]
    for name, (runs, blend) in ways.items():
        models = [*map(again.run, runs), *lines]
        scores = blend.scores([model.reported for model in models])
        record[name] = {
            "error": error_of(scores, again.reported, is_amount=table.is_amount),
            "loss": float(again.objective.losses(scores, again.reported)[0].sum(axis=1).mean()),
            "refit": sum(model.seconds for model in models),
            "runs": [run.name for run in runs],
        }
    return record


def measured_in_time(cell: TableCell, folder: Path, deadline: float) -> dict[str, Any] | None:
    """Return what was measured, or None if the time is over before the cell begins."""
    if time.time() > deadline:
        return None
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    try:
        return tested(cell) if cell.variant == "test" else measured(cell, folder)
    except Exception as error:
        return {**cell._asdict(), "failure": repr(error)}


def use_one_thread() -> None:
    """Use one thread in this process, because the processes share the cores."""
    threadpool_limits(1)


def run_cells(cells: list[TableCell], folder: Path, n_jobs: int, minutes: float) -> None:
    """Measure the cells that are missing, and append each to the file."""
    (folder / "scores").mkdir(parents=True, exist_ok=True)
    path, deadline = folder / "cells.jsonl", time.time() + 60 * minutes
    finished = {cell_of(record) for record in read_records(path) if "failure" not in record}
    left = [cell for cell in cells if cell not in finished]
    with ProcessPoolExecutor(n_jobs, initializer=use_one_thread) as pool, path.open("a") as file:
        jobs = [pool.submit(measured_in_time, cell, folder, deadline) for cell in left]
        for number, job in enumerate(as_completed(jobs)):
            record = job.result()
            if record is None:
                continue
            file.write(json.dumps(record) + "\n")
            file.flush()
            if "failure" in record or number % 50 == 0:
                print(number, len(left), record["table"], record.get("failure", ""), flush=True)


def cell_of(record: dict[str, Any]) -> TableCell:
    """Return the cell of a record."""
    return TableCell(record["table"], record["split"], record["variant"])


def read_records(path: Path) -> list[dict[str, Any]]:
    """Return the cells that were measured before."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    known = [*VARIANTS, "test"]
    parser.add_argument("--variants", nargs="+", choices=known, default=list(VARIANTS))
    parser.add_argument("--tables", nargs="+", default=None)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--folder", type=Path, default=RESULTS)
    parser.add_argument("--no-harder", action="store_true", help="skip tables made harder")
    options = parser.parse_args()
    names = table_names()
    if not names:
        print(f"There are no tables in {FOLDER}: set PACFOURIER_DATA.")
        return
    cells = [] if options.no_harder else list(harder_cells(options.variants))
    cells += plain_cells(options.variants, options.tables or names)
    run_cells(cells, options.folder, options.jobs, options.minutes)


if __name__ == "__main__":
    main()
