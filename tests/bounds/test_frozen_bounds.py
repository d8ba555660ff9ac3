"""Bounds of a frozen kernel: naive twins, exact failure probabilities, stopping, coverage."""

import math
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy import optimize

from pacfourier import bounds
from pacfourier.bounds.first_order import first_order_grid
from pacfourier.bounds.frozen import _SHARES, _log_wealth

# Laws of a score with two values (high, low), and the chances of the high one.
PAIRS = [(1.0, -1.0), (1.0, 0.0), (0.9, -1.0), (0.3, -0.2)]
CHANCES = np.concatenate([[0.01, 0.03], np.linspace(0.1, 0.9, 9), [0.97, 0.99, 0.999]])
EPSILON = 0.2


def betting(scores, epsilon=0.05, concentration=1.0):
    return bounds.holdout_betting(scores=scores, epsilon=epsilon, concentration=concentration)


def first_order(scores, epsilon=0.05, concentration=1.0):
    return bounds.holdout_first_order(
        score=float(np.mean(scores)),
        squared_score=float(np.mean(np.square(scores))),
        n_samples=len(scores),
        epsilon=epsilon,
        concentration=concentration,
    )


BOUNDS = {"betting": betting, "first_order": first_order}


def naive_wealth(scores, mean):
    """The mean over the shares of products of 1 + lambda (Z - r), lambda = g / (1 + r)."""
    total = 0.0
    for share in _SHARES:
        wealth, rate = 1.0, share / (1 + mean)
        for score in scores:
            wealth *= 1 + rate * (score - mean)
        total += wealth
    return total / len(_SHARES)


def naive_rho(scores, epsilon):
    """The largest certified mean of the grid of centres and rates, written out."""
    n, found = len(scores), []
    for centre, eta, weight in first_order_grid(n_samples=n, n_hypotheses=1, epsilon=epsilon):
        rate = eta * (1 + centre)
        factor = (-math.log(1 - rate) - rate) / rate**2
        terms = [
            eta * (centre - z) + factor * eta**2 * (centre - z) ** 2
            - math.log(weight * epsilon) / n
            for z in scores
        ]  # fmt: skip
        found.append(centre + (math.exp(-sum(terms) / n) - 1) / eta)
    return max(found)


def test_the_wealth_is_its_naive_twin_and_decreases(rng):
    scores = rng.uniform(-1, 1, 30)
    means = [0.0, 0.1, 0.5, 0.99]
    wealths = [_log_wealth(scores, mean) for mean in means]
    assert wealths == pytest.approx([math.log(naive_wealth(scores, mean)) for mean in means])
    assert wealths == sorted(wealths, reverse=True)


def test_betting_is_the_root_of_the_wealth(rng):
    scores = rng.uniform(-0.5, 1, 60)
    root = optimize.brentq(lambda r: naive_wealth(scores, r) - 20, 0, 1, xtol=1e-14)
    bound = betting(scores, concentration=0.9)
    assert bound.parameters["rho"] == pytest.approx(root, abs=1e-9)
    assert bound.value == pytest.approx((1 - 0.9 * root**2) / 2, abs=1e-9)
    # Rounding never makes it too small.
    assert _log_wealth(scores, bound.parameters["rho"]) >= math.log(20)


def test_first_order_is_its_naive_twin(rng):
    scores = np.clip(rng.normal(0.7, 0.3, 300), -1, 1)
    rho = naive_rho(scores, 0.05)
    assert 0.5 < rho < scores.mean()
    assert first_order(scores, concentration=0.8).value == pytest.approx((1 - 0.8 * rho**2) / 2)


def test_vectors():
    """Scores of 1 and some of -1, computed from their counts with 50 digits."""
    vectors = {
        (1000, 0): (0.00834820535, 0.01955304230),
        (1000, 50): (0.13744754543, 0.14441485845),
        (50, 1): (0.22939103774, 0.28279016559),
    }
    for (n, n_low), expected in vectors.items():
        scores = np.where(np.arange(n) < n_low, -1.0, 1.0)
        # The wealth is asked for slightly more than 1 / epsilon, to cover rounding.
        assert betting(scores).value == pytest.approx(expected[0], abs=1e-10)
        assert first_order(scores).value == pytest.approx(expected[1], abs=1e-10)


def test_the_shares_are_fixed_numbers():
    assert ((_SHARES > 0) & (_SHARES < 1)).all()


def test_no_bet_has_an_expected_gain():
    """The mean of the wealth at the true mean is one, over all samples of 5 scores."""
    values, masses = np.asarray([-1.0, 0.2, 0.9]), np.asarray([0.2, 0.5, 0.3])
    mean, expected = float(values @ masses), 0.0
    for sample in product(range(3), repeat=5):
        wealth = math.exp(_log_wealth(values[list(sample)], mean))
        expected += wealth * masses[list(sample)].prod()
    assert expected == pytest.approx(1, abs=1e-12)


@cache
def certified_mean(name, pair, n_high, n):
    """The mean score that a bound certifies, which depends on the sample by its counts only."""
    scores = np.where(np.arange(n) < n_high, *pair)
    return BOUNDS[name](scores, EPSILON).parameters["rho"]


def errors_certified_mean(pair, n_high, n):
    """The sharpest bound for a fixed number of rows: the exact binomial one."""
    error = bounds.holdout(n_errors=n - n_high, n_samples=n, epsilon=EPSILON).value
    return pair[0] + error * (pair[1] - pair[0])


