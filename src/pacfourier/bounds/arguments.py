"""What every bound is given: checked numbers, independent terms, and grids of constants.

The error messages name the argument, the rule and the value that was seen.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pacfourier.arrays import FloatArray
from pacfourier.bounds.result import Bound

_ROUNDING = 1e-5
"""A value this close to its interval is clipped into it: the difference is rounding."""
LARGEST_SHARE = 0.9
RATE_RATIO = 1.5


def open_interval(name: str, value: float, lower: float, upper: float) -> float:
    """Return the value if it lies in the open interval (lower, upper)."""
    if not lower < value < upper:
        raise ValueError(f"{name} must be in ({lower:g}, {upper:g}), got {value!r}.")
    return float(value)


def unit_open(name: str, value: float) -> float:
    """Return the value if it lies in the open interval (0, 1)."""
    return open_interval(name, value, 0.0, 1.0)


def interval(name: str, value: float, lower: float, upper: float) -> float:
    """Return the value if it lies in [lower, upper]; clip it if only rounding moved it out."""
    if not lower - _ROUNDING <= value <= upper + _ROUNDING:
        raise ValueError(f"{name} must be in [{lower:g}, {upper:g}], got {value!r}.")
    return min(max(float(value), lower), upper)


def positive(name: str, value: float) -> float:
    """Return the value if it is positive and finite."""
    if not 0.0 < value < math.inf:
        raise ValueError(f"{name} must be positive and finite, got {value!r}.")
    return float(value)


def non_negative(name: str, value: float) -> float:
    """Return the value if it is finite and at least zero; clip it if only rounding moved it."""
    if not -_ROUNDING <= value < math.inf:
        raise ValueError(f"{name} must be non-negative and finite, got {value!r}.")
    return max(float(value), 0.0)


def count(name: str, value: int, minimum: int) -> int:
    """Return the value if it is an integer and at least the minimum."""
    if not isinstance(value, Integral) or value < minimum:
        raise ValueError(f"{name} must be an integer of at least {minimum}, got {value!r}.")
    return int(value)


def vector(name: str, values: npt.ArrayLike, *, size: int | None = None) -> FloatArray:
    """Return the values as a finite vector in double precision, and check its size if given."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0 or not np.isfinite(array).all():
        raise ValueError(f"{name} must be a non-empty finite vector, got {values!r}.")
    if size is not None and array.size != size:
        raise ValueError(f"{name} must have {size} entries, got {array.size}.")
    return array


def bounded_vector(
    name: str, values: npt.ArrayLike, lower: float, upper: float, *, size: int | None = None
) -> FloatArray:
    """Return a vector with entries in [lower, upper], clipped as in :func:`interval`."""
    array = vector(name, values, size=size)
    interval(f"the smallest of {name}", float(array.min()), lower, upper)
    interval(f"the largest of {name}", float(array.max()), lower, upper)
    return np.clip(array, lower, upper)


def distribution(name: str, weights: npt.ArrayLike, *, size: int | None = None) -> FloatArray:
    """Return non-negative weights that sum to one; a rounded sum is scaled to be exact."""
    array = bounded_vector(name, weights, 0.0, 1.0, size=size)
    total = float(array.sum())
    if abs(total - 1.0) > _ROUNDING:
        raise ValueError(f"{name} must sum to 1, got a sum of {total!r}.")
    return array / total


class _MeanTerms(NamedTuple):
    """What a mean of independent terms brings to a bound.

    Parameters
    ----------
    loss : float
        Empirical loss averaged under the posterior.
    nats : float
        Divergence plus logarithm of 1 / epsilon.
    n_terms : int
        Number of independent terms.
    """

    loss: float
    nats: float
    n_terms: int


def n_terms(n_samples: int, *, pairs: bool) -> int:
    r"""Return the number of independent terms behind an empirical loss.

    .. math:: m = \lfloor n / 2 \rfloor \text{ for a mean over pairs}, \qquad
              m = n \text{ for a mean over points}.

    An order-two U-statistic is the average, over the permutations of the sample, of means of
    :math:`\lfloor n/2 \rfloor` independent pairs. By Jensen's inequality it inherits every
    exponential moment that is convex in the mean of :math:`m` independent terms (hoeffding1963,
    section 5).

    Parameters
    ----------
    n_samples : int
        Number of points.
    pairs : bool
        Whether the loss is a mean over pairs of distinct points.

    Returns
    -------
    n_terms : int
        At least one.

    Examples
    --------
    >>> n_terms(7, pairs=True), n_terms(7, pairs=False)
    (3, 7)
    """
    n_samples = count("n_samples", n_samples, 2 if pairs else 1)
    return n_samples // 2 if pairs else n_samples


