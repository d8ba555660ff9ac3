"""Bound with a power divergence instead of KL, and the sharp variance of a U-statistic."""

import math

from pacfourier.bounds.arguments import interval, n_terms, non_negative, unit_open
from pacfourier.bounds.record import BoundRecord
from pacfourier.bounds.result import Bound


def largest_variance(n_samples: int, *, binary: bool, pairs: bool = True) -> float:
    r"""Return the largest variance of an empirical loss in [0, 1].

    .. math:: V_n = \frac{n - 1}{2 n (2n - 3)} \text{ (pairs, two classes)}, \qquad
              V_n = \frac{1}{4 m} \text{ (otherwise)} .

    *Proof.* The variance of an order-two U-statistic is
    :math:`[4(n-2)\zeta_1 + 2\zeta_2]/(n(n-1))`, with :math:`\zeta_1 = \mathrm{Var}\,
    \mathbb{E}[\ell | z]` and :math:`\zeta_2 = \mathrm{Var}\, \ell` (hoeffding1948). For two
    classes let :math:`s = |m_\omega|^2`: then :math:`\zeta_1 \le s(1 - s)/4` and
    :math:`\zeta_2 \le (1 - s^2)/4`, and :math:`s = (n-2)/(2n-3)` maximises the sum. It is attained
    by constant inputs and a coin of bias :math:`(1 + \sqrt{s})/2` for labels. In general the
    statistic averages means of :math:`m` independent terms of variance at most 1/4.

    Parameters
    ----------
    n_samples : int
        Number of points :math:`n`.
    binary : bool
        Whether the label space is declared to have two elements.
    pairs : bool, default=True
        Whether the loss is a mean over pairs: :math:`m = \lfloor n/2 \rfloor`, else :math:`m = n`.

    Returns
    -------
    variance : float
        :math:`V_n`.

    Examples
    --------
    >>> largest_variance(2, binary=True), largest_variance(4, binary=False)
    (0.25, 0.125)
    """
    m = n_terms(n_samples, pairs=pairs)
    if pairs and binary:
        return (n_samples - 1.0) / (2.0 * n_samples * (2.0 * n_samples - 3.0))
    return 0.25 / m


def _log_moment(mu: float, *, variance: float, n_terms: int) -> float:
    r"""Return the logarithm of a bound on the moment of the conjugate order.

    .. math:: \mathbb{E} (L - \hat L)_+^{\mu'} \le \begin{cases} V_n^{\mu'/2} & \mu \ge 2 \\
              \min\{V_n, \Gamma(\mu'/2 + 1)\, (2m)^{-\mu'/2}\} & 1 < \mu < 2 \end{cases}, \qquad
              \mu' = \frac{\mu}{\mu - 1} .

    The first line is Jensen's inequality for :math:`\mu' \le 2`; in the second,
    :math:`(L - \hat L)_+ \le 1` and the tail :math:`e^{-2 m x^2}` is integrated.

    Parameters
    ----------
    mu : float
        Order of the divergence, above one.
    variance : float
        :math:`V_n`.
    n_terms : int
        Number :math:`m` of independent terms.

    Returns
    -------
    log_moment : float
        Logarithm of the right side.
    """
    half_order = 0.5 * mu / (mu - 1.0)
    if mu >= 2.0:
        return half_order * math.log(variance)
    tail = math.lgamma(half_order + 1.0) - half_order * math.log(2.0 * n_terms)
    return min(math.log(variance), tail)


def f_divergence(
    *,
    loss: float,
    power_divergence: float,
    n_samples: int,
    epsilon: float,
    mu: float,
    binary: bool,
    pairs: bool = True,
) -> Bound:
    r"""Return the bound of a power divergence, with the conjugate moment.

    .. math:: L(k_Q) \le \hat L(k_Q) + \Bigl(\frac{M}{\varepsilon}\Bigr)^{1/\mu'}
              (D_\mu + 1)^{1/\mu}, \qquad
              D_\mu = \mathbb{E}_P \Bigl(\frac{dQ}{dP}\Bigr)^{\mu} - 1 ,

    with :math:`1/\mu + 1/\mu' = 1` and :math:`M` of ``_log_moment``. It is Hölder's inequality
    :math:`\mathbb{E}_Q(L - \hat L) \le (D_\mu + 1)^{1/\mu} (\mathbb{E}_P (L - \hat
    L)_+^{\mu'})^{1/\mu'}` then Markov's. It corrects the statement printed in letarte2019, which
    uses the moment of order :math:`\mu`. It is weak, because it is polynomial in
    :math:`1/\varepsilon`.

    Parameters
    ----------
    loss : float
        Empirical loss :math:`\hat L(k_Q)` in [0, 1].
    power_divergence : float
        :math:`D_\mu(Q \Vert P) \ge 0`. It is not a Kullback-Leibler divergence.
    n_samples : int
        Number of points :math:`n`.
    epsilon : float
        Probability of failure, over the sample, for all posteriors at once.
    mu : float
        Order above one, fixed before the sample is seen.
    binary : bool
        Whether the label space is declared to have two elements (never inferred from the sample).
    pairs : bool, default=True
        Whether the loss is a mean over pairs: :math:`m = \lfloor n/2 \rfloor`, else :math:`m = n`.

    Returns
    -------
    bound : Bound
        The divergence term is the second one of the formula.

    References
    ----------
    alquier2018, begin2016; hoeffding1948 for the variance.

    Examples
    --------
    >>> args = {"power_divergence": 0.0, "n_samples": 2, "mu": 2.0, "binary": True}
    >>> f_divergence(loss=0.0, epsilon=0.25, **args).value
    1.0
    """
    if not 1.0 < mu < math.inf:
        raise ValueError(f"mu must be above 1 and finite, got {mu!r}.")
    loss = interval("loss", loss, 0.0, 1.0)
    log_ratio = math.log1p(non_negative("power_divergence", power_divergence))
    log_epsilon = math.log(unit_open("epsilon", epsilon))
    variance = largest_variance(n_samples, binary=binary, pairs=pairs)
    moment = _log_moment(mu, variance=variance, n_terms=n_terms(n_samples, pairs=pairs))
    price = math.exp((moment - log_epsilon) * (1.0 - 1.0 / mu) + log_ratio / mu)
    return Bound(
        value=loss + price,
        empirical_term=loss,
        divergence_term=price,
        parameters={"mu": mu, "variance": variance},
        theorem="f-divergence",
        reference="alquier2018; hoeffding1948",
    )


RECORDS = (
    BoundRecord(
        name="f_divergence",
        function=f_divergence,
        needs=("loss", "power_divergence", "n_samples", "mu", "binary"),
        constant="mu",
    ),
)
