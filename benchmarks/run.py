"""Measure speed and memory, and compare them with our goals.

Every row of the table is a time ratio within this run, a time, or a peak of memory. Each is
repeated until it is decided, as ``measure.py`` says. The real data sets are read from the folder
``PACFOURIER_DATA``. Without it, the rows that need them are skipped.

``--write`` keeps the table in a file for this kind of machine in ``docs/benchmarks``, and writes
the tables of all kinds into ``docs/scale.md``.
"""

import argparse
import json
import os
import re
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from machine import description
from measure import Row, measured, peak_megabytes, python_seconds, seconds, time_ratio
from pacfourier import (
    PBRFF,
    RFF,
    BoostedRFF,
    FourierClassifier,
    PBLandmarks,
    alignment_losses,
    bounds,
)
from pages import markdown, write_between_marks
from reproduction.datasets import load
from ten_digits import ten_digits
from twins import (
    bare_product,
    plain_landmark_fit,
    plain_landmark_transform,
    plain_losses,
    product_in_blocks,
)

SHAPES = {"adult": (26_048, 108), "mnist": (8_268, 784)}
PLAIN_GOALS = {"adult": 25.0, "mnist": 7.5}
RESULTS, PAGE = Path("docs", "benchmarks"), Path("docs", "scale.md")


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

    plain = time_ratio(lambda: plain_losses(X_double, y, frequencies_double), ours)
    yield Row(f"plain NumPy / losses, {name} shape", plain, ">=", PLAIN_GOALS[name], "x")
    bare = time_ratio(ours, lambda: bare_product(X, frequencies, out))
    yield Row(f"losses / bare float32 product, {name} shape", bare, "<=", 1.2, "x")
    yield peak_row(f"peak extra memory of losses, {name} shape", ours, 200)


def adult_rows():
    """Measure the peak memory, a redraw and the transform on adult, N = 20,000."""
    data = load("adult")
    X, y = data.X[: data.n_train][:26_048], data.y[: data.n_train][:26_048]
    model = PBRFF(100, random_state=0)
    model.fit(X[:100], y[:100])
    yield peak_row("peak extra memory of fit, adult", lambda: model.fit(X, y), 200)
    ratio = time_ratio(lambda: model.fit(X, y), lambda: model.redraw(beta=2.0))
    yield Row("fit / redraw, adult", ratio, ">=", 100.0, "x")
    sampler = RBFSampler(n_components=200, gamma=1e-3, random_state=0).fit(X)
    ratio = time_ratio(lambda: sampler.transform(X), lambda: model.transform(X))
    yield Row("RBFSampler / transform, 200 columns", ratio, ">=", 1.0, "x")


def farm_rows():
    """Measure a fit of a sparse, very wide data set, N = 20,000."""
    data = load("farm")
    X, y = data.X[:2_485], data.y[:2_485]
    model = PBRFF(100, random_state=0)
    model.fit(X[:50], y[:50])
    elapsed = partial(seconds, lambda: model.fit(X, y))
    # A third of the time of the first version.
    yield Row("fit, farm (sparse, d = 54,877)", elapsed, "<=", 2.7, "s")
    candidates = model.pool_[:1_000]

    def products():
        for _ in range(20):
            X_single @ candidates.T

    X_single = X.astype(np.float32)
    ratio = time_ratio(products, lambda: model.fit(X, y))
    yield Row("SciPy's sparse float32 product / fit, farm", ratio, ">=", 1.0, "x")
    yield peak_row("peak extra memory of fit, farm", lambda: model.fit(X, y), 1_000)
    boosted = BoostedRFF(20, random_state=0)
    yield from boosted_rows("BoostedRFF(20), farm", boosted, X, y, 10.0)


def digit_rows():
    """Measure a fit of BoostedRFF on 50,000 images of ten classes."""
    images, digits = ten_digits(60_000)
    model = BoostedRFF(100, random_state=0)
    model.fit(images[0][:10_000], digits[0][:10_000])
    yield from boosted_rows("BoostedRFF(100), MNIST", model, images[0], digits[0], 12.0)


