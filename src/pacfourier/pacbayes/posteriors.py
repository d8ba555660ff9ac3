r"""Posteriors over a finite pool of candidate frequencies, and draws from them.

A rule turns losses into a posterior. ``Gibbs`` is the rule of the paper. Its exponential weights
have the smallest mean loss at a given Kullback-Leibler divergence from the uniform prior. A draw
then keeps a few of the candidates.

To add a posterior, write a frozen dataclass with the method of ``PosteriorRule`` and name it as
the ``_rule`` of a subclass of ``LearnedFourierMap``. Its fields are the estimator's parameters.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from numbers import Real
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol

import numpy as np
from scipy.optimize import brentq

from pacfourier.arrays import FloatArray, IntArray

Draw = Literal["replacement", "distinct", "weighted", "complementary"]
_DRAWS = ("replacement", "distinct", "weighted", "complementary")
# These look at some rows of the data.
DRAWS_FROM_ROWS = ("complementary",)
# Multiplied by exp(-100), a number is smaller than the rounding error of the number itself.
_LARGEST_STEP = 100.0
# How many widths of the posterior beta="bound" tries.
_N_WIDTHS = 60


class PosteriorRequest(NamedTuple):
    """The data from which a rule computes a posterior.

    Attributes
    ----------
    losses : array of shape (n_candidates,)
        The posterior should have a small mean of these losses.
    n_frequencies : int
        How many candidates will be kept.
    n_samples : float
        The effective number of samples, which is smaller than their number if they are weighted.
    are_plain_losses : bool
        Whether these are the paper's losses, which certificates bound, rather than balanced ones.
    bound : callable
        Returns the value of the default certificate of given weights.
    """

    losses: FloatArray
    n_frequencies: int
    n_samples: float
    are_plain_losses: bool
    bound: Callable[[FloatArray], float]

    @property
    def width(self) -> float:
        """The effective number of candidates for "ess": 2 D, but at most half of all of them."""
        return min(2 * self.n_frequencies, max(len(self.losses) / 2, 1))


class Posterior(NamedTuple):
    """Weights of the candidates, and how they were chosen.

    Attributes
    ----------
    weights : array of shape (n_candidates,)
        Their sum is one.
    inverse_temperature : float or None
        The t of a Gibbs posterior.
    constants : mapping from str to float
        Numbers fixed before the sample was seen, by the names of the parameters of bounds.
    """

    weights: FloatArray
    inverse_temperature: float | None = None
    constants: Mapping[str, float] = MappingProxyType({})


class PosteriorRule(Protocol):
    """A rule that turns losses into a posterior."""

    def check(self) -> None:
        """Raise ValueError if a parameter is out of its range."""

    def posterior(self, request: PosteriorRequest) -> Posterior:
        """Return the posterior."""


@dataclass(frozen=True)
class Gibbs:
    """The paper's pseudo-posterior (Equation 19).

    Parameters
    ----------
    beta : float or {"ess", "bound"}
        The t of the posterior is beta sqrt(n). "ess" takes the t at which the effective sample
        size of the posterior is 2 D. "bound" takes the t with the smallest certificate.
    """

    beta: float | str

    def check(self) -> None:
        """Raise ValueError unless beta is positive or the name of a rule."""
        if self.beta in ("ess", "bound"):
            return
        if not isinstance(self.beta, Real) or not 0 < self.beta < np.inf:
            raise ValueError(
                f"beta must be positive and finite or 'ess' or 'bound', got {self.beta!r}."
            )

    def posterior(self, request: PosteriorRequest) -> Posterior:
        """Return exponential weights, with the inverse temperature given by beta."""
        t = self._inverse_temperature(request)
        # A localised bound needs a t that is fixed in advance, and the losses that it bounds.
        is_fixed = not isinstance(self.beta, str) and request.are_plain_losses
        constants = {"inverse_temperature": t} if is_fixed else {}
        return Posterior(gibbs_posterior(request.losses, t), t, constants)

    def _inverse_temperature(self, request: PosteriorRequest) -> float:
        if self.beta == "ess":
            return inverse_temperature_of_size(request.losses, request.width)
        if self.beta == "bound":
            return _least_bounded_temperature(request.losses, request.bound)
        return float(self.beta) * float(np.sqrt(request.n_samples))


def gibbs_posterior(losses: FloatArray, inverse_temperature: float) -> FloatArray:
    r"""Return the Gibbs posterior, which weights frequencies by the exponential of minus the loss.

    .. math:: Q_m = e^{-t \hat L_m} \Big/ \sum_k e^{-t \hat L_k} .

    It is the unique minimiser of :math:`t \sum_m Q_m \hat L_m + \mathrm{KL}(Q \Vert P)`, where P is
    the uniform prior. The paper takes :math:`t = \beta \sqrt n` (Equation 19).

    Parameters
    ----------
    losses : array of shape (n_frequencies,)
    inverse_temperature : float
        The trade-off t, at least zero. Zero gives the prior.

    Returns
    -------
    posterior : array of shape (n_frequencies,)
        The weights Q. Their sum is one.

    Examples
    --------
    >>> losses = np.array([0.1, 0.1, 0.8])
    >>> gibbs_posterior(losses, 0.0).round(3)
    array([0.333, 0.333, 0.333])
    >>> gibbs_posterior(losses, 50.0).round(3)
    array([0.5, 0.5, 0. ])
    """
    if not (inverse_temperature >= 0 and np.isfinite(inverse_temperature)):
        raise ValueError(
            f"inverse_temperature must be finite and at least 0, got {inverse_temperature!r}."
        )
    # A common shift of the losses does not change Q; this one keeps exp() finite.
    weights = np.exp(-inverse_temperature * (losses - losses.min()))
    return weights / weights.sum()


def inverse_temperature_of_size(losses: FloatArray, size: float) -> float:
    r"""Return the t at which the Gibbs posterior has a given effective sample size.

    The effective sample size :math:`1 / \sum_m Q_m^2` decreases from the number of candidates at
    t = 0 to the number of candidates of smallest loss. A size outside this range gives the nearest
    end of it. Unlike t, a size means the same for any number of samples and any spread of losses.
    """
    if not size >= 1:
        raise ValueError(f"size must be at least 1, got {size!r}.")
    if size >= len(losses) or np.ptp(losses) == 0:
        return 0.0
    smallest = _effective_sample_size(uniform_on_best(losses))
    target = np.log(max(size, smallest * (1 + 1e-9)))
    gaps = losses - losses.min()

    def shortfall(log_temperature: float) -> float:
        return float(target - _log_gibbs_size(gaps, float(np.exp(-log_temperature))))

    return float(np.exp(-decreasing_root(shortfall, start=float(np.log(np.std(losses))))))


def _log_gibbs_size(gaps: FloatArray, inverse_temperature: float) -> float:
    r"""Return the logarithm of the effective sample size of a Gibbs posterior.

    .. math:: \ln \frac{(\sum_m w_m)^2}{\sum_m w_m^2} , \qquad w_m = e^{-t (\hat L_m - \min \hat L)}

    Parameters
    ----------
    gaps : array of shape (n_frequencies,)
        The losses, minus the smallest of them.
    inverse_temperature : float
        The t of the posterior.
    """
    weights = np.exp(-inverse_temperature * gaps)
    return float(2 * np.log(weights.sum()) - np.log(np.square(weights).sum()))


def _least_bounded_temperature(losses: FloatArray, bound: Callable[[FloatArray], float]) -> float:
    """Return the inverse temperature whose Gibbs posterior has the smallest bound.

    The bounds hold for all posteriors at once, so the search does not weaken the certificate. It
    tries 60 effective sample sizes between 1 and the number of candidates, in equal ratios.
    """
    sizes = np.geomspace(1, len(losses), _N_WIDTHS)
    temperatures = [inverse_temperature_of_size(losses, size) for size in sizes]
    return min(temperatures, key=lambda t: bound(gibbs_posterior(losses, t)))


def _effective_sample_size(posterior: FloatArray) -> float:
    r"""Return the effective sample size of a posterior, :math:`1 / \sum_m Q_m^2`.

    A posterior with equal weights on k candidates has effective sample size k.

    >>> _effective_sample_size(np.array([0.5, 0.5, 0.0]))
    2.0
    """
    return float(1 / np.square(posterior).sum())


def uniform_on_best(losses: FloatArray) -> FloatArray:
    """Return equal weights on the candidates of smallest loss."""
    is_best = losses == losses.min()
    return is_best / is_best.sum()


def gibbs_temperature(
    losses: FloatArray, divergence: Callable[[FloatArray], float], radius: float
) -> float:
    """Return the t at which a divergence of the Gibbs posterior is equal to ``radius``.

    The divergence must increase with t.
    """
    log_temperature = decreasing_root(
        lambda value: divergence(gibbs_posterior(losses, float(np.exp(-value)))) - radius,
        start=float(np.log(np.std(losses))),
    )
    return float(np.exp(-log_temperature))


def decreasing_root(decreasing: Callable[[float], float], start: float) -> float:
    """Return the zero of a decreasing function of a logarithm.

    Rounding may keep a divergence above a tiny radius, and then there is no zero. The search stops
    at ``_LARGEST_STEP``, where the posterior is the prior to the last digit.
    """
    # The ends of a bracket are asked for more than once.
    decreasing = cache(decreasing)
    lower = upper = start
    while decreasing(lower) < 0:
        lower -= 2.0
    while decreasing(upper) > 0:
        upper += 2.0
        if upper > start + _LARGEST_STEP:
            return upper
    if lower == upper:
        return start
    return float(brentq(decreasing, lower, upper, xtol=1e-13, rtol=1e-14, maxiter=200))


def _without_rows() -> IntArray:
    """Raise ValueError: a choice was asked for that needs rows of the data."""
    raise ValueError("draw='complementary' needs rows of the data, got none.")


def draw_frequencies(
    posterior: FloatArray,
    size: int,
    draw: Draw,
    rng: np.random.Generator,
    together: Callable[[], IntArray] = _without_rows,
) -> tuple[IntArray, FloatArray]:
    """Return the indices of the kept frequencies and their weights in the deployed kernel.

    Parameters
    ----------
    posterior : array of shape (n_candidates,)
    size : int
        The number of kept frequencies.
    draw : {"replacement", "distinct", "weighted", "complementary"}
        "replacement" draws independently, as in the paper. A concentrated posterior then gives the
        same frequency many times. "distinct" draws one frequency after the other without
        replacement, with probabilities proportional to the remaining weights. "weighted" keeps the
        frequencies of largest weight, and their weights in proportion. "complementary" keeps what
        ``together`` returns.
    rng : numpy.random.Generator
    together : callable
        Returns the indices of frequencies that were chosen together, on some rows of the data.

    Returns
    -------
    indices : array of shape (size,)
    weights : array of shape (size,)
        Their sum is one.
    """
    check_draw(draw, size, len(posterior))
    if draw == "weighted":
        chosen = _largest(posterior, size)
        return chosen, posterior[chosen] / posterior[chosen].sum()
    if draw == "complementary":
        return together(), np.full(size, 1 / size)
    choose = _independent if draw == "replacement" else _distinct
    return choose(posterior, size, rng), np.full(size, 1 / size)


def check_draw(draw: str, n_frequencies: int, n_candidates: int) -> None:
    """Raise ValueError if the draw is unknown, or if it needs more candidates."""
    if draw not in _DRAWS:
        raise ValueError(f"draw must be one of {_DRAWS}, got {draw!r}.")
    if draw != "replacement" and n_frequencies > n_candidates:
        raise ValueError(
            f"n_frequencies must be at most n_candidates={n_candidates} when draw={draw!r}, "
            f"got {n_frequencies}."
        )


def _independent(posterior: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    cumulative = np.cumsum(posterior)
    return np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")


def _distinct(posterior: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Keep the largest of ln Q + Gumbel noise, which is the same as draws without replacement."""
    # The smallest float replaces zero, so that frequencies without weight come last, shuffled.
    log_weights = np.log(np.maximum(posterior, np.finfo(np.float64).tiny))
    return _largest(log_weights + rng.gumbel(size=len(posterior)), size)


def _largest(values: FloatArray, size: int) -> IntArray:
    """Return the indices of the largest values, largest first."""
    candidates = np.argpartition(values, -size)[-size:]
    return candidates[np.argsort(-values[candidates], kind="stable")]
