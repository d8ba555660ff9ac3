"""Compare similarities to landmarks: fixed or learned.

The base is ``RBFLandmarks``. The landmarks of both maps are medoids, the default. The data sets are
the paper's seven, digits and MNIST's ten classes. The linear model is scikit-learn's
``RidgeClassifier``, with its ridge chosen on validation data. There is one table per number of
landmarks. It shows mean test errors in %, the mean of the paired differences from the base with its
standard error, and in the last row the geometric mean of the ratios.
"""

import argparse
from typing import Any

import joblib
import numpy as np

from complementary import split_parts, test_error
from pacfourier import PBLandmarks, RBFLandmarks
from reproduction import protocol
from reproduction.datasets import PAPER_DATASETS, load

NUMBERS = (20, 60, 200)
DATASETS = (*PAPER_DATASETS, "digits", "mnist")
MAPS = {"RBF": RBFLandmarks, "learned": PBLandmarks}


def parts_of(dataset: str, split: int, options: argparse.Namespace) -> tuple[Any, ...]:
    """Return training, validation and test rows, then their labels; at most so many to train."""
    if dataset in PAPER_DATASETS:
        parts = tuple(protocol.split_parts(load(dataset), split))
    else:
        parts = split_parts(dataset, split)
    return (parts[0][: options.rows], *parts[1:3], parts[3][: options.rows], *parts[4:])


def errors_of(dataset: str, split: int, options: argparse.Namespace) -> list[list[float]]:
    """Return the test error of each map at each number of landmarks."""
    parts = parts_of(dataset, split, options)
    return [
        [
            test_error(
                estimator(n_landmarks=number, random_state=split).fit(parts[0], parts[3]),
                parts,
            )
            for number in NUMBERS
        ]
        for estimator in MAPS.values()
    ]


def row_of(dataset: str, found: np.ndarray) -> str:
    """Return a row of a table from the errors of each split and map."""
    gaps = found - found[:, :1]
    radii = gaps.std(axis=0, ddof=min(1, len(gaps) - 1)) / np.sqrt(len(gaps))
    cells = [
        f"{error:.2f} | {gap:+.2f} ± {radius:.2f}"
        for error, gap, radius in zip(found.mean(axis=0), gaps.mean(axis=0), radii, strict=True)
    ]
    return " | ".join([f"| {dataset}", cells[0].split(" |")[0], *cells[1:]]) + " |"


def show(number: int, datasets: list[str], found: np.ndarray) -> None:
    """Print the table of one number of landmarks, from errors of each data set, split and map."""
    base, *others = MAPS
    header = " | ".join([base, *(f"{name} | difference" for name in others)])
    print(f"\n| {number} landmarks | {header} |\n| --- |" + " --- |" * (1 + 2 * len(others)))
    for dataset, errors in zip(datasets, found, strict=True):
        print(row_of(dataset, errors))
    means = found.mean(axis=1)
    ratios = np.exp(np.log(means / means[:, :1]).mean(axis=0))
    print(
        "| geometric mean of the ratio | | " + " | ".join(f"{r:.2f} |" for r in ratios[1:]) + " |"
    )


def main() -> None:
    """Print one table per number of landmarks."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=DATASETS)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rows", type=int, default=10_000, help="most rows to learn from")
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the splits")
    options = parser.parse_args()
    tasks = [(dataset, split) for dataset in options.datasets for split in range(options.splits)]
    errors = joblib.Parallel(options.jobs)(
        joblib.delayed(errors_of)(*task, options) for task in tasks
    )
    shape = (len(options.datasets), options.splits, len(MAPS), len(NUMBERS))
    found = np.array(errors).reshape(shape)
    for place, number in enumerate(NUMBERS):
        show(number, options.datasets, found[..., place])


if __name__ == "__main__":
    main()