def boosted_rows(name, model, X, y, goal):
    """Measure a fit, also against a network with as many hidden units that makes 30 passes."""
    network = MLPClassifier(model.n_frequencies, max_iter=30, random_state=0)

    def fit():
        return model.fit(X, y)

    def learn():
        with warnings.catch_warnings(category=ConvergenceWarning, action="ignore"):
            network.fit(X, y)

    yield Row(f"fit of {name}", partial(seconds, fit), "<=", goal, "s")
    ratio = time_ratio(learn, fit)
    yield Row(f"network / fit of {name}", ratio, ">=", 1.0, "x")
    yield peak_row(f"peak extra memory of fit of {name}", fit, 500)


def large_rows():
    """Measure a fit of a million rows, N = 20,000."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000_000, 50), dtype=np.float32)
    y = np.where(X[:, 0] > 0, 1, -1)
    model = PBRFF(100, random_state=0)

    def fit():
        return model.fit(X, y)

    yield Row("fit, 1,000,000 x 50", partial(seconds, fit), "<=", 8.0, "s")
    frequencies = model.pool_[:]
    ratio = time_ratio(lambda: product_in_blocks(X, frequencies), fit)
    yield Row("bare float32 product / fit, 1,000,000 x 50", ratio, ">=", 1.0, "x")
    yield peak_row("peak extra memory of fit, 1,000,000 x 50", fit, 200)


def prediction_rows():
    """Compare predictions with a linear model and with a bare product, D = 100, d = 108."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000_000, 108), dtype=np.float32)
    few, y = X[:2_000], X[:2_000, 0] > 0
    model = FourierClassifier(alpha=3.0, piecewise=False, random_state=0).fit(few, y)
    linear, row = LogisticRegression().fit(few, y), X[:1]

    def one_by_one(predictor):
        return lambda: [predictor.predict(row) for _ in range(1_000)]

    ratio = time_ratio(one_by_one(model), one_by_one(linear))
    yield Row("predict / LogisticRegression, one row", ratio, "<=", 1.0, "x")
    frequencies = model.frequencies_
    out = np.empty((len(X), len(frequencies)), dtype=np.float32)
    ratio = time_ratio(lambda: model.predict(X), lambda: bare_product(X, frequencies, out))
    yield Row("predict / bare float32 product, 10^6 rows", ratio, "<=", 1.2, "x")
    yield peak_row("peak extra memory of predict, 10^6 rows", lambda: model.predict(X), 50)
    fourier = RFF(100, random_state=0).fit(few, y)
    ratio = time_ratio(lambda: fourier.transform(X), lambda: bare_product(X, frequencies, out))
    yield Row("transform / bare float32 product, 10^6 rows", ratio, "<=", 1.2, "x")
    # Its result alone takes 763 MB.
    yield peak_row("peak extra memory of transform, 10^6 rows", lambda: fourier.transform(X), 800)


