"""Two toy tasks in the plane."""

import numpy as np
from sklearn.datasets import make_moons


def two_moons(n_samples, seed):
    """Return two interleaved half circles."""
    return make_moons(n_samples, noise=0.15, random_state=seed)


def four_squares(n_samples, seed):
    """Return a noisy two by two chequerboard."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n_samples, 2))
    return X + 0.05 * rng.standard_normal(X.shape), (X[:, 0] * X[:, 1] > 0).astype(int)


TOYS = {"two moons": two_moons, "four squares": four_squares}
