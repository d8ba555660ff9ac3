import numpy as np
import pytest
from benchmarks.gbrff import (
    GBRFF,
    best_phase,
    boosted_waves,
    first_score,
    moved_frequency,
    penalised_loss,
    step_size,
    wave_losses,
)
from scipy import sparse
from scipy.optimize import approx_fprime

from reproduction.datasets import load
from reproduction.plan import PROFILES, seed_of
from reproduction.protocol import Bench, select, split_parts


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_the_first_constant_has_the_smallest_exponential_loss():
    y = np.array([1, 1, 1, -1])
    grid = np.linspace(-2, 2, 4001)
    losses = np.exp(-np.outer(grid, y)).mean(axis=1)
    assert first_score(y) == pytest.approx(grid[np.argmin(losses)], abs=0.001)


@pytest.mark.parametrize("size", [0.1, 1, 10])
def test_no_phase_of_a_fine_grid_is_better(rng, size):
    turns, residuals = 3 * rng.standard_normal(200), size * rng.standard_normal(200)
    phase = best_phase(turns, residuals)
    assert -np.pi <= phase <= np.pi
    grid = np.linspace(-np.pi, np.pi, 5000)
    losses = [wave_losses(np.cos(turns - b), residuals).mean() for b in grid]
    # The polish stops 1e-5 from the minimum, where the loss is flat.
    assert wave_losses(np.cos(turns - phase), residuals).mean() <= min(losses) * (1 + 1e-9)


@pytest.mark.parametrize("penalty", [0, 0.3])
def test_the_gradient_is_that_of_finite_differences(rng, penalty):
    X, residuals = rng.standard_normal((50, 4)), rng.standard_normal(50)
    frequency, rest = rng.standard_normal(4), (residuals, 0.7, penalty)
    _, gradient = penalised_loss(frequency, X, *rest)
    differences = approx_fprime(frequency, lambda w: penalised_loss(w, X, *rest)[0], 1e-7)
    np.testing.assert_allclose(gradient, differences, atol=1e-6)
    moved = moved_frequency(frequency, X, *rest)
    assert penalised_loss(moved, X, *rest)[0] < penalised_loss(frequency, X, *rest)[0]


def test_the_step_minimises_the_bound_on_the_exponential_loss(rng):
    weights, margins = rng.random(100), rng.uniform(-1, 1, 100)
    steps = np.linspace(-1, 1, 20_001)
    agreeing, opposed = weights @ (1 + margins), weights @ (1 - margins)
    bound = (agreeing * np.exp(-steps) + opposed * np.exp(steps)) / 2
    step = step_size(weights, margins)
    assert step == pytest.approx(steps[np.argmin(bound)], abs=1e-4)
    assert step == pytest.approx(np.log(agreeing / opposed) / 2)
    assert weights @ np.exp(-step * margins) <= np.sqrt(agreeing * opposed)


@pytest.mark.parametrize("is_divided", [False, True])
@pytest.mark.parametrize("penalty", [0, 0.25])
def test_the_exponential_loss_falls_every_round(is_divided, penalty):
    parts = split_parts(load("breast"), 0)
    model = GBRFF(30, penalty=penalty, is_divided=is_divided, random_state=0)
    model.fit(parts.X_train, parts.y_train)
    assert len(model.losses_) == 31
    assert np.all(np.diff(model.losses_) < 0)
    errors = np.mean(model.predict(parts.X_train) != parts.y_train)
    assert errors <= model.losses_[-1]
    assert np.mean(model.predict(parts.X_test) != parts.y_test) < 0.1


def test_sparse_samples_are_fitted_too():
    data = load("digits49")
    X = sparse.csr_matrix(data.X)
    model = GBRFF(10, random_state=0).fit(X, data.y)
    assert np.all(np.diff(model.losses_) < 0)
    assert np.mean(model.predict(X) != data.y) <= model.losses_[-1]
    assert np.array_equal(model.predict(X), model.predict(data.X))


def test_the_classifier_is_selected_by_its_own_errors():
    parts = split_parts(load("digits49"), 0)
    bench = Bench(PROFILES["quick"], "digits49", 0, parts, 0.01)
    row = select(boosted_waves(bench, 5, is_ensemble=True), parts)
    model = GBRFF(5, **row["settings"], random_state=seed_of("digits49", 0, "GBRFF", 5))
    model.fit(parts.X_train, parts.y_train)
    for part in ("train", "valid", "test"):
        X, y = getattr(parts, f"X_{part}"), getattr(parts, f"y_{part}")
        assert row[f"{part}_errors"] == np.sum(model.predict(X) != y)
    as_map = select(boosted_waves(bench, 5, is_ensemble=False), parts)
    assert as_map["valid_errors"] <= row["valid_errors"]
