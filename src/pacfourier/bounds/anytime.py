r"""Bounds that hold at all numbers of rows at once, so that you may stop when you like.

An ordinary bound holds with probability :math:`1 - \varepsilon` at one number of rows, fixed in
advance. Whoever looks after every batch and stops at a good value sees its failures more often than
that. The bounds of this module hold at every n together, for all posteriors, so also at the worst
moment to stop. The prior must be fixed before the first row, and no row may be left out.

There are two ways. Sums over points with rates that do not know n are supermartingales
(:func:`anytime_first_order`). Means over pairs are not, but they are reverse martingales
(:func:`anytime_bernstein`).
"""

import math
from dataclasses import replace
from itertools import count as integers

import numpy.typing as npt

from pacfourier.bounds.arguments import LARGEST_SHARE, RATE_RATIO, Grid, GridPoint, count
from pacfourier.bounds.bernstein import unexpected_bernstein
from pacfourier.bounds.first_order import CENTRES, SHARE_OF_ZERO, first_order_on_grid
from pacfourier.bounds.record import Auto, BoundRecord
from pacfourier.bounds.result import Bound

# A new size is taken into account when the sample has grown by this factor.
_GROWTH = 1.2
_FIRST_SIZE = 2


def _share_of(index: int) -> float:
    r"""Return the share of epsilon of one term of an endless list.

    .. math:: w_j = \frac{1}{(j + 1)(j + 2)}, \qquad \sum_{j \ge 0} w_j = 1 .

    Examples
    --------
    >>> _share_of(0), _share_of(3)
    (0.5, 0.05)
    """
    return 1.0 / ((index + 1) * (index + 2))


def _stream_grid(n_samples: int) -> Grid:
    r"""Return the part of an endless grid of centres and rates that is worth trying.

    .. math:: c \in \{0, 0.3, 0.6, 0.9\}, \qquad \eta_k = \frac{0.9}{1.5^k (1 + c)}, \qquad
              w_k \propto \frac{1}{(k + 1)(k + 2)}, \qquad k = 0, 1, \dots

    The grid and its weights do not depend on n, and all its points hold together. Smaller rates
    than :math:`1 / \sqrt n` are left out because they are not the best.

    Parameters
    ----------
    n_samples : int
        Number of points :math:`n`.

    Returns
    -------
    grid : tuple of GridPoint
        Points whose weights sum to less than one.
    """
    least = min(0.3, 1.0 / math.sqrt(n_samples))
    n_rates = 1 + math.floor(math.log(LARGEST_SHARE / least) / math.log(RATE_RATIO))
    others = (1.0 - SHARE_OF_ZERO) / len(CENTRES)
    shares = {0.0: SHARE_OF_ZERO, **dict.fromkeys(CENTRES, others)}
    return tuple(
        GridPoint(centre, LARGEST_SHARE / RATE_RATIO**k / (1.0 + centre), share * _share_of(k))
        for centre, share in shares.items()
        for k in range(n_rates)
    )


def anytime_first_order(
    *,
    posterior: npt.ArrayLike,
    log_prior: npt.ArrayLike,
    amplitudes: npt.ArrayLike,
    second_harmonics: npt.ArrayLike,
    n_samples: int,
    epsilon: float,
) -> Bound:
    r"""Return :func:`first_order` with rates that do not know n: it holds at all n at once.

    The formula is that of :func:`first_order`, on the grid of ``_stream_grid``.

    *Proof.* Fix a point (c, eta) of the grid and a hypothesis, a frequency with a phase. The proof
    of :func:`first_order` multiplies n independent factors

    .. math:: e^{-\eta X_i - v \eta^2 X_i^2} / (1 - \eta\, \mathbb{E} X), \qquad
              X_i = c - y_i \cos(\omega \cdot x_i - \varphi) ,

    each of mean at most one. So the product is a supermartingale that starts at one, and so is its
    mean under the prior. By Ville's inequality it reaches :math:`1 / (w \varepsilon)` at *any* n
    with probability at most :math:`w \varepsilon`. The weights of the endless grid sum to one, so
    all its points hold at all n together with probability :math:`1 - \varepsilon`.

    Parameters
    ----------
    posterior : array of shape (n_hypotheses,)
        Weights of the hypotheses; they may differ from one n to the next.
    log_prior : array of shape (n_hypotheses,)
        Logarithms of the prior, which was fixed before the first row.
    amplitudes, second_harmonics : arrays of shape (n_hypotheses,)
        As in :func:`first_order`.
    n_samples : int
        Number of points :math:`n` so far, at least two.
    epsilon : float
        Probability of failure at any n, for all posteriors at once.

    Returns
    -------
    bound : Bound
        At most one half.

    References
    ----------
    chugg2023, ville1939, mhammedi2019.
    """
    return first_order_on_grid(
        _stream_grid(count("n_samples", n_samples, 2)),
        posterior=posterior,
        log_prior=log_prior,
        amplitudes=amplitudes,
        second_harmonics=second_harmonics,
        n_samples=n_samples,
        epsilon=epsilon,
        theorem="first-order arc at any number of rows, two classes",
        reference="chugg2023; ville1939; mhammedi2019",
    )


