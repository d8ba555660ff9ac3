import math

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from pacfourier.core.boosting.cosine_model import (
    CosineModel,
    Penalties,
    model_gradient,
    square_losses,
)
from pacfourier.core.boosting.descent import _RISE, Decays, Descent, Labelled, one_cycle

DECAYS, PENALTIES = Decays(0.5, 0.2, 0.1), Penalties(0.3, 0.7)


def random_model(rng, n_frequencies=3, n_features=2, n_outputs=2):
    shapes = [(n_frequencies, n_features), *[(n_frequencies, n_outputs)] * 2]
    return CosineModel(
        *(rng.standard_normal(shape) for shape in shapes),
        rng.standard_normal((n_features, n_outputs)),
        rng.standard_normal(n_outputs),
    )


def random_rows(rng, n_samples=50, n_features=2, n_outputs=2):
    weights = rng.uniform(0.5, 1.5, n_samples).astype(np.float32)
    return Labelled(
        rng.standard_normal((n_samples, n_features)).astype(np.float32),
        rng.standard_normal((n_samples, n_outputs)).astype(np.float32),
        weights / weights.mean(),
    )


def constant_rate(step):
    del step
    return 0.01


def plain_steps(model, rows, decays, rates):
    """Adam as its papers write it, number by number, on all rows at each step.

    The loss has the penalties 0.7 |w|^2 / 2 on frequencies and 0.3 |a|^2 / 2 on other weights.
    """
    values = model.packed().tolist()
    sizes = [part.size for part in model]
    decay_of, penalty_of = (
        [each for each, size in zip(by_part, sizes, strict=True) for _ in range(size)]
        for by_part in (decays.by_part(), (0.7, 0.3, 0.3, 0.3, 0.0))
    )
    first, second = [0.0] * len(values), [0.0] * len(values)
    weights = rows.weights.astype(float) / rows.n_samples
    for t, rate in enumerate(rates, start=1):
        gradient = model_gradient(
            model.unpacked(np.array(values)),
            rows.X.astype(np.float64),
            rows.labels.astype(np.float64),
            square_losses,
            weights,
        )[1].packed()
        for i, loss_slope in enumerate(gradient):
            slope = loss_slope + penalty_of[i] * values[i]
            first[i] = 0.9 * first[i] + 0.1 * slope
            second[i] = 0.99 * second[i] + 0.01 * slope**2
            m, v = first[i] / (1 - 0.9**t), second[i] / (1 - 0.99**t)
            values[i] = (1 - rate * decay_of[i]) * values[i] - rate * m / (math.sqrt(v) + 1e-8)
    return np.array(values)


def test_steps_are_those_of_the_plain_twin(rng):
    """Twenty steps in single precision against double: 1e-4 of a step of 0.05 at most."""
    model, rows = random_model(rng), random_rows(rng)
    rates = [0.05, 0.02] * 10
    descent = Descent.start(model, square_losses, DECAYS, PENALTIES)
    for rate in rates:
        descent.move(rows, rate)
    assert descent.step == 20
    expected = plain_steps(model, rows, DECAYS, rates)
    np.testing.assert_allclose(descent.model.packed(), expected, rtol=0, atol=1e-4)


def test_sparse_rows_take_the_steps_of_dense_ones(rng):
    rows = random_rows(rng)
    rows.X[np.abs(rows.X) < 0.5] = 0
    found = []
    for container in (np.asarray, sparse.csr_array):
        descent = Descent.start(random_model(np.random.default_rng(1)), square_losses, DECAYS)
        descent.pass_over(rows._replace(X=container(rows.X)), np.arange(50), 10, constant_rate)
        found.append(descent.model.packed())
    np.testing.assert_allclose(*found, rtol=0, atol=1e-4)


def test_a_descent_leaves_its_start_as_it_was(rng):
    model = random_model(rng).astype(np.float32)
    before = model.packed()
    Descent.start(model, square_losses, DECAYS).move(random_rows(rng), 0.1)
    np.testing.assert_array_equal(model.packed(), before)


def test_a_step_returns_the_mean_loss_before_it(rng):
    model, rows = random_model(rng), random_rows(rng)
    expected = model_gradient(model, rows.X, rows.labels, square_losses, rows.weights / 50)[0]
    descent = Descent.start(model, square_losses, DECAYS)
    assert descent.move(rows, 0.1) == pytest.approx(expected, rel=1e-5)


def test_a_pass_takes_every_row_once_and_returns_the_mean_loss(rng):
    """With a rate of zero nothing moves, so the mean loss is that of the start."""
    model, rows = random_model(rng), random_rows(rng)
    expected = model_gradient(model, rows.X, rows.labels, square_losses, rows.weights / 50)[0]
    descent, asked = Descent.start(model, square_losses, DECAYS), []
    found = descent.pass_over(rows, rng.permutation(50), 16, lambda step: asked.append(step) or 0.0)
    assert found == pytest.approx(expected, rel=1e-5)
    assert asked == [0, 1, 2, 3]
    assert descent.step == 4
    np.testing.assert_array_equal(descent.model.packed(), model.packed().astype(np.float32))


def test_a_row_that_counts_twice_is_the_row_twice(rng):
    rows = random_rows(rng)._replace(weights=np.ones(50, dtype=np.float32))
    twice = rows.take(np.append(np.arange(50), 0))
    heavier = rows._replace(weights=np.append(2, np.ones(49)).astype(np.float32))
    found = []
    for each, scale in ((twice, 1.0), (heavier, 50 / 51)):
        descent = Descent.start(random_model(np.random.default_rng(1)), square_losses, DECAYS)
        descent.move(each._replace(weights=np.float32(scale) * each.weights), 0.05)
        found.append(descent.model.packed())
    np.testing.assert_allclose(*found, rtol=0, atol=1e-5)


def test_the_rate_rises_and_falls_once():
    rates = np.array([one_cycle(progress) for progress in np.linspace(0, 1, 501)])
    peak = int(rates.argmax())
    assert peak == round(_RISE * 500)
    assert rates[peak] == 1
    assert (rates[0], rates[-1]) == pytest.approx((0, 0))
    assert (np.diff(rates[: peak + 1]) > 0).all()
    assert (np.diff(rates[peak:]) < 0).all()


def test_decay_bounds_a_parameter_whatever_pulls_at_it():
    """A gradient of one sign moves a parameter towards 1 / decay, and never beyond."""
    rows = Labelled(
        np.zeros((4, 1), dtype=np.float32),
        np.full((4, 1), 1e6, dtype=np.float32),
        np.ones(4, dtype=np.float32),
    )
    start = CosineModel.constant(1, np.zeros(1)).extended(np.zeros((1, 1)))
    descent = Descent.start(start, square_losses, Decays(0.0, 2.0, 0.0))
    for _ in range(500):
        descent.move(rows, 0.05)
    # The cosine of the frequency zero is one, and its amplitude is pulled without end.
    assert descent.model.cosines[0, 0] == pytest.approx(0.5, rel=1e-3)
    assert descent.model.intercepts[0] > 20


@pytest.mark.parametrize("n_samples", [100, 700])
def test_the_number_of_threads_changes_nothing(n_samples, rng):
    rows, found = random_rows(rng, n_samples), []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            descent = Descent.start(random_model(np.random.default_rng(1)), square_losses, DECAYS)
            descent.pass_over(rows, np.arange(n_samples), 350, constant_rate)
            found.append(descent.model.packed())
    np.testing.assert_array_equal(*found)
