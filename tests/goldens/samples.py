"""The small samples of the goldens. They ship with scikit-learn, and nothing is downloaded."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

N_LEARNED, N_FRESH = 240, 120


class Sample(NamedTuple):
    """Rows to learn from, and rows that nothing is learned from."""

    X: Any
    y: Any
    fresh: Any
    fresh_labels: Any


def split(X, y):
    """Return the first rows as those to learn from, and the next ones as fresh rows."""
    first, end = N_LEARNED, N_LEARNED + N_FRESH
    return Sample(X[:first], y[:first], X[first:end], y[first:end])


def mislabelled(y, n_classes):
    """Return labels of which every eighth is that of the next class.

    A model that makes no error may be scaled by any large factor, and rounding would choose it.
    """
    return np.where(np.arange(len(y)) % 8 == 0, (y + 1) % n_classes, y)


def two_classes():
    """Return breast cancers. Logarithms bring columns to one size and learn nothing from rows."""
    X, y = load_breast_cancer(return_X_y=True)
    return split(np.log1p(X), mislabelled(y, 2))


def several_classes():
    """Return the digits 0 to 3, which have many pixels of zero."""
    X, y = load_digits(n_class=4, return_X_y=True)
    return split(X / 16, np.array(["zero", "one", "two", "three"])[mislabelled(y, 4)])


def amounts():
    """Return logarithms of the progress of diabetes."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    return split(np.log1p(X), np.log(y))


def frame():
    """Return a table with categories, dates and gaps, whose class is told by all of them."""
    import pandas as pd

    rng = np.random.default_rng(0)
    n = N_LEARNED + N_FRESH
    age, zone = rng.integers(18, 80, n), rng.choice(["north", "east", "west"], n)
    income = rng.lognormal(10, 1, n)
    is_late = age + 20 * (zone == "east") + 5 * np.log(income) + rng.normal(0, 10, n) > 105
    days = pd.to_timedelta(rng.integers(0, 700, n), unit="D")
    table = pd.DataFrame(
        {
            "age": age,
            "income": np.where(rng.random(n) < 0.2, np.nan, income),
            "zone": pd.Categorical(zone),
            "since": pd.Timestamp("2024-01-01") + days,
        }
    )
    table.loc[::7, ["zone", "since"]] = None
    return split(table, np.where(is_late, "late", "in time"))


CLASSES = {"two classes": two_classes, "several classes": several_classes}
AMOUNTS = {"amounts": amounts}
EVERYTHING = CLASSES | AMOUNTS
FRAMES = {"frame": frame}
