import numpy as np
import pytest
from scipy import special

from pacfourier.core.boosting.objectives import _HUBER_BEND, OBJECTIVES


def labels_of(name, rng, shape=(40, 3)):
    if name == "softmax":
        return np.eye(shape[1])[rng.integers(0, shape[1], shape[0])]
    if name == "logistic":
        return (rng.random(shape) < 0.3).astype(float)
    return 2 * rng.standard_normal(shape)


def total(name, scores, labels):
    return OBJECTIVES[name].losses(scores, labels)[0].sum()


@pytest.mark.parametrize("name", OBJECTIVES)
def test_residuals_are_negative_derivatives(name, rng):
    """Central differences with step 1e-6 are exact to 1e-8."""
    labels = labels_of(name, rng)
    scores = rng.standard_normal(labels.shape)
    residuals = OBJECTIVES[name].losses(scores, labels)[1]
    for place in np.ndindex(scores.shape):
        shift = np.zeros_like(scores)
        shift[place] = 1e-6
        slope = (total(name, scores + shift, labels) - total(name, scores - shift, labels)) / 2e-6
        assert residuals[place] == pytest.approx(-slope, abs=1e-7)


def test_losses_are_their_formulas(rng):
    scores = rng.standard_normal((20, 3))
    labels = labels_of("softmax", rng, (20, 3))
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        OBJECTIVES["softmax"].losses(scores, labels)[0], -labels * np.log(shares)
    )
    labels = labels_of("logistic", rng, (20, 3))
    chance = 1 / (1 + np.exp(-scores))
    np.testing.assert_allclose(
        OBJECTIVES["logistic"].losses(scores, labels)[0],
        -np.log(np.where(labels, chance, 1 - chance)),
    )
    rest = labels - scores
    np.testing.assert_allclose(OBJECTIVES["squared_error"].losses(scores, labels)[0], rest**2)
    np.testing.assert_allclose(OBJECTIVES["absolute_error"].losses(scores, labels)[0], abs(rest))


@pytest.mark.parametrize("error", [0.0, 0.5, _HUBER_BEND, 4.0])
def test_the_huber_loss_is_a_parabola_and_then_a_line(error):
    expected = error**2 / 2 if error <= _HUBER_BEND else _HUBER_BEND * (error - _HUBER_BEND / 2)
    for sign in (1, -1):
        losses, residuals = OBJECTIVES["huber"].losses(np.zeros((1, 1)), np.array([[sign * error]]))
        assert losses[0, 0] == pytest.approx(expected)
        assert residuals[0, 0] == pytest.approx(sign * min(error, _HUBER_BEND))


@pytest.mark.parametrize("name", ["softmax", "logistic", "squared_error"])
def test_the_best_constants_are_stationary(name, rng):
    labels, weights = labels_of(name, rng), rng.uniform(0.5, 1.5, 40)
    constant = OBJECTIVES[name].constant(np.average(labels, axis=0, weights=weights))
    residuals = OBJECTIVES[name].losses(np.tile(constant, (40, 1)), labels)[1]
    np.testing.assert_allclose(weights @ residuals, 0, atol=1e-12)


def test_a_class_without_rows_has_a_small_probability_and_not_none():
    scores = OBJECTIVES["softmax"].constant(np.array([0.75, 0.25, 0.0]))
    np.testing.assert_allclose(special.softmax(scores), [0.75, 0.25, 0], atol=2e-6)
    assert np.isfinite(scores).all()
    for share in (0.0, 1.0):
        score = OBJECTIVES["logistic"].constant(np.array([share]))
        np.testing.assert_allclose(special.expit(score), share, atol=2e-6)
        assert np.isfinite(score).all()


@pytest.mark.parametrize("name", ["softmax", "logistic"])
def test_losses_of_large_scores_are_finite(name):
    scores, labels = np.array([[800.0, -800.0]]), np.array([[0.0, 1.0]])
    losses, residuals = OBJECTIVES[name].losses(scores, labels)
    assert losses.sum() == pytest.approx(1600)
    np.testing.assert_allclose(residuals, [[-1, 1]])
