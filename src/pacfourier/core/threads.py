"""Threads: tasks side by side, with BLAS on a single thread inside each of them."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from threading import RLock, get_ident
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from pacfourier.core.forks import hold_while_forking

_Task = TypeVar("_Task")


def run_tasks(work: Callable[[_Task], None], blocks: Iterable[_Task]) -> None:
    """Call ``work`` on every task, with the number of threads that BLAS may use.

    The calling thread is one of them, because starting a thread takes time. An exception in one
    thread ends the others after the task they are at.
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


def single_threaded_blas() -> AbstractContextManager[int]:
    """Limit BLAS to one thread, so that the order of a sum does not depend on the machine.

    ``run_tasks`` still uses the number of threads that BLAS had before.
    """
    return _BLAS.hold()


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


@cache
def _controller() -> Any:
    # Finding the loaded libraries takes time, so each process does it only once.
    return ThreadpoolController().select(user_api="blas")
