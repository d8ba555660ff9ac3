r"""Posteriors of smallest mean loss within a ball around the uniform prior.

In a ball of the Kullback-Leibler divergence, the answer is a Gibbs posterior. In a ball of a power
divergence :math:`D_\mu`, each weight is a power of the gap between the loss and a threshold, or
zero above the threshold.
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


@dataclass(frozen=True)
class DivergenceBall:
    """The posterior of Sinha and Duchi (2016), for any order of the divergence.

    Parameters
    ----------
    rho : float or "ess"
        Radius of the ball. "ess" takes the divergence of 2 D equal weights from the prior.
    mu : float
        Order of the divergence, above one.
    """

    rho: float | str
    mu: float

    def check(self) -> None:
        """Raise ValueError unless the radius is positive and the order is above one."""
        if self.rho != "ess" and not (isinstance(self.rho, Real) and 0 < self.rho < np.inf):
            raise ValueError(f"rho must be positive and finite or 'ess', got {self.rho!r}.")
        if not 1 < self.mu < np.inf:
            raise ValueError(f"mu must be greater than 1 and finite, got {self.mu!r}.")

    def posterior(self, request: PosteriorRequest) -> Posterior:
        """Return the posterior of smallest mean loss in the ball."""
        rho = self._radius(request) if self.rho == "ess" else float(self.rho)
        weights = divergence_ball_posterior(request.losses, rho, self.mu)
        return Posterior(weights, constants={"mu": self.mu})

    def _radius(self, request: PosteriorRequest) -> float:
        # The clip avoids overflow if mu is large, and a radius of zero if there is one candidate.
        log_rho = (self.mu - 1) * np.log(len(request.losses) / request.width)
        return float(np.expm1(np.clip(log_rho, 1e-300, 700.0)))


def kl_ball_posterior(losses: FloatArray, rho: float) -> FloatArray:
    r"""Return the posterior of smallest mean loss with :math:`\mathrm{KL}(Q \Vert P) \le \rho`.

    It is the Gibbs posterior whose divergence is rho. If the ball contains the uniform distribution
    on the frequencies of smallest loss, it is that distribution.

    Parameters
    ----------
    losses : array of shape (n_frequencies,)
    rho : float
        Radius of the ball, positive.

    Returns
    -------
    posterior : array of shape (n_frequencies,)
        The weights Q. Their sum is one.

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
    r"""Return the posterior of smallest mean loss with :math:`D_\mu(Q \Vert P) \le \rho`.

    For mu = 2 this is the problem of Sinha and Duchi (2016). For any mu > 1 it is that of Equations
    17 and 18 of the paper. Stationarity of the Lagrangian gives, for some threshold :math:`\eta`,

    .. math:: Q_m \propto (\eta - \hat L_m)_+^{1 / (\mu - 1)} .

    The divergence decreases in :math:`\eta`, so that one root gives the exact answer.

    Parameters
    ----------
    losses : array of shape (n_frequencies,)
    rho : float
        Radius of the ball, positive.
    mu : float, default=2.0
        Order of the divergence, above one.

    Returns
    -------
    posterior : array of shape (n_frequencies,)
        The weights Q. Their sum is one.

    Examples
    --------
    >>> divergence_ball_posterior(np.array([0.0, 0.5, 1.0]), rho=2 / 3).round(4)
    array([0.6667, 0.3333, 0.    ])
    """
    _check_radius(rho)
    if not (mu > 1 and np.isfinite(mu)):
        raise ValueError(f"mu must be greater than 1, got {mu!r}.")
    best = uniform_on_best(losses)
    if np.log1p(rho) >= log_power_mean(best, mu) or best.all():
        return best
    gaps = losses - losses.min()
    levels = np.unique(gaps)

    def surplus(base: float, log_excess: float) -> float:
        return log_power_mean(_power_weights(gaps, mu, base, log_excess), mu) - float(np.log1p(rho))

    # Bisection over the levels finds which weights are positive; the rest is a smooth equation.
    n_above = bisect_left(
        range(1, len(levels)), True, key=lambda k: surplus(float(levels[k]), -np.inf) <= 0
    )
    base, log_range = float(levels[n_above]), float(np.log(levels[-1]))

    def log_excess(step: float) -> float:
        # A small excess acts through its power 1 / (mu - 1), a large one through its logarithm.
        return log_range + step * (max(mu - 1, 1.0) if step < 0 else 1.0)

    root = decreasing_root(lambda step: surplus(base, log_excess(step)), start=0.0)
    return _power_weights(gaps, mu, base, log_excess(root))


def _power_weights(gaps: FloatArray, mu: float, base: float, log_excess: float) -> FloatArray:
    r"""Return weights :math:`\propto (\eta - g_m)^{1/(\mu - 1)}` of the gaps up to ``base``.

    The threshold :math:`\eta` is ``base`` plus an excess, which is given by its logarithm: at large
    orders, an excess that is too small for a float still has a power of ordinary size.
    """
    excess = np.exp(log_excess)
    heights = (np.maximum(base - gaps, 0.0) + excess) / (base + excess)
    with np.errstate(divide="ignore"):
        log_heights = np.where(gaps == base, log_excess - np.log(base + excess), np.log(heights))
    weights: FloatArray = np.where(gaps <= base, np.exp(log_heights / (mu - 1)), 0.0)
    return weights / np.sum(weights)


def _check_radius(rho: float) -> None:
    if not (rho > 0 and np.isfinite(rho)):
        raise ValueError(f"rho must be positive and finite, got {rho!r}.")
