"""The posterior that minimises its own certificate."""

import math

import numpy as np
import numpy.typing as npt
from scipy import special

from pacfourier.arrays import FloatArray
from pacfourier.bounds._arguments import (
    bounded_vector,
    distribution,
    n_terms,
    open_interval,
)
from pacfourier.bounds._bernstein import (
    bernstein_factor,
    bernstein_rates,
    unexpected_bernstein,
)


def fixed_rate_posterior(
    *,
    losses: npt.ArrayLike,
    second_moments: npt.ArrayLike,
    prior: npt.ArrayLike,
    n_samples: int,
    eta: float,
    pairs: bool = True,
) -> FloatArray:
    r"""Return the exact minimiser of the un-expected Bernstein bound of one rate.

    .. math:: Q(\omega) \propto P(\omega) \exp\bigl\{-m \bigl[\eta \hat L_\omega
              + v(\eta/2)\, \eta^2 M_\omega\bigr]\bigr\} .

    The bound increases with its exponent :math:`a(Q)`, which is linear in :math:`Q` except for
    :math:`\mathrm{KL}(Q \Vert P)/m`. So its minimiser is a Gibbs posterior (catoni2007).

    Parameters
    ----------
    losses : array of shape (n_hypotheses,)
        Empirical losses :math:`\hat L_\omega`.
    second_moments : array of shape (n_hypotheses,)
        Empirical means :math:`M_\omega` of :math:`(\ell - \frac12)^2`.
    prior : array of shape (n_hypotheses,)
        Weights :math:`P`.
    n_samples : int
        Number of points :math:`n`.
    eta : float
        Rate in (0, 2).
    pairs : bool, default=True
        Whether the losses are means over pairs.

    Returns
    -------
    posterior : array of shape (n_hypotheses,)
        Weights :math:`Q`, of sum one.

    References
    ----------
    catoni2007, mhammedi2019.
    """
    eta = open_interval("eta", eta, 0.0, 2.0)
    weights = distribution("prior", prior)
    energies = eta * bounded_vector("losses", losses, 0.0, 1.0, size=weights.size)
    moments = bounded_vector("second_moments", second_moments, 0.0, 0.25, size=weights.size)
    energies += bernstein_factor(eta / 2.0) * eta**2 * moments
    log_prior = np.log(weights, where=weights > 0.0, out=np.full(weights.size, -math.inf))
    exponents = log_prior - n_terms(n_samples, pairs=pairs) * energies
    # The posterior ignores a common shift; this one keeps the exponential finite.
    posterior: FloatArray = np.exp(exponents - exponents.max())
    return posterior / np.sum(posterior)


def self_certified_posterior(
    *,
    losses: npt.ArrayLike,
    second_moments: npt.ArrayLike,
    prior: npt.ArrayLike,
    n_samples: int,
    epsilon: float,
    pairs: bool = True,
) -> FloatArray:
    r"""Return the exact minimiser of :func:`unexpected_bernstein` over all posteriors.

    .. math:: \min_Q \min_k b_k(Q) = \min_k b_k(Q_k) ,

    where :math:`b_k` is the bound of rate :math:`\eta_k` and :math:`Q_k` its minimiser, given by
    :func:`fixed_rate_posterior`. The certificate holds for all posteriors, including this one.

    Parameters
    ----------
    losses, second_moments, prior, n_samples
        As in :func:`fixed_rate_posterior`.
    epsilon : float
        Probability of failure of the certificate to minimise.
    pairs : bool, default=True
        As in :func:`fixed_rate_posterior`.

    Returns
    -------
    posterior : array of shape (n_hypotheses,)
        Weights :math:`Q`, of sum one.

    References
    ----------
    catoni2007, mhammedi2019.
    """
    weights = distribution("prior", prior)
    rates = bernstein_rates(
        n_terms=n_terms(n_samples, pairs=pairs), n_hypotheses=weights.size, epsilon=epsilon
    )

    def certificate(posterior: FloatArray) -> float:
        return unexpected_bernstein(
            loss=float(posterior @ np.asarray(losses)),
            divergence=float(special.rel_entr(posterior, weights).sum()),
            n_samples=n_samples,
            epsilon=epsilon,
            second_moment=float(posterior @ np.asarray(second_moments)),
            n_hypotheses=weights.size,
            pairs=pairs,
        ).value

    posteriors = (
        fixed_rate_posterior(
            losses=losses,
            second_moments=second_moments,
            prior=weights,
            n_samples=n_samples,
            eta=eta,
            pairs=pairs,
        )
        for eta in rates
    )
    return min(posteriors, key=certificate)
