"""Compiled products of rows that are mostly zeros with many frequencies at once.

A sum of a few terms is kept in registers for a whole chunk of frequencies. The frequencies of a
chunk lie next to each other in memory, so a chunk of all columns of the data fits near the core.
Tables with coded categories have a few values other than zero per row, and images many black
pixels: BLAS would multiply all those zeros.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError

from pacfourier.core.compiled import compiled, untyped_intrinsic

# A chunk has 256 bytes: 64 numbers in single precision, or 32 in double precision. These are four
# of the widest registers of x86 processors, or 16 of the narrowest.
CHUNK_BYTES = 256
N_VECTORS = 4


def chunk_size(dtype: Any) -> int:
    """Return how many frequencies are in a chunk.

    >>> chunk_size(np.float32), chunk_size(np.float64)
    (64, 32)
    """
    return CHUNK_BYTES // np.dtype(dtype).itemsize


def empty_chunks(n_features: int, n_frequencies: int, dtype: Any) -> np.ndarray[Any, Any]:
    """Return an array of shape (n_chunks, n_features, chunk size), filled with zeros."""
    size = chunk_size(dtype)
    return aligned_zeros((-(-n_frequencies // size), n_features, size), dtype)


def aligned_zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """Return zeros that start at a multiple of 64 bytes.

    Loads that cross two cache lines take twice as long.
    """
    n_numbers, itemsize = math.prod(shape), np.dtype(dtype).itemsize
    memory = np.zeros(n_numbers + 64 // itemsize, dtype=dtype)
    first = -memory.ctypes.data % 64 // itemsize
    return memory[first : first + n_numbers].reshape(shape)


@untyped_intrinsic
def write_combination(_typing, row, terms, sums):
    """Write the sum of some numbers times rows of a chunk.

    Loops in Python would load and store the sum for every term, because the compiler cannot know
    that it does not overlap with the terms.

    Parameters
    ----------
    row : tuple (places, factors, first, last)
        Row ``places[k]`` of the chunk is multiplied by ``factors[k]``, for k from first to last.
    terms : tuple (chunks, start)
        The number of ``chunks``, in C order, with which the chunk starts.
    sums : tuple (array, start)
        The number of the array, in C order, from which on the sum is written.
    """
    arrays = (row[0], row[1], terms[0], sums[0])
    if not all(each.layout == "C" for each in arrays):
        raise TypingError("write_combination needs arrays in C order.")
    itemsize = row[1].dtype.bitwidth // 8
    number = {4: ir.FloatType(), 8: ir.DoubleType()}[itemsize]
    n_lanes = chunk_size(f"f{itemsize}") // N_VECTORS
    vector = ir.VectorType(number, n_lanes)

    def vectors_at(builder, data, place):
        """Return pointers to the vectors of a chunk of numbers."""
        offsets = [builder.add(place, place.type(k * n_lanes)) for k in range(N_VECTORS)]
        return [builder.bitcast(builder.gep(data, [o]), vector.as_pointer()) for o in offsets]

    def repeated(builder, value):
        """Return a vector of equal numbers."""
        undefined = ir.Constant(vector, ir.Undefined)
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), n_lanes), [0] * n_lanes)
        first = builder.insert_element(undefined, value, ir.IntType(32)(0))
        return builder.shuffle_vector(first, undefined, lanes)

    def generate(context, builder, signature, values):
        parts = [part for value in values for part in cgutils.unpack_tuple(builder, value)]
        kinds = [kind for each in signature.args for kind in each]
        places, factors, chunks, output = (
            context.make_array(kinds[k])(context, builder, parts[k]).data for k in (0, 1, 4, 6)
        )
        first, last, start, position = (parts[k] for k in (2, 3, 5, 7))
        zero = ir.Constant(vector, None)
        totals = [cgutils.alloca_once_value(builder, zero) for _ in range(N_VECTORS)]
        with cgutils.for_range_slice(builder, first, last, first.type(1)) as (k, _):
            place = builder.load(builder.gep(places, [k]))
            place = context.cast(builder, place, kinds[0].dtype, types.intp)
            factor = repeated(builder, builder.load(builder.gep(factors, [k])))
            term = builder.add(start, builder.mul(place, place.type(n_lanes * N_VECTORS)))
            for total, address in zip(totals, vectors_at(builder, chunks, term), strict=True):
                loaded = builder.load(address, align=itemsize)
                product = builder.fmul(factor, loaded, flags=("fast",))
                builder.store(builder.fadd(builder.load(total), product, flags=("fast",)), total)
        for total, address in zip(totals, vectors_at(builder, output, position), strict=True):
            builder.store(builder.load(total), address, align=itemsize)
        return context.get_dummy_value()

    return types.void(row, terms, sums), generate


@compiled(nogil=True)
def write_nonzeros(rows, unit, indptr, places, factors):
    """Write the numbers of some rows other than zero, times a unit, in CSR format.

    They are rounded to the type of ``factors`` before they are multiplied. ``places`` and
    ``factors`` need room for one number more than the rows have.
    """
    n_values = 0
    for i in range(rows.shape[0]):
        indptr[i] = n_values
        # No branch: processors would often guess wrongly which way it goes.
        for j in range(rows.shape[1]):
            value = rows[i, j]
            places[n_values], factors[n_values] = j, factors.dtype.type(value) * unit
            n_values += value != 0
    indptr[rows.shape[0]] = n_values


@compiled(nogil=True, fastmath=True)
def write_sparse_products(indptr, places, factors, chunks, products):
    """Write the products of rows in CSR format with frequencies.

    Parameters
    ----------
    indptr, places, factors : arrays
        The rows in CSR format.
    chunks : array of shape (n_chunks, n_features, chunk size)
        The frequencies, see ``empty_chunks``.
    products : array of shape (n_rows, n_frequencies)
    """
    n_chunks, n_features, size = chunks.shape
    n_rows, n_frequencies = products.shape
    last_sum = np.empty(size, products.dtype)
    for chunk in range(n_chunks):
        start, first = chunk * n_features * size, chunk * size
        n_left = n_frequencies - first
        for i in range(n_rows):
            row = (places, factors, np.intp(indptr[i]), np.intp(indptr[i + 1]))
            if n_left >= size:
                position = i * n_frequencies + first
                write_combination(row, (chunks, start), (products, position))
            else:
                write_combination(row, (chunks, start), (last_sum, 0))
                products[i, first:] = last_sum[:n_left]
