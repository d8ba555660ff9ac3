"""The product of two matrices in vectors of 512 bits.

BLAS may use only half of such vectors: OpenBLAS 0.3.31 does on some processors of AMD, and then
takes twice as long. ``phases.dense_product`` decides which of the two multiplies.
"""

from functools import cache

from numba import config, types
from numba.core import cgutils
from numba.core.codegen import get_host_cpu_features
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
    # A user may choose the features of the processor with NUMBA_CPU_FEATURES.
    chosen: str | None = getattr(config, "CPU_FEATURES", None)
    features = get_host_cpu_features() if chosen is None else chosen
    return "+avx512f" in features.split(",")


class TileLoops:
    """Builds the loops that add some terms to some neighbouring columns of a product of matrices.

    Parameters
    ----------
    builder : IRBuilder
    matrices : tuple (left, right, products)
        The matrices, in C order, as numba's structures.
    terms : tuple (first, end)
        The first term to add, and the one after the last. If the first is zero, what was there is
        replaced.
    start : Value
        The first of the columns.
    vectors : VectorLoops
    masks : list
        One for each vector of the columns.
    """

    def __init__(self, builder, matrices, terms, start, vectors, masks):
        self.builder = builder
        self.left, self.right, self.products = matrices
        self.n_rows, self.n_terms = cgutils.unpack_tuple(builder, self.left.shape)
        self.width = builder.extract_value(self.right.shape, 1)
        self.first, self.end = terms
        self.start, self.vectors, self.masks = start, vectors, masks

    def place(self, row):
        """Return where the columns start in a row on the right, or of the products."""
        return self.builder.add(self.builder.mul(row, self.width), self.start)

    def add_all(self):
        """Add the terms to all rows. The last tile may have some rows of the one before it."""
        builder, zero, size = self.builder, self.start.type(0), self.start.type(TILE_ROWS)
        with cgutils.for_range_slice(builder, zero, self.n_rows, size) as (row, _):
            is_inside = builder.icmp_signed("<=", builder.add(row, size), self.n_rows)
            last = builder.sub(self.n_rows, size)
            self.add_tile(builder.select(is_inside, row, last), row)

    def add_tile(self, start, first_new):
        """Add the terms to those of six rows that the tile before it does not have."""
        builder, vectors = self.builder, self.vectors
        rows = [builder.add(start, start.type(k)) for k in range(TILE_ROWS)]
        totals = self.tile_sums(rows)
        with builder.if_then(builder.icmp_signed(">", self.first, self.first.type(0))):
            for row, sums in zip(rows, totals, strict=True):
                before = vectors.loaded_lanes(self.products.data, self.place(row), self.masks)
                for total, vector in zip(sums, before, strict=True):
                    vectors.add(total, vector)
        for row, sums in zip(rows, totals, strict=True):
            is_new = builder.icmp_signed(">=", row, first_new)
            masks = vectors.restricted(self.masks, is_new)
            vectors.store_lanes(sums, self.products.data, self.place(row), masks)

    def tile_sums(self, rows):
        """Return the sums of the terms for six rows. They stay in registers."""
        builder, vectors = self.builder, self.vectors
        lines = [builder.gep(self.left.data, [builder.mul(k, self.n_terms)]) for k in rows]
        totals = [[vectors.new_total() for _ in self.masks] for _ in rows]
        one = self.start.type(1)
        with cgutils.for_range_slice(builder, self.first, self.end, one) as (k, _):
            terms = vectors.loaded_lanes(self.right.data, self.place(k), self.masks)
            for line, sums in zip(lines, totals, strict=True):
                factor = vectors.repeated(builder.load(builder.gep(line, [k])))
                for total, term in zip(sums, terms, strict=True):
                    vectors.add_product(total, factor, term)
        return totals


@untyped_intrinsic(prefer_literal=True)
def add_columns(_typing, matrices, terms, columns, n_vectors):
    """Add some terms to some neighbouring columns of a product of matrices, see ``TileLoops``.

    Parameters
    ----------
    matrices : tuple (left, right, products)
    terms : tuple (first, end)
    columns : tuple (start, n_columns)
    n_vectors : literal int
        How many vectors the columns need, at most four.
    """
    kind = matrices[2].dtype
    if not all(each.layout == "C" and each.dtype == kind for each in matrices):
        raise TypingError("add_columns needs matrices of one type, in C order.")
    if kind not in (types.float32, types.float64) or not matrices[2].mutable:
        raise TypingError("add_columns needs single or double precision, and products to write to.")
    itemsize = kind.bitwidth // 8

    def generate(context, builder, _signature, values):
        arrays, ends, (start, n_columns) = (
            cgutils.unpack_tuple(builder, value) for value in values[:3]
        )
        parts = zip(matrices, arrays, strict=True)
        structures = [context.make_array(kind)(context, builder, value) for kind, value in parts]
        vectors = VectorLoops(builder, itemsize)
        masks = vectors.masks(n_columns, n_vectors.literal_value)
        TileLoops(builder, structures, ends, start, vectors, masks).add_all()
        return context.get_dummy_value()

    return types.void(matrices, terms, columns, n_vectors), generate


@compiled(nogil=True)
def write_product(left, right, products):
    """Write the product of two matrices in C order, of which the left one has at least six rows.

    The terms of each number are added in the same order, whatever the rows and columns beside it.
    """
    lanes = VECTOR_BYTES // products.itemsize
    n_terms, n_columns = right.shape
    matrices = (left, right, products)
    for start in range(0, n_columns, N_VECTORS * lanes):
        n_left = n_columns - start
        # Without any term, the products are zero.
        for first in range(0, max(n_terms, 1), SLICE_TERMS):
            terms = (first, min(first + SLICE_TERMS, n_terms))
            if n_left > 3 * lanes:
                add_columns(matrices, terms, (start, n_left), 4)
            elif n_left > 2 * lanes:
                add_columns(matrices, terms, (start, n_left), 3)
            elif n_left > lanes:
                add_columns(matrices, terms, (start, n_left), 2)
            else:
                add_columns(matrices, terms, (start, n_left), 1)
