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
        self.align = ir.Constant(ir.IntType(32), itemsize)

    def new_total(self) -> Any:
        """Return a register for a sum of vectors, which starts at zero."""
        with self.builder.goto_entry_block():
            total = self.builder.alloca(self.kind)
        self.builder.store(ir.Constant(self.kind, None), total)
        return total

    def addresses(self, data: Any, place: Any, n_vectors: int = N_VECTORS) -> list[Any]:
        """Return pointers to neighbouring vectors, of which the first starts at a place."""
        steps = [place.type(k * self.n_lanes) for k in range(n_vectors)]
        found = [self.builder.gep(data, [self.builder.add(place, step)]) for step in steps]
        return [self.builder.bitcast(each, self.kind.as_pointer()) for each in found]

    def loaded(self, address: Any) -> Any:
        """Return the vector at an address, which need not be aligned."""
        return self.builder.load(address, align=self.itemsize)

    def store_totals(self, totals: list[Any], data: Any, place: Any) -> None:
        """Store neighbouring sums, of which the first goes to a place."""
        for total, address in zip(totals, self.addresses(data, place, len(totals)), strict=True):
            self.builder.store(self.builder.load(total), address, align=self.itemsize)

    def masks(self, n_numbers: Any, n_vectors: int) -> list[Any]:
        """Return masks of the lanes of neighbouring vectors that hold the first few numbers."""
        whole = ir.VectorType(n_numbers.type, self.n_lanes)
        limit = self.repeated(n_numbers)
        starts = range(0, n_vectors * self.n_lanes, self.n_lanes)
        lanes = [ir.Constant(whole, list(range(k, k + self.n_lanes))) for k in starts]
        return [self.builder.icmp_signed("<", each, limit) for each in lanes]

    def restricted(self, masks: list[Any], condition: Any) -> list[Any]:
        """Return the masks if a condition holds, and otherwise masks that let nothing through."""
        lanes = self.repeated(condition)
        return [self.builder.and_(mask, lanes) for mask in masks]

    def loaded_lanes(self, data: Any, place: Any, masks: list[Any]) -> list[Any]:
        """Return the lanes of neighbouring vectors that masks let through, and zeros elsewhere."""
        zeros, found = ir.Constant(self.kind, None), []
        for address, mask in zip(self.addresses(data, place, len(masks)), masks, strict=True):
            kinds = [address.type, self.align.type, mask.type, self.kind]
            load = self.masked("load", self.kind, kinds)
            found.append(self.builder.call(load, [address, self.align, mask, zeros]))
        return found

    def store_lanes(self, totals: list[Any], data: Any, place: Any, masks: list[Any]) -> None:
        """Store the lanes of neighbouring sums that masks let through."""
        addresses = self.addresses(data, place, len(masks))
        for total, address, mask in zip(totals, addresses, masks, strict=True):
            kinds = [self.kind, address.type, self.align.type, mask.type]
            store = self.masked("store", ir.VoidType(), kinds)
            self.builder.call(store, [self.builder.load(total), address, self.align, mask])

    def masked(self, verb: str, found: Any, kinds: list[Any]) -> Any:
        """Return a function of LLVM that loads or stores some lanes."""
        lanes = f"v{self.n_lanes}f{8 * self.itemsize}"
        name = f"llvm.masked.{verb}.{lanes}.p0{lanes}"
        declared = self.builder.module.globals.get(name)
        kind = ir.FunctionType(found, kinds)
        return declared or ir.Function(self.builder.module, kind, name)

    def repeated(self, number: Any) -> Any:
        """Return a vector of equal numbers."""
        undefined = ir.Constant(ir.VectorType(number.type, self.n_lanes), ir.Undefined)
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), self.n_lanes), [0] * self.n_lanes)
        first = self.builder.insert_element(undefined, number, ir.IntType(32)(0))
        return self.builder.shuffle_vector(first, undefined, lanes)

    def add_product(self, total: Any, left: Any, right: Any) -> None:
        """Add the product of two vectors to a total in a register."""
        self.add(total, self.builder.fmul(left, right, flags=("contract",)))

    def add(self, total: Any, vector: Any) -> None:
        """Add a vector to a total in a register."""
        added = self.builder.fadd(self.builder.load(total), vector, flags=("contract",))
        self.builder.store(added, total)
