"""When a measurement counts as decided."""

from itertools import count, product

import numpy as np
import pytest
from benchmarks.measure import (
    CONFIDENCE,
    FEWEST_ROUNDS,
    Row,
    measured,
    median_interval,
    verdict_of,
)
from benchmarks.pages import BEGIN, END, markdown, write_between_marks


@pytest.mark.parametrize("n_values", [6, 8, 9, 12])
def test_the_interval_contains_the_median_as_often_as_it_says(n_values):
    # All 2^n ways in which the values can lie below and above the median are equally likely.
    contained = 0
    for signs in product((-1, 1), repeat=n_values):
        low, high = median_interval(signs)
        contained += low < 0 < high
    assert contained / 2**n_values >= CONFIDENCE


def test_the_interval_is_as_narrow_as_it_may_be():
    values = list(range(9))
    assert median_interval(values) == (1, 7)
    # The interval from the third to the seventh of nine has probability 0.82 only.
    inside = [sum(signs) for signs in product((0, 1), repeat=9)]
    assert np.mean([3 <= heads <= 6 for heads in inside]) < CONFIDENCE


@pytest.mark.parametrize(
    ("interval", "relation", "goal", "verdict"),
    [
        ((1.0, 1.1), "<=", 1.2, "met"),
        ((1.1, 1.3), "<=", 1.2, "undecided"),
        ((1.3, 1.4), "<=", 1.2, "missed"),
        ((5.1, 6.0), ">=", 5.0, "met"),
        ((4.9, 6.0), ">=", 5.0, "undecided"),
        ((4.0, 4.9), ">=", 5.0, "missed"),
        ((1.8, 2.2), "within 15% of", 2.0, "met"),
        ((1.6, 2.2), "within 15% of", 2.0, "undecided"),
        ((1.0, 1.6), "within 15% of", 2.0, "missed"),
    ],
)
def test_verdicts(interval, relation, goal, verdict):
    assert verdict_of(*interval, relation, goal) == verdict


def test_a_clear_row_is_measured_a_few_times():
    found = measured(Row("clear", lambda: 1.0, "<=", 2.0, "x"))
    assert (found.n_rounds, found.verdict, found.median) == (FEWEST_ROUNDS, "met", 1.0)


def test_a_row_at_its_goal_stays_undecided():
    values = count()
    found = measured(Row("at its goal", lambda: next(values) % 2 + 0.5, "<=", 1.0, "x", 20))
    assert (found.n_rounds, found.verdict) == (20, "undecided")


def test_an_exact_row_is_measured_once():
    assert measured(Row("memory", lambda: 3.0, "<=", 2.0, "MB", 1)).n_rounds == 1


def test_only_the_part_between_the_marks_is_written(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write_between_marks(page, markdown(["a", "b"], [["1", "2"]]))
    table = "| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert page.read_text() == f"before\n{BEGIN}\n\n{table}\n\n{END}\nafter\n"
