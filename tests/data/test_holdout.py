"""How many rows are held out, and that those held out are still draws of the same law."""

import math
from itertools import product

import numpy as np
import pytest

from pacfourier.data.holdout import MOST_HELD_OUT, n_held_out, n_learned


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
