"""Landmarks chosen together, on a bounded part of the rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacfourier.arrays import IntArray, host
from pacfourier.core.alignment.summary import row_fingerprints
from pacfourier.core.alignment.targets import Target
from pacfourier.core.sampling.complementary_columns import forward_columns
from pacfourier.core.threads import single_threaded_blas
from pacfourier.data.distances import kernel_matrix
from pacfourier.data.reservoir import MOST_ROWS
from pacfourier.data.selection import medoids_among
from pacfourier.spectra import Spectrum

# So many rows compete, or twice the number of landmarks.
_FEWEST_CANDIDATES = 600
# Memory and time of a choice grow with the square of the number of landmarks.
_MOST_LANDMARKS = 300


def complementary_landmarks(
    X: Any,
    y: NDArray[Any],
    n_landmarks: int,
    rng: np.random.Generator,
    *,
    spectrum: Spectrum,
    target: Target,
    is_fraction: bool,
) -> IntArray:
    """Return rows whose kernels explain the classes together.

    Random rows compete, no two of them the same if there are enough others. Where none of them
    explains anything, the landmarks that are left are medoids.

    Parameters
    ----------
    X : array, tensor or sparse matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    n_landmarks : int
    rng : numpy.random.Generator
    spectrum : Spectrum
        The kernel.
    target : Target
        How labels are coded.
    is_fraction : bool
        Whether the number was a fraction of the rows, which may be cut to what is possible.
    """
    size = min(n_landmarks, _MOST_LANDMARKS) if is_fraction else n_landmarks
    if size > _MOST_LANDMARKS:
        raise ValueError(
            f"n_landmarks must be at most {_MOST_LANDMARKS} with landmarks='complementary', got "
            f"{n_landmarks}. Pass a smaller number, or landmarks='medoids'."
        )
    indices = rng.permutation(X.shape[0])[:MOST_ROWS]
    rows, labels = host(X[indices]), y[indices]
    distinct = _distinct_rows(rows, size)
    candidates = distinct[: max(_FEWEST_CANDIDATES, 2 * size)]
    # Sums in another order could turn the choice between near copies.
    with single_threaded_blas():
        columns = kernel_matrix(spectrum, rows, rows[candidates])
        outputs = target.outputs(labels).values
        chosen = candidates[forward_columns(columns, outputs, size)]
    if len(chosen) < size:
        others = np.setdiff1d(distinct, chosen)
        left = medoids_among(others, rows, labels, size - len(chosen), rng)
        chosen = np.concatenate([chosen, left])
    return indices[chosen]


def _distinct_rows(rows: Any, fewest: int) -> IntArray:
    """Return the first of all equal rows, in order, or all rows if these are too few."""
    _, first = np.unique(row_fingerprints(rows), return_index=True)
    return np.sort(first) if len(first) >= fewest else np.arange(rows.shape[0])
