"""The binary divergence and its inverses, against two hundred decimals."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pacfourier.bounds.bernstein import bernstein_factor
from pacfourier.bounds.binary_kl import _LARGEST_EXACT, binary_kl, kldn, klup, log_xi

UNIT = st.one_of(st.just(0.0), st.floats(1e-30, 1.0))
BUDGET = st.one_of(st.just(0.0), st.floats(1e-30, 20.0), st.floats(1e-30, 1e-6))


def exact_kl(a: float, b: float) -> Decimal:
    with localcontext(prec=200):
        p, q = Decimal(a), Decimal(b)
        heads = p * (p / q).ln() if p else Decimal(0)
        return heads + ((1 - p) * ((1 - p) / (1 - q)).ln() if p != 1 else Decimal(0))


@pytest.mark.parametrize(
    ("inverse", "a", "budget", "expected"),
    [
        (klup, 0.3, 0.01, 0.36716234),
        (kldn, 0.3, 0.01, 0.23813820),
        (klup, 0.0, 0.01, 0.00995017),
        (klup, 0.1, 0.05, 0.22007860),
        (kldn, 0.1, 0.05, 0.03127840),
        (klup, 0.5, 0.02, 0.59900828),
    ],
)
def test_inverse_value(inverse, a, budget, expected):
    assert inverse(a, budget) == pytest.approx(expected, abs=6e-9)


@given(a=UNIT, budget=BUDGET)
def test_klup_never_rounds_inwards(a, budget):
    upper = klup(a, budget)
    assert a <= upper <= 1.0
    if upper < 1.0:
        assert exact_kl(a, upper) >= Decimal(budget)


@given(a=UNIT, budget=BUDGET)
def test_kldn_never_rounds_inwards(a, budget):
    lower = kldn(a, budget)
    assert 0.0 <= lower <= a
    if lower > 0.0:
        assert exact_kl(a, lower) >= Decimal(budget)


@given(a=st.floats(1e-6, 1.0 - 1e-6), budget=st.floats(1e-10, 5.0))
def test_inverses_are_tight(a, budget):
    upper, lower = klup(a, budget), kldn(a, budget)
    assert binary_kl(a, a + (1 - 1e-6) * (upper - a)) <= budget
    assert binary_kl(a, a - (1 - 1e-6) * (a - lower)) <= budget


@given(a=UNIT, budget=st.floats(1e-9, 10.0))
def test_kldn_mirrors_klup(a, budget):
    assert kldn(a, budget) == pytest.approx(1.0 - klup(1.0 - a, budget), abs=1e-10)


@given(a=UNIT, b=st.floats(1e-12, 1.0 - 1e-12))
def test_binary_kl_value(a, b):
    assert binary_kl(a, b) == pytest.approx(float(exact_kl(a, b)), rel=1e-9, abs=1e-15)


def test_binary_kl_limits():
    assert binary_kl(0.0, 0.0) == binary_kl(1.0, 1.0) == binary_kl(0.3, 0.3) == 0.0
    assert binary_kl(0.3, 0.0) == binary_kl(0.3, 1.0) == math.inf
    assert klup(1.0, 0.0) == 1.0
    assert kldn(0.0, 3.0) == 0.0
    assert klup(0.3, math.inf) == 1.0


@pytest.mark.parametrize(
    ("m", "expected"), [(1, 2), (2, 2.5), (10, 4.660216), (100, 13.209961), (1000, 40.303213)]
)
def test_xi_value(m, expected):
    assert math.exp(log_xi(m)) == pytest.approx(expected, abs=6e-7)


def test_log_xi_value():
    assert log_xi(500) == pytest.approx(3.3567659, abs=6e-8)
    assert log_xi(999) == pytest.approx(3.6959393, abs=6e-8)


@pytest.mark.parametrize("m", [1, 2, 3, 7, 30, 90])
def test_log_xi_is_the_rational_sum_rounded_up(m):
    terms = (
        math.comb(m, k) * Fraction(k, m) ** k * Fraction(m - k, m) ** (m - k) for k in range(m + 1)
    )
    exact = sum(terms)
    with localcontext(prec=60):
        exact_log = (Decimal(exact.numerator) / Decimal(exact.denominator)).ln()
    assert exact_log <= Decimal(log_xi(m)) <= exact_log + Decimal("1e-11")


@pytest.mark.parametrize("m", [8, 100, 12_345])
def test_log_xi_is_below_its_bound(m):
    assert log_xi(m) < math.log(2 * math.sqrt(m))
    assert math.exp(log_xi(m)) == pytest.approx(math.sqrt(math.pi * m / 2) + 2 / 3, rel=1e-2)


def test_log_xi_is_its_bound_for_huge_samples():
    m = 4 * _LARGEST_EXACT
    assert log_xi(m) == pytest.approx(math.log(2 * math.sqrt(m)))


@given(u=st.floats(1e-12, 1.0 - 1e-9))
def test_bernstein_factor_never_rounds_down(u):
    assume(0.0 < u < 1.0)
    with localcontext(prec=80):
        x = Decimal(u)
        exact = (-(1 - x).ln() - x) / x**2
    assert exact <= Decimal(bernstein_factor(u)) <= exact * Decimal("1.0000000000001")


@pytest.mark.parametrize(("u", "expected"), [(0.1, 0.53605157), (0.2, 0.57858878)])
def test_bernstein_factor_value(u, expected):
    assert bernstein_factor(u) == pytest.approx(expected, abs=6e-9)
