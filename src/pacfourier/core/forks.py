"""Locks that a forked child can take, whichever thread of its parent held them."""

import os
from collections.abc import Callable
from typing import Protocol


class _ReentrantLock(Protocol):
    """A lock that its owner may take again, such as ``threading.RLock``."""

    def acquire(self) -> object:
        """Wait for the lock and take it."""

    def release(self) -> object:
        """Give the lock back."""


def hold_while_forking(lock: _ReentrantLock, in_child: Callable[[], None] = lambda: None) -> None:
    """Make every fork wait until no other thread holds a lock.

    A child has only the thread that forked. A lock of another thread would never be released in
    it, and what the lock guards might be half done.

    Parameters
    ----------
    lock : ReentrantLock
    in_child : callable, default=nothing
        Called in every child, before the child gives the lock back.
    """

    def release_in_child() -> None:
        in_child()
        lock.release()

    # Windows has no forks.
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=lock.acquire, after_in_parent=lock.release, after_in_child=release_in_child
        )
