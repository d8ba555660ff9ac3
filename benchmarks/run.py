"""Measure speed and memory and compare them with our goals.

Every row of the table is a time ratio within this run, a time, or a peak of memory. The real data
sets are read from the folder ``PACFOURIER_DATA``. Without it, the rows that need them are skipped.
"""

import json
import os
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.kernel_approximation import RBFSampler

from measure import median_ratio, peak_megabytes, python_seconds, seconds
from pacfourier import PBRFF, PBLandmarks, alignment_losses, bounds
from pacfourier.core.alignment.sums import alignment_sums
from pacfourier.core.alignment.targets import target_of
from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.datasets import load
from pacfourier.spectra import RBF
from twins import (
    bare_product,
    plain_landmark_fit,
    plain_landmark_transform,
    plain_losses,
)

SHAPES = {"adult": (26_048, 108), "mnist": (8_268, 784)}
PLAIN_BARS = {"adult": 25.0, "mnist": 7.5}


def loss_rows(name):
    """Compare the losses with plain NumPy and with a bare matrix product, N = 4,000."""
    n_samples, n_features = SHAPES[name]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features), dtype=np.float32)
    y = np.where(rng.random(n_samples) < 0.5, -1, 1)
    frequencies = rng.standard_normal((4_000, n_features), dtype=np.float32) / n_features**0.5
    X_double, frequencies_double = X.astype(np.float64), frequencies.astype(np.float64)
    out = np.empty((n_samples, 4_000), dtype=np.float32)

    def ours():
        return alignment_losses(X, y, frequencies)

    plain = median_ratio(lambda: plain_losses(X_double, y, frequencies_double), ours, rounds=3)
    bare = median_ratio(ours, lambda: bare_product(X, frequencies, out))
    yield f"plain NumPy / losses, {name} shape", plain, ">=", PLAIN_BARS[name], "x"
    yield f"losses / bare float32 product, {name} shape", bare, "<=", 1.2, "x"


def structured_rows():
    """Compare structured losses with a bare matrix product, d = 784, N = 20,000."""
    n_samples, n_features, n_frequencies = 8_192, 784, 20_000
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features), dtype=np.float32)
    y = np.where(rng.random(n_samples) < 0.5, -1, 1)
    target = target_of(y)
    pool = FrequencyPool(RBF(0.5 / n_features), n_frequencies, n_features, 0, "structured")
    frequencies = pool[:]
    out = np.empty((1_024, n_frequencies), dtype=np.float32)

    def losses():
        sums = alignment_sums(X, y, target, pool)
        return sums.losses(target.agreement(sums.totals))

    def products():
        for start in range(0, n_samples, len(out)):
            bare_product(X[start : start + len(out)], frequencies, out)

    ratio = median_ratio(products, losses)
    yield "bare float32 product / losses, structured", ratio, ">=", 5.0, "x"
    peak = peak_megabytes(losses)
    yield "peak extra memory of losses, structured", peak, "<=", 200, "MB"


def adult_rows():
    """Measure the peak memory, a redraw and the transform on adult, N = 20,000."""
    data = load("adult")
    X, y = data.X[: data.n_train][:26_048], data.y[: data.n_train][:26_048]
    model = PBRFF(100, random_state=0)
    model.fit(X[:100], y[:100])
    yield (
        "peak extra memory of fit, adult",
        peak_megabytes(lambda: model.fit(X, y)),
        "<=",
        200,
        "MB",
    )
    ratio = median_ratio(lambda: model.fit(X, y), lambda: model.redraw(beta=2.0), rounds=3)
    yield "fit / redraw, adult", ratio, ">=", 100.0, "x"
    sampler = RBFSampler(n_components=200, gamma=1e-3, random_state=0).fit(X)
    ratio = median_ratio(lambda: sampler.transform(X), lambda: model.transform(X))
    yield "RBFSampler / transform, 200 columns", ratio, ">=", 1.0, "x"


