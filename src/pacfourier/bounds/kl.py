"""The kl bound, which has no parameter to choose, and its two-sided refinement."""

import math

from pacfourier.bounds.arguments import checked_terms, interval
from pacfourier.bounds.binary_kl import kldn, klup, log_xi
from pacfourier.bounds.record import Auto, BoundRecord
from pacfourier.bounds.result import Bound


def kl(
    *, loss: float, divergence: float, n_samples: int, epsilon: float, pairs: bool = True
) -> Bound:
    r"""Return the kl bound, an inverse of the binary divergence. It is the reference bound.

    .. math:: L(k_Q) \le \mathrm{kl}^{+}\Bigl(\hat L(k_Q),\
              \frac{\mathrm{KL}(Q \Vert P) + \ln\xi(m) + \ln(1/\varepsilon)}{m}\Bigr) .

    It inverts :math:`\mathbb{E} \exp\{m\,\mathrm{kl}(\hat L, L)\} \le \xi(m)` with the exact
    :math:`\xi`; the binary divergence is convex, so the posterior average goes inside it.

    Parameters
    ----------
    loss : float
        Empirical loss :math:`\hat L(k_Q)` in [0, 1].
    divergence : float
        :math:`\mathrm{KL}(Q \Vert P)`.
    n_samples : int
        Number of points :math:`n`.
    epsilon : float
        Probability of failure, over the sample, for all posteriors at once.
    pairs : bool, default=True
        Whether the loss is a mean over pairs: :math:`m = \lfloor n/2 \rfloor`, else :math:`m = n`.

    Returns
    -------
    bound : Bound
        The divergence term is the second argument of the inverse.

    References
    ----------
    seeger2002, maurer2004; ralaivola2010 for pairs.

    Examples
    --------
    With one point, no loss and no divergence, the bound is 1 - epsilon / 2.

    >>> round(kl(loss=0.0, divergence=0.0, n_samples=1, epsilon=0.5, pairs=False).value, 9)
    0.75
    """
    terms = checked_terms(
        loss=loss, divergence=divergence, n_samples=n_samples, epsilon=epsilon, pairs=pairs
    )
    budget = (terms.nats + log_xi(terms.n_terms)) / terms.n_terms
    return Bound(
        value=klup(terms.loss, budget),
        empirical_term=terms.loss,
        divergence_term=budget,
        parameters={"log_xi": log_xi(terms.n_terms)},
        theorem="kl",
        reference="seeger2002; maurer2004; ralaivola2010",
    )


def split_kl(
    *,
    positive_moment: float,
    negative_moment: float,
    divergence: float,
    n_samples: int,
    epsilon: float,
    pairs: bool = True,
) -> Bound:
    r"""Return the bound that treats losses above and below one half separately.

    .. math:: L(k_Q) \le \tfrac12 + \tfrac12 \mathrm{kl}^{+}(2 p_+, B)
              - \tfrac12 \mathrm{kl}^{-}(2 p_-, B), \qquad
              B = \frac{\mathrm{KL}(Q \Vert P) + \ln\xi(m) + \ln(2/\varepsilon)}{m} ,

    where :math:`p_\pm` are the means of :math:`(\ell - \frac12)^\pm`, averaged hypothesis by
    hypothesis. Twice these parts lie in [0, 1]: the kl bound holds for each at
    :math:`\varepsilon/2`.

    Parameters
    ----------
    positive_moment, negative_moment : float
        :math:`p_+` and :math:`p_-`, in [0, 1/2], of sum at most 1/2.
    divergence, n_samples, epsilon, pairs
        As in :func:`kl`.

    Returns
    -------
    bound : Bound
        The divergence term is :math:`B`.

    References
    ----------
    wu2022, maurer2004.
    """
    above = interval("positive_moment", positive_moment, 0.0, 0.5)
    below = interval("negative_moment", negative_moment, 0.0, 0.5 - above)
    terms = checked_terms(
        loss=0.5 + above - below,
        divergence=divergence,
        n_samples=n_samples,
        epsilon=epsilon,
        pairs=pairs,
    )
    budget = (terms.nats + math.log(2.0) + log_xi(terms.n_terms)) / terms.n_terms
    return Bound(
        value=0.5 + 0.5 * klup(2.0 * above, budget) - 0.5 * kldn(2.0 * below, budget),
        empirical_term=terms.loss,
        divergence_term=budget,
        parameters={"log_xi": log_xi(terms.n_terms)},
        theorem="split-kl",
        reference="wu2022; maurer2004",
    )


RECORDS = (
    BoundRecord(
        name="kl",
        function=kl,
        needs=("loss", "divergence", "n_samples", "pairs"),
        exponential=True,
        # Samplers pay divergences of tens of nats at low losses, where kl is the best choice.
        auto=Auto(rank=2, known=("sampled",)),
    ),
)
