"""Un-expected Bernstein bound: it uses an empirical second moment instead of a variance."""

import math
from typing import Any

import numpy as np

from pacfourier.bounds.arguments import (
    Grid,
    checked_terms,
    count,
    geometric_midpoints,
    interval,
    n_terms,
    open_interval,
    rate_shares,
    smallest,
    tried,
    unit_open,
    weighted_grid,
)
from pacfourier.bounds.record import Auto, BoundRecord
from pacfourier.bounds.result import Bound

_N_RATES = 3
_LARGEST_RATE = 1.6
# Centres for small losses, beside one half, and the weight of the rates that are centred there.
_CENTRES = (0.0, 0.1, 0.2, 0.3)
_SHARE_OF_HALF = 0.875
_N_SERIES = 16


def bernstein_factor(u: float) -> float:
    r"""Return the curvature of the logarithm, rounded up.

    .. math:: v(u) = \frac{-\ln(1 - u) - u}{u^2} = \sum_{k \ge 2} \frac{u^{k-2}}{k} .

    It increases with u, so :math:`e^{-x - v(u) x^2} \le 1 - x` for every :math:`x \le u < 1`. The
    bounds of this family rest on that inequality. Below 0.1 the series is used with a bound on its
    remainder, because the truncated sum would be too small.

    Parameters
    ----------
    u : float
        Largest value of the variable, in (0, 1).

    Returns
    -------
    factor : float
        Never below :math:`v(u) > 1/2`.

    References
    ----------
    cesabianchi2007, fan2015.
    """
    u = unit_open("u", u)
    if u < 0.1:
        series = sum(u ** (k - 2) / k for k in range(2, _N_SERIES + 1))
        remainder = u ** (_N_SERIES - 1) / ((_N_SERIES + 1) * (1.0 - u))
        factor = series + remainder
    else:
        factor = (-math.log1p(-u) - u) / u**2
    return factor * (1.0 + 1e-14)


def bernstein_excess(gap: Any, square: Any, *, eta: Any, factor: Any, price: Any) -> Any:
    r"""Return how far a mean may be above its centre.

    .. math:: \frac{1 - e^{-a}}{\eta}, \qquad a = \eta\, g + v \eta^2 s + \pi ,

    where :math:`g` is the observed gap to the centre, :math:`s` the observed second moment about
    the centre, :math:`v` the ``bernstein_factor`` and :math:`\pi` the price in nats per term. The
    exponential moment of each term is :math:`1 - \eta\, \mathbb{E} X`, and this inverts it.
    """
    return -np.expm1(-(eta * gap + factor * eta**2 * square + price)) / eta


def _centred_moment(second_moment: float, *, loss: float, centre: float) -> float:
    r"""Return the mean of the squared loss around a centre, from that around one half.

    .. math:: s_c = \mathbb{E}_Q\, U(\ell - c)^2
              = M_2 + (1 - 2c) \bigl(\hat L(k_Q) - \tfrac12\bigr) + \bigl(\tfrac12 - c\bigr)^2 .

    Parameters
    ----------
    second_moment : float
        :math:`M_2`, around one half.
    loss : float
        Empirical loss :math:`\hat L(k_Q)`.
    centre : float
        Centre :math:`c`.

    Returns
    -------
    moment : float
        At least :math:`(\hat L(k_Q) - c)^2`. It is smallest for the centre at the loss itself.

    Examples
    --------
    A loss of 0 or 1 has the second moment 1/4 around one half. Around its mean it is the variance.

    >>> round(_centred_moment(0.25, loss=0.1, centre=0.1), 9)
    0.09
    """
    shift = 0.5 - centre
    return second_moment + 2.0 * shift * (loss - 0.5) + shift**2


