"""The seven binary tasks of Letarte, Morvant and Germain (2019), prepared as in the paper.

README.md has their licences and citations. "digits49", two of scikit-learn's small digits, is not
in the paper. Like breast, it needs no file.
"""

import gzip
import hashlib
import io
import os
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_svmlight_file
from sklearn.preprocessing import OneHotEncoder

from reproduction.published import table

# The public files: an address, and the SHA-256 of the uncompressed content.
FILES = {row["name"]: row for row in table("files.csv")}
# The largest file has 47 MB. Reading stops here, so that a gzip of zeros cannot fill the memory.
MOST_BYTES = 2**27


def contents(name: str) -> bytes:
    """Return the uncompressed content of a public file, after checking its SHA-256.

    The file, or its gzip, is looked for in the folder that ``PACFOURIER_DATA`` names, then in the
    cache of pooch. If it is in neither, pooch downloads it.
    """
    folder = os.environ.get("PACFOURIER_DATA")
    found = [Path(folder, form) for form in (name, f"{name}.gz")] if folder else []
    path = next(filter(Path.is_file, found), None) or _downloaded(name)
    content, sha256 = b"", FILES[name]["sha256"]
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            content = file.read(MOST_BYTES)
        seen = hashlib.sha256(content).hexdigest()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        seen = f"a damaged gzip file ({error})"
    if seen != sha256:
        raise ValueError(
            f"{path} must have content of SHA-256 {sha256}, got {seen}. "
            "Remove the file or replace it by a good copy."
        )
    return content


def _downloaded(name: str) -> Path:
    address = FILES[name]["address"]
    try:
        # Here, because only downloads need it.
        import pooch

        file = address.rpartition("/")[2]
        return Path(pooch.retrieve(address, None, file, pooch.os_cache("pacfourier")))
    except (ImportError, OSError) as error:
        raise FileNotFoundError(
            f"{name} must be in the folder that PACFOURIER_DATA names, or be downloaded by pooch "
            f"from {address}, but {error}. Get it by other means and put it in that folder."
        ) from error


class Dataset(NamedTuple):
    """A binary task, with labels -1 and +1."""

    X: Any
    y: np.ndarray
    n_train: int | None
    """Number of rows, from the first, of the training set that comes with the data; or None."""


def load(name: str) -> Dataset:
    """Return a data set of ``DATASETS``.

    >>> load("digits49").X.shape
    (361, 64)
    """
    if name not in DATASETS:
        raise ValueError(f"data set must be one of {', '.join(DATASETS)}, got {name!r}.")
    return DATASETS[name]()


def _breast() -> Dataset:
    X, y = load_breast_cancer(return_X_y=True)
    return Dataset(X, 2 * y - 1, None)


def _digits_49() -> Dataset:
    X, digits = load_digits(return_X_y=True)
    return _pair(X / 16.0, digits, 4, 9)


def _pair(images: np.ndarray, digits: np.ndarray, lower: int, higher: int) -> Dataset:
    """Return the rows of the lower digit (-1), then those of the higher digit (+1)."""
    rows = np.concatenate([np.flatnonzero(digits == digit) for digit in (lower, higher)])
    return Dataset(images[rows], np.where(digits[rows] == higher, 1, -1), None)


def _ads() -> Dataset:
    """Leave out the first four columns, the only ones with missing values."""
    rows = [line.strip().split(",") for line in contents("ad.data").decode().splitlines()]
    X = np.array([row[4:-1] for row in rows], dtype=np.float64)
    return Dataset(X, np.array([1 if row[-1] == "ad." else -1 for row in rows]), None)


ADULT_NUMBERS = (0, 2, 4, 10, 11, 12)


def _adult() -> Dataset:
    """Keep numbers as they are and one-hot encode the categories; nothing is scaled."""
    train, test = (contents(f"adult.{part}").decode().splitlines() for part in ("data", "test"))
    # The first line of the test file is a comment.
    rows = [[line.split(", ") for line in part if line] for part in (train, test[1:])]
    cells = np.array(rows[0] + rows[1])
    is_number = np.isin(np.arange(14), ADULT_NUMBERS)
    numbers = cells[:, :14][:, is_number].astype(np.float64)
    indicators = OneHotEncoder(sparse_output=False).fit_transform(cells[:, :14][:, ~is_number])
    y = np.where(np.char.startswith(cells[:, 14], ">50K"), 1, -1)
    return Dataset(np.hstack([numbers, indicators]), y, len(rows[0]))


def _farm() -> Dataset:
    X, y = load_svmlight_file(io.BytesIO(contents("farm-ads-vect")), n_features=54877)
    return Dataset(sparse.csr_matrix(X), y.astype(int), None)


def mnist(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the images of a part of MNIST ("train" or "t10k") and their digits, as bytes."""
    images = np.frombuffer(contents(f"{part}-images-idx3-ubyte"), dtype=np.uint8, offset=16)
    digits = np.frombuffer(contents(f"{part}-labels-idx1-ubyte"), dtype=np.uint8, offset=8)
    return images.reshape(-1, 784), digits


def _mnist_pair(lower: int, higher: int) -> Dataset:
    """Order the images of each digit as the authors did: training images, then test images."""
    images, digits = map(np.concatenate, zip(mnist("train"), mnist("t10k"), strict=True))
    pair = _pair(images, digits, lower, higher)
    return pair._replace(X=pair.X / 255.0)


DATASETS: dict[str, Callable[[], Dataset]] = {
    "ads": _ads,
    "adult": _adult,
    "breast": _breast,
    "farm": _farm,
    "mnist17": partial(_mnist_pair, 1, 7),
    "mnist49": partial(_mnist_pair, 4, 9),
    "mnist56": partial(_mnist_pair, 5, 6),
    "digits49": _digits_49,
}
PAPER_DATASETS = tuple(DATASETS)[:7]
