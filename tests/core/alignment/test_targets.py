import re

import numpy as np
import pytest

from pacfourier.core.alignment import targets
from pacfourier.core.alignment.targets import (
    ClassTarget,
    _ContinuousTarget,
    _LabelSetTarget,
    target_of,
    target_type_of,
)


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        ([0, 1, 1], ClassTarget),
        ([-1.0, 1.0, 1.0], ClassTarget),
        (["a", "b", "b"], ClassTarget),
        ([True, False, True], ClassTarget),
        ([0, 1, 2], ClassTarget),
        ([0.5, 1.5, 2.0], _ContinuousTarget),
        ([[0, 1], [1, 1], [1, 0]], _LabelSetTarget),
        ([[0.5, 1], [1, 1], [1, 0]], _ContinuousTarget),
    ],
)
def test_labels_are_read_off_y(y, kind):
    assert isinstance(target_of(np.asarray(y)), kind)


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 500])
@pytest.mark.parametrize("n_values", [1, 2, 5, 40])
@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float32, "U2", object])
def test_distinct_values_are_those_of_numpy(dtype, n_values, size, monkeypatch, rng):
    """First one label, then ten at a time. Values come late, and may be too many to compare."""
    monkeypatch.setattr(targets, "FIRST_LABELS", 1)
    monkeypatch.setattr(targets, "LABELS_TOGETHER", 10)
    y = np.sort(rng.integers(0, n_values, size)).astype(dtype)
    for values in (y, rng.permutation(y), y[::-1]):
        found = targets._distinct_values(values)
        assert found.dtype == values.dtype
        np.testing.assert_array_equal(found, np.unique(values))


@pytest.mark.parametrize("labels", ["auto", "multiclass", "multilabel", "continuous"])
def test_rows_and_agreement_give_agreements_in_range(labels, rng):
    y = {
        "auto": np.resize([0, 1, 2], 12),
        "multiclass": np.resize([0, 1, 2, 3], 12),
        "multilabel": rng.integers(0, 2, (12, 5)),
        "continuous": rng.standard_normal((12, 2)),
    }[labels]
    target = target_of(y, labels)
    rows = target.encode(y).toarray()
    agreements = rows @ target.agreement(rows.sum(axis=0)) @ rows.T
    assert np.abs(agreements).max() <= 1 + 1e-12
    assert np.abs(rows).max() <= 1 + 1e-12


def test_integers_can_be_declared_numbers():
    y = np.array([3, 7, 9])
    target = target_of(y, "continuous")
    assert target.encode(y).toarray()[:, 0].tolist() == [-1.0, 1 / 3, 1.0]


def test_a_constant_output_among_others_agrees_with_nothing():
    y = np.array([[1.5, 2.0], [0.5, 2.0], [0.1, 2.0]])
    target = target_of(y)
    rows = target.encode(y).toarray()
    agreements = rows @ target.agreement(rows.sum(axis=0)) @ rows.T
    first = y[:, 0] - y[:, 0].mean()
    expected = np.outer(first, first) / np.abs(first).max() ** 2 / 2
    np.testing.assert_allclose(agreements, expected, atol=1e-12)


def test_continuous_ranges_widen_and_merge():
    first, second = target_of(np.array([0.5, 1.0])), target_of(np.array([-2.5, 0.0]))
    merged, observed = first.merge(second), first.observe(np.array([-2.5, 0.0]))
    for target in (merged, observed):
        assert (target.lowest, target.highest) == (np.array([-2.5]), np.array([1.0]))


def test_recoder_translates_the_codes_of_another_target(rng):
    y, z = rng.standard_normal((5, 2)), 100 + 3 * rng.standard_normal((7, 2))
    first, second = target_of(y), target_of(z)
    translated = second.encode(z).toarray() @ first.recoder(second).T
    np.testing.assert_allclose(translated, first.encode(z).toarray(), atol=1e-10)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: target_of(np.zeros(5)), "at least two classes, got one class"),
        (lambda: target_of(np.arange(3), "binary"), "two classes when target_type='binary', got 3"),
        (lambda: target_of(np.eye(3), "multiclass"), "one-dimensional"),
        (lambda: target_of(np.arange(3), "multilabel"), "matrix of zeros and ones"),
        (lambda: target_of(np.full((3, 2), 2), "multilabel"), "matrix of zeros and ones"),
        (lambda: target_of(np.full(4, 0.5), "continuous"), "must not be constant"),
        (lambda: target_of(np.arange(3), "ordinal"), "target_type must be"),
        (lambda: target_of(np.array([0.5, 1.0]), classes=[0, 1]), "classes must be None"),
        (lambda: target_of(np.arange(3), classes=[0, 1]), "known classes \\[0, 1\\], got \\[2\\]"),
        (lambda: target_of(np.eye(3)).observe(np.eye(2)), "3 columns as before, got 2"),
        (lambda: target_of(np.eye(3)).observe(np.eye(3) * 7), "zeros and ones"),
        (lambda: target_of(np.arange(3)).observe(np.eye(3)), "one-dimensional as before"),
        (
            lambda: target_of(np.full((3, 2), 2)),
            "columns of integers: pass target_type='continuous'",
        ),
        (lambda: target_of(np.full((3, 2), "a")), "one column if it holds text, got 2"),
        (lambda: target_of(np.eye(3)).merge(target_of(np.eye(4))), "same width, got 3 and 4"),
        (
            lambda: target_of(np.array([0, 1])).merge(target_of(np.array([0, 2]))),
            "same classes",
        ),
        (
            lambda: target_of(np.array([0.5, 1])).merge(target_of(np.eye(2) / 2)),
            "same width, got 1 and 2",
        ),
    ],
)
def test_labels_that_do_not_fit_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("labels", ["auto", "multiclass", "continuous"])
@pytest.mark.parametrize(
    "y",
    [
        np.array([3, 1, 2, 1, 3, 2]),
        np.array(["a", "b", "a", "b", "c", "a"]),
        np.array([3.0, 1.0, 2.0, 9.0, 0.5, 4.0]),
        np.array([[0, 1], [1, 0], [1, 1], [0, 0], [1, 0], [0, 1]]),
        np.array([[0.0, 4.0], [1.0, 0.0], [1.0, 1.0], [0.5, 2.0], [1.0, 0.0], [0.0, 1.0]]),
        np.array([[0, 4], [1, 0], [1, 1], [0, 2], [1, 0], [0, 1]]),
    ],
)
def test_witnesses_of_parts_have_the_target_of_the_whole(y, labels):
    parts = [target_type_of(labels).witnesses(part) for part in (y[:1], y[1:3], y[3:])]
    witnesses = target_type_of(labels).witnesses(np.concatenate(parts))
    try:
        expected = target_of(y, labels)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            target_of(witnesses, labels)
        return
    found = target_of(witnesses, labels)
    assert type(found) is type(expected)
    for name, value in vars(expected).items():
        np.testing.assert_array_equal(getattr(found, name), value)
