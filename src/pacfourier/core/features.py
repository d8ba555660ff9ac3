"""The feature map: cosines and sines of weighted frequencies."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray, Samples, by_kind
from pacfourier.core.precision import (
    Precision,
    largest_magnitudes,
    phase_sizes,
    precision_groups,
    precision_of,
)
from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.core.products import FREQUENCY_BAND, ROW_BLOCK, turn_blocks
from pacfourier.core.threads import run_tasks

ROWS_PER_TASK = 4 * ROW_BLOCK
# The kernel leaves out frequencies of smaller weight. Together they weigh less than 1e-12.
_NEGLIGIBLE_WEIGHT = 1e-17


@by_kind
def fourier_features(
    X: Samples, frequencies: FloatArray, weights: FloatArray
) -> NDArray[np.floating]:
    r"""Return features whose inner products are the kernel of the weighted frequencies.

    .. math:: \varphi(x) = \left(\sqrt{q_m} \cos(\omega_m \cdot x),
              \sqrt{q_m} \sin(\omega_m \cdot x)\right)_m, \qquad
              \varphi(x) \cdot \varphi(x') = \sum_m q_m \cos(\omega_m \cdot (x - x')) .

    The columns are all cosines, then all sines. This is Equation 5 of the paper, where q_m = 1 / D.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        float32 or float64; the features have the same type.
    frequencies : array of shape (n_frequencies, n_features)
    weights : array of shape (n_frequencies,)
        The q_m, non-negative.

    Returns
    -------
    features : array of shape (n_samples, 2 * n_frequencies)
    """
    return features_in(X, frequencies, weights, precision_of(X))


def features_in(
    X: Samples, frequencies: FloatArray, weights: FloatArray, precision: Precision
) -> NDArray[np.floating]:
    """Return the same as ``fourier_features`` in another precision than that of X.

    In single precision, phases that are too large for it are still computed in double precision.
    """
    features = np.empty((X.shape[0], 2 * len(frequencies)), dtype=precision)
    _fill_features(X, frequencies, weights, features)
    return features


def features_within(
    X: FloatArray, frequencies: FloatArray, weights: FloatArray, limit: float
) -> NDArray[np.floating] | None:
    """Return the features, or None if a number of X is NaN or farther from zero than the limit.

    Numbers are compared while they are near the core. An infinite limit means that they are known
    to be finite.
    """
    features = np.empty((len(X), 2 * len(frequencies)), dtype=X.dtype)
    is_within = _fill_features(X, frequencies, weights, features, limit)
    return features if is_within else None


def _fill_features(
    X: Samples,
    frequencies: FloatArray,
    weights: FloatArray,
    features: NDArray[np.floating],
    limit: float = np.inf,
) -> bool:
    """Write the features of each row, and return whether the numbers are within the limit.

    Rows with a number beyond it are not written.
    """
    from pacfourier.core import loops

    n_samples, n_frequencies = X.shape[0], len(frequencies)
    amplitudes = np.sqrt(weights)
    outside: list[slice] = []

    def fill(task: slice) -> None:
        # The rows that are looked at first are near the core when they are multiplied.
        samples = X[task]
        if limit < np.inf and not loops.are_within(samples, limit):
            outside.append(task)
            return
        sizes = phase_sizes(frequencies, largest_magnitudes(samples))
        groups = list(precision_groups(sizes, precision_of(features)))
        for dtype, members in groups:
            scaled = amplitudes[members].astype(dtype)
            for rows, turns in turn_blocks(samples, frequencies[members], dtype):
                block = features[task][rows]
                if len(groups) == 1:
                    loops.write_waves(turns, scaled, block)
                    continue
                waves = np.empty((len(turns), 2 * len(members)), dtype=features.dtype)
                loops.write_waves(turns, scaled, waves)
                block[:, members], block[:, n_frequencies + members] = np.split(waves, 2, axis=1)

    starts = range(0, n_samples, ROWS_PER_TASK)
    run_tasks(fill, [slice(start, start + ROWS_PER_TASK) for start in starts])
    return not outside


def fourier_kernel(
    X: Samples, Y: Samples, frequencies: FrequencyPool | FloatArray, weights: FloatArray
) -> NDArray[np.floating]:
    r"""Return the kernel matrix of weighted frequencies.

    .. math:: k(x, y) = \sum_m q_m \cos(\omega_m \cdot (x - y))

    Only the features of one band of frequencies are in memory at a time.
    """
    gram: Any = 0
    support = np.flatnonzero(weights > _NEGLIGIBLE_WEIGHT)
    for start in range(0, len(support), FREQUENCY_BAND):
        band = support[start : start + FREQUENCY_BAND]
        left = fourier_features(X, frequencies[band], weights[band])
        right = left if Y is X else fourier_features(Y, frequencies[band], weights[band])
        gram = gram + left @ right.T
    return gram