def scaling_rows():
    """Measure the cost of doubling the samples or the candidates: 2 means linear."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40_000, 50), dtype=np.float32)
    y = np.where(X[:, 0] > 0, 1, -1)

    def fit(n_samples, n_candidates):
        model = PBRFF(n_candidates=n_candidates, gamma=0.01, random_state=0)
        return lambda: model.fit(X[:n_samples], y[:n_samples])

    ratio = time_ratio(fit(40_000, 8_192), fit(20_000, 8_192))
    yield Row("cost of twice the samples", ratio, "within 15% of", 2.0, "x")
    ratio = time_ratio(fit(20_000, 16_384), fit(20_000, 8_192))
    yield Row("cost of twice the candidates", ratio, "within 15% of", 2.0, "x")


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

    def compilation():
        with tempfile.TemporaryDirectory() as cache:
            cold = python_seconds(code, NUMBA_CACHE_DIR=cache)
            return cold - python_seconds(code, NUMBA_CACHE_DIR=cache)

    yield Row("first-call compilation, cold", compilation, "<=", 5.0, "s")
    timed = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
    ours, theirs = (
        timed.format(f"from {module} import {name}")
        for module, name in (("pacfourier", "PBRFF"), ("sklearn.kernel_approximation", "Nystroem"))
    )
    yield Row(
        "import PBRFF / import Nystroem",
        lambda: python_seconds(ours) / python_seconds(theirs),
        "<=",
        1.5,
        "x",
    )


def landmark_rows():
    """Measure landmark maps of adult: 10 % landmarks, 64 frequencies each."""
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

    def landmark_ratio():
        return seconds(plain) / n_slice * len(rows) / seconds(lambda: model.fit_transform(X, y))

    yield Row("plain loop / fit_transform of a landmark", landmark_ratio, ">=", 16.0, "x")
    yield peak_row(
        "peak memory of fit_transform, landmarks", lambda: model.fit_transform(X, y), 500
    )


def certificate_rows():
    """Measure four certificates of two classes with N = 20,000 candidates."""
    X, y = mnist17_samples()
    model = PBRFF(target_type="binary", random_state=0).fit(X, y)

    def certify():
        return [model.certificate(bound=name) for name in ("auto", "kl", "catoni_grid", "norm")]

    certify()
    yield Row("four certificates, N = 20,000", lambda: 1e3 * seconds(certify), "<=", 50.0, "ms")


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


def peak_row(name, call, goal):
    """Return a row for the memory that a call needs at most, in megabytes."""
    return Row(name, partial(peak_megabytes, call), "<=", goal, "MB", most_rounds=1)


def groups():
    """Return functions that yield rows: those on real data only if the data are there."""
    found = [partial(loss_rows, name) for name in SHAPES]
    found += [scaling_rows, start_rows, large_rows, prediction_rows]
    if Path(os.environ.get("PACFOURIER_DATA", ""), "adult.data.gz").is_file():
        return [*found, adult_rows, farm_rows, digit_rows, landmark_rows, certificate_rows]
    print("The rows on real data are skipped: set PACFOURIER_DATA to the folder of the data.")
    return found


def results():
    """Measure and print every row, and return them as plain data."""
    rows = []
    print(f"{'what':<44}{'median':>10}    {'interval':<19}{'rounds':>6}  goal")
    for group in groups():
        for row in group():
            found = measured(row)
            rows.append({**row._asdict(), **found._asdict()})
            del rows[-1]["measure"]
            interval = f"{found.low:.3g} to {found.high:.3g}"
            print(
                f"{row.name:<44}{found.median:>10.3g} {row.unit:<3}{interval:<19}"
                f"{found.n_rounds:>6}  {row.relation} {row.goal:g}: {found.verdict}",
                flush=True,
            )
    return rows


def kept_results(machine, rows):
    """Write the rows into the file of this kind of machine."""
    kind = re.sub("[^a-z0-9]+", "-", f"{machine['CPU']} {machine['threads']} threads".lower())
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"machine": machine, "rows": rows}, indent=1)
    (RESULTS / f"{kind.strip('-')}.json").write_text(text + "\n")


def page_part(kept):
    """Return the tables of several kinds of machines in Markdown."""
    header = ["what", "median", "95 % interval", "goal", ""]
    parts = []
    for machine, rows in kept:
        lines = [
            [
                row["name"],
                f"{row['median']:.3g} {row['unit']}",
                f"{row['low']:.3g} to {row['high']:.3g}",
                f"{row['relation']} {row['goal']:g}",
                row["verdict"],
            ]
            for row in rows
        ]
        about = ", ".join(f"{name} {value}" for name, value in machine.items())
        parts.append(f"{about}:\n\n{markdown(header, lines)}")
    return "\n\n".join(parts)


def main():
    """Measure every row, and keep the results if wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep them, and write the page")
    options = parser.parse_args()
    machine, start = description(), time.perf_counter()
    print("\n".join(f"{name}: {value}" for name, value in machine.items()), flush=True)
    rows = results()
    if "PACFOURIER_DATA" in os.environ:
        print_certificate_table()
    print(f"All rows took {time.perf_counter() - start:.0f} s.")
    if options.write:
        kept_results(machine, rows)
        kept = [json.loads(path.read_text()).values() for path in sorted(RESULTS.glob("*.json"))]
        write_between_marks(PAGE, page_part(kept))


if __name__ == "__main__":
    main()
