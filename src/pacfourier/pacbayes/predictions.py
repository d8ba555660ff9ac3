r"""Certified error rates, interval widths and abstention of a predictor: numbers in, numbers out.

They come from its errors on rows that it did not learn from.

A predictor that was fixed before the rows were read makes independent errors on them. So the number
of errors is binomial, whatever the predictor is and however it was learned. With
``bounds.holdout``, the exact binomial bound, everything here follows from this.
"""

from bisect import bisect_left, bisect_right
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pacfourier.arrays import FloatArray, IntArray
from pacfourier.bounds import holdout
from pacfourier.bounds.frozen import least_mean_score
from pacfourier.bounds.holdout import SAFETY, binomial_cdf


def least_rates(
    n_hits: IntArray, n_rows: IntArray, epsilon: float, *, are_disjoint: bool = True
) -> FloatArray:
    r"""Return lower bounds on the success rates of several groups of rows, all at once.

    .. math:: p_c \ge \inf\{p : \Pr[\mathrm{Binomial}(n_c, p) \ge k_c] > \varepsilon / G\} .

    If the groups are disjoint, as classes are, G is the number of groups that have rows. If a row
    may be in several groups, as with label sets, G is the number of all groups. The bound of a
    group without rows is zero.

    *Proof for disjoint groups.* Given the group of each row, the successes of the rows are
    independent, with probability :math:`p_c` in group c. So :math:`k_c` is binomial, G is fixed,
    and the union bound over the G groups with rows gives the statement.

    *Proof for others.* A success in one group may depend on which other groups the row is in, so
    G must not depend on the rows. Given which rows are in group c, and nothing else about them,
    the successes in c are independent, with probability :math:`p_c`. So the bound of c fails with
    probability at most :math:`\varepsilon / G`, and the union bound is over all groups.
    """
    has_rows = n_rows > 0
    rates = np.zeros(len(n_rows))
    share = epsilon / (max(int(has_rows.sum()), 1) if are_disjoint else len(n_rows))
    for group in np.flatnonzero(has_rows):
        n, k = int(n_rows[group]), int(n_hits[group])
        rates[group] = 1.0 - holdout(n_errors=n - k, n_samples=n, epsilon=share).value
    return rates


def mean_loss_bound(losses: FloatArray, epsilon: float) -> float:
    r"""Return an upper bound on the mean of a loss in [0, 1], at any number of rows.

    .. math:: \mathbb{E}\, \ell \le \tfrac12 (1 - \rho), \qquad Z_i = 1 - 2 \ell_i ,

    where :math:`\rho` is what bets on the scores :math:`Z_i` certify (``least_mean_score``, where
    the proof is). It is small if the losses vary little, which no bound on errors can see.
    """
    return 0.5 * (1.0 - least_mean_score(1.0 - 2.0 * losses, epsilon))


def _most_errors(n_rows: int, rate: float, epsilon: float) -> int:
    r"""Return how many errors in n rows still show that the error rate is at most a given one.

    .. math:: \max\{k : \Pr[\mathrm{Binomial}(n, p) \le k] \le \varepsilon\} ,

    and -1 if not even k = 0 qualifies. If the true rate is p or more, at most so many errors occur
    with probability at most :math:`\varepsilon`.
    """
    errors, level = range(n_rows), SAFETY * epsilon
    return bisect_right(errors, level, key=lambda k: binomial_cdf(k, n_rows, rate)) - 1


def least_half_widths(y: NDArray[Any], predictions: NDArray[Any]) -> FloatArray:
    r"""Return, for each row, the least half width whose interval contains the label.

    .. math:: R = \min\{h \ge 0 : f \ominus h \le y \le f \oplus h\} ,

    where :math:`\ominus` and :math:`\oplus` subtract and add in the precision of the predictions f,
    which is single or double. The distance :math:`|y - f|`, once rounded, may be too small: then
    its interval does not contain y. Of several outputs, the largest R counts.

    Rounding keeps the order, so the interval grows with h, and R is found by halving the range.
    The order of non-negative floating-point numbers is that of their bits.
    """
    is_single = predictions.dtype == np.float32
    kind, bits = (np.float32, np.int32) if is_single else (np.float64, np.int64)
    f = predictions.astype(kind, copy=False)
    low, high = np.zeros(f.shape, dtype=bits), np.full(f.shape, np.inf, dtype=kind).view(bits)
    while (low < high).any():
        middle = low + (high - low) // 2
        h = middle.view(kind)
        with np.errstate(over="ignore"):
            is_inside = (f - h <= y) & (y <= f + h)
        low, high = np.where(is_inside, low, middle + 1), np.where(is_inside, middle, high)
    widths: FloatArray = high.view(kind)
    return widths if widths.ndim == 1 else widths.max(axis=1)


