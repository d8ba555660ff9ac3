import numpy as np
import pytest
from scipy import sparse

from pacfourier.core.boosting import columns as module
from pacfourier.core.boosting.columns import (
    CODE_UNIT,
    _array_codes,
    _column_units,
    _piecewise_codes,
    described_columns,
)


def described(X, coded=False):
    return described_columns(X, np.ones(X.shape[0]), coded=coded)


def test_the_unit_of_a_column_is_its_deviation(rng):
    X = rng.standard_normal((200, 3)) * [1, 1e-6, 1e6]
    np.testing.assert_allclose(described(X).units, X.std(axis=0))


@pytest.mark.parametrize("rare", [1, 50])
def test_two_values_are_two_units_apart_however_rare_one_is(rare):
    X = np.where(np.arange(100) < rare, 7.0, 3.0)[:, np.newaxis]
    columns = described(X)
    assert columns.units.tolist() == [2.0]
    assert np.ptp(columns.inputs(X)) == CODE_UNIT
    # A third value between them makes a column of amounts.
    X[-1] = 5.0
    assert described(X).units == pytest.approx(X.std(axis=0))


def test_columns_of_one_kind_share_a_unit():
    deviations, ranges = np.array([1.0, 3.0, 0.5, 8.0]), np.array([16.0, 16.0, 9.0, 99.0])
    is_pair = np.zeros(4, dtype=bool)
    shared = np.sqrt((1 + 9 + 0.25) / 3)
    # Half of the columns have range 16. That of range 99 is not one of their kind.
    np.testing.assert_allclose(
        _column_units(deviations, ranges, is_pair), [shared, shared, shared, 8]
    )
    # With another range, these are two of five.
    others = _column_units(np.append(deviations, 2.0), np.append(ranges, 33.0), np.zeros(5, bool))
    np.testing.assert_array_equal(others, [*deviations, 2.0])


def test_pairs_and_constants_have_no_say_in_what_is_of_one_kind():
    deviations, ranges = np.array([1.0, 3.0, 0.5, 0.0]), np.array([16.0, 16.0, 1.0, 0.0])
    found = _column_units(deviations, ranges, np.array([False, False, True, True]))
    np.testing.assert_allclose(found, [np.sqrt(5), np.sqrt(5), 0.5, np.inf])


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, -7.7, 1e6 + 0.1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_no_model_sees_a_constant_column(value, dtype, container, rng):
    """Not even if the weighted mean of equal numbers is rounded to another number."""
    X = np.column_stack([np.full(61, value), rng.standard_normal(61)]).astype(dtype)
    columns = described_columns(container(X), rng.random(61), coded=True)
    inputs = columns.inputs(container(X))
    inputs = inputs.toarray() if sparse.issparse(inputs) else inputs
    if container is np.asarray:
        assert np.isinf(columns.units[0])
        np.testing.assert_array_equal(inputs[:, 0], 0)
    assert np.isfinite(inputs).all()
    assert np.ptp(inputs[:, 1]) > 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("coded", [False, True])
def test_inputs_have_mean_zero_and_the_precision_of_the_samples(dtype, coded, rng):
    X = rng.gamma(2, size=(500, 3)).astype(dtype)
    copies = rng.uniform(0.5, 1.5, 500)
    columns = described_columns(X, copies, coded=coded)
    inputs = columns.inputs(X)
    assert inputs.dtype == dtype
    assert inputs.shape[1] == len(columns.centres)
    assert bool(columns.knots) == coded
    np.testing.assert_allclose(copies @ inputs / copies.sum(), 0, atol=1e-6)


def test_a_linear_function_of_codes_is_the_piecewise_linear_interpolant(rng):
    knots = np.sort(rng.uniform(-3, 3, 8))
    heights = rng.standard_normal(8)
    values = np.concatenate([rng.uniform(-5, 5, 100), knots])
    found = heights[0] + _piecewise_codes(values, knots) @ np.diff(heights) / CODE_UNIT
    np.testing.assert_allclose(found, np.interp(values, knots, heights), atol=1e-12)


