"""Numbers computed once, independently, to six decimals."""

import math
from functools import partial

import numpy as np
import pytest
from scipy import special

from pacfourier import bounds
from pacfourier.bounds import printed
from pacfourier.bounds.arguments import GridPoint, rate_shares
from pacfourier.bounds.bernstein import (
    _bernstein_grid,
    _bernstein_rates,
    _unexpected_bernstein_fixed,
    bernstein_factor,
)
from pacfourier.bounds.binary_kl import klup, log_xi
from pacfourier.bounds.first_order import _arc_margins, _Tilt, first_order_grid

N, DIVERGENCE, EPSILON = 1000, 3.0, 0.05
NATS = DIVERGENCE + math.log(1 / EPSILON)
CASE = {"loss": 0.3, "divergence": DIVERGENCE, "n_samples": N, "epsilon": EPSILON}
GRID = CASE | {"n_hypotheses": 200}
HALF = GRID | {"epsilon": EPSILON / 2}
TEN = CASE | {"divergence": DIVERGENCE + math.log(10)}
POINTS = CASE | {"n_samples": N - 1, "pairs": False}
POINTS_GRID = POINTS | {"n_hypotheses": 200}
SMALL = {"loss": 0.1075, "divergence": 70.0, "epsilon": EPSILON, "n_hypotheses": 1000}
SMALL |= {"second_moment": 0.17}
SPLIT = {"positive_moment": 0.07, "negative_moment": 0.27, "divergence": DIVERGENCE}
MIXTURE = {"n_train": N, "epsilon": EPSILON}


def at(bound, mu, **more):
    """A power divergence of order mu that goes with a Kullback-Leibler divergence of 3."""
    name = "power_divergence" if bound is bounds.f_divergence else "divergence"
    shared = {key: value for key, value in CASE.items() if key != "divergence"}
    power = {name: math.expm1(DIVERGENCE * (mu - 1))}
    return partial(bound, mu=mu, **shared, **power, **more)


def bernstein(**case):
    return partial(bounds.unexpected_bernstein, **{"second_moment": 0.145, **case})


def of_landmarks(n_landmarks):
    return partial(
        bounds.landmark_mixture,
        weights=np.full(n_landmarks, 1 / n_landmarks),
        losses=np.full(n_landmarks, 0.3),
        divergences=np.full(n_landmarks, DIVERGENCE),
        **MIXTURE,
    )


