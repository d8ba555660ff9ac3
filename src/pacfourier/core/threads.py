"""Threads over independent blocks, with BLAS held to one thread inside each."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Task = TypeVar("Task")


@cache
def _controller() -> Any:
    # Finding the loaded libraries takes milliseconds: once a process is enough.
    return ThreadpoolController().select(user_api="blas")


def n_threads() -> int:
    """Return how many threads BLAS may use here: the caller's limits are ours too."""
    return max((library["num_threads"] for library in _controller().info()), default=1)


def run_blocks(work: Callable[[Task], None], blocks: Iterable[Task]) -> None:
    """Call ``work`` on every block, in as many threads as BLAS may use."""
    blocks = list(blocks)
    workers = min(n_threads(), len(blocks))
    if workers <= 1:
        for block in blocks:
            work(block)
        return
    with _controller().limit(limits=1), ThreadPoolExecutor(workers) as executor:
        # The list raises what a thread raised.
        list(executor.map(work, blocks))
