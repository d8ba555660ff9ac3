"""A bad argument is refused with its name, the rule and the value."""

import math
from functools import partial

import numpy as np
import pytest

from pacfourier import bounds
from pacfourier.bounds import printed
from pacfourier.bounds.bernstein import _unexpected_bernstein_fixed, bernstein_factor
from pacfourier.bounds.binary_kl import binary_kl, kldn, klup, log_xi

CASE = {"loss": 0.3, "divergence": 1.0, "n_samples": 10, "epsilon": 0.05}
FLAT = np.full(3, 1 / 3)
ARC = {
    "posterior": FLAT,
    "prior": FLAT,
    "amplitudes": FLAT,
    "second_harmonics": FLAT,
    "n_samples": 10,
    "epsilon": 0.05,
}
SPLIT = {"positive_moment": 0.1, "negative_moment": 0.2, **CASE}
SPLIT.pop("loss")
POWER = CASE | {"power_divergence": 1.0}
POWER.pop("divergence")
MIXTURE = {"weights": FLAT, "losses": FLAT, "divergences": FLAT, "n_train": 9, "epsilon": 0.05}
LINEAR = {"features": np.eye(3), "labels": [1, -1, 1], "w": FLAT, "prior_mean": FLAT}
LINEAR |= {"epsilon": 0.05}
LOCAL = {"loss": 0.3, "n_samples": 10, "epsilon": 0.05, "inverse_temperature": 1.0}

VALID = {
    bounds.hoeffding: CASE | {"inverse_temperature": 2.0},
    bounds.hoeffding_grid: CASE | {"n_hypotheses": 5},
    bounds.hoeffding_peeling: CASE,
    bounds.kl: CASE,
    bounds.catoni: CASE | {"C": 1.0},
    bounds.catoni_grid: CASE | {"n_hypotheses": 5},
    bounds.unexpected_bernstein: CASE | {"n_hypotheses": 5, "second_moment": 0.2},
    _unexpected_bernstein_fixed: CASE | {"eta": 0.5, "centre": 0.5, "second_moment": 0.2},
    bounds.split_kl: SPLIT,
    bounds.f_divergence: POWER | {"mu": 2.0, "binary": True},
    bounds.norm: CASE | {"s": 0.4},
    bounds.first_order: ARC,
    bounds.localised: LOCAL,
    bounds.landmark_mixture: MIXTURE,
    bounds.holdout: {"n_errors": 3, "n_samples": 10, "epsilon": 0.05},
    bounds.holdout_alignment: {"loss": 0.3, "n_samples": 10, "epsilon": 0.05},
    bounds.gaussian_linear: LINEAR,
    bounds.gaussian_linear_draw: LINEAR | {"draw": FLAT},
    printed.theorem1: CASE | {"inverse_temperature": 2.0},
    printed.theorem4: CASE | {"mu": 2.0},
    printed.landmarks: CASE | {"inverse_temperature": 2.0, "n_landmarks": 3},
}
BAD = {
    "epsilon": (0.0, 1.0, -0.1, math.nan),
    "loss": (-0.1, 1.1, math.nan),
    "divergence": (-0.1, math.inf, math.nan),
    "power_divergence": (-0.1, math.inf, math.nan),
    "n_samples": (0, -3, 10.0),
    "inverse_temperature": (0.0, -1.0, math.inf),
    "n_hypotheses": (0, 2.5),
    "C": (0.0, -1.0),
    "eta": (0.0, 2.0),
    "centre": (-0.1, 0.6, math.nan),
    "second_moment": (0.03, 0.3),
    "positive_moment": (-0.1, 0.6),
    "negative_moment": (-0.1, 0.45),
    "mu": (1.0, 0.5, math.inf, math.nan),
    "s": (0.0, 0.5),
    "arc": (0.0, 1.6),
    "n_errors": (-1, 11, 2.0),
    "n_landmarks": (0,),
    "n_train": (2,),
    "posterior": ([0.5, 0.4, 0.0], [[1.0]], []),
    "prior": ([1.0, 0.0, 0.0], [0.5, 0.5]),
    "amplitudes": ([0.1, 0.2, 1.2], [0.1, 0.2, math.nan]),
    "second_harmonics": ([0.1, 0.2, 1.2], [-0.9, 0.2, 0.2]),
    "weights": ([0.5, 0.4, 0.0],),
    "losses": ([0.1, 0.2, 1.2], [0.1]),
    "divergences": ([0.1, 0.2, -0.3],),
    "features": (np.eye(2), np.ones(3), np.full((3, 3), math.inf)),
    "labels": ([0, 1, 1], [1, -1], [1, -1, math.nan]),
    "w": ([1.0],),
    "draw": ([1.0],),
    "prior_mean": ([1.0],),
}
CELLS = [
    pytest.param(function, case, name, value, id=f"{function.__name__}-{name}-{value}")
    for function, case in VALID.items()
    for name in (*case, *(["arc"] if function is bounds.first_order else []))
    for value in BAD.get(name, ())
]


