"""Whether a target holds classes or amounts, and its labels."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from pacfourier.errors import InputError
from pacfourier.tabular.table_target import (
    _LONGEST_CLASS,
    TableTarget,
    class_names,
    decided_target,
)


def target_of(values, kind=None):
    return decided_target(pd.DataFrame({"y": values}), "y", kind)


def test_many_numbers_are_amounts_and_few_are_classes():
    assert target_of([str(i / 7) for i in range(31)]).task == "regression"
    assert target_of([str(i % 30) for i in range(900)]).task == "classification"
    assert target_of(np.arange(31.0)).task == "regression"


def test_the_user_can_overrule():
    assert target_of([str(i) for i in range(40)], "category").task == "classification"
    assert target_of(["1", "2", "2"], "number").task == "regression"
    with pytest.raises(InputError, match="--type y must be number or category"):
        target_of(["1", "2"], "date")


def test_na_and_none_are_classes_and_blanks_are_gaps():
    table = pd.DataFrame({"y": ["NA", "None", "", None, " yes "]})
    target = decided_target(table, "y")
    assert target.classes == ["NA", "None", "yes"]
    labels = target.labels(table)
    assert labels.values[labels.is_present].tolist() == ["NA", "None", "yes"]
    assert labels.is_present.tolist() == [True, True, False, False, True]


def test_words_among_amounts_are_no_labels():
    table = pd.DataFrame({"y": [*(str(i / 2) for i in range(60)), "unknown", "inf"]})
    target = decided_target(table, "y")
    labels = target.labels(table)
    assert target.task == "regression"
    assert labels.is_present.sum() == 60
    np.testing.assert_array_equal(labels.values[:60], np.arange(60) / 2)


def test_amounts_with_decimal_commas():
    table = pd.DataFrame({"y": [f"{i},5" for i in range(40)]})
    target = decided_target(table, "y")
    np.testing.assert_array_equal(target.labels(table).values, np.arange(40) + 0.5)


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([1.0, 2.0, np.nan], ["1", "2"]),
        ([1.5, 2.0], ["1.5", "2.0"]),
        ([True, False], ["False", "True"]),
        (pd.to_datetime(["2020-01-02", "2021-03-04"]), ["2020-01-02", "2021-03-04"]),
        (pd.Categorical(["b", "a"]), ["a", "b"]),
    ],
)
def test_a_class_has_one_name_in_every_format(values, names):
    assert sorted(class_names(pd.Series(values)).dropna().unique()) == names


def test_targets_that_cannot_be_used():
    with pytest.raises(InputError, match="must be one of the columns 'y', got 'z'"):
        decided_target(pd.DataFrame({"y": ["a", "b"]}), "z")
    with pytest.raises(InputError, match="two classes or more, got 'a' only"):
        target_of(["a", "a"])
    with pytest.raises(InputError, match="look like names of rows"):
        target_of([f"name {i}" for i in range(1001)])
    with pytest.raises(InputError, match="must have values, got none"):
        target_of([None, None])
    with pytest.raises(InputError, match="must have different numbers"):
        target_of(["1", "1"], "number")


def test_plain_data_and_back():
    for target in (target_of(["a", "b"]), target_of(np.arange(40.0))):
        assert TableTarget.from_data(target.to_data()) == target
    with pytest.raises(InputError, match="'classes' must fit to a regression"):
        TableTarget.from_data({"name": "y", "task": "regression", "classes": ["a"], "decimal": "."})


def test_one_long_class_does_not_lengthen_the_others():
    """An array of fixed width would take 80 MB."""
    table = pd.DataFrame({"y": [*["a", "b"] * 10_000, "x" * _LONGEST_CLASS]})
    target = decided_target(table, "y")
    tracemalloc.start()
    labels = target.labels(table)
    assert tracemalloc.get_traced_memory()[1] < 10e6
    tracemalloc.stop()
    assert labels.values[[0, -1]].tolist() == ["a", "x" * _LONGEST_CLASS]


def test_a_class_as_long_as_the_rest_of_a_file_is_refused():
    """A quotation mark that is not closed makes one cell of many lines."""
    table = pd.DataFrame({"y": [*["a", "b"] * 50, '"' + "a,1\nb,2\n" * 1000]})
    rule = (
        r"classes of 'y' must have at most 1,000 characters, got 8,000 that begin with '\"a,1.*"
        r"a quotation mark may be missing"
    )
    with pytest.raises(InputError, match=rule) as refusal:
        decided_target(table, "y")
    assert len(str(refusal.value)) < 300
    with pytest.raises(InputError, match=rule):
        TableTarget("y", "classification", ["a", "b"]).labels(table)


def test_a_long_cell_among_amounts_is_no_label():
    table = pd.DataFrame({"y": [*(str(i / 2) for i in range(60)), "1,2\n" * 1000]})
    target = decided_target(table, "y")
    assert target.task == "regression"
    assert target.labels(table).is_present.sum() == 60
