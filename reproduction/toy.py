"""The toy experiment: five landmarks in the plane, before and after learning."""

from typing import Any

import numpy as np
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from pacfourier import PBLandmarks, RBFLandmarks
from reproduction.plan import N_TOY_LANDMARKS, seed_of

N_FREQUENCIES, GAMMA, C = 20, 2.0, 100.0
N_TRAIN, N_TEST = 300, 2000


def four_squares(n_samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a two by two chequerboard with noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n_samples, 2))
    return X + 0.05 * rng.standard_normal(X.shape), (X[:, 0] * X[:, 1] > 0).astype(int)


def toy_sample(toy: str, split: int, part: str = "train") -> tuple[np.ndarray, np.ndarray]:
    """Return the training or test sample of a split."""
    n_samples, seed = {"train": N_TRAIN, "test": N_TEST}[part], seed_of(toy, split, part)
    if toy == "two moons":
        return make_moons(n_samples, noise=0.15, random_state=seed)
    return four_squares(n_samples, seed)


def toy_row(toy: str, split: int, method: str) -> dict[str, Any]:
    """Return the errors of a linear SVM on the similarities to five random landmarks.

    They are kernel values ("RBF-R"), or learned for the same landmarks ("PB-R").
    """
    seed = seed_of(toy, split, "landmarks")
    common: dict[str, Any] = {"n_landmarks": N_TOY_LANDMARKS, "gamma": GAMMA, "random_state": seed}
    landmarks: Any = RBFLandmarks("random", **common)
    if method == "PB-R":
        landmarks = PBLandmarks("random", n_frequencies=N_FREQUENCIES, beta=1.0, **common)
    model = make_pipeline(landmarks, LinearSVC(C=C, dual=False)).fit(*toy_sample(toy, split))
    row: dict[str, Any] = {"settings": {"gamma": GAMMA}, "C": C}
    for part in ("train", "test"):
        X, y = toy_sample(toy, split, part)
        row[f"{part}_errors"] = int(np.count_nonzero(model.predict(X) != y))
        row[f"n_{part}"] = len(y)
    return row
