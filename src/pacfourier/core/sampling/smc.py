r"""Tempered sequential Monte Carlo: from draws of the prior to draws of a Gibbs posterior.

Weighted particles follow the laws :math:`p\, e^{-\lambda V}` as lambda climbs a ladder from 0
to 1 (Del Moral, Doucet and Jasra, 2006). If the ladder and the moves do not depend on the particles
of the run, its unnormalised measure is unbiased: for every function g,

.. math:: \mathbb{E}_{run}\Bigl[\hat Z \sum_k W_k\, g(\theta_k)\Bigr]
          = \mathbb{E}_{\theta \sim p}\bigl[e^{-V(\theta)} g(\theta)\bigr] .

A certificate of the particles needs this. The ladder and the step sizes therefore come from a pilot
run with other random numbers, and stay fixed during the run.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from scipy.optimize import brentq

from pacfourier.arrays import FloatArray, IntArray
from pacfourier.core.prefetch import ahead
from pacfourier.core.sampling.particles import (
    Particles,
    TemperedPosterior,
    langevin_move,
    langevin_noise,
    scale_move,
    scale_noise,
)

# Particles are resampled if their effective number falls below this share of them.
_SMALLEST_SHARE = 0.5
# The best rate of acceptance of Langevin moves in many dimensions (Roberts and Rosenthal, 1998).
_ACCEPTANCE = 0.574
FIRST_STEP, LARGEST_STEP = 0.5, 2.0
# How many items of random numbers are drawn before they are used: about those of the moves at one
# power, because with fewer a run would often wait for them. Wide ones take at most 64 MB together,
# but one is always ahead.
NOISES_AHEAD, NUMBERS_AHEAD = 8, 2**23
# The most that one move of the pilot changes the logarithm of the step size.
_GAIN = 1.0


class _Population(Protocol):
    """The attributes that the sampler needs of particles."""

    @property
    def potentials(self) -> FloatArray:
        """The potential V of each particle."""

    def take(self, indices: IntArray) -> Self:
        """Return the particles with the given indices."""


_P = TypeVar("_P", bound=_Population)


class _Run(NamedTuple):
    """The result of a run: particles, the logarithms of their weights, and ln Z."""

    particles: Particles
    log_weights: FloatArray
    log_evidence: float


class _Schedule(NamedTuple):
    """The powers lambda of a ladder, and the step size of the moves at each of them."""

    powers: FloatArray
    steps: FloatArray


def _tempered_run(
    particles: _P,
    powers: FloatArray,
    move: Callable[[_P, int], _P],
    offsets: Iterator[float],
) -> tuple[_P, FloatArray, float]:
    """Move draws from the prior up a ladder of powers that ends at one.

    Parameters
    ----------
    particles : Population
        Independent draws from the prior.
    powers : array of shape (n_steps,)
        Increasing, and fixed before the draws.
    move : callable
        ``move(particles, t)`` moves each particle by a Markov kernel that leaves the law of
        ``powers[t]`` unchanged.
    offsets : iterator of float
        Uniform random numbers, one for each power.

    Returns
    -------
    particles, log_weights, log_evidence
        The weights sum to one. The evidence estimates E_p exp(-V).
    """
    log_weights = _uniform_log_weights(len(particles.potentials))
    log_evidence = 0.0
    for t, climb in enumerate(np.diff(powers, prepend=0.0)):
        log_weights, log_ratio = _reweighted(log_weights, particles.potentials, climb)
        log_evidence += log_ratio
        particles, log_weights = _resampled(particles, log_weights, next(offsets))
        particles = move(particles, t)
    return particles, log_weights, log_evidence


def _reweighted(
    log_weights: FloatArray, potentials: FloatArray, climb: float
) -> tuple[FloatArray, float]:
    """Return the logarithms of the normalised weights W_k exp(-climb V_k), and of their sum."""
    heavier = log_weights - climb * potentials
    # The largest weight is taken out first: at 1e18, numbers next to each other differ by 128.
    largest = float(heavier.max())
    log_ratio = _log_sum_exp(heavier - largest)
    return heavier - largest - log_ratio, largest + log_ratio


def _resampled(particles: _P, log_weights: FloatArray, offset: float) -> tuple[_P, FloatArray]:
    """Resample the particles by their weights, if too few of them carry most of the weight.

    The mean over the offset of the weighted particles is what it was before.
    """
    if _log_equal_weights(log_weights) >= np.log(_SMALLEST_SHARE * len(log_weights)):
        return particles, log_weights
    chosen = systematic_indices(np.exp(log_weights), offset)
    return particles.take(chosen), _uniform_log_weights(len(log_weights))


def _log_sum_exp(values: FloatArray) -> float:
    """Return the logarithm of a sum of exponentials, faster than SciPy's for so few."""
    largest = float(values.max())
    return largest + float(np.log(np.exp(values - largest).sum()))


def systematic_indices(weights: FloatArray, offset: float, size: int | None = None) -> IntArray:
    """Return indices drawn by systematic resampling, ``size`` of them or one per weight.

    The weights cut [0, 1) into cells. Index i of the result is the cell that contains
    (i + offset) / size.
    """
    size = len(weights) if size is None else size
    ends = np.cumsum(weights)
    # If rounding moved the last point to one, a particle without weight could be chosen.
    points = np.minimum((np.arange(size) + offset) / size, np.nextafter(1.0, 0.0))
    return np.searchsorted(ends[:-1] / ends[-1], points, side="right")


