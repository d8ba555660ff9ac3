"""The numbers that the paper printed and drew, its claims, and the public files it used."""

import csv
from functools import cache
from pathlib import Path

TABLE1_COLUMNS = {
    "svm": "SVM",
    "rbf_landmarks": "RBF-C",
    "pb_landmarks": "PB-C",
    "pb_landmarks_beta1": "PB-C(beta=1)",
    "pb_landmarks_d64": "PB-C(D=64)",
}


def table(name: str) -> list[dict[str, str]]:
    """Return the rows of a file of this folder."""
    return list(csv.DictReader(Path(__file__).with_name(name).read_text("utf-8").splitlines()))


def published_table() -> dict[tuple[str, str], float]:
    """Return the test errors of Table 1 in %, by data set and method."""
    return {
        (row["dataset"], method): float(row[column])
        for row in table("table1.csv")
        for column, method in TABLE1_COLUMNS.items()
    }


@cache
def published_curves() -> dict[tuple[str, str, str, str], dict[float, float]]:
    """Return errors in % by width, for each (experiment, data set, method, part).

    The part is "train" or "test"; the SVM's line has the width 0.
    """
    curves: dict[tuple[str, str, str, str], dict[float, float]] = {}
    for row in table("figures.csv"):
        method, _, part = row["curve"].rpartition("-")
        if part not in ("train", "test"):
            method, part = row["curve"], "test"
        key = (row["figure"], row["dataset"], method, part)
        error = 100 * int(row["n_errors"]) / int(row["n_examples"])
        curves.setdefault(key, {})[float(row["x"] or 0)] = error
    return curves
