"""The paper's protocol: split the rows, select on the validation part, then test once."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from reproduction.datasets import Dataset
from reproduction.linear_svm import squared_hinge_path
from reproduction.plan import CS, GAMMAS, Profile, seed_of

# The seed of the authors' code: with it, split 0 has the rows of the paper.
FIRST_SPLIT_SEED = 42

Row = dict[str, Any]


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


@dataclass(frozen=True, eq=False)
class Bench:
    """One split of a data set, the bandwidth that its SVM chose, and what is to be tried."""

    profile: Profile
    dataset: str
    split: int
    parts: TrainValidTest
    gamma: float

    def seed(self, *key: object) -> int:
        """Return the seed of a task on this split."""
        return seed_of(self.dataset, self.split, *key)


class Setting(NamedTuple):
    """A setting that is tried: its features, and a function that maps the test part."""

    parameters: dict[str, float]
    train: np.ndarray
    valid: np.ndarray
    map_test: Callable[[], np.ndarray]


def select(settings: Iterable[Setting], parts: TrainValidTest) -> Row:
    """Choose the setting and the C with the fewest validation errors, and return their errors.

    Ties go to the first setting, then to the smallest C. The features of a setting are computed
    once, for all C. Only what is selected uses the test part.
    """
    best: tuple[int, float, np.ndarray, Setting] | None = None
    for setting in settings:
        path = squared_hinge_path(setting.train, parts.y_train, CS)
        errors = [n_errors(setting.valid, weights, parts.y_valid) for weights in path]
        first = int(np.argmin(errors))
        if best is None or errors[first] < best[0]:
            best = errors[first], CS[first], path[first], setting
    if best is None:
        raise ValueError("settings must have at least one setting, got none.")
    valid_errors, C, weights, chosen = best
    return {
        "settings": chosen.parameters,
        "C": C,
        "train_errors": n_errors(chosen.train, weights, parts.y_train),
        "valid_errors": valid_errors,
        "test_errors": n_errors(chosen.map_test(), weights, parts.y_test),
        **part_sizes(parts),
    }


def n_errors(features: np.ndarray, weights: np.ndarray, y: np.ndarray) -> int:
    """Return the number of errors of a linear model; the last weight is the intercept."""
    scores = features @ weights[:-1] + weights[-1]
    return int(np.count_nonzero(np.where(scores > 0, 1, -1) != y))


def part_sizes(parts: TrainValidTest) -> dict[str, int]:
    """Return the number of rows of each part."""
    return {f"n{part[1:]}": len(getattr(parts, part)) for part in ("y_train", "y_valid", "y_test")}


def svm_row(parts: TrainValidTest, profile: Profile) -> Row:
    """Choose gamma and C of an RBF SVM on the validation part, fit it on the training part.

    Duplicates go to the smallest C, then to the smallest bandwidth.
    """
    tried = [(*pair, gamma) for gamma in GAMMAS for pair in svm_errors(parts, gamma, profile)]
    _, C, gamma = min(tried)
    machine = SVC(gamma=gamma, C=C, cache_size=1000).fit(parts.X_train, parts.y_train)
    row: Row = {"settings": {"gamma": gamma}, "C": C, **part_sizes(parts)}
    for part in ("train", "valid", "test"):
        predicted = machine.predict(getattr(parts, f"X_{part}"))
        row[f"{part}_errors"] = int(np.count_nonzero(predicted != getattr(parts, f"y_{part}")))
    return row


def svm_errors(
    parts: TrainValidTest, gamma: float, profile: Profile
) -> Iterable[tuple[int, float]]:
    """Yield the validation errors of an RBF SVM at one bandwidth, with each C."""
    X, y = parts.X_train[: profile.svm_rows], parts.y_train[: profile.svm_rows]
    gram = np.exp(-gamma * euclidean_distances(X, squared=True))
    valid_gram = np.exp(-gamma * euclidean_distances(parts.X_valid, X, squared=True))
    for C in CS:
        machine = SVC(kernel="precomputed", C=C, max_iter=profile.svm_iterations, cache_size=1000)
        with warnings.catch_warnings():
            # A machine that reaches its limit of steps is used as it is.
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(gram, y)
        yield int(np.count_nonzero(machine.predict(valid_gram) != parts.y_valid)), C
