"""The summary of a tensor, equal to the summary of an array with the same values."""

# mypy: disable-error-code="misc"
# The types of the core do not mention tensors, so mypy rejects their registration.

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from pacfourier.arrays import host
from pacfourier.core.alignment.summary import (
    MOST_FINGERPRINTS,
    DistinctRows,
    SampleSummary,
    distinct_rows,
    fingerprint_multipliers,
    row_fingerprints,
    sample_summary,
)
from pacfourier.tensors.codes import ClassCodes
from pacfourier.tensors.triton import has_triton

# Few enough rows that a 64-bit copy of their bits fits in memory, enough to keep a device busy.
ROW_BLOCK = 2**16
# The constants of the core as signed integers, because torch has no unsigned arithmetic.
MIXER = np.uint64(0x9E3779B97F4A7C15).astype(np.int64).item()
LOW_WORD, SIGN = 0xFFFFFFFF, -(2**63)


@sample_summary.register(torch.Tensor)
def tensor_summary(
    X: torch.Tensor, codes: sparse.csr_array | ClassCodes, *, is_weighted: bool = False
) -> SampleSummary:
    """Return the summary of a sample. It is computed on the device and copied at the end."""
    prints = fingerprints_of(X)
    if X.is_cuda and has_triton():
        from pacfourier.tensors.triton.summaries import column_statistics

        with torch.cuda.device_of(X):
            powers, ends, marks = column_statistics(X)
    else:
        powers, ends, marks = plain_statistics(X)
    counts = torch.stack([(end.to(X.dtype) == X).sum(dim=0) for end in ends])
    rows = rows_of_smallest(prints, label_fingerprints(codes, X.device))
    # Double precision holds the counts exactly, so everything comes back in one copy.
    *sums, lowest, highest, n_lowest, n_highest = host(torch.cat([powers, ends, counts.double()]))
    return SampleSummary(
        len(X),
        *rows,
        powers=np.stack(sums),
        lowest=lowest,
        n_lowest=n_lowest.astype(np.intp),
        highest=highest,
        n_highest=n_highest.astype(np.intp),
        marks=host(marks).view(np.uint64),
        is_weighted=is_weighted,
    )


def rows_of_smallest(prints: torch.Tensor, labels: torch.Tensor) -> DistinctRows:
    """Return the smallest distinct fingerprints of rows, with the ends of their labels."""
    # With the sign bit flipped, signed numbers have the order of unsigned ones.
    ordered, order = torch.sort(prints ^ SIGN)
    is_new = torch.ones_like(ordered, dtype=torch.bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    n_kept = int((is_new.cumsum(dim=0) <= MOST_FINGERPRINTS).sum())
    kept = order[:n_kept]
    found, marks = host(torch.stack([prints[kept], labels[kept]])).view(np.uint64)
    return distinct_rows(found, np.ones(n_kept, dtype=np.intp), marks, marks)


def label_fingerprints(codes: sparse.csr_array | ClassCodes, device: torch.device) -> torch.Tensor:
    """Return the fingerprints of coded labels as a tensor."""
    if not isinstance(codes, ClassCodes):
        return torch.as_tensor(row_fingerprints(codes).view(np.int64), device=device)
    table = row_fingerprints(np.eye(codes.shape[1])).view(np.int64)
    return torch.as_tensor(table, device=device)[codes.columns]


def plain_statistics(X: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return sums of four powers, the smallest and largest values, and the marks of columns."""
    powers = X.new_zeros((4, X.shape[1]), dtype=torch.float64)
    ends = torch.stack([X.amin(dim=0), X.amax(dim=0)]).double()
    found = torch.zeros((64, X.shape[1]), dtype=torch.bool, device=X.device)
    columns = torch.arange(X.shape[1], device=X.device)
    for block in X.split(ROW_BLOCK):
        # The mask removes the copies of the sign bit.
        found[(_bits(block) >> 58) & 63, columns] = True
        powers += torch.stack([(block.double() ** power).sum(dim=0) for power in (1, 2, 3, 4)])
    weights = torch.ones(64, dtype=torch.int64, device=X.device) << torch.arange(
        64, device=X.device
    )
    return powers, ends, (found * weights[:, None]).sum(dim=0)


@row_fingerprints.register(torch.Tensor)
def tensor_fingerprints(X: torch.Tensor) -> NDArray[np.uint64]:
    """Return one number per row, equal to that of the same row in an array."""
    return host(fingerprints_of(X)).view(np.uint64)


def fingerprints_of(X: torch.Tensor) -> torch.Tensor:
    """Return one number per row as a signed tensor on the device of X."""
    multipliers = fingerprint_multipliers(X.shape[1]).view(np.int64)
    factors = torch.as_tensor(multipliers, device=X.device)
    if X.is_cuda and has_triton():
        from pacfourier.tensors.triton.summaries import fingerprints

        with torch.cuda.device_of(X):
            found: torch.Tensor = fingerprints(X, factors)
        return found
    parts = [(_bits(block) * factors).sum(dim=1) for block in X.split(ROW_BLOCK)]
    return torch.cat(parts)


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