VECTORS = {
    "printed theorem 3": (partial(printed.theorem3, **CASE, inverse_temperature=N**0.5), 0.505413),
    "printed theorem 3, oracle": (
        partial(printed.theorem3, **CASE, inverse_temperature=math.sqrt(2 * N * NATS)),
        0.409506,
    ),
    "printed corollary 2": (
        partial(printed.corollary2, **CASE, inverse_temperature=math.sqrt(N * math.log(N))),
        0.693725,
    ),
    "printed corollary 2, oracle": (
        partial(
            printed.corollary2,
            **CASE,
            inverse_temperature=math.sqrt(2 * (N - 1) * (NATS + math.log(N + 1))),
        ),
        0.621464,
    ),
    "printed theorem 1": (partial(printed.theorem1, **CASE, inverse_temperature=N**0.5), 0.505429),
    "printed landmarks": (
        partial(printed.landmarks, **CASE, inverse_temperature=N**0.5, n_landmarks=100),
        0.651057,
    ),
    "printed theorem 4, mu = 1.5": (at(printed.theorem4, 1.5), 1.227804),
    "printed theorem 4, mu = 2": (at(printed.theorem4, 2.0), 0.616903),
    "printed theorem 4, mu = 4": (at(printed.theorem4, 4.0), 0.478398),
    "printed theorem 4, mu = 10": (at(printed.theorem4, 10.0), 0.426377),
    "printed corollary 5": (
        partial(printed.corollary5, **CASE | {"divergence": math.expm1(DIVERGENCE)}),
        0.616903,
    ),
    "hoeffding": (partial(bounds.hoeffding, **CASE, inverse_temperature=N**0.5), 0.497507),
    "hoeffding, oracle": (
        partial(bounds.hoeffding, **CASE, inverse_temperature=math.sqrt(4 * N * NATS)),
        0.377432,
    ),
    "hoeffding grid": (partial(bounds.hoeffding_grid, **GRID), 0.384419),
    "hoeffding peeling": (partial(bounds.hoeffding_peeling, **CASE), 0.393224),
    "kl": (partial(bounds.kl, **CASE), 0.392813),
    "catoni grid": (partial(bounds.catoni_grid, **GRID), 0.383490),
    "catoni": (partial(bounds.catoni, **CASE, C=0.3), 0.374111),
    "bernstein": (bernstein(**GRID), 0.366468),
    "bernstein, fixed": (
        partial(_unexpected_bernstein_fixed, **CASE, second_moment=0.145, eta=0.4),
        0.359744,
    ),
    "bernstein, M2 = 0.125": (bernstein(**GRID, second_moment=0.125), 0.361641),
    "bernstein, M2 = 0.25": (bernstein(**GRID, second_moment=0.25), 0.388246),
    "bernstein, half epsilon": (bernstein(**HALF), 0.369929),
    "bernstein, hold-out": (bernstein(**GRID | {"divergence": 0.0}), 0.349250),
    "bernstein, small loss": (bernstein(**SMALL, n_samples=9102), 0.142063),
    "landmark, bernstein, small loss": (bernstein(**SMALL, n_samples=9101, pairs=False), 0.129500),
    "split kl": (partial(bounds.split_kl, **SPLIT, n_samples=N, epsilon=EPSILON), 0.389339),
    "norm": (partial(bounds.norm, **CASE, s=0.45), 0.376429),
    "norm, loss = 0.45": (partial(bounds.norm, **CASE | {"loss": 0.45}), 0.483465),
    "localised": (
        partial(
            bounds.localised, loss=0.3, n_samples=N, epsilon=EPSILON, inverse_temperature=N**0.5
        ),
        0.407396,
    ),
    "localised, half": (
        partial(
            bounds.localised,
            loss=0.3,
            n_samples=N,
            epsilon=EPSILON,
            inverse_temperature=0.5 * N**0.5,
        ),
        0.391626,
    ),
    "D 1.25": (at(bounds.f_divergence, 1.25, binary=True), 0.433382),
    "D 1.5": (at(bounds.f_divergence, 1.5, binary=True), 0.556557),
    "D 2, two classes": (at(bounds.f_divergence, 2.0, binary=True), 0.616983),
    "D 2, any classes": (at(bounds.f_divergence, 2.0, binary=False), 0.748169),
    "D 3": (at(bounds.f_divergence, 3.0, binary=True), 1.161035),
    "D 4": (at(bounds.f_divergence, 4.0, binary=True), 1.719103),
    "ten bandwidths, kl": (partial(bounds.kl, **TEN), 0.404028),
    "ten bandwidths, bernstein": (bernstein(**TEN, n_hypotheses=2000), 0.378479),
    "ten bandwidths, norm": (partial(bounds.norm, **TEN), 0.385066),
    "landmark, kl": (partial(bounds.kl, **POINTS), 0.366122),
    "landmark, disjoint": (partial(bounds.kl, **POINTS | {"n_samples": N}), 0.366089),
    "landmark, hoeffding": (partial(bounds.hoeffding_grid, **POINTS_GRID), 0.359723),
    "landmark, catoni": (partial(bounds.catoni_grid, **POINTS_GRID), 0.358422),
    "landmark, bernstein": (bernstein(**POINTS_GRID), 0.345233),
    "landmark, split": (
        partial(bounds.split_kl, **SPLIT, n_samples=N - 1, epsilon=EPSILON, pairs=False),
        0.363447,
    ),
    "landmark, each of 100": (
        partial(bounds.kl, **POINTS | {"divergence": DIVERGENCE + math.log(100)}),
        0.380807,
    ),
    "landmark, any": (of_landmarks(1), 0.387294),
    "landmark, average over 100": (of_landmarks(100), 0.373801),
    "hold-out alignment": (
        partial(bounds.holdout_alignment, loss=0.3, n_samples=N, epsilon=EPSILON),
        0.351619,
    ),
    "hold-out, 6 errors": (
        partial(bounds.holdout, n_errors=6, n_samples=2276, epsilon=EPSILON),
        0.005196,
    ),
    "hold-out, 16 errors": (
        partial(bounds.holdout, n_errors=16, n_samples=2276, epsilon=EPSILON),
        0.010658,
    ),
}


