"""Compare learned similarities to landmarks with the RBF kernel to the same number of landmarks.

Both maps run with their defaults, on the paper's seven data sets, digits and MNIST's ten classes.
The linear model is scikit-learn's ``RidgeClassifier``, with its ridge chosen on validation data.
The table shows mean test errors in %, and the last rows the geometric mean of the ratio.
"""

import argparse
from typing import Any

import numpy as np

from complementary import split_parts, test_error
from pacfourier import PBLandmarks, RBFLandmarks
from pacfourier.datasets import PAPER_DATASETS, load
from pacfourier.experiments import protocol

NUMBERS = (20, 60, 200)
DATASETS = (*PAPER_DATASETS, "digits", "mnist")


def parts_of(dataset: str, split: int, options: argparse.Namespace) -> tuple[Any, ...]:
    """Return training, validation and test rows, then their labels; at most so many to train."""
    if dataset in PAPER_DATASETS:
        parts = tuple(protocol.split_parts(load(dataset, options.data), split))
    else:
        parts = split_parts(dataset, split, options.data)
    return (parts[0][: options.rows], *parts[1:3], parts[3][: options.rows], *parts[4:])


def errors_of(estimator: type, parts: tuple[Any, ...], seed: int) -> list[float]:
    """Return the test error at each number of landmarks."""
    models = [estimator(n_landmarks=number, random_state=seed) for number in NUMBERS]
    return [test_error(each.fit(parts[0], parts[3]), parts) for each in models]


def main() -> None:
    """Print one row per data set, and the geometric mean of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", help="folder of the public data files")
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=DATASETS)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rows", type=int, default=10_000, help="most rows to learn from")
    options = parser.parse_args()
    header = "".join(f" RBF, {n} | learned, {n} | difference |" for n in NUMBERS)
    print(f"| data set |{header}\n| --- |" + " --- |" * 3 * len(NUMBERS))
    ratios = []
    for dataset in options.datasets:
        splits = [parts_of(dataset, split, options) for split in range(options.splits)]
        found = np.array(
            [
                [errors_of(each, parts, seed) for each in (RBFLandmarks, PBLandmarks)]
                for seed, parts in enumerate(splits)
            ]
        )
        means, gaps = found.mean(axis=0), found[:, 1] - found[:, 0]
        radii = gaps.std(axis=0, ddof=min(1, len(gaps) - 1)) / np.sqrt(len(gaps))
        cells = "".join(
            f" {rbf:.2f} | {learned:.2f} | {gap:+.2f} ± {radius:.2f} |"
            for rbf, learned, gap, radius in zip(*means, gaps.mean(axis=0), radii, strict=True)
        )
        print(f"| {dataset} |{cells}", flush=True)
        ratios.append(means[1] / means[0])
    print("geometric mean of the ratio:", np.exp(np.log(ratios).mean(axis=0)).round(2))


if __name__ == "__main__":
    main()
