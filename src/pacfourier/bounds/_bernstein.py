"""Un-expected Bernstein bound: it uses an empirical second moment instead of a variance."""

import math

from pacfourier.bounds._arguments import (
    checked_terms,
    count,
    geometric_midpoints,
    interval,
    n_terms,
    open_interval,
    smallest,
    unit_open,
)
from pacfourier.bounds._record import Auto, BoundRecord
from pacfourier.bounds._result import Bound

N_RATES = 3
LARGEST_RATE = 1.6
N_SERIES = 16


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
        series = sum(u ** (k - 2) / k for k in range(2, N_SERIES + 1))
        remainder = u ** (N_SERIES - 1) / ((N_SERIES + 1) * (1.0 - u))
        factor = series + remainder
    else:
        factor = (-math.log1p(-u) - u) / u**2
    return factor * (1.0 + 1e-14)


def unexpected_bernstein_fixed(
    *,
    loss: float,
    divergence: float,
    n_samples: int,
    epsilon: float,
    second_moment: float,
    eta: float,
    pairs: bool = True,
) -> Bound:
    r"""Return the bound of a fixed rate, with the loss centred at one half.

    .. math:: L(k_Q) \le \frac12 + \frac{1 - e^{-a}}{\eta}, \qquad
              a = \eta \bigl(\hat L(k_Q) - \tfrac12\bigr) + v(\eta/2)\, \eta^2 M_2
              + \frac{\mathrm{KL}(Q \Vert P) + \ln(1/\varepsilon)}{m} ,

    with :math:`M_2` the posterior mean of the empirical mean of :math:`(\ell - \frac12)^2`.

    *Proof.* :math:`X = \ell - \frac12 \le \frac12` gives
    :math:`\mathbb{E} \exp\{-\eta X - v(\eta/2) \eta^2 X^2\} \le 1 - \eta\, \mathbb{E} X`, hence by
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
        :math:`M_2`, the posterior mean of the second moments of the hypotheses. Do not pass the
        second moment of the averaged kernel: it is smaller, and the bound would not hold.
    eta : float
        Rate in (0, 2), fixed before the sample is seen.
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
    eta = open_interval("eta", eta, 0.0, 2.0)
    terms = checked_terms(
        loss=loss, divergence=divergence, n_samples=n_samples, epsilon=epsilon, pairs=pairs
    )
    centred = terms.loss - 0.5
    moment = interval("second_moment", second_moment, centred**2, 0.25)
    price = terms.nats / terms.n_terms
    exponent = eta * centred + bernstein_factor(eta / 2.0) * eta**2 * moment + price
    return Bound(
        value=0.5 - math.expm1(-exponent) / eta,
        empirical_term=terms.loss,
        divergence_term=price,
        parameters={"eta": eta, "second_moment": moment},
        theorem="un-expected Bernstein",
        reference="mhammedi2019; cesabianchi2007; hoeffding1963",
    )


def bernstein_rates(*, n_terms: int, n_hypotheses: int, epsilon: float) -> tuple[float, ...]:
    r"""Return the grid of rates of a finite prior.

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
        Probability of failure of the whole grid.

    Returns
    -------
    rates : tuple of float
        Three increasing values.
    """
    nats = math.log(N_RATES / unit_open("epsilon", epsilon))
    log_n = math.log(count("n_hypotheses", n_hypotheses, 1))
    return geometric_midpoints(
        math.sqrt(8.0 * nats / n_terms),
        math.sqrt(16.0 * (nats + log_n) / n_terms),
        n_points=N_RATES,
        cap=LARGEST_RATE,
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
    r"""Return the smallest bound of a grid of three rates, for any number of classes.

    .. math:: L(k_Q) \le \frac12 + \min_{k \le 3} \frac{1 - e^{-a_k}}{\eta_k}, \qquad
              a_k = \eta_k \bigl(\hat L(k_Q) - \tfrac12\bigr) + v(\eta_k/2)\, \eta_k^2 M_2
              + \frac{\mathrm{KL}(Q \Vert P) + \ln(3/\varepsilon)}{m} .

    Parameters
    ----------
    loss, divergence, n_samples, epsilon, second_moment
        As in :func:`unexpected_bernstein_fixed`.
    n_hypotheses : int
        Number of hypotheses of the prior. It only decides where the grid lies.
    pairs : bool, default=True
        As in :func:`unexpected_bernstein_fixed`.

    Returns
    -------
    bound : Bound
        The best of the three.

    References
    ----------
    mhammedi2019, hoeffding1963.
    """
    m = n_terms(n_samples, pairs=pairs)
    grid = bernstein_rates(n_terms=m, n_hypotheses=n_hypotheses, epsilon=epsilon)
    bounds = (
        unexpected_bernstein_fixed(
            loss=loss,
            divergence=divergence,
            n_samples=n_samples,
            epsilon=epsilon / len(grid),
            second_moment=second_moment,
            eta=eta,
            pairs=pairs,
        )
        for eta in grid
    )
    return smallest(bounds, grid=grid, theorem="un-expected Bernstein, grid of rates")


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
