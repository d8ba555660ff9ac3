"""The seven binary tasks of Letarte, Morvant and Germain (2019), prepared as in the paper.

There are also three pairs of scikit-learn's small digits, which need no files.
"""

import io
import os
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_svmlight_file
from sklearn.preprocessing import OneHotEncoder

from pacfourier.datasets.public_files import contents
from pacfourier.datasets.sources import SOURCES, Source

PAPER_DATASETS = ("ads", "adult", "breast", "farm", "mnist17", "mnist49", "mnist56")


class Dataset(NamedTuple):
    """A binary task, with labels -1 and +1."""

    X: Any
    y: np.ndarray
    n_train: int | None
    """Number of rows, from the first, of the training set that comes with the data; or None."""


def load(name: str, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Return a data set.

    Breast cancer and the small digits come with scikit-learn. The others need public files, plain
    or gzipped. Each file is looked for in the folder, then in the cache of pooch. If it is in
    neither, it is downloaded to the cache, which needs ``pip install "pacfourier[datasets]"``. The
    SHA-256 of the content of every file is checked.

    Parameters
    ----------
    name : str
        One of ``DATASETS``: "ads", "adult", "breast", "farm", "mnist17", "mnist49" and "mnist56"
        are those of the paper; the others are "digits17", "digits49" and "digits56".
    folder : path, default=None
        Where the public files are. None means the folder that the environment variable
        ``PACFOURIER_DATA`` names.

    Returns
    -------
    data : Dataset

    Examples
    --------
    >>> load("digits49").X.shape
    (361, 64)
    """
    source = describe(name)
    if name in EMBEDDED:
        return EMBEDDED[name]()
    return FROM_FILES[name](contents(source, folder))


def describe(name: str) -> Source:
    """Return the title, licence, citation and public files of a data set.

    Parameters
    ----------
    name : str
        One of ``DATASETS``.

    Returns
    -------
    source : Source

    Examples
    --------
    >>> describe("farm").licence
    'CC BY 4.0'
    """
    if name not in SOURCES:
        raise ValueError(f"name must be one of {tuple(SOURCES)}, got {name!r}.")
    return SOURCES[name]


def _breast() -> Dataset:
    X, y = load_breast_cancer(return_X_y=True)
    return Dataset(X, 2 * y - 1, None)


def _digits_pair(lower: int, higher: int) -> Dataset:
    X, digits = load_digits(return_X_y=True)
    return _pair(X / 16.0, digits, lower, higher)


def _pair(images: np.ndarray, digits: np.ndarray, lower: int, higher: int) -> Dataset:
    """Return the rows of the lower digit (-1), then those of the higher digit (+1)."""
    rows = np.concatenate([np.flatnonzero(digits == digit) for digit in (lower, higher)])
    return Dataset(images[rows], np.where(digits[rows] == higher, 1, -1), None)


def _ads(files: dict[str, bytes]) -> Dataset:
    """Leave out the first four columns, the only ones with missing values."""
    rows = [line.strip().split(",") for line in files["ad.data"].decode().splitlines()]
    X = np.array([row[4:-1] for row in rows], dtype=np.float64)
    return Dataset(X, np.array([1 if row[-1] == "ad." else -1 for row in rows]), None)


ADULT_NUMBERS = (0, 2, 4, 10, 11, 12)


def _adult(files: dict[str, bytes]) -> Dataset:
    """Keep numbers as they are and one-hot encode the categories; nothing is scaled."""
    tables = [
        _adult_table(files["adult.data"], skip=0),
        _adult_table(files["adult.test"], skip=1),
    ]
    table = np.concatenate(tables)
    is_number = np.isin(np.arange(14), ADULT_NUMBERS)
    numbers = table[:, :14][:, is_number].astype(np.float64)
    indicators = OneHotEncoder(sparse_output=False).fit_transform(table[:, :14][:, ~is_number])
    y = np.where(np.char.startswith(table[:, 14], ">50K"), 1, -1)
    return Dataset(np.hstack([numbers, indicators]), y, len(tables[0]))


def _adult_table(content: bytes, skip: int) -> np.ndarray:
    lines = content.decode().splitlines()[skip:]
    return np.array([line.split(", ") for line in lines if line])


def _farm(files: dict[str, bytes]) -> Dataset:
    X, y = load_svmlight_file(io.BytesIO(files["farm-ads-vect"]), n_features=54877)
    return Dataset(sparse.csr_matrix(X), y.astype(int), None)


def _mnist_pair(files: dict[str, bytes], lower: int, higher: int) -> Dataset:
    """Order the images of each digit as the authors did: training images, then test images."""
    parts = ("train", "t10k")
    images = [_bytes_after(16, files[f"{part}-images-idx3-ubyte"]) for part in parts]
    digits = [_bytes_after(8, files[f"{part}-labels-idx1-ubyte"]) for part in parts]
    pair = _pair(np.concatenate(images).reshape(-1, 784), np.concatenate(digits), lower, higher)
    return pair._replace(X=pair.X / 255.0)


def _bytes_after(header: int, content: bytes) -> np.ndarray:
    return np.frombuffer(content, dtype=np.uint8, offset=header)


EMBEDDED: dict[str, Callable[[], Dataset]] = {
    "breast": _breast,
    "digits17": partial(_digits_pair, lower=1, higher=7),
    "digits49": partial(_digits_pair, lower=4, higher=9),
    "digits56": partial(_digits_pair, lower=5, higher=6),
}

FROM_FILES: dict[str, Callable[[dict[str, bytes]], Dataset]] = {
    "ads": _ads,
    "adult": _adult,
    "farm": _farm,
    "mnist17": partial(_mnist_pair, lower=1, higher=7),
    "mnist49": partial(_mnist_pair, lower=4, higher=9),
    "mnist56": partial(_mnist_pair, lower=5, higher=6),
}

DATASETS = (*FROM_FILES, *EMBEDDED)
