"""The real tables, their splits, and the two ways in which they are made harder.

The tables are gzipped CSV files with the column ``target`` last, in ``$PACFOURIER_DATA/tables``,
beside a ``manifest.csv`` with their names and tasks. They are not part of the repository.
"""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

FOLDER = Path(os.environ.get("PACFOURIER_DATA", "data")) / "tables"
# Tables that are made harder, which the issue names. Some are not among the 77.
CATEGORY_TABLES = ("airfoil", "phoneme", "texture", "credit_data", "german")
WILD_TABLES = ("airfoil", "phoneme", "texture", "vehicle", "spambase")
N_USELESS, N_LEVELS, MOST_HARDER_ROWS = 25, 8, 3000
WILD_FACTOR = 1e4
# Tables with more rows, or more numbers, have one split only.
LARGE_TABLE, MOST_NUMBERS = 6000, 10**6
SPLITS = (0, 1, 2)
# Below so many rows, a third of them chooses a recipe instead of a fifth.
SMALL_SAMPLE = 1000
FEWEST_OF_A_CLASS = 4


class RealTable(NamedTuple):
    """A table: its columns, its labels (class numbers or amounts), and what they are."""

    name: str
    X: pd.DataFrame
    y: np.ndarray
    is_amount: bool


class Parts(NamedTuple):
    """Numbers of the rows to learn from, to choose a recipe with, and to report errors on."""

    learned: np.ndarray
    aside: np.ndarray
    reported: np.ndarray


def table_names() -> list[str]:
    """Return the names of the tables in the folder, none without it."""
    manifest = FOLDER / "manifest.csv"
    return pd.read_csv(manifest)["name"].tolist() if manifest.exists() else []


def is_amount(name: str) -> bool:
    """Return whether the labels of a table are amounts."""
    tasks = pd.read_csv(FOLDER / "manifest.csv").set_index("name")["task"]
    return tasks.get(name, "classification") == "regression"


def read_table(name: str) -> RealTable:
    """Return a table by its name."""
    X = pd.read_csv(FOLDER / f"{name}.csv.gz")
    y = X.pop("target")
    if is_amount(name):
        return RealTable(name, X, y.to_numpy(dtype=float), True)
    return RealTable(name, X, pd.factorize(y.astype(str), sort=True)[0], False)


def splits_of(n_rows: int, n_columns: int) -> tuple[int, ...]:
    """Return the numbers of the splits of a table: all three of a small one."""
    is_large = n_rows > LARGE_TABLE or n_rows * n_columns > MOST_NUMBERS
    return SPLITS[:1] if is_large else SPLITS


def cut(
    rows: np.ndarray, table: RealTable, size: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in two parts. Classes keep their shares if each has at least four rows."""
    labels = None if table.is_amount else table.y[rows]
    if labels is not None and np.unique(labels, return_counts=True)[1].min() < FEWEST_OF_A_CLASS:
        labels = None
    first, second = train_test_split(rows, test_size=size, random_state=seed, stratify=labels)
    return first, second


def parts_of(table: RealTable, split: int, *, on_test: bool = False) -> Parts:
    """Return the parts of a split. Without ``on_test``, the test rows are not touched."""
    train, reported = cut(np.arange(len(table.y)), table, 0.25, split)
    if not on_test:
        train, reported = cut(train, table, 0.25, split)
    aside_share = 0.2 if len(train) >= SMALL_SAMPLE else 1 / 3
    learned, aside = cut(train, table, aside_share, split)
    return Parts(learned, aside, reported)


def harder_table(name: str, way: str, seed: int) -> RealTable:
    """Return a table of at most 3,000 rows, as it is ("clean") or with useless categories."""
    table = read_table(name)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(table.y))[:MOST_HARDER_ROWS]
    X = table.X.iloc[rows].reset_index(drop=True)
    if way == "useless":
        levels = np.array([f"level {k}" for k in range(N_LEVELS)])
        noise = levels[rng.integers(N_LEVELS, size=(len(rows), N_USELESS))]
        X = X.join(pd.DataFrame(noise, columns=[f"useless {k}" for k in range(N_USELESS)]))
    return table._replace(X=X, y=table.y[rows])


def with_wild_values(table: RealTable, learned: np.ndarray, seed: int) -> RealTable:
    """Return the table with one wild value in each numeric column, in rows to learn from."""
    rng, X = np.random.default_rng([seed, 7]), table.X.copy()
    for name in X.select_dtypes("number").columns:
        largest = X[name].abs().max()
        X[name] = X[name].astype(float)
        X.loc[rng.choice(learned), name] = WILD_FACTOR * max(largest, 1e-12)
    return table._replace(X=X)


def opened(name: str, split: int, *, on_test: bool = False) -> tuple[RealTable, Parts]:
    """Return a table and its parts. Names such as "airfoil+useless" are tables made harder."""
    plain, _, way = name.partition("+")
    table = harder_table(plain, way, split) if way else read_table(plain)
    parts = parts_of(table, split, on_test=on_test)
    return (with_wild_values(table, parts.learned, split) if way == "wild" else table), parts
