r"""Bounds for a kernel that was frozen before the rows were read, for two declared classes.

The kernel :math:`k_Q` is learned on other rows, which also give every frequency a phase
:math:`\varphi_\omega` and an amplitude :math:`a_\omega \ge 0`. Let
:math:`Q'(\omega) \propto Q(\omega) a_\omega` and

.. math:: Z_i = y_i \sum_\omega Q'(\omega) \cos(\omega \cdot x_i - \varphi_\omega) \in [-1, 1] .

These *scores* are independent draws. If their mean is at least :math:`\rho \ge 0`, then

.. math:: L(k_Q) \le \tfrac12 \bigl(1 - \kappa \rho^2\bigr), \qquad
          \kappa = \frac{(\mathbb{E}_Q a_\omega)^2}{\mathbb{E}_Q a_\omega^2} .

*Proof.* With :math:`m_\omega = \mathbb{E}\, y e^{i \omega \cdot x}`, the mean of a score is
:math:`\mathbb{E}_{Q'} \mathrm{Re}(m_\omega e^{-i \varphi_\omega}) \le \mathbb{E}_{Q'} |m_\omega|`.
By Cauchy-Schwarz :math:`\mathbb{E}_Q |m|^2 \ge (\mathbb{E}_Q a |m|)^2 / \mathbb{E}_Q a^2 = \kappa
(\mathbb{E}_{Q'} |m|)^2`, and :math:`1 - 2 L(k_Q) = \mathbb{E}_Q |m|^2`.
"""

import math
from itertools import product

import numpy as np
import numpy.typing as npt

from pacfourier.arrays import FloatArray
from pacfourier.bounds._arguments import bounded_vector, count, interval, unit_open
from pacfourier.bounds._bernstein import bernstein_excess, bernstein_factor
from pacfourier.bounds._binary_kl import supremum
from pacfourier.bounds._result import Bound

# The shares of its wealth that each player bets: 31 quantiles of the arcsine law on (0, 1), as in
# the universal portfolio of Cover. They suit scores of any mean and variance.
SHARES: FloatArray = np.sin(math.pi * (np.arange(31) + 0.5) / 62) ** 2
# Scores per product of scores and shares, to bound its memory.
PART = 4096
# The wealth is a sum of many logarithms: asking for slightly more covers their rounding.
SAFETY = 1e-9
CENTRES = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9)
LARGEST_RATE, LARGEST_RATIO = 0.9, 1.6


def log_wealth(scores: FloatArray, mean: float) -> float:
    r"""Return the logarithm of what bets against a mean score have won.

    .. math:: W(r) = \frac1G \sum_{k=1}^{G} \prod_i \Bigl(1 - g_k + g_k \frac{1 + Z_i}{1 + r}
              \Bigr) .

    Player k bets a fixed share :math:`g_k` of its wealth that the next score is above r.
    """
    excess = (1.0 + scores) / (1.0 + mean) - 1.0
    parts = (excess[start : start + PART] for start in range(0, excess.size, PART))
    gains = np.sum([np.log1p(np.outer(SHARES, part)).sum(axis=1) for part in parts], axis=0)
    largest = float(gains.max())
    return largest + math.log(float(np.exp(gains - largest).mean()))


def least_mean_score(scores: FloatArray, epsilon: float) -> float:
    r"""Return the largest mean score against which the bets have won enough.

    .. math:: \rho = \max\{r \in [-1, 1] : W(r) \ge 1/\varepsilon\} ,

    and -1 if no r qualifies. It exceeds the true mean with probability at most epsilon: the proof
    is in :func:`holdout_betting`.
    """
    goal = SAFETY - math.log(epsilon)
    # At r = 1 no bet wins. Downward from there, the first r that qualifies is the largest.
    return -supremum(lambda r: log_wealth(scores, -r) < goal, -1.0, 1.0)


def holdout_betting(*, scores: npt.ArrayLike, epsilon: float, concentration: float = 1.0) -> Bound:
    r"""Return the betting bound of a frozen kernel, at any number of rows.

    .. math:: L(k_Q) \le \tfrac12 (1 - \kappa \rho^2), \qquad
              \rho = \max\{r \ge 0 : W(r) \ge 1/\varepsilon\}, \qquad
              W(r) = \frac1G \sum_{k=1}^{G} \prod_{i=1}^{n}
              \Bigl(1 - g_k + g_k \frac{1 + Z_i}{1 + r}\Bigr) ,

    and :math:`\rho = 0` if no r qualifies. The shares :math:`g_k` are fixed numbers in (0, 1).

    *Proof.* At :math:`r = \mathbb{E} Z` every factor is non-negative with mean one, so the wealth
    W is a martingale that starts at one. By Ville's inequality it reaches :math:`1/\varepsilon` at
    *any* time with probability at most :math:`\varepsilon`. The wealth decreases in r, so
    :math:`\rho \ge \mathbb{E} Z` only if :math:`W(\mathbb{E} Z) \ge 1/\varepsilon`. The rest is in
    the docstring of this module. You may therefore look at the bound after every row, and stop
    when you like.

    Parameters
    ----------
    scores : array of shape (n_samples,)
        The scores :math:`Z_i` in [-1, 1], of rows that nothing was learned from.
    epsilon : float
        Probability that the bound fails, at any number of rows.
    concentration : float, default=1.0
        :math:`\kappa` in [0, 1], from the rows of the fit. It is one for a single frequency.

    Returns
    -------
    bound : Bound
        At most one half. ``parameters["rho"]`` is :math:`\rho`.

    References
    ----------
    waudbysmith2024, ville1939; cover1991 for the shares.

    Examples
    --------
    No bet can win on scores that cancel:

    >>> holdout_betting(scores=[1.0, -1.0], epsilon=0.05).value
    0.5
    """
    values = bounded_vector("scores", scores, -1.0, 1.0)
    rho = max(least_mean_score(values, unit_open("epsilon", epsilon)), 0.0)
    return _bound_of_scores(
        rho,
        mean=float(values.mean()),
        price=-math.log(epsilon) / values.size,
        concentration=concentration,
        parameters={"grid": tuple(SHARES.tolist())},
        theorem="betting hold-out, two classes",
        reference="waudbysmith2024; ville1939",
    )