def _uniform_log_weights(size: int) -> FloatArray:
    """Return the logarithms of equal weights that sum to one."""
    return np.full(size, -np.log(size))


def _log_equal_weights(log_weights: FloatArray) -> float:
    r"""Return the logarithm of the effective number of particles.

    .. math:: \ln \frac{(\sum_k W_k)^2}{\sum_k W_k^2}

    This is the number of particles if all weights are equal.
    """
    return 2 * _log_sum_exp(log_weights) - _log_sum_exp(2 * log_weights)


def gibbs_run(
    posterior: TemperedPosterior,
    schedule: _Schedule,
    n_particles: int,
    n_features: int,
    n_moves: int,
    rng: np.random.Generator,
    *,
    report: Callable[[str], None] = lambda _: None,
) -> _Run:
    """Draw weighted particles from a Gibbs posterior, with a schedule fixed before the run."""
    n_steps = len(schedule.powers)

    def move(particles: Particles, t: int) -> Particles:
        power, step = float(schedule.powers[t]), float(schedule.steps[t])
        for _ in range(n_moves):
            particles, _ = langevin_move(posterior, particles, power, step, next(noises))
        mean = particles.potentials.mean() / posterior.inverse_temperature
        report(f"temperature {t + 1}/{n_steps}: mean loss {mean:.4f}")
        return _scales_moved(posterior, particles, power, noises)

    start = posterior.draw(n_particles, n_features, rng)
    shape = (n_particles, n_features)
    stream = _noise_stream(posterior, shape, n_moves, rng, n_steps)
    # On a GPU, a run would otherwise wait for random numbers.
    depth = max(min(NOISES_AHEAD, NUMBERS_AHEAD // (n_particles * n_features)), 1)
    with closing(ahead(stream, depth=depth)) as noises:
        return _Run(*_tempered_run(start, schedule.powers, move, noises))


def _noise_stream(
    posterior: TemperedPosterior,
    shape: tuple[int, int],
    n_moves: int,
    rng: np.random.Generator,
    n_steps: int,
) -> Iterator[Any]:
    """Yield the random numbers of a run, in the order of their use.

    At each power these are the offset for resampling, the noise of each Langevin move, and that of
    the move between bandwidths, if there are several. None depend on the particles.
    """
    for _ in range(n_steps):
        yield rng.random()
        for _ in range(n_moves):
            yield langevin_noise(rng, *shape)
        if len(posterior.scales) > 1:
            yield scale_noise(rng, shape[0], posterior.weights)


def pilot_schedule(
    posterior: TemperedPosterior,
    n_particles: int,
    n_features: int,
    n_steps: int,
    n_moves: int,
    rng: np.random.Generator,
) -> _Schedule:
    """Return a ladder and step sizes, learned in a pilot run whose particles are thrown away.

    Each climb of the pilot goes so far that the effective number of particles falls to half of
    them. The pilot climbs at most ``n_steps`` times, and the ladder cuts its climbs into
    ``n_steps`` equal parts. After each move the step size changes so that the rate of acceptance
    comes closer to its best value.
    """
    particles = posterior.draw(n_particles, n_features, rng)
    noises = _noise_stream(posterior, (n_particles, n_features), n_moves, rng, n_steps)
    power, step = 0.0, FIRST_STEP
    powers, steps = [0.0], [FIRST_STEP]
    while power < 1 and len(steps) <= n_steps:
        climb = _next_climb(particles.potentials, 1 - power)
        power = 1.0 if len(steps) == n_steps else power + climb
        log_weights, _ = _reweighted(_uniform_log_weights(n_particles), particles.potentials, climb)
        particles = particles.take(systematic_indices(np.exp(log_weights), next(noises)))
        for _ in range(n_moves):
            particles, moved = langevin_move(posterior, particles, power, step, next(noises))
            step = min(step * np.exp(_GAIN * (moved.mean() - _ACCEPTANCE)), LARGEST_STEP)
        particles = _scales_moved(posterior, particles, power, noises)
        powers.append(power)
        steps.append(step)
    return _refined(np.asarray(powers), np.asarray(steps), n_steps)


def _next_climb(potentials: FloatArray, longest: float) -> float:
    """Return the climb after which the effective number of particles is the smallest allowed.

    It is ``longest`` if even that leaves a larger number.
    """
    wanted = np.log(_SMALLEST_SHARE * len(potentials))

    def spare(climb: float) -> float:
        return _log_equal_weights(-climb * potentials) - wanted

    if spare(longest) >= 0:
        return longest
    return float(brentq(spare, 0.0, longest, xtol=1e-12))


def _refined(powers: FloatArray, steps: FloatArray, n_steps: int) -> _Schedule:
    """Return a ladder of ``n_steps`` steps, each of which is an equal share of the climbs."""
    positions = np.linspace(0, len(powers) - 1, n_steps + 1)[1:]
    climbs = np.arange(len(powers))
    return _Schedule(
        np.interp(positions, climbs, powers),
        np.exp(np.interp(positions, climbs, np.log(steps))),
    )


def _scales_moved(
    posterior: TemperedPosterior, particles: Particles, power: float, noises: Iterator[Any]
) -> Particles:
    if len(posterior.scales) == 1:
        return particles
    return scale_move(posterior, particles, power, next(noises))[0]
