import numpy as np
import pytest

from pacfourier.core.sampling import complementary
from pacfourier.core.sampling.complementary import (
    complementary_indices,
    explained_gains,
    standardised,
)


def wave_columns(X, frequencies):
    phases = frequencies @ X.T
    return np.stack([np.cos(phases), np.sin(phases)])


def plain_choice(waves, outputs, weights, size):
    return complementary_indices(waves, outputs, weights, np.ones(waves.shape[1]), size)


def naive_choice(waves, outputs, weights, size):
    """Fit a linear model with every free candidate, and take the one with the smallest error."""
    roots = np.sqrt(weights)[:, np.newaxis]
    outputs = outputs / np.sqrt([np.cov(each, aweights=weights, bias=True) for each in outputs.T])
    columns, chosen = [np.ones(len(weights))], []
    for _ in range(size):
        errors = np.full(waves.shape[1], np.inf)
        for m in set(range(waves.shape[1])) - set(chosen):
            design = np.column_stack([*columns, *waves[:, m]]) * roots
            fit = np.linalg.lstsq(design, outputs * roots, rcond=None)[0]
            errors[m] = np.square(design @ fit - outputs * roots).sum()
        chosen.append(int(np.argmin(errors)))
        columns += list(waves[:, chosen[-1]])
    return chosen


@pytest.fixture
def problem(rng):
    X = rng.standard_normal((60, 3))
    waves = wave_columns(X, rng.standard_normal((25, 3)))
    outputs = np.column_stack([np.cos(X[:, 0]), 30 * X[:, 1] * X[:, 2]]) + 0.1 * X[:, :2]
    return waves, outputs, rng.uniform(0.5, 2.0, 60)


def test_every_step_takes_the_candidate_of_smallest_squared_error(problem, monkeypatch):
    """Forward selection equals a new fit with each candidate; the ridge alone would differ."""
    monkeypatch.setattr(complementary, "RIDGE", 1e-12)
    waves, outputs, weights = problem
    found = plain_choice(waves, outputs, weights, 10)
    assert found.tolist() == naive_choice(waves, outputs, weights, 10)
    lighter = plain_choice(waves, outputs, np.ones(60), 10)
    assert lighter.tolist() == naive_choice(waves, outputs, np.ones(60), 10)
    assert lighter.tolist() != found.tolist()


def test_the_gain_is_the_decrease_of_the_squared_error(rng, monkeypatch):
    monkeypatch.setattr(complementary, "RIDGE", 1e-12)
    columns, residuals = rng.standard_normal((2, 7, 30)), rng.standard_normal((30, 3))
    gram = np.array(
        [[columns[i, m] @ columns[j, m] for m in range(7)] for i, j in ((0, 0), (0, 1), (1, 1))]
    )
    gains = explained_gains(columns @ residuals, gram)
    for m in range(7):
        fit = np.linalg.lstsq(columns[:, m].T, residuals, rcond=None)[0]
        error = np.square(residuals - columns[:, m].T @ fit).sum()
        assert gains[m] == pytest.approx(np.square(residuals).sum() - error)


def test_fewer_are_the_first_of_more(problem):
    all_of_them = plain_choice(*problem, 25)
    np.testing.assert_array_equal(plain_choice(*problem, 8), all_of_them[:8])
    assert sorted(all_of_them) == list(range(25))


def test_a_copy_comes_after_a_candidate_that_adds_something(rng):
    """Alone, the copy of the best is second. Together with the best, it explains nothing."""
    X = rng.standard_normal((200, 2))
    frequencies = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 3.0]])
    outputs = (2 * np.cos(X[:, 0]) + np.cos(X[:, 1]))[:, np.newaxis]
    waves = wave_columns(X, frequencies)
    found = plain_choice(waves, outputs, np.ones(200), 4)
    assert found.tolist()[:2] == [0, 2]
    assert 1 in found[2:]


def test_if_nothing_is_left_to_explain_the_order_of_the_shortlist_decides(rng):
    """With more columns than samples the residuals are zero, and gains are rounding errors."""
    X = rng.standard_normal((6, 2))
    waves = wave_columns(X, rng.standard_normal((30, 2))).astype(np.float32)
    outputs = rng.standard_normal((6, 1)).astype(np.float32)
    found = plain_choice(waves, outputs, np.ones(6), 20)
    rest = found[3:].tolist()
    assert rest == sorted(rest)
    constant = plain_choice(waves, np.ones((6, 1), dtype=np.float32), np.ones(6), 20)
    assert constant.tolist() == list(range(20))


def test_single_precision_chooses_like_double(problem):
    waves, outputs, weights = problem
    single = plain_choice(waves.astype(np.float32), outputs.astype(np.float32), weights, 15)
    np.testing.assert_array_equal(single, plain_choice(waves, outputs, weights, 15))


def test_merits_are_factors_of_the_gains(problem):
    """A candidate without merit comes last, and one with a large merit comes first."""
    waves, outputs, weights = problem
    plain = plain_choice(waves, outputs, weights, 25).tolist()
    merits = np.ones(25)
    merits[plain[0]], merits[plain[20]] = 0.0, 1e9
    found = complementary_indices(waves, outputs, weights, merits, 25).tolist()
    assert found[0] == plain[20]
    assert found[-1] == plain[0]


def test_outputs_are_standardised_and_constants_are_zero(rng):
    shares = rng.dirichlet(np.ones(50))
    outputs = np.column_stack([1e6 + rng.standard_normal(50), np.full(50, 1 / 3), np.zeros(50)])
    found = standardised(outputs, shares)
    np.testing.assert_allclose(shares @ found, 0, atol=1e-9)
    np.testing.assert_allclose(shares @ found**2, [1, 0, 0], atol=1e-9)