@pytest.mark.parametrize("function", VALID, ids=lambda function: function.__name__)
def test_valid_arguments_are_accepted(function):
    function(**VALID[function])


@pytest.mark.parametrize(("function", "case", "name", "value"), CELLS)
def test_bad_argument_is_refused(function, case, name, value):
    with pytest.raises(ValueError, match=r" must .*, got "):
        function(**case | {name: value})


def test_message_says_name_rule_and_value():
    with pytest.raises(ValueError, match=r"^epsilon must be in \(0, 1\), got 1\.5\.$"):
        bounds.kl(**CASE | {"epsilon": 1.5})
    with pytest.raises(ValueError, match=r"^n_samples must be an integer of at least 2, got 1\.$"):
        bounds.kl(**CASE | {"n_samples": 1})


@pytest.mark.parametrize("function", VALID, ids=lambda function: function.__name__)
def test_arguments_are_keywords(function):
    with pytest.raises(TypeError, match="positional argument"):
        function(*VALID[function].values())


def test_rate_stays_below_the_inverse_of_the_largest_value():
    case = CASE | {"second_moment": 0.2, "centre": 0.1}
    _unexpected_bernstein_fixed(**case, eta=1.1)
    with pytest.raises(ValueError, match=r"^eta must be in \(0, 1\.11111\), got 1\.2\.$"):
        _unexpected_bernstein_fixed(**case, eta=1.2)


def test_one_point_is_enough_without_pairs():
    assert bounds.kl(**CASE | {"n_samples": 1, "pairs": False}).value <= 1.0


def test_rounding_out_of_the_interval_is_clipped():
    assert bounds.kl(**CASE | {"loss": -1e-9}).empirical_term == 0.0
    assert bounds.hoeffding_peeling(**CASE | {"divergence": -1e-9}).parameters["slice"] == 1.0


def test_norm_refuses_a_loss_that_two_classes_cannot_have():
    bounds.norm(**CASE | {"loss": 10 / 18})
    with pytest.raises(ValueError, match="loss must be in"):
        bounds.norm(**CASE | {"loss": 0.6})


@pytest.mark.parametrize(
    "bound",
    [
        bounds.norm,
        bounds.localised,
        printed.theorem1,
        partial(bounds.f_divergence, mu=2.0, binary=True),
        partial(printed.theorem4, mu=3.0),
    ],
)
def test_mixture_refuses_what_does_not_pay_a_kl(bound):
    with pytest.raises(ValueError, match="bound must pay"):
        bounds.landmark_mixture(**MIXTURE, bound=bound)


@pytest.mark.parametrize("function", [binary_kl, klup, kldn])
@pytest.mark.parametrize("arguments", [(-0.1, 0.5), (1.1, 0.5), (0.5, -0.1), (math.nan, 0.5)])
def test_primitives_refuse_bad_arguments(function, arguments):
    with pytest.raises(ValueError, match="must be"):
        function(*arguments)


@pytest.mark.parametrize(("function", "value"), [(bernstein_factor, 1.0), (log_xi, 0)])
def test_constants_refuse_bad_arguments(function, value):
    with pytest.raises(ValueError, match="must be"):
        function(value)
