import numpy as np
import pytest

from pacfourier.core.boosting.outcomes import class_probabilities, likely_classes

CLASSES = np.array(["a", "b", "c"])


def scores_of(n_outputs):
    return np.random.default_rng(0).normal(size=(50, n_outputs))


def test_several_scores_give_the_softmax():
    scores = scores_of(3)
    powers = np.exp(scores)
    found = class_probabilities(scores, has_label_sets=False)
    np.testing.assert_allclose(found, powers / powers.sum(axis=1, keepdims=True), rtol=1e-12)
    likely = likely_classes(scores, CLASSES, has_label_sets=False)
    np.testing.assert_array_equal(likely, CLASSES[found.argmax(axis=1)])


def test_one_score_is_that_of_the_second_of_two_classes():
    scores = scores_of(1)
    found = class_probabilities(scores, has_label_sets=False)
    np.testing.assert_allclose(found[:, 1], 1 / (1 + np.exp(-scores[:, 0])), rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    likely = likely_classes(scores, CLASSES[:2], has_label_sets=False)
    np.testing.assert_array_equal(likely, np.where(found[:, 1] > 0.5, "b", "a"))


@pytest.mark.parametrize("n_labels", [1, 2, 3])
def test_sets_of_labels_have_a_probability_for_each(n_labels):
    scores = scores_of(n_labels)
    found = class_probabilities(scores, has_label_sets=True)
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-scores)), rtol=1e-12)
    likely = likely_classes(scores, np.arange(n_labels), has_label_sets=True)
    np.testing.assert_array_equal(likely, found > 0.5)


def test_a_tie_goes_to_the_first_class():
    assert likely_classes(np.zeros((1, 3)), CLASSES, has_label_sets=False) == ["a"]
    assert likely_classes(np.zeros((1, 1)), CLASSES[:2], has_label_sets=False) == ["a"]
