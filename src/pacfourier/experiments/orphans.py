"""Worker processes end when their parent was killed, and do not keep cores busy for nobody."""

import os
import time
from functools import cache
from threading import Thread

SECONDS_BETWEEN_LOOKS = 1.0


@cache
def end_with_parent(parent: int) -> None:
    """Let this process end within seconds after its parent.

    Parameters
    ----------
    parent : int
        The number of the process that handed out the work. If it is this process, which has no
        workers then, nothing happens.
    """
    if os.getpid() != parent:
        Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    # Nobody waits for the results, so nothing is worth cleaning up.
    os._exit(1)
