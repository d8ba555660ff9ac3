r"""Points of the Gibbs posterior of frequencies, and moves that leave it in place.

The posterior is :math:`q(\omega) \propto p(\omega)\, e^{-\tau \hat L(\omega)}` (Equation 12 of the
paper). A frequency is written :math:`\omega = \sigma_k u` with :math:`u \sim N(0, I)` and k
drawn from the bandwidths of the prior. In these coordinates the prior is standard, and the
tempered posteriors are :math:`p(u, k)\, e^{-\lambda V(u, k)}` with
:math:`V(u, k) = \tau \hat L(\sigma_k u)`, up to constants.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray, IntArray

__all__ = ["Particles", "TemperedPosterior", "langevin_move", "scale_move"]

Loss: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Losses of shape (n,) and gradients of shape (n, d) of frequencies of shape (n, d)."""


@dataclass(frozen=True, eq=False)
class Particles:
    """Points (u, k), with what is known of the potential there.

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
        """Return the particles of given indices, with repetitions."""
        return type(self)(
            self.normals[indices],
            self.components[indices],
            self.potentials[indices],
            self.gradients[indices],
        )

    def replaced(self, others: Self, chosen: NDArray[np.bool_]) -> Self:
        """Return the particles with the chosen ones taken from others."""
        column = chosen[:, np.newaxis]
        return type(self)(
            np.where(column, others.normals, self.normals),
            np.where(chosen, others.components, self.components),
            np.where(chosen, others.potentials, self.potentials),
            np.where(column, others.gradients, self.gradients),
        )


@dataclass(frozen=True, eq=False)
class TemperedPosterior:
    """The law p(u, k) exp(-V(u, k)) up to its constant.

    Attributes
    ----------
    loss : callable
        Losses and gradients of frequencies.
    inverse_temperature : float
        The tau of V = tau L.
    scales, weights : arrays of shape (n_components,)
        The sigma_k and their prior probabilities.
    """

    loss: Loss
    inverse_temperature: float
    scales: FloatArray
    weights: FloatArray

    def draw(self, size: int, n_features: int, rng: np.random.Generator) -> Particles:
        """Draw from the prior."""
        components = rng.choice(len(self.scales), size=size, p=self.weights)
        return self.at(rng.standard_normal((size, n_features)), components)

    def at(self, normals: FloatArray, components: IntArray) -> Particles:
        """Return the particles at given points."""
        scales = self.scales[components][:, np.newaxis]
        losses, gradients = self.loss(scales * normals)
        tau = self.inverse_temperature
        return Particles(normals, components, tau * losses, tau * scales * gradients)

    def frequencies(self, particles: Particles) -> FloatArray:
        """Return sigma_k u."""
        return self.scales[particles.components][:, np.newaxis] * particles.normals


def langevin_move(
    posterior: TemperedPosterior,
    particles: Particles,
    power: float,
    step: float,
    rng: np.random.Generator,
) -> tuple[Particles, NDArray[np.bool_]]:
    r"""Move every u by a Crank-Nicolson Langevin step, accepted or not (Cotter et al., 2013).

    .. math:: v = \frac{(2 - h)\, u - 2 h\, \lambda \nabla V(u) + \sqrt{8 h}\, \xi}{2 + h},
              \qquad \xi \sim N(0, I) .

    Without V the proposal leaves the prior in place exactly, so that the step need not shrink as
    the dimension grows. Returns the particles and which of them moved.
    """
    drift = (2 - step) * particles.normals - 2 * step * power * particles.gradients
    noise = np.sqrt(8 * step) * rng.standard_normal(drift.shape)
    proposed = posterior.at((drift + noise) / (2 + step), particles.components)
    log_ratio = log_flow(particles, proposed, power, step)
    log_ratio -= log_flow(proposed, particles, power, step)
    return _accepted(particles, proposed, log_ratio, rng)


def log_flow(start: Particles, end: Particles, power: float, step: float) -> FloatArray:
    r"""Return the logarithm of posterior times proposal, less what is symmetric, negated.

    .. math:: \rho(u, v) = \Phi(u) + \tfrac12 (v - u) \cdot \nabla\Phi(u)
              + \tfrac h4 (u + v) \cdot \nabla\Phi(u) + \tfrac h4 \|\nabla\Phi(u)\|^2,
              \qquad \Phi = \lambda V ,

    so that a move from u to v is accepted with probability
    :math:`\min(1, e^{\rho(u, v) - \rho(v, u)})`.
    """
    u, v, gradients = start.normals, end.normals, power * start.gradients
    along = 0.5 * (v - u) + 0.25 * step * (u + v + gradients)
    return power * start.potentials + np.einsum("mk,mk->m", along, gradients)


def scale_move(
    posterior: TemperedPosterior, particles: Particles, power: float, rng: np.random.Generator
) -> tuple[Particles, NDArray[np.bool_]]:
    r"""Propose every particle another bandwidth from the prior, its u unchanged.

    It is accepted with probability :math:`\min(1, e^{-\lambda (V' - V)})`.
    """
    components = rng.choice(
        len(posterior.scales), size=len(particles.components), p=posterior.weights
    )
    proposed = posterior.at(particles.normals, components)
    log_ratio = power * (particles.potentials - proposed.potentials)
    return _accepted(particles, proposed, log_ratio, rng)


def _accepted(
    particles: Particles, proposed: Particles, log_ratio: FloatArray, rng: np.random.Generator
) -> tuple[Particles, NDArray[np.bool_]]:
    # An exponential variable is minus the logarithm of a uniform one.
    accepted = -rng.standard_exponential(len(log_ratio)) < log_ratio
    return particles.replaced(proposed, accepted), accepted
