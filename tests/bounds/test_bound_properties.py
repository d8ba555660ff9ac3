"""What every certificate must do: grow with what it pays, and hold at the edges."""

import copy
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacfourier import bounds
from pacfourier.bounds import Bound
from pacfourier.bounds.bernstein import _unexpected_bernstein_fixed
from pacfourier.bounds.binary_kl import klup
from pacfourier.bounds.safe_side import confidence, safely_rounded

ROUNDING = 1e-11


def power_bound(*, divergence, **case):
    """``f_divergence`` with the argument names of the other bounds."""
    return bounds.f_divergence(power_divergence=divergence, **case)


FIXED = {
    "hoeffding": partial(bounds.hoeffding, inverse_temperature=20.0),
    "hoeffding_peeling": bounds.hoeffding_peeling,
    "kl": bounds.kl,
    "catoni": partial(bounds.catoni, C=0.5),
    "bernstein": partial(_unexpected_bernstein_fixed, second_moment=0.25, eta=0.4),
    "bernstein, centred": partial(
        _unexpected_bernstein_fixed, second_moment=0.25, eta=0.9, centre=0.1
    ),
    "f_divergence": partial(power_bound, mu=1.5, binary=False),
}
GRIDS = {
    "hoeffding_grid": partial(bounds.hoeffding_grid, n_hypotheses=200),
    "catoni_grid": partial(bounds.catoni_grid, n_hypotheses=200),
    "unexpected_bernstein": partial(
        bounds.unexpected_bernstein, second_moment=0.25, n_hypotheses=200
    ),
}
ANY = FIXED | GRIDS
TWO_CLASSES = {"norm": bounds.norm}

loss = st.floats(0.0, 1.0)
divergence = st.floats(0.0, 50.0)
size = st.integers(2, 5000)
level = st.floats(1e-6, 0.99)
pair = partial(st.tuples)


@pytest.mark.parametrize("name", ANY | TWO_CLASSES)
@given(losses=pair(loss, loss), divergence=divergence, n=size, epsilon=level)
def test_bound_grows_with_the_loss(name, losses, divergence, n, epsilon):
    case = {"divergence": divergence, "n_samples": n, "epsilon": epsilon}
    scale = 0.5 if name in TWO_CLASSES else 1.0
    low, high = (
        (ANY | TWO_CLASSES)[name](loss=scale * loss, **case).value for loss in sorted(losses)
    )
    assert low <= high + ROUNDING


@pytest.mark.parametrize("name", ANY | TWO_CLASSES)
@given(loss=st.floats(0.0, 0.5), divergences=pair(divergence, divergence), n=size, epsilon=level)
def test_bound_grows_with_the_divergence(name, loss, divergences, n, epsilon):
    case = {"loss": loss, "n_samples": n, "epsilon": epsilon}
    low, high = (
        (ANY | TWO_CLASSES)[name](divergence=value, **case).value for value in sorted(divergences)
    )
    assert low <= high + ROUNDING


@pytest.mark.parametrize("name", FIXED | TWO_CLASSES)
@given(loss=st.floats(0.0, 0.5), divergence=divergence, n=size, levels=pair(level, level))
def test_bound_grows_with_confidence(name, loss, divergence, n, levels):
    case = {"loss": loss, "divergence": divergence, "n_samples": n}
    high, low = (
        (FIXED | TWO_CLASSES)[name](epsilon=value, **case).value for value in sorted(levels)
    )
    assert low <= high + ROUNDING


@pytest.mark.parametrize("name", GRIDS)
@given(
    loss=st.floats(0.0, 0.5),
    share=st.floats(0.0, 1.0),
    n=st.integers(200, 5000),
    levels=pair(st.floats(1e-6, 0.2), st.floats(1e-6, 0.2)),
)
def test_grid_bound_grows_with_confidence(name, loss, share, n, levels):
    """A grid moves with epsilon: asked where it was placed for, and where it says something."""
    case = {"loss": loss, "divergence": share * math.log(200), "n_samples": n}
    high, low = (GRIDS[name](epsilon=value, **case).value for value in sorted(levels))
    assert low <= high + ROUNDING


