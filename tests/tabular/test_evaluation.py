"""Errors on rows held out, and thresholds for a wished recall."""

import numpy as np
import pytest
from scipy import stats

from pacfourier.tabular.evaluation import (
    _RECALLS,
    confusion_counts,
    explained_variance,
    group_standard_error,
    losses_of,
    recall_thresholds,
)


def test_the_standard_error_of_single_rows_is_the_usual_one(rng):
    losses = rng.random(7)
    found = group_standard_error(losses, rng.permutation(7))
    assert found == pytest.approx(losses.std(ddof=1) / np.sqrt(7))


def test_copies_of_rows_in_their_groups_do_not_make_an_error_more_certain(rng):
    losses, groups = rng.random(7), rng.permutation(7)
    once = group_standard_error(losses, groups)
    assert group_standard_error(np.repeat(losses, 9), np.repeat(groups, 9)) == pytest.approx(once)


def test_one_group_has_no_standard_error():
    assert group_standard_error(np.array([0.0, 1.0]), np.zeros(2)) == np.inf


def test_losses():
    names = np.array(["a", "b"])
    np.testing.assert_array_equal(losses_of(names, np.array(["a", "a"]), "classification"), [0, 1])
    np.testing.assert_array_equal(losses_of(np.zeros(2), np.array([-1, 3]), "regression"), [1, 3])


def test_explained_variance():
    truth = np.array([0.0, 1.0, 2.0])
    assert explained_variance(truth, truth) == 1
    assert explained_variance(truth, np.ones(3)) == 0
    assert explained_variance(np.ones(3), truth) is None


def test_confusion_leaves_out_classes_that_were_never_learned():
    truth, found = np.array(["a", "b", "b", "new"]), np.array(["a", "a", "b", "b"])
    np.testing.assert_array_equal(confusion_counts(truth, found, ["a", "b"]), [[1, 0], [1, 1]])


def test_thresholds_find_the_wished_share_of_new_rows(rng):
    """All five promises hold together in at least 90 % of the samples, as epsilon = 0.1 says."""
    n_failures, n_trials = 0, 400
    for _ in range(n_trials):
        is_class = rng.random(600) < 0.2
        probabilities = np.where(is_class, rng.beta(4, 2, 600), rng.beta(2, 4, 600))
        found = recall_thresholds(probabilities, is_class, 0.1)
        recalls = stats.beta.sf([each.threshold for each in found], 4, 2)
        n_failures += bool((recalls < _RECALLS).any())
    assert n_failures <= stats.binom.isf(1e-6, n_trials, 0.1)


def test_a_threshold_is_no_smaller_than_it_must_be(rng):
    is_class = rng.random(5000) < 0.5
    probabilities = np.where(is_class, rng.beta(4, 2, 5000), rng.beta(2, 4, 5000))
    for each in recall_thresholds(probabilities, is_class, 0.05):
        assert stats.beta.sf(each.threshold, 4, 2) < each.recall + 0.04
        is_alarm = probabilities >= each.threshold
        assert each.alarms == pytest.approx(is_alarm.mean())
        assert each.precision == pytest.approx(is_class[is_alarm].mean())


def test_too_few_rows_promise_nothing():
    is_class = np.array([True, False, False])
    found = recall_thresholds(np.array([0.9, 0.1, 0.2]), is_class, 0.05)
    assert {each.threshold for each in found} == {0.0}
