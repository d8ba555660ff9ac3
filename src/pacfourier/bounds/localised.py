"""Bound for exact Gibbs posteriors only. It needs no divergence."""

import math

from pacfourier.bounds.arguments import checked_terms, non_negative, positive
from pacfourier.bounds.binary_kl import klup, log_xi
from pacfourier.bounds.record import BoundRecord
from pacfourier.bounds.result import Bound


def localised(
    *,
    loss: float,
    n_samples: int,
    epsilon: float,
    inverse_temperature: float,
    rounding: float = 0.0,
    pairs: bool = True,
) -> Bound:
    r"""Return the bound of the exact Gibbs posterior at a temperature fixed in advance.

    .. math:: L(k_Q) \le \mathrm{kl}^{+}\Bigl(\hat L(k_Q), \frac{x^2}{m}\Bigr), \quad
              x = \frac c2 + \sqrt{\Bigl(\frac c2 + \sqrt l\Bigr)^2 + 2 g r}, \quad
              Q \propto P e^{-g \tilde L}, \quad c = \frac{g}{\sqrt{2m}}, \quad
              l = \ln\xi(m) + \ln(1/\varepsilon) ,

    where the :math:`\tilde L` that were computed are within r of the :math:`\hat L` of the sample.

    *Proof.* Take the prior :math:`P_D \propto P e^{-g L}`, which is unknown but does not depend on
    the sample. Then
    :math:`\mathrm{KL}(Q \Vert P_D) \le g\, \mathbb{E}_Q (L - \tilde L) - g\, \mathbb{E}_{P_D} (L -
    \tilde L)`; on the event of the kl bound and by Pinsker's inequality the right side is at most
    :math:`g \sqrt{(\mathrm{KL} + l)/(2m)} + g \sqrt{l/(2m)} + 2 g r`. With
    :math:`x^2 = \mathrm{KL} + l`, :math:`x^2 - l \le c x + c \sqrt{l} + 2 g r`, and the x
    above is the larger root. It is :math:`c + \sqrt{l}` if r is zero.

    Parameters
    ----------
    loss : float
        Empirical loss of that Gibbs posterior, in [0, 1].
    n_samples : int
        Number of points :math:`n`.
    epsilon : float
        Probability of failure over the sample.
    inverse_temperature : float
        :math:`g > 0` of the posterior, fixed before the sample is seen.
    rounding : float, default=0.0
        :math:`r`, how far each loss may be from that of the sample.
    pairs : bool, default=True
        Whether the loss is a mean over pairs: :math:`m = \lfloor n/2 \rfloor`, else :math:`m = n`.

    Returns
    -------
    bound : Bound
        The divergence term is the second argument of the inverse.

    References
    ----------
    lever2013, catoni2007, maurer2004.
    """
    g = positive("inverse_temperature", inverse_temperature)
    terms = checked_terms(
        loss=loss, divergence=0.0, n_samples=n_samples, epsilon=epsilon, pairs=pairs
    )
    m = terms.n_terms
    half = g / math.sqrt(8.0 * m)
    slack = 2 * g * non_negative("rounding", rounding)
    root = half + math.sqrt((half + math.sqrt(terms.nats + log_xi(m))) ** 2 + slack)
    return Bound(
        value=klup(terms.loss, root**2 / m),
        empirical_term=terms.loss,
        divergence_term=root**2 / m,
        parameters={"inverse_temperature": g, "log_xi": log_xi(m)},
        theorem="localised kl, Gibbs posterior",
        reference="lever2013; maurer2004",
    )


RECORDS = (
    BoundRecord(
        name="localised",
        function=localised,
        needs=("loss", "n_samples", "inverse_temperature", "rounding"),
        advice=(
            "of='posterior' and a Gibbs posterior of the losses themselves: use PBRFF with a "
            "number for beta and class_weight=None."
        ),
        constant="beta",
    ),
)
