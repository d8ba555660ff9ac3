"""The product of two matrices in vectors of 512 bits.

BLAS may use only half of such vectors: OpenBLAS 0.3.31 does on some processors of AMD, and then
takes twice as long.
"""

from functools import cache
from itertools import chain

from llvmlite import binding
from numba import config, types
from numba.core import cgutils
from numba.core.errors import TypingError

from pacfourier.core.compiled import compiled, untyped_intrinsic
from pacfourier.core.vectors import N_VECTORS, VECTOR_BYTES, VectorLoops

# Six rows of four vectors, the four vectors of a row on the right and one number of a row on the
# left are in 29 of 32 registers.
TILE_ROWS = 6
# Terms are added in slices of at most this many. Rounding errors are then as small as those of
# BLAS: with 784 terms in single precision, they would be 1.7 times as large without slices.
SLICE_TERMS = 256


@cache
def has_wide_vectors() -> bool:
    """Return whether compiled loops may use 32 registers of 512 bits."""
    # NUMBA_CPU_FEATURES, if it is set.
    chosen: str | None = getattr(config, "CPU_FEATURES", None)
    if chosen is not None:
        return "+avx512f" in chosen.split(",")
    return bool(binding.get_host_cpu_features().get("avx512f", False))


class TileLoops:
    """Builds the loops that write some neighbouring columns of a product of matrices.

    Parameters
    ----------
    builder : IRBuilder
    matrices : tuple (left, right, products)
        The matrices, in C order, as numba's structures.
    start : Value
        The first of the columns.
    vectors : VectorLoops
    masks : list
        One for each vector of the columns.
    """

    def __init__(self, builder, matrices, start, vectors, masks):
        self.builder = builder
        self.left, self.right, self.products = matrices
        self.n_rows, self.n_terms = cgutils.unpack_tuple(builder, self.left.shape)
        self.width = builder.extract_value(self.right.shape, 1)
        self.start, self.vectors, self.masks = start, vectors, masks

    def steps(self, first, end, size):
        """Loop from the first number to the end in steps of a size."""
        return cgutils.for_range_slice(self.builder, first, end, first.type(size))

    def new_totals(self):
        """Return registers for the sums of a tile."""
        return [[self.vectors.new_total() for _ in self.masks] for _ in range(TILE_ROWS)]

    def place(self, row):
        """Return where the columns start in a row on the right, or of the products."""
        return self.builder.add(self.builder.mul(row, self.width), self.start)

    def write_all(self):
        """Write all rows. The last tile may write some again, with the same bits."""
        zero, size = self.n_rows.type(0), self.n_rows.type(TILE_ROWS)
        with self.steps(zero, self.n_rows, TILE_ROWS) as (row, _):
            is_inside = self.builder.icmp_signed("<=", self.builder.add(row, size), self.n_rows)
            last = self.builder.sub(self.n_rows, size)
            self.write_tile(self.builder.select(is_inside, row, last))

    def write_tile(self, row):
        """Write the products of six rows."""
        builder = self.builder
        rows = [builder.add(row, row.type(k)) for k in range(TILE_ROWS)]
        lines = [builder.gep(self.left.data, [builder.mul(k, self.n_terms)]) for k in rows]
        totals = self.new_totals()
        with self.steps(row.type(0), self.n_terms, SLICE_TERMS) as (first, _):
            end = builder.add(first, row.type(SLICE_TERMS))
            is_last = builder.icmp_signed(">", end, self.n_terms)
            self.add_slice(lines, first, builder.select(is_last, self.n_terms, end), totals)
        for k, sums in zip(rows, totals, strict=True):
            self.vectors.store_lanes(sums, self.products.data, self.place(k), self.masks)

    def add_slice(self, lines, first, end, totals):
        """Add some terms to the sums of six rows. Their own sums stay in registers."""
        vectors, added = self.vectors, self.new_totals()
        with self.steps(first, end, 1) as (k, _):
            terms = vectors.loaded_lanes(self.right.data, self.place(k), self.masks)
            for line, sums in zip(lines, added, strict=True):
                factor = vectors.repeated(self.builder.load(self.builder.gep(line, [k])))
                for total, term in zip(sums, terms, strict=True):
                    vectors.add_product(total, factor, term)
        for total, part in zip(chain(*totals), chain(*added), strict=True):
            vectors.add(total, self.builder.load(part))


@untyped_intrinsic(prefer_literal=True)
def write_columns(_typing, matrices, columns, n_vectors):
    """Write some neighbouring columns of a product of matrices, see ``TileLoops``.

    Parameters
    ----------
    matrices : tuple (left, right, products)
    columns : tuple (start, n_columns)
    n_vectors : literal int
        How many vectors the columns need, at most four.
    """
    if not all(each.layout == "C" for each in matrices):
        raise TypingError("write_columns needs arrays in C order.")
    itemsize = matrices[2].dtype.bitwidth // 8

    def generate(context, builder, _signature, values):
        parts = zip(matrices, cgutils.unpack_tuple(builder, values[0]), strict=True)
        structures = [context.make_array(kind)(context, builder, value) for kind, value in parts]
        vectors = VectorLoops(builder, itemsize)
        start, n_columns = cgutils.unpack_tuple(builder, values[1])
        masks = vectors.masks(n_columns, n_vectors.literal_value)
        TileLoops(builder, structures, start, vectors, masks).write_all()
        return context.get_dummy_value()

    return types.void(matrices, columns, n_vectors), generate


@compiled(nogil=True)
def write_product(left, right, products):
    """Write the product of two matrices in C order, of which the left one has at least six rows.

    The terms of each number are added in the same order, whatever the rows and columns beside it.
    """
    lanes = VECTOR_BYTES // products.itemsize
    n_columns = products.shape[1]
    for start in range(0, n_columns, N_VECTORS * lanes):
        n_left = n_columns - start
        matrices = (left, right, products)
        if n_left > 3 * lanes:
            write_columns(matrices, (start, n_left), 4)
        elif n_left > 2 * lanes:
            write_columns(matrices, (start, n_left), 3)
        elif n_left > lanes:
            write_columns(matrices, (start, n_left), 2)
        else:
            write_columns(matrices, (start, n_left), 1)
