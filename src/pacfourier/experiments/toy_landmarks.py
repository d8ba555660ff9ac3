"""The toy experiment: five landmarks in the plane, before and after learning."""

from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from pacfourier import PBLandmarks, RBFLandmarks
from pacfourier.datasets.toy_samples import TOYS
from pacfourier.experiments.plan import seed_of

N_LANDMARKS, N_FREQUENCIES, GAMMA, C = 5, 20, 2.0, 100.0
N_TRAIN, N_TEST = 300, 2000
TOY_METHODS = ("RBF-R", "PB-R")


def toy_maps(seed: int) -> dict[str, Any]:
    """Return the kernel map and the learned map, unfitted, with the same random landmarks."""
    common: dict[str, Any] = {"n_landmarks": N_LANDMARKS, "gamma": GAMMA, "random_state": seed}
    prior = RBFLandmarks("random", **common)
    learned = PBLandmarks("random", n_frequencies=N_FREQUENCIES, beta=1.0, **common)
    return dict(zip(TOY_METHODS, (prior, learned), strict=True))


def toy_sample(dataset: str, split: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the training sample of a split."""
    return TOYS[dataset](N_TRAIN, seed_of(dataset, split, "train"))


def toy_row(dataset: str, split: int, method: str) -> dict[str, Any]:
    """Return the errors of a linear SVM on one of the two maps."""
    X, y = toy_sample(dataset, split)
    X_test, y_test = TOYS[dataset](N_TEST, seed_of(dataset, split, "test"))
    model = toy_maps(seed_of(dataset, split, "landmarks"))[method].fit(X, y)
    machine = LinearSVC(C=C, dual=False).fit(model.transform(X), y)
    return {
        "settings": {"gamma": GAMMA},
        "C": C,
        "train_errors": int(np.count_nonzero(machine.predict(model.transform(X)) != y)),
        "test_errors": int(np.count_nonzero(machine.predict(model.transform(X_test)) != y_test)),
        "n_train": N_TRAIN,
        "n_test": N_TEST,
    }
