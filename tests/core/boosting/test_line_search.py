"""The line search ends at a step that satisfies both conditions of More and Thuente."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacfourier.core.boosting.line_search import DECREASE, FLATNESS, LineSearch

# Functions of one variable that fall at zero, and their derivatives.
FUNCTIONS = {
    "parabola": (lambda t: (t - 1) ** 2, lambda t: 2 * (t - 1)),
    "far parabola": (lambda t: (t - 300) ** 2, lambda t: 2 * (t - 300)),
    "steep wall": (lambda t: math.exp(5 * t) - 8 * t, lambda t: 5 * math.exp(5 * t) - 8),
    "flat": (lambda t: -t / (t**2 + 2), lambda t: (t**2 - 2) / (t**2 + 2) ** 2),
    "waves": (
        lambda t: -math.sin(3 * t) - t / 10 + t**2 / 50,
        lambda t: -3 * math.cos(3 * t) - 0.1 + t / 25,
    ),
    "edge": (
        lambda t: math.sqrt((t - 2) ** 2 + 1e-4),
        lambda t: (t - 2) / math.sqrt((t - 2) ** 2 + 1e-4),
    ),
}


def searched(function, slope_of, first):
    search = LineSearch(function(0.0), slope_of(0.0), first)
    for _ in range(60):
        value, slope = function(search.step), slope_of(search.step)
        if search.is_over(value, slope):
            return search.step, value, slope
        search.advance(value, slope)
    raise AssertionError("no step was found")


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=60, deadline=None)
@given(exponent=st.floats(-3, 1.5))
def test_the_step_falls_enough_and_is_flat_enough(name, exponent):
    function, slope_of = FUNCTIONS[name]
    step, value, slope = searched(function, slope_of, min(10.0**exponent, 30.0))
    assert value <= function(0.0) + DECREASE * slope_of(0.0) * step
    # The edge is narrower than the interval at which the search gives up.
    assert abs(slope) <= FLATNESS * abs(slope_of(0.0)) or name == "edge"


def test_a_good_first_step_is_kept():
    function, slope_of = FUNCTIONS["parabola"]
    assert searched(function, slope_of, 1.0)[0] == 1.0
