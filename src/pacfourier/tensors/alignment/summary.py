"""The summary of a tensor, equal to the summary of an array with the same values."""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from pacfourier.arrays import host
from pacfourier.core.alignment.summary import (
    MOST_FINGERPRINTS,
    SampleSummary,
    fingerprint_multipliers,
    row_fingerprints,
    sample_summary,
)
from pacfourier.tensors.arrays import queued
from pacfourier.tensors.codes import ClassCodes
from pacfourier.tensors.triton import has_triton

# Few enough rows that a 64-bit copy of their bits fits in memory, enough to keep a device busy.
_ROW_BLOCK = 2**16
# The constants of the core as signed integers, because torch has no unsigned arithmetic.
_MIXER = np.uint64(0x9E3779B97F4A7C15).astype(np.int64).item()
LOW_WORD, SIGN = 0xFFFFFFFF, -(2**63)


@sample_summary.register(torch.Tensor)
def _tensor_summary(
    X: torch.Tensor, codes: sparse.csr_array | ClassCodes, *, is_weighted: bool = False
) -> SampleSummary:
    """Return the summary of a sample. It is computed on the device and copied at the end."""
    rows = _rows_of_smallest(_fingerprints_of(X), _label_fingerprints(codes, X.device))
    # Everything comes back in one copy, because every copy waits for the device.
    packed = host(torch.cat([rows.flatten(), _power_sums(X).view(torch.int64).flatten()]))
    found, powers = np.split(packed, [rows.numel()])
    prints, counts, first_labels, last_labels = found.reshape(4, -1)
    n_distinct = np.count_nonzero(counts)
    return SampleSummary(
        len(X),
        prints[:n_distinct].view(np.uint64),
        counts[:n_distinct].astype(np.intp),
        first_labels[:n_distinct].view(np.uint64),
        last_labels[:n_distinct].view(np.uint64),
        powers=powers.view(np.float64).reshape(4, -1),
        is_weighted=is_weighted,
    )


def _rows_of_smallest(prints: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the smallest distinct fingerprints of rows, their counts and the ends of their labels.

    The result has the four rows of ``DistinctRows``, filled up with counts of zero. How many there
    are is known on the device only, so the host need not wait for it.
    """
    n_samples = len(prints)
    # With the sign bit flipped, signed numbers have the order of unsigned ones.
    by_label = torch.argsort(labels ^ SIGN)
    ordered, order = torch.sort(prints[by_label] ^ SIGN, stable=True)
    # Rows of one fingerprint are neighbours now, and sorted by their labels.
    labels = labels[by_label[order]]
    is_new = torch.zeros(n_samples, dtype=torch.bool, device=prints.device)
    torch.ne(ordered[1:], ordered[:-1], out=is_new[1:])
    n_kept = min(n_samples, MOST_FINGERPRINTS)
    numbers = torch.arange(n_kept + 1, device=prints.device)
    ends = torch.searchsorted(is_new.cumsum(dim=0), numbers)
    starts, stops = ends[:-1].clamp(max=n_samples - 1), ends[1:]
    return torch.stack(
        [ordered[starts] ^ SIGN, stops - ends[:-1], labels[starts], labels[stops - 1]]
    )


def _label_fingerprints(codes: sparse.csr_array | ClassCodes, device: torch.device) -> torch.Tensor:
    """Return the fingerprints of coded labels as a tensor."""
    if not isinstance(codes, ClassCodes):
        return torch.as_tensor(row_fingerprints(codes).view(np.int64), device=device)
    return _class_fingerprints(codes.shape[1], device)[codes.columns]


@lru_cache(maxsize=8)
def _class_fingerprints(n_classes: int, device: torch.device) -> torch.Tensor:
    """Return the fingerprint of the codes of each class."""
    return queued(row_fingerprints(np.eye(n_classes)).view(np.int64), device)


@lru_cache(maxsize=8)
def _placed_multipliers(n_features: int, device: torch.device) -> torch.Tensor:
    """Return the fixed numbers of fingerprints on a device."""
    return queued(fingerprint_multipliers(n_features).view(np.int64), device)


def _power_sums(X: torch.Tensor) -> torch.Tensor:
    """Return the sums of the first four powers of each column, in double precision."""
    sums = X.new_zeros((4, X.shape[1]), dtype=torch.float64)
    for block in X.split(_ROW_BLOCK):
        wide = block.double()
        square = wide * wide
        powers = (wide, square, wide * square, square * square)
        sums += torch.stack([power.sum(dim=0) for power in powers])
    return sums


@row_fingerprints.register(torch.Tensor)
def _tensor_fingerprints(X: torch.Tensor) -> NDArray[np.uint64]:
    """Return one number per row, equal to that of the same row in an array."""
    return host(_fingerprints_of(X)).view(np.uint64)


def _fingerprints_of(X: torch.Tensor) -> torch.Tensor:
    """Return one number per row as a signed tensor on the device of X."""
    factors = _placed_multipliers(X.shape[1], X.device)
    if X.is_cuda and has_triton():
        from pacfourier.tensors.triton.summaries import fingerprints

        with torch.cuda.device_of(X):
            found: torch.Tensor = fingerprints(X, factors)
        return found
    parts = [(_bits(block) * factors).sum(dim=1) for block in X.split(_ROW_BLOCK)]
    return torch.cat(parts)


def _bits(values: torch.Tensor) -> torch.Tensor:
    """Return the bits of the values, mixed as in the core; arithmetic is modulo 2^64."""
    words = (values + 0.0).view(torch.int32 if values.dtype == torch.float32 else torch.int64)
    bits = words.to(torch.int64)
    if values.dtype == torch.float32:
        bits &= LOW_WORD
    bits = (bits ^ _high_word(bits)) * _MIXER
    return bits ^ _high_word(bits)


def _high_word(bits: torch.Tensor) -> torch.Tensor:
    # Shifting a signed integer right copies its sign bit, which the mask removes.
    return (bits >> 32) & LOW_WORD
