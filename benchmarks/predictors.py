"""Compare FourierClassifier and FourierRegressor with other predictors.

Every cell is one model on one split of one data set. Cells run one after another in one process,
and each is written to ``results/predictors.jsonl`` as soon as it is finished: a run that was
stopped goes on where it was. At the end, the tables and the figure of ``docs/predictors.md`` are
written from all cells in that file.

Set ``OMP_NUM_THREADS`` and ``NUMBA_NUM_THREADS`` to the number of cores to use, as
``make predictors`` does.
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.measure import seconds
from benchmarks.predictors_certified import certified_record
from benchmarks.predictors_data import (
    N_SPLITS,
    ONE_TEST_PART,
    SETS,
    TIMED_SETS,
    DataSet,
    Rows,
    parts_of,
)
from benchmarks.predictors_models import MODELS, is_run_on, kind_of, light_gbm
from benchmarks.predictors_page import write_page
from scipy import sparse
from sklearn.metrics import log_loss

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "predictors.jsonl"
PAGE = ROOT / "docs" / "predictors.md"
N_BINS = 15
TIMED_ROWS, TIMED_ROUNDS = 4000, 15

Record = dict[str, Any]


def calibration_error(probabilities: np.ndarray, is_right: np.ndarray) -> float:
    """Return the expected calibration error of the predicted classes, in 15 equal bins.

    It is the mean distance between the confidence and the accuracy of a bin, weighted by rows.
    """
    confidences = probabilities.max(axis=1)
    bins = np.minimum((confidences * N_BINS).astype(int), N_BINS - 1)
    gaps = np.bincount(bins, weights=confidences - is_right, minlength=N_BINS)
    return float(np.abs(gaps).sum() / len(bins))


def scores_of(model: Any, test: Rows, *, is_amount: bool) -> Record:
    """Return the test error, or 1 - R^2, and how good the probabilities are."""
    predictions = np.asarray(model.predict(test.X))
    if is_amount:
        return {"error": float(np.mean((test.y - predictions) ** 2) / test.y.var())}
    is_right = predictions == test.y
    record: Record = {"error": float(np.mean(~is_right))}
    if hasattr(model, "predict_proba"):
        probabilities = np.asarray(model.predict_proba(test.X), dtype=np.float64)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        record["log_loss"] = log_loss(test.y, probabilities, labels=model.classes_)
        record["ece"] = calibration_error(probabilities, is_right)
    return record


def cell_record(name: str, table: DataSet, split: int, model: str) -> Record:
    """Fit a model on one split, and return what was measured."""
    train, test = parts_of(table, split)
    kind = kind_of(train.X, train.y, is_amount=table.is_amount, seed=split)
    predictor = MODELS[model](kind)
    elapsed = seconds(lambda: predictor.fit(train.X, train.y))
    record = {"set": name, "split": split, "model": model, "seconds": elapsed}
    record |= {"n_train": train.X.shape[0], "n_test": test.X.shape[0]}
    record |= scores_of(predictor, test, is_amount=table.is_amount)
    for attribute in ("alpha_", "piecewise_", "choice_", "n_rows_"):
        if hasattr(predictor, attribute):
            record[attribute] = getattr(predictor, attribute)
    if model.startswith("ours"):
        record |= certified_record(predictor, table, test)
    return record


def timed_record(name: str, table: DataSet) -> Record:
    """Return the microseconds per row that ours and LightGBM take to predict, in turns."""
    train, test = parts_of(table, 0)
    X, X_test = train.X.astype(np.float32), test.X[:TIMED_ROWS].astype(np.float32)
    kind = kind_of(X, train.y, is_amount=False, seed=0)
    fitted = {"ours": MODELS["ours"](kind).fit(X, train.y)}
    fitted["LightGBM"] = light_gbm(kind).fit(X, train.y)
    times: dict[str, list[float]] = {model: [] for model in fitted}
    for number in range(TIMED_ROUNDS + 1):
        for model, predictor in fitted.items():
            elapsed = seconds(lambda predictor=predictor: predictor.predict(X_test))
            # The first call of each may compile or allocate.
            if number:
                times[model].append(1e6 * elapsed / len(X_test))
    record: Record = {"set": name, "split": 0, "model": "prediction time"}
    for model, predictor in fitted.items():
        record[f"{model}, us"] = float(np.median(times[model]))
        record[f"{model}, error"] = float(np.mean(predictor.predict(test.X) != test.y))
    return record


def key_of(record: Record) -> tuple[str, int, str]:
    """Return what a cell is: set, split and model."""
    return record["set"], record["split"], record["model"]


def read_records(path: Path) -> dict[tuple[str, int, str], Record]:
    """Return the cells that were measured before. Of two lines on one cell, the last counts."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {key_of(record): record for record in map(json.loads, lines)}


def warm_up() -> None:
    """Fit both of our predictors once, so that no measured fit compiles loops."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((150, 4)), np.arange(150) % 3
    for rows in (X, X.astype(np.float32), sparse.csr_matrix(X)):
        for labels, is_amount in ((y, False), (y == 1, False), (X[:, 0], True)):
            kind = kind_of(rows, labels, is_amount=is_amount, seed=0)
            MODELS["ours"](kind._replace(seed=0)).set_params(n_frequencies=5).fit(rows, labels)


def planned_cells(sets: list[str], models: list[str], n_splits: int) -> Iterator[Any]:
    """Yield the set, split and model of every cell."""
    for name in sets:
        for split in range(1 if name in ONE_TEST_PART else n_splits):
            yield from ((name, split, model) for model in models if is_run_on(model, name))


def run_cells(cells: list[Any], path: Path) -> None:
    """Measure cells one after another, and append each to the file as soon as it is finished."""
    path.parent.mkdir(exist_ok=True)
    name_loaded, table = None, None
    for number, (name, split, model) in enumerate(cells):
        if name != name_loaded:
            name_loaded, table = name, {**TIMED_SETS, **SETS}[name]()
        if model == "prediction time":
            record = timed_record(name, table)
        else:
            record = cell_record(name, table, split, model)
        record["day"] = time.strftime("%Y-%m-%d")
        with path.open("a") as file:
            file.write(json.dumps(record) + "\n")
        facts = {key: value for key, value in record.items() if isinstance(value, float)}
        text = ", ".join(f"{key} {value:.4g}" for key, value in facts.items())
        print(f"[{number + 1}/{len(cells)}] {name}, split {split}, {model}: {text}", flush=True)


def main() -> None:
    """Measure what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--splits", type=int, default=N_SPLITS, help="number of splits")
    parser.add_argument("--no-times", action="store_true", help="measure no times of predictions")
    parser.add_argument("--redo", action="store_true", help="measure finished cells again")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file of finished cells")
    parser.add_argument("--page", type=Path, default=PAGE, help="page whose tables are written")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cells = list(planned_cells(options.sets, options.models, options.splits))
    if not options.no_times:
        cells += [(name, 0, "prediction time") for name in TIMED_SETS]
    finished = {} if options.redo else read_records(options.results)
    cells = [cell for cell in cells if cell not in finished]
    if cells:
        warm_up()
    run_cells(cells, options.results)
    write_page(list(read_records(options.results).values()), options.page)


if __name__ == "__main__":
    main()
