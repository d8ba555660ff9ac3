"""Products without zeros are those of BLAS, up to rounding."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.errors import TypingError
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from pacfourier import alignment_losses
from pacfourier.core.products import (
    _LARGEST_DENSITY,
    COLUMN_BAND,
    _chunk_size,
    _dense_turns,
    _frequency_chunks,
    _is_mostly_zeros,
    _sparse_turns,
    aligned_zeros,
    turn_blocks,
)
from pacfourier.core.sparse_products import write_nonzeros, write_sparse_products

DTYPES = (np.float32, np.float64)


def zeros_and_normals(shape, density, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) * (rng.random(shape) < density)).astype(dtype)


def collected(blocks):
    return np.concatenate([turns.copy() for _, turns in blocks])


# The first example compiles.
@settings(deadline=None)
@given(
    st.integers(1, 20),
    st.integers(1, 40),
    st.integers(1, 200),
    st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    st.sampled_from(DTYPES),
    st.integers(0, 2**32 - 1),
)
def test_phases_without_zeros_are_those_of_the_matrix_product(n, d, size, density, dtype, seed):
    X = zeros_and_normals((n, d), density, seed, dtype)
    frequencies = np.random.default_rng(seed).standard_normal((size, d)).astype(np.float32)
    expected = X.astype(np.float64) @ frequencies.T.astype(np.float64) / (2 * np.pi)
    # Four roundings for a term, and one for each sum.
    terms = np.abs(X).astype(np.float64) @ np.abs(frequencies.T).astype(np.float64) / (2 * np.pi)
    limit = (d + 4) * np.finfo(dtype).eps * terms
    for rows in (X, sparse.csr_array(X)):
        turns = collected(_sparse_turns(rows, frequencies, dtype))
        assert turns.dtype == dtype
        assert (np.abs(turns - expected) <= limit).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_phases_of_rows_in_any_order_are_those_of_the_dense_product(order):
    X = np.asarray(zeros_and_normals((2500, 30), 0.1, seed=0), order=order)
    frequencies = np.random.default_rng(1).standard_normal((100, 30))
    found = list(_sparse_turns(X[::-1], frequencies, np.float64))
    assert [rows.start for rows, _ in found] == [0, 1024, 2048]
    turns = collected(_sparse_turns(X[::-1], frequencies, np.float64))
    assert_allclose(turns, collected(_dense_turns(X[::-1], frequencies, np.float64)), atol=1e-13)


def test_zeros_that_a_sparse_matrix_stores_change_nothing():
    X = sparse.csr_array(zeros_and_normals((50, 7), 0.5, seed=0))
    frequencies = np.random.default_rng(1).standard_normal((70, 7))
    stored = X.copy()
    stored.data[::3] = 0.0
    expected = collected(_dense_turns(stored.toarray(), frequencies, np.float64))
    assert_allclose(collected(turn_blocks(stored, frequencies, np.float64)), expected, atol=1e-14)


def test_only_dense_rows_with_many_zeros_and_many_frequencies_leave_zeros_out():
    X = zeros_and_normals((500, 40), _LARGEST_DENSITY / 2, seed=0)
    assert _is_mostly_zeros(X, 64)
    assert not _is_mostly_zeros(X, 63)
    assert not _is_mostly_zeros(zeros_and_normals((500, 40), 2 * _LARGEST_DENSITY, seed=0), 64)
    assert _is_mostly_zeros(sparse.csr_array(X + 1), 1)


def test_rows_that_are_not_looked_at_may_be_dense():
    X = zeros_and_normals((1024, 5), 1.0, seed=0)
    X[::8] = 0.0
    frequencies = np.random.default_rng(1).standard_normal((64, 5))
    assert _is_mostly_zeros(X, 64)
    expected = collected(_dense_turns(X, frequencies, np.float64))
    assert_allclose(collected(turn_blocks(X, frequencies, np.float64)), expected, atol=1e-14)


def test_nonzeros_are_those_of_scipy():
    X = zeros_and_normals((30, 11), 0.3, seed=3)
    X[4] = 0.0
    X[5, 0] = -0.0
    indptr, places = np.empty(31, dtype=np.int32), np.empty(X.size + 1, dtype=np.int32)
    factors = np.empty(len(places), dtype=np.float32)
    unit = np.float32(0.3)
    write_nonzeros(X, unit, indptr, places, factors)
    expected = sparse.csr_array(X)
    assert_array_equal(indptr, expected.indptr)
    assert_array_equal(places[: indptr[-1]], expected.indices)
    assert_array_equal(factors[: indptr[-1]], expected.data.astype(np.float32) * unit)


@pytest.mark.parametrize("dtype", DTYPES)
def test_chunks_start_at_a_cache_line(dtype):
    frequencies = np.ones((_chunk_size(dtype) + 1, 3))
    chunks = _frequency_chunks(frequencies, dtype)
    assert chunks.shape == (2, 3, _chunk_size(dtype))
    assert chunks.ctypes.data % 64 == 0
    assert (chunks[0] == 1).all()
    assert not chunks[1, :, 1:].any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_frequencies", [1, 32, 64, 65])
def test_chunks_hold_the_frequencies(n_frequencies, order, dtype):
    frequencies = np.random.default_rng(0).standard_normal((n_frequencies, 5)).astype("f4", order)
    chunks = _frequency_chunks(frequencies, dtype)
    assert chunks.dtype == dtype
    rows = chunks.swapaxes(1, 2).reshape(-1, 5)
    assert_array_equal(rows[:n_frequencies], frequencies)
    assert not rows[n_frequencies:].any()


def test_one_chunk_of_columns_is_not_copied():
    columns = aligned_zeros((5, COLUMN_BAND), np.float32)
    assert _chunk_size(np.float32) == COLUMN_BAND
    assert np.shares_memory(_frequency_chunks(columns.T, np.float32), columns)
    assert not np.shares_memory(_frequency_chunks(columns.T, np.float64), columns)


def test_products_need_arrays_in_c_order():
    chunks = _frequency_chunks(np.zeros((64, 3)), np.float32)
    products = np.empty((64, 2), dtype=np.float32).T
    rows = np.zeros(3, np.int32), np.zeros(1, np.int32), np.zeros(1, np.float32)
    with pytest.raises(TypingError, match="C order"):
        write_sparse_products(*rows, chunks, products)


def test_losses_of_a_table_with_coded_categories_are_those_of_its_shifted_copy():
    # Cosines of differences do not change if all rows move, but then no number is zero.
    rng = np.random.default_rng(0)
    X = np.eye(20)[rng.integers(20, size=(300, 2))].reshape(300, 40)
    frequencies, y = rng.standard_normal((128, 40)), np.arange(300) % 3
    assert _is_mostly_zeros(X, 128)
    assert not _is_mostly_zeros(X + 1, 128)
    losses = alignment_losses(X, y, frequencies)
    assert_allclose(losses, alignment_losses(X + 1, y, frequencies), atol=1e-12)
