r"""Posteriors over a finite pool of frequencies, from their losses.

All solve one problem: the smallest mean loss :math:`\sum_m Q_m \hat L_m` at a given divergence
from the uniform prior. Where the divergence is KL the answer is Gibbs' exponential weights; where
it is a power divergence :math:`D_\mu`, truncated powers of the gap to a threshold.
"""

from bisect import bisect_left
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from pacfourier.arrays import FloatArray
from pacfourier.bounds.divergences import (
    effective_sample_size,
    kl_divergence,
    log_power_mean,
)

__all__ = [
    "divergence_ball_posterior",
    "gibbs_posterior",
    "inverse_temperature_of_size",
    "kl_ball_posterior",
]


# exp(-100) of anything is less than a rounding of it.
LARGEST_STEP = 100.0


def gibbs_posterior(losses: FloatArray, inverse_temperature: float) -> FloatArray:
    r"""Reweight the uniform prior by the exponential of minus the losses.

    .. math:: Q_m = e^{-t \hat L_m} \Big/ \sum_k e^{-t \hat L_k} ,

    the unique minimiser of :math:`t \sum_m Q_m \hat L_m + \mathrm{KL}(Q \Vert P)`. The paper
    takes :math:`t = \beta \sqrt n` (Equation 19).

    Parameters
    ----------
    losses : array of shape (n_frequencies,)
    inverse_temperature : float
        The trade-off t, at least zero; zero returns the prior.

    Examples
    --------
    >>> losses = np.array([0.1, 0.1, 0.8])
    >>> gibbs_posterior(losses, 0.0).round(3)
    array([0.333, 0.333, 0.333])
    >>> gibbs_posterior(losses, 50.0).round(3)
    array([0.5, 0.5, 0. ])
    """
    if not (inverse_temperature >= 0 and np.isfinite(inverse_temperature)):
        raise ValueError(
            f"inverse_temperature must be finite and at least 0, got {inverse_temperature!r}."
        )
    # A common shift of the losses does not change Q; this one keeps exp() finite.
    weights = np.exp(-inverse_temperature * (losses - losses.min()))
    return weights / weights.sum()


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
    best = _uniform_on_best(losses)
    if rho >= kl_divergence(best):
        return best
    return gibbs_posterior(losses, _inverse_temperature(losses, kl_divergence, rho))


def inverse_temperature_of_size(losses: FloatArray, size: float) -> float:
    r"""Return the t at which the Gibbs posterior is as wide as ``size`` equal weights.

    The width is the effective sample size :math:`1 / \sum_m Q_m^2`. It decreases from N at
    t = 0 to the number of best frequencies; a size out of that range gives the nearest end.
    Unlike t itself, a size means the same for any number of samples and any spread of losses.
    """
    if not size >= 1:
        raise ValueError(f"size must be at least 1, got {size!r}.")
    if size >= len(losses) or np.ptp(losses) == 0:
        return 0.0
    smallest = effective_sample_size(_uniform_on_best(losses))
    target = max(size, smallest * (1 + 1e-9))
    return _inverse_temperature(
        losses, lambda posterior: -np.log(effective_sample_size(posterior)), -np.log(target)
    )


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
    best = _uniform_on_best(losses)
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
    log_excess = _root(lambda value: surplus(base, np.exp(value)), start=float(np.log(levels[-1])))
    return posterior(base, np.exp(log_excess))


def _uniform_on_best(losses: FloatArray) -> FloatArray:
    is_best = losses == losses.min()
    return is_best / is_best.sum()


def _inverse_temperature(
    losses: FloatArray, divergence: Callable[[FloatArray], float], radius: float
) -> float:
    """Return the t at which a divergence of the Gibbs posterior, increasing in t, is radius."""
    log_temperature = _root(
        lambda value: divergence(gibbs_posterior(losses, float(np.exp(-value)))) - radius,
        start=float(np.log(np.std(losses))),
    )
    return float(np.exp(-log_temperature))


def _root(decreasing: Callable[[float], float], start: float) -> float:
    """Return the zero of a decreasing function of a logarithm.

    A divergence that rounding keeps above its radius has none: past ``LARGEST_STEP`` what is
    computed there is the prior to the last digit.
    """
    lower = upper = start
    while decreasing(lower) < 0:
        lower -= 2.0
    while decreasing(upper) > 0:
        upper += 2.0
        if upper > start + LARGEST_STEP:
            return upper
    if lower == upper:
        return start
    return float(brentq(decreasing, lower, upper, xtol=1e-13, rtol=1e-14, maxiter=200))


def _check_radius(rho: float) -> None:
    if not (rho > 0 and np.isfinite(rho)):
        raise ValueError(f"rho must be positive and finite, got {rho!r}.")
