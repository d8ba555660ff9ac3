"""Parts of compiled loops that read and write vectors of neighbouring numbers.

Loops in Python would load and store a sum for every term, because the compiler cannot know that it
does not overlap with the terms. Loops that are built from these parts keep sums in registers.
"""

from typing import Any

from llvmlite import ir

# The widest vectors of x86 processors. A chunk of frequencies is four of them.
VECTOR_BYTES, N_VECTORS = 64, 4


class VectorLoops:
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
