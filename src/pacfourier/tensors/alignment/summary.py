"""The summary of a tensor, equal to the summary of an array with the same values."""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

from functools import reduce

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from pacfourier.arrays import host
from pacfourier.core.alignment.summary import (
    SampleSummary,
    fingerprint_multipliers,
    packed_marks,
    row_fingerprints,
    rows_with_labels,
    sample_summary,
)

# Few enough rows that a 64-bit copy of their bits fits in memory, enough to keep a device busy.
ROW_BLOCK = 2**16
# The constants of the core as signed integers, because torch has no unsigned arithmetic.
MIXER = np.uint64(0x9E3779B97F4A7C15).astype(np.int64).item()
LOW_WORD = 0xFFFFFFFF


@sample_summary.register(torch.Tensor)
def tensor_summary(
    X: torch.Tensor, codes: sparse.csr_array, *, is_weighted: bool = False
) -> SampleSummary:
    """Return the summary of a sample, block by block."""
    rows = (slice(start, start + ROW_BLOCK) for start in range(0, len(X), ROW_BLOCK))
    blocks = (_block_summary(X[each], codes[each], is_weighted) for each in rows)
    return reduce(SampleSummary.merge, blocks)


def _block_summary(X: torch.Tensor, codes: sparse.csr_array, is_weighted: bool) -> SampleSummary:
    marks, rows = _value_marks(X), rows_with_labels(X, codes)
    X = X.double()
    lowest, highest = X.amin(dim=0), X.amax(dim=0)
    return SampleSummary(
        len(X),
        *rows,
        powers=np.stack([host((X**power).sum(dim=0)) for power in (1, 2, 3, 4)]),
        lowest=host(lowest),
        n_lowest=host((lowest == X).sum(dim=0)),
        highest=host(highest),
        n_highest=host((highest == X).sum(dim=0)),
        marks=marks,
        is_weighted=is_weighted,
    )


def _value_marks(X: torch.Tensor) -> NDArray[np.uint64]:
    """Return 64 bits per column, equal to those of the same column in an array."""
    found = torch.zeros((64, X.shape[1]), dtype=torch.bool, device=X.device)
    # The mask removes the copies of the sign bit.
    found[(_bits(X) >> 58) & 63, torch.arange(X.shape[1], device=X.device)] = True
    return packed_marks(host(found))


@row_fingerprints.register(torch.Tensor)
def tensor_fingerprints(X: torch.Tensor) -> NDArray[np.uint64]:
    """Return one number per row, equal to that of the same row in an array."""
    multipliers = fingerprint_multipliers(X.shape[1]).view(np.int64)
    factors = torch.as_tensor(multipliers, device=X.device)
    parts = [(_bits(block) * factors).sum(dim=1) for block in X.split(ROW_BLOCK)]
    return host(torch.cat(parts)).view(np.uint64)


def _bits(values: torch.Tensor) -> torch.Tensor:
    """Return the bits of the values, mixed as in the core; arithmetic is modulo 2^64."""
    words = (values + 0.0).view(torch.int32 if values.dtype == torch.float32 else torch.int64)
    bits = words.to(torch.int64)
    if values.dtype == torch.float32:
        bits &= LOW_WORD
    bits = (bits ^ _high_word(bits)) * MIXER
    return bits ^ _high_word(bits)


def _high_word(bits: torch.Tensor) -> torch.Tensor:
    # Shifting a signed integer right copies its sign bit, which the mask removes.
    return (bits >> 32) & LOW_WORD
