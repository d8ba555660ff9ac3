import numpy as np
import pytest

from pacfourier.core.boosting.blending import _LARGEST_WEIGHT, Blend, best_blend
from pacfourier.core.boosting.cosine_model import CosineModel, model_scores
from pacfourier.core.boosting.objectives import OBJECTIVES

RNG = np.random.default_rng(0)


def random_model(n_inputs, n_frequencies, n_outputs):
    shapes = [(n_frequencies, n_inputs), *[(n_frequencies, n_outputs)] * 2, (n_inputs, n_outputs)]
    return CosineModel(*map(RNG.standard_normal, [*shapes, (n_outputs,)]))


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("n_codes", [0, 2])
def test_the_blend_of_models_has_the_blend_of_their_scores(n_outputs, n_codes):
    """A linear model may see fewer inputs: it has no codes."""
    X = RNG.standard_normal((20, 4 + n_codes))
    first, straight = random_model(4 + n_codes, 5, n_outputs), random_model(4, 0, n_outputs)
    blend = Blend(RNG.standard_normal(n_outputs), np.array([0.7, 0.2]))
    parts = [model_scores(X, first), model_scores(X[:, :4], straight)]
    naive = blend.constant + 0.7 * (parts[0] - blend.constant) + 0.2 * (parts[1] - blend.constant)
    np.testing.assert_allclose(blend.scores(parts), naive, rtol=1e-12)
    np.testing.assert_allclose(model_scores(X, blend.model(first, straight)), naive, atol=1e-10)


def test_the_best_blend_for_squared_errors_solves_the_normal_equations():
    parts = RNG.standard_normal((2, 500, 1))
    labels = 2 + 0.5 * (parts[0] - 2) + 0.3 * (parts[1] - 2) + RNG.standard_normal((500, 1))
    weights, constant = RNG.random(500), np.array([2.0])
    pulls, roots = (parts - 2)[:, :, 0].T, np.sqrt(weights)[:, np.newaxis]
    expected = np.linalg.lstsq(roots * pulls, roots[:, 0] * (labels[:, 0] - 2))[0]
    found = best_blend(parts, labels, weights, constant, OBJECTIVES["squared_error"])
    np.testing.assert_allclose(found.weights, expected, rtol=1e-3)


def test_a_model_that_is_wrong_everywhere_gets_no_weight():
    labels = RNG.standard_normal((100, 1))
    found = best_blend([-labels], labels, np.ones(100), np.zeros(1), OBJECTIVES["squared_error"])
    np.testing.assert_array_equal(found.weights, [0])


def test_weights_are_bounded_where_classes_are_separated():
    labels = (np.arange(10) % 2)[:, np.newaxis] * 1.0
    found = best_blend([2 * labels - 1], labels, np.ones(10), np.zeros(1), OBJECTIVES["logistic"])
    np.testing.assert_allclose(found.weights, [_LARGEST_WEIGHT])


def test_amounts_are_not_amplified_by_a_wild_label():
    values = RNG.standard_normal((100, 1))
    labels = values.copy()
    labels[values.argmax()] = 1000
    found = best_blend(
        [values, values], labels, np.ones(100), np.zeros(1), OBJECTIVES["squared_error"]
    )
    np.testing.assert_allclose(found.weights.sum(), 1)


@pytest.mark.parametrize("loss", ["squared_error", "huber", "absolute_error"])
def test_no_average_of_amounts_fits_better_than_the_best_blend(loss):
    """Both models are too cautious: larger weights would fit better, but are not allowed."""
    objective, constant = OBJECTIVES[loss], np.zeros(1)
    labels = RNG.standard_normal((200, 1))
    parts = [0.7 * labels, 0.3 * labels + 0.1 * RNG.standard_normal((200, 1))]
    found = best_blend(parts, labels, np.ones(200), constant, objective)
    grid = [np.array([a, b]) / 20 for a in range(21) for b in range(21 - a)]
    losses = [objective.losses(Blend(constant, w).scores(parts), labels)[0].mean() for w in grid]
    ours = objective.losses(found.scores(parts), labels)[0].mean()
    assert found.weights.sum() <= 1 + 1e-9
    assert ours <= min(losses) * (1 + 1e-6)
