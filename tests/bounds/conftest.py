"""Laws whose truth is known exactly, and the naive statistics of their samples."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy import optimize, special


@dataclass(frozen=True)
class FiniteLaw:
    """A law on finitely many labelled points, and the frequencies that are its hypotheses."""

    points: np.ndarray  # (n_types, d)
    labels: np.ndarray  # (n_types,)
    masses: np.ndarray  # (n_types,)
    frequencies: np.ndarray  # (n_hypotheses, d)

    @property
    def pair_losses(self) -> np.ndarray:
        """Losses of shape (n_hypotheses, n_types, n_types), from the definition."""
        same = np.where(self.labels[:, None] == self.labels[None, :], 1.0, -1.0)
        phases = self.points @ self.frequencies.T
        cosines = np.cos(phases[:, None, :] - phases[None, :, :])
        return np.moveaxis((1.0 - same[:, :, None] * cosines) / 2.0, -1, 0)

    @property
    def units(self) -> np.ndarray:
        """Vectors y exp(i w.x) of shape (n_hypotheses, n_types), labels in {-1, 1}."""
        return self.labels * np.exp(1j * self.frequencies @ self.points.T)

    @property
    def truth(self) -> np.ndarray:
        """True alignment loss of each hypothesis."""
        return self.pair_losses @ self.masses @ self.masses

    def samples(self, n: int) -> Iterator[tuple[float, np.ndarray]]:
        """Yield every sample of n points, up to order, with its exact probability."""
        types = range(len(self.masses))
        for sample in combinations_with_replacement(types, n):
            counts = np.bincount(sample, minlength=len(self.masses))
            orders = math.factorial(n) / np.prod(special.factorial(counts))
            yield float(orders * np.prod(self.masses**counts)), np.asarray(sample)


@pytest.fixture(scope="session")
def finite_law() -> Callable[..., FiniteLaw]:
    def draw(rng: np.random.Generator, *, n_classes: int = 2) -> FiniteLaw:
        n_types = int(rng.integers(2, 5))
        labels = rng.integers(n_classes, size=n_types)
        return FiniteLaw(
            # Half of the laws have constant inputs, where the variance is largest.
            points=rng.normal(size=(n_types, 2)) * rng.integers(2),
            labels=2 * labels - 1 if n_classes == 2 else labels,
            masses=rng.dirichlet(np.full(n_types, rng.choice([0.5, 3.0]))),
            frequencies=rng.normal(size=(3, 2)) * 1.5,
        )

    return draw


@pytest.fixture(scope="session")
def posterior_of_divergence() -> Callable[[int, float], np.ndarray]:
    """Return a posterior over n equally likely hypotheses with a given divergence."""

    def two_levels(n: int, top: float) -> np.ndarray:
        return np.concatenate([[top], np.full(n - 1, (1.0 - top) / (n - 1))])

    def solve(n: int, divergence: float) -> np.ndarray:
        def excess(top: float) -> float:
            return math.log(n) - float(special.entr(two_levels(n, top)).sum()) - divergence

        return two_levels(n, optimize.brentq(excess, 1.0 / n, 1.0, xtol=1e-15))

    return solve
