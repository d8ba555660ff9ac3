"""Compare draws on ten classes: test errors and fit times.

The data sets are scikit-learn's digits and MNIST with all ten digits. A quarter of the rows of
digits, or MNIST's own test images, are for testing, and a fifth of the others for validation. The
linear model is scikit-learn's ``RidgeClassifier``, with its ridge chosen on validation data.

Errors are means over splits, in %. Times are the mean seconds of one fit at the largest D.
PBRFF is fitted twice, with each draw, so that both times can be compared. GibbsRFF takes long on
MNIST, so it only runs if you name it.
"""

import argparse
import time
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import train_test_split

from pacfourier import PBRFF, RFF, GibbsRFF
from ten_digits import ten_digits

WIDTHS = (5, 10, 20, 50, 100)
RIDGES = tuple(10.0**k for k in range(-4, 2))
MAPS: dict[str, Any] = {
    "RFF, median bandwidth": lambda width: RFF(width, gamma="median"),
    "PBRFF": PBRFF,
    "PBRFF, complementary": lambda width: PBRFF(width, draw="complementary"),
    "GibbsRFF": GibbsRFF,
}


def split_parts(dataset: str, split: int) -> tuple[np.ndarray, ...]:
    """Return training, validation and test rows, then their labels."""
    if dataset == "digits":
        X, y = load_digits(return_X_y=True)
        X, X_test, y, y_test = train_test_split(X / 16, y, test_size=0.25, random_state=split)
    else:
        images, digits = ten_digits(60_000)
        X, y = (np.concatenate(each[:2]) for each in (images, digits))
        X_test, y_test = images[2], digits[2]
    X_train, X_valid, y_train, y_valid = train_test_split(X, y, test_size=0.2, random_state=split)
    return X_train, X_valid, X_test, y_train, y_valid, y_test


def test_error(model: Any, parts: tuple[np.ndarray, ...]) -> float:
    """Return the test error in % of the ridge with the smallest validation error."""
    train, valid, test = (model.transform(X).astype(np.float64) for X in parts[:3])
    machines = [RidgeClassifier(alpha=a, solver="cholesky").fit(train, parts[3]) for a in RIDGES]
    best = max(machines, key=lambda each: each.score(valid, parts[4]))
    return 100 - 100 * best.score(test, parts[5])


def measured(name: str, parts: tuple[np.ndarray, ...], seed: int) -> tuple[list[float], float]:
    """Return the test error at each width, and the seconds of a fit at the largest."""
    model = MAPS[name](max(WIDTHS)).set_params(random_state=seed)
    start = time.perf_counter()
    model.fit(parts[0], parts[3])
    elapsed = time.perf_counter() - start
    models = [
        model.redraw(n_frequencies=width)
        if hasattr(model, "redraw")
        else MAPS[name](width).set_params(random_state=seed).fit(parts[0], parts[3])
        for width in WIDTHS
    ]
    return [test_error(each, parts) for each in models], elapsed


def main() -> None:
    """Print one table per data set."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", nargs="+", choices=("digits", "mnist"), default=("digits",))
    parser.add_argument("--methods", nargs="+", choices=tuple(MAPS), default=tuple(MAPS)[:3])
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    # The first fits compile the loops, which must not be timed.
    small = split_parts("digits", 0, None)
    for name in options.methods:
        measured(name, tuple(part[:200] for part in small), 0)
    for dataset in options.datasets:
        header = "".join(f" D = {width} |" for width in WIDTHS)
        print(f"\n| {dataset} |{header} fit at D = {WIDTHS[-1]}, s |", flush=True)
        print("| --- |" + " --- |" * (len(WIDTHS) + 1))
        found: dict[str, list[Any]] = {name: [] for name in options.methods}
        for split in range(options.splits):
            parts = split_parts(dataset, split)
            for name in options.methods:
                found[name].append(measured(name, parts, split))
        for name, results in found.items():
            errors = np.array([each[0] for each in results])
            spread = (
                errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
                if len(errors) > 1
                else errors[0] * 0
            )
            cells = "".join(
                f" {m:.2f} ± {s:.2f} |" for m, s in zip(errors.mean(axis=0), spread, strict=True)
            )
            print(f"| {name} |{cells} {np.mean([each[1] for each in results]):.2f} |", flush=True)


if __name__ == "__main__":
    main()