@given(
    amplitude=st.floats(0.0, 1.0),
    share=st.floats(0.0, 1.0),
    divergences=pair(st.floats(0.01, 2.9), st.floats(0.01, 2.9)),
    n=size,
    levels=pair(st.floats(1e-6, 0.2), st.floats(1e-6, 0.2)),
)
def test_first_order_grows(posterior_of_divergence, amplitude, share, divergences, n, levels):
    least = 2 * amplitude**2 - 1

    def value(divergence, epsilon):
        return bounds.first_order(
            posterior=posterior_of_divergence(20, divergence),
            prior=np.full(20, 1 / 20),
            amplitudes=np.full(20, amplitude),
            second_harmonics=np.full(20, least + share * (1 - least)),
            n_samples=n,
            epsilon=epsilon,
        ).value

    near, far = sorted(divergences)
    small, large = sorted(levels)
    assert value(near, large) <= value(far, large) + ROUNDING
    assert value(near, large) <= value(near, small) + ROUNDING


@given(loss=loss, divergence=divergence, n=size, epsilon=level, C=st.floats(0.01, 10.0))
def test_catoni_is_above_its_envelope(loss, divergence, n, epsilon, C):
    case = {"loss": loss, "divergence": divergence, "n_samples": n, "epsilon": epsilon}
    best = klup(loss, (divergence - math.log(epsilon)) / (n // 2))
    assert bounds.catoni(**case, C=C).value >= best - ROUNDING


@pytest.mark.parametrize("name", ANY)
@given(loss=loss, divergence=divergence, n=size, epsilon=level, pairs=st.booleans())
def test_bound_exceeds_the_loss(name, loss, divergence, n, epsilon, pairs):
    bound = ANY[name](loss=loss, divergence=divergence, n_samples=n, epsilon=epsilon, pairs=pairs)
    assert bound.value >= loss - ROUNDING
    assert bound.empirical_term == loss


@given(loss=loss, divergence=divergence, n=st.integers(16, 5000), epsilon=level)
def test_kl_with_the_exact_constant_is_smaller(loss, divergence, n, epsilon):
    m = n // 2
    loose = klup(loss, (divergence + math.log(2 * math.sqrt(m) / epsilon)) / m)
    case = {"loss": loss, "divergence": divergence, "n_samples": n, "epsilon": epsilon}
    assert bounds.kl(**case).value <= loose


@given(
    loss=loss,
    centre=st.floats(0.0, 0.5),
    share=st.floats(0.0, 1.0),
    moments=pair(loss, loss),
    n=size,
)
def test_bernstein_grows_with_the_second_moment(loss, centre, share, moments, n):
    least = (loss - 0.5) ** 2
    case = {"loss": loss, "divergence": 3.0, "n_samples": n, "epsilon": 0.05, "centre": centre}
    low, high = (
        _unexpected_bernstein_fixed(
            **case,
            eta=(0.01 + 0.98 * share) / (1 - centre),
            second_moment=least + moment * (0.25 - least),
        ).value
        for moment in sorted(moments)
    )
    assert low <= high + ROUNDING


@pytest.mark.parametrize("second_moment", [0.16, 0.2, 0.25])
def test_bernstein_tends_to_the_loss(second_moment):
    """Each step takes sixteen times the samples: four times closer, or nearly so."""
    case = {"loss": 0.1, "divergence": 30.0, "epsilon": 0.05, "n_hypotheses": 1000}
    gaps = [
        bounds.unexpected_bernstein(**case, second_moment=second_moment, n_samples=n).value - 0.1
        for n in (2 * 10**3, 2 * 16 * 10**3, 2 * 16**2 * 10**3)
    ]
    assert gaps[1] < gaps[0] / 3
    assert gaps[2] < gaps[1] / 3


def test_bernstein_of_a_constant_loss_has_a_fast_rate():
    """Without variance around the centre only the price is left: (KL + ln(1/(w eps))) / (m eta)."""
    case = {"loss": 0.1, "second_moment": 0.16, "epsilon": 0.05, "n_samples": 9102}
    bound = bounds.unexpected_bernstein(**case, divergence=70.0, n_hypotheses=1000)
    weight = 0.125 / 24
    assert bound.value - 0.1 <= (70 + math.log(1 / (0.05 * weight))) / 4551
    assert bound.parameters["centre"] == pytest.approx(0.1)


@pytest.mark.parametrize("name", ANY | TWO_CLASSES)
def test_bound_of_two_points_and_no_divergence(name):
    case = {"loss": 0.0, "divergence": 0.0, "n_samples": 2, "epsilon": 0.05}
    assert math.isfinite((ANY | TWO_CLASSES)[name](**case).value)


def test_first_order_of_two_points_and_one_class():
    # One class: each vector is its own phase; one frequency aligns the points, one opposes them.
    bound = bounds.first_order(
        posterior=[0.5, 0.5],
        prior=[0.5, 0.5],
        amplitudes=[1.0, 0.0],
        second_harmonics=[1.0, -1.0],
        n_samples=2,
        epsilon=0.05,
    )
    assert 0.0 < bound.value <= 0.5
    assert bound.empirical_term == pytest.approx(0.5)


def test_first_order_without_amplitude_is_one_half():
    flat = np.full(4, 0.25)
    bound = bounds.first_order(
        posterior=flat,
        prior=flat,
        amplitudes=np.zeros(4),
        second_harmonics=flat,
        n_samples=10,
        epsilon=0.05,
    )
    assert bound.value == 0.5
    assert bound.parameters["rho"] == 0.0


def test_only_two_class_bounds_stop_at_one_half():
    case = {"loss": 0.5, "divergence": 3.0, "n_samples": 100, "epsilon": 0.05}
    assert all(bound(**case).value > 0.5 for bound in ANY.values())
    assert power_bound(**case, mu=2.0, binary=True).value > 0.5
    assert bounds.norm(**case).value == 0.5


@pytest.mark.parametrize("arc", [0.1, 0.4, 1.0, 1.5])
def test_best_arc_beats_any_other(posterior_of_divergence, arc):
    case = {
        "posterior": posterior_of_divergence(50, 1.0),
        "prior": np.full(50, 0.02),
        "amplitudes": np.linspace(0.1, 0.9, 50),
        "second_harmonics": np.full(50, 0.7),
        "n_samples": 500,
        "epsilon": 0.05,
    }
    assert bounds.first_order(**case).value <= bounds.first_order(**case, arc=arc).value + 1e-6


def naive_first_order_grid(n, n_hypotheses, epsilon):
    """Half of the weight on four rates at zero, half on three centres for small losses."""
    a0 = math.log(4 / epsilon) + 1
    low = math.sqrt(2 * a0 / n)
    high = math.sqrt(2 * (a0 + 1.5 + math.log(n_hypotheses)) / (0.35 * n))
    for k in range(4):
        yield 0.0, min(0.8, low * (high / low) ** ((k + 0.5) / 4)), 1 / 8
    shares = [0.9]
    while shares[-1] / 1.5 >= min(0.3, 7 / math.sqrt(n)):
        shares.append(shares[-1] / 1.5)
    for centre in (0.3, 0.6, 0.9):
        for share in shares:
            yield centre, share / (1 + centre), 1 / (6 * len(shares))


def naive_first_order(posterior, prior, amplitudes, harmonics, n, epsilon, arc):
    """The formula with loops, from its definition."""
    mean = sum(q * a for q, a in zip(posterior, amplitudes, strict=True))
    tilted = [q * a / mean for q, a in zip(posterior, amplitudes, strict=True)]
    r = sum(q * a for q, a in zip(tilted, amplitudes, strict=True))
    c2 = sum(q * c for q, c in zip(tilted, harmonics, strict=True))
    kl = sum(q * math.log(q / p) for q, p in zip(tilted, prior, strict=True) if q > 0)
    sc, s2 = math.sin(arc) / arc, math.sin(2 * arc) / (2 * arc)
    rho = 0.0
    for centre, eta, weight in naive_first_order_grid(n, len(prior), epsilon):
        e = eta * (1 + centre)
        v = (-math.log(1 - e) - e) / e**2
        square = (1 + c2 * s2) / 2 - 2 * centre * r * sc + centre**2
        exponent = eta * (centre - r * sc) + v * eta**2 * square
        exponent += (kl + math.log(math.pi / arc) + math.log(1 / (weight * epsilon))) / n
        rho = max(rho, ((math.exp(-exponent) - 1) / eta + centre) / sc)
    square = sum(q * a * a for q, a in zip(posterior, amplitudes, strict=True))
    return (1 - mean**2 / square * min(rho, 1) ** 2) / 2


@pytest.mark.parametrize("n", [5, 100, 3000])
def test_first_order_is_its_naive_twin(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        amplitudes = rng.uniform(size=8)
        harmonics = rng.uniform(2 * amplitudes**2 - 1, 1)
        posterior, prior = rng.dirichlet(np.ones(8)), rng.dirichlet(np.ones(8))
        arc, epsilon = rng.uniform(0.05, 1.5), rng.uniform(0.01, 0.5)
        value = bounds.first_order(
            posterior=posterior,
            prior=prior,
            amplitudes=amplitudes,
            second_harmonics=harmonics,
            n_samples=n,
            epsilon=epsilon,
            arc=arc,
        ).value
        twin = naive_first_order(posterior, prior, amplitudes, harmonics, n, epsilon, arc)
        assert value == pytest.approx(twin, abs=1e-10)


def test_bound_is_frozen_and_hashable():
    bound = bounds.kl(loss=0.3, divergence=3.0, n_samples=1000, epsilon=0.05)
    with pytest.raises(AttributeError):
        bound.value = 0.0
    assert copy.deepcopy(bound) == bound
    assert len({bound, copy.copy(bound)}) == 1
    assert str(bound) == "kl: 0.3929"
    assert bound.reference
    assert isinstance(bound, Bound)


@given(value=st.floats(-2.0, 2.0), decimals=st.integers(1, 9))
def test_decimals_are_on_the_safe_side_and_less_than_a_unit_away(value, decimals):
    up, down = (float(safely_rounded(value, side, decimals=decimals)) for side in ("up", "down"))
    assert down <= value <= up
    assert up - down <= 1.001 * 10.0**-decimals


@given(value=st.floats(1e-300, 1e300))
def test_digits_are_on_the_safe_side_and_less_than_a_unit_away(value):
    texts = [safely_rounded(value, side) for side in ("down", "up")]
    down, up = map(float, texts)
    assert down <= value <= up
    assert up - down <= 1.001e-3 * value
    assert [safely_rounded(float(text), side) for text in texts for side in ("down", "up")] == [
        texts[0],
        texts[0],
        texts[1],
        texts[1],
    ]


@given(epsilon=st.floats(1e-20, 1.0))
def test_a_confidence_is_never_above_one_minus_epsilon(epsilon):
    """Six digits of 1 - 1e-7 would be one."""
    failure = 1 - Fraction(confidence(epsilon))
    assert Fraction(repr(epsilon)) <= failure <= Fraction(1.002 * epsilon)


def test_zero_and_infinity_can_be_shown():
    assert safely_rounded(0.0, "up") == safely_rounded(0.0, "down") == "0"
    assert safely_rounded(math.inf, "up") == "inf"
