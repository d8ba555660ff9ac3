"""What data teach of landmarks: sums over their frequencies, and how they stand in the data."""

from typing import NamedTuple

import numpy as np

from pacfourier.core.alignment.summary import SampleSummary, row_fingerprints, sample_summary
from pacfourier.core.alignment.sums import AlignmentSums, alignment_sums
from pacfourier.estimators.learned import working_precision

# A landmark is no row of the data, one of them under another label, or one of them.
ABSENT, POINT, SAMPLE = range(3)


class LearnedOfLandmarks(NamedTuple):
    """What is learned of data: their sums, their past, and how landmarks stand among them."""

    sums: AlignmentSums
    summary: SampleSummary
    standing: np.ndarray

    def merge(self, other):
        """Return what is learned of both."""
        return LearnedOfLandmarks(
            self.sums.merge(other.sums),
            self.summary.merge(other.summary),
            np.maximum(self.standing, other.standing),
        )


def learned_of_landmarks(block, target, pool, fingerprints, labels):
    """Return what a block of samples teaches of landmarks, known by fingerprint and label."""
    target.observe(block.y)
    precision = working_precision(block.X.shape[0], pool)
    return LearnedOfLandmarks(
        alignment_sums(block.X, block.y, target, pool, precision=precision),
        sample_summary(block.X),
        landmark_standing(fingerprints, labels, block),
    )


def landmark_standing(fingerprints, labels, block):
    """Return how landmarks stand in a block: ABSENT, a POINT of it or, with its label, a SAMPLE."""
    rows = row_fingerprints(block.X)
    # NumPy 2.0 overflows when it measures the range of fingerprints to choose an algorithm.
    present = np.flatnonzero(np.isin(rows, fingerprints, kind="sort"))
    samples = set(zip(rows[present].tolist(), block.y[present].tolist(), strict=True))
    points = {point for point, _ in samples}
    pairs = zip(fingerprints.tolist(), labels.tolist(), strict=True)
    return np.array([int(pair[0] in points) + int(pair in samples) for pair in pairs])


def source_of_part(source):
    """Return what landmarks of a part of the data are: its rows were not drawn from all."""
    return "random in a part" if source == "random" else source
