"""Divergences between a posterior over finitely many frequencies and its prior."""

import numpy as np
from scipy.special import logsumexp, xlogy

from pacfourier.arrays import FloatArray


def kl_divergence(posterior: FloatArray) -> float:
    r"""Return :math:`\mathrm{KL}(Q \Vert P) = \ln N + \sum_m Q_m \ln Q_m`, P uniform.

    Examples
    --------
    >>> round(kl_divergence(np.array([0.5, 0.5, 0.0, 0.0])), 4)
    0.6931
    """
    return float(np.log(len(posterior)) + xlogy(posterior, posterior).sum())


def divergence_from(posterior: FloatArray, log_prior: FloatArray) -> float:
    r"""Return :math:`\sum_m Q_m \ln(Q_m / P_m)` for any measure P, given its logarithms.

    It can be negative if the mass of P is above one.

    Examples
    --------
    >>> round(divergence_from(np.array([0.5, 0.5, 0.0]), np.array([0.0, 0.0, -np.inf])), 4)
    -0.6931
    """
    support = posterior > 0
    masses = posterior[support]
    return float(masses @ (np.log(masses) - log_prior[support]))


def power_divergence(posterior: FloatArray, mu: float) -> float:
    r"""Return :math:`D_\mu(Q \Vert P) = N^{\mu - 1} \sum_m Q_m^\mu - 1` (Theorem 4), P uniform.

    Examples
    --------
    >>> round(power_divergence(np.array([0.5, 0.5, 0.0, 0.0]), mu=3.0), 9)
    3.0
    """
    with np.errstate(over="ignore"):
        return float(np.expm1(log_power_mean(posterior, mu)))


def log_power_mean(posterior: FloatArray, mu: float) -> float:
    r"""Return :math:`\ln(1 + D_\mu(Q \Vert P))`, which does not overflow for any order."""
    if not mu > 1:
        raise ValueError(f"mu must be greater than 1, got {mu!r}.")
    ratios = posterior[posterior > 0] * len(posterior)
    return float(logsumexp(mu * np.log(ratios)) - np.log(len(posterior)))
