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

import numpy as np
import numpy.typing as npt

from pacfourier.arrays import FloatArray
from pacfourier.bounds.arguments import (
    GridPoint,
    bounded_vector,
    count,
    interval,
    tried,
    unit_open,
)
from pacfourier.bounds.bernstein import bernstein_excess, bernstein_factor
from pacfourier.bounds.binary_kl import supremum
from pacfourier.bounds.first_order import first_order_grid
from pacfourier.bounds.result import Bound

# The shares of its wealth that each player bets: 31 quantiles of the arcsine law on (0, 1), as in
# the universal portfolio of Cover. They suit scores of any mean and variance.
_SHARES: FloatArray = np.sin(math.pi * (np.arange(31) + 0.5) / 62) ** 2
# Scores per product of scores and shares, to bound its memory.
_PART = 4096
# The wealth is a sum of many logarithms: asking for slightly more covers their rounding.
_SAFETY = 1e-9


def _log_wealth(scores: FloatArray, mean: float) -> float:
    r"""Return the logarithm of what bets against a mean score have won.

    .. math:: W(r) = \frac1G \sum_{k=1}^{G} \prod_i \Bigl(1 - g_k + g_k \frac{1 + Z_i}{1 + r}
              \Bigr) .

    Player k bets a fixed share :math:`g_k` of its wealth that the next score is above r.
    """
    excess = (1.0 + scores) / (1.0 + mean) - 1.0
    parts = (excess[start : start + _PART] for start in range(0, excess.size, _PART))
    gains = np.sum([np.log1p(np.outer(_SHARES, part)).sum(axis=1) for part in parts], axis=0)
    largest = float(gains.max())
    return largest + math.log(float(np.exp(gains - largest).mean()))


def least_mean_score(scores: FloatArray, epsilon: float) -> float:
    r"""Return the largest mean score against which the bets have won enough.

    .. math:: \rho = \max\{r \in [-1, 1] : W(r) \ge 1/\varepsilon\} ,

    and -1 if no r qualifies. It exceeds the true mean with probability at most epsilon: the proof
    is in :func:`holdout_betting`.
    """
    goal = _SAFETY - math.log(epsilon)
    # At r = 1 no bet wins. Downward from there, the first r that qualifies is the largest.
    return -supremum(lambda r: _log_wealth(scores, -r) < goal, -1.0, 1.0)


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
        parameters={"grid": tuple(_SHARES.tolist())},
        theorem="betting hold-out, two classes",
        reference="waudbysmith2024; ville1939",
    )


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
              \rho = \max_k \Bigl(c_k - \frac{1 - e^{-A_k}}{\eta_k}\Bigr)
              \text{ clipped to } [0, 1],

    .. math:: A_k = \eta_k (c_k - \bar Z) + v\bigl(\eta_k (1 + c_k)\bigr)\, \eta_k^2\,
              \bigl(\overline{Z^2} - 2 c_k \bar Z + c_k^2\bigr)
              + \frac{\ln(1/(w_k \varepsilon))}{n} ,

    over the grid of :func:`first_order` for a single hypothesis.

    *Proof.* :math:`X = c - Z \le 1 + c`, so with :math:`v = v(\eta (1 + c))` we have
    :math:`\mathbb{E} \exp\{-\eta X - v \eta^2 X^2\} \le 1 - \eta\, \mathbb{E} X`. By
    independence and Markov's inequality :math:`-\ln(1 - \eta\, \mathbb{E} X) \le A` with
    probability at least :math:`1 - w \varepsilon`, which is :math:`\mathbb{E} Z \ge c -
    (1 - e^{-A}) / \eta`. The rest is in the docstring of this module.

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
    grid = first_order_grid(n_samples=n, n_hypotheses=1, epsilon=epsilon)
    means = [_least_mean(point, mean, square, n_samples=n, epsilon=epsilon) for point in grid]
    best = int(np.argmax(means))
    centre, eta, weight = grid[best]
    return _bound_of_scores(
        min(max(means[best], 0.0), 1.0),
        mean=mean,
        price=-math.log(weight * epsilon) / n,
        concentration=concentration,
        parameters={"centre": centre, "eta": eta, **tried(grid)},
        theorem="first-order hold-out, two classes",
        reference="mhammedi2019; cesabianchi2007",
    )


def _least_mean(
    point: GridPoint, mean: float, square: float, *, n_samples: int, epsilon: float
) -> float:
    """Return the mean score that one point of the grid certifies."""
    centre, eta, weight = point
    moment = square - 2.0 * centre * mean + centre**2
    factor = bernstein_factor(eta * (1.0 + centre))
    price = -math.log(weight * epsilon) / n_samples
    return centre - float(
        bernstein_excess(centre - mean, moment, eta=eta, factor=factor, price=price)
    )


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