def _unexpected_bernstein_fixed(
    *,
    loss: float,
    divergence: float,
    n_samples: int,
    epsilon: float,
    second_moment: float,
    eta: float,
    centre: float = 0.5,
    pairs: bool = True,
) -> Bound:
    r"""Return the bound of a fixed rate and a fixed centre.

    .. math:: L(k_Q) \le c + \frac{1 - e^{-a}}{\eta}, \qquad
              a = \eta \bigl(\hat L(k_Q) - c\bigr) + v\bigl(\eta (1 - c)\bigr)\, \eta^2 s_c
              + \frac{\mathrm{KL}(Q \Vert P) + \ln(1/\varepsilon)}{m} ,

    with :math:`s_c` the posterior mean of the empirical mean of :math:`(\ell - c)^2`, given by
    :func:`centred_moment`. The best centre is near the loss: there :math:`s_c` is a variance.

    *Proof.* :math:`X = \ell - c \le 1 - c`, and :math:`v` increases, so with
    :math:`v = v(\eta (1 - c))` we have
    :math:`\mathbb{E} \exp\{-\eta X - v \eta^2 X^2\} \le 1 - \eta\, \mathbb{E} X`, hence by
    independence a moment at most one for :math:`m` independent terms of
    :math:`-\eta X - v \eta^2 X^2 - \ln(1 - \eta\, \mathbb{E} X)`; it is an exponential of means,
    so it passes to pairs, and :math:`-\ln(1 - \eta x)` is convex, so the posterior average goes
    inside it.

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
    second_moment : float
        :math:`M_2`, the posterior mean of the second moments of the hypotheses around one half. Do
        not pass the second moment of the averaged kernel: it is smaller, and the bound would not
        hold.
    eta : float
        Rate in :math:`(0, 1 / (1 - c))`, fixed before the sample is seen.
    centre : float, default=0.5
        Centre :math:`c` in [0, 1/2], fixed before the sample is seen.
    pairs : bool, default=True
        Whether the loss is a mean over pairs: :math:`m = \lfloor n/2 \rfloor`, else :math:`m = n`.

    Returns
    -------
    bound : Bound
        The divergence term is the last one of :math:`a`.

    References
    ----------
    mhammedi2019, who bound :math:`1 - \eta x` by :math:`e^{-\eta x}`; hoeffding1963.
    """
    centre = interval("centre", centre, 0.0, 0.5)
    eta = open_interval("eta", eta, 0.0, 1.0 / (1.0 - centre))
    terms = checked_terms(
        loss=loss, divergence=divergence, n_samples=n_samples, epsilon=epsilon, pairs=pairs
    )
    moment = interval("second_moment", second_moment, (terms.loss - 0.5) ** 2, 0.25)
    square = _centred_moment(moment, loss=terms.loss, centre=centre)
    price = terms.nats / terms.n_terms
    factor = bernstein_factor(eta * (1.0 - centre))
    excess = bernstein_excess(terms.loss - centre, square, eta=eta, factor=factor, price=price)
    return Bound(
        value=centre + float(excess),
        empirical_term=terms.loss,
        divergence_term=price,
        parameters={"eta": eta, "centre": centre, "second_moment": moment},
        theorem="un-expected Bernstein",
        reference="mhammedi2019; cesabianchi2007; hoeffding1963",
    )


def _bernstein_rates(*, n_terms: int, n_hypotheses: int, epsilon: float) -> tuple[float, ...]:
    r"""Return the rates of the centre one half, for a finite prior.

    .. math:: \ell = \sqrt{8 a / m}, \quad u = \sqrt{16 (a + \ln N) / m}, \quad
              a = \ln(3/\varepsilon), \quad \eta \le 1.6 ,

    the best rates for the extreme second moments 1/4 and 1/8 and for the extreme divergences.

    Parameters
    ----------
    n_terms : int
        Number :math:`m` of independent terms.
    n_hypotheses : int
        Number :math:`N` of hypotheses, or any number written down before the sample is seen.
    epsilon : float
        Probability of failure.

    Returns
    -------
    rates : tuple of float
        Three increasing values.
    """
    nats = math.log(_N_RATES / unit_open("epsilon", epsilon))
    log_n = math.log(count("n_hypotheses", n_hypotheses, 1))
    return geometric_midpoints(
        math.sqrt(8.0 * nats / n_terms),
        math.sqrt(16.0 * (nats + log_n) / n_terms),
        n_points=_N_RATES,
        cap=_LARGEST_RATE,
    )


