"""An iterator whose next items are made in a thread, while the present one is in use."""

from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import get_ident
from typing import Any, TypeVar

_Item = TypeVar("_Item")


def ahead(items: Iterable[_Item], depth: int = 1) -> Generator[_Item, None, None]:
    """Yield items in order. A thread makes the next ones while the caller uses the last.

    This saves time if making an item releases Python's lock, as random numbers of NumPy do. An
    error of an item is raised in its place. Close the generator if you stop before the end.

    Parameters
    ----------
    items : iterable
    depth : int, default=1
        How many items are made before they are asked for.

    Yields
    ------
    item : object

    Examples
    --------
    >>> list(ahead(number**2 for number in range(4)))
    [0, 1, 4, 9]
    """
    source, end = iter(items), object()
    thread = ThreadPoolExecutor(1, thread_name_prefix="ahead")
    maker = thread.submit(get_ident).result()
    try:
        upcoming: deque[Any] = deque(thread.submit(next, source, end) for _ in range(depth))
        while (item := upcoming.popleft().result()) is not end:
            upcoming.append(thread.submit(next, source, end))
            yield item
    finally:
        # Garbage may be collected in the thread itself, which cannot wait for its own end.
        thread.shutdown(wait=get_ident() != maker, cancel_futures=True)
