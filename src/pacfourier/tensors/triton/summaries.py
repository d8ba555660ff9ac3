"""A Triton kernel for fingerprints of rows.

``tensors/alignment/summary.py`` has the same computation in plain torch.
"""

# mypy: allow-untyped-defs
# Triton compiles untyped functions.

from typing import Any

import torch
import triton
import triton.language as tl

# The constant of the core, which mixes bits.
_MIXER = tl.constexpr(0x9E3779B97F4A7C15)
ROWS, COLUMNS = 32, 128


@triton.jit
def _bits(values):
    """Return the bits of the values, mixed as in the core."""
    # Adding zero turns minus zero, which has other bits, into plus zero.
    values += 0.0
    if values.dtype == tl.float32:
        bits = values.to(tl.uint32, bitcast=True).to(tl.uint64)
    else:
        bits = values.to(tl.uint64, bitcast=True)
        bits ^= bits >> 32
    bits *= tl.full((1, 1), _MIXER, tl.uint64)
    return bits ^ (bits >> 32)


@triton.jit
def _fingerprints(
    samples, multipliers, found, n_rows, n_features, row_block: tl.constexpr, block: tl.constexpr
):
    """Write one number per row."""
    rows = tl.program_id(0).to(tl.int64) * row_block + tl.arange(0, row_block)
    total = tl.zeros((row_block,), tl.uint64)
    for first in tl.range(0, n_features, block):
        columns = first + tl.arange(0, block)
        mask = (rows < n_rows)[:, None] & (columns < n_features)[None, :]
        values = tl.load(
            samples + rows[:, None] * n_features + columns[None, :], mask=mask, other=0.0
        )
        factors = tl.load(multipliers + columns, mask=columns < n_features, other=0)
        total += tl.sum(_bits(values) * factors.to(tl.uint64, bitcast=True)[None, :], axis=1)
    tl.store(found + rows, total.to(tl.int64, bitcast=True), mask=rows < n_rows)


def fingerprints(X: Any, multipliers: Any) -> Any:
    """Return one 64-bit number per row, given one per column."""
    X = X.contiguous()
    found = torch.empty(len(X), dtype=torch.int64, device=X.device)
    grid = (triton.cdiv(len(X), ROWS),)
    _fingerprints[grid](X, multipliers, found, *X.shape, row_block=ROWS, block=COLUMNS)
    return found
