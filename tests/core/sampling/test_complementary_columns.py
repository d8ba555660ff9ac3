import numpy as np
import pytest

from pacfourier.core.sampling.complementary import RIDGE
from pacfourier.core.sampling.complementary_columns import forward_columns


def squared_error(columns, outputs):
    """The error of a linear model with an intercept, for outputs of variance one."""
    design = np.column_stack([np.ones(len(columns)), columns])
    outputs = (outputs - outputs.mean(axis=0)) / outputs.std(axis=0)
    weights = np.linalg.lstsq(design, outputs, rcond=None)[0]
    return np.mean(np.sum((outputs - design @ weights) ** 2, axis=1))


def naive_choice(columns, outputs, owners, size):
    """Try every free column in a new fit, and take the one of smallest error."""
    chosen = []
    for _ in range(size):
        free = [j for j in range(len(owners)) if owners[j] not in owners[chosen]]
        errors = [squared_error(columns[:, [*chosen, j]], outputs) for j in free]
        chosen.append(free[int(np.argmin(errors))])
    return chosen


@pytest.mark.parametrize("n_outputs", [1, 4])
def test_the_choice_is_that_of_a_new_fit_for_every_column(n_outputs, rng):
    """The columns have a variance of about one, beside which the ridge is too small to matter."""
    columns = rng.standard_normal((80, 30))
    columns[:, 15:] += columns[:, :15]
    outputs = columns[:, :8] @ rng.standard_normal((8, n_outputs))
    outputs += rng.standard_normal(outputs.shape)
    owners = np.arange(30) % 20
    expected = naive_choice(columns, outputs, owners, 10)
    assert RIDGE < 1e-4
    assert forward_columns(columns, outputs, owners, 10).tolist() == expected


def test_no_owner_gets_two_columns(rng):
    columns = rng.standard_normal((50, 24))
    chosen = forward_columns(columns, rng.standard_normal((50, 2)), np.arange(24) % 8, 8)
    assert sorted(chosen % 8) == list(range(8))


def test_a_copy_gains_nothing_after_its_original(rng):
    signal, noise = rng.standard_normal((2, 100))
    columns = np.column_stack([signal, 2 * signal + 1, noise])
    outputs = (signal + 0.1 * noise)[:, np.newaxis]
    assert forward_columns(columns, outputs, np.arange(3), 2)[1] == 2


def test_columns_without_gain_are_not_taken(rng):
    columns = np.ones((20, 5))
    columns[:, 3] = np.arange(20)
    outputs = rng.standard_normal((20, 1))
    assert forward_columns(columns, outputs, np.arange(5), 4).tolist() == [3]


@pytest.mark.parametrize("penalty", [1.0, 2.0, 8.0])
@pytest.mark.parametrize("n_outputs", [1, 4])
def test_the_selection_ends_where_a_new_fit_would_not_pay_its_penalty(n_outputs, penalty, rng):
    columns = rng.standard_normal((80, 30))
    outputs = columns[:, :5] @ rng.standard_normal((5, n_outputs))
    outputs += 2 * rng.standard_normal(outputs.shape)
    order = naive_choice(columns, outputs, np.arange(30), 25)
    errors = [squared_error(columns[:, order[:k]], outputs) for k in range(26)]
    pays = [errors[k] - errors[k + 1] > penalty * errors[k] / (79 - k) for k in range(25)]
    n_expected = pays.index(False)
    assert 0 < n_expected < 25
    found = forward_columns(columns, outputs, np.arange(30), 25, penalty)
    assert found.tolist() == order[:n_expected]


def test_the_first_columns_do_not_depend_on_how_many_follow(rng):
    columns, outputs = rng.standard_normal((60, 20)), rng.standard_normal((60, 3))
    many = forward_columns(columns, outputs, np.arange(20), 12)
    np.testing.assert_array_equal(forward_columns(columns, outputs, np.arange(20), 4), many[:4])
