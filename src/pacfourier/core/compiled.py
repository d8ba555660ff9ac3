"""Compile loops, and keep the machine code for the next process where a folder is writable."""

import warnings
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.compiler_lock import global_compiler_lock

from pacfourier.core.forks import hold_while_forking

hold_while_forking(global_compiler_lock)


def compiled(**options: Any) -> Callable[[Any], Any]:
    """Return a decorator that compiles a function, and keeps the machine code if it can.

    Numba looks for a writable folder: the one that NUMBA_CACHE_DIR names, the one of the source
    file, and one in the home folder. If there is none, as in a read-only container, the function
    is compiled in every process.

    Parameters
    ----------
    **options
        The options of ``numba.njit``, except ``cache``.
    """

    def decorate(function: Any) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:
            # Python shows a warning once for each place that it comes from: this line.
            warnings.warn(
                "No folder is writable for compiled code, so every process spends some seconds on "
                "compiling it: set NUMBA_CACHE_DIR to a writable folder.",
                UserWarning,
                stacklevel=1,
            )
            return njit(**options)(function)

    return decorate
