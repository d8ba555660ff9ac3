"""Errors, sizes and speeds of exported predictors: ``python -m benchmarks.export``.

Headers are compiled by gcc -O2 and run on the whole test part of MNIST, one row at a time on one
core. The time of a prediction is the least of several passes over all rows. The rivals are the C
code that m2cgen and treelite write for more and more trees of LightGBM, until their error is not
larger than ours. They need ``pip install "pacfourier[bench]"``. The results go into docs/export.md.
Fitted models are kept in results/export, so that a second run only measures.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import joblib
import numpy as np
from benchmarks.pages import markdown, write_between_marks
from benchmarks.predictors_data import SETS, Rows, parts_of

from pacfourier import FourierClassifier
from pacfourier.export import quantised, to_c

PAGE = Path(__file__).parents[1] / "docs" / "export.md"
CACHE = Path("results/export")
SEED, N_SEEDS, N_PASSES = 0, 5, 40
SMALL, TEN, LARGE = 12, 58, 500
N_TREES = (50, 100, 200, 400, 800)
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "model.h"

int main(void)
{
    const long n_rows = N_ROWS, n_columns = N_COLUMNS;
    INPUT *rows = malloc(sizeof(INPUT) * (size_t)(n_rows * n_columns));
    int *found = malloc(sizeof(int) * (size_t)n_rows);
    double best = 1e9;
    if (fread(rows, sizeof(INPUT), (size_t)(n_rows * n_columns), stdin) == 0) return 1;
    for (int pass = 0; pass < N_PASSES; ++pass) {
        struct timespec start, stop;
        clock_gettime(CLOCK_MONOTONIC, &start);
        for (long i = 0; i < n_rows; ++i) found[i] = PREDICT(rows + i * n_columns);
        clock_gettime(CLOCK_MONOTONIC, &stop);
        const double took = (double)(stop.tv_sec - start.tv_sec) * 1e6
                          + (double)(stop.tv_nsec - start.tv_nsec) * 1e-3;
        if (took < best) best = took;
    }
    printf("%.6f\\n", best / (double)n_rows);
    for (long i = 0; i < n_rows; ++i) printf("%d\\n", found[i]);
    return 0;
}
"""
M2CGEN = """
static int rival(double *row)
{
    double shares[2];
    score(row, shares);
    return shares[1] > shares[0];
}
"""
# The 1 asks for the score before the sigmoid, whose sign decides.
TREELITE = """
static int rival(double *row)
{
    double score = 0;
    predict((union Entry *)row, 1, &score);
    return score > 0;
}
"""


class Code(NamedTuple):
    """A C header, the type of its rows, and the function that predicts the number of a class."""

    text: str
    kind: str
    function: str = "model_predict"


class Measured(NamedTuple):
    """The error on test rows, and the microseconds of one prediction."""

    error: float
    microseconds: float


KINDS = {"float": np.float32, "unsigned char": np.uint8, "double": np.float64}


def kept(name: str, make: Callable[[], Any]) -> Any:
    """Return an object made by an earlier run, or make and keep it."""
    path = CACHE / f"{name}.joblib"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        joblib.dump(make(), path)
    return joblib.load(path)


def measured(code: Code, X: np.ndarray, y: np.ndarray) -> Measured:
    """Return what a compiled header does on rows; y holds the numbers of their classes."""
    words = {"N_ROWS": len(X), "N_COLUMNS": X.shape[1], "N_PASSES": N_PASSES}
    macros = [f"-D{name}={value}" for name, value in words.items()]
    macros += [f"-DINPUT={code.kind}", f"-DPREDICT={code.function}"]
    rows = np.ascontiguousarray(X, dtype=KINDS[code.kind]).tobytes()
    with TemporaryDirectory() as folder:
        Path(folder, "model.h").write_text(code.text)
        Path(folder, "main.c").write_text(DRIVER)
        command = ["gcc", "-std=gnu99", "-O2", *macros, "main.c", "-lm", "-o", "main"]
        subprocess.run(command, cwd=folder, check=True)
        done = subprocess.run([f"{folder}/main"], input=rows, capture_output=True, check=True)
    microseconds, *found = done.stdout.split()
    return Measured(float(np.mean(np.array(found, dtype=int) != y)), float(microseconds))


def fitted(name: str, size: int, rows: Rows, seed: int = SEED) -> FourierClassifier:
    """Return our classifier."""
    return kept(
        f"{name}-{size}-{seed}",
        lambda: FourierClassifier(size, random_state=seed).fit(rows.X, rows.y),
    )


def integers(name: str, size: int, rows: Rows, seed: int = SEED) -> Any:
    """Return our classifier in four bits. Pixels are shares of 255, so bytes are pixels."""
    model = fitted(name, size, rows, seed)
    return kept(
        f"{name}-{size}-{seed}-integers", lambda: quantised(model, *rows, bits=4, bounds=(0, 1))
    )


