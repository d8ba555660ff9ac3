"""Expected violations: the printed statements that are false, caught by exact sums."""

import math

import numpy as np
import pytest
from scipy import stats

from pacfourier import bounds
from pacfourier.bounds import Bound, printed
from pacfourier.bounds.f_divergence import largest_variance

EPSILON = 0.05
BIAS = 0.5 + math.sqrt(1 / 8)
MIXTURE = {"weights": [1.0], "losses": [0.3], "divergences": [1.0], "n_train": 9, "epsilon": 0.05}


def repaired_power_bound(*, divergence, **case):
    """``f_divergence`` with the argument names of the printed statements."""
    return bounds.f_divergence(power_divergence=divergence, **case)


def coin_failure(width, n):
    """Exact probability that U + width < L = 1/4: constant inputs, labels a coin of that bias."""
    heads = np.arange(n + 1)
    losses = 2 * heads * (n - heads) / (n * (n - 1))
    return stats.binom.pmf(heads, n, BIAS)[losses + width < 0.25].sum()


FAILURES = {
    100: (0.0006, 0.006, 0.015, 0.067, 0.117, 0.189),
    1_000: (0.005, 0.035, 0.123, 0.213, 0.300, 0.366),
    10_000: (0.019, 0.107, 0.250, 0.358, 0.412, 0.457),
    100_000: (0.049, 0.195, 0.353, 0.436, 0.464, 0.486),
}
ORDERS = (2.5, 3.0, 4.0, 6.0, 10.0, 100.0)
CELLS = [(n, mu, p) for n, row in FAILURES.items() for mu, p in zip(ORDERS, row, strict=True)]


@pytest.mark.parametrize(("n", "mu", "expected"), CELLS)
def test_theorem4_fails_above_two(n, mu, expected):
    case = {"loss": 0.0, "divergence": 0.0, "n_samples": n, "epsilon": EPSILON, "mu": mu}
    failure = coin_failure(printed.theorem4(**case).value, n)
    assert failure == pytest.approx(expected, abs=6e-4)
    assert coin_failure(repaired_power_bound(**case, binary=True).value, n) < 1e-5


@pytest.mark.parametrize(("n", "mu"), [(100, 5.75), (1_000, 3.20), (10_000, 2.75), (100_000, 2.55)])
def test_theorem4_first_order_to_fail(n, mu):
    def failure(order):
        case = {"loss": 0.0, "divergence": 0.0, "n_samples": n, "epsilon": EPSILON}
        return coin_failure(printed.theorem4(**case, mu=order).value, n)

    assert failure(mu) > EPSILON >= failure(mu - 0.05)


def test_theorem4_tends_to_one_half():
    n = 10**12
    case = {"loss": 0.0, "divergence": 0.0, "n_samples": n, "epsilon": EPSILON}
    deviation = printed.theorem4(**case, mu=3.0).value / math.sqrt(largest_variance(n, binary=True))
    assert stats.norm.sf(deviation) > 0.45


@pytest.mark.parametrize("n", [2, 3, 10, 1000])
def test_variance_exceeds_the_printed_lemma(n):
    ratio = largest_variance(n, binary=True) * 4 * n
    assert ratio == pytest.approx((2 * n - 2) / (2 * n - 3))
    assert ratio > 1


def test_variance_exceeds_the_printed_lemma_twice_at_two():
    # A fair coin: the two labels differ with probability 1/2, so U is itself a fair coin.
    law = {0.0: 0.5, 1.0: 0.5}
    variance = sum(p * (u - 0.5) ** 2 for u, p in law.items())
    assert variance == 2 * (1 / (4 * 2))
    assert variance == largest_variance(2, binary=True)


