"""Bounds that are linear in the loss: the sub-Gaussian moment of a bounded mean."""

import math

from pacfourier.bounds.arguments import (
    checked_terms,
    count,
    geometric_midpoints,
    n_terms,
    positive,
    smallest,
    unit_open,
)
from pacfourier.bounds.record import BoundRecord
from pacfourier.bounds.result import Bound

_N_TEMPERATURES = 3


def hoeffding(
    *,
    loss: float,
    divergence: float,
    n_samples: int,
    epsilon: float,
    inverse_temperature: float,
    pairs: bool = True,
) -> Bound:
    r"""Return the bound of a fixed inverse temperature.

    .. math:: L(k_Q) \le \hat L(k_Q) + \frac{\mathrm{KL}(Q \Vert P) + \ln(1/\varepsilon)}{t}
              + \frac{t}{8 m} .

    It inverts :math:`\mathbb{E} \exp\{t(L - \hat L) - t^2/(8m)\} \le 1`, Hoeffding's lemma for
    losses of range one. For a given :math:`t` its minimiser is the Gibbs posterior
    :math:`Q \propto P e^{-t \hat L}`.

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
    inverse_temperature : float
        Constant :math:`t > 0`, fixed before the sample is seen.
    pairs : bool, default=True
        Whether the loss is a mean over pairs: :math:`m = \lfloor n/2 \rfloor`, else :math:`m = n`.

    Returns
    -------
    bound : Bound
        The divergence term is the second one of the formula.

    References
    ----------
    hoeffding1963, catoni2007, ralaivola2010.

    Examples
    --------
    >>> args = {"loss": 0.25, "divergence": 0.0, "n_samples": 50, "epsilon": math.exp(-1.0)}
    >>> hoeffding(**args, inverse_temperature=20.0, pairs=False).value
    0.35
    """
    t = positive("inverse_temperature", inverse_temperature)
    terms = checked_terms(
        loss=loss, divergence=divergence, n_samples=n_samples, epsilon=epsilon, pairs=pairs
    )
    price = terms.nats / t
    return Bound(
        value=terms.loss + price + t / (8.0 * terms.n_terms),
        empirical_term=terms.loss,
        divergence_term=price,
        parameters={"inverse_temperature": t},
        theorem="Hoeffding",
        reference="hoeffding1963; catoni2007; ralaivola2010",
    )


def _hoeffding_temperatures(
    *, n_terms: int, n_hypotheses: int, epsilon: float
) -> tuple[float, ...]:
    r"""Return the grid of inverse temperatures of a finite prior.

    With :math:`N` equally likely hypotheses the divergence lies in :math:`[0, \ln N]`, so that the
    best temperature :math:`\sqrt{8 m (\mathrm{KL} + a)}`, :math:`a = \ln(3/\varepsilon)`, lies
    between :math:`\sqrt{8 m a}` and :math:`\sqrt{8 m (a + \ln N)}`: three midpoints are enough.

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
    temperatures : tuple of float
        Three increasing values.
    """
    nats = math.log(_N_TEMPERATURES / unit_open("epsilon", epsilon))
    log_n = math.log(count("n_hypotheses", n_hypotheses, 1))
    scale = 8.0 * n_terms
    return geometric_midpoints(
        math.sqrt(scale * nats), math.sqrt(scale * (nats + log_n)), n_points=_N_TEMPERATURES
    )


def hoeffding_grid(
    *,
    loss: float,
    divergence: float,
    n_samples: int,
    epsilon: float,
    n_hypotheses: int,
    pairs: bool = True,
) -> Bound:
    r"""Return the smallest bound of a grid of three inverse temperatures.

    .. math:: L(k_Q) \le \min_{k \le 3} \Bigl\{ \hat L(k_Q) +
              \frac{\mathrm{KL}(Q \Vert P) + \ln(3/\varepsilon)}{t_k} + \frac{t_k}{8 m} \Bigr\} .

    Parameters
    ----------
    loss, divergence, n_samples, epsilon
        As in :func:`hoeffding`.
    n_hypotheses : int
        Number of hypotheses of the prior. It only decides where the grid lies.
    pairs : bool, default=True
        As in :func:`hoeffding`.

    Returns
    -------
    bound : Bound
        The best of the three.

    References
    ----------
    hoeffding1963, catoni2007.
    """
    m = n_terms(n_samples, pairs=pairs)
    grid = _hoeffding_temperatures(n_terms=m, n_hypotheses=n_hypotheses, epsilon=epsilon)
    bounds = (
        hoeffding(
            loss=loss,
            divergence=divergence,
            n_samples=n_samples,
            epsilon=epsilon / len(grid),
            inverse_temperature=t,
            pairs=pairs,
        )
        for t in grid
    )
    return smallest(bounds, grid=grid, theorem="Hoeffding, grid of temperatures")


def hoeffding_peeling(
    *, loss: float, divergence: float, n_samples: int, epsilon: float, pairs: bool = True
) -> Bound:
    r"""Return the bound optimised in the temperature by slicing the divergence.

    .. math:: L(k_Q) \le \hat L(k_Q) + \sqrt{\frac{k + \ln\frac{\pi^2 k^2}{6 \varepsilon}}{2 m}},
              \qquad k = \max(1, \lceil \mathrm{KL}(Q \Vert P) \rceil) .

    Slice :math:`k` uses the temperature that is best for a divergence :math:`k`, at level
    :math:`6\varepsilon/(\pi^2 k^2)`; these levels sum to :math:`\varepsilon`.

    Parameters
    ----------
    loss, divergence, n_samples, epsilon, pairs
        As in :func:`hoeffding`.

    Returns
    -------
    bound : Bound
        The divergence term is the square root.

    References
    ----------
    rodriguezgalvez2024 for the slices; hoeffding1963.
    """
    terms = checked_terms(
        loss=loss, divergence=divergence, n_samples=n_samples, epsilon=epsilon, pairs=pairs
    )
    k = max(1, math.ceil(divergence))
    nats = k + math.log(math.pi**2 * k**2 / (6.0 * epsilon))
    price = math.sqrt(nats / (2.0 * terms.n_terms))
    return Bound(
        value=terms.loss + price,
        empirical_term=terms.loss,
        divergence_term=price,
        parameters={"slice": float(k)},
        theorem="Hoeffding, peeling",
        reference="rodriguezgalvez2024; hoeffding1963",
    )


RECORDS = (
    BoundRecord(
        name="hoeffding_grid",
        function=hoeffding_grid,
        needs=("loss", "divergence", "n_samples", "n_hypotheses", "pairs"),
        exponential=True,
    ),
    BoundRecord(
        name="hoeffding_peeling",
        function=hoeffding_peeling,
        needs=("loss", "divergence", "n_samples", "pairs"),
        exponential=True,
    ),
)
