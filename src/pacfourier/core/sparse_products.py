"""Compiled products of rows that are mostly zeros with many frequencies at once.

A sum of a few terms is kept in registers for a whole chunk of frequencies. The frequencies of a
chunk lie next to each other in memory, so a chunk of all columns of the data fits near the core.
Tables with coded categories have a few values other than zero per row, and images many black
pixels: a dense product would multiply all those zeros.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError

from pacfourier.core.compiled import compiled, untyped_intrinsic

# The widest vectors of x86 processors. A chunk of frequencies is four of them.
VECTOR_BYTES, N_VECTORS = 64, 4


class _VectorLoops:
    """Builds the instructions of a loop over vectors, of which four are a chunk.

    Parameters
    ----------
    builder : IRBuilder
    itemsize : int
        4 for single precision and 8 for double precision.
    """

    def __init__(self, builder: Any, itemsize: int) -> None:
        self.builder = builder
        self.itemsize = itemsize
        self.n_lanes = VECTOR_BYTES // itemsize
        number = {4: ir.FloatType(), 8: ir.DoubleType()}[itemsize]
        self.kind = ir.VectorType(number, self.n_lanes)

    def new_total(self) -> Any:
        """Return a register for a sum of vectors, which starts at zero."""
        with self.builder.goto_entry_block():
            total = self.builder.alloca(self.kind)
        self.builder.store(ir.Constant(self.kind, None), total)
        return total

    def addresses(self, data: Any, place: Any) -> list[Any]:
        """Return pointers to the neighbouring vectors of a chunk that starts at a place."""
        steps = [place.type(k * self.n_lanes) for k in range(N_VECTORS)]
        found = [self.builder.gep(data, [self.builder.add(place, step)]) for step in steps]
        return [self.builder.bitcast(each, self.kind.as_pointer()) for each in found]

    def loaded(self, address: Any) -> Any:
        """Return the vector at an address, which need not be aligned."""
        return self.builder.load(address, align=self.itemsize)

    def store_totals(self, totals: list[Any], data: Any, place: Any) -> None:
        """Store the sums of a chunk, of which the first goes to a place."""
        for total, address in zip(totals, self.addresses(data, place), strict=True):
            self.builder.store(self.builder.load(total), address, align=self.itemsize)

    def repeated(self, number: Any) -> Any:
        """Return a vector of equal numbers."""
        undefined = ir.Constant(ir.VectorType(number.type, self.n_lanes), ir.Undefined)
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), self.n_lanes), [0] * self.n_lanes)
        first = self.builder.insert_element(undefined, number, ir.IntType(32)(0))
        return self.builder.shuffle_vector(first, undefined, lanes)

    def add_product(self, total: Any, left: Any, right: Any) -> None:
        """Add the product of two vectors to a total in a register."""
        term = self.builder.fmul(left, right, flags=("contract",))
        added = self.builder.fadd(self.builder.load(total), term, flags=("contract",))
        self.builder.store(added, total)


@untyped_intrinsic
def _write_combination(_typing, row, terms, sums):
    """Write the sum of some numbers times rows of a chunk.

    The sum stays in registers until it is complete.

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

    def generate(context, builder, signature, values):
        parts = [part for value in values for part in cgutils.unpack_tuple(builder, value)]
        kinds = [kind for each in signature.args for kind in each]
        places, factors, chunks, output = (
            context.make_array(kinds[k])(context, builder, parts[k]).data for k in (0, 1, 4, 6)
        )
        first, last, start, position = (parts[k] for k in (2, 3, 5, 7))
        vectors = _VectorLoops(builder, itemsize)
        totals = [vectors.new_total() for _ in range(N_VECTORS)]
        with cgutils.for_range_slice(builder, first, last, first.type(1)) as (k, _):
            place = builder.load(builder.gep(places, [k]))
            place = context.cast(builder, place, kinds[0].dtype, types.intp)
            factor = vectors.repeated(builder.load(builder.gep(factors, [k])))
            term = builder.add(start, builder.mul(place, place.type(vectors.n_lanes * N_VECTORS)))
            for total, address in zip(totals, vectors.addresses(chunks, term), strict=True):
                vectors.add_product(total, factor, vectors.loaded(address))
        vectors.store_totals(totals, output, position)
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
        The frequencies, see ``products.frequency_chunks``.
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
                _write_combination(row, (chunks, start), (products, position))
            else:
                _write_combination(row, (chunks, start), (last_sum, 0))
                products[i, first:] = last_sum[:n_left]