def farm_rows():
    """Measure a fit of a sparse, very wide data set, N = 20,000."""
    data = load("farm")
    X, y = data.X[:2_485], data.y[:2_485]
    model = PBRFF(100, random_state=0)
    model.fit(X[:50], y[:50])
    elapsed = []
    peak = peak_megabytes(lambda: elapsed.append(seconds(lambda: model.fit(X, y))))
    yield "fit, farm (sparse, d = 54,877)", elapsed[0], "<=", 60.0, "s"
    yield "peak extra memory of fit, farm", peak, "<=", 1_000, "MB"


def scaling_rows():
    """Measure the cost of doubling the samples or the candidates: 1 means linear."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40_000, 50), dtype=np.float32)
    y = np.where(X[:, 0] > 0, 1, -1)

    def fit(n_samples, n_candidates):
        model = PBRFF(n_candidates=n_candidates, gamma=0.01, random_state=0)
        return lambda: model.fit(X[:n_samples], y[:n_samples])

    ratio = median_ratio(fit(40_000, 8_192), fit(20_000, 8_192)) / 2
    yield "cost of twice the samples / 2", ratio, "within 15% of", 1.0, "x"
    ratio = median_ratio(fit(20_000, 16_384), fit(20_000, 8_192)) / 2
    yield "cost of twice the candidates / 2", ratio, "within 15% of", 1.0, "x"


def start_rows():
    """Measure the compilation at the first call with an empty cache, and the import."""
    code = """