def test_the_codes_of_a_column_follow_the_columns(rng):
    X = np.column_stack([rng.standard_normal(300), np.resize([0.0, 1.0], 300)])
    columns = described(X, coded=True)
    # A column with two values is a code already.
    assert list(columns.knots) == [0]
    knots = columns.knots[0]
    inputs = columns.inputs(X) + columns.centres
    np.testing.assert_allclose(inputs[:, :2], X / columns.units)
    np.testing.assert_allclose(inputs[:, 2:], _piecewise_codes(X[:, 0], knots))
    assert (knots[0], knots[-1]) == (X[:, 0].min(), X[:, 0].max())
    assert (np.diff(knots) > 0).all()


def test_knots_are_the_values_of_a_column_that_has_few(rng):
    X = rng.integers(0, 5, (1000, 1)).astype(float)
    np.testing.assert_array_equal(described(X, coded=True).knots[0], np.arange(5))


@pytest.mark.parametrize(("n_samples", "n_columns"), [(3000, 1), (30_000, 1), (5000, 60)])
def test_knots_are_few(n_samples, n_columns, rng):
    columns = described(rng.standard_normal((n_samples, n_columns)), coded=True)
    counts = [len(knots) - 1 for knots in columns.knots.values()]
    assert len(counts) == n_columns
    assert max(counts) <= min(module.MOST_KNOTS, n_samples // module._ROWS_PER_KNOT)
    assert sum(counts) <= module.MOST_CODES


def test_samples_too_small_for_two_codes_have_none(rng):
    X = rng.standard_normal((module._ROWS_PER_KNOT, 2))
    assert not described(X, coded=True).knots
    assert described(np.tile(X, (2, 1)), coded=True).knots


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_samples_stay_sparse_and_have_half_the_largest_value_as_unit(container, dtype):
    X = container(np.array([[0, -4, 0], [3, 2, 0]], dtype=dtype))
    columns = described(X)
    assert columns.units.tolist() == [1.5, 2.0, np.inf]
    inputs = columns.inputs(X)
    assert sparse.issparse(inputs)
    assert inputs.dtype == dtype
    np.testing.assert_array_equal(inputs.toarray(), [[0, -2, 0], [2, 1, 0]])
    assert columns.n_seen is None


def test_in_wide_sparse_samples_full_columns_come_first(monkeypatch):
    """Frequencies see those, and the linear part sees all."""
    monkeypatch.setattr(module, "WIDEST", 2)
    X = sparse.csr_array(np.array([[0, 2.0, 2], [0, 2, 2], [2, 0, 2]]))
    columns = described(X)
    assert columns.n_seen == 2
    assert columns.order.tolist() == [2, 1, 0]
    np.testing.assert_array_equal(columns.inputs(X).toarray(), X.toarray()[:, ::-1])
    np.testing.assert_array_equal(columns.inputs(X.toarray()), X.toarray()[:, ::-1])
    assert described(X[:, :2]).n_seen is None


@pytest.mark.parametrize("coded", [False, True])
def test_sparse_rows_are_centred_and_coded_as_the_dense_rows_of_the_fit(coded, rng):
    X = rng.poisson(1.0, (200, 3)).astype(float)
    columns = described(X, coded=coded)
    np.testing.assert_array_equal(columns.inputs(sparse.csr_array(X)), columns.inputs(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
def test_all_columns_at_once_have_the_codes_of_one_after_another(layout, dtype, rng):
    """Also where two knots are equal in single precision. A quotient is rounded once or twice."""
    X = layout(rng.standard_normal((50, 4)).astype(dtype))
    knots = {
        0: np.array([-1.0, 0.0, 0.5, 2.0]),
        2: np.array([-0.5, 0.1, 0.1 + 1e-12]),
        3: np.r_[-3.0, 3.0],
    }
    expected = np.hstack([_piecewise_codes(X[:, j], each) for j, each in knots.items()])
    found = _array_codes(X, knots)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps, atol=0)
