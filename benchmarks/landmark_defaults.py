"""Compare settings of the landmark maps, to choose their defaults.

The table shows validation errors on the paper's data sets and on digits, with at most 200 landmarks
and beta = 1. The test sets are never read.
"""

import itertools
import sys
import warnings

import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from defaults import N_SPLITS, samples, split_samples, validation_error
from pacfourier import PBLandmarks, RBFLandmarks
from reproduction.datasets import PAPER_DATASETS

LANDMARKS = ("kmeans", "medoids", "random")
FREQUENCIES = (16, 64, 256)
MOST_LANDMARKS = 200


def measure(name, seed):
    """Yield one row per setting."""
    parts = split_samples(*samples(name), seed)
    X, y = parts[0], parts[2]
    n_landmarks = min(MOST_LANDMARKS, X.shape[0] // 10)
    for landmarks, gamma in itertools.product(LANDMARKS, ("median", "multiscale")):
        common = {"n_landmarks": n_landmarks, "gamma": gamma, "random_state": seed}
        prior = RBFLandmarks(landmarks, **common).fit(X, y)
        yield landmarks, gamma, "RBFLandmarks", validation_error(prior, *parts)
        for size in FREQUENCIES:
            model = PBLandmarks(landmarks, n_frequencies=size, **common).fit(X, y)
            setting = f"PBLandmarks {size}"
            yield landmarks, gamma, setting, validation_error(model, *parts)


def main(names):
    """Print mean validation errors: one row per setting, one column per data set."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = [
        (name, *row) for name in names for seed in range(N_SPLITS) for row in measure(name, seed)
    ]
    table = pd.DataFrame(rows, columns=["data", "landmarks", "gamma", "setting", "error"])
    pivot = table.pivot_table(
        index=["setting", "gamma", "landmarks"], columns="data", values="error"
    )
    pivot["mean"] = pivot.mean(axis=1)
    print(pivot.round(1).to_string())


if __name__ == "__main__":
    main(sys.argv[1:] or [*PAPER_DATASETS, "digits"])
