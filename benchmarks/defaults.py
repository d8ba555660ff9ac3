"""Compare settings of PBRFF and OKRFF, to choose their defaults.

The table shows validation errors on the paper's seven data sets and on digits. The test part of
each data set is never read. There is one fit per bandwidth and split; every other setting is a
``redraw`` of it. With the argument ``widths``, the bandwidth stays at its default, and the
temperature and the radius are varied instead.
"""

import itertools
import sys
import warnings

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from pacfourier import OKRFF, PBRFF, RFF
from pacfourier.pacbayes.posteriors import inverse_temperature_of_size
from reproduction.datasets import PAPER_DATASETS, load

GAMMAS = ("multiscale", "median", "scale")
DRAWS = ("weighted", "distinct", "replacement")
N_FREQUENCIES = (10, 100)
WIDTHS = (20, 200, 1_000, 5_000)
N_SPLITS = 2
LINEAR_SAMPLES = 4_000


def samples(name):
    """Return X and y of a data set, without its official test set."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X / 16, y
    data = load(name)
    return data.X[: data.n_train], data.y[: data.n_train]


def split_samples(X, y, seed):
    """Discard 25 % of the rows as test set, then split 20 % of the rest off for validation."""
    X, _, y, _ = train_test_split(X, y, test_size=0.25, random_state=seed)
    return train_test_split(X, y, test_size=0.2, random_state=seed)


def validation_error(transformer, X_train, X_valid, y_train, y_valid):
    """Return the error in % of the better of two linear SVMs, trained on at most 4,000 rows."""
    rows = np.random.default_rng(0).permutation(X_train.shape[0])[:LINEAR_SAMPLES]
    train, valid = transformer.transform(X_train[rows]), transformer.transform(X_valid)
    machines = (LinearSVC(C=C, dual=False, tol=1e-3).fit(train, y_train[rows]) for C in (1, 100))
    return min(100 - 100 * machine.score(valid, y_valid) for machine in machines)


def measure(name, seed):
    """Yield one row per setting."""
    X, y = samples(name)
    parts = split_samples(X, y, seed)
    for gamma in GAMMAS:
        model = PBRFF(gamma=gamma, random_state=seed).fit(parts[0], parts[2])
        for size in N_FREQUENCIES:
            prior = RFF(size, gamma=gamma, random_state=seed).fit(parts[0])
            yield gamma, "RFF", size, validation_error(prior, *parts)
            for class_weight, draw in itertools.product(("balanced", None), DRAWS):
                redrawn = model.redraw(n_frequencies=size, class_weight=class_weight, draw=draw)
                setting = f"PBRFF {draw}{', balanced' if class_weight else ''}"
                yield gamma, setting, size, validation_error(redrawn, *parts)


def measure_widths(name, seed):
    """Yield one row per draw and width of the posterior, counted in equal weights."""
    X, y = samples(name)
    parts = split_samples(X, y, seed)
    gibbs, ball = (kind(random_state=seed).fit(parts[0], parts[2]) for kind in (PBRFF, OKRFF))
    n_candidates, root = len(gibbs.pool_), np.sqrt(gibbs.sums_.effective_samples)
    for size, draw, width in itertools.product(N_FREQUENCIES, DRAWS, WIDTHS):
        beta = inverse_temperature_of_size(gibbs.selection_losses_, width) / root
        model = gibbs.redraw(n_frequencies=size, draw=draw, beta=beta)
        yield width, f"PBRFF {draw}", size, validation_error(model, *parts)
        if draw == "weighted":
            rho = n_candidates / width - 1
            model = ball.redraw(n_frequencies=size, draw=draw, rho=rho)
            yield width, f"OKRFF {draw}", size, validation_error(model, *parts)


def main(names):
    """Print mean validation errors: one row per setting, one column per data set."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    vary = measure
    if "widths" in names:
        names, vary = [name for name in names if name != "widths"], measure_widths
    rows = [
        (name, *row)
        for name in names or [*PAPER_DATASETS, "digits"]
        for seed in range(N_SPLITS)
        for row in vary(name, seed)
    ]
    table = pd.DataFrame(rows, columns=["data", "prior", "setting", "D", "error"])
    pivot = table.pivot_table(index=["D", "setting", "prior"], columns="data", values="error")
    pivot["mean"] = pivot.mean(axis=1)
    print(pivot.round(1).to_string())


if __name__ == "__main__":
    main(sys.argv[1:])