@pytest.mark.parametrize("name", VECTORS)
def test_bound_value(name):
    bound, expected = VECTORS[name]
    assert bound().value == pytest.approx(expected, abs=6e-7)


@pytest.mark.parametrize(
    ("bound", "grid"),
    [
        (partial(bounds.hoeffding_grid, **GRID), (137.143, 157.497, 180.873)),
        (partial(bounds.catoni_grid, **GRID), (0.306459, 0.390617, 0.497886, 0.634613, 0.808887)),
        (bernstein(**GRID), (0.290595, 0.374594, 0.482873)),
        (bernstein(**HALF), (0.312009, 0.396526, 0.503939)),
    ],
)
def test_bound_grid(bound, grid):
    assert bound().parameters["grid"][: len(grid)] == pytest.approx(grid, rel=4e-6)


@pytest.mark.parametrize(
    ("case", "rates"),
    [
        (GRID, _bernstein_rates(n_terms=500, n_hypotheses=200, epsilon=EPSILON)),
        (HALF, _bernstein_rates(n_terms=500, n_hypotheses=200, epsilon=EPSILON / 2)),
        (POINTS_GRID, _bernstein_rates(n_terms=999, n_hypotheses=200, epsilon=EPSILON)),
    ],
)
@pytest.mark.parametrize("second_moment", [0.125, 0.145, 0.25])
@pytest.mark.parametrize("divergence", [0.0, DIVERGENCE])
def test_centres_cost_at_most_a_thousandth(case, rates, second_moment, divergence):
    """Against a grid of the three rates alone, where these are best already."""
    case = case | {"divergence": divergence, "second_moment": second_moment}
    third = {key: value for key, value in case.items() if key != "n_hypotheses"}
    third["epsilon"] = case["epsilon"] / 3
    alone = min(_unexpected_bernstein_fixed(**third, eta=eta).value for eta in rates)
    assert bernstein(**case)().value <= alone + 0.001


def tried_grid(centres, largest, n_terms, nats, factor):
    """The first grid of centres and rates that was tried: equal weights, rates up to 0.9."""
    least = min(0.3, factor * math.sqrt(nats / n_terms))
    n_steps = math.ceil(math.log(0.9 / least) / math.log(1.6))
    shares = np.geomspace(least, 0.9, n_steps + 1)
    weight = 1 / (len(centres) * len(shares))
    return [GridPoint(c, u / largest(c), weight) for c in centres for u in shares]


@pytest.mark.parametrize(
    ("case", "m", "n_points", "expected"),
    [
        (CASE | {"second_moment": 0.125}, 500, 36, 0.364220),
        (CASE | {"second_moment": 0.145}, 500, 36, 0.370247),
        (CASE | {"second_moment": 0.25}, 500, 36, 0.394982),
        (POINTS | {"second_moment": 0.145}, 999, 36, 0.349199),
        (SMALL | {"n_samples": 9102}, 4551, 48, 0.141860),
    ],
)
def test_bernstein_of_another_grid(case, m, n_points, expected):
    centres = (0, 0.1, 0.2, 0.3, 0.4, 0.5)
    nats = 8 * math.log(48 / EPSILON)
    grid = tried_grid(centres, lambda centre: 1 - centre, m, nats, 0.4)
    case = {key: value for key, value in case.items() if key not in ("n_hypotheses", "epsilon")}
    value = min(
        _unexpected_bernstein_fixed(**case, epsilon=w * EPSILON, eta=eta, centre=centre).value
        for centre, eta, w in grid
    )
    assert len(grid) == n_points
    assert value == pytest.approx(expected, abs=6e-7)