def score_grid(*, n_samples: int, epsilon: float) -> tuple[tuple[float, float], ...]:
    r"""Return the grid of centres c and rates, fixed by the number of rows and epsilon.

    .. math:: c \in \{0, .2, .4, .6, .8, .9\}, \qquad e \text{ geometric from } \min(.3, \tfrac12
              \sqrt{2 K / n}) \text{ to } 0.9, \qquad K = \ln(48/\varepsilon) + 1 ,

    with a ratio of at most 1.6 between neighbours.

    Parameters
    ----------
    n_samples : int
        Number of rows :math:`n`.
    epsilon : float
        Probability of failure of the whole grid.

    Returns
    -------
    grid : tuple of (float, float)
        Pairs of a centre and of :math:`e = \eta (1 + c)`.
    """
    lowest = min(0.3, 0.5 * math.sqrt(2.0 * (math.log(48.0 / epsilon) + 1.0) / n_samples))
    n_rates = 1 + math.ceil(math.log(LARGEST_RATE / lowest) / math.log(LARGEST_RATIO))
    return tuple(product(CENTRES, np.geomspace(lowest, LARGEST_RATE, n_rates).tolist()))


def holdout_first_order(
    *,
    score: float,
    squared_score: float,
    n_samples: int,
    epsilon: float,
    concentration: float = 1.0,
) -> Bound:
    r"""Return the un-expected Bernstein bound of a frozen kernel, from two moments of its scores.

    .. math:: L(k_Q) \le \tfrac12 (1 - \kappa \rho^2), \qquad
              \rho = \max_{c, \eta} \Bigl(c + \frac{e^{-A} - 1}{\eta}\Bigr)
              \text{ clipped to } [0, 1],

    .. math:: A = \eta (c - \bar Z) + v(e)\, \eta^2\, \bigl(\overline{Z^2} - 2 c \bar Z + c^2\bigr)
              + \frac{\ln(G/\varepsilon)}{n}, \qquad e = \eta (1 + c) ,

    over a fixed grid of :math:`G` pairs (:func:`score_grid`).

    *Proof.* :math:`X = c - Z \le 1 + c`, so :math:`\eta X \le e < 1` and
    :math:`\mathbb{E} \exp\{-\eta X - v(e) \eta^2 X^2\} \le 1 - \eta\, \mathbb{E} X`. By
    independence and Markov's inequality :math:`-\ln(1 - \eta\, \mathbb{E} X) \le A` with
    probability at least :math:`1 - \varepsilon / G`, which is :math:`\mathbb{E} Z \ge c +
    (e^{-A} - 1) / \eta`. The rest is in the docstring of this module.

    Parameters
    ----------
    score, squared_score : float
        Means :math:`\bar Z` and :math:`\overline{Z^2}` over rows that nothing was learned from.
    n_samples : int
        Number of these rows :math:`n`, fixed in advance.
    epsilon : float
        Probability of failure.
    concentration : float, default=1.0
        :math:`\kappa` in [0, 1], from the rows of the fit. It is one for a single frequency.

    Returns
    -------
    bound : Bound
        At most one half. ``parameters["rho"]`` is :math:`\rho`.

    References
    ----------
    mhammedi2019, cesabianchi2007.
    """
    n, epsilon = count("n_samples", n_samples, 1), unit_open("epsilon", epsilon)
    mean = interval("score", score, -1.0, 1.0)
    square = interval("squared_score", squared_score, mean**2, 1.0)
    grid = score_grid(n_samples=n, epsilon=epsilon)
    price = math.log(len(grid) / epsilon) / n
    means = [_least_mean(centre, rate, mean, square, price) for centre, rate in grid]
    best = int(np.argmax(means))
    return _bound_of_scores(
        min(max(means[best], 0.0), 1.0),
        mean=mean,
        price=price,
        concentration=concentration,
        parameters={"centre": grid[best][0], "rate": grid[best][1]},
        theorem="first-order hold-out, two classes",
        reference="mhammedi2019; cesabianchi2007",
    )


def _least_mean(centre: float, rate: float, mean: float, square: float, price: float) -> float:
    """Return the mean score that one pair of the grid certifies."""
    eta = rate / (1.0 + centre)
    moment = square - 2.0 * centre * mean + centre**2
    factor = bernstein_factor(rate)
    excess = bernstein_excess(centre - mean, moment, eta=eta, factor=factor, price=price)
    return centre - float(excess)


def _bound_of_scores(
    rho: float,
    *,
    mean: float,
    price: float,
    concentration: float,
    parameters: dict[str, float | tuple[float, ...]],
    theorem: str,
    reference: str,
) -> Bound:
    """Return the bound on the loss that follows from a mean score of at least rho."""
    kappa = interval("concentration", concentration, 0.0, 1.0)
    return Bound(
        value=0.5 * (1.0 - kappa * rho**2),
        empirical_term=0.5 * (1.0 - kappa * max(mean, 0.0) ** 2),
        divergence_term=price,
        parameters={"rho": rho, "concentration": kappa, **parameters},
        theorem=theorem,
        reference=reference,
    )
