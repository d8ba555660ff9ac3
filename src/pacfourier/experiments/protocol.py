"""The paper's protocol: split the rows, select on the validation part, then test once."""

import warnings
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from pacfourier.datasets import Dataset
from pacfourier.experiments.linear_svm import squared_hinge_path
from pacfourier.experiments.plan import CS, Profile, seed_of

# The seed of the authors' code: with it, split 0 has the rows of the paper.
FIRST_SPLIT_SEED = 42
# Ten bandwidths are tried. Each is certified at a tenth of this, so the best may be picked later.
EPSILON = 0.05


class TrainValidTest(NamedTuple):
    """The training, validation and test part of a data set."""

    X_train: Any
    X_valid: Any
    X_test: Any
    y_train: np.ndarray
    y_valid: np.ndarray
    y_test: np.ndarray


def split_parts(data: Dataset, split: int) -> TrainValidTest:
    """Split a data set as the paper does.

    The test part is the one that comes with the data, or else a quarter of the rows. A fifth of
    the other rows is the validation part.
    """
    state = np.random.RandomState(FIRST_SPLIT_SEED + split)
    if data.n_train is None:
        X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=0.25, random_state=state)
    else:
        X, X_test = data.X[: data.n_train], data.X[data.n_train :]
        y, y_test = data.y[: data.n_train], data.y[data.n_train :]
    X_train, X_valid, y_train, y_valid = train_test_split(X, y, test_size=0.2, random_state=state)
    return TrainValidTest(X_train, X_valid, X_test, y_train, y_valid, y_test)


class Bench:
    """One split of a data set with its bandwidth, and the fitted models that methods share.

    The bandwidth is missing if no method needs it.
    """

    def __init__(
        self, dataset: str, split: int, parts: TrainValidTest, gamma: float | None
    ) -> None:
        self.dataset, self.split, self.parts = dataset, split, parts
        self.gamma: Any = gamma
        self._fitted: dict[str, Any] = {}

    def seed(self, *key: object) -> int:
        """Return the seed of a task on this split."""
        return seed_of(self.dataset, self.split, *key)

    def fitted(self, estimator: Any) -> Any:
        """Fit an estimator on the training part, once for each set of parameters."""
        key = repr(estimator)
        if key not in self._fitted:
            self._fitted[key] = clone(estimator).fit(self.parts.X_train, self.parts.y_train)
        return self._fitted[key]

    @cached_property
    def training_and_validation(self) -> Any:
        """The training rows followed by the validation rows."""
        parts = [self.parts.X_train, self.parts.X_valid]
        return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.vstack(parts)


class Setting(NamedTuple):
    """A setting that is tried: its features, and how to map the test part if it is selected."""

    parameters: dict[str, float]
    train: np.ndarray
    valid: np.ndarray
    map_test: Callable[[], np.ndarray]
    certify: Callable[[], dict[str, float]] = dict


class Selected(NamedTuple):
    """The setting and the C with the fewest validation errors."""

    setting: Setting
    C: float
    weights: np.ndarray
    valid_errors: int
    train_errors: int


def select(
    settings: Iterable[Setting],
    parts: TrainValidTest,
    selections: dict[str, Callable[[dict[str, float]], bool]],
) -> dict[str, Selected]:
    """Return the setting with the fewest validation errors, for each selection.

    Ties go to the first setting. The features of a setting are computed once, for all C.

    Parameters
    ----------
    settings : iterable of Setting
    parts : TrainValidTest
    selections : dict from str to callable
        By name: a function that says whether the parameters of a setting may compete.
    """
    best: dict[str, Selected] = {}
    for setting in settings:
        path = squared_hinge_path(setting.train, parts.y_train, CS)
        errors = [n_errors(setting.valid, weights, parts.y_valid) for weights in path]
        first = int(np.argmin(errors))
        for name, admits in selections.items():
            if not admits(setting.parameters):
                continue
            if name not in best or errors[first] < best[name].valid_errors:
                train_errors = n_errors(setting.train, path[first], parts.y_train)
                best[name] = Selected(setting, CS[first], path[first], errors[first], train_errors)
    return best


def n_errors(features: np.ndarray, weights: np.ndarray, y: np.ndarray) -> int:
    """Return the number of errors of a linear model; the last weight is the intercept."""
    scores = features @ weights[:-1] + weights[-1]
    return int(np.count_nonzero(np.where(scores > 0, 1, -1) != y))


def selected_row(selected: Selected, parts: TrainValidTest) -> dict[str, Any]:
    """Return the results of a selected setting. Only here is the test part used."""
    features = selected.setting.map_test()
    return {
        "settings": dict(selected.setting.parameters),
        "C": selected.C,
        "train_errors": selected.train_errors,
        "valid_errors": selected.valid_errors,
        "test_errors": n_errors(features, selected.weights, parts.y_test),
        **part_sizes(parts),
        **selected.setting.certify(),
    }


def part_sizes(parts: TrainValidTest) -> dict[str, int]:
    """Return the number of rows of each part."""
    return {
        "n_train": len(parts.y_train),
        "n_valid": len(parts.y_valid),
        "n_test": len(parts.y_test),
    }


def svm_grid_row(parts: TrainValidTest, gamma: float, profile: Profile) -> dict[str, Any]:
    """Return the best C of an RBF SVM at one bandwidth, and its validation errors."""
    X, y = parts.X_train[: profile.svm_rows], parts.y_train[: profile.svm_rows]
    gram = np.exp(-gamma * euclidean_distances(X, squared=True))
    valid_gram = np.exp(-gamma * euclidean_distances(parts.X_valid, X, squared=True))
    errors = []
    for C in CS:
        machine = SVC(kernel="precomputed", C=C, max_iter=profile.svm_iterations, cache_size=1000)
        with warnings.catch_warnings():
            # A machine that reaches its limit of steps is used as it is.
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(gram, y)
        errors.append(int(np.count_nonzero(machine.predict(valid_gram) != parts.y_valid)))
    first = int(np.argmin(errors))
    found = {"C": CS[first], "valid_errors": errors[first]}
    return {"settings": {"gamma": gamma}, **found, **part_sizes(parts), "n_train": len(y)}


def svm_row(parts: TrainValidTest, gamma: float, C: float) -> dict[str, Any]:
    """Return the errors of the RBF SVM that is fitted on the whole training part."""
    machine = SVC(gamma=gamma, C=C, cache_size=1000).fit(parts.X_train, parts.y_train)

    def errors(X: Any, y: np.ndarray) -> int:
        return int(np.count_nonzero(machine.predict(X) != y))

    return {
        "settings": {"gamma": gamma},
        "C": C,
        "train_errors": errors(parts.X_train, parts.y_train),
        "valid_errors": errors(parts.X_valid, parts.y_valid),
        "test_errors": errors(parts.X_test, parts.y_test),
        **part_sizes(parts),
    }
