"""The draw "complementary": frequencies chosen together, on a bounded part of the rows."""

from typing import Any

import numpy as np

from pacfourier.arrays import FloatArray, IntArray
from pacfourier.core.alignment.targets import Target
from pacfourier.core.features import fourier_features
from pacfourier.core.phases import single_threaded_blas
from pacfourier.core.sampling.complementary import complementary_indices
from pacfourier.data.reservoir import Reservoir

# The shortlist has this many candidates for each frequency that is kept.
SHORTLISTED = 10


def complementary_frequencies(
    rows: Reservoir,
    candidates: FloatArray,
    size: int,
    *,
    target: Target,
    totals: FloatArray,
    is_balanced: bool,
) -> IntArray:
    """Return the indices of candidates that explain the labels of some rows together.

    Parameters
    ----------
    rows : Reservoir
        The rows on which residuals are computed.
    candidates : array of shape (n_candidates, n_features)
        Frequencies, the best first.
    size : int
        How many to choose.
    target : Target
        How labels are coded.
    totals : array of shape (n_codes,)
        Sums of the codes of all samples, from which classes are balanced.
    is_balanced : bool
        Whether all classes get the same weight.
    """
    weights, balance = rows.weights, target.balance(totals) if is_balanced else None
    if balance is not None:
        weights = weights * (target.encode(rows.y) @ balance.scale)
    outputs = target.outputs(rows.y).values
    # Sums in another order could turn the choice between near copies.
    with single_threaded_blas():
        waves: Any = fourier_features(rows.X, candidates, np.ones(len(candidates))).T
        waves = waves.astype(np.float32).reshape(2, len(candidates), -1)
        return complementary_indices(waves, outputs.astype(np.float32), weights, size)
