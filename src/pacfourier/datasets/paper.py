"""The seven binary tasks of Letarte, Morvant and Germain (2019), read from their public files.

The files are looked for in the folder that the variable ``PACFOURIER_DATA`` names; breast
cancer ships with scikit-learn and needs none.
"""

import gzip
import os
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_svmlight_file
from sklearn.preprocessing import OneHotEncoder


class Dataset(NamedTuple):
    """A task with labels -1 and +1."""

    X: Any
    y: np.ndarray
    n_train: int | None
    """Rows before this one are the training set that comes with the data; None if none does."""


def load(name: str, folder: str | os.PathLike | None = None) -> Dataset:
    """Return one of the paper's datasets.

    Parameters
    ----------
    name : {"ads", "adult", "breast", "farm", "mnist17", "mnist49", "mnist56"}
    folder : path, default=None
        Where the public files are. None means the variable ``PACFOURIER_DATA``.
    """
    if name not in DATASETS:
        raise ValueError(f"name must be one of {tuple(DATASETS)}, got {name!r}.")
    folder = folder or os.environ.get("PACFOURIER_DATA", "")
    return DATASETS[name](Path(folder))


def _open(folder: Path, file: str):
    path = folder / file
    if not path.is_file():
        raise FileNotFoundError(
            f"{file} must be in the folder that PACFOURIER_DATA names, got {str(folder)!r}."
        )
    return gzip.open(path, "rb")


def _load_breast(folder: Path) -> Dataset:
    del folder
    X, y = load_breast_cancer(return_X_y=True)
    return Dataset(X, 2 * y - 1, None)


def _load_ads(folder: Path) -> Dataset:
    """Drop the first four columns, the only ones with missing values."""
    with _open(folder, "ad.data.gz") as file:
        rows = [line.decode().strip().split(",") for line in file]
    X = np.array([row[4:-1] for row in rows], dtype=np.float64)
    return Dataset(X, np.array([1 if row[-1] == "ad." else -1 for row in rows]), None)


ADULT_NUMBERS = (0, 2, 4, 10, 11, 12)


def _load_adult(folder: Path) -> Dataset:
    """Keep numbers as they are and code categories as indicators; nothing is scaled."""
    tables = [
        _adult_table(folder, "adult.data.gz", skip=0),
        _adult_table(folder, "adult.test.gz", skip=1),
    ]
    table = np.concatenate(tables)
    is_number = np.isin(np.arange(14), ADULT_NUMBERS)
    numbers = table[:, :14][:, is_number].astype(np.float64)
    indicators = OneHotEncoder(sparse_output=False).fit_transform(table[:, :14][:, ~is_number])
    y = np.where(np.char.startswith(table[:, 14], ">50K"), 1, -1)
    return Dataset(np.hstack([numbers, indicators]), y, len(tables[0]))


def _adult_table(folder: Path, file: str, skip: int) -> np.ndarray:
    with _open(folder, file) as stream:
        lines = stream.read().decode().splitlines()[skip:]
    return np.array([line.split(", ") for line in lines if line])


def _load_farm(folder: Path) -> Dataset:
    with _open(folder, "farm-ads-vect.gz") as file:
        X, y = load_svmlight_file(file, n_features=54877)
    return Dataset(sparse.csr_matrix(X), y.astype(int), None)


def _load_mnist_pair(folder: Path, lower: int, higher: int) -> Dataset:
    """Stack the lower digit (-1) and the higher (+1), training images before test images."""
    parts = [_mnist_part(folder, part) for part in ("train", "t10k")]
    images = np.concatenate([images for images, _ in parts])
    digits = np.concatenate([digits for _, digits in parts])
    rows = np.concatenate([np.flatnonzero(digits == digit) for digit in (lower, higher)])
    return Dataset(images[rows] / 255.0, np.where(digits[rows] == higher, 1, -1), None)


def _mnist_part(folder: Path, part: str) -> tuple[np.ndarray, np.ndarray]:
    with _open(folder, f"{part}-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), dtype=np.uint8, offset=16).reshape(-1, 784)
    with _open(folder, f"{part}-labels-idx1-ubyte.gz") as file:
        return images, np.frombuffer(file.read(), dtype=np.uint8, offset=8)


DATASETS = {
    "ads": _load_ads,
    "adult": _load_adult,
    "breast": _load_breast,
    "farm": _load_farm,
    "mnist17": partial(_load_mnist_pair, lower=1, higher=7),
    "mnist49": partial(_load_mnist_pair, lower=4, higher=9),
    "mnist56": partial(_load_mnist_pair, lower=5, higher=6),
}
