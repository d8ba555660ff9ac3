"""The bounds by name: from what a sample says of every frequency to the best of several."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pacfourier import bounds
from pacfourier.arrays import FloatArray
from pacfourier.bounds import Bound
from pacfourier.bounds._first_order import first_order_of_measure
from pacfourier.pacbayes.divergences import divergence_from, kl_divergence, power_divergence
from pacfourier.pacbayes.posteriors import gibbs_posterior, inverse_temperature_of_size

__all__ = [
    "BOUNDS",
    "Evidence",
    "best_bound",
    "certified_inverse_temperature",
    "landmark_bound",
    "particle_log_prior",
]

# What grids of rates take for the number of hypotheses where the prior is continuous: any number
# would do that was written down before the data.
N_HYPOTHESES = 1000


@dataclass(frozen=True)
class Evidence:
    """What a sample says of every candidate frequency, and what its user declared.

    Attributes
    ----------
    losses : array of shape (n_candidates,)
    n_samples : int
    is_binary : bool
        Whether the label space was declared to have two elements.
    second_moments : array of shape (n_candidates,) or None
        Mean of (loss - 1/2)^2 over pairs; None where it is not known.
    amplitudes, harmonics : arrays of shape (n_candidates,) or None
        Length of the mean of y exp(i omega . x), and mean of cos 2 (omega . x - its angle); None
        unless binary.
    mu : float
        Order of the divergence that ``f_divergence`` pays.
    inverse_temperature : float or None
        The t of ``localised``, where the posterior is the Gibbs posterior of the losses at a t
        fixed in advance.
    rounding : float
        How far the losses may be from those of the sample.
    log_prior : array of shape (n_candidates,) or None
        Logarithms of a random measure on the candidates whose mean is the prior, as a sampler
        leaves them (``particle_log_prior``). None means the uniform prior.
    """

    losses: FloatArray
    n_samples: int
    is_binary: bool = False
    second_moments: FloatArray | None = None
    amplitudes: FloatArray | None = None
    harmonics: FloatArray | None = None
    mu: float = 2.0
    inverse_temperature: float | None = None
    rounding: float = 0.0
    log_prior: FloatArray | None = None

    @property
    def n_hypotheses(self) -> int:
        """The number that places grids of rates."""
        return len(self.losses) if self.log_prior is None else N_HYPOTHESES

    def divergence(self, posterior: FloatArray) -> float:
        """Return the divergence of a posterior over the candidates from the prior."""
        if self.log_prior is None:
            return kl_divergence(posterior)
        return max(divergence_from(posterior, self.log_prior), 0.0)

    @property
    def default_bounds(self) -> tuple[str, ...]:
        """The tightest bounds for this kind of labels, fixed before any data are seen."""
        if self.log_prior is not None:
            # Divergences of tens of nats and low losses: there kl is the better one.
            moment = "catoni_grid" if self.second_moments is None else "unexpected_bernstein"
            return ("first_order", "kl", moment) if self.is_binary else ("kl", moment)
        if self.is_binary:
            return ("first_order", "unexpected_bernstein")
        return ("catoni_grid",) if self.second_moments is None else ("unexpected_bernstein",)


def particle_log_prior(
    log_weights: FloatArray, potentials: FloatArray, log_evidence: float
) -> FloatArray:
    r"""Return the logarithms of the measure that the particles of a sampler put on themselves.

    .. math:: \hat P = \hat Z \sum_k W_k e^{V(\theta_k)} \delta_{\theta_k}, \qquad
              \mathbb{E}_{run} \hat P = P ,

    because a run from the prior P to :math:`P e^{-V}` is unbiased:
    :math:`\mathbb{E}_{run}[\hat Z \sum_k W_k g(\theta_k)] = \mathbb{E}_P[e^{-V} g]` for every g,
    of which :math:`g = e^{V + B}` is one. An exponential moment
    :math:`\mathbb{E}_S \mathbb{E}_P e^{B} \le 1` is therefore one of :math:`\hat P` too, over
    sample and run, and the bound that follows from it holds for all weights r of the particles
    with the divergence

    .. math:: \sum_k r_k \ln\frac{r_k}{\hat P_k} = -\ln \hat Z - \sum_k r_k V(\theta_k)
              + \mathrm{KL}(r \Vert W) .
    """
    return log_evidence + log_weights + potentials


def best_bound(
    posterior: FloatArray, evidence: Evidence, epsilon: float, names: tuple[str, ...]
) -> tuple[str, Bound]:
    """Return the smallest of several bounds, each at its share of epsilon, and its name.

    By the union bound all of them hold together with probability 1 - epsilon.
    """
    if not 0 < epsilon < 1:
        raise ValueError(f"epsilon must be in (0, 1), got {epsilon!r}.")
    share = epsilon / len(names)
    values = {name: _named_bound(name)(posterior, evidence, share) for name in names}
    return min(values.items(), key=lambda item: item[1].value)


def certified_inverse_temperature(
    losses: FloatArray, evidence: Evidence, epsilon: float = 0.05
) -> float:
    """Return the inverse temperature whose Gibbs posterior has the smallest bound.

    The bounds hold for all posteriors at once, so that the search is free. The temperatures are
    those at which the posterior is as wide as 1 to N equal weights, in 60 equal ratios.
    """
    sizes = np.geomspace(1, len(losses), 60)
    temperatures = [inverse_temperature_of_size(losses, size) for size in sizes]

    def value(inverse_temperature: float) -> float:
        posterior = gibbs_posterior(losses, inverse_temperature)
        return best_bound(posterior, evidence, epsilon, evidence.default_bounds)[1].value

    return min(temperatures, key=value)


def _named_bound(name: str) -> Callable[[FloatArray, Evidence, float], Bound]:
    if name not in BOUNDS:
        raise ValueError(f"bound must be 'auto' or one of {tuple(BOUNDS)}, got {name!r}.")
    return BOUNDS[name]


def _from_kl(function: Callable[..., Bound], *, grid: bool) -> Callable[..., Bound]:
    def bound(posterior: FloatArray, evidence: Evidence, epsilon: float) -> Bound:
        arguments = {"n_hypotheses": evidence.n_hypotheses} if grid else {}
        return function(
            loss=float(posterior @ evidence.losses),
            divergence=evidence.divergence(posterior),
            n_samples=evidence.n_samples,
            epsilon=epsilon,
            **arguments,
        )

    return bound


def _unexpected_bernstein(posterior: FloatArray, evidence: Evidence, epsilon: float) -> Bound:
    if evidence.second_moments is None:
        raise ValueError("bound='unexpected_bernstein' needs labels that are classes.")
    return bounds.unexpected_bernstein(
        loss=float(posterior @ evidence.losses),
        divergence=evidence.divergence(posterior),
        n_samples=evidence.n_samples,
        epsilon=epsilon,
        second_moment=float(posterior @ evidence.second_moments),
        n_hypotheses=evidence.n_hypotheses,
    )


def _first_order(posterior: FloatArray, evidence: Evidence, epsilon: float) -> Bound:
    if evidence.amplitudes is None or evidence.harmonics is None:
        raise ValueError("bound='first_order' needs declared binary labels: target_type='binary'.")
    log_prior = evidence.log_prior
    if log_prior is None:
        log_prior = np.full(len(posterior), -np.log(len(posterior)))
    return first_order_of_measure(
        posterior=posterior,
        log_prior=log_prior,
        amplitudes=evidence.amplitudes,
        second_harmonics=evidence.harmonics,
        n_samples=evidence.n_samples,
        epsilon=epsilon,
        n_hypotheses=evidence.n_hypotheses,
    )


def _norm(posterior: FloatArray, evidence: Evidence, epsilon: float) -> Bound:
    if not evidence.is_binary:
        raise ValueError("bound='norm' needs declared binary labels: target_type='binary'.")
    return _from_kl(bounds.norm, grid=False)(posterior, evidence, epsilon)


def _f_divergence(posterior: FloatArray, evidence: Evidence, epsilon: float) -> Bound:
    if evidence.log_prior is not None:
        raise ValueError(
            "bound must be 'auto' or rest on an exponential moment where a sampler made the "
            "candidates, got 'f_divergence'."
        )
    return bounds.f_divergence(
        loss=float(posterior @ evidence.losses),
        divergence=power_divergence(posterior, evidence.mu),
        n_samples=evidence.n_samples,
        epsilon=epsilon,
        mu=evidence.mu,
        binary=evidence.is_binary,
    )


def _localised(posterior: FloatArray, evidence: Evidence, epsilon: float) -> Bound:
    if evidence.inverse_temperature is None:
        raise ValueError(
            "bound='localised' needs of='posterior' and a Gibbs posterior of the losses: "
            "PBRFF with a number for beta and class_weight=None."
        )
    return bounds.localised(
        loss=float(posterior @ evidence.losses),
        n_samples=evidence.n_samples,
        epsilon=epsilon,
        inverse_temperature=evidence.inverse_temperature,
        rounding=evidence.rounding,
    )


BOUNDS: dict[str, Callable[[FloatArray, Evidence, float], Bound]] = {
    "kl": _from_kl(bounds.kl, grid=False),
    "hoeffding_grid": _from_kl(bounds.hoeffding_grid, grid=True),
    "hoeffding_peeling": _from_kl(bounds.hoeffding_peeling, grid=False),
    "catoni_grid": _from_kl(bounds.catoni_grid, grid=True),
    "unexpected_bernstein": _unexpected_bernstein,
    "norm": _norm,
    "first_order": _first_order,
    "f_divergence": _f_divergence,
    "localised": _localised,
}
"""The bounds that may be asked for by name: a posterior, the evidence and epsilon in."""


def landmark_bound(
    name: str,
    *,
    loss: float,
    divergence: float,
    second_moment: float,
    n_others: int,
    n_hypotheses: int,
    epsilon: float,
) -> Bound:
    """Return a bound, by its name, on a loss that is a mean over independent samples.

    The loss of a landmark compares one point with ``n_others`` others: no pairs are shared.
    """
    arguments: dict[str, dict[str, float]] = {
        "kl": {},
        "hoeffding_peeling": {},
        "hoeffding_grid": {"n_hypotheses": n_hypotheses},
        "catoni_grid": {"n_hypotheses": n_hypotheses},
        "unexpected_bernstein": {"n_hypotheses": n_hypotheses, "second_moment": second_moment},
    }
    if name not in arguments:
        raise ValueError(f"bound must be 'auto' or one of {tuple(arguments)}, got {name!r}.")
    bound: Bound = getattr(bounds, name)(
        loss=loss,
        divergence=divergence,
        n_samples=n_others,
        epsilon=epsilon,
        pairs=False,
        **arguments[name],
    )
    return bound
