"""Catoni's bound, for one constant or the best constant of a grid. It is exact for coins."""

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
from pacfourier.bounds.record import Auto, BoundRecord
from pacfourier.bounds.result import Bound

_N_CONSTANTS = 5


def catoni(
    *,
    loss: float,
    divergence: float,
    n_samples: int,
    epsilon: float,
    C: float,
    pairs: bool = True,
) -> Bound:
    r"""Return the bound of a fixed constant.

    .. math:: L(k_Q) \le \frac{1 - \exp\{-C \hat L(k_Q) - K/m\}}{1 - e^{-C}}, \qquad
              K = \mathrm{KL}(Q \Vert P) + \ln(1/\varepsilon) .

    It inverts :math:`\mathbb{E} e^{-C \ell} \le 1 - L(1 - e^{-C})`, multiplied over the independent
    terms. The best constant would give :math:`\mathrm{kl}^{+}(\hat L, K/m)`, without :math:`\xi`.

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
    C : float
        Positive constant, fixed before the sample is seen.
    pairs : bool, default=True
        Whether the loss is a mean over pairs: :math:`m = \lfloor n/2 \rfloor`, else :math:`m = n`.

    Returns
    -------
    bound : Bound
        The divergence term is :math:`K/m`.

    References
    ----------
    catoni2007, germain2009.

    Examples
    --------
    >>> args = {"divergence": 0.0, "n_samples": 1, "epsilon": 0.5, "pairs": False}
    >>> round(catoni(loss=0.0, C=math.log(2.0), **args).value, 12)
    1.0
    """
    C = positive("C", C)
    terms = checked_terms(
        loss=loss, divergence=divergence, n_samples=n_samples, epsilon=epsilon, pairs=pairs
    )
    price = terms.nats / terms.n_terms
    return Bound(
        value=math.expm1(-C * terms.loss - price) / math.expm1(-C),
        empirical_term=terms.loss,
        divergence_term=price,
        parameters={"C": C},
        theorem="Catoni",
        reference="catoni2007; germain2009",
    )


def _catoni_constants(*, n_terms: int, n_hypotheses: int, epsilon: float) -> tuple[float, ...]:
    r"""Return the grid of constants of a finite prior.

    .. math:: \ell = \sqrt{8 a / m}, \quad u = \sqrt{2 (a + \ln N) / (0.0475\, m)}, \quad
              a = \ln(5/\varepsilon) ,

    the best constants of a loss of one half without divergence and, with the largest divergence,
    of a loss of variance 0.0475, that is of one in twenty; five midpoints between them.

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
    constants : tuple of float
        Five increasing values.
    """
    nats = math.log(_N_CONSTANTS / unit_open("epsilon", epsilon))
    log_n = math.log(count("n_hypotheses", n_hypotheses, 1))
    return geometric_midpoints(
        math.sqrt(8.0 * nats / n_terms),
        math.sqrt(2.0 * (nats + log_n) / (0.0475 * n_terms)),
        n_points=_N_CONSTANTS,
    )


def catoni_grid(
    *,
    loss: float,
    divergence: float,
    n_samples: int,
    epsilon: float,
    n_hypotheses: int,
    pairs: bool = True,
) -> Bound:
    r"""Return the smallest bound of a grid of five constants.

    .. math:: L(k_Q) \le \min_{k \le 5}
              \frac{1 - \exp\{-C_k \hat L(k_Q) - [\mathrm{KL}(Q \Vert P) + \ln(5/\varepsilon)]/m\}}
              {1 - e^{-C_k}} .

    Parameters
    ----------
    loss, divergence, n_samples, epsilon
        As in :func:`catoni`.
    n_hypotheses : int
        Number of hypotheses of the prior. It only decides where the grid lies.
    pairs : bool, default=True
        As in :func:`catoni`.

    Returns
    -------
    bound : Bound
        The best of the five.

    References
    ----------
    catoni2007, germain2009, foong2021.
    """
    m = n_terms(n_samples, pairs=pairs)
    grid = _catoni_constants(n_terms=m, n_hypotheses=n_hypotheses, epsilon=epsilon)
    bounds = (
        catoni(
            loss=loss,
            divergence=divergence,
            n_samples=n_samples,
            epsilon=epsilon / len(grid),
            C=constant,
            pairs=pairs,
        )
        for constant in grid
    )
    return smallest(bounds, grid=grid, theorem="Catoni, grid of constants")


RECORDS = (
    BoundRecord(
        name="catoni_grid",
        function=catoni_grid,
        needs=("loss", "divergence", "n_samples", "n_hypotheses", "pairs"),
        exponential=True,
        auto=Auto(rank=3, unknown=("second_moment",)),
    ),
)
