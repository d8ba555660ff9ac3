"""Phases of samples against frequencies: blocks of rows, bands of frequencies, threads.

A phase is a product of a sample and a frequency. The products are computed for one block of rows
and one band of frequencies at a time, in single or double precision as their size requires.
Each thread works on one band or block at a time, and BLAS uses a single thread inside it.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from threading import Lock
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import ThreadpoolController

from pacfourier.arrays import FloatArray, IntArray, Samples, by_kind

Task = TypeVar("Task")
Precision = Literal["single", "double"]
PRECISIONS = ("single", "double")

# Measured at d = 108 to 1,554: large enough for an efficient product, small enough for the
# block of phases to stay near the core. Not 1,024 frequencies: rows of phases 4,096 bytes apart
# would share cache sets, which costs a fifth of the speed.
ROW_BLOCK = 1024
FREQUENCY_BAND = 1008
# A band of frequencies takes at most 32 MB, however wide the data are.
LARGEST_BAND = 2**23
# Rows of X that structured transforms take together. One pair of a row and a frequency took 1.1 ns
# with 64 rows, 1.9 ns with 32 and 2.7 ns with 16.
ROWS_SIDE_BY_SIDE = 64
# Rounding a phase of this size to single precision moves it by 1e-4 at most.
LARGEST_SINGLE_PHASE = 1e-4 * 2.0**24


def frequency_bands(n_frequencies: int, n_features: int) -> Iterator[slice]:
    """Yield slices that cut the pool into bands.

    The bands depend on the shape of the pool only, so that all machines compute the same sums.
    """
    size = max(16, min(FREQUENCY_BAND, LARGEST_BAND // n_features))
    for start in range(0, n_frequencies, size):
        yield slice(start, min(start + size, n_frequencies))


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
    return np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)


def phase_sizes(frequencies: FloatArray, magnitudes: FloatArray) -> FloatArray:
    """Return the size of the phases of each frequency, from which rounding is estimated.

    The size is the root of the sum over features of (frequency * largest magnitude)^2.
    """
    squares = np.einsum("mk,mk,k->m", frequencies, frequencies, magnitudes**2, optimize=True)
    return np.sqrt(squares)


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


def single_rounding(sizes: FloatArray, n_steps: int) -> FloatArray:
    """Return how far single precision may move the mean of cos or sin of phases.

    Both factors and their scaling are rounded. The sum of products is rounded ``n_steps`` times,
    and these errors add up like a random walk. The errors of cosines, and of their sums over a few
    rows, are below 3e-6.
    """
    return 3e-6 + (4 + np.sqrt(n_steps)) * 2.0**-24 * sizes


def double_angle_sums(squared_cosines: Any, products: Any, n_samples: int) -> Any:
    r"""Return the sums of :math:`e^{2 i \theta}` from those of cos^2 and of cos times sin.

    .. math:: \cos 2 \theta = 2 \cos^2 \theta - 1, \qquad
              \sin 2 \theta = 2 \cos \theta \sin \theta
    """
    return 2 * squared_cosines - n_samples + 2j * products


def turn_blocks(
    X: Samples, frequencies: FloatArray, dtype: type[np.floating[Any]]
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield blocks of rows with their phases in turns, ``x . omega / 2 pi``.

    The array of phases is reused, so take what you need before the next block.
    """
    columns = np.ascontiguousarray((frequencies.astype(dtype) * dtype(0.5 / np.pi)).T)
    n_samples = X.shape[0]
    turns = np.empty((min(ROW_BLOCK, n_samples), columns.shape[1]), dtype=dtype)
    for start in range(0, n_samples, ROW_BLOCK):
        rows = slice(start, min(start + ROW_BLOCK, n_samples))
        if sparse.issparse(X):
            yield rows, np.asarray(X[rows].astype(dtype, copy=False) @ columns)
        else:
            block = X[rows].astype(dtype, copy=False)
            yield rows, np.dot(block, columns, out=turns[: len(block)])


@cache
def _controller() -> Any:
    # Finding the loaded libraries takes milliseconds, so each process does it only once.
    return ThreadpoolController().select(user_api="blas")


class _SingleThreadedBlas:
    """Limit BLAS to one thread while any thread is inside the context.

    The limit applies to the whole process. The first thread to enter sets it, and the last one to
    leave lifts it. All of them learn how many threads BLAS had before.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_inside = 0
        self._n_threads = 1
        self._limit: Any = None

    @contextmanager
    def hold(self) -> Iterator[int]:
        """Yield the number of threads that BLAS may use outside the context."""
        with self._lock:
            if self._n_inside == 0:
                libraries = _controller().info()
                self._n_threads = max((item["num_threads"] for item in libraries), default=1)
                self._limit = _controller().limit(limits=1)
                self._limit.__enter__()
            self._n_inside += 1
        try:
            yield self._n_threads
        finally:
            with self._lock:
                self._n_inside -= 1
                if self._n_inside == 0:
                    self._limit.__exit__(None, None, None)


_BLAS = _SingleThreadedBlas()


def single_threaded_blas() -> AbstractContextManager[int]:
    """Limit BLAS to one thread, so that the order of a sum does not depend on the machine.

    ``run_tasks`` still uses the number of threads that BLAS had before.
    """
    return _BLAS.hold()


def run_tasks(work: Callable[[Task], None], blocks: Iterable[Task]) -> None:
    """Call ``work`` on every task, with the number of threads that BLAS may use."""
    blocks = list(blocks)
    with single_threaded_blas() as n_threads:
        workers = min(n_threads, len(blocks))
        if workers <= 1:
            for block in blocks:
                work(block)
            return
        with ThreadPoolExecutor(workers) as executor:
            # Reading all results raises the exceptions of the threads.
            list(executor.map(work, blocks))
