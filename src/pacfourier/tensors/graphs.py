"""CUDA graphs: work that was recorded once, and is launched again as a whole.

Launching a small operation takes the host longer than the device needs for it. A graph of many of
them is launched at once.
"""

from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import TypeVar

import torch

_Found = TypeVar("_Found")

_RECORDING = Lock()


def recorded_work(
    work: Callable[[], _Found], device: torch.device
) -> tuple[torch.cuda.CUDAGraph, _Found]:
    """Do some work once, then record it.

    The work may copy nothing from the host, and its tensors must stay where they are.

    Returns
    -------
    graph : torch.cuda.CUDAGraph
        Its method ``replay`` does the work again.
    found : object
        What the recorded work returned. Each replay overwrites its tensors.
    """
    # Two threads at once would record each other's kernels, because they share the stream.
    with _RECORDING, torch.cuda.device(device):
        # The first time compiles kernels. CUDA asks for it to be on another stream.
        current, other = torch.cuda.current_stream(), _recording_stream(device)
        other.wait_stream(current)
        with torch.cuda.stream(other):
            work()
        current.wait_stream(other)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=other, capture_error_mode="thread_local"):
            found = work()
    return graph, found


@cache
def _recording_stream(device: torch.device) -> torch.cuda.Stream:
    """Return the one stream that records: every stream keeps 32 MB of the device for products."""
    return torch.cuda.Stream(device)