def checked_terms(
    *, loss: float, divergence: float, n_samples: int, epsilon: float, pairs: bool
) -> _MeanTerms:
    r"""Check the arguments that all bounds share, and return what the bounds use of them.

    The bounds hold for all posteriors at once. If :math:`\mathbb{E}_S \mathbb{E}_P e^{B_S} \le 1`,
    then with probability at least :math:`1 - \varepsilon`, for every posterior :math:`Q`,

    .. math:: \mathbb{E}_Q B_S \le \mathrm{KL}(Q \Vert P) + \ln(1/\varepsilon)

    by Markov's inequality and the variational formula of the divergence (catoni2007). The right
    side is ``nats``.

    Parameters
    ----------
    loss : float
        Empirical loss in [0, 1] averaged under the posterior.
    divergence : float
        Kullback-Leibler divergence of the posterior from the prior.
    n_samples : int
        Number of points.
    epsilon : float
        Probability of failure.
    pairs : bool
        Whether the loss is a mean over pairs of distinct points.

    Returns
    -------
    terms : _MeanTerms
    """
    nats = non_negative("divergence", divergence) - math.log(unit_open("epsilon", epsilon))
    return _MeanTerms(interval("loss", loss, 0.0, 1.0), nats, n_terms(n_samples, pairs=pairs))


def geometric_midpoints(
    lower: float, upper: float, *, n_points: int, cap: float = math.inf
) -> tuple[float, ...]:
    r"""Return a grid of constants: the midpoints, on a logarithmic scale, of equal slices.

    .. math:: t_k = \min\bigl(c,\ \ell\,(u/\ell)^{(k + 1/2)/G}\bigr), \qquad k = 0, \dots, G - 1 .

    A grid must be written down before the sample is seen.

    Parameters
    ----------
    lower, upper : float
        Ends :math:`\ell \le u` of the interval, positive.
    n_points : int
        Number of slices :math:`G`.
    cap : float, default=inf
        Largest value :math:`c` that the bound allows.

    Returns
    -------
    midpoints : tuple of float
        Increasing values, one for each slice.

    Examples
    --------
    >>> geometric_midpoints(1.0, 16.0, n_points=2)
    (2.0, 8.0)
    """
    ratio = upper / lower
    return tuple(min(cap, lower * ratio ** ((k + 0.5) / n_points)) for k in range(n_points))


class GridPoint(NamedTuple):
    """Constants of one bound of a grid, written down before the sample is seen.

    Parameters
    ----------
    centre : float
        What is subtracted from the loss, or added to minus the margin.
    eta : float
        Rate.
    weight : float
        Share of epsilon. The weights of a grid sum to one.
    """

    centre: float
    eta: float
    weight: float


Grid: TypeAlias = tuple[GridPoint, ...]


def rate_shares(n_terms: int) -> tuple[float, ...]:
    r"""Return rates as shares of the largest one that a bound allows.

    .. math:: u_k = 0.9 / 1.5^k \ge \min\bigl(0.3,\ 7 / \sqrt m\bigr), \qquad k = 0, 1, \dots

    Large shares are best for small losses and large divergences. Where smaller shares would be
    best, the other rates of a grid are good already.

    Parameters
    ----------
    n_terms : int
        Number :math:`m` of independent terms.

    Returns
    -------
    shares : tuple of float
        At least three decreasing values.

    Examples
    --------
    >>> [round(share, 3) for share in rate_shares(100)]
    [0.9, 0.6, 0.4]
    """
    least = min(0.3, 7.0 / math.sqrt(n_terms))
    n_steps = math.floor(math.log(LARGEST_SHARE / least) / math.log(RATE_RATIO))
    return tuple(LARGEST_SHARE / RATE_RATIO**k for k in range(n_steps + 1))


def weighted_grid(
    first: Sequence[tuple[float, float]], more: Sequence[tuple[float, float]], *, share: float
) -> Grid:
    """Return a grid of centres and rates whose first part has a given share of the weight.

    Parameters
    ----------
    first, more : sequence of (centre, rate)
        Two parts of the grid. The weights are equal within a part.
    share : float
        Weight of the first part. The second part has the rest.

    Returns
    -------
    grid : tuple of GridPoint
        The first part, then the second.

    Examples
    --------
    >>> [point.weight for point in weighted_grid([(0.5, 1.0)], [(0.0, 0.5), (0.0, 0.7)], share=0.5)]
    [0.5, 0.25, 0.25]
    """
    parts = ((first, share), (more, 1.0 - share))
    return tuple(GridPoint(*point, part / len(each)) for each, part in parts for point in each)


def tried(grid: Grid) -> dict[str, tuple[float, ...]]:
    """Return all constants of a grid, as the parameters of a bound list them."""
    centres, rates, weights = zip(*grid, strict=True)
    return {"grid": rates, "centres": centres, "weights": weights}


def smallest(bounds: Iterable[Bound], *, theorem: str, **grids: tuple[float, ...]) -> Bound:
    r"""Return the smallest of the bounds on a grid of constants.

    A grid gives one bound for each of its points, at level :math:`w_k \varepsilon`, where the
    weights :math:`w_k` sum to one. By the union bound they all hold together, so the smallest holds
    too.

    Parameters
    ----------
    bounds : iterable of Bound
        One bound for each point of the grid, each at its share of epsilon.
    theorem : str
        Name of the result.
    **grids : tuple of float
        All values tried. They are stored in the parameters of the result.

    Returns
    -------
    bound : Bound
        The bound with the smallest value.
    """
    best = min(bounds, key=lambda bound: bound.value)
    return replace(best, parameters={**best.parameters, **grids}, theorem=theorem)
