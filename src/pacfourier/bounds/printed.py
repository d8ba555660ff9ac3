r"""The statements of letarte2019 as they are printed, for comparison only.

None of these is a certificate. Two are false, and the others are true but loose. Each docstring
says which, and what to use instead. They return a :class:`PrintedBound`, a type that shares only
its value with :class:`~pacfourier.bounds.Bound`.
"""

import math
from dataclasses import dataclass
from typing import Literal

from pacfourier.bounds.arguments import (
    count,
    interval,
    non_negative,
    positive,
    unit_open,
)

__all__ = [
    "PrintedBound",
    "corollary2",
    "corollary5",
    "landmarks",
    "theorem1",
    "theorem3",
    "theorem4",
]

Verdict = Literal["true but loose", "false"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintedBound:
    """The value of a printed statement, which certifies nothing.

    Parameters
    ----------
    value : float
        Right side of the printed inequality.
    statement : str
        Its name in letarte2019.
    verdict : {"true but loose", "false"}
        Whether the inequality holds with the probability it claims.
    """

    value: float
    statement: str
    verdict: Verdict

    def __str__(self) -> str:
        return f"{self.statement} as printed ({self.verdict}): {self.value:.4f}, not a certificate"


def _gap(
    divergence: float, epsilon: float, t: float, *, variance: float, n_events: int = 1
) -> float:
    nats = non_negative("divergence", divergence) - math.log(unit_open("epsilon", epsilon))
    return (nats + math.log(n_events)) / positive("inverse_temperature", t) + t * variance


def theorem1(
    *, loss: float, divergence: float, n_samples: int, epsilon: float, inverse_temperature: float
) -> PrintedBound:
    r"""Return Theorem 1, the loss seen from one point: true but loose.

    .. math:: L^i(k_q) \le \hat L^i(k_q) + \frac1t \Bigl(\mathrm{KL} + \frac{t^2}{2(n-1)}
              + \ln\frac1\varepsilon\Bigr) .

    The loss has range one, so that :math:`t^2 / (8(n-1))` is enough: the best value of
    :math:`t` then halves the gap. Use :func:`~pacfourier.bounds.hoeffding` with
    ``pairs=False``.

    Parameters
    ----------
    loss, divergence, n_samples, epsilon
        :math:`\hat L^i`, :math:`\mathrm{KL}`, :math:`n` and :math:`\varepsilon`.
    inverse_temperature : float
        :math:`t > 0`.

    Returns
    -------
    printed : PrintedBound
        Not a certificate.
    """
    n = count("n_samples", n_samples, 2)
    gap = _gap(divergence, epsilon, inverse_temperature, variance=0.5 / (n - 1))
    value = interval("loss", loss, 0.0, 1.0) + gap
    return PrintedBound(value=value, statement="Theorem 1", verdict="true but loose")


def landmarks(
    *,
    loss: float,
    divergence: float,
    n_samples: int,
    epsilon: float,
    inverse_temperature: float,
    n_landmarks: int,
) -> PrintedBound:
    r"""Return the union bound over landmarks: true but loose, for landmarks drawn blindly.

    .. math:: L^l(k_{Q^l}) \le \hat L^l(k_{Q^l}) + \frac1t \Bigl(\mathrm{KL} + \frac{t^2}{2(n-1)}
              + \ln\frac{n_L}{\varepsilon}\Bigr) .

    It does not cover landmarks chosen by looking at the sample (k-means, or a draw by class). Use
    :func:`~pacfourier.bounds.landmark_mixture`.

    Parameters
    ----------
    loss, divergence, n_samples, epsilon, inverse_temperature
        As in :func:`theorem1`.
    n_landmarks : int
        :math:`n_L`.

    Returns
    -------
    printed : PrintedBound
        Not a certificate.
    """
    n = count("n_samples", n_samples, 2)
    n_events = count("n_landmarks", n_landmarks, 1)
    gap = _gap(divergence, epsilon, inverse_temperature, variance=0.5 / (n - 1), n_events=n_events)
    value = interval("loss", loss, 0.0, 1.0) + gap
    return PrintedBound(value=value, statement="landmark union bound", verdict="true but loose")


def corollary2(
    *, loss: float, divergence: float, n_samples: int, epsilon: float, inverse_temperature: float
) -> PrintedBound:
    r"""Return Corollary 2, the alignment loss through its points: true but loose.

    .. math:: L(k_q) \le \hat L(k_q) + \frac2t \Bigl(\mathrm{KL} + \frac{t^2}{2(n-1)}
              + \ln\frac{n+1}{\varepsilon}\Bigr) .

    Theorem 3 is smaller for every :math:`t`. Use :func:`~pacfourier.bounds.kl`.

    Parameters
    ----------
    loss, divergence, n_samples, epsilon, inverse_temperature
        As in :func:`theorem1`, with the loss over pairs.

    Returns
    -------
    printed : PrintedBound
        Not a certificate.
    """
    n = count("n_samples", n_samples, 2)
    gap = _gap(divergence, epsilon, inverse_temperature, variance=0.5 / (n - 1), n_events=n + 1)
    value = interval("loss", loss, 0.0, 1.0) + 2.0 * gap
    return PrintedBound(value=value, statement="Corollary 2", verdict="true but loose")


def theorem3(
    *, loss: float, divergence: float, n_samples: int, epsilon: float, inverse_temperature: float
) -> PrintedBound:
    r"""Return Theorem 3, the alignment loss as a U-statistic: true but loose.

    .. math:: L(k_q) \le \hat L(k_q) + \frac1t \Bigl(\mathrm{KL} + \frac{t^2}{2n}
              + \ln\frac1\varepsilon\Bigr) .

    Averaging over independent pairs gives :math:`t^2 / (8 \lfloor n/2 \rfloor)`: the best value of
    :math:`t` then divides the gap by :math:`\sqrt2`. Use :func:`~pacfourier.bounds.hoeffding`.

    Parameters
    ----------
    loss, divergence, n_samples, epsilon, inverse_temperature
        As in :func:`theorem1`, with the loss over pairs.

    Returns
    -------
    printed : PrintedBound
        Not a certificate.
    """
    n = count("n_samples", n_samples, 2)
    gap = _gap(divergence, epsilon, inverse_temperature, variance=0.5 / n)
    value = interval("loss", loss, 0.0, 1.0) + gap
    return PrintedBound(value=value, statement="Theorem 3", verdict="true but loose")


def theorem4(
    *, loss: float, divergence: float, n_samples: int, epsilon: float, mu: float
) -> PrintedBound:
    r"""Return Theorem 4, the bound of a power divergence: FALSE.

    .. math:: L(k_q) \le \hat L(k_q) + (D_\mu + 1)^{1/\mu} \varepsilon^{-(1 - 1/\mu)} \times
              \begin{cases} (2\sqrt n)^{-(\mu - 1)} & 1 < \mu \le 2 \\
              (4n)^{-(1 - 1/\mu)} & \mu > 2 \end{cases} .

    Above two the rate beats the central limit theorem. *Counter-example*: constant inputs, labels
    a coin of bias :math:`(1 + \sqrt{1/2})/2`, posterior equal to prior. Then :math:`L = 1/4`, the
    loss is a function of one binomial count, and at :math:`n = 1000`, :math:`\mu = 10`,
    :math:`\varepsilon = 0.05` the statement fails with probability 0.300; as :math:`n` grows this
    tends to one half, for every :math:`\mu > 2`. Up to two it rests on a variance bound
    :math:`1/(4n)` that is exceeded for every :math:`n`, and fails at :math:`n = 2` from
    :math:`\mu = 1.92` (see :func:`corollary5`). Use
    :func:`~pacfourier.bounds.f_divergence`.

    Parameters
    ----------
    loss, divergence, n_samples, epsilon
        :math:`\hat L`, :math:`D_\mu`, :math:`n` and :math:`\varepsilon`.
    mu : float
        Order of the divergence, above one.

    Returns
    -------
    printed : PrintedBound
        Not a certificate.
    """
    if not 1.0 < mu < math.inf:
        raise ValueError(f"mu must be above 1 and finite, got {mu!r}.")
    n = count("n_samples", n_samples, 2)
    root = 1.0 - 1.0 / mu
    rate = (4.0 * n) ** (-0.5 * (mu - 1.0) if mu <= 2.0 else -root)
    ratio = (1.0 + non_negative("divergence", divergence)) ** (1.0 / mu)
    price = rate * ratio * unit_open("epsilon", epsilon) ** -root
    value = interval("loss", loss, 0.0, 1.0) + price
    return PrintedBound(value=value, statement="Theorem 4", verdict="false")


def corollary5(*, loss: float, divergence: float, n_samples: int, epsilon: float) -> PrintedBound:
    r"""Return Corollary 5, the chi-square bound, Theorem 4 at order two: FALSE for few points.

    .. math:: L(k_q) \le \hat L(k_q) + \sqrt{\frac{\chi^2 + 1}{4 n \varepsilon}} .

    *Counter-example*: constant inputs, three classes of masses 0.40, 0.35, 0.25, posterior equal to
    prior, :math:`n = 2`, :math:`\varepsilon = 1/3`. Then :math:`L = 0.655`, the width is
    :math:`\sqrt{3/8} < 0.613`, and :math:`\hat L = 0` has probability :math:`0.345 > 1/3`. At
    :math:`n = 3` one class of mass 0.65 and 35 of mass 0.01 do the same for :math:`\varepsilon =
    0.27`. The constant :math:`1/(4n)` bounds no variance; :math:`1/(4(n-1))` does for two classes
    and :math:`1/(4 \lfloor n/2 \rfloor)` for any number of them. Use
    :func:`~pacfourier.bounds.f_divergence` with ``mu=2``.

    Parameters
    ----------
    loss, divergence, n_samples, epsilon
        :math:`\hat L`, :math:`\chi^2`, :math:`n` and :math:`\varepsilon`.

    Returns
    -------
    printed : PrintedBound
        Not a certificate.
    """
    value = theorem4(
        loss=loss, divergence=divergence, n_samples=n_samples, epsilon=epsilon, mu=2.0
    ).value
    return PrintedBound(value=value, statement="Corollary 5", verdict="false")