def test_first_order_of_another_grid():
    centres = (0, 0.2, 0.4, 0.6, 0.8, 0.9)
    nats = 2 * (math.log(48 / EPSILON) + 1)
    grid = tried_grid(centres, lambda centre: 1 + centre, N, nats, 0.5)
    tilted = _Tilt(AMPLITUDE, 0.4, DIVERGENCE, AMPLITUDE**2, 1.0)
    margins = _arc_margins(tilted, grid, np.asarray([0.4]), n_samples=N, epsilon=EPSILON)
    assert margins.shape == (42, 1)
    assert (1 - margins.max() ** 2) / 2 == pytest.approx(0.356776, abs=6e-7)


@pytest.mark.parametrize("grid_of", [_bernstein_grid, first_order_grid])
@pytest.mark.parametrize("n", [1, 2, 100, 4551, 10**7])
def test_weights_of_a_grid_sum_to_one(grid_of, n):
    size = "n_terms" if grid_of is _bernstein_grid else "n_samples"
    grid = grid_of(**{size: n}, n_hypotheses=200, epsilon=EPSILON)
    weights = np.asarray([point.weight for point in grid])
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert (weights > 0).all()
    largest = [
        1 - point.centre if grid_of is _bernstein_grid else 1 + point.centre for point in grid
    ]
    # The moment needs a rate times the largest value below one.
    assert max(point.eta * each for point, each in zip(grid, largest, strict=True)) < 0.91


def test_rate_shares_reach_down_with_the_number_of_terms():
    assert rate_shares(1) == rate_shares(500) == pytest.approx((0.9, 0.6, 0.4))
    for m in (600, 4551, 10**6):
        shares = np.asarray(rate_shares(m))
        assert shares[:-1] / shares[1:] == pytest.approx(1.5)
        assert shares[-1] >= 7 / math.sqrt(m) > shares[-1] / 1.5


def test_rates_are_capped():
    few = {"loss": 0.5, "divergence": 0.0, "n_samples": 2, "epsilon": 0.05}
    bound = bounds.unexpected_bernstein(**few, second_moment=0.2, n_hypotheses=5)
    assert bound.parameters["grid"][:3] == (1.6, 1.6, 1.6)
    one = {"posterior": [1.0], "prior": [1.0], "amplitudes": [0.5], "second_harmonics": [0.5]}
    bound = bounds.first_order(**one, n_samples=2, epsilon=0.05)
    assert bound.parameters["grid"][:4] == (0.8, 0.8, 0.8, 0.8)


AMPLITUDE = math.sqrt((1 + 999 * 0.4) / N)


@pytest.mark.parametrize(
    ("n_hypotheses", "divergence", "epsilon", "arc", "value", "rho"),
    [
        (200, 3.0, 0.05, 0.4, 0.355610, 0.537383),
        (200, 3.0, 0.025, 0.4, 0.357278, 0.534270),
        (200, 3.0, 0.05, None, 0.355598, None),
        (2000, 3.0 + math.log(10), 0.05, 0.4, 0.361108, None),
    ],
)
def test_first_order_value(
    posterior_of_divergence, n_hypotheses, divergence, epsilon, arc, value, rho
):
    bound = bounds.first_order(
        posterior=posterior_of_divergence(n_hypotheses, divergence),
        prior=np.full(n_hypotheses, 1 / n_hypotheses),
        amplitudes=np.full(n_hypotheses, AMPLITUDE),
        second_harmonics=np.full(n_hypotheses, 0.4),
        n_samples=N,
        epsilon=epsilon,
        arc=arc,
    )
    assert bound.value == pytest.approx(value, abs=6e-7)
    assert bound.empirical_term == pytest.approx(0.3)
    assert rho is None or bound.parameters["rho"] == pytest.approx(rho, abs=6e-7)
    if epsilon == 0.05 and n_hypotheses == 200:
        grid = (0.116588, 0.147226, 0.185915, 0.234772)
        assert bound.parameters["grid"][:4] == pytest.approx(grid, rel=5e-6)


