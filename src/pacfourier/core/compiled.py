"""Compile loops, and keep the machine code for the next process where a folder is writable."""

import hashlib
import warnings
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic

from pacfourier.core.forks import hold_while_forking

hold_while_forking(global_compiler_lock)

# The files in this folder that compiled functions take functions and constants from.
_SOURCES = ("compiled.py", "loops.py", "sparse_products.py")


@cache
def _stamp() -> str:
    """Return some digits that change if any of the sources does."""
    folder = files("pacfourier.core")
    contents = [folder.joinpath(name).read_bytes() for name in _SOURCES]
    return hashlib.sha256(b"".join(contents)).hexdigest()[:16]


def compiled(**options: Any) -> Callable[[Any], Any]:
    """Return a decorator that compiles a function, and keeps the machine code if it can.

    Numba looks for a writable folder: the one that NUMBA_CACHE_DIR names, the one of the source
    file, and one in the home folder. If there is none, as in a read-only container, the function
    is compiled in every process.

    Numba compiles a function again if its own file has changed. Functions of other files are part
    of its machine code, so the name under which the code is kept depends on all ``_SOURCES``.

    Parameters
    ----------
    **options
        The options of ``numba.njit``, except ``cache``.
    """

    def decorate(function: Any) -> Any:
        function.__qualname__ = f"{function.__qualname__}_{_stamp()}"
        dispatcher = njit(**options)(function)
        try:
            # What the option ``cache`` does, with another class of caches.
            dispatcher._cache = _MendingCache(function)
        except RuntimeError:
            _warn_that_nothing_is_kept()
        return dispatcher

    return decorate


class _MendingCache(FunctionCache):
    """Files of compiled code, of which damaged ones count as missing and are replaced.

    A power cut leaves files that are empty, or cut, or hold zeros. What ``pickle`` raises then
    depends on their bytes. Numba lets these errors pass to whoever called the function.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature; None if there is none that can be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            # The list of files becomes empty. Numba compiles the function, and writes it anew.
            self.flush()
            return None


@cache
def _warn_that_nothing_is_kept() -> None:
    """Warn once in each process."""
    warnings.warn(
        "No folder is writable for compiled code, so every process spends some seconds on "
        "compiling it: set NUMBA_CACHE_DIR to a writable folder.",
        UserWarning,
        stacklevel=1,
    )


# Numba's types count the typing context among the arguments of a call.
untyped_intrinsic: Any = intrinsic