def half_width(least_widths: FloatArray, coverage: float, epsilon: float) -> float:
    r"""Return h such that the intervals of a share of new rows contain their labels.

    .. math:: h = R_{(n - j)}, \qquad
              j = \max\{j : \Pr[\mathrm{Binomial}(n, 1 - c) \le j] \le \varepsilon\} ,

    the largest of the ``least_half_widths`` R but j, for the coverage c. It is infinite if there
    is no such j. With probability at least :math:`1 - \varepsilon` over these rows, the interval
    :math:`f(x) \pm h` contains a share of at least c of all new labels (vovk2012). Split conformal
    intervals promise this on average over such rows only.

    *Proof.* The interval of h contains a label if and only if :math:`R \le h`. Let q be the
    smallest number with :math:`\Pr(R \le q) \ge c`. If the coverage of h is below c, then
    :math:`h < q`, and all but j of the R are below q. So at most j of the n rows have
    :math:`R \ge q`, which has probability :math:`1 - c` or more.
    """
    n_above = _most_errors(len(least_widths), 1.0 - coverage, epsilon)
    if n_above < 0:
        return np.inf
    place = len(least_widths) - 1 - n_above
    return float(np.partition(least_widths, place)[place])


class Abstention(NamedTuple):
    """When to accept a prediction, so that few of those accepted are wrong.

    Parameters
    ----------
    threshold : float
        Accept a prediction if its confidence is at least this. Infinite if no threshold could be
        certified.
    error : float
        The wished error, which bounds the share of errors among accepted predictions.
    observed_error : float
        That share among the accepted rows of the sample. NaN if none is accepted.
    accepted : float
        The share of the rows of the sample that is accepted.
    accepted_at_least : float
        A lower bound on the share of new rows that is accepted. It holds with probability
        1 - epsilon of its own.
    """

    threshold: float
    error: float
    observed_error: float
    accepted: float
    accepted_at_least: float


class Confidences(NamedTuple):
    """How confident a classifier is of its predictions.

    Parameters
    ----------
    values : array of shape (n_samples,)
        One number per row, which does not depend on the label.
    largest : float
        A number that no confidence can exceed, such as 1 for a probability. It may be infinite.
    """

    values: FloatArray
    largest: float = np.inf


class _AcceptedCounts(NamedTuple):
    """Rows and errors at or above every different confidence, from the largest downward."""

    thresholds: FloatArray
    n_rows: IntArray
    n_errors: IntArray


def _accepted_counts(confidences: FloatArray, is_wrong: NDArray[np.bool_]) -> _AcceptedCounts:
    """Return how many rows, and how many errors, are accepted at each threshold."""
    order = np.argsort(-confidences, kind="stable")
    ordered = confidences[order]
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    return _AcceptedCounts(ordered[ends], ends + 1, np.cumsum(is_wrong[order], dtype=np.intp)[ends])


