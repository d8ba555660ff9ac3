"""Random rows, labels and weights, in every form that users pass them in."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone


class Case(NamedTuple):
    """A sample: the rows as a plain array, and the same rows in some other form."""

    X: NDArray[Any]
    passed: Any
    y: NDArray[Any]
    weights: NDArray[Any] | None
    target_type: str


# One fit in ten is repeated, which must change nothing.
REPEATED = 10
KINDS = ("binary", "multiclass", "multilabel", "continuous", "multioutput")


def random_case(seed: int, kinds: tuple[str, ...] = KINDS, *, weighted: bool = True) -> Case:
    """Return a sample with labels of one of some kinds."""
    rng = np.random.default_rng([seed, 0])
    X = random_rows(rng)
    kind = str(rng.choice(kinds))
    weights = None
    if weighted and rng.random() < 0.3:
        # At least four rows count.
        weights = rng.uniform(0.1, 4, len(X)) * (rng.permutation(len(X)) < 4 + 0.8 * len(X))
    y, target_type = random_labels(rng, kind, len(X), weights)
    return Case(X, rewritten(X, rng), y, weights, target_type)


def random_rows(rng: np.random.Generator) -> NDArray[Any]:
    """Return rows of any size, scale, shift, sparsity and floating type."""
    n_rows, n_columns = int(rng.integers(8, 40)), int(rng.integers(1, 12))
    X = rng.standard_normal((n_rows, n_columns)) * 10.0 ** rng.integers(-9, 10)
    X *= rng.random(X.shape) < rng.choice([0.3, 1.0])
    if rng.random() < 0.2:
        X += X.std() * 10.0 ** rng.integers(0, 5)
    if rng.random() < 0.1:
        X[:, 0] = 0
    if rng.random() < 0.1:
        X = X[rng.integers(0, n_rows, n_rows)]
    return X.astype(rng.choice([np.float64, np.float32]))


def random_labels(
    rng: np.random.Generator, kind: str, n_rows: int, weights: NDArray[Any] | None
) -> tuple[NDArray[Any], str]:
    """Return labels, and what to pass as ``target_type``."""
    if kind in ("continuous", "multioutput"):
        shape = (n_rows,) if kind == "continuous" else (n_rows, 2)
        return rng.normal(3, 10.0 ** rng.integers(-3, 4), shape), str(
            rng.choice(["auto", "continuous"])
        )
    if kind == "multilabel":
        return np.resize(np.eye(3, dtype=int), (n_rows, 3)), str(rng.choice(["auto", kind]))
    n_classes = 2 if kind == "binary" else int(rng.integers(2, 4))
    # Every class has rows that count.
    order = np.argsort(weights == 0, kind="stable") if weights is not None else np.arange(n_rows)
    y = np.empty(n_rows, dtype=int)
    y[order] = np.resize(np.arange(n_classes), n_rows)
    forms = [y, y - 1, y.astype(float), y.astype(np.int8), y.astype(np.uint64), y == 1]
    forms += [y.astype(str), np.asarray([f"class {each}" for each in y], dtype=object)]
    return forms[rng.integers(len(forms))], kind if kind != "multiclass" else "auto"


def rewritten(X: NDArray[Any], rng: np.random.Generator) -> Any:
    """Return the same rows in another order in memory, another type or a sparse format."""
    forms = [
        np.ascontiguousarray, np.asfortranarray, np.ndarray.tolist, pd.DataFrame, read_only,
        strided, sparse.csr_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array,
        sparse.lil_array, unsorted, repeated, long_indices,
    ]  # fmt: skip
    return forms[rng.integers(len(forms))](X)


def read_only(X: NDArray[Any]) -> NDArray[Any]:
    """Return an array that cannot be written to."""
    copy = X.copy()
    copy.setflags(write=False)
    return copy


def strided(X: NDArray[Any]) -> NDArray[Any]:
    """Return a view with gaps between its numbers. The gaps hold NaN."""
    wide = np.full((2 * len(X), 3 * X.shape[1]), np.nan, dtype=X.dtype)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def unsorted(X: NDArray[Any]) -> sparse.csr_array:
    """Return a CSR matrix whose entries of a row stand from right to left."""
    rows = [np.flatnonzero(row)[::-1] for row in X]
    values = np.concatenate([row[columns] for row, columns in zip(X, rows, strict=True)])
    starts = np.cumsum([0, *map(len, rows)])
    return sparse.csr_array((values, np.concatenate(rows), starts), shape=X.shape)


def repeated(X: NDArray[Any]) -> sparse.csr_array:
    """Return a CSR matrix with every entry in two halves, which add up exactly."""
    once = sparse.csr_array(X)
    halves = (np.repeat(once.data / 2, 2), np.repeat(once.indices, 2), 2 * once.indptr)
    return sparse.csr_array(halves, shape=X.shape)


def long_indices(X: NDArray[Any]) -> sparse.csr_array:
    """Return a CSR matrix with indices of 64 bits."""
    matrix = sparse.csr_array(X)
    matrix.indices = matrix.indices.astype(np.int64)
    matrix.indptr = matrix.indptr.astype(np.int64)
    return matrix


def contents(X: Any) -> list[Any]:
    """Return copies of all that a matrix holds, to see later whether it has changed."""
    if sparse.issparse(X) and X.format in ("csr", "csc"):
        return [X.data.copy(), X.indices.copy(), X.indptr.copy()]
    return [X.toarray() if sparse.issparse(X) else np.array(X)]


def fitted(model: Any, case: Case, seed: int, results: Callable[[Any, Case], list[Any]]) -> Any:
    """Fit a model. The matrix of the caller must not change, and a second fit must be equal."""
    before = contents(case.passed)
    with_weights = {} if case.weights is None else {"sample_weight": case.weights}
    model.fit(case.passed, case.y, **with_weights)
    for now, then in zip(contents(case.passed), before, strict=True):
        np.testing.assert_array_equal(now, then)
    if seed % REPEATED == 0:
        again = clone(model).fit(case.passed, case.y, **with_weights)
        for second, first in zip(results(again, case), results(model, case), strict=True):
            np.testing.assert_array_equal(second, first)
    return model
