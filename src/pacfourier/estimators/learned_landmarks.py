"""Reduce a sample to what landmarks learn from: sums, and which landmarks are samples."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pacfourier.core.alignment.summary import SampleSummary, row_fingerprints, sample_summary
from pacfourier.core.alignment.sums import AlignmentSums, alignment_sums
from pacfourier.core.alignment.targets import Target
from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.data.samples import Block
from pacfourier.estimators.learned_map import working_precision

# A landmark is no row of the sample, a row with another label, or a row with the same label.
ABSENT, POINT, SAMPLE = range(3)


class LearnedOfLandmarks(NamedTuple):
    """What landmarks learn from a sample.

    Attributes
    ----------
    sums : AlignmentSums
        Sums over the samples, from which the losses are computed.
    summary : SampleSummary
        Statistics of the samples, from which certificates check their assumptions.
    standing : array of shape (n_landmarks,)
        Whether each landmark is ABSENT from the sample, a POINT of it or one of its SAMPLEs.
    """

    sums: AlignmentSums
    summary: SampleSummary
    standing: NDArray[np.intp]

    def merge(self, other: Self) -> "LearnedOfLandmarks":
        """Return the result for both data sets."""
        return LearnedOfLandmarks(
            self.sums.merge(other.sums),
            self.summary.merge(other.summary),
            np.maximum(self.standing, other.standing),
        )


def learned_of_landmarks(
    block: Block,
    target: Target,
    pool: FrequencyPool,
    fingerprints: NDArray[np.uint64],
    labels: NDArray[Any],
) -> LearnedOfLandmarks:
    """Return the result for one block of rows.

    Landmarks are compared with rows by fingerprint and label.
    """
    target.observe(block.y)
    precision = working_precision(block.X.shape[0], pool)
    return LearnedOfLandmarks(
        alignment_sums(block.X, block.y, target, pool, precision=precision),
        sample_summary(block.X, target.encode(block.y)),
        _landmark_standing(fingerprints, labels, block),
    )


def _landmark_standing(
    fingerprints: NDArray[np.uint64], labels: NDArray[Any], block: Block
) -> NDArray[np.intp]:
    """Return whether each landmark is ABSENT, a POINT of the block, or a SAMPLE of it."""
    rows = row_fingerprints(block.X)
    # By default, NumPy 2.0 computes the range of the fingerprints, which overflows.
    present = np.flatnonzero(np.isin(rows, fingerprints, kind="sort"))
    samples = set(zip(rows[present].tolist(), block.y[present].tolist(), strict=True))
    points = {point for point, _ in samples}
    pairs = zip(fingerprints.tolist(), labels.tolist(), strict=True)
    return np.array([int(pair[0] in points) + int(pair in samples) for pair in pairs])


def source_of_part(source: str) -> str:
    """Return how landmarks were chosen, after more data were added.

    Random rows of the first batch are no longer random rows of all data.
    """
    return "random in a part" if source == "random" else source