def failure_probability(certified, chance, mean, sizes):
    """The exact probability that the mean is below its certified value, at any of the sizes."""
    alive = np.ones(1)
    failed = 0.0
    for n in range(1, max(sizes) + 1):
        alive = chance * np.append(0, alive) + (1 - chance) * np.append(alive, 0)
        if n in sizes:
            fails = np.asarray([certified(k, n) > mean + 1e-9 for k in range(n + 1)])
            failed += alive[fails].sum()
            alive[fails] = 0
    return failed


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("name", BOUNDS)
def test_exact_failure_probability_at_a_fixed_size(name, pair):
    """All samples of 30 scores, by their binomial probabilities: no law is above epsilon."""
    for chance in CHANCES:
        mean = chance * pair[0] + (1 - chance) * pair[1]
        failed = failure_probability(
            lambda k, n: certified_mean(name, pair, k, n), chance, max(mean, 0.0), [30]
        )
        assert failed <= EPSILON


@pytest.mark.parametrize("pair", PAIRS)
def test_betting_holds_at_any_stopping_time(pair):
    """Exactly, for whoever stops at the worst of the sizes 1 to 30."""
    for chance in CHANCES:
        mean = chance * pair[0] + (1 - chance) * pair[1]
        failed = failure_probability(
            lambda k, n: certified_mean("betting", pair, k, n),
            chance,
            max(mean, 0.0),
            range(1, 31),
        )
        assert failed <= EPSILON


def test_the_stopping_test_refutes_a_bound_for_one_size():
    """The exact binomial bound holds at 30 rows, and not at the worst of 1 to 30."""
    pair, chance = PAIRS[0], 0.9
    mean = chance * pair[0] + (1 - chance) * pair[1]

    @cache
    def certified(k, n):
        return errors_certified_mean(pair, k, n)

    assert failure_probability(certified, chance, mean, [30]) <= EPSILON
    assert failure_probability(certified, chance, mean, range(1, 31)) > EPSILON


LAWS = {
    "rare errors": (lambda rng, n: np.where(rng.random(n) < 0.02, -1.0, 1.0), 0.96),
    "one rare error": (lambda rng, n: np.where(rng.random(n) < 0.004, -1.0, 0.5), 0.494),
    "rare hits": (lambda rng, n: np.where(rng.random(n) < 0.05, 1.0, 0.0), 0.05),
    "noise": (lambda rng, n: rng.choice([-1.0, 1.0], n), 0.0),
    "uniform": (lambda rng, n: rng.random(n), 0.5),
    "arcsine": (lambda rng, n: np.cos(np.pi * rng.random(n) / 2), 2 / np.pi),
}


@pytest.mark.parametrize("n", [25, 250])
@pytest.mark.parametrize("law", LAWS)
def test_coverage_over_adversarial_laws(law, n):
    """At epsilon = 0.2 and 250 samples, the failures stay at or below their nominal number."""
    draw, mean = LAWS[law]
    rng, failures = np.random.default_rng(3), dict.fromkeys(BOUNDS, 0)
    for _ in range(250):
        scores = draw(rng, n)
        for name, bound in BOUNDS.items():
            failures[name] += bound(scores, EPSILON).parameters["rho"] > mean + 1e-9
    assert max(failures.values()) <= EPSILON * 250


@pytest.mark.parametrize("name", BOUNDS)
def test_no_bound_goes_beyond_one_half_or_below_the_sample(name, rng):
    bound = BOUNDS[name]
    assert bound(rng.uniform(-1, 0, 50)).value == 0.5
    assert bound(np.zeros(50)).value == 0.5
    assert bound(np.ones(50), concentration=0.0).value == 0.5
    for n in (1, 10, 1000):
        found = bound(rng.uniform(0, 1, n))
        assert found.empirical_term <= found.value <= 0.5


@pytest.mark.parametrize("name", BOUNDS)
def test_more_rows_and_more_doubt_make_the_bound_smaller(name):
    scores = np.asarray([0.9, 0.8, 1.0, 0.2])
    values = [BOUNDS[name](np.tile(scores, times)).value for times in (5, 50, 500)]
    assert values == sorted(values, reverse=True)
    assert values[0] < 0.5
    doubts = [BOUNDS[name](np.tile(scores, 50), epsilon).value for epsilon in (0.01, 0.05, 0.3)]
    assert doubts == sorted(doubts, reverse=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": [0.5, 1.1]}, "the largest of scores must be in"),
        ({"scores": []}, "scores must be a non-empty finite vector"),
        ({"scores": [0.5], "epsilon": 0.0}, "epsilon must be in"),
        ({"scores": [0.5], "concentration": 1.2}, "concentration must be in"),
    ],
)
def test_betting_checks_its_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        bounds.holdout_betting(**{"epsilon": 0.05, **arguments})


def test_first_order_checks_that_its_moments_are_possible():
    case = {"n_samples": 10, "epsilon": 0.05}
    with pytest.raises(ValueError, match="squared_score must be in"):
        bounds.holdout_first_order(score=0.8, squared_score=0.5, **case)
    with pytest.raises(ValueError, match="score must be in"):
        bounds.holdout_first_order(score=-1.5, squared_score=0.5, **case)
