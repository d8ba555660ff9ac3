"""The data sets of the comparison of predictors, and how they are split."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import (
    load_diabetes,
    load_digits,
    load_wine,
    make_classification,
    make_friedman1,
    make_friedman2,
    make_friedman3,
)
from sklearn.model_selection import train_test_split

from reproduction.datasets import load, mnist

N_SPLITS = 5
IMAGES = ("digits", "mnist17", "mnist49", "mnist56", "mnist10")


class Rows(NamedTuple):
    """Rows with their labels."""

    X: Any
    y: np.ndarray


class DataSet(NamedTuple):
    """A data set: its rows, or a training and a test part if it comes with them."""

    rows: Rows
    test: Rows | None = None
    is_amount: bool = False
    fresh: Rows | None = None
    """Rows of neither part, from which a certificate can be made."""


def parts_of(table: DataSet, split: int) -> tuple[Rows, Rows]:
    """Return the training and test part: the given ones, or 75 % and 25 % of the rows."""
    if table.test is not None:
        return table.rows, table.test
    X, y = table.rows
    classes = None if table.is_amount else y
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=0.25, random_state=split, stratify=classes
    )
    return Rows(X, y), Rows(X_test, y_test)


def _classes(load_rows: Callable[..., Any]) -> DataSet:
    return DataSet(Rows(*load_rows(return_X_y=True)))


def _paper_set(name: str) -> DataSet:
    X, y, n_train = load(name)
    if n_train is None:
        return DataSet(Rows(X, y))
    return DataSet(Rows(X[:n_train], y[:n_train]), Rows(X[n_train:], y[n_train:]))


def _mnist_part(part: str) -> Rows:
    images, digits = mnist(part)
    return Rows(images / np.float32(255), digits.astype(int))


def _ten_digits() -> DataSet:
    """Return 50,000 images to learn from, the test images, and 10,000 fresh ones."""
    X, y = _mnist_part("train")
    learned, fresh = Rows(X[:50_000], y[:50_000]), Rows(X[50_000:], y[50_000:])
    return DataSet(learned, test=_mnist_part("t10k"), fresh=fresh)


def _diabetes() -> DataSet:
    return DataSet(Rows(*load_diabetes(return_X_y=True)), is_amount=True)


def _friedman(make: Callable[..., Any], noise: float) -> DataSet:
    return DataSet(Rows(*make(2000, noise=noise, random_state=0)), is_amount=True)


def _letters() -> DataSet:
    """Return a table like the letters of the UCI repository: 26 classes in 16 columns."""
    X, y = make_classification(
        20_000, 16, n_informative=12, n_redundant=0, n_classes=26, class_sep=2.0, random_state=0
    )
    return DataSet(Rows(X, y))


SETS: dict[str, Callable[[], DataSet]] = {
    "breast": partial(_paper_set, "breast"),
    "wine": partial(_classes, load_wine),
    "digits": partial(_classes, load_digits),
    "diabetes": _diabetes,
    "friedman1": partial(_friedman, make_friedman1, 1.0),
    "friedman2": partial(_friedman, make_friedman2, 50.0),
    "friedman3": partial(_friedman, make_friedman3, 0.1),
    "ads": partial(_paper_set, "ads"),
    "adult": partial(_paper_set, "adult"),
    "mnist17": partial(_paper_set, "mnist17"),
    "mnist49": partial(_paper_set, "mnist49"),
    "mnist56": partial(_paper_set, "mnist56"),
    "mnist10": _ten_digits,
    "farm": partial(_paper_set, "farm"),
}
# Sets that only the times of predictions are measured on, besides some of those above.
TIMED_SETS: dict[str, Callable[[], DataSet]] = {
    "digits": SETS["digits"],
    "letter-like": _letters,
    "adult": SETS["adult"],
}
AMOUNTS = ("diabetes", "friedman1", "friedman2", "friedman3")
ONE_TEST_PART = ("adult", "mnist10")
