"""Compiled products of dense rows with many frequencies at once, in vectors of 512 bits.

BLAS may use only half of such vectors: OpenBLAS 0.3.31 does on some processors of AMD, and then
takes twice as long. It also copies the frequencies for each block of rows. Here they are copied
once, into chunks.
"""

from functools import cache

from llvmlite import binding
from numba import config, types
from numba.core import cgutils
from numba.core.errors import TypingError

from pacfourier.core.compiled import compiled, untyped_intrinsic
from pacfourier.core.vectors import N_VECTORS, VectorLoops

# Six rows of four vectors, the four vectors of a chunk and one number of a row are in 29 of 32
# registers.
TILE_ROWS = 6
# Columns are added in slices of at most this many. Rounding errors are then as small as those of
# BLAS: with 784 columns in single precision, they would be 1.7 times as large without slices.
SLICE_COLUMNS = 256


@cache
def has_wide_vectors() -> bool:
    """Return whether compiled loops may use 32 registers of 512 bits."""
    # NUMBA_CPU_FEATURES, if it is set.
    chosen: str | None = getattr(config, "CPU_FEATURES", None)
    if chosen is not None:
        return "+avx512f" in chosen.split(",")
    return bool(binding.get_host_cpu_features().get("avx512f", False))


@untyped_intrinsic(prefer_literal=True)
def add_products(_typing, factors, terms, sums, n_vectors):
    """Add the products of rows with a chunk to some columns of a matrix.

    The products of six rows stay in registers until all of their terms are added.

    Parameters
    ----------
    factors : tuple (rows, first, last)
        The rows, of which the number is a multiple of six, and the first and last column in use.
    terms : tuple (chunks, chunk)
        Chunks of shape (n_chunks, n_features, chunk size), and the number of one.
    sums : tuple (matrix, start, n_columns, n_before)
        The columns of the matrix, and how many of them have sums already: all or none.
    n_vectors : literal int
        How many of the four vectors of the chunk are used.
    """
    arrays = (factors[0], terms[0], sums[0])
    if not all(each.layout == "C" for each in arrays):
        raise TypingError("add_products needs arrays in C order.")
    itemsize, n_used = sums[0].dtype.bitwidth // 8, n_vectors.literal_value

    def generate(context, builder, _signature, values):
        parts = [cgutils.unpack_tuple(builder, value) for value in values[:3]]
        samples, chunks, matrix = (
            context.make_array(kind)(context, builder, part[0])
            for kind, part in zip(arrays, parts, strict=True)
        )
        (_, first, last), (_, chunk), (_, start, n_columns, n_before) = parts
        n_rows, n_features = cgutils.unpack_tuple(builder, samples.shape)
        n_sums = builder.extract_value(matrix.shape, 1)
        vectors = VectorLoops(builder, itemsize)
        whole, zero, one = (start.type(k) for k in (N_VECTORS * vectors.n_lanes, 0, 1))
        origin = builder.mul(builder.mul(chunk, n_features), whole)
        is_whole = builder.icmp_signed("==", builder.sub(n_columns, n_before), whole)

        def add_tile(row):
            """Add the products of six rows."""
            rows = [builder.add(row, row.type(k)) for k in range(TILE_ROWS)]
            lines = [builder.gep(samples.data, [builder.mul(k, n_features)]) for k in rows]
            places = [builder.add(builder.mul(k, n_sums), start) for k in rows]
            totals = [[vectors.new_total() for _ in range(n_used)] for _ in rows]
            with cgutils.for_range_slice(builder, first, last, one) as (j, _):
                term = builder.add(origin, builder.mul(j, whole))
                loaded = [vectors.loaded(p) for p in vectors.addresses(chunks.data, term, n_used)]
                for line, row_totals in zip(lines, totals, strict=True):
                    factor = vectors.repeated(builder.load(builder.gep(line, [j])))
                    for total, vector in zip(row_totals, loaded, strict=True):
                        vectors.add_product(total, factor, vector)
            with builder.if_else(is_whole) as (then, otherwise):
                with then:
                    for place, row_totals in zip(places, totals, strict=True):
                        vectors.store_totals(row_totals, matrix.data, place)
                with otherwise:
                    for place, row_totals in zip(places, totals, strict=True):
                        vectors.add_totals(row_totals, matrix.data, place, n_before, n_columns)

        with cgutils.for_range_slice(builder, zero, n_rows, start.type(TILE_ROWS)) as (row, _):
            add_tile(row)
        return context.get_dummy_value()

    return types.void(factors, terms, sums, n_vectors), generate


@compiled(nogil=True)
def write_dense_products(rows, chunks, products):
    """Write the products of rows with frequencies.

    The terms of each product are added in the same order, whatever the rows and frequencies beside
    it.

    Parameters
    ----------
    rows : array of shape (n_rows, n_features)
        The number of rows is a multiple of ``TILE_ROWS``.
    chunks : array of shape (n_chunks, n_features, chunk size)
        The frequencies, see ``phases.filled_chunks``.
    products : array of shape (n_rows, n_frequencies)
    """
    n_chunks, n_features, size = chunks.shape
    n_slices, lanes = -(-n_features // SLICE_COLUMNS), size // N_VECTORS
    for chunk in range(n_chunks):
        start = chunk * size
        n_columns = min(size, products.shape[1] - start)
        for part in range(n_slices):
            first, last = part * n_features // n_slices, (part + 1) * n_features // n_slices
            factors, terms = (rows, first, last), (chunks, chunk)
            sums = (products, start, n_columns, min(first, 1) * n_columns)
            if n_columns > 3 * lanes:
                add_products(factors, terms, sums, 4)
            elif n_columns > 2 * lanes:
                add_products(factors, terms, sums, 3)
            elif n_columns > lanes:
                add_products(factors, terms, sums, 2)
            else:
                add_products(factors, terms, sums, 1)
