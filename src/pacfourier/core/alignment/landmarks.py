r"""Losses and similarities of landmarks. A landmark is a point that is compared with all samples.

For a landmark :math:`(x_l, y_l)` the loss of a frequency is a mean over the other samples,

.. math:: \hat L^l(\omega) = \frac{1}{n'} \sum_{j \neq l}
          \frac{1 - \lambda_{lj} \cos(\omega \cdot (x_l - x_j))}{2}

(Equation 10 of the paper). The sum of agreements is
:math:`\mathrm{Re}\big(e^{i \omega \cdot x_l} \overline{u_l^\top A\, S(\omega)}\big)` with the same
waves S as in the alignment loss. If the landmark is itself a sample, its pair with itself is left
out.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacfourier.arrays import ComplexArray, FloatArray, Samples, by_kind
from pacfourier.core.alignment.sums import AlignmentSums
from pacfourier.core.precision import (
    largest_magnitudes,
    phase_sizes,
    precision_groups,
    precision_of,
)
from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.core.products import FREQUENCY_BAND, LARGEST_BAND, turn_blocks
from pacfourier.core.threads import run_tasks


@dataclass(frozen=True, eq=False)
class LandmarkWaves:
    """Sums over the other samples, for each landmark and each of its frequencies.

    Attributes
    ----------
    alignments, harmonics : arrays of shape (n_landmarks, n_frequencies)
        The sums of lambda cos(omega . (x_l - x_j)) and of
        cos(2 omega . (x_l - x_j)).
    agreements : array of shape (n_landmarks,)
        The mean of lambda over the other samples.
    n_others : array of shape (n_landmarks,)
        The number of other samples.
    rounding : array of shape (n_landmarks, n_frequencies)
        How far single precision may have moved a mean of waves.
    """

    alignments: FloatArray
    harmonics: FloatArray
    agreements: FloatArray
    n_others: FloatArray
    rounding: FloatArray

    @property
    def losses(self) -> FloatArray:
        """The loss of every frequency of every landmark."""
        return (1 - self.alignments / self.n_others[:, np.newaxis]) / 2

    @property
    def second_moments(self) -> FloatArray:
        """The mean of (loss - 1/2)^2, if all agreements are +1 or -1."""
        return (1 + self.harmonics / self.n_others[:, np.newaxis]) / 8


def landmark_phases(landmarks: Samples, pool: FrequencyPool, n_frequencies: int) -> FloatArray:
    """Return omega . x_l, of shape (n_landmarks, n_frequencies).

    Landmark l has the rows l D to l D + D - 1 of the pool, where D is ``n_frequencies``.
    """
    n_landmarks, n_features = landmarks.shape
    phases = np.empty((n_landmarks, n_frequencies))
    size = landmarks_per_band(n_frequencies, n_features)
    for start in range(0, n_landmarks, size):
        block = _dense(landmarks[start : start + size]).astype(np.float64)
        rows = slice(start * n_frequencies, (start + len(block)) * n_frequencies)
        own = pool[rows].reshape(len(block), n_frequencies, n_features)
        phases[start : start + size] = np.einsum("lmk,lk->lm", own, block, optimize=True)
    return phases


def landmarks_per_band(n_frequencies: int, n_features: int) -> int:
    """Return the number of landmarks whose frequencies together make a band of bounded memory."""
    return max(1, min(FREQUENCY_BAND, LARGEST_BAND // n_features) // n_frequencies)


def landmark_waves(
    sums: AlignmentSums,
    codes: FloatArray,
    agreement: FloatArray,
    phases: FloatArray,
    is_sample: NDArray[np.bool_],
) -> LandmarkWaves:
    """Return the waves of landmarks from the sums of a sample over their frequencies.

    Parameters
    ----------
    sums : AlignmentSums
        Sums for a pool of n_landmarks * n_frequencies rows.
    codes : array of shape (n_landmarks, n_codes)
        The rows u_l.
    agreement : array of shape (n_codes, n_codes)
    phases : array of shape (n_landmarks, n_frequencies)
    is_sample : array of shape (n_landmarks,)
        Whether the landmark is one of the samples.

    Returns
    -------
    waves : LandmarkWaves
    """
    n_landmarks, n_frequencies = phases.shape
    waves = sums.waves.reshape(len(agreement), -1, n_frequencies)
    directions = codes @ agreement
    towards: ComplexArray = np.zeros((n_landmarks, n_frequencies), dtype=np.complex128)
    for code in range(len(agreement)):
        towards += directions[:, code, np.newaxis] * waves[code]
    own = is_sample[:, np.newaxis]
    turned = np.exp(1j * phases)
    # The pair of a landmark with itself has agreement one and cosine one.
    alignments = (turned * towards.conj()).real - own
    doubled = sums.harmonics.reshape(-1, n_frequencies)
    harmonics = (turned**2 * doubled.conj()).real - own
    n_others = (sums.n_samples - is_sample).astype(np.float64)
    rounding = sums.rounding.reshape(-1, n_frequencies)
    return LandmarkWaves(
        alignments,
        harmonics,
        (directions @ sums.totals - is_sample) / n_others,
        n_others,
        np.broadcast_to(rounding, alignments.shape),
    )


@by_kind
def landmark_similarities(
    X: Samples, pool: FrequencyPool, phases: FloatArray, posteriors: FloatArray
) -> NDArray[np.floating[Any]]:
    r"""Return the similarities of samples to landmarks that have different frequencies.

    .. math:: \psi_l(x) = \sum_m Q^l_m \cos(\omega^l_m \cdot (x_l - x))

    (Equation 13 of the paper). ``posteriors`` has shape (n_maps, n_landmarks, n_frequencies), and
    the result has shape (n_maps, n_samples, n_landmarks). All maps share the same cosines, which
    are never stored. Each thread takes a few landmarks at a time.
    """
    from pacfourier.core import loops

    n_landmarks, n_frequencies = phases.shape
    similarities = np.zeros((len(posteriors), X.shape[0], n_landmarks), dtype=X.dtype)
    magnitudes = largest_magnitudes(X)
    size = landmarks_per_band(n_frequencies, X.shape[1])

    def fill(start: int) -> None:
        block = slice(start, min(start + size, n_landmarks))
        firsts = n_frequencies * np.arange(block.stop - block.start + 1)
        frequencies = pool[start * n_frequencies : block.stop * n_frequencies]
        offsets = phases[block].ravel() / (2 * np.pi)
        weights = posteriors[:, block].reshape(len(posteriors), -1)
        # Whole turns do not change a cosine, but they would cost digits in single precision.
        offsets -= np.rint(offsets)
        sizes = phase_sizes(frequencies, magnitudes)
        for dtype, members in precision_groups(sizes, precision_of(X)):
            own_offsets = offsets[members].astype(dtype)
            own_weights = weights[:, members].astype(dtype)
            starts = np.searchsorted(members, firsts)
            for rows, turns in turn_blocks(X, frequencies[members], dtype):
                loops.add_similarities(
                    turns, own_offsets, own_weights, starts, similarities[:, rows, block]
                )

    run_tasks(fill, range(0, n_landmarks, size))
    return similarities


def _dense(rows: Samples) -> FloatArray:
    return rows.toarray() if sparse.issparse(rows) else rows
