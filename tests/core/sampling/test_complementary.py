import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from pacfourier.core.sampling import complementary
from pacfourier.core.sampling.complementary import (
    _explained_gains,
    _left_over,
    _products_of_rows,
    _standardised,
    column_products,
    exchanged_choice,
    forward_choice,
)


def wave_columns(X, frequencies):
    phases = frequencies @ X.T
    return np.stack([np.cos(phases), np.sin(phases)])


@pytest.mark.parametrize("n_rows", [1, 256, 700])
def test_products_of_rows_in_blocks(n_rows, rng):
    rows = rng.standard_normal((n_rows, 50)).astype(np.float32)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            found.append(_products_of_rows(rows))
    np.testing.assert_array_equal(*found)
    np.testing.assert_array_equal(found[0], found[0].T)
    # A sum of 50 products of normal numbers, in single precision.
    np.testing.assert_allclose(found[0], rows.astype(float) @ rows.T, rtol=0, atol=1e-4)


def plain_choice(waves, outputs, weights, size):
    return forward_choice(plain_products(waves, outputs, weights), size)


def plain_products(waves, outputs, weights):
    return column_products(waves, outputs, weights, np.ones(waves.shape[1]))


def squared_error(waves, outputs, weights, chosen):
    """Fit a linear model with an intercept to scaled outputs, and return its squared error."""
    roots = np.sqrt(weights / weights.sum())[:, np.newaxis]
    outputs = outputs / np.sqrt([np.cov(each, aweights=weights, bias=True) for each in outputs.T])
    columns = np.concatenate(list(waves[:, chosen]))
    design = np.column_stack([np.ones(len(weights)), *columns]) * roots
    fit = np.linalg.lstsq(design, outputs * roots, rcond=None)[0]
    return np.square(design @ fit - outputs * roots).sum()


def naive_choice(waves, outputs, weights, size):
    """Fit a linear model with every free candidate, and take the one with the smallest error."""
    chosen = []
    for _ in range(size):
        free = sorted(set(range(waves.shape[1])) - set(chosen))
        errors = [squared_error(waves, outputs, weights, [*chosen, m]) for m in free]
        chosen.append(free[int(np.argmin(errors))])
    return chosen


def naive_exchange(problem, chosen):
    """Put every free candidate into each place, and keep the one with the smallest error."""
    chosen = list(chosen)
    for place in range(len(chosen)):
        others = chosen[:place] + chosen[place + 1 :]
        free = sorted(set(range(problem[0].shape[1])) - set(others))
        errors = [squared_error(*problem, [*others, m]) for m in free]
        chosen[place] = free[int(np.argmin(errors))]
    return chosen


@pytest.fixture
def problem(rng):
    X = rng.standard_normal((60, 3))
    waves = wave_columns(X, rng.standard_normal((25, 3)))
    outputs = np.column_stack([np.cos(X[:, 0]), 30 * X[:, 1] * X[:, 2]]) + 0.1 * X[:, :2]
    return waves, outputs, rng.uniform(0.5, 2.0, 60)


def test_every_step_takes_the_candidate_of_smallest_squared_error(problem, monkeypatch):
    """Forward selection equals a new fit with each candidate; the ridge alone would differ."""
    monkeypatch.setattr(complementary, "_RIDGE", 1e-12)
    waves, outputs, weights = problem
    found = plain_choice(waves, outputs, weights, 10)
    assert found.tolist() == naive_choice(waves, outputs, weights, 10)
    lighter = plain_choice(waves, outputs, np.ones(60), 10)
    assert lighter.tolist() == naive_choice(waves, outputs, np.ones(60), 10)
    assert lighter.tolist() != found.tolist()


def test_the_gain_is_the_decrease_of_the_squared_error(rng, monkeypatch):
    monkeypatch.setattr(complementary, "_RIDGE", 1e-12)
    columns, residuals = rng.standard_normal((2, 7, 30)), rng.standard_normal((30, 3))
    gram = np.array(
        [[columns[i, m] @ columns[j, m] for m in range(7)] for i, j in ((0, 0), (0, 1), (1, 1))]
    )
    gains = _explained_gains(columns @ residuals, gram)
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
    without_merits = column_products(waves, outputs, np.ones(6), np.zeros(30))
    assert forward_choice(without_merits, 20).tolist() == list(range(20))


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
    found = forward_choice(column_products(waves, outputs, weights, merits), 25).tolist()
    assert found[0] == plain[20]
    assert found[-1] == plain[0]


