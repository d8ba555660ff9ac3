"""Bound for two declared classes, from the norm of a mean of unit vectors."""

import math

from pacfourier.bounds.arguments import (
    count,
    interval,
    non_negative,
    open_interval,
    unit_open,
)
from pacfourier.bounds.record import BoundRecord
from pacfourier.bounds.result import Bound


def norm(
    *, loss: float, divergence: float, n_samples: int, epsilon: float, s: float = 0.45
) -> Bound:
    r"""Return the bound on the norm of the mean vector, for two declared classes.

    .. math:: L(k_Q) \le \tfrac12 \bigl(1 - \max(R - d, 0)^2\bigr), \quad
              R^2 = \frac{1 + (n - 1)(1 - 2 \hat L(k_Q))}{n}, \quad
              d^2 = \frac{\mathrm{KL}(Q \Vert P) + \ln(1/\varepsilon) - \ln(1 - 2s)}{s n} .

    *Proof.* With :math:`u_i = y_i e^{i \omega \cdot x_i}`, of mean :math:`m_\omega` and empirical
    mean :math:`\hat m_\omega`, two classes give :math:`1 - 2 L(k_Q) = \mathbb{E}_Q |m_\omega|^2`
    and :math:`R^2 = \mathbb{E}_Q |\hat m_\omega|^2`. Let :math:`W = \hat m - m` and :math:`g` be
    Gaussian in the plane: :math:`\mathbb{E} e^{s n |W|^2} = \mathbb{E} e^{\sqrt{2 s n} g \cdot W}
    \le \mathbb{E} e^{s |g|^2} = (1 - 2s)^{-1}` by Hoeffding's lemma for
    :math:`g \cdot u \in [-|g|, |g|]`. So :math:`\mathbb{E}_Q |W|^2 \le d^2`; conclude by
    Minkowski's inequality.

    Parameters
    ----------
    loss : float
        Empirical alignment loss over pairs, at most :math:`n / (2(n-1))` for two classes.
    divergence : float
        :math:`\mathrm{KL}(Q \Vert P)`.
    n_samples : int
        Number of points :math:`n`, at least two.
    epsilon : float
        Probability of failure, over the sample, for all posteriors at once.
    s : float, default=0.45
        Constant in (0, 1/2), fixed before the sample is seen.

    Returns
    -------
    bound : Bound
        At most one half. The divergence term is :math:`d^2`.

    References
    ----------
    Derived above; hoeffding1963 for the lemma, catoni2007 for the change of measure.

    Examples
    --------
    >>> norm(loss=0.5, divergence=0.0, n_samples=100, epsilon=0.05).value
    0.5
    """
    n = count("n_samples", n_samples, 2)
    loss = interval("loss", loss, 0.0, n / (2.0 * (n - 1.0)))
    s = open_interval("s", s, 0.0, 0.5)
    nats = non_negative("divergence", divergence) - math.log(unit_open("epsilon", epsilon))
    squared_radius = (nats - math.log1p(-2.0 * s)) / (s * n)
    squared_norm = max((1.0 + (n - 1.0) * (1.0 - 2.0 * loss)) / n, 0.0)
    margin = max(math.sqrt(squared_norm) - math.sqrt(squared_radius), 0.0)
    return Bound(
        value=0.5 * (1.0 - margin**2),
        empirical_term=loss,
        divergence_term=squared_radius,
        parameters={"s": s},
        theorem="norm of the mean vector, two classes",
        reference="hoeffding1963; catoni2007",
    )


RECORDS = (
    BoundRecord(
        name="norm",
        function=norm,
        needs=("loss", "divergence", "n_samples"),
        requires=("binary",),
        exponential=True,
        advice="declared binary labels: pass target_type='binary' if y can only have two values.",
    ),
)
