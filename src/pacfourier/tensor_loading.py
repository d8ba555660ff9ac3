"""Functions that register implementations for tensors, to be called when a tensor arrives.

This module imports nothing, so that the package can fill the list before anything else is loaded.
"""

from collections.abc import Callable
from typing import Any

tensor_loaders: list[Callable[[], Any]] = []


def when_tensors_arrive(load: Callable[[], Any]) -> None:
    """Add a function that registers implementations for tensors.

    It is called whenever a tensor arrives, so calling it again must do no harm.

    Parameters
    ----------
    load : callable without parameters
    """
    tensor_loaders.append(load)