def test_first_order_value_of_a_small_loss():
    """A run of a sampler: 70 nats. With the centre zero alone the value is 0.204."""
    bound = bounds.first_order(
        posterior=[1.0, 0.0],
        prior=[math.exp(-70), -math.expm1(-70)],
        amplitudes=[0.886, 0.0],
        second_harmonics=[0.67, 0.0],
        n_samples=9102,
        epsilon=EPSILON,
        arc=0.2,
    )
    # The rates of the centre zero follow the number of hypotheses; the others, which win, do not.
    assert bound.parameters["centre"] == 0.9
    assert bound.value == pytest.approx(0.143615, abs=6e-7)


def test_first_order_relatives():
    arc, eta = 0.4, 0.12
    shrinkage, double = math.sin(arc) / arc, math.sin(2 * arc) / (2 * arc)
    nats = NATS + math.log(math.pi / arc)
    second_moment = (1 + 0.4 * double) / 2
    exponent = -eta * AMPLITUDE * shrinkage + bernstein_factor(eta) * eta**2 * second_moment
    rho = math.expm1(-exponent - nats / N) / (eta * shrinkage)
    assert (1 - rho**2) / 2 == pytest.approx(0.357190, abs=6e-7)
    error = klup((1 - AMPLITUDE * shrinkage) / 2, (nats + log_xi(N)) / N)
    rho = (1 - 2 * error) / shrinkage
    assert (1 - rho**2) / 2 == pytest.approx(0.375210, abs=6e-7)


@pytest.mark.parametrize(("m", "expected"), [(500, 0.429771), (999, 0.388858)])
def test_kl_is_below_thiemann(m, expected):
    nats = NATS + math.log(2 * math.sqrt(m))
    rate = 2 / (math.sqrt(2 * m * 0.3 / nats + 1) + 1)
    relaxed = 0.3 / (1 - rate / 2) + nats / (m * rate * (1 - rate / 2))
    assert relaxed == pytest.approx(expected, abs=6e-7)
    bound = bounds.kl(**CASE | {"n_samples": m, "pairs": False})
    assert bound.value < relaxed


def test_kl_relatives():
    m = N // 2
    budget = (NATS + math.log(2 * math.sqrt(m))) / m
    assert klup(0.3, budget) == pytest.approx(0.395068, abs=6e-7)
    assert 0.3 + math.sqrt(budget / 2) == pytest.approx(0.398976, abs=6e-7)
    assert klup(0.3, NATS / m) == pytest.approx(0.373754, abs=6e-7)


def unit_rows(cosines):
    """Return unit vectors of the plane at these cosines with the first axis."""
    return np.column_stack([cosines, np.sqrt(1 - np.square(cosines))])


def test_gaussian_linear_value():
    margin, norm = special.ndtri(1 - 0.0142), math.sqrt(2 * 122.2)
    bound = bounds.gaussian_linear(
        features=unit_rows(np.full(9102, margin / norm)),
        labels=np.ones(9102),
        w=[norm, 0.0],
        prior_mean=np.zeros(2),
        epsilon=0.05,
    )
    assert bound.parameters["divergence"] == pytest.approx(122.2)
    assert bound.empirical_term == pytest.approx(0.0142)
    assert bound.value == pytest.approx(0.04411, abs=6e-6)


