import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from pacfourier.core import loops
from pacfourier.core.boosting.columns import described_columns
from pacfourier.core.boosting.cosine_model import CosineModel, model_scores
from pacfourier.core.boosting.folded import folded_model, folded_scores, interpolation_table
from pacfourier.core.phases import ROW_BLOCK

RULES = {"coded": True, "plain": False}


def table(rng, n_samples=2500):
    """Columns of several scales, far from zero, with two values, and constant."""
    numbers = rng.standard_normal((n_samples, 3)) * [1, 10, 0.1] + [0, 200, 5]
    return np.hstack([numbers, rng.integers(0, 2, (n_samples, 4)), np.ones((n_samples, 1))])


def random_model(rng, n_inputs, n_outputs=2):
    shapes = [(20, n_inputs), (20, n_outputs), (20, n_outputs), (n_inputs, n_outputs), n_outputs]
    return CosineModel(*(rng.standard_normal(shape) for shape in shapes))


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("rule", RULES)
def test_a_folded_model_is_the_model_on_coded_columns(rule, n_outputs, rng):
    """Also outside the range of the rows that describe the columns, where codes stay constant."""
    X = table(rng)
    columns = described_columns(X, np.ones(len(X)), coded=RULES[rule])
    assert bool(columns.knots) == RULES[rule]
    model = random_model(rng, len(columns.centres), n_outputs)
    rows = np.vstack([X[:300], 3 * X[:300] - 1])
    expected = model_scores(columns.inputs(rows), model)
    found = folded_scores(rows, folded_model(model, columns))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


def test_parameters_in_single_precision_are_folded_in_double(rng):
    X = table(rng)
    columns = described_columns(X, np.ones(len(X)), coded=True)
    model = random_model(rng, len(columns.centres)).astype(np.float32)
    found = folded_scores(X, folded_model(model, columns))
    np.testing.assert_allclose(found, model_scores(columns.inputs(X), model), rtol=0, atol=1e-10)


def test_single_precision_loses_what_single_precision_loses(rng):
    """A phase of size s is off by about s 2^-24; here s is at most 300, and 40 waves are added."""
    X = table(rng)
    columns = described_columns(X, np.ones(len(X)), coded=False)
    model = random_model(rng, len(columns.centres))
    folded = folded_model(model, columns)
    single = folded_scores(X.astype(np.float32), folded)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, folded_scores(X, folded), rtol=0, atol=40 * 300 * 2.0**-24)


def test_tables_hold_the_sums_of_codes_at_the_knots(rng):
    weights = rng.standard_normal((4, 3))
    found = interpolation_table(weights)
    for k in range(5):
        np.testing.assert_allclose(found[k], 2 * sum(weights[:k], np.zeros(3)), atol=1e-14)


def test_the_number_of_threads_changes_no_score(rng):
    X = table(rng, ROW_BLOCK + 200)
    columns = described_columns(X, np.ones(len(X)), coded=True)
    folded = folded_model(random_model(rng, len(columns.centres)), columns)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.append(folded_scores(X, folded))
    np.testing.assert_array_equal(*found)


def test_no_rows_give_no_scores(rng):
    X = table(rng)
    columns = described_columns(X, np.ones(len(X)), coded=True)
    folded = folded_model(random_model(rng, len(columns.centres)), columns)
    assert folded_scores(X[:0], folded).shape == (0, 2)


def test_knots_that_single_precision_cannot_tell_apart_are_a_step():
    """Seconds since 1970 are 128 apart in single precision."""
    knots = np.array([1.6e9, 1.6e9 + 1, 1.6e9 + 1000, 1.6e9 + 1001])
    tables = np.array([[0.0], [1.0], [2.0], [3.0]])
    X = np.array([[1.5e9], [1.6e9], [1.6e9 + 500], [1.6e9 + 1024], [1.7e9]], dtype=np.float32)
    values = np.zeros((5, 1), dtype=np.float32)
    parts = (np.array([0]), np.array([0, 4]), knots.astype(np.float32), tables.astype(np.float32))
    loops.add_interpolations(X, *parts, values)
    assert np.isfinite(values).all()
    assert values[0, 0] == 0
    assert 1 <= values[2, 0] <= 2
    assert values[-1, 0] == 3
