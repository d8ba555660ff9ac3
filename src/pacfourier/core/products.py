"""Products of rows and frequencies, one block of rows and one band of frequencies at a time.

Phases are such products, in turns. They stay near the core until waves are made of them.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacfourier.arrays import FloatArray, Samples

# Large enough for an efficient product, small enough for the block of phases to stay near the core.
# Not 1,024 frequencies: rows of phases 4,096 bytes apart would share cache sets.
ROW_BLOCK = 1024
FREQUENCY_BAND = 1008
# Rows are cut into so many parts where threads take rows.
_MOST_PARTS = 8
# A band of frequencies takes at most 8 MB, however wide the data are. Arrays of more than 32 MB
# would be returned to the system and fetched again for each band.
LARGEST_BAND = 2**21
# Frequencies that are stored column by column come in bands of one chunk of sparse products in
# single precision (see ``_chunk_size``), which then need no copy of them.
COLUMN_BAND = 64
# If at most this share of the numbers is not zero, only those are multiplied.
_LARGEST_DENSITY = 0.25
# With fewer frequencies, finding the zeros takes longer than multiplying them.
_FEWEST_SPARSE = 64
# How many rows are looked at to find out.
_LOOKED_AT = 128


def frequency_bands(n_frequencies: int, n_features: int) -> Iterator[slice]:
    """Yield slices that cut the pool into bands.

    The bands depend on the shape of the pool only, so that all machines compute the same sums.
    """
    size = max(16, min(FREQUENCY_BAND, LARGEST_BAND // n_features))
    return cut(n_frequencies, size)


def cut(length: int, size: int) -> Iterator[slice]:
    """Yield slices of a size, of which the last may be shorter."""
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))


def row_parts(n_samples: int) -> list[slice]:
    """Return slices that cut rows into at most eight parts of whole blocks.

    They do not depend on the number of threads, and neither does a sum that adds parts in order.
    """
    n_blocks = -(-n_samples // ROW_BLOCK)
    size = ROW_BLOCK * -(-n_blocks // _MOST_PARTS)
    return [slice(start, min(start + size, n_samples)) for start in range(0, n_samples, size)]


def turn_blocks(
    X: Samples, frequencies: FloatArray, dtype: type[np.floating[Any]]
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Return blocks of rows with their phases in turns, ``x . omega / 2 pi``.

    The array of phases is reused, so take what you need before the next block.
    """
    if _is_mostly_zeros(X, len(frequencies)):
        return _sparse_turns(X, frequencies, dtype)
    return _dense_turns(X, frequencies, dtype)


def _is_mostly_zeros(X: Samples, n_frequencies: int) -> bool:
    """Return whether to multiply only the numbers other than zero."""
    if sparse.issparse(X):
        return True
    if n_frequencies < _FEWEST_SPARSE:
        return False
    some = X[:: max(len(X) // _LOOKED_AT, 1)]
    return bool(np.count_nonzero(some) <= _LARGEST_DENSITY * some.size)


def _dense_turns(
    X: Any, frequencies: FloatArray, dtype: type[np.floating[Any]]
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield the same as ``turn_blocks``, as products with all numbers."""
    from pacfourier.core import loops

    columns = aligned_zeros(frequencies.shape[::-1], dtype)
    loops.write_chunks(frequencies, dtype(0.5 / np.pi), columns[np.newaxis])
    turns = np.empty((min(ROW_BLOCK, len(X)), len(frequencies)), dtype=dtype)
    for start in range(0, len(X), ROW_BLOCK):
        rows = slice(start, min(start + ROW_BLOCK, len(X)))
        block = X[rows].astype(dtype, copy=False)
        yield rows, np.dot(block, columns, out=turns[: len(block)])


def _sparse_turns(
    X: Samples, frequencies: FloatArray, dtype: type[np.floating[Any]]
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield the same as ``turn_blocks``, as products of the numbers other than zero."""
    from pacfourier.core import sparse_products

    n_samples, n_features = X.shape
    chunks = _frequency_chunks(frequencies, dtype)
    # The factor of the turns is in the values, of which there are fewer than of frequencies.
    unit = dtype(0.5 / np.pi)
    size = max(min(ROW_BLOCK, n_samples), 1)
    if not sparse.issparse(X):
        # What the rows of a block have other than zero takes at most 24 MB.
        size = min(size, max(LARGEST_BAND // n_features, 1))
        indptr = np.empty(size + 1, dtype=np.int32)
        places = np.empty(size * n_features + 1, dtype=np.int32)
        values = np.empty(len(places), dtype=dtype)
    turns = np.empty((size, len(frequencies)), dtype=dtype)
    for start in range(0, n_samples, size):
        rows = slice(start, min(start + size, n_samples))
        if sparse.issparse(X):
            first, last = X.indptr[start], X.indptr[rows.stop]
            indptr, places = X.indptr[start : rows.stop + 1] - first, X.indices[first:last]
            values = X.data[first:last].astype(dtype) * unit
        else:
            block = np.ascontiguousarray(X[rows])
            sparse_products.write_nonzeros(block, unit, indptr, places, values)
        products = turns[: rows.stop - start]
        sparse_products.write_sparse_products(indptr, places, values, chunks, products)
        yield rows, products


def _frequency_chunks(frequencies: FloatArray, dtype: type[np.floating[Any]]) -> NDArray[Any]:
    """Return frequencies in chunks of shape (n_chunks, n_features, chunk size).

    A chunk is a transposed matrix of a few frequencies. Zeros fill the last one. Frequencies that
    are stored column by column, and fill one chunk, are not copied.
    """
    from pacfourier.core import loops

    n_frequencies, n_features = frequencies.shape
    size = _chunk_size(dtype)
    if n_frequencies == size and frequencies.flags.f_contiguous and frequencies.dtype == dtype:
        return frequencies.T[np.newaxis]
    chunks = aligned_zeros((-(-n_frequencies // size), n_features, size), dtype)
    loops.write_chunks(frequencies, dtype(1), chunks)
    return chunks


def _chunk_size(dtype: Any) -> int:
    """Return how many frequencies are in a chunk: four vectors of 512 bits.

    >>> _chunk_size(np.float32), _chunk_size(np.float64)
    (64, 32)
    """
    from pacfourier.core.sparse_products import N_VECTORS, VECTOR_BYTES

    return N_VECTORS * VECTOR_BYTES // np.dtype(dtype).itemsize


def aligned_zeros(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return zeros that start at a multiple of 64 bytes: no load crosses two cache lines."""
    n_numbers, itemsize = math.prod(shape), np.dtype(dtype).itemsize
    memory = np.zeros(n_numbers + 64 // itemsize, dtype=dtype)
    first = -memory.ctypes.data % 64 // itemsize
    return memory[first : first + n_numbers].reshape(shape)


def transposed_product(left: NDArray[Any], block: Samples) -> NDArray[Any]:
    """Return ``left.T @ block`` for a dense or sparse block of rows, in the precision of left."""
    block = block.astype(left.dtype, copy=False)
    return np.asarray((block.T @ left).T if sparse.issparse(block) else np.dot(left.T, block))