def test_gaussian_linear_empirical_term_is_the_error_of_the_posterior(rng):
    """Draws of the classifier are wrong as often as the formula says, within Hoeffding at 1e-6."""
    features, labels, w = rng.normal(size=(5, 3)) * 10.0, rng.choice([-1.0, 1.0], 5), np.ones(3)
    bound = bounds.gaussian_linear(
        features=features, labels=labels, w=w, prior_mean=np.zeros(3), epsilon=0.05
    )
    draws = w + rng.normal(size=(40_000, 3))
    mean = np.mean(labels * (draws @ features.T) <= 0)
    assert bound.empirical_term == pytest.approx(mean, abs=math.sqrt(math.log(2e6) / 80_000))


def test_gaussian_linear_does_not_certify_noise():
    """Rows of norm 1,700 make every margin large, with weights that cost nothing."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        features = rng.normal(size=(100, 150))
        features *= 1700.0 / np.linalg.norm(features, axis=1, keepdims=True)
        labels = rng.choice([-1.0, 1.0], 100)
        w = 6.0 * np.linalg.lstsq(features, labels, rcond=None)[0]
        case = {"labels": labels, "w": w, "prior_mean": np.zeros(150), "epsilon": 0.05}
        assert special.ndtr(-labels * (features @ w)).max() < 1e-6
        assert 0.5 * w @ w < 0.01
        assert bounds.gaussian_linear(features=features, **case).value >= 0.5


@pytest.mark.parametrize("scale", [1e-200, 1e-3, 1700.0, 1e200])
def test_gaussian_linear_ignores_the_scale_of_rows(scale, rng):
    features, labels = rng.normal(size=(50, 4)), rng.choice([-1.0, 1.0], 50)
    case = {"labels": labels, "w": rng.normal(size=4), "prior_mean": np.zeros(4), "epsilon": 0.05}
    scales = np.where(np.arange(50) % 2, scale, 1.0)
    for bound in (bounds.gaussian_linear, partial(bounds.gaussian_linear_draw, draw=np.ones(4))):
        expected = bound(features=features, **case)
        scaled = bound(features=features * scales[:, np.newaxis], **case)
        assert scaled.value == pytest.approx(expected.value, rel=1e-12)


def test_gaussian_linear_counts_a_row_of_zeros_as_an_error():
    case = {"labels": [1.0, 1.0], "w": [9.0], "prior_mean": [0.0], "epsilon": 0.05}
    for bound in (bounds.gaussian_linear, partial(bounds.gaussian_linear_draw, draw=[9.0])):
        assert bound(features=[[0.0], [1.0]], **case).empirical_term == pytest.approx(0.5)


def test_gaussian_linear_draw_pays_what_was_drawn():
    case = {"w": [1.0], "prior_mean": [-1.0], "epsilon": 0.05, "labels": [1, 1, -1, -1]}
    # ln dQ/dP at 1 + x, for unit Gaussians at 1 and -1: 2 + 2 x, and never a refund.
    for draw, nats in ((1.0, 2.0), (2.5, 5.0), (-4.0, 0.0)):
        bound = bounds.gaussian_linear_draw(**case, features=np.ones((4, 1)), draw=[draw])
        assert bound.parameters["divergence"] == pytest.approx(nats)
        assert bound.empirical_term == 0.5


def test_gaussian_linear_draw_value():
    w = np.asarray([math.sqrt(2.4), 0.0])
    labels = np.where(np.arange(4551) < 24, -1.0, 1.0)
    bound = bounds.gaussian_linear_draw(
        features=unit_rows(np.ones(4551)),
        labels=labels,
        w=w,
        draw=[w[0], 7.0],
        prior_mean=np.zeros(2),
        epsilon=0.05,
    )
    assert bound.parameters["divergence"] == pytest.approx(1.2)
    assert bound.value == pytest.approx(0.0111, abs=6e-5)
