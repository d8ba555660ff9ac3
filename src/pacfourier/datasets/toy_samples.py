"""Two toy tasks in the plane."""

import numpy as np
from sklearn.datasets import make_moons


def two_moons(n_samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two interleaved half circles with noise."""
    return make_moons(n_samples, noise=0.15, random_state=seed)


def four_squares(n_samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a two by two chequerboard with noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n_samples, 2))
    return X + 0.05 * rng.standard_normal(X.shape), (X[:, 0] * X[:, 1] > 0).astype(int)


TOYS = {"two moons": two_moons, "four squares": four_squares}
