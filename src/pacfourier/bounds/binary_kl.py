"""The binary divergence kl, its two inverses, and the constant of its moment."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy import special

from pacfourier.bounds.arguments import count

_LARGEST_EXACT = 1_000_000
"""For more terms than this, a known bound replaces the sum, which would take much memory."""

_EPS = float(np.finfo(np.float64).eps)


def _log_ratio(a: float, b: float, difference: float) -> float:
    """Return ln(a / b), given a more precise value of a - b than subtraction would give."""
    if b == 0.0:
        return math.inf
    if abs(relative := difference / b) < 0.5:
        return math.log1p(relative)
    ratio = a / b
    return math.log(ratio) if ratio < math.inf else math.log(a) - math.log(b)


def _halves(a: float, b: float) -> tuple[float, float]:
    heads = a * _log_ratio(a, b, a - b) if a > 0.0 else 0.0
    tails = (1.0 - a) * _log_ratio(1.0 - a, 1.0 - b, b - a) if a < 1.0 else 0.0
    return heads, tails


def _from_below(a: float, b: float) -> float:
    """Return the binary divergence, for b inside (0, 1), less its own rounding error."""
    heads, tails = _halves(a, b)
    return heads + tails - 8.0 * _EPS * (abs(heads) + abs(tails))


def binary_kl(a: float, b: float) -> float:
    r"""Return the Kullback-Leibler divergence between two Bernoulli laws.

    .. math:: \mathrm{kl}(a, b) = a \ln\frac{a}{b} + (1 - a) \ln\frac{1 - a}{1 - b} .

    Parameters
    ----------
    a, b : float
        Probabilities of heads, in [0, 1].

    Returns
    -------
    divergence : float
        Non-negative, infinite when the second law misses an outcome of the first.

    Examples
    --------
    >>> binary_kl(0.0, 0.5) == math.log(2)
    True
    """
    _check_unit("a", a)
    _check_unit("b", b)
    return max(sum(_halves(a, b)), 0.0)


def supremum(holds: Callable[[float], bool], lower: float, upper: float) -> float:
    """Return the supremum of a set that is an interval starting at ``lower``, rounded up.

    Bisection stops when no number is left between the ends, and returns the upper one, where
    the condition fails: the result is never inside the set.

    Parameters
    ----------
    holds : callable
        Condition on a number, true up to the supremum and false after it.
    lower, upper : float
        Bracket of the supremum.

    Returns
    -------
    supremum : float
        A number at or after the supremum, one unit in the last place after it at most.

    Examples
    --------
    >>> supremum(lambda x: x * x <= 2.0, 0.0, 2.0)
    1.4142135623730951
    """
    while lower < (middle := 0.5 * (lower + upper)) < upper:
        lower, upper = (middle, upper) if holds(middle) else (lower, middle)
    return upper


def klup(a: float, budget: float) -> float:
    r"""Return the largest b >= a with kl(a, b) <= budget, rounded up.

    .. math:: \mathrm{kl}^{+}(a, B) = \sup\{b \in [a, 1] : \mathrm{kl}(a, b) \le B\} .

    Parameters
    ----------
    a : float
        Observed mean, in [0, 1].
    budget : float
        Divergence :math:`B \ge 0`.

    Returns
    -------
    upper : float
        Never below the supremum.

    Examples
    --------
    >>> round(klup(0.0, math.log(2)), 12)
    0.5
    """
    _check_budget(a, budget)
    return supremum(lambda b: _from_below(a, b) <= budget, a, 1.0)


def kldn(a: float, budget: float) -> float:
    r"""Return the smallest b <= a with kl(a, b) <= budget, rounded down.

    .. math:: \mathrm{kl}^{-}(a, B) = \inf\{b \in [0, a] : \mathrm{kl}(a, b) \le B\} .

    Parameters
    ----------
    a : float
        Observed mean, in [0, 1].
    budget : float
        Divergence :math:`B \ge 0`.

    Returns
    -------
    lower : float
        Never above the infimum.

    Examples
    --------
    >>> round(kldn(1.0, math.log(2)), 12)
    0.5
    """
    _check_budget(a, budget)
    return 0.0 - supremum(lambda minus_b: _from_below(a, -minus_b) <= budget, -a, 0.0)


@lru_cache(maxsize=256)
def log_xi(n_terms: int) -> float:
    r"""Return the logarithm of Maurer's constant, the moment of the binary divergence.

    .. math:: \xi(m) = \sum_{k=0}^m \binom{m}{k} \Bigl(\frac{k}{m}\Bigr)^k
              \Bigl(1 - \frac{k}{m}\Bigr)^{m-k} =
              \mathbb{E}\, e^{m\,\mathrm{kl}(\hat b, b)} \le 2\sqrt{m} ,

    where :math:`\hat b` is the mean of :math:`m` tosses of a coin :math:`0 < b < 1`. The sum is
    exact up to a million terms (its rounding is added to it); beyond, the right side is returned
    (valid from :math:`m = 8`), which costs less than half a nat.

    Parameters
    ----------
    n_terms : int
        Number :math:`m` of independent terms.

    Returns
    -------
    log_xi : float
        Never below the logarithm of the constant.

    References
    ----------
    maurer2004 for the inequality; germain2015 for the exact sum.

    Examples
    --------
    >>> round(math.exp(log_xi(1)), 9), round(math.exp(log_xi(2)), 9)
    (2.0, 2.5)
    """
    m = count("n_terms", n_terms, 1)
    if m > _LARGEST_EXACT:
        return 0.5 * math.log(4.0 * m)
    k = np.arange(m + 1, dtype=np.float64)
    log_binomial = special.gammaln(m + 1.0) - special.gammaln(k + 1.0) - special.gammaln(m - k + 1)
    log_terms = log_binomial + special.xlogy(k, k / m) + special.xlogy(m - k, (m - k) / m)
    rounding = 8.0 * _EPS * (1.0 + math.lgamma(m + 1.0))
    return float(special.logsumexp(log_terms)) + rounding


def _check_unit(name: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must be in [0, 1], got {value!r}.")


def _check_budget(a: float, budget: float) -> None:
    _check_unit("a", a)
    if not budget >= 0.0:
        raise ValueError(f"budget must be non-negative, got {budget!r}.")