import numpy as np, time
from pacfourier import PBRFF
X = np.random.default_rng(0).standard_normal((2000, 50)); y = np.arange(2000) % 2
start = time.perf_counter()
PBRFF().fit_transform(X, y)
PBRFF().fit_transform(X.astype(np.float32), y)
print(time.perf_counter() - start)
"""
    with tempfile.TemporaryDirectory() as cache:
        cold = python_seconds(code, NUMBA_CACHE_DIR=cache)
        warm = python_seconds(code, NUMBA_CACHE_DIR=cache)
    yield "first-call compilation, cold", cold - warm, "<=", 5.0, "s"
    timed = (
        "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
    )
    ratios = [
        python_seconds(timed.format("pacfourier"))
        / python_seconds(timed.format("sklearn.kernel_approximation"))
        for _ in range(5)
    ]
    yield "import / import sklearn.kernel_approximation", np.median(ratios), "<=", 1.5, "x"


def landmark_rows():
    """Measure landmark maps of adult: 10 % landmarks, 64 frequencies each or shared."""
    data = load("adult")
    X, y = data.X[:26_048].astype(np.float32), data.y[:26_048]
    rows = np.random.default_rng(0).permutation(len(y))[: len(y) // 10]
    model = PBLandmarks((X[rows], y[rows]), gamma=1e-7, random_state=0)
    model.fit_transform(X[:200], y[:200])
    n_slice = 20
    pool, X_double = model.pool_, X.astype(np.float64)

    def plain():
        for row in range(n_slice):
            own = pool[64 * row : 64 * row + 64].astype(np.float64)
            point, label = X_double[rows[row]], y[rows[row]]
            posterior = plain_landmark_fit(X_double, y, point, label, own, beta=1.0)
            plain_landmark_transform(X_double, point, own, posterior)

    elapsed = []
    peak = peak_megabytes(lambda: elapsed.append(seconds(lambda: model.fit_transform(X, y))))
    ours = seconds(lambda: model.fit_transform(X, y)) / len(rows)
    yield (
        "plain loop / fit_transform of a landmark",
        seconds(plain) / n_slice / ours,
        ">=",
        12.0,
        "x",
    )
    yield "peak memory of fit_transform, landmarks", peak, "<=", 500, "MB"
    shared = PBLandmarks((X[rows], y[rows]), frequencies="shared", gamma=1e-7, random_state=0)
    shared.fit(X[:200], y[:200])
    ratio = seconds(lambda: model.fit(X, y)) / seconds(lambda: shared.fit(X, y))
    yield "fit: per landmark / shared", ratio, ">=", 20.0, "x"


def certificate_rows():
    """Measure four certificates of two classes with N = 20,000 candidates."""
    X, y = mnist17_samples()
    model = PBRFF(target_type="binary", random_state=0).fit(X, y)

    def certify():
        return [model.certificate(bound=name) for name in ("auto", "kl", "catoni_grid", "norm")]

    certify()
    elapsed = np.median([seconds(certify) for _ in range(7)])
    yield "four certificates, N = 20,000", 1000 * elapsed, "<=", 50.0, "ms"


def mnist17_samples(test=False):
    """Return 60 % of the ones and sevens (9,102 images) with their labels, or the other 6,068.

    This is not split 0 of the reproduction, whose training part has 9,101 images.
    """
    data = load("mnist17")
    order = np.random.default_rng(0).permutation(len(data.y))
    rows = order[9_102:] if test else order[:9_102]
    return data.X[rows].astype(np.float32), data.y[rows]


# Measured once with beta = 1, epsilon = 0.05 and one prior of 10 bandwidths x 1,000 frequencies.
REFERENCE_BOUNDS = {
    "empirical loss": 0.2486,
    "test loss": 0.2492,
    "printed Theorem 3": 0.374,
    "kl": 0.286,
    "unexpected_bernstein": 0.273,
    "first_order": 0.271,
}


def print_certificate_table(n_seeds=6):
    """Print the bounds on mnist17 over several draws of the prior, beside one reference draw."""
    X, y = mnist17_samples()
    X_test, y_test = mnist17_samples(test=True)
    columns = {name: [] for name in REFERENCE_BOUNDS}
    for seed in range(n_seeds):
        model = PBRFF(
            n_candidates=10_000,
            beta=1.0,
            class_weight=None,
            target_type="binary",
            random_state=seed,
        ).fit(X, y)
        certificate = model.certificate(of="posterior")
        columns["empirical loss"].append(certificate.empirical_loss)
        test_losses = alignment_losses(X_test, y_test, model.pool_[:])
        columns["test loss"].append(float(model.posterior_ @ test_losses))
        printed = bounds.printed.theorem3(
            loss=certificate.empirical_loss,
            divergence=certificate.divergence,
            n_samples=len(y),
            epsilon=0.05,
            inverse_temperature=len(y) ** 0.5,
        )
        columns["printed Theorem 3"].append(printed.value)
        for name in ("kl", "unexpected_bernstein", "first_order"):
            columns[name].append(model.certificate(of="posterior", bound=name).value)
    title = f"mnist17, alignment loss, {n_seeds} priors"
    print(f"\n{title:<36}{'mean':>8}{'range':>18}  reference")
    for name, values in columns.items():
        spread = f"{min(values):.3f} to {max(values):.3f}"
        print(f"{name:<36}{np.mean(values):>8.3f}{spread:>18}  {REFERENCE_BOUNDS[name]:.3f}")


def reaches(value, relation, bar):
    """Return whether a measurement meets its goal."""
    if relation == ">=":
        return value >= bar
    return value <= bar if relation == "<=" else abs(value / bar - 1) <= 0.15


def main():
    """Measure every row, print the table and save it as JSON."""
    groups = [lambda name=name: loss_rows(name) for name in SHAPES]
    groups += [structured_rows, scaling_rows, start_rows]
    if Path(os.environ.get("PACFOURIER_DATA", ""), "adult.data.gz").is_file():
        groups += [adult_rows, farm_rows, landmark_rows, certificate_rows]
    else:
        print("The rows on real data are skipped: set PACFOURIER_DATA to the folder of the data.")
    start, rows = time.perf_counter(), []
    print(f"{'what':<48}{'measured':>12}  goal")
    for group in groups:
        for row, value, relation, bar, unit in group():
            met = reaches(value, relation, bar)
            rows.append({"row": row, "value": float(value), "unit": unit, "bar": bar, "met": met})
            verdict = "" if met else "  MISSED"
            print(f"{row:<48}{value:>9.2f} {unit:<2}  {relation} {bar:g}{verdict}", flush=True)
    if certificate_rows in groups:
        print_certificate_table()
    path = Path("results", "bench.json")
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(rows, indent=2, default=bool))
    print(f"Table saved to {path} after {time.perf_counter() - start:.0f} s.")


if __name__ == "__main__":
    main()