def trees(name: str, size: int, rows: Rows) -> Any:
    """Return trees of LightGBM."""
    import lightgbm

    def fit() -> Any:
        model = lightgbm.LGBMClassifier(n_estimators=size, random_state=SEED, verbose=-1)
        return model.fit(rows.X, rows.y)

    return kept(f"{name}-{size}-trees", fit)


def m2cgen_code(model: Any) -> Code:
    """Return the C code that m2cgen writes for trees."""
    import m2cgen

    sys.setrecursionlimit(100_000)
    return Code(m2cgen.export_to_c(model) + M2CGEN, "double", "rival")


def treelite_code(model: Any) -> Code:
    """Return the C code that treelite writes for trees."""
    import tl2cgen
    import treelite

    found = treelite.frontend.from_lightgbm(model.booster_)
    with TemporaryDirectory() as folder:
        tl2cgen.generate_c_code(found, dirpath=folder, params={})
        header, main = (Path(folder, name).read_text() for name in ("header.h", "main.c"))
    return Code(header + main.replace('#include "header.h"', "") + TREELITE, "double", "rival")


RIVALS = {"m2cgen": m2cgen_code, "treelite": treelite_code}


def line(what: str, result: Measured, size: str) -> list[str]:
    """Return one line of the table, and print it."""
    words = [what, f"{100 * result.error:.2f} %", size, f"{result.microseconds:.2f}"]
    print(*words, flush=True)
    return words


def our_lines(name: str, title: str, size: int) -> list[list[str]]:
    """Measure our model of one size, in integers and in float."""
    rows, test = parts_of(SETS[name](), SEED)
    model, small = fitted(name, size, rows), integers(name, size, rows)
    y = np.searchsorted(model.classes_, test.y)
    exact = measured(Code(small.to_c(), "unsigned char"), small.rows(test.X), y)
    whole = measured(Code(to_c(model), "float"), test.X, y)
    what = f"{title}, {size} frequencies"
    return [
        line(f"{what}, integers of 4 bits", exact, f"{small.n_bytes:,} B"),
        line(f"{what}, float", whole, float_size(model)),
    ]


def large_line() -> list[str]:
    """Measure the large model of ten digits in float."""
    rows, test = parts_of(SETS["mnist10"](), SEED)
    model = fitted("mnist10", LARGE, rows)
    found = measured(Code(to_c(model), "float"), test.X, test.y)
    return line(f"ten digits, {LARGE} frequencies, float", found, float_size(model))


def tree_lines() -> list[list[str]]:
    """Measure trees of several sizes on 4 or 9, up to those that are as good as ours."""
    rows, test = parts_of(SETS["mnist49"](), SEED)
    ours = 1 - fitted("mnist49", SMALL, rows).score(*test)
    y, found = np.searchsorted(np.unique(rows.y), test.y), []
    for size in N_TREES:
        model = trees("mnist49", size, rows)
        for rival, code in RIVALS.items():
            result = measured(code(model), test.X, y)
            what = f"4 or 9, {size} trees of LightGBM by {rival}"
            found.append(line(what, result, "in the code"))
        if result.error <= ours:
            break
    return found


def spread() -> str:
    """Return the errors of the small integers with several seeds, as a sentence."""
    rows, test = parts_of(SETS["mnist49"](), SEED)
    models = [integers("mnist49", SMALL, rows, seed) for seed in range(N_SEEDS)]
    errors = [100 * np.mean(model.predict(test.X) != test.y) for model in models]
    sizes = [model.n_bytes for model in models]
    return (
        f"With {N_SEEDS} seeds of the fit, the integers for 4 or 9 have errors of "
        f"{min(errors):.2f} to {max(errors):.2f} %, {np.mean(errors):.2f} % on average, and "
        f"{min(sizes):,} to {max(sizes):,} bytes."
    )


def float_size(model: FourierClassifier) -> str:
    """Return the kilobytes of the weights and amplitudes of a model in single precision."""
    found = model.model_
    n_weights = found.weights[found.weights.any(axis=1)].size
    return f"{4 * (n_weights + found.cosines.size + found.sines.size) / 1000:.0f} kB"


def main() -> None:
    """Write the table into the page."""
    header = ["MNIST", "test error", "constants", "microseconds per prediction"]
    lines = [
        *our_lines("mnist49", "4 or 9", SMALL),
        *tree_lines(),
        *our_lines("mnist10", "ten digits", TEN),
        large_line(),
    ]
    text = f"{markdown(header, lines)}\n\n{spread()}"
    write_between_marks(PAGE, text)


if __name__ == "__main__":
    main()
