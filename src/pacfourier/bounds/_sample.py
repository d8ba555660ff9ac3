"""What a sample brings to a bound: independent blocks, an empirical loss, nats to pay."""

import math
from typing import NamedTuple

from pacfourier.bounds._arguments import count, interval, non_negative, unit_open


class Sample(NamedTuple):
    """Checked ingredients of an exponential-moment bound.

    Parameters
    ----------
    loss : float
        Empirical loss averaged under the posterior.
    nats : float
        Divergence plus logarithm of 1 / epsilon.
    n_blocks : int
        Number of independent terms.
    """

    loss: float
    nats: float
    n_blocks: int


def n_blocks(n_samples: int, *, pairs: bool) -> int:
    r"""Return the number of independent terms behind an empirical loss.

    .. math:: m = \lfloor n / 2 \rfloor \text{ for a mean over pairs}, \qquad
              m = n \text{ for a mean over points}.

    An order-two U-statistic is the average, over the permutations of the sample, of means of
    :math:`\lfloor n/2 \rfloor` independent pairs. By Jensen's inequality every exponential
    moment that is convex in the mean of :math:`m` independent terms is inherited by it
    (hoeffding1963, section 5).

    Parameters
    ----------
    n_samples : int
        Number of points.
    pairs : bool
        Whether the loss is a mean over pairs of distinct points.

    Returns
    -------
    n_blocks : int
        Number of independent terms, at least one.

    Examples
    --------
    >>> n_blocks(7, pairs=True), n_blocks(7, pairs=False)
    (3, 7)
    """
    n_samples = count("n_samples", n_samples, 2 if pairs else 1)
    return n_samples // 2 if pairs else n_samples


def checked_sample(
    *, loss: float, divergence: float, n_samples: int, epsilon: float, pairs: bool
) -> Sample:
    r"""Check the arguments that every bound shares and return what they amount to.

    The posteriors are all served at once: if :math:`\mathbb{E}_S \mathbb{E}_P e^{B_S} \le 1`, then
    with probability at least :math:`1 - \varepsilon`, for every posterior :math:`Q`,

    .. math:: \mathbb{E}_Q B_S \le \mathrm{KL}(Q \Vert P) + \ln(1/\varepsilon)

    by Markov's inequality and the variational formula of the divergence (catoni2007). The right
    side is what ``nats`` holds.

    Parameters
    ----------
    loss : float
        Empirical loss in [0, 1] averaged under the posterior.
    divergence : float
        Kullback-Leibler divergence of the posterior from the prior.
    n_samples : int
        Number of points.
    epsilon : float
        Probability of failure.
    pairs : bool
        Whether the loss is a mean over pairs of distinct points.

    Returns
    -------
    sample : Sample
        Loss, nats and number of blocks.
    """
    nats = non_negative("divergence", divergence) - math.log(unit_open("epsilon", epsilon))
    return Sample(interval("loss", loss, 0.0, 1.0), nats, n_blocks(n_samples, pairs=pairs))