def test_an_exchange_equals_new_fits_with_every_candidate_in_every_place(problem, monkeypatch):
    """The ridge alone would differ. The start is a bad choice, so that most places change."""
    monkeypatch.setattr(complementary, "_RIDGE", 1e-12)
    products = plain_products(*problem)
    start = forward_choice(products, 25)[-6:]
    found = exchanged_choice(products, start)
    assert found.tolist() == naive_exchange(problem, start)
    assert (found != start).sum() >= 4
    again = exchanged_choice(products, found)
    assert again.tolist() == naive_exchange(problem, found)


def test_an_exchange_never_raises_the_squared_error(rng, monkeypatch):
    """After forward selection it often falls. Tolerance: rounding, as the ridge is next to zero."""
    monkeypatch.setattr(complementary, "_RIDGE", 1e-12)
    n_lower = 0
    for _ in range(40):
        X = rng.standard_normal((50, 4))
        outputs = np.column_stack([np.sign(X[:, 0] * X[:, 1]), X[:, 2]])
        problem = wave_columns(X, rng.standard_normal((40, 4))), outputs, rng.uniform(0.5, 2, 50)
        products = column_products(*problem, rng.uniform(0, 1, 40))
        chosen = forward_choice(products, 5)
        before = squared_error(*problem, chosen)
        for _ in range(3):
            chosen = exchanged_choice(products, chosen)
            after = squared_error(*problem, chosen)
            assert after <= before + 1e-9
            assert len(set(chosen)) == 5
            n_lower += after < before - 1e-6
            before = after
    assert n_lower > 20


def test_an_exchange_keeps_what_nothing_surpasses(problem):
    """The only candidate, and candidates of a constant output, where every gain is zero."""
    waves, outputs, weights = problem
    one = plain_products(waves[:, :1], outputs, weights)
    assert exchanged_choice(one, np.array([0])).tolist() == [0]
    constant = plain_products(waves, np.ones((60, 1)), weights)
    assert exchanged_choice(constant, np.array([7, 3, 20])).tolist() == [7, 3, 20]


def test_what_is_left_over_survives_copies_in_single_precision(rng):
    """Thirty copies of one candidate: their products have one eigenvalue, and rounding errors."""
    X = rng.standard_normal((300, 2))
    frequencies = np.concatenate([np.ones((30, 2)), rng.standard_normal((1, 2))])
    waves = wave_columns(X, frequencies).astype(np.float32)
    products = plain_products(waves, np.sign(X[:, :1]).astype(np.float32), np.ones(300))
    aligned, gram = _left_over(products, np.arange(29))
    assert _explained_gains(aligned, gram)[29] < 1e-3 * _explained_gains(aligned, gram)[30]
    assert 30 in exchanged_choice(products, np.arange(29))


def test_an_exchange_takes_no_candidate_twice(rng):
    """The difference of two near copies explains the outputs, with large coefficients.

    The ridge then leaves something that these columns could explain again: more than the third
    candidate, which is all that is left to choose.
    """
    X = rng.standard_normal((400, 1))
    waves = wave_columns(X, np.array([[1.0], [1.02], [40.0]]))
    products = plain_products(waves, np.diff(waves[0, :2], axis=0).T, np.ones(400))
    gains = products.gains(*_left_over(products, np.array([0, 1])))
    assert gains[:2].max() > 2 * gains[2]
    assert exchanged_choice(products, np.arange(3)).tolist() == [0, 1, 2]


def test_outputs_are_standardised_and_constants_are_zero(rng):
    shares = rng.dirichlet(np.ones(50))
    outputs = np.column_stack([1e6 + rng.standard_normal(50), np.full(50, 1 / 3), np.zeros(50)])
    found = _standardised(outputs, shares)
    np.testing.assert_allclose(shares @ found, 0, atol=1e-9)
    np.testing.assert_allclose(shares @ found**2, [1, 0, 0], atol=1e-9)