def _bernstein_grid(*, n_terms: int, n_hypotheses: int, epsilon: float) -> Grid:
    r"""Return the grid of centres and rates, with its weights.

    .. math:: \text{weight } \tfrac78:\ c = \tfrac12,\ \eta \text{ of } \mathtt{bernstein\_rates};
              \qquad \text{weight } \tfrac18:\ c \in \{0, 0.1, 0.2, 0.3\},\
              \eta = \frac{u}{1 - c},\ u \text{ of } \mathtt{rate\_shares} .

    The first part is best for losses near one half and divergences up to :math:`\ln N`. The second
    is best for small losses, where it hardly matters that its weights are small: the price of a
    weight is :math:`\ln(1/w) / (m \eta)`, and the rates are large.

    Parameters
    ----------
    n_terms, n_hypotheses, epsilon
        As in :func:`bernstein_rates`.

    Returns
    -------
    grid : tuple of GridPoint
        Points whose weights sum to one.
    """
    rates = _bernstein_rates(n_terms=n_terms, n_hypotheses=n_hypotheses, epsilon=epsilon)
    shares = rate_shares(n_terms)
    return weighted_grid(
        [(0.5, eta) for eta in rates],
        [(centre, share / (1.0 - centre)) for centre in _CENTRES for share in shares],
        share=_SHARE_OF_HALF,
    )


def unexpected_bernstein(
    *,
    loss: float,
    divergence: float,
    n_samples: int,
    epsilon: float,
    second_moment: float,
    n_hypotheses: int,
    pairs: bool = True,
) -> Bound:
    r"""Return the smallest bound of a grid of centres and rates, for any number of classes.

    .. math:: L(k_Q) \le \min_k \Bigl\{ c_k + \frac{1 - e^{-a_k}}{\eta_k} \Bigr\}, \qquad
              a_k = \eta_k \bigl(\hat L(k_Q) - c_k\bigr) + v\bigl(\eta_k (1 - c_k)\bigr)\, \eta_k^2
              s_{c_k} + \frac{\mathrm{KL}(Q \Vert P) + \ln(1/(w_k \varepsilon))}{m} .

    The grid is ``_bernstein_grid``: a function of :math:`m`, :math:`N` and :math:`\varepsilon`
    alone.

    Parameters
    ----------
    loss, divergence, n_samples, epsilon, second_moment
        As in ``_unexpected_bernstein_fixed``.
    n_hypotheses : int
        Number of hypotheses of the prior. It only decides where a part of the grid lies.
    pairs : bool, default=True
        As in ``_unexpected_bernstein_fixed``.

    Returns
    -------
    bound : Bound
        The best of the grid.

    References
    ----------
    mhammedi2019, hoeffding1963.
    """
    m = n_terms(n_samples, pairs=pairs)
    grid = _bernstein_grid(n_terms=m, n_hypotheses=n_hypotheses, epsilon=epsilon)
    bounds = (
        _unexpected_bernstein_fixed(
            loss=loss,
            divergence=divergence,
            n_samples=n_samples,
            epsilon=point.weight * epsilon,
            second_moment=second_moment,
            eta=point.eta,
            centre=point.centre,
            pairs=pairs,
        )
        for point in grid
    )
    return smallest(
        bounds, theorem="un-expected Bernstein, grid of centres and rates", **tried(grid)
    )


RECORDS = (
    BoundRecord(
        name="unexpected_bernstein",
        function=unexpected_bernstein,
        needs=("loss", "divergence", "n_samples", "second_moment", "n_hypotheses", "pairs"),
        exponential=True,
        advice="labels that are classes. Use bound='catoni_grid' for other labels.",
        auto=Auto(rank=3, known=("second_moment",)),
    ),
)
