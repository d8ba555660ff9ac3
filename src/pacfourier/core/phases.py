"""Phases of samples against frequencies: blocks of rows, bands of frequencies, threads.

A phase is a product of a sample and a frequency. The products are computed for one block of rows
and one band of frequencies at a time, in single or double precision as their size requires.
Each thread works on one band or block at a time, and BLAS uses a single thread inside it.
"""

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from threading import RLock, get_ident
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import ThreadpoolController

from pacfourier.arrays import FloatArray, IntArray, Samples, by_kind
from pacfourier.core.forks import hold_while_forking

Task = TypeVar("Task")
Precision = Literal["single", "double"]
PRECISIONS = ("single", "double")

# Measured at d = 108 to 1,554: large enough for an efficient product, small enough for the
# block of phases to stay near the core. Not 1,024 frequencies: rows of phases 4,096 bytes apart
# would share cache sets, which costs a fifth of the speed.
ROW_BLOCK = 1024
FREQUENCY_BAND = 1008
# Rows are cut into so many parts where threads take rows.
MOST_PARTS = 8
# A band of frequencies takes at most 8 MB, however wide the data are. Arrays of more than 32 MB
# would be returned to the system and fetched again for each band, which takes longer than filling
# them.
LARGEST_BAND = 2**21
# Frequencies that are stored column by column come in bands of one chunk of sparse products in
# single precision (see ``chunk_size``), which then need no copy of them.
COLUMN_BAND = 64
# Rows of X that structured transforms take together. One pair of a row and a frequency took 1.1 ns
# with 64 rows, 1.9 ns with 32 and 2.7 ns with 16.
ROWS_SIDE_BY_SIDE = 64
# If at most this share of the numbers is not zero, only those are multiplied. At this share, this
# takes 0.5 to 0.8 times as long as multiplying all numbers in vectors of 512 bits.
LARGEST_DENSITY = 0.25
# With fewer frequencies, finding the zeros takes longer than multiplying them.
FEWEST_SPARSE = 64
# How many rows are looked at to find out.
LOOKED_AT = 128
# Rounding a phase of this size to single precision moves it by 1e-4 at most.
LARGEST_SINGLE_PHASE = 1e-4 * 2.0**24


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
    size = ROW_BLOCK * -(-n_blocks // MOST_PARTS)
    return [slice(start, min(start + size, n_samples)) for start in range(0, n_samples, size)]


def precision_of(X: Samples) -> Precision:
    """Return the precision of the samples."""
    # The name is "float32" in NumPy and "torch.float32" in torch.
    return "single" if str(X.dtype).endswith("float32") else "double"


@by_kind
def largest_magnitudes(X: Samples) -> FloatArray:
    """Return the largest absolute value of each feature, of shape (n_features,)."""
    if sparse.issparse(X):
        largest = np.zeros(X.shape[1])
        np.maximum.at(largest, X.indices, np.abs(X.data))
        return largest
    from pacfourier.core import loops

    largest = np.zeros(X.shape[1], dtype=X.dtype)
    loops.raise_to_magnitudes(X, largest)
    return largest.astype(np.float64)


def phase_sizes(frequencies: FloatArray, magnitudes: FloatArray) -> FloatArray:
    """Return the size of the phases of each frequency, from which rounding is estimated.

    The size is the root of the sum over features of (frequency * largest magnitude)^2.
    """
    from pacfourier.core import loops

    if frequencies.flags.f_contiguous:
        squares = np.zeros(len(frequencies))
        loops.add_column_squares(frequencies.T, magnitudes, squares)
        return np.sqrt(squares)
    sizes = np.empty(len(frequencies))
    loops.weighted_lengths(frequencies, magnitudes, sizes)
    return sizes


def precision_groups(
    sizes: FloatArray, precision: Precision
) -> Iterator[tuple[type[np.floating[Any]], IntArray]]:
    """Split frequencies by the precision that phases of their size need.

    The error of a dot product in single precision is about 2^-24 times its size. If that exceeds
    1e-4 radian, the phases of the frequency are computed in double precision.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"precision must be one of {PRECISIONS}, got {precision!r}.")
    is_single = (precision == "single") & (sizes <= LARGEST_SINGLE_PHASE)
    for dtype, members in ((np.float32, is_single), (np.float64, ~is_single)):
        if members.any():
            yield dtype, np.flatnonzero(members)


class Magnitudes(NamedTuple):
    """How large the values of samples are.

    Attributes
    ----------
    largest, means : arrays of shape (n_features,)
        The largest and the mean absolute value of each feature.
    most_products : int
        The largest number of values other than zero in a row.
    """

    largest: FloatArray
    means: FloatArray
    most_products: int


def magnitudes_of(X: Samples) -> Magnitudes:
    """Return the magnitudes of samples, in one pass over them."""
    n_samples, n_features = X.shape
    if sparse.issparse(X):
        sums = np.bincount(X.indices, np.abs(X.data).astype(np.float64), n_features)
        most = int(np.diff(X.indptr).max())
        return Magnitudes(largest_magnitudes(X), sums / n_samples, most)
    from pacfourier.core import loops

    largest, totals = np.zeros(n_features), np.zeros(n_features)
    blocks = (X[start : start + ROW_BLOCK] for start in range(0, n_samples, ROW_BLOCK))
    most = max(loops.add_magnitudes(np.ascontiguousarray(rows), largest, totals) for rows in blocks)
    return Magnitudes(largest, totals / n_samples, most)


def mean_phase_sizes(frequencies: FloatArray, means: FloatArray) -> FloatArray:
    """Return the mean over samples of the sum over features of |x_f omega_f|."""
    from pacfourier.core import loops

    sizes = np.zeros(len(frequencies))
    if frequencies.flags.f_contiguous:
        loops.add_column_totals(frequencies.T, means, sizes)
    else:
        loops.weighted_totals(frequencies, means, sizes)
    return sizes


def single_rounding(sizes: FloatArray, n_steps: int) -> FloatArray:
    r"""Return a bound on what single precision does to a mean of waves, for arrays.

    .. math:: \Bigl| \frac1n \sum_i (\hat z_i - e^{i \omega \cdot x_i}) \Bigr| \le
              2 \cdot 10^{-5} + \gamma_{k + 4}\, s, \qquad \gamma_k = \frac{k u}{1 - k u}, \quad
              u = 2^{-24} ,

    where :math:`\hat z_i` is what a row contributes to the sums. The size s is the mean over rows
    of :math:`\sum_f |x_{if}\, \omega_f|`, and k is ``most_products``. The error of the mean of
    :math:`e^{2 i \omega \cdot x_i}` is at most four times as large.

    *Proof.* A number that passes through k roundings has a relative error of at most
    :math:`\gamma_k`, and this holds for every term of a sum, in whichever order the terms are
    added and whether or not products and sums are fused (higham2002, section 3.1).

    - *Phase.* A term :math:`x_{if}\, \omega_f / 2 \pi` is rounded when both factors and
      :math:`1 / 2 \pi` become single (3), in two products (2) and in at most k - 1 sums, because
      terms of zero are exact. So the phase is wrong by :math:`\gamma_{k+4} \sum_f |x_{if}\,
      \omega_f|` at most. Taking off whole turns is exact. A wave moves no further than its phase.
    - *Polynomials.* At half the angle, with :math:`|t| \le 1/2`, the absolute terms of the sine sum
      up to 2.31 and those of the cosine to 2.51. Each term is rounded at most 16 times, and the
      polynomials are wrong by 3.3e-8 and 8.3e-8. So the sine s is wrong by 2.3e-6 and the cosine c
      by 2.5e-6. Then :math:`1 - 2 s^2` is wrong by 4 times 2.3e-6 and three roundings, together
      9.8e-6, and :math:`2 s c` by 7.1e-6: the point on the circle by 1.3e-5.
    - *Sums.* At most 64 rows are added in single precision, with one product and one rounded
      weight: :math:`\gamma_{66} \le` 4e-6. The rest is added in double precision.

    These are 1.7e-5 together. For :math:`2 c^2 - 1` and :math:`2 s c` of the full angle, the same
    steps give 6e-5 in place of 4 times 2e-5, and twice the error of the phase.

    For structured frequencies, k + 4 counts the stages of the transforms and s is the length of the
    frequency times the root mean square of the lengths of the rows. Every stage is an orthogonal
    map up to its scale, and rounds each number once.

    Parameters
    ----------
    sizes : array of shape (n_frequencies,)
        The size s of the phases of each frequency.
    n_steps : int
        The number k of roundings of a phase.

    Returns
    -------
    rounding : array of shape (n_frequencies,)
    """
    steps = (n_steps + 4) * 2.0**-24
    return 2e-5 + steps / (1 - steps) * sizes


def double_angle_sums(squared_cosines: Any, products: Any, n_samples: int) -> Any:
    r"""Return the sums of :math:`e^{2 i \theta}` from those of cos^2 and of cos times sin.

    .. math:: \cos 2 \theta = 2 \cos^2 \theta - 1, \qquad
              \sin 2 \theta = 2 \cos \theta \sin \theta
    """
    return 2 * squared_cosines - n_samples + 2j * products


def turn_blocks(
    X: Samples, frequencies: FloatArray, dtype: type[np.floating[Any]]
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Return blocks of rows with their phases in turns, ``x . omega / 2 pi``.

    The array of phases is reused, so take what you need before the next block.
    """
    if is_mostly_zeros(X, len(frequencies)):
        return sparse_turns(X, frequencies, dtype)
    return dense_turns(X, frequencies, dtype)


def is_mostly_zeros(X: Samples, n_frequencies: int) -> bool:
    """Return whether to multiply only the numbers other than zero."""
    if sparse.issparse(X):
        return True
    if n_frequencies < FEWEST_SPARSE:
        return False
    some = X[:: max(len(X) // LOOKED_AT, 1)]
    return bool(np.count_nonzero(some) <= LARGEST_DENSITY * some.size)


def dense_turns(
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


def transposed_product(left: NDArray[Any], block: Samples) -> NDArray[Any]:
    """Return ``left.T @ block`` for a dense or sparse block of rows, in the precision of left."""
    block = block.astype(left.dtype, copy=False)
    return np.asarray((block.T @ left).T if sparse.issparse(block) else np.dot(left.T, block))


def sparse_turns(
    X: Samples, frequencies: FloatArray, dtype: type[np.floating[Any]]
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield the same as ``turn_blocks``, as products of the numbers other than zero."""
    from pacfourier.core import sparse_products

    n_samples, n_features = X.shape
    chunks = frequency_chunks(frequencies, dtype)
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


def frequency_chunks(frequencies: FloatArray, dtype: type[np.floating[Any]]) -> NDArray[Any]:
    """Return frequencies in chunks of shape (n_chunks, n_features, chunk size).

    A chunk is a transposed matrix of a few frequencies. Zeros fill the last one. Frequencies that
    are stored column by column, and fill one chunk, are not copied.
    """
    from pacfourier.core import loops

    n_frequencies, n_features = frequencies.shape
    size = chunk_size(dtype)
    if n_frequencies == size and frequencies.flags.f_contiguous and frequencies.dtype == dtype:
        return frequencies.T[np.newaxis]
    chunks = aligned_zeros((-(-n_frequencies // size), n_features, size), dtype)
    loops.write_chunks(frequencies, dtype(1), chunks)
    return chunks


def chunk_size(dtype: Any) -> int:
    """Return how many frequencies are in a chunk: four vectors of 512 bits.

    >>> chunk_size(np.float32), chunk_size(np.float64)
    (64, 32)
    """
    from pacfourier.core.vectors import N_VECTORS, VECTOR_BYTES

    return N_VECTORS * VECTOR_BYTES // np.dtype(dtype).itemsize


def aligned_zeros(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return zeros that start at a multiple of 64 bytes.

    Loads that cross two cache lines take twice as long.
    """
    n_numbers, itemsize = math.prod(shape), np.dtype(dtype).itemsize
    memory = np.zeros(n_numbers + 64 // itemsize, dtype=dtype)
    first = -memory.ctypes.data % 64 // itemsize
    return memory[first : first + n_numbers].reshape(shape)


@cache
def _controller() -> Any:
    # Finding the loaded libraries takes milliseconds, so each process does it only once.
    return ThreadpoolController().select(user_api="blas")


def _set_blas_threads(counts: Iterable[int]) -> None:
    """Set the number of threads of each BLAS library, from whichever thread this is called.

    Recent versions of threadpoolctl let only one thread set limits on OpenBLAS: the first that
    did. This may be a thread of somebody else, and calls by others would do nothing.
    """
    for library, count in zip(_controller().lib_controllers, counts, strict=True):
        forget_owner = getattr(library, "clear_controlling_thread", lambda **_: None)
        forget_owner(force=True)
        library.set_num_threads(count)
        forget_owner(force=True)


class _SingleThreadedBlas:
    """Limit BLAS to one thread while any thread is inside the context.

    The limit applies to the whole process. The first thread to enter sets it, and the last one to
    leave lifts it. All of them learn how many threads BLAS had before. In a forked child, only the
    thread that forked can be inside.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._inside: list[int] = []
        """The thread of every entry, by its identifier."""
        self._counts: list[int] = []
        hold_while_forking(self._lock, self._forget_other_threads)

    @contextmanager
    def hold(self) -> Iterator[int]:
        """Yield the number of threads that BLAS may use outside the context."""
        thread = get_ident()
        with self._lock:
            if not self._inside:
                self._counts = [library.num_threads for library in _controller().lib_controllers]
                _set_blas_threads([1] * len(self._counts))
            self._inside.append(thread)
        try:
            yield max(self._counts, default=1)
        finally:
            with self._lock:
                self._inside.remove(thread)
                if not self._inside:
                    _set_blas_threads(self._counts)

    def _forget_other_threads(self) -> None:
        was_limited = bool(self._inside)
        self._inside = [thread for thread in self._inside if thread == get_ident()]
        if was_limited and not self._inside:
            _set_blas_threads(self._counts)


_BLAS = _SingleThreadedBlas()


def single_threaded_blas() -> AbstractContextManager[int]:
    """Limit BLAS to one thread, so that the order of a sum does not depend on the machine.

    ``run_tasks`` still uses the number of threads that BLAS had before.
    """
    return _BLAS.hold()


def run_tasks(work: Callable[[Task], None], blocks: Iterable[Task]) -> None:
    """Call ``work`` on every task, with the number of threads that BLAS may use.

    The calling thread is one of them, because starting a thread takes a fifth of a millisecond. An
    exception in one thread ends the others after the task they are at.
    """
    left = deque(blocks)

    def drain() -> None:
        try:
            while True:
                try:
                    block = left.popleft()
                except IndexError:
                    return
                work(block)
        except BaseException:
            left.clear()
            raise

    with single_threaded_blas() as n_threads:
        n_others = min(n_threads, len(left)) - 1
        if n_others < 1:
            drain()
            return
        with ThreadPoolExecutor(n_others) as executor:
            others = [executor.submit(drain) for _ in range(n_others)]
            drain()
        for other in others:
            other.result()
