"""How many rows are held out, and that those held out are still draws of the same law."""

import math
from itertools import product

import numpy as np
import pytest

from pacfourier.data.holdout import (
    MOST_HELD_OUT,
    Kinship,
    kinship_of,
    n_held_out,
    n_learned,
    one_of_each,
    split_rows,
)


def test_a_given_share_is_taken_as_given_and_only_the_usual_one_has_a_limit():
    assert n_held_out(0.2, 1_000_000) == 200_000
    assert n_held_out(True, 1_000_000) == MOST_HELD_OUT
    assert n_held_out(True, 101) == n_held_out(0.2, 101) == 21


N_ROWS, LEAST, SHARE_OF_ONES = 7, 3, 0.2


def draws():
    """Yield all samples of independent labels with their probabilities."""
    for labels in product((0, 1), repeat=N_ROWS):
        ones = sum(labels)
        yield np.array(labels), SHARE_OF_ONES**ones * (1 - SHARE_OF_ONES) ** (N_ROWS - ones)


def stratified(labels, least):
    """Learn from all classes of the sample. It has to look at the rows that it holds out."""
    seen = [int(np.flatnonzero(labels == each)[0]) + 1 for each in np.unique(labels)]
    return max(least, *seen)


@pytest.mark.parametrize(("rule", "is_exact"), [(n_learned, True), (stratified, False)])
def test_rows_held_out_are_still_draws_of_the_law(rule, is_exact):
    """By enumeration: given how many rows are learned from, each later one follows the law.

    ``n_learned`` refuses to fit a single class, which it sees before it holds rows out. A rule that
    learns from all classes of the sample would fit in any case, and looks at all rows.
    """
    chances, ones = np.zeros(N_ROWS + 1), np.zeros((N_ROWS + 1, N_ROWS))
    for labels, chance in draws():
        end = rule(labels, LEAST)
        if rule is stratified or len(np.unique(labels[:end])) > 1:
            chances[end] += chance
            ones[end] += chance * labels
    errors = [
        abs(ones[end, row] - SHARE_OF_ONES * chances[end])
        for end in range(LEAST, N_ROWS)
        for row in range(end, N_ROWS)
    ]
    assert (max(errors) < 1e-12) == is_exact


def test_two_classes_are_learned_from_unless_no_row_would_be_left():
    for labels, _ in draws():
        end = n_learned(labels, LEAST)
        has_two = len(np.unique(labels[:-1])) > 1
        assert LEAST <= end < N_ROWS
        assert (len(np.unique(labels[:end])) > 1) == has_two
        # No row more than needed.
        assert end == LEAST or len(np.unique(labels[: end - 1])) == 1


def test_shares_round_up():
    assert n_held_out(0.3, 11) == math.ceil(3.3)


# Groups and times ---------------------------------------------------------------------------------

# Groups of one or two rows, in both orders, with their probabilities.
KINDS = {(1,): 0.4, (0, 1): 0.3, (1, 0): 0.3}
N_GROUPS = 5


def grouped_draws():
    """Yield the labels of all samples of independent groups, their groups, and probabilities."""
    for kinds in product(KINDS, repeat=N_GROUPS):
        groups = np.repeat(np.arange(N_GROUPS), [len(kind) for kind in kinds])
        yield np.concatenate(kinds), groups, math.prod(KINDS[kind] for kind in kinds)


@pytest.mark.parametrize("by_group", [True, False])
def test_one_row_of_each_group_held_out_is_a_draw_of_the_law(by_group):
    """By enumeration, for one order: a random row of a random new group is 1 with chance 0.7.

    Rows that are split one by one are those of large groups more often.
    """
    ones, chances = np.zeros((N_GROUPS, N_GROUPS)), np.zeros(N_GROUPS)
    for labels, groups, chance in grouped_draws():
        kinship = Kinship(groups if by_group else None)
        rng = np.random.default_rng(0)
        parts = split_rows(len(labels), 0.5, rng, labels=labels, kinship=kinship)
        if len(np.unique(labels[parts.learned])) < 2:
            continue
        number = min(len(parts.held_out), N_GROUPS - 1)
        chances[number] += chance
        ones[number, :number] += chance * labels[parts.held_out][:number]
    errors = [abs(ones[n, k] - 0.7 * chances[n]) for n in range(N_GROUPS) for k in range(n)]
    assert (max(errors) < 1e-12) == by_group
    assert chances.sum() > 0.9


def test_groups_are_never_on_both_sides(rng):
    groups = rng.integers(0, 50, 400)
    kinship = kinship_of(np.zeros((400, 1)), groups, None)
    parts = split_rows(400, 0.3, rng, kinship=kinship)
    learned, held_out = (groups[part] for part in parts)
    assert not np.isin(held_out, learned).any()
    assert len(np.unique(held_out)) == len(held_out) == math.ceil(0.3 * len(np.unique(groups)))
    # All rows of the other groups are learned from.
    assert len(learned) == np.isin(groups, learned).sum()


def test_without_groups_rows_are_split_one_by_one(rng):
    learned, held_out = split_rows(100, 0.25, rng)
    np.testing.assert_array_equal(np.sort(np.concatenate([learned, held_out])), np.arange(100))
    assert len(held_out) == 25


def test_the_last_rows_are_held_out_and_equal_times_stay_together(rng):
    times = rng.integers(0, 30, 200)
    kinship = kinship_of(np.zeros((200, 1)), None, times)
    learned, held_out = split_rows(200, 0.2, rng, kinship=kinship)
    assert times[learned].max() < times[held_out].min()
    assert len(learned) + len(held_out) == 200
    # No time more than needed.
    assert (times[held_out] > times[held_out].min()).sum() < 40 <= len(held_out)


def test_a_second_class_is_waited_for_by_whole_times():
    times, labels = np.repeat(np.arange(10), 10), np.zeros(100, dtype=int)
    labels[75:] = 1
    parts = split_rows(
        100, 0.3, np.random.default_rng(0), labels=labels, kinship=Kinship(times=times)
    )
    np.testing.assert_array_equal(parts.learned, np.arange(80))


HOURS = "from 2024-03-01T06:00 to 2024-03-01T12:00"


@pytest.mark.parametrize(
    ("times", "period"),
    [
        ([3, 1, 2], "from 1 to 3"),
        ([2020.5, 2019.0], "from 2019.0 to 2020.5"),
        (np.array(["2024-03-01", "2024-01-31"], "datetime64[ns]"), "from 2024-01-31 to 2024-03-01"),
        (np.array(["2024-03-01T12", "2024-03-01T06"], "datetime64[s]"), HOURS),
    ],
)
def test_periods_in_words(times, period):
    kinship = kinship_of(np.zeros((len(times), 1)), None, times)
    assert kinship.period == period


def test_dates_of_tables_are_times():
    pandas = pytest.importorskip("pandas")
    for zone in (None, "Europe/Paris"):
        days = pandas.Series(pandas.date_range("2024-01-01", periods=5, tz=zone))
        assert kinship_of(np.zeros((5, 1)), None, days).period.startswith("from 2024-01-01")
    with pytest.raises(ValueError, match="time must have a value for each row"):
        kinship_of(np.zeros((5, 1)), None, days.where(days.index > 0))


def test_one_of_each_is_the_row_with_the_smallest_number():
    places = one_of_each(np.array([2, 1, 2, 1, 3]), np.array([0.5, 0.1, 0.4, 0.9, 0.2]))
    assert places.tolist() == [1, 2, 4]
