"""Compare PBRFF with independent and with structured candidates: test errors and fit times.

There is one fit per split and sampling; every number of frequencies is a ``redraw`` of it. The C of
the linear SVM is chosen on the validation part, and the table shows the error on the test part.
With the argument ``costs``, the script measures the time per pair of a sample and a candidate
instead, for several numbers of features.
"""

import sys
import time

import numpy as np
import pandas as pd

from measure import seconds
from pacfourier import PBRFF
from pacfourier.core.alignment.sums import alignment_sums
from pacfourier.core.alignment.targets import target_of
from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.spectra import RBF
from reproduction.datasets import load
from reproduction.linear_svm import squared_hinge_path
from reproduction.protocol import n_errors, split_parts

DATASETS = ("mnist49", "mnist17", "ads")
SAMPLINGS = ("iid", "structured")
N_FREQUENCIES = (10, 50, 100, 500)
N_SPLITS = 5
CS = (1.0, 100.0, 10_000.0)
WIDTHS = (32, 108, 256, 512, 784, 1_024, 1_554, 4_000)


def test_error(model, parts):
    """Return the test error in % of a linear SVM, with C chosen on the validation part."""
    path = squared_hinge_path(model.transform(parts.X_train), parts.y_train, CS)
    valid = model.transform(parts.X_valid)
    best = min(path, key=lambda weights: n_errors(valid, weights, parts.y_valid))
    return 100 * n_errors(model.transform(parts.X_test), best, parts.y_test) / len(parts.y_test)


def measure(name, split):
    """Yield one row per sampling and number of frequencies."""
    parts = split_parts(load(name), split)
    for sampling in SAMPLINGS:
        model = PBRFF(sampling=sampling, target_type="binary", random_state=split)
        start = time.perf_counter()
        model.fit(parts.X_train, parts.y_train)
        elapsed = time.perf_counter() - start
        for size in N_FREQUENCIES:
            error = test_error(model.redraw(n_frequencies=size), parts)
            yield name, sampling, size, error, elapsed


def print_costs(n_samples=4_096, n_frequencies=8_192, rounds=5):
    """Print nanoseconds per pair for both samplings: the best of several alternating rounds."""
    rng = np.random.default_rng(0)
    y = np.resize([-1, 1], n_samples)
    target = target_of(y)
    for width in WIDTHS:
        X = rng.standard_normal((n_samples, width), dtype=np.float32)
        pools = [FrequencyPool(RBF(1 / width), n_frequencies, width, 0, s) for s in SAMPLINGS]
        times = [
            [seconds(lambda pool=pool, X=X: alignment_sums(X, y, target, pool)) for pool in pools]
            for _ in range(rounds)
        ]
        costs = np.min(times, axis=0) / (n_samples * n_frequencies) * 1e9
        found = dict(zip(SAMPLINGS, costs.round(2).tolist(), strict=True))
        print(f"d = {width:>5}: {found} ns per pair")


def main(names):
    """Print the mean and standard deviation of the test errors over splits, and fit times."""
    if names == ["costs"]:
        print_costs()
        return
    rows = []
    for name in names or DATASETS:
        for split in range(N_SPLITS):
            rows += measure(name, split)
        table = pd.DataFrame(rows, columns=["data", "sampling", "D", "error", "fit"])
        errors = table[table.data == name].pivot_table(
            index=["data", "sampling"], columns="D", values="error", aggfunc=["mean", np.std]
        )
        fits = table[table.data == name].groupby("sampling").fit.min()
        print(errors.round(2).to_string())
        print("best fit time in s:", fits.round(2).to_dict(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
