r"""Posteriors of smallest mean loss within a ball around the uniform prior.

The ball is one of Kullback-Leibler divergence, where the answer is a Gibbs posterior, or of a
power divergence :math:`D_\mu`, where it is a truncated power of the gap to a threshold.
"""

from bisect import bisect_left
from dataclasses import dataclass
from numbers import Real

import numpy as np

from pacfourier.arrays import FloatArray
from pacfourier.bounds.divergences import kl_divergence, log_power_mean
from pacfourier.pacbayes.posteriors import (
    Posterior,
    PosteriorRequest,
    decreasing_root,
    gibbs_posterior,
    gibbs_temperature,
    uniform_on_best,
)

__all__ = ["DivergenceBall", "divergence_ball_posterior", "kl_ball_posterior"]


@dataclass(frozen=True)
class DivergenceBall:
    """The posterior of Sinha and Duchi (2016), for any order of the divergence.

    Parameters
    ----------
    rho : float or "ess"
        Radius of the ball. "ess" takes the divergence of 2 D equal weights.
    mu : float
        Order of the divergence, above one.
    """

    rho: float | str
    mu: float

    def check(self) -> None:
        """Raise ValueError unless the radius is positive and the order above one."""
        if self.rho != "ess" and not (isinstance(self.rho, Real) and 0 < self.rho < np.inf):
            raise ValueError(f"rho must be positive and finite or 'ess', got {self.rho!r}.")
        if not 1 < self.mu < np.inf:
            raise ValueError(f"mu must be greater than 1 and finite, got {self.mu!r}.")

    def posterior(self, request: PosteriorRequest) -> Posterior:
        """Return the posterior of least mean loss in the ball."""
        rho = self._radius(request) if self.rho == "ess" else float(self.rho)
        weights = divergence_ball_posterior(request.losses, rho, self.mu)
        return Posterior(weights, constants={"mu": self.mu})

    def _radius(self, request: PosteriorRequest) -> float:
        # Kept in the range of floats: mu may be large, and one candidate has no divergence.
        log_rho = (self.mu - 1) * np.log(len(request.losses) / request.width)
        return float(np.expm1(np.clip(log_rho, 1e-300, 700.0)))


def kl_ball_posterior(losses: FloatArray, rho: float) -> FloatArray:
    r"""Return the posterior of least mean loss with :math:`\mathrm{KL}(Q \Vert P) \le \rho`.

    It is the Gibbs posterior whose divergence is rho; past the divergence of the best
    frequencies alone, it is uniform on those.

    Parameters
    ----------
    losses : array of shape (n_frequencies,)
    rho : float
        Radius of the ball, positive.

    Examples
    --------
    >>> kl_ball_posterior(np.array([0.0, 0.5, 1.0]), rho=2.0)
    array([1., 0., 0.])
    """
    _check_radius(rho)
    best = uniform_on_best(losses)
    if rho >= kl_divergence(best):
        return best
    return gibbs_posterior(losses, gibbs_temperature(losses, kl_divergence, rho))


def divergence_ball_posterior(losses: FloatArray, rho: float, mu: float = 2.0) -> FloatArray:
    r"""Return the posterior of least mean loss with :math:`D_\mu(Q \Vert P) \le \rho`.

    The problem of Sinha and Duchi (2016) for mu = 2, Equations 17 and 18 of the paper for any
    mu > 1. Stationarity of the Lagrangian gives, for some threshold :math:`\eta`,

    .. math:: Q_m \propto (\eta - \hat L_m)_+^{1 / (\mu - 1)} ,

    and the divergence decreases in :math:`\eta`, so that one root gives the exact answer.

    Parameters
    ----------
    losses : array of shape (n_frequencies,)
    rho : float
        Radius of the ball, positive.
    mu : float, default=2.0
        Order of the divergence, above one.

    Examples
    --------
    >>> divergence_ball_posterior(np.array([0.0, 0.5, 1.0]), rho=2 / 3).round(4)
    array([0.6667, 0.3333, 0.    ])
    """
    _check_radius(rho)
    if not (mu > 1 and np.isfinite(mu)):
        raise ValueError(f"mu must be greater than 1, got {mu!r}.")
    best = uniform_on_best(losses)
    if np.log1p(rho) >= log_power_mean(best, mu):
        return best
    gaps = losses - losses.min()
    levels = np.unique(gaps)

    def posterior(base: float, excess: float) -> FloatArray:
        # The threshold in two parts: their sum would round away a small excess.
        heights = np.maximum((base - gaps) + excess, 0.0) / (base + excess)
        weights = heights ** (1 / (mu - 1))
        return weights / weights.sum()

    def surplus(base: float, excess: float) -> float:
        return log_power_mean(posterior(base, excess), mu) - float(np.log1p(rho))

    # The active set by bisection over the levels, then a smooth equation above its level.
    n_above = bisect_left(
        range(1, len(levels)), True, key=lambda k: surplus(float(levels[k]), 0.0) <= 0
    )
    base = float(levels[n_above])
    log_excess = decreasing_root(
        lambda value: surplus(base, np.exp(value)), start=float(np.log(levels[-1]))
    )
    return posterior(base, np.exp(log_excess))


def _check_radius(rho: float) -> None:
    if not (rho > 0 and np.isfinite(rho)):
        raise ValueError(f"rho must be positive and finite, got {rho!r}.")
