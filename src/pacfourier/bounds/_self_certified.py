"""The posterior that minimises its own certificate."""

import math
from operator import itemgetter

import numpy as np
import numpy.typing as npt
from scipy import special

from pacfourier.arrays import FloatArray
from pacfourier.bounds._arguments import (
    GridPoint,
    bounded_vector,
    distribution,
    interval,
    n_terms,
    open_interval,
)
from pacfourier.bounds._bernstein import (
    bernstein_factor,
    bernstein_grid,
    unexpected_bernstein_fixed,
)


def fixed_rate_posterior(
    *,
    losses: npt.ArrayLike,
    second_moments: npt.ArrayLike,
    prior: npt.ArrayLike,
    n_samples: int,
    eta: float,
    centre: float = 0.5,
    pairs: bool = True,
) -> FloatArray:
    r"""Return the exact minimiser of the un-expected Bernstein bound of one rate and centre.

    .. math:: Q(\omega) \propto P(\omega) \exp\bigl\{-m \bigl[\eta \hat L_\omega
              + v\bigl(\eta (1 - c)\bigr)\, \eta^2 \bigl(M_\omega + (1 - 2c) \hat L_\omega\bigr)
              \bigr]\bigr\} .

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
        Rate in :math:`(0, 1 / (1 - c))`.
    centre : float, default=0.5
        Centre :math:`c` in [0, 1/2].
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
    centre = interval("centre", centre, 0.0, 0.5)
    eta = open_interval("eta", eta, 0.0, 1.0 / (1.0 - centre))
    weights = distribution("prior", prior)
    seen = bounded_vector("losses", losses, 0.0, 1.0, size=weights.size)
    moments = bounded_vector("second_moments", second_moments, 0.0, 0.25, size=weights.size)
    curvature = bernstein_factor(eta * (1.0 - centre)) * eta**2
    energies = eta * seen + curvature * (moments + (1.0 - 2.0 * centre) * seen)
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

    where :math:`b_k` is the bound of point k of the grid and :math:`Q_k` its minimiser, given by
    ``fixed_rate_posterior``. The certificate holds for all posteriors, including this one.

    Parameters
    ----------
    losses, second_moments, prior, n_samples
        As in ``fixed_rate_posterior``.
    epsilon : float
        Probability of failure of the certificate to minimise.
    pairs : bool, default=True
        As in ``fixed_rate_posterior``.

    Returns
    -------
    posterior : array of shape (n_hypotheses,)
        Weights :math:`Q`, of sum one.

    References
    ----------
    catoni2007, mhammedi2019.
    """
    weights = distribution("prior", prior)
    grid = bernstein_grid(
        n_terms=n_terms(n_samples, pairs=pairs), n_hypotheses=weights.size, epsilon=epsilon
    )

    def minimum(point: GridPoint) -> tuple[float, FloatArray]:
        constants = {"eta": point.eta, "centre": point.centre}
        posterior = fixed_rate_posterior(
            losses=losses,
            second_moments=second_moments,
            prior=weights,
            n_samples=n_samples,
            pairs=pairs,
            **constants,
        )
        bound = unexpected_bernstein_fixed(
            loss=float(posterior @ np.asarray(losses)),
            divergence=float(special.rel_entr(posterior, weights).sum()),
            n_samples=n_samples,
            epsilon=point.weight * epsilon,
            second_moment=float(posterior @ np.asarray(second_moments)),
            pairs=pairs,
            **constants,
        )
        return bound.value, posterior

    return min((minimum(point) for point in grid), key=itemgetter(0))[1]
