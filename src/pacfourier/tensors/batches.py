"""Batches of an array in the memory of the host, copied to a device while it computes.

A device copies fastest from memory that the operating system cannot move, which is called pinned.
Threads fill one of a few small pinned buffers while the others are copied, and while the batch
before this one is in use.
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_consistent_length

from pacfourier.arrays import host
from pacfourier.core.prefetch import ahead

# The most numbers in a batch, 2 GB in single precision, and in a buffer, 128 MB. Smaller ones would
# take Python's lock more often from the thread that computes.
LARGEST_BATCH, LARGEST_BUFFER = 2**29, 2**25
# The memory that a device must have for each number of a batch. With all copies of a batch, about
# a quarter of it is used.
_BYTES_PER_NUMBER = 64
# One thread fills a buffer several times more slowly than a device copies it.
_N_FILLERS = 12


class DeviceBatches:
    """Rows of an array on the host as batches on a device.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,) or (n_samples, n_outputs)
    sample_weight : array of shape (n_samples,) or None
    device : str or torch.device
    """

    def __init__(self, X: Any, y: Any, sample_weight: Any, device: Any) -> None:
        self.X = _checked_rows(X)
        self.y: Any = y if sparse.issparse(y) else np.asarray(host(y))
        self.weights = None if sample_weight is None else np.asarray(host(sample_weight))
        check_consistent_length(self.X, self.y, self.weights)
        self.device = _checked_device(device)
        self._largest = LARGEST_BATCH
        if self.device.type == "cuda":
            memory = torch.cuda.get_device_properties(self.device).total_memory
            self._largest = min(LARGEST_BATCH, memory // _BYTES_PER_NUMBER)
        is_single = self.X.dtype in (np.float16, np.float32)
        self._dtype = torch.float32 if is_single else torch.float64

    def __iter__(self) -> Iterator[tuple[torch.Tensor, Any, Any]]:
        blocks = self._streamed() if self.device.type == "cuda" else self._copied()
        # Two ahead, so that copies go on while the labels are looked at.
        with closing(ahead(blocks, depth=2)) as arriving:
            for rows, block, copied in arriving:
                if copied is not None:
                    stream = torch.cuda.current_stream(self.device)
                    stream.wait_event(copied)
                    # Tells torch not to use this memory again before the work of this stream ends.
                    block.record_stream(stream)
                yield block, self.y[rows], None if self.weights is None else self.weights[rows]

    def labels(self) -> Iterator[Any]:
        """Yield the labels alone, batch by batch."""
        for rows in self._slices():
            yield self.y[rows]

    def _slices(self) -> Iterator[slice]:
        """Yield slices of rows. The first ones are small, because the device waits for them."""
        largest = max(1, self._largest // self.X.shape[1])
        start, size = 0, max(1, largest // 32)
        while start < len(self.X):
            yield slice(start, min(start + size, len(self.X)))
            start, size = start + size, min(4 * size, largest)

    def _copied(self) -> Iterator[tuple[slice, torch.Tensor, None]]:
        """Yield slices of rows and copies of them on the CPU."""
        for rows in self._slices():
            block = torch.empty(self.X[rows].shape, dtype=self._dtype)
            np.copyto(block.numpy(), self.X[rows])
            yield rows, block, None

    def _streamed(self) -> Iterator[tuple[slice, torch.Tensor, torch.cuda.Event]]:
        """Yield slices of rows, tensors that will hold them, and events after their copies."""
        n_features = self.X.shape[1]
        copies = torch.cuda.Stream(self.device)
        size = min(len(self.X), max(1, LARGEST_BUFFER // n_features))
        pinned = torch.empty((2, size, n_features), dtype=self._dtype, pin_memory=True)
        free = deque((buffer, torch.cuda.Event()) for buffer in pinned)
        with ThreadPoolExecutor(_N_FILLERS) as fillers:
            for rows in self._slices():
                with torch.cuda.stream(copies):
                    shape = (rows.stop - rows.start, n_features)
                    block = torch.empty(shape, dtype=self._dtype, device=self.device)
                for part, source in zip(block.split(size), self._parts(rows, size), strict=True):
                    buffer, copied = free.popleft()
                    copied.synchronize()
                    _fill(buffer[: len(part)].numpy(), source, fillers)
                    with torch.cuda.stream(copies):
                        part.copy_(buffer[: len(part)], non_blocking=True)
                        copied = torch.cuda.Event()
                        copied.record()
                    free.append((buffer, copied))
                yield rows, block, copied

    def _parts(self, rows: slice, size: int) -> Iterator[NDArray[Any]]:
        for start in range(rows.start, rows.stop, size):
            yield self.X[start : min(start + size, rows.stop)]


def _fill(target: NDArray[Any], source: NDArray[Any], fillers: ThreadPoolExecutor) -> None:
    """Copy rows in threads, because one thread does not use the bandwidth of the memory."""
    ends = np.linspace(0, len(source), _N_FILLERS + 1).astype(int).tolist()
    slices = [slice(*pair) for pair in pairwise(ends)]
    for _ in fillers.map(lambda rows: np.copyto(target[rows], source[rows]), slices):
        pass


def _checked_rows(X: Any) -> NDArray[Any]:
    if sparse.issparse(X):
        raise ValueError(
            f"X must be dense to be copied to a device, got {type(X).__name__}: fit it on the CPU, "
            "or call its method toarray()."
        )
    rows = np.asarray(host(X))
    if rows.ndim != 2 or 0 in rows.shape or rows.dtype.kind not in "biuf":
        raise ValueError(
            "X must be a matrix of real numbers with at least one row and one column, got shape "
            f"{rows.shape} and dtype {rows.dtype}."
        )
    return rows


def _checked_device(device: Any) -> torch.device:
    """Return the device, with its number if it is a CUDA device."""
    found = torch.device(device)
    if found.type == "cpu":
        return found
    if found.type != "cuda" or not torch.cuda.is_available():
        raise ValueError(
            f"device must be 'cpu', or a CUDA device that torch can use, got {str(device)!r}."
        )
    # A thread may have another current device, so the number is read here.
    return found if found.index is not None else torch.device("cuda", torch.cuda.current_device())