def _last_threshold(
    counts: _AcceptedCounts, start: int, *, error: float, epsilon: float, largest: float = np.inf
) -> int:
    r"""Return the place of the last threshold of a sequence of tests, or -1 if the first fails.

    The hypothesis at a threshold t is :math:`r(t) = \Pr(\text{error} \mid C \ge t) > \alpha`. Given
    n accepted rows, the k errors among them are binomial, and the test rejects the hypothesis if
    :math:`\Pr[\mathrm{Binomial}(n, \alpha) \le k] \le \varepsilon`. Thresholds are taken from
    strict to lax, from a fixed number s of rows on, until a test does not reject. **All**
    thresholds before it have :math:`r(t) \le \alpha` with probability at least
    :math:`1 - \varepsilon`: a sequence of tests costs as much as one.

    *Proof.* Thresholds are observed confidences, so they are random; the usual proof is for fixed
    ones. Order rows by confidence, ties at random, and write :math:`V \in [0, 1]` for the share of
    all new rows before a row in this order. V is uniform, and
    :math:`r(v) = \Pr(\text{error} \mid V \le v)` is continuous. Let :math:`F = \{r > \alpha\}`, an
    open set, and T the V of row s + 1.

    (i) T is in F. Given T, the first s rows are independent draws of :math:`V < T`, so their errors
    are binomial with a rate above :math:`\alpha`. The first test, on these s rows, rejects with
    probability at most :math:`\varepsilon`. (Of tied rows it counts the wrong ones first; no
    random order has more errors.)

    (ii) T is in a gap [b, a] of F, where :math:`r(a) = \alpha`, and :math:`r(b) = \alpha` unless
    b = 0. This depends on the numbers of rows up to a and up to b only. Given them, the errors up
    to b and those between b and a are independent and binomial with rate :math:`\alpha` each, so
    those up to a are binomial, and the test at a rejects with probability at most
    :math:`\varepsilon`. All thresholds before a are good, and one after a is reached only through
    the test at a. If a splits rows with tied confidence, their error rate is above
    :math:`\alpha`, and the test after all of them rejects even less often.

    One of the two cases occurs, and :math:`\varepsilon` bounds both. If more than s rows have the
    largest confidence that is possible, r is constant up to them. Their number decides this case,
    and given it their errors are binomial: the first test is on all of them.

    Parameters
    ----------
    counts : AcceptedCounts
    start : int
        The number s of rows, fixed without looking at the rows.
    error : float
        The wished error :math:`\alpha`.
    epsilon : float
        Probability of failure.
    largest : float, default=inf
        A number that no confidence can exceed.
    """
    thresholds, n_rows, n_errors = counts
    place = int(np.searchsorted(n_rows, start))
    rows_before, errors_before = (n_rows[place - 1], n_errors[place - 1]) if place else (0, 0)
    worst = errors_before + min(n_errors[place] - errors_before, start - rows_before)
    starts_at_top = thresholds[0] == largest and n_rows[0] > start
    if not starts_at_top and binomial_cdf(int(worst), start, error) > SAFETY * epsilon:
        return -1
    first = int(np.searchsorted(n_rows, start + 1))
    is_passed = _binomial_cdfs(n_errors[first:], n_rows[first:], error) <= SAFETY * epsilon
    n_passed = int(np.argmin(np.append(is_passed, False)))
    return first + n_passed - 1 if n_passed else -1


def _binomial_cdfs(k: IntArray, n: IntArray, p: float) -> FloatArray:
    """Return ``binomial_cdf`` for many numbers of trials."""
    return np.where(k < n, special.betaincc(k + 1.0, np.maximum(n - k, 1), p), 1.0)


def _fewest_rows(n_errors: int, rate: float, epsilon: float, limit: int) -> int:
    """Return the least number of rows in which ``_most_errors`` tolerates so many, or the limit."""
    return bisect_left(
        range(limit), True, key=lambda n: binomial_cdf(n_errors, n, rate) <= SAFETY * epsilon
    )


def _abstention_start(n_rows: int, error: float, epsilon: float) -> int:
    """Return the number of rows at which the sequence of tests starts; all rows if none can pass.

    It depends on the number of rows only. The first test is on a tenth of the rows, or on as many
    as are needed to tolerate two errors. If these are more than half of the rows, it tolerates one
    error or none.
    """
    for n_errors in (2, 1, 0):
        start = _fewest_rows(n_errors, error, epsilon, n_rows)
        if start <= n_rows // 2:
            return max(start, n_rows // 10)
    return start


def _least_share(share: float, n_rows: int, epsilon: float) -> float:
    r"""Return a lower bound on the probability of being accepted, for all thresholds at once.

    .. math:: \Pr(C \ge t) \ge \frac{\#\{i : C_i \ge t\}}{n} - \sqrt{\frac{\ln(1/\varepsilon)}{2n}}
              \quad \text{for all } t,

    with :math:`\varepsilon \le 1/2` (dvoretzky1956, massart1990). So t may depend on the rows.
    """
    return max(share - float(np.sqrt(np.log(1.0 / min(epsilon, 0.5)) / (2 * n_rows))), 0.0)


def certified_abstention(
    confidences: Confidences, is_wrong: NDArray[np.bool_], *, error: float, epsilon: float
) -> Abstention:
    """Return the laxest threshold at which few of the accepted predictions are wrong.

    Parameters
    ----------
    confidences : Confidences
    is_wrong : array of shape (n_samples,)
    error : float
        The wished error among accepted predictions.
    epsilon : float
        Probability, over the rows, that their error is larger.
    """
    n = len(is_wrong)
    counts = _accepted_counts(confidences.values, is_wrong)
    start = _abstention_start(n, error, epsilon)
    place = _last_threshold(
        counts, start, error=error, epsilon=epsilon, largest=confidences.largest
    )
    if place < 0:
        return Abstention(np.inf, error, np.nan, 0.0, 0.0)
    n_accepted = int(counts.n_rows[place])
    return Abstention(
        threshold=float(counts.thresholds[place]),
        error=error,
        observed_error=float(counts.n_errors[place] / n_accepted),
        accepted=n_accepted / n,
        accepted_at_least=_least_share(n_accepted / n, n, epsilon),
    )
