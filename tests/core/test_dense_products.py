"""Products in vectors of 512 bits are those of the formula, up to rounding, on any processor."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import config
from numba.core.errors import TypingError
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from pacfourier.core import dense_products, phases
from pacfourier.core.dense_products import (
    SLICE_TERMS,
    TILE_ROWS,
    has_wide_vectors,
    write_product,
)
from pacfourier.core.phases import (
    FEWEST_COLUMNS,
    MOST_COLUMNS,
    dense_product,
    dense_turns,
    is_blas_narrow,
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


@pytest.mark.parametrize("number", [0, 1, 2])
def test_matrices_in_another_order_are_refused(number):
    matrices = [np.zeros((TILE_ROWS, 9)), np.zeros((9, 32)), np.zeros((TILE_ROWS, 32))]
    matrices[number] = np.asfortranarray(matrices[number])
    with pytest.raises(TypingError, match="C order"):
        write_product(*matrices)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_matrices_of_several_types_are_refused(number):
    matrices = [np.zeros((TILE_ROWS, 9)), np.zeros((9, 32)), np.zeros((TILE_ROWS, 32))]
    matrices[number] = matrices[number].astype(np.float32)
    with pytest.raises(TypingError, match="of one type"):
        write_product(*matrices)


def test_other_types_and_products_that_nobody_may_write_are_refused():
    whole = np.zeros((TILE_ROWS, TILE_ROWS), dtype=int)
    with pytest.raises(TypingError, match="single or double precision"):
        write_product(whole, whole, whole)
    products = np.zeros((TILE_ROWS, TILE_ROWS))
    products.flags.writeable = False
    with pytest.raises(TypingError, match="products to write to"):
        write_product(products, products, products)


GUARDED = """
import ctypes, mmap
import numpy as np
from pacfourier.core.dense_products import write_product

