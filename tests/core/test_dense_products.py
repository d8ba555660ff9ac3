"""Products in vectors of 512 bits are those of the formula, up to rounding, on any processor."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llvmlite import binding
from numba import config
from numba.core.errors import TypingError
from numpy.testing import assert_allclose, assert_array_equal

from pacfourier.core import dense_products
from pacfourier.core.dense_products import (
    SLICE_COLUMNS,
    TILE_ROWS,
    has_wide_vectors,
    write_dense_products,
)
from pacfourier.core.phases import (
    FEWEST_WIDE,
    FEWEST_WIDE_ROWS,
    ROW_BLOCK,
    dense_turns,
    filled_chunks,
    is_for_wide_vectors,
    padded_rows,
    turn_blocks,
    wide_turns,
)

DTYPES = (np.float32, np.float64)


def collected(blocks):
    return np.concatenate([turns.copy() for _, turns in blocks])


def product_of(rows, frequencies):
    """Return the products, written over numbers that were there before."""
    chunks = filled_chunks(frequencies, rows.dtype.type, 1.0)
    products = np.full((len(rows), len(frequencies)), np.nan, dtype=rows.dtype)
    write_dense_products(rows, chunks, products)
    return products


# The first example compiles.
@settings(deadline=None)
@given(
    st.integers(1, 20),
    st.sampled_from([1, 2, 3, 40, SLICE_COLUMNS, SLICE_COLUMNS + 1, 3 * SLICE_COLUMNS + 7]),
    st.integers(1, 200),
    st.sampled_from(DTYPES),
    st.integers(0, 2**32 - 1),
)
def test_phases_in_wide_vectors_are_those_of_the_matrix_product(n, d, size, dtype, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(dtype)
    frequencies = rng.standard_normal((size, d)).astype(np.float32)
    expected = X.astype(np.float64) @ frequencies.T.astype(np.float64) / (2 * np.pi)
    # Four roundings for a term, and one for each sum.
    terms = np.abs(X).astype(np.float64) @ np.abs(frequencies.T).astype(np.float64) / (2 * np.pi)
    turns = collected(wide_turns(X, frequencies, dtype))
    assert turns.dtype == dtype
    assert turns.shape == (n, size)
    assert (np.abs(turns - expected) <= (d + 4) * np.finfo(dtype).eps * terms).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_blocks_of_rows_in_any_order_are_those_of_the_dense_product(order):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.standard_normal((2500, 30)), order=order)
    frequencies = rng.standard_normal((100, 30))
    for rows in (X[::-1], X[::-1, :29]):
        chosen = frequencies[:, : rows.shape[1]]
        found = list(wide_turns(rows, chosen, np.float64))
        size = found[1][0].start
        assert size % TILE_ROWS == 0
        assert 0 <= size - ROW_BLOCK < TILE_ROWS
        assert [block.start for block, _ in found] == [0, size, 2 * size]
        expected = collected(dense_turns(rows, chosen, np.float64))
        assert_allclose(collected(wide_turns(rows, chosen, np.float64)), expected, atol=1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_features", [5, 3 * SLICE_COLUMNS])
def test_a_product_has_the_same_bits_whatever_is_beside_it(n_features, dtype, rng):
    rows = rng.standard_normal((12, n_features)).astype(dtype)
    frequencies = rng.standard_normal((150, n_features)).astype(dtype)
    whole = product_of(rows, frequencies)
    for size in (1, 7, 17, 40, 64, 65):
        assert_array_equal(product_of(rows[6:], frequencies[150 - size :]), whole[6:, 150 - size :])


@pytest.mark.parametrize("n_features", [5, 3 * SLICE_COLUMNS])
def test_a_row_of_nan_does_not_reach_its_neighbours(n_features, rng):
    rows = rng.standard_normal((6, n_features))
    rows[2, 3] = np.nan
    products = product_of(rows, rng.standard_normal((37, n_features)))
    assert_array_equal(np.isnan(products).all(axis=1), np.arange(6) == 2)
    assert_array_equal(np.isnan(products).any(axis=1), np.arange(6) == 2)


def test_rounding_errors_do_not_grow_with_many_columns(rng):
    """A sum of slices is more accurate than one long sum of as many terms."""
    rows = rng.random((60, 8 * SLICE_COLUMNS)).astype(np.float32)
    frequencies = rng.random((64, 8 * SLICE_COLUMNS)).astype(np.float32)
    exact = rows.astype(np.float64) @ frequencies.T.astype(np.float64)
    one_sum = np.add.accumulate(rows[:, np.newaxis] * frequencies, axis=2)[..., -1]
    errors = np.abs(product_of(rows, frequencies) - exact), np.abs(one_sum - exact)
    assert errors[0].mean() < 0.5 * errors[1].mean()


def test_products_need_arrays_in_c_order():
    rows, chunks = np.zeros((TILE_ROWS, 3)), filled_chunks(np.zeros((32, 3)), np.float64, 1.0)
    with pytest.raises(TypingError, match="C order"):
        write_dense_products(rows, chunks, np.empty((32, TILE_ROWS)).T)


@pytest.mark.parametrize("n_rows", [1, 5, 6, 7, 12])
def test_rows_are_padded_with_zeros(n_rows, rng):
    rows = rng.standard_normal((n_rows, 4))
    padded = padded_rows(rows[:, ::2], TILE_ROWS, np.float32)
    assert padded.flags.c_contiguous
    assert padded.shape == (TILE_ROWS * -(-n_rows // TILE_ROWS), 2)
    assert_array_equal(padded[:n_rows], rows[:, ::2].astype(np.float32))
    assert not padded[n_rows:].any()


def test_whole_tiles_are_not_copied():
    rows = np.zeros((2 * TILE_ROWS, 3))
    assert np.shares_memory(padded_rows(rows, TILE_ROWS, np.float64), rows)


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


@pytest.mark.parametrize("has_them", [True, False])
def test_only_many_rows_and_frequencies_take_wide_vectors(monkeypatch, has_them, rng):
    monkeypatch.setattr(dense_products, "has_wide_vectors", lambda: has_them)
    assert is_for_wide_vectors(FEWEST_WIDE_ROWS, FEWEST_WIDE) is has_them
    assert not is_for_wide_vectors(FEWEST_WIDE_ROWS - 1, FEWEST_WIDE)
    assert not is_for_wide_vectors(FEWEST_WIDE_ROWS, FEWEST_WIDE - 1)
    X, frequencies = rng.standard_normal((1100, 9)), rng.standard_normal((70, 9))
    starts = [rows.start for rows, _ in turn_blocks(X, frequencies, np.float64)]
    assert starts == [0, 1026 if has_them else 1024]
    expected = X @ frequencies.T / (2 * np.pi)
    assert_allclose(collected(turn_blocks(X, frequencies, np.float64)), expected, atol=1e-13)
