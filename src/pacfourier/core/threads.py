"""Threads over independent blocks, with BLAS held to one thread inside each."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Task = TypeVar("Task")


@cache
def _controller() -> Any:
    # Finding the loaded libraries takes milliseconds: once a process is enough.
    return ThreadpoolController().select(user_api="blas")


class _SingleThreadedBlas:
    """Hold BLAS to one thread while anyone is inside.

    The limit belongs to the process: the first to enter sets it, the last to leave lifts it,
    and all see the number of threads that was there before.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_inside = 0
        self._n_threads = 1
        self._limit: Any = None

    @contextmanager
    def hold(self) -> Iterator[int]:
        """Yield the number of threads that BLAS may use outside."""
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
    """Hold BLAS to one thread, in which the order of a sum does not depend on the machine.

    Blocks that run inside have as many threads as before.
    """
    return _BLAS.hold()


def run_blocks(work: Callable[[Task], None], blocks: Iterable[Task]) -> None:
    """Call ``work`` on every block, in as many threads as BLAS may use."""
    blocks = list(blocks)
    with single_threaded_blas() as n_threads:
        workers = min(n_threads, len(blocks))
        if workers <= 1:
            for block in blocks:
                work(block)
            return
        with ThreadPoolExecutor(workers) as executor:
            # The list raises what a thread raised.
            list(executor.map(work, blocks))