def guarded(shape, dtype):
    # An array that ends where a page begins that nobody may touch.
    n_bytes, page = int(np.prod(shape)) * np.dtype(dtype).itemsize, mmap.PAGESIZE
    n_pages = -(-n_bytes // page)
    memory = mmap.mmap(-1, (n_pages + 1) * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    assert protect(ctypes.c_void_p(start + n_pages * page), ctypes.c_size_t(page), 0) == 0
    offset = n_pages * page - n_bytes
    return np.frombuffer(memory, dtype, int(np.prod(shape)), offset).reshape(shape)

for dtype in (np.float32, np.float64):
    for n, k, m in ((6, 3, 1), (7, 5, 15), (13, 2, 17), (9, 300, 70)):
        matrices = [guarded(shape, dtype) for shape in ((n, k), (k, m), (n, m))]
        rng = np.random.default_rng(0)
        for each in matrices[:2]:
            each[:] = rng.standard_normal(each.shape)
        write_product(*matrices)
        assert np.allclose(matrices[2], matrices[0] @ matrices[1], atol=1e-4)
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Pages are protected with calls of Linux.")
def test_no_byte_behind_a_matrix_is_touched():
    """Such a byte may belong to nobody, and reading it would end the process."""
    found = subprocess.run([sys.executable, "-c", GUARDED], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (0, "done\n"), found.stderr


@pytest.fixture
def forget_processor():
    """Let the next call look at the processor again, and the next test, too."""
    has_wide_vectors.cache_clear()
    is_blas_narrow.cache_clear()
    yield
    has_wide_vectors.cache_clear()
    is_blas_narrow.cache_clear()


@pytest.mark.usefixtures("forget_processor")
@pytest.mark.parametrize(("features", "has_them"), [("+avx2,+avx512f", True), ("-avx512f", False)])
def test_wide_vectors_are_a_feature_of_the_processor(monkeypatch, features, has_them):
    monkeypatch.setattr(config, "CPU_FEATURES", None)
    monkeypatch.setattr(dense_products, "get_host_cpu_features", lambda: features)
    assert has_wide_vectors() is has_them


@pytest.mark.usefixtures("forget_processor")
@pytest.mark.parametrize(("features", "has_them"), [("+avx2,+avx512f", True), ("-avx512f", False)])
def test_wide_vectors_may_be_turned_off(monkeypatch, features, has_them):
    monkeypatch.setattr(config, "CPU_FEATURES", features)
    assert has_wide_vectors() is has_them


@pytest.mark.usefixtures("forget_processor")
@pytest.mark.parametrize(
    ("names", "has_them", "is_narrow"),
    [
        (["Haswell"], True, True),
        (["Zen", "Haswell"], True, True),
        (["Haswell"], False, False),
        (["SkylakeX"], True, False),
        (["Haswell", "Cooperlake"], True, False),
        ([None], True, False),
        ([], True, False),
    ],
)
def test_only_loops_for_older_processors_are_narrow(monkeypatch, names, has_them, is_narrow):
    """BLAS libraries that do not name their loops, such as Intel's, may use wide vectors."""
    libraries = [SimpleNamespace(architecture=name) if name else object() for name in names]
    controller = SimpleNamespace(lib_controllers=libraries)
    monkeypatch.setattr(phases, "_controller", lambda: controller)
    monkeypatch.setattr(dense_products, "has_wide_vectors", lambda: has_them)
    assert is_blas_narrow() is is_narrow


@pytest.fixture
def written(monkeypatch):
    """Record the shapes that our own loop writes, as if BLAS were narrow."""
    shapes = []

    def write(left, right, products):
        shapes.append((len(left), right.shape[1]))
        write_product(left, right, products)

    monkeypatch.setattr(dense_products, "write_product", write)
    monkeypatch.setattr(phases, "is_blas_narrow", lambda: True)
    return shapes


def test_few_rows_and_few_or_very_many_columns_are_left_to_blas(written, rng):
    for n_rows, n_columns in (
        (TILE_ROWS, FEWEST_COLUMNS),
        (TILE_ROWS - 1, 100),
        (100, FEWEST_COLUMNS - 1),
        (100, MOST_COLUMNS + 1),
    ):
        left, right = rng.standard_normal((n_rows, 8)), rng.standard_normal((8, n_columns))
        assert_allclose(dense_product(left, right), left @ right, atol=1e-13)
    assert written == [(TILE_ROWS, FEWEST_COLUMNS)]


def test_all_is_left_to_blas_where_it_is_not_narrow(written, monkeypatch, rng):
    monkeypatch.setattr(phases, "is_blas_narrow", lambda: False)
    left, right = rng.standard_normal((50, 8)), rng.standard_normal((8, 50))
    assert_array_equal(dense_product(left, right), np.dot(left, right))
    assert not written


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize("shape", [(8, 8, 5), (8, 7, 6), (5, 8, 6), (8, 8, 7)])
def test_shapes_that_do_not_match_are_refused(shape):
    n, m, k = shape
    with pytest.raises(ValueError, match="matching shapes"):
        dense_product(np.zeros((8, 6)), np.zeros((k, 8)), np.zeros((n, m)))


@pytest.mark.usefixtures("written")
def test_types_that_do_not_match_are_refused():
    single = np.zeros((8, 8), dtype=np.float32)
    with pytest.raises(ValueError, match="of one type"):
        dense_product(single, single.astype(np.float64))


@pytest.mark.parametrize("is_narrow", [True, False])
def test_products_go_where_they_are_wanted_from_matrices_in_any_order(is_narrow, monkeypatch, rng):
    monkeypatch.setattr(phases, "is_blas_narrow", lambda: is_narrow)
    left, right = rng.standard_normal((9, 50)).T, rng.standard_normal((70, 9)).T
    products = np.empty((50, 70))
    assert dense_product(left, right, products) is products
    assert_allclose(products, left @ right, atol=1e-13)
    assert_allclose(dense_product(left[::-2], right[:, 5:]), left[::-2] @ right[:, 5:], atol=1e-13)


@pytest.mark.parametrize("n_features", [3, 11])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_transposed_products_have_the_precision_of_the_left_matrix(container, n_features, rng):
    left, block = rng.standard_normal((30, 8)), rng.standard_normal((30, n_features))
    found = transposed_product(left.astype(np.float32), container(block))
    assert found.dtype == np.float32
    assert_allclose(found, left.T @ block, rtol=1e-4, atol=1e-5)


def test_the_narrower_matrix_is_transposed(written, rng):
    for width in (7, 70):
        transposed_product(rng.standard_normal((100, 20)), rng.standard_normal((100, width)))
    assert written == [(7, 20), (20, 70)]


@pytest.mark.parametrize("is_narrow", [True, False])
def test_blocks_of_phases_are_the_same_whoever_multiplies(is_narrow, monkeypatch, rng):
    monkeypatch.setattr(phases, "is_blas_narrow", lambda: is_narrow)
    X, frequencies = rng.standard_normal((2500, 30)), rng.standard_normal((100, 30))
    found = [(rows, turns.copy()) for rows, turns in dense_turns(X[::-1], frequencies, np.float64)]
    assert [rows.start for rows, _ in found] == [0, 1024, 2048]
    turns = np.concatenate([turns for _, turns in found])
    assert_allclose(turns, X[::-1] @ frequencies.T / (2 * np.pi), atol=1e-13)
