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


def naive_choice(columns, outputs, size):
    """Try every free column in a new fit, and take the one of smallest error."""
    chosen = []
    for _ in range(size):
        free = [j for j in range(columns.shape[1]) if j not in chosen]
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
    expected = naive_choice(columns, outputs, 10)
    assert RIDGE < 1e-4
    assert forward_columns(columns, outputs, 10).tolist() == expected


def test_a_copy_gains_nothing_after_its_original(rng):
    signal, noise = rng.standard_normal((2, 100))
    columns = np.column_stack([signal, 2 * signal + 1, noise])
    outputs = (signal + 0.1 * noise)[:, np.newaxis]
    assert forward_columns(columns, outputs, 2)[1] == 2


def test_columns_without_gain_are_not_taken(rng):
    columns = np.ones((20, 5))
    columns[:, 3] = np.arange(20)
    outputs = rng.standard_normal((20, 1))
    assert forward_columns(columns, outputs, 4).tolist() == [3]


def test_the_first_columns_do_not_depend_on_how_many_follow(rng):
    columns, outputs = rng.standard_normal((60, 20)), rng.standard_normal((60, 3))
    many = forward_columns(columns, outputs, 12)
    np.testing.assert_array_equal(forward_columns(columns, outputs, 4), many[:4])
