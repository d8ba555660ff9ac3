"""Products in vectors of 512 bits are those of the formula, up to rounding, on any processor."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from llvmlite import binding
from numba import config
from numba.core.errors import TypingError
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from pacfourier.core import dense_products
from pacfourier.core.dense_products import (
    SLICE_TERMS,
    TILE_ROWS,
    has_wide_vectors,
    write_product,
)
from pacfourier.core.phases import (
    FEWEST_COLUMNS,
    dense_product,
    dense_turns,
    transposed_product,
)

DTYPES = (np.float32, np.float64)


def product_of(left, right):
    """Return the product, written over numbers that were there before."""
    products = np.full((len(left), right.shape[1]), np.nan, dtype=left.dtype)
    write_product(left, right, products)
    return products


# The first example compiles.
@settings(deadline=None)
@given(
    st.integers(TILE_ROWS, 40),
    st.sampled_from([0, 1, 2, 3, 40, SLICE_TERMS, SLICE_TERMS + 1, 3 * SLICE_TERMS + 7]),
    st.integers(1, 200),
    st.sampled_from(DTYPES),
    st.integers(0, 2**32 - 1),
)
@example(TILE_ROWS + 1, SLICE_TERMS + 1, 64, np.float32, 0)
@example(2 * TILE_ROWS, SLICE_TERMS + 1, 32, np.float64, 0)
def test_products_in_wide_vectors_are_those_of_the_formula(n, k, m, dtype, seed):
    rng = np.random.default_rng(seed)
    left = rng.standard_normal((n, k)).astype(dtype)
    right = rng.standard_normal((k, m)).astype(dtype)
    exact = left.astype(np.longdouble) @ right.astype(np.longdouble)
    sizes = np.abs(left).astype(np.float64) @ np.abs(right).astype(np.float64)
    # One rounding for a term, and one for each sum.
    assert (np.abs(product_of(left, right) - exact) <= (k + 1) * np.finfo(dtype).eps * sizes).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_terms", [5, 3 * SLICE_TERMS])
def test_a_number_has_the_same_bits_whatever_is_beside_it(n_terms, dtype, rng):
    left = rng.standard_normal((20, n_terms)).astype(dtype)
    right = rng.standard_normal((n_terms, 150)).astype(dtype)
    whole = product_of(left, right)
    for size in (1, 7, 17, 40, 64, 65):
        part = np.ascontiguousarray(right[:, 150 - size :])
        for first in (0, 7, 14):
            assert_array_equal(product_of(left[first:], part), whole[first:, 150 - size :])


@pytest.mark.parametrize("n_terms", [5, 3 * SLICE_TERMS])
def test_nan_stays_in_its_row_and_in_its_column(n_terms, rng):
    left, right = rng.standard_normal((7, n_terms)), rng.standard_normal((n_terms, 37))
    left[2, 3] = right[4, 35] = np.nan
    expected = (np.arange(7) == 2)[:, np.newaxis] | (np.arange(37) == 35)
    assert_array_equal(np.isnan(product_of(left, right)), expected)


@pytest.mark.parametrize("n_columns", [1, 15, 64, 65])
def test_nothing_is_written_behind_the_products(n_columns, rng):
    left, right = rng.standard_normal((9, 4)), rng.standard_normal((4, n_columns))
    memory = np.full(9 * n_columns + 64, 7.0)
    products = memory[: 9 * n_columns].reshape(9, n_columns)
    write_product(left, right, products)
    assert_allclose(products, left @ right, atol=1e-14)
    assert (memory[9 * n_columns :] == 7.0).all()


def test_rounding_errors_do_not_grow_with_many_terms(rng):
    """Sums of slices are more accurate than one long sum of as many terms."""
    left = rng.random((60, 2048)).astype(np.float32)
    right = rng.random((2048, 64)).astype(np.float32)
    exact = left.astype(np.float64) @ right.astype(np.float64)
    one_sum = np.zeros_like(exact, dtype=np.float32)
    for k in range(len(right)):
        one_sum += np.outer(left[:, k], right[k])
    errors = np.abs(product_of(left, right) - exact), np.abs(one_sum - exact)
    assert errors[0].mean() < 0.5 * errors[1].mean()


def test_products_need_arrays_in_c_order():
    left, right = np.zeros((TILE_ROWS, 3)), np.zeros((3, 32))
    with pytest.raises(TypingError, match="C order"):
        write_product(left, right, np.empty((32, TILE_ROWS)).T)


@pytest.fixture
def forget_processor():
    """Let the next call look at the processor again, and the next test, too."""
    has_wide_vectors.cache_clear()
    yield
    has_wide_vectors.cache_clear()


@pytest.mark.usefixtures("forget_processor")
@pytest.mark.parametrize("has_them", [True, False])
def test_wide_vectors_are_a_feature_of_the_processor(monkeypatch, has_them):
    monkeypatch.setattr(config, "CPU_FEATURES", None)
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: {"avx2": 1, "avx512f": has_them})
    assert has_wide_vectors() is has_them


@pytest.mark.usefixtures("forget_processor")
@pytest.mark.parametrize(("features", "has_them"), [("+avx2,+avx512f", True), ("-avx512f", False)])
def test_wide_vectors_may_be_turned_off(monkeypatch, features, has_them):
    monkeypatch.setattr(config, "CPU_FEATURES", features)
    assert has_wide_vectors() is has_them


@pytest.fixture
def written(monkeypatch):
    """Record the shapes that our own loop multiplies, with and without such a processor."""
    shapes = []

    def write(left, right, products):
        shapes.append((len(left), right.shape[1]))
        write_product(left, right, products)

    monkeypatch.setattr(dense_products, "write_product", write)
    monkeypatch.setattr(dense_products, "has_wide_vectors", lambda: True)
    return shapes


def test_few_rows_or_columns_are_left_to_blas(written, rng):
    for n_rows, n_columns in (
        (TILE_ROWS, FEWEST_COLUMNS),
        (TILE_ROWS - 1, 100),
        (100, FEWEST_COLUMNS - 1),
    ):
        left, right = rng.standard_normal((n_rows, 8)), rng.standard_normal((8, n_columns))
        assert_allclose(dense_product(left, right), left @ right, atol=1e-13)
    assert written == [(TILE_ROWS, FEWEST_COLUMNS)]


def test_processors_without_wide_vectors_leave_all_to_blas(written, monkeypatch, rng):
    monkeypatch.setattr(dense_products, "has_wide_vectors", lambda: False)
    left, right = rng.standard_normal((50, 8)), rng.standard_normal((8, 50))
    assert_array_equal(dense_product(left, right), np.dot(left, right))
    assert not written


@pytest.mark.parametrize("has_them", [True, False])
def test_products_go_where_they_are_wanted_from_matrices_in_any_order(has_them, monkeypatch, rng):
    monkeypatch.setattr(dense_products, "has_wide_vectors", lambda: has_them)
    left, right = rng.standard_normal((9, 50)).T, rng.standard_normal((70, 9)).T
    products = np.empty((50, 70))
    assert dense_product(left, right, products) is products
    assert_allclose(products, left @ right, atol=1e-13)
    assert_allclose(dense_product(left[::-2], right[:, 5:]), left[::-2] @ right[:, 5:], atol=1e-13)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_transposed_products_have_the_precision_of_the_left_matrix(container, written, rng):
    left, block = rng.standard_normal((30, 8)).astype(np.float32), rng.standard_normal((30, 11))
    found = transposed_product(left, container(block))
    assert found.dtype == np.float32
    assert_allclose(found, left.T @ block, rtol=1e-4, atol=1e-5)
    assert len(written) == int(container is np.asarray)


@pytest.mark.parametrize("has_them", [True, False])
def test_blocks_of_phases_are_the_same_without_wide_vectors(has_them, monkeypatch, rng):
    monkeypatch.setattr(dense_products, "has_wide_vectors", lambda: has_them)
    X, frequencies = rng.standard_normal((2500, 30)), rng.standard_normal((100, 30))
    found = [(rows, turns.copy()) for rows, turns in dense_turns(X[::-1], frequencies, np.float64)]
    assert [rows.start for rows, _ in found] == [0, 1024, 2048]
    turns = np.concatenate([turns for _, turns in found])
    assert_allclose(turns, X[::-1] @ frequencies.T / (2 * np.pi), atol=1e-13)
