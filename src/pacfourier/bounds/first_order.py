"""First-order bound for two declared classes: a certified mean amplitude."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pacfourier.arrays import FloatArray
from pacfourier.bounds.arguments import (
    Grid,
    bounded_vector,
    count,
    distribution,
    geometric_midpoints,
    interval,
    rate_shares,
    tried,
    unit_open,
    weighted_grid,
)
from pacfourier.bounds.bernstein import bernstein_excess, bernstein_factor
from pacfourier.bounds.divergences import divergence_from
from pacfourier.bounds.record import Auto, BoundRecord
from pacfourier.bounds.result import Bound

_N_RATES = 4
_LARGEST_RATE = 0.8
# Centres for large amplitudes, beside zero, and the weight of the rates that are centred at zero.
CENTRES = (0.3, 0.6, 0.9)
SHARE_OF_ZERO = 0.5
_LARGEST_ARC = 1.5
# The half-width may be chosen after the sample is seen. Neighbours differ by less than 0.4 %.
_ARCS: FloatArray = np.geomspace(1e-3, _LARGEST_ARC, 2000)


class _Tilt(NamedTuple):
    r"""What the bound needs of the tilted posterior :math:`Q'(\omega) \propto Q(\omega) a_\omega`.

    Parameters
    ----------
    amplitude : float
        :math:`r = \mathbb{E}_{Q'} a_\omega`.
    harmonic : float
        :math:`c_2 = \mathbb{E}_{Q'} c_\omega`.
    divergence : float
        :math:`\mathrm{KL}(Q' \Vert P)`, or zero if it is negative because P has a mass above one.
    squared_norm : float
        :math:`\mathbb{E}_Q a_\omega^2`.
    concentration : float
        :math:`(\mathbb{E}_Q a_\omega)^2 / \mathbb{E}_Q a_\omega^2`, in [0, 1].
    """

    amplitude: float
    harmonic: float
    divergence: float
    squared_norm: float
    concentration: float


def _tilt(
    posterior: FloatArray, log_prior: FloatArray, amplitudes: FloatArray, harmonics: FloatArray
) -> _Tilt:
    """Return the posterior tilted by the amplitudes, or zeros if all amplitudes are zero."""
    mean, square = float(posterior @ amplitudes), float(posterior @ amplitudes**2)
    if square == 0.0:
        return _Tilt(0.0, 0.0, 0.0, 0.0, 0.0)
    tilted = posterior * amplitudes / mean
    return _Tilt(
        amplitude=float(tilted @ amplitudes),
        harmonic=float(tilted @ harmonics),
        divergence=max(divergence_from(tilted, log_prior), 0.0),
        squared_norm=square,
        concentration=min(mean**2 / square, 1.0),
    )


def _possible_harmonics(second_harmonics: npt.ArrayLike, amplitudes: FloatArray) -> FloatArray:
    r"""Return second harmonics checked against the amplitudes: :math:`c \ge 2 a^2 - 1`.

    The mean of :math:`\cos^2` is at least the square of the mean of :math:`y \cos`.
    """
    harmonics = bounded_vector(
        "second_harmonics", second_harmonics, -1.0, 1.0, size=amplitudes.size
    )
    least = 2.0 * amplitudes**2 - 1.0
    interval("second_harmonics less 2 a^2 - 1", float((harmonics - least).min()), 0.0, 2.0)
    return np.maximum(harmonics, least)


def _first_order_rates(*, n_samples: int, n_hypotheses: int, epsilon: float) -> tuple[float, ...]:
    r"""Return the rates of the centre zero: four midpoints, at most 0.8.

    .. math:: \ell = \sqrt{2 a / n}, \quad u = \sqrt{2 (a + 1.5 + \ln N) / (0.35\, n)}, \quad
              a = \ln(4/\varepsilon) + 1 .

    Parameters
    ----------
    n_samples : int
        Number of points :math:`n`.
    n_hypotheses : int
        Number :math:`N` of hypotheses of the prior.
    epsilon : float
        Probability of failure.

    Returns
    -------
    rates : tuple of float
        Four increasing values.
    """
    nats = math.log(_N_RATES / epsilon) + 1.0
    return geometric_midpoints(
        math.sqrt(2.0 * nats / n_samples),
        math.sqrt(2.0 * (nats + 1.5 + math.log(n_hypotheses)) / (0.35 * n_samples)),
        n_points=_N_RATES,
        cap=_LARGEST_RATE,
    )


def first_order_grid(*, n_samples: int, n_hypotheses: int, epsilon: float) -> Grid:
    r"""Return the grid of centres and rates, with its weights.

    .. math:: \text{weight } \tfrac12:\ c = 0,\ \eta \text{ of } \mathtt{first\_order\_rates};
              \qquad \text{weight } \tfrac12:\ c \in \{0.3, 0.6, 0.9\},\
              \eta = \frac{u}{1 + c},\ u \text{ of } \mathtt{rate\_shares} .

    The second part is best for large amplitudes, that is, for small losses.

    Parameters
    ----------
    n_samples, n_hypotheses, epsilon
        As in :func:`first_order_rates`.

    Returns
    -------
    grid : tuple of GridPoint
        Points whose weights sum to one.
    """
    rates = _first_order_rates(n_samples=n_samples, n_hypotheses=n_hypotheses, epsilon=epsilon)
    shares = rate_shares(n_samples)
    return weighted_grid(
        [(0.0, eta) for eta in rates],
        [(centre, share / (1.0 + centre)) for centre in CENTRES for share in shares],
        share=SHARE_OF_ZERO,
    )


def _arc_margins(
    tilted: _Tilt, grid: Grid, arcs: FloatArray, *, n_samples: int, epsilon: float
) -> FloatArray:
    r"""Return the certified mean amplitude of each point of a grid (rows) and arc (columns).

    .. math:: \rho = \frac{1}{\mathrm{sc}(\alpha)} \Bigl(c - \frac{1 - e^{-A}}{\eta}\Bigr), \qquad
              A = \eta \bigl(c - r\, \mathrm{sc}(\alpha)\bigr) + v\bigl(\eta (1 + c)\bigr)\,
              \eta^2 s_c + \frac{\mathrm{KL}(Q' \Vert P) + \ln(\pi/\alpha)
              + \ln(1/(w \varepsilon))}{n} ,

    .. math:: s_c = \tfrac12 \bigl(1 + c_2\, \mathrm{sc}(2\alpha)\bigr)
              - 2 c\, r\, \mathrm{sc}(\alpha) + c^2 .
    """
    centre, eta, weight = np.asarray(grid).T[:, :, np.newaxis]
    factor = np.asarray([[bernstein_factor(point.eta * (1.0 + point.centre))] for point in grid])
    shrinkage, double = np.sinc(arcs / math.pi), np.sinc(2.0 * arcs / math.pi)
    mean = tilted.amplitude * shrinkage
    square = 0.5 * (1.0 + tilted.harmonic * double) - 2.0 * centre * mean + centre**2
    price = (_arc_nats(tilted, arcs, epsilon) - np.log(weight)) / n_samples
    excess = bernstein_excess(centre - mean, square, eta=eta, factor=factor, price=price)
    margins: FloatArray = (centre - excess) / shrinkage
    return margins


def _arc_nats(tilted: _Tilt, arcs: FloatArray, epsilon: float) -> FloatArray:
    """Return the divergence of the posterior on arcs, plus the logarithm of 1 / epsilon."""
    return tilted.divergence + np.log(math.pi / (arcs * epsilon))


def first_order(
    *,
    posterior: npt.ArrayLike,
    prior: npt.ArrayLike,
    amplitudes: npt.ArrayLike,
    second_harmonics: npt.ArrayLike,
    n_samples: int,
    epsilon: float,
    arc: float | None = None,
) -> Bound:
    r"""Return the first-order bound on an arc of phases, for two declared classes.

    .. math:: L(k_Q) \le \tfrac12 \Bigl(1 - \frac{(\mathbb{E}_Q a)^2}{\mathbb{E}_Q a^2}
              \rho^2 \Bigr), \qquad
              \rho = \max_{k, \alpha} \frac{1}{\mathrm{sc}(\alpha)}
              \Bigl(c_k - \frac{1 - e^{-A_k}}{\eta_k}\Bigr) \text{ clipped to } [0, 1],

    .. math:: A_k = \eta_k \bigl(c_k - r\, \mathrm{sc}(\alpha)\bigr)
              + v\bigl(\eta_k (1 + c_k)\bigr)\, \eta_k^2\, s_k + \frac{\mathrm{KL}(Q' \Vert P)
              + \ln(\pi/\alpha) + \ln(1/(w_k \varepsilon))}{n}, \quad
              \mathrm{sc}(\alpha) = \frac{\sin\alpha}{\alpha} ,

    .. math:: s_k = \tfrac12 \bigl(1 + c_2\, \mathrm{sc}(2\alpha)\bigr)
              - 2 c_k\, r\, \mathrm{sc}(\alpha) + c_k^2 .

    The centres :math:`c_k`, rates :math:`\eta_k` and weights :math:`w_k` are a grid that depends on
    :math:`n`, the number of hypotheses and :math:`\varepsilon` alone.

    *Proof.* A hypothesis is a frequency and a phase, of prior :math:`P` times the uniform law of
    the circle, with :math:`X = c - y \cos(\omega \cdot x - \varphi) \le 1 + c` over :math:`n`
    independent points. Apply the un-expected Bernstein moment to :math:`Q' \propto Q a` times the
    uniform law of half-width :math:`\alpha` around the phase of :math:`\hat m_\omega`, whose
    divergence is :math:`\mathrm{KL}(Q' \Vert P) + \ln(\pi/\alpha)`: averaging over the arc
    multiplies first harmonics by :math:`\mathrm{sc}(\alpha)` and second ones by
    :math:`\mathrm{sc}(2\alpha)`, hence :math:`\mathbb{E}_{Q'} |m_\omega| \ge \rho`. By
    Cauchy-Schwarz :math:`\mathbb{E}_Q |m|^2 \ge (\mathbb{E}_Q a |m|)^2 / \mathbb{E}_Q a^2`, and
    :math:`1 - 2 L(k_Q) = \mathbb{E}_Q |m|^2`. The arc is part of the posterior, so its choice costs
    nothing.

    Parameters
    ----------
    posterior, prior : array of shape (n_hypotheses,)
        Weights :math:`Q` and :math:`P`.
    amplitudes : array of shape (n_hypotheses,)
        :math:`a_\omega = |\hat m_\omega|`, with :math:`\hat m_\omega` the mean of
        :math:`y_i e^{i \omega \cdot x_i}`.
    second_harmonics : array of shape (n_hypotheses,)
        Mean of :math:`\cos 2(\omega \cdot x_i - \arg \hat m_\omega)`; any value where
        :math:`a_\omega = 0`.
    n_samples : int
        Number of points :math:`n`, at least two.
    epsilon : float
        Probability of failure, over the sample, for all posteriors at once.
    arc : float, default=None
        Half-width :math:`\alpha` in (0, 1.5]. None means the best of a fixed list.

    Returns
    -------
    bound : Bound
        At most one half. ``parameters["rho"]`` is :math:`\rho`: one minus it bounds the
        zero-one risk of :math:`x \mapsto \mathrm{sign}\, \mathbb{E}_{Q'}
        \cos(\omega \cdot x - \arg \hat m_\omega)`.

    References
    ----------
    Derived above; mhammedi2019 for the moment.
    """
    weights = distribution("posterior", posterior)
    masses = distribution("prior", prior, size=weights.size)
    if ((masses == 0.0) & (weights > 0.0)).any():
        raise ValueError("prior must be positive where posterior is, got a zero.")
    return _first_order_of_measure(
        posterior=weights,
        log_prior=np.log(masses, where=masses > 0.0, out=np.full(masses.size, -np.inf)),
        amplitudes=amplitudes,
        second_harmonics=second_harmonics,
        n_samples=n_samples,
        epsilon=epsilon,
        n_hypotheses=weights.size,
        arc=arc,
    )


def _first_order_of_measure(
    *,
    posterior: npt.ArrayLike,
    log_prior: npt.ArrayLike,
    amplitudes: npt.ArrayLike,
    second_harmonics: npt.ArrayLike,
    n_samples: int,
    epsilon: float,
    n_hypotheses: int,
    arc: float | None = None,
) -> Bound:
    """Return :func:`first_order` for a prior measure of any mass, given its logarithms.

    The prior may be replaced by a random measure whose mean it is, such as the particles of a
    sampler. ``n_hypotheses`` places a part of the grid and must be fixed in advance.
    """
    n, epsilon = count("n_samples", n_samples, 2), unit_open("epsilon", epsilon)
    return first_order_on_grid(
        first_order_grid(n_samples=n, n_hypotheses=n_hypotheses, epsilon=epsilon),
        posterior=posterior,
        log_prior=log_prior,
        amplitudes=amplitudes,
        second_harmonics=second_harmonics,
        n_samples=n,
        epsilon=epsilon,
        arc=arc,
        theorem="first-order arc, two classes",
        reference="mhammedi2019; cesabianchi2007",
    )


def first_order_on_grid(
    grid: Grid,
    *,
    posterior: npt.ArrayLike,
    log_prior: npt.ArrayLike,
    amplitudes: npt.ArrayLike,
    second_harmonics: npt.ArrayLike,
    n_samples: int,
    epsilon: float,
    theorem: str,
    reference: str,
    arc: float | None = None,
) -> Bound:
    """Return the best of :func:`first_order` over a grid that was fixed in advance."""
    weights = distribution("posterior", posterior)
    lengths = bounded_vector("amplitudes", amplitudes, 0.0, 1.0, size=weights.size)
    tilted = _tilt(
        weights,
        np.asarray(log_prior, dtype=np.float64),
        lengths,
        _possible_harmonics(second_harmonics, lengths),
    )
    arcs = _ARCS if arc is None else np.asarray([_arc_in_range(arc)])
    margins = _arc_margins(tilted, grid, arcs, n_samples=n_samples, epsilon=epsilon)
    row, column = divmod(int(margins.argmax()), arcs.size)
    rho = min(max(float(margins[row, column]), 0.0), 1.0)
    centre, eta, weight = grid[row]
    best = {"eta": eta, "centre": centre, "arc": float(arcs[column]), "rho": rho}
    return Bound(
        value=0.5 * (1.0 - tilted.concentration * rho**2),
        empirical_term=n_samples / (2.0 * (n_samples - 1.0)) * (1.0 - tilted.squared_norm),
        divergence_term=float(_arc_nats(tilted, arcs[column], weight * epsilon)) / n_samples,
        parameters={**best, **tried(grid)},
        theorem=theorem,
        reference=reference,
    )


def _arc_in_range(arc: float) -> float:
    """Return the half-width if it is in (0, 1.5], where the mean over the arc keeps its sign."""
    if not 0.0 < arc <= _LARGEST_ARC:
        raise ValueError(f"arc must be in (0, {_LARGEST_ARC}], got {arc!r}.")
    return float(arc)


RECORDS = (
    BoundRecord(
        name="first_order",
        function=_first_order_of_measure,
        needs=(
            "posterior",
            "log_prior",
            "amplitudes",
            "second_harmonics",
            "n_samples",
            "n_hypotheses",
        ),
        requires=("binary",),
        exponential=True,
        advice="declared binary labels: pass target_type='binary' if y can only have two values.",
        auto=Auto(rank=1, known=("binary",)),
    ),
)