@pytest.mark.parametrize(
    ("n_classes", "expected"), [(3, 1.26), (4, 1.38), (10, 1.57), (9999, 1.69)]
)
def test_variance_exceeds_the_printed_lemma_with_many_classes(n_classes, expected):
    n = 1000

    def variance(mass):
        masses = np.concatenate([[mass], np.full(n_classes - 1, (1 - mass) / (n_classes - 1))])
        same = masses @ masses
        zeta1, zeta2 = masses @ (1 - masses) ** 2 - (1 - same) ** 2, same * (1 - same)
        return (4 * (n - 2) * zeta1 + 2 * zeta2) / (n * (n - 1))

    worst = max(variance(mass) for mass in np.linspace(0.5, 0.95, 181))
    assert 4 * n * worst == pytest.approx(expected, abs=6e-3)
    assert worst <= largest_variance(n, binary=False)


def test_corollary5_fails_at_two():
    masses, epsilon = np.asarray([0.40, 0.35, 0.25]), 1 / 3
    truth, same = 1 - masses @ masses, masses @ masses
    case = {"loss": 0.0, "divergence": 0.0, "n_samples": 2, "epsilon": epsilon}
    assert truth == pytest.approx(0.655)
    assert printed.corollary5(**case).value == pytest.approx(math.sqrt(3 / 8))
    assert printed.corollary5(**case).value < truth
    assert same > epsilon
    assert printed.theorem4(**case, mu=1.92).value == pytest.approx(0.6504, abs=1e-4)
    assert printed.theorem4(**case, mu=1.92).value < truth
    assert repaired_power_bound(**case, mu=2.0, binary=False).value > truth


def test_corollary5_fails_at_three():
    masses, epsilon = np.concatenate([[0.65], np.full(35, 0.01)]), 0.27
    truth, same = 1 - (masses**2).sum(), (masses**3).sum()
    case = {"loss": 0.0, "divergence": 0.0, "n_samples": 3, "epsilon": epsilon}
    assert truth == pytest.approx(0.574)
    assert printed.corollary5(**case).value == pytest.approx(5 / 9)
    assert printed.corollary5(**case).value < truth
    assert same == pytest.approx(0.2747, abs=1e-4)
    assert same > epsilon
    assert repaired_power_bound(**case, mu=2.0, binary=False).value > truth


@pytest.mark.parametrize("n", [2, 5, 50, 1000])
@pytest.mark.parametrize("t_scale", [0.3, 1.0, 5.0])
def test_true_statements_are_dominated(n, t_scale):
    t = t_scale * math.sqrt(n)
    case = {"loss": 0.2, "divergence": 2.0, "epsilon": 0.05, "inverse_temperature": t}
    repaired = bounds.hoeffding(n_samples=n, **case).value
    seen_from_one = bounds.hoeffding(n_samples=n - 1, pairs=False, **case).value
    assert repaired < printed.theorem3(n_samples=n, **case).value
    assert (
        printed.theorem3(n_samples=n, **case).value < printed.corollary2(n_samples=n, **case).value
    )
    assert seen_from_one < printed.theorem1(n_samples=n, **case).value
    union = printed.landmarks(n_samples=n, n_landmarks=7, **case).value
    assert union == pytest.approx(printed.theorem1(n_samples=n, **case).value + math.log(7) / t)


STATEMENTS = {
    "theorem1": ({"inverse_temperature": 3.0}, "true but loose"),
    "corollary2": ({"inverse_temperature": 3.0}, "true but loose"),
    "theorem3": ({"inverse_temperature": 3.0}, "true but loose"),
    "theorem4": ({"mu": 3.0}, "false"),
    "corollary5": ({}, "false"),
    "landmarks": ({"inverse_temperature": 3.0, "n_landmarks": 5}, "true but loose"),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_printed_is_never_a_certificate(name):
    constants, verdict = STATEMENTS[name]
    statement = getattr(printed, name)
    case = {"loss": 0.2, "divergence": 2.0, "n_samples": 10, "epsilon": 0.05}
    result = statement(**case, **constants)
    assert not isinstance(result, Bound)
    assert result.verdict == verdict
    assert "not a certificate" in str(result)
    with pytest.raises(ValueError, match="bound must pay"):
        bounds.landmark_mixture(**MIXTURE, bound=statement)
    assert not hasattr(result, "theorem")
    assert ("FALSE" in statement.__doc__) == (verdict == "false")
