r"""Particles, which are draws from a Gibbs posterior of frequencies, and moves of particles.

The posterior is :math:`q(\omega) \propto p(\omega)\, e^{-\tau \hat L(\omega)}` (Equation 12 of the
paper). A frequency is written :math:`\omega = \sigma_k u`, where :math:`u \sim N(0, I)` and k is
drawn from the bandwidths of the prior. Up to constants, the tempered posteriors are then
:math:`p(u, k)\, e^{-\lambda V(u, k)}` with :math:`V(u, k) = \tau \hat L(\sigma_k u)`. Each move
leaves the tempered posterior unchanged: particles that have this law before the move have it after.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray, IntArray

_Loss: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""A function from frequencies (n, d) to their losses (n,) and gradients (n, d), both new arrays.

The next call may find other frequencies in the same array.
"""


@dataclass(frozen=True, eq=False)
class Particles:
    """Points (u, k), with the potential V and its gradient at each of them.

    Attributes
    ----------
    normals : array of shape (n_particles, n_features)
        The u.
    components : array of shape (n_particles,)
        The k.
    potentials : array of shape (n_particles,)
        V(u, k).
    gradients : array of shape (n_particles, n_features)
        Gradient of V in u.
    """

    normals: FloatArray
    components: IntArray
    potentials: FloatArray
    gradients: FloatArray

    def take(self, indices: IntArray) -> Self:
        """Return the particles with the given indices, which may repeat."""
        return type(self)(
            self.normals[indices],
            self.components[indices],
            self.potentials[indices],
            self.gradients[indices],
        )

    def replaced(self, others: Self, chosen: NDArray[np.bool_]) -> Self:
        """Return the particles after the chosen ones are replaced by those of ``others``.

        The arrays of ``others`` are used for the result.
        """
        rest = np.flatnonzero(~chosen)
        others.normals[rest] = self.normals[rest]
        others.gradients[rest] = self.gradients[rest]
        return type(self)(
            others.normals,
            np.where(chosen, others.components, self.components),
            np.where(chosen, others.potentials, self.potentials),
            others.gradients,
        )


@dataclass(frozen=True, eq=False)
class TemperedPosterior:
    """The law p(u, k) exp(-V(u, k)), up to a constant factor.

    Attributes
    ----------
    loss : callable
        Returns the losses and gradients of frequencies.
    inverse_temperature : float
        The tau of V = tau L.
    scales, weights : arrays of shape (n_components,)
        The sigma_k and their prior probabilities.
    rooms : dict from shapes to arrays
        Where frequencies are written, because new memory takes longer than their computation.
    """

    loss: _Loss
    inverse_temperature: float
    scales: FloatArray
    weights: FloatArray
    rooms: dict[tuple[int, ...], FloatArray] = field(default_factory=dict, repr=False)

    def draw(self, size: int, n_features: int, rng: np.random.Generator) -> Particles:
        """Draw particles from the prior."""
        components = rng.choice(len(self.scales), size=size, p=self.weights)
        return self.at(rng.standard_normal((size, n_features)), components)

    def at(self, normals: FloatArray, components: IntArray) -> Particles:
        """Return the particles at given points."""
        scales = self.scales[components][:, np.newaxis]
        if normals.shape not in self.rooms:
            self.rooms[normals.shape] = np.empty(normals.shape)
        frequencies = np.multiply(scales, normals, out=self.rooms[normals.shape])
        losses, gradients = self.loss(frequencies)
        tau = self.inverse_temperature
        gradients *= tau * scales
        return Particles(normals, components, tau * losses, gradients)

    def frequencies(self, particles: Particles) -> FloatArray:
        """Return the frequencies sigma_k u of particles."""
        return self.scales[particles.components][:, np.newaxis] * particles.normals


class _LangevinNoise(NamedTuple):
    """The random numbers of a Langevin move.

    Attributes
    ----------
    normals : array of shape (n_particles, n_features)
        The xi of the proposals. The move overwrites them.
    exponentials : array of shape (n_particles,)
        They decide which proposals are accepted.
    """

    normals: FloatArray
    exponentials: FloatArray


