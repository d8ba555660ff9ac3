r"""Tempered sequential Monte Carlo: from draws of the prior to draws of a Gibbs posterior.

Weighted particles follow the laws :math:`p\, e^{-\lambda V}` as lambda climbs a ladder from 0
to 1 (Del Moral, Doucet and Jasra, 2006). Where ladder and moves do not depend on the particles
of the run, its unnormalised measure is unbiased,

.. math:: \mathbb{E}_{run}\Bigl[\hat Z \sum_k W_k\, g(\theta_k)\Bigr]
          = \mathbb{E}_{\theta \sim p}\bigl[e^{-V(\theta)} g(\theta)\bigr] ,

for every g, which is what a certificate of the particles rests on. Ladder and step sizes
therefore come from a pilot run with other random numbers, and stay fixed.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from pacfourier.arrays import FloatArray, IntArray
from pacfourier.core.sampling.particles import (
    Particles,
    TemperedPosterior,
    langevin_move,
    scale_move,
)

__all__ = ["Run", "Schedule", "gibbs_run", "pilot_schedule", "tempered_run"]

# Fewer equal weights than this share of the particles, and they are drawn anew.
SMALLEST_SHARE = 0.5
# Best for Langevin moves in many dimensions (Roberts and Rosenthal, 1998).
ACCEPTANCE = 0.574
FIRST_STEP, LARGEST_STEP = 0.5, 2.0
# What a move adds at most to the logarithm of the step, while the pilot learns it.
GAIN = 1.0


class Population(Protocol):
    """What the sampler asks of particles."""

    @property
    def potentials(self) -> FloatArray:
        """The V of each particle."""

    def take(self, indices: IntArray) -> Self:
        """Return the particles of given indices."""


P = TypeVar("P", bound=Population)


class Run(NamedTuple):
    """What a run leaves: particles, the logarithms of their weights, ln Z."""

    particles: Particles
    log_weights: FloatArray
    log_evidence: float


class Schedule(NamedTuple):
    """The powers lambda of a ladder, and the size of the moves at each."""

    powers: FloatArray
    steps: FloatArray


def tempered_run(
    particles: P,
    powers: FloatArray,
    move: Callable[[P, int], P],
    rng: np.random.Generator,
) -> tuple[P, FloatArray, float]:
    """Lead draws from the prior up a ladder of powers that ends at one.

    Parameters
    ----------
    particles : Population
        Independent draws from the prior.
    powers : array of shape (n_steps,)
        Increasing; fixed before the draws.
    move : callable
        ``move(particles, t)`` moves each particle by a kernel that leaves the law of
        ``powers[t]`` in place.
    rng : numpy.random.Generator

    Returns
    -------
    particles, log_weights, log_evidence
        The weights sum to one; the evidence estimates E_p exp(-V).
    """
    log_weights = uniform_log_weights(len(particles.potentials))
    log_evidence = 0.0
    for t, climb in enumerate(np.diff(powers, prepend=0.0)):
        log_weights, log_ratio = reweighted(log_weights, particles.potentials, climb)
        log_evidence += log_ratio
        particles, log_weights = resampled(particles, log_weights, rng.random())
        particles = move(particles, t)
    return particles, log_weights, log_evidence


def reweighted(
    log_weights: FloatArray, potentials: FloatArray, climb: float
) -> tuple[FloatArray, float]:
    """Return the weights W_k exp(-climb V_k) in logarithms: normalised, and their sum."""
    heavier = log_weights - climb * potentials
    log_ratio = float(logsumexp(heavier))
    return heavier - log_ratio, log_ratio


def resampled(particles: P, log_weights: FloatArray, offset: float) -> tuple[P, FloatArray]:
    """Return equal weights for particles drawn by theirs, where too few carry the mass."""
    n_particles = len(log_weights)
    if log_equal_weights(log_weights) >= np.log(SMALLEST_SHARE * n_particles):
        return particles, log_weights
    chosen = systematic_indices(np.exp(log_weights), offset)
    return particles.take(chosen), uniform_log_weights(n_particles)


def systematic_indices(weights: FloatArray, offset: float, size: int | None = None) -> IntArray:
    """Return indices, n of them or ``size``: the cells of [0, 1) that hold (i + offset) / size."""
    size = len(weights) if size is None else size
    ends = np.cumsum(weights)
    # Rounding must not bring the last point to one, where a particle without weight may stand.
    points = np.minimum((np.arange(size) + offset) / size, np.nextafter(1.0, 0.0))
    return np.searchsorted(ends[:-1] / ends[-1], points, side="right")


def uniform_log_weights(size: int) -> FloatArray:
    """Return the logarithms of equal weights that sum to one."""
    return np.full(size, -np.log(size))


def log_equal_weights(log_weights: FloatArray) -> float:
    r"""Return :math:`\ln((\sum W)^2 / \sum W^2)`: how many equal weights they are worth."""
    return float(2 * logsumexp(log_weights) - logsumexp(2 * log_weights))


def gibbs_run(
    posterior: TemperedPosterior,
    schedule: Schedule,
    n_particles: int,
    n_features: int,
    n_moves: int,
    rng: np.random.Generator,
    *,
    report: Callable[[str], None] = lambda _: None,
) -> Run:
    """Draw weighted particles of a Gibbs posterior, on a schedule fixed before the run."""
    n_steps = len(schedule.powers)

    def move(particles: Particles, t: int) -> Particles:
        power, step = float(schedule.powers[t]), float(schedule.steps[t])
        for _ in range(n_moves):
            particles, _ = langevin_move(posterior, particles, power, step, rng)
        mean = particles.potentials.mean() / posterior.inverse_temperature
        report(f"temperature {t + 1}/{n_steps}: mean loss {mean:.4f}")
        return _scales_moved(posterior, particles, power, rng)

    start = posterior.draw(n_particles, n_features, rng)
    return Run(*tempered_run(start, schedule.powers, move, rng))


def pilot_schedule(
    posterior: TemperedPosterior,
    n_particles: int,
    n_features: int,
    n_steps: int,
    n_moves: int,
    rng: np.random.Generator,
) -> Schedule:
    """Return a ladder and step sizes learned by a run that is then forgotten.

    The pilot climbs as far as leaves half of its particles, in equal weights, at most
    ``n_steps`` times; the ladder cuts its climbs into equal parts. Each move brings the
    acceptance nearer to its best value.
    """
    particles = posterior.draw(n_particles, n_features, rng)
    power, step = 0.0, FIRST_STEP
    powers, steps = [0.0], [FIRST_STEP]
    while power < 1 and len(steps) <= n_steps:
        climb = next_climb(particles.potentials, 1 - power)
        power = 1.0 if len(steps) == n_steps else power + climb
        log_weights, _ = reweighted(uniform_log_weights(n_particles), particles.potentials, climb)
        particles = particles.take(systematic_indices(np.exp(log_weights), rng.random()))
        for _ in range(n_moves):
            particles, moved = langevin_move(posterior, particles, power, step, rng)
            step = min(step * np.exp(GAIN * (moved.mean() - ACCEPTANCE)), LARGEST_STEP)
        particles = _scales_moved(posterior, particles, power, rng)
        powers.append(power)
        steps.append(step)
    return _refined(np.asarray(powers), np.asarray(steps), n_steps)


def next_climb(potentials: FloatArray, longest: float) -> float:
    """Return the climb that leaves the smallest share of equal weights, or the longest."""
    wanted = np.log(SMALLEST_SHARE * len(potentials))

    def spare(climb: float) -> float:
        return log_equal_weights(-climb * potentials) - wanted

    if spare(longest) >= 0:
        return longest
    return float(brentq(spare, 0.0, longest, xtol=1e-12))


def _refined(powers: FloatArray, steps: FloatArray, n_steps: int) -> Schedule:
    """Cut a ladder into ``n_steps`` parts, each an equal share of its climbs."""
    positions = np.linspace(0, len(powers) - 1, n_steps + 1)[1:]
    climbs = np.arange(len(powers))
    return Schedule(
        np.interp(positions, climbs, powers),
        np.exp(np.interp(positions, climbs, np.log(steps))),
    )


def _scales_moved(
    posterior: TemperedPosterior, particles: Particles, power: float, rng: np.random.Generator
) -> Particles:
    if len(posterior.scales) == 1:
        return particles
    return scale_move(posterior, particles, power, rng)[0]
