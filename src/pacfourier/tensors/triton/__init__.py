"""Triton kernels for CUDA, and the code that lays out data for them.

Only ``kernels.py`` needs triton itself, and the functions that launch a kernel import it then.
"""

import warnings
from functools import cache


@cache
def has_triton() -> bool:
    """Return whether triton is installed; warn once if it is not."""
    try:
        import triton  # noqa: F401
    except ImportError:
        message = (
            "triton is not installed: computations on CUDA use blocked matrix products, which are "
            "about half as fast. Install triton to use its kernels."
        )
        warnings.warn(message, RuntimeWarning, stacklevel=2)
        return False
    return True
