"""Landmarks chosen together, on a bounded part of the rows."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray, IntArray, host
from pacfourier.core.alignment.landmarks import (
    landmark_phases,
    landmark_waves,
    shared_similarities,
)
from pacfourier.core.alignment.summary import row_fingerprints
from pacfourier.core.alignment.sums import alignment_sums
from pacfourier.core.alignment.targets import Target
from pacfourier.core.phases import single_threaded_blas
from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.core.sampling.complementary_columns import forward_columns
from pacfourier.data.reservoir import MOST_ROWS
from pacfourier.estimators.learned import working_precision
from pacfourier.pacbayes.posteriors import tilted_posteriors

# So many rows compete, or twice the number of landmarks.
FEWEST_CANDIDATES = 600
# Memory and time of a choice grow with the square of the number of landmarks.
MOST_LANDMARKS = 300
# Fewer landmarks share as many frequencies as this number of landmarks would.
FEWEST_OWNERS = 64
# The shares of beta that every candidate tries. Zero leaves the kernel as it is.
TILTS = (0.0, 0.1, 0.3, 1.0)


class Contest(NamedTuple):
    """The rows on which landmarks compete.

    Attributes
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
        The rows, in random order.
    y : array of shape (n_rows,)
        Their labels.
    indices : array of shape (n_rows,)
        Their places in the sample.
    candidates : array of shape (n_candidates,)
        Which of these rows may become landmarks.
    """

    X: Any
    y: NDArray[Any]
    indices: IntArray
    candidates: IntArray


class SimilarityShapes(NamedTuple):
    """What is chosen for each landmark, besides the landmark itself.

    Attributes
    ----------
    log_shares : array of shape (n_components, n_frequencies)
        Logarithms of the components' shares in the prior at each frequency.
    components : array of shape (n_landmarks,)
        The component of the prior from which the posterior starts.
    tilts : array of shape (n_landmarks,)
        The share of beta by which the posterior moves towards frequencies of small loss.
    """

    log_shares: FloatArray
    components: IntArray
    tilts: FloatArray

    def posteriors(self, losses: FloatArray, inverse_temperature: float) -> FloatArray:
        """Return the weights of the frequencies, of shape (n_landmarks, n_frequencies)."""
        starts = self.log_shares[self.components]
        return tilted_posteriors(starts, losses, inverse_temperature * self.tilts)

    def of(self, landmarks: IntArray) -> "SimilarityShapes":
        """Return the shapes of some of the landmarks."""
        return self._replace(components=self.components[landmarks], tilts=self.tilts[landmarks])


def are_equal_shapes(first: SimilarityShapes | None, second: SimilarityShapes | None) -> bool:
    """Return whether the same was chosen for the landmarks of two estimators."""
    if first is None or second is None:
        return first is second
    return all(map(np.array_equal, first[1:], second[1:]))


def is_complementary(landmarks: Any) -> bool:
    """Return whether the parameter ``landmarks`` asks for complementary landmarks."""
    return isinstance(landmarks, str) and landmarks == "complementary"


def contest_of(X: Any, y: NDArray[Any], n_landmarks: int, rng: np.random.Generator) -> Contest:
    """Return random rows and, among the distinct ones of them, random candidates."""
    if n_landmarks > MOST_LANDMARKS:
        raise ValueError(
            f"n_landmarks must be at most {MOST_LANDMARKS} with landmarks='complementary', got "
            f"{n_landmarks}. Pass a smaller number, or landmarks='medoids'."
        )
    indices = rng.permutation(X.shape[0])[:MOST_ROWS]
    rows = host(X[indices])
    _, distinct = np.unique(row_fingerprints(rows), return_index=True)
    if len(distinct) < n_landmarks:
        distinct = np.arange(len(indices))
    candidates = np.sort(distinct)[: max(FEWEST_CANDIDATES, 2 * n_landmarks)]
    return Contest(rows, y[indices], indices, candidates)


def complementary_columns(
    contest: Contest, columns: FloatArray, target: Target, size: int
) -> IntArray:
    """Return the indices of columns that explain the labels together.

    Column j belongs to the candidate j modulo the number of candidates.
    """
    owners = np.arange(columns.shape[1]) % len(contest.candidates)
    outputs = target.outputs(contest.y).values
    # Sums in another order could turn the choice between near copies.
    with single_threaded_blas():
        return forward_columns(columns, outputs, owners, size)


def complementary_similarities(
    contest: Contest,
    pool: FrequencyPool,
    log_shares: FloatArray,
    *,
    target: Target,
    inverse_temperature: float,
    size: int,
    rng: np.random.Generator,
) -> tuple[IntArray, SimilarityShapes]:
    """Return candidates whose similarities explain the labels together, and these similarities.

    Every candidate tries each share of beta, each with a random component of the prior.

    Parameters
    ----------
    contest : Contest
    pool : FrequencyPool
        The frequencies that all landmarks share.
    log_shares : array of shape (n_components, n_frequencies)
    target : Target
        How labels are coded.
    inverse_temperature : float
        The largest one, beta sqrt(n).
    size : int
        The number of landmarks.
    rng : numpy.random.Generator
    """
    n_candidates = len(contest.candidates)
    phases = landmark_phases(contest.X[contest.candidates], pool, len(pool), shared=True)
    losses = _candidate_losses(contest, pool, phases, target)
    components = rng.integers(len(log_shares), size=(len(TILTS), n_candidates))
    columns = []
    for tilt, own in zip(TILTS, components, strict=True):
        shapes = SimilarityShapes(log_shares, own, np.full(n_candidates, tilt))
        posteriors = shapes.posteriors(losses, inverse_temperature)
        columns.append(shared_similarities(contest.X, pool, phases, posteriors).astype(np.float32))
    chosen = complementary_columns(contest, np.hstack(columns), target, size)
    tilts = np.repeat(TILTS, n_candidates)
    shapes = SimilarityShapes(log_shares, components.ravel(), tilts).of(chosen)
    return contest.candidates[chosen % n_candidates], shapes


def _candidate_losses(
    contest: Contest, pool: FrequencyPool, phases: FloatArray, target: Target
) -> FloatArray:
    """Return the losses of all frequencies for all candidates, on the rows of the contest."""
    precision = working_precision(contest.X.shape[0], pool)
    sums = alignment_sums(contest.X, contest.y, target, pool, precision=precision)
    codes = target.encode(contest.y[contest.candidates]).toarray()
    are_samples = np.ones(len(codes), dtype=bool)
    agreement = target.agreement(sums.totals)
    return landmark_waves(sums, codes, agreement, phases, are_samples).losses