class _ScaleNoise(NamedTuple):
    """The random numbers of a move between bandwidths: new components, and which are accepted."""

    components: IntArray
    exponentials: FloatArray


def langevin_noise(rng: np.random.Generator, size: int, n_features: int) -> _LangevinNoise:
    """Draw the random numbers of a Langevin move."""
    return _LangevinNoise(rng.standard_normal((size, n_features)), rng.standard_exponential(size))


def scale_noise(rng: np.random.Generator, size: int, weights: FloatArray) -> _ScaleNoise:
    """Draw the random numbers of a move between bandwidths, given their prior probabilities."""
    return _ScaleNoise(
        rng.choice(len(weights), size=size, p=weights), rng.standard_exponential(size)
    )


def langevin_move(
    posterior: TemperedPosterior,
    particles: Particles,
    power: float,
    step: float,
    noise: _LangevinNoise,
) -> tuple[Particles, NDArray[np.bool_]]:
    r"""Propose a Crank-Nicolson Langevin step for every u, and accept or reject it.

    .. math:: v = \frac{(2 - h)\, u - 2 h\, \lambda \nabla V(u) + \sqrt{8 h}\, \xi}{2 + h},
              \qquad \xi \sim N(0, I)

    (Cotter et al., 2013). If V is zero, the proposal leaves the prior exactly unchanged, so the
    step need not shrink as the dimension grows. Returns the particles, and which of them moved.
    """
    from pacfourier.core import loops

    # The points are written where the noise was, because new memory takes longer than these sums.
    factors = (2 - step, -2 * step * power, np.sqrt(8 * step), 2 + step)
    loops.write_proposals(particles.normals, particles.gradients, factors, noise.normals)
    proposed = posterior.at(noise.normals, particles.components)
    log_ratio = _log_flow(particles, proposed, power, step)
    log_ratio -= _log_flow(proposed, particles, power, step)
    return _accepted(particles, proposed, log_ratio, noise.exponentials)


def _log_flow(start: Particles, end: Particles, power: float, step: float) -> FloatArray:
    r"""Return minus the log of posterior times proposal density, without the symmetric part.

    .. math:: \rho(u, v) = \Phi(u) + \tfrac12 (v - u) \cdot \nabla\Phi(u)
              + \tfrac h4 (u + v) \cdot \nabla\Phi(u) + \tfrac h4 \|\nabla\Phi(u)\|^2,
              \qquad \Phi = \lambda V .

    A move from u to v is accepted with probability :math:`\min(1, e^{\rho(u, v) - \rho(v, u)})`.
    """
    from pacfourier.core import loops

    products = np.empty((3, len(start.potentials)))
    loops.write_row_products(start.gradients, start.normals, end.normals, products)
    own, other, square = products
    drift = 0.5 * (other - own) + 0.25 * step * (own + other + power * square)
    return power * (start.potentials + drift)


def scale_move(
    posterior: TemperedPosterior, particles: Particles, power: float, noise: _ScaleNoise
) -> tuple[Particles, NDArray[np.bool_]]:
    r"""Propose for every particle a bandwidth drawn from the prior, and keep its u.

    It is accepted with probability :math:`\min(1, e^{-\lambda (V' - V)})`. Returns the particles,
    and which of them accepted.
    """
    proposed = posterior.at(particles.normals, noise.components)
    log_ratio = power * (particles.potentials - proposed.potentials)
    return _accepted(particles, proposed, log_ratio, noise.exponentials)


def _accepted(
    particles: Particles, proposed: Particles, log_ratio: FloatArray, exponentials: FloatArray
) -> tuple[Particles, NDArray[np.bool_]]:
    # An exponential variable is minus the logarithm of a uniform one.
    accepted = -exponentials < log_ratio
    return particles.replaced(proposed, accepted), accepted
