import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from pacfourier.core import loops
from pacfourier.core.boosting.columns import described_columns
from pacfourier.core.boosting.cosine_model import CosineModel, model_scores
from pacfourier.model.folding import _column_origins, folded_model
from pacfourier.model.fourier_model import scoring_terms
from pacfourier.model.scoring import (
    _FEW_ROWS,
    _SCORED_ROWS,
    QUICK_ROWS_PER_TASK,
    _write_values,
    row_scores,
)

RULES = {"coded": True, "plain": False}
# Tables in which most numbers are zero, and in which hardly any is.
SHARES = {"zeros": 0.1, "full": 1.0}


def table(rng, n_samples=2500, share=1.0):
    """Columns of several scales, far from zero, with two values, mostly zero, and constant."""
    numbers = rng.standard_normal((n_samples, 3)) * [1, 10, 0.1] + [0, 200, 5]
    rare = rng.exponential(5, (n_samples, 20)) * (rng.random((n_samples, 20)) < share)
    pairs = rng.random((n_samples, 4)) < [0.1, 0.4, 0.6, 0.9]
    return np.hstack([numbers, rare, pairs, np.ones((n_samples, 1))])


def random_model(rng, n_inputs, n_outputs=2):
    shapes = [(20, n_inputs), (20, n_outputs), (20, n_outputs), (n_inputs, n_outputs), n_outputs]
    return CosineModel(*(rng.standard_normal(shape) for shape in shapes))


def models(rng, X, *, coded=True, n_outputs=2):
    """Return a random model, the columns that it reads, and the same laid out for predictions."""
    columns = described_columns(X, np.ones(len(X)), coded=coded)
    model = random_model(rng, len(columns.centres), n_outputs)
    return model, columns, scoring_terms(folded_model(model, columns))


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("n_rows", [1, _FEW_ROWS, _SCORED_ROWS + 100])
def test_scores_are_those_of_the_model_on_coded_columns(n_rows, share, rule, n_outputs, rng):
    """Also outside the range of the rows that describe the columns, where codes stay constant."""
    X = table(rng, share=SHARES[share])
    model, columns, fast = models(rng, X, coded=RULES[rule], n_outputs=n_outputs)
    assert bool(columns.knots) == RULES[rule]
    for rows in (X[:n_rows], 3 * X[:n_rows] - 1):
        expected = model_scores(columns.inputs(rows), model)
        np.testing.assert_allclose(row_scores(rows, fast), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("share", SHARES)
def test_products_that_skip_origins_are_the_products(share, rng):
    X = table(rng, share=SHARES[share])
    _, _, fast = models(rng, X)
    skipping, whole = np.empty((2, len(X), len(fast.constants)))
    _write_values(X, fast, skipping, is_sparse=True)
    _write_values(X, fast, whole, is_sparse=False)
    np.testing.assert_allclose(skipping, whole, rtol=0, atol=1e-11)


@pytest.mark.parametrize("n_rows", [_FEW_ROWS, 2500])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_single_precision_loses_what_single_precision_loses(n_outputs, n_rows, rng):
    """A phase of size s is off by about s 2^-24; here s is at most 300, and 40 waves are added."""
    X = table(rng)[:n_rows]
    _, _, fast = models(rng, X, coded=False, n_outputs=n_outputs)
    single = row_scores(X.astype(np.float32), fast.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, row_scores(X, fast), rtol=0, atol=40 * 300 * 2.0**-24)


def test_origins_are_round_numbers_within_a_unit_of_the_mean(rng):
    X = np.hstack([table(rng, share=0.1), 1e-3 * rng.standard_normal((2500, 1)) + 0.5])
    columns = described_columns(X, np.ones(len(X)), coded=False)
    origins = _column_origins(columns)
    is_varying = np.isfinite(columns.units)
    assert (np.abs(origins - X.mean(axis=0)) <= columns.units)[is_varying].all()
    assert origins[0] == 0
    assert origins[1] == np.rint(X[:, 1].mean())
    assert (origins[3:25] == 0).all()
    assert (origins[25:27] == 1).all()
    assert origins[-1] == pytest.approx(X[:, -1].mean())


@pytest.mark.parametrize("share", SHARES)
def test_the_number_of_threads_changes_no_score(share, rng):
    X = table(rng, QUICK_ROWS_PER_TASK + 200, share=SHARES[share])
    _, _, fast = models(rng, X)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.append(row_scores(X, fast))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda X: np.repeat(X, 2, axis=1)[:, ::2]])
def test_the_layout_of_the_rows_changes_no_score(layout, rng):
    X = table(rng)
    _, _, fast = models(rng, X)
    np.testing.assert_array_equal(row_scores(layout(X), fast), row_scores(X, fast))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1.1e75])
@pytest.mark.parametrize("n_rows", [_FEW_ROWS, 2 * _SCORED_ROWS])
def test_numbers_beyond_the_limit_give_nan(n_rows, bad, rng):
    X = table(rng)[:n_rows]
    _, _, fast = models(rng, X)
    assert np.isfinite(row_scores(X, fast, limit=1e75)).all()
    X[-1, 3] = bad
    assert np.isnan(row_scores(X, fast, limit=1e75)[-1]).all()


def test_no_rows_give_no_scores(rng):
    X = table(rng)
    _, _, fast = models(rng, X)
    assert row_scores(X[:0], fast).shape == (0, 2)


def test_knots_that_single_precision_cannot_tell_apart_are_a_step():
    """Seconds since 1970 are 128 apart in single precision."""
    knots = np.array([1.6e9, 1.6e9 + 1, 1.6e9 + 1000, 1.6e9 + 1001])
    tables = np.array([[0.0], [1.0], [2.0], [3.0]])
    X = np.array([[1.5e9], [1.6e9], [1.6e9 + 500], [1.6e9 + 1024], [1.7e9]], dtype=np.float32)
    values = np.zeros((5, 1), dtype=np.float32)
    codes = (np.array([0]), np.array([0, 4]), knots.astype(np.float32))
    terms = np.vstack([[[0.0]], tables]).astype(np.float32)
    loops.add_columns(X, np.zeros(1, dtype=np.float32), codes, terms, False, values)
    assert np.isfinite(values).all()
    assert values[0, 0] == 0
    assert 1 <= values[2, 0] <= 2
    assert values[-1, 0] == 3