def _last_size(n_samples: int) -> tuple[int, float]:
    r"""Return the last size of an endless list that the sample has reached, and its share.

    .. math:: n_j = \lfloor 2 \cdot 1.2^j \rfloor, \qquad w_j = \frac{1}{(j + 1)(j + 2)} .

    Examples
    --------
    >>> size, share = _last_size(1000)
    >>> size, round(1 / share)
    (984, 1260)
    """
    for j in integers():
        if math.floor(_FIRST_SIZE * _GROWTH ** (j + 1)) > n_samples:
            return math.floor(_FIRST_SIZE * _GROWTH**j), _share_of(j)
    raise AssertionError("the sizes grow without end")


def anytime_bernstein(
    *,
    loss: float,
    divergence: float,
    n_samples: int,
    epsilon: float,
    second_moment: float,
    n_hypotheses: int,
) -> Bound:
    r"""Return :func:`unexpected_bernstein` for means over pairs, at all n at once.

    It is the bound for :math:`n_j` samples at the level :math:`w_j \varepsilon`, with the loss and
    the second moment of all :math:`n \ge n_j` samples. ``_last_size`` returns both numbers.

    *Proof.* For :math:`n \ge n_j` the mean :math:`U_n` over all pairs is the average of
    :math:`U_{n_j}` over all choices of :math:`n_j` points among n. That is its conditional
    expectation given the first n points without their order, and all later points. The exponent B
    of the bound is linear in such means. By Jensen's inequality :math:`\mathbb{E}_P e^{B_n}` is at
    most the conditional expectation of :math:`\mathbb{E}_P e^{B_{n_j}}`, which is a martingale as n
    *decreases* to :math:`n_j`. By Doob's inequality it reaches :math:`1 / (w_j \varepsilon)` at
    any :math:`n \ge n_j` with probability at most :math:`w_j \varepsilon\, \mathbb{E}\,
    \mathbb{E}_P e^{B_{n_j}} \le w_j \varepsilon`. The shares sum to one.

    Parameters
    ----------
    loss, divergence : float
        As in :func:`unexpected_bernstein`.
    n_samples : int
        Number of points :math:`n` so far, at least two.
    epsilon : float
        Probability of failure at any n, for all posteriors at once.
    second_moment, n_hypotheses
        As in :func:`unexpected_bernstein`.

    Returns
    -------
    bound : Bound
        The best of the grid.

    References
    ----------
    chugg2023, mhammedi2019, hoeffding1963.
    """
    size, share = _last_size(count("n_samples", n_samples, _FIRST_SIZE))
    bound = unexpected_bernstein(
        loss=loss,
        divergence=divergence,
        n_samples=size,
        epsilon=share * epsilon,
        second_moment=second_moment,
        n_hypotheses=n_hypotheses,
    )
    return replace(
        bound,
        parameters={**bound.parameters, "size": size, "share": share},
        theorem="un-expected Bernstein at any number of rows",
        reference="chugg2023; mhammedi2019; hoeffding1963",
    )


RECORDS = (
    BoundRecord(
        name="anytime_first_order",
        function=anytime_first_order,
        needs=("posterior", "log_prior", "amplitudes", "second_harmonics", "n_samples"),
        requires=("binary",),
        advice="declared binary labels: pass target_type='binary' if y can only have two values.",
        auto=Auto(rank=1, known=("binary",)),
        anytime=True,
    ),
    BoundRecord(
        name="anytime_bernstein",
        function=anytime_bernstein,
        needs=("loss", "divergence", "n_samples", "second_moment", "n_hypotheses"),
        advice="labels that are classes.",
        auto=Auto(rank=2, unknown=("binary",)),
        anytime=True,
    ),
)
