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
from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.core.products import cut
from pacfourier.core.sampling.complementary_columns import forward_columns
from pacfourier.core.threads import single_threaded_blas
from pacfourier.data.distances import kernel_matrix
from pacfourier.data.reservoir import MOST_ROWS
from pacfourier.data.selection import medoids_among
from pacfourier.estimators.learned import working_precision
from pacfourier.pacbayes.posteriors import tilted_posteriors
from pacfourier.spectra import Spectrum

# So many rows compete, or twice the number of landmarks.
FEWEST_CANDIDATES = 600
# Memory and time of a choice grow with the square of the number of landmarks.
MOST_LANDMARKS = 300
# Fewer landmarks share as many frequencies as this number of landmarks would.
FEWEST_OWNERS = 64
# The shares of beta that every candidate tries. Zero leaves the kernel as it is.
TILTS = (0.0, 0.1, 0.3, 1.0)
# Losses and posteriors are made for so many candidates at a time, to save memory.
TOGETHER = 50
# A learned similarity must lower Mallows' criterion. Fixed ones made more errors with this rule:
# on adult it ended after four of twenty.
PENALTY = 2.0


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
    distinct : array of shape (n_distinct,)
        Which of these rows to take so that none is taken twice. All, if there are too few others.
    candidates : array of shape (n_candidates,)
        The first of them, which compete.
    size : int
        The number of landmarks.
    """

    X: Any
    y: NDArray[Any]
    indices: IntArray
    distinct: IntArray
    candidates: IntArray
    size: int


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

    def of(self, landmarks: IntArray | slice) -> "SimilarityShapes":
        """Return the shapes of some of the landmarks."""
        return self._replace(components=self.components[landmarks], tilts=self.tilts[landmarks])

    def followed_by_kernels(self, count: int) -> "SimilarityShapes":
        """Return these shapes and so many kernels, of the median component."""
        every = self.components if len(self.components) else np.arange(len(self.log_shares))
        kernels = np.full(count, np.sort(every)[len(every) // 2])
        components = np.concatenate([self.components, kernels])
        return self._replace(
            components=components, tilts=np.concatenate([self.tilts, np.zeros(count)])
        )


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
    distinct = np.sort(distinct)
    candidates = distinct[: max(FEWEST_CANDIDATES, 2 * n_landmarks)]
    return Contest(rows, y[indices], indices, distinct, candidates, n_landmarks)


def complementary_kernels(
    contest: Contest, spectrum: Spectrum, target: Target, rng: np.random.Generator
) -> IntArray:
    """Return rows of the contest whose kernels explain the labels together."""
    # Sums in another order could turn the choice between near copies.
    with single_threaded_blas():
        columns = kernel_matrix(spectrum, contest.X, contest.X[contest.candidates])
        owners = np.arange(len(contest.candidates))
        chosen = forward_columns(columns, target.outputs(contest.y).values, owners, contest.size)
    rows = contest.candidates[chosen]
    return np.concatenate([rows, _medoids_beside(contest, rows, rng)])


def complementary_similarities(
    contest: Contest,
    pool: FrequencyPool,
    log_shares: FloatArray,
    *,
    target: Target,
    inverse_temperature: float,
    rng: np.random.Generator,
) -> tuple[IntArray, SimilarityShapes]:
    """Return rows of the contest whose similarities explain the labels together, and their shapes.

    Every candidate tries each share of beta, each with a random component of the prior. Where none
    of them explains more than it costs, the other landmarks are medoids with plain kernels.

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
    rng : numpy.random.Generator

    Returns
    -------
    rows : array of shape (n_landmarks,)
    shapes : SimilarityShapes
    """
    n_candidates = len(contest.candidates)
    owners = np.tile(np.arange(n_candidates), len(TILTS))
    components = rng.integers(len(log_shares), size=len(owners))
    shapes = SimilarityShapes(log_shares, components, np.repeat(TILTS, n_candidates))
    # Sums in another order could turn the choice between near copies.
    with single_threaded_blas():
        columns = _similarities_tried(contest, pool, shapes, target, inverse_temperature)
        outputs = target.outputs(contest.y).values
        chosen = forward_columns(columns, outputs, owners, contest.size, PENALTY)
    rows = contest.candidates[owners[chosen]]
    medoids = _medoids_beside(contest, rows, rng)
    return np.concatenate([rows, medoids]), shapes.of(chosen).followed_by_kernels(len(medoids))


def _similarities_tried(
    contest: Contest,
    pool: FrequencyPool,
    shapes: SimilarityShapes,
    target: Target,
    inverse_temperature: float,
) -> FloatArray:
    """Return one column of similarities per shape. The shapes repeat the candidates in order."""
    n_candidates = len(contest.candidates)
    phases = landmark_phases(contest.X[contest.candidates], pool, len(pool), shared=True)
    losses = _candidate_losses(contest, pool, phases, target)
    columns = np.empty((len(contest.y), len(shapes.tilts)), dtype=np.float32)
    for tried in cut(len(shapes.tilts), n_candidates):
        own, posteriors = shapes.of(tried), np.empty_like(losses)
        for part in cut(n_candidates, TOGETHER):
            posteriors[part] = own.of(part).posteriors(losses[part], inverse_temperature)
        columns[:, tried] = shared_similarities(contest.X, pool, phases, posteriors)
    return columns


def _candidate_losses(
    contest: Contest, pool: FrequencyPool, phases: FloatArray, target: Target
) -> FloatArray:
    """Return the losses of all frequencies for all candidates, on the rows of the contest."""
    precision = working_precision(contest.X.shape[0], pool)
    sums = alignment_sums(contest.X, contest.y, target, pool, precision=precision)
    codes = target.encode(contest.y[contest.candidates]).toarray()
    agreement = target.agreement(sums.totals)
    losses = np.empty(phases.shape, dtype=np.float32)
    for part in cut(len(codes), TOGETHER):
        are_samples = np.ones(part.stop - part.start, dtype=bool)
        waves = landmark_waves(sums, codes[part], agreement, phases[part], are_samples)
        losses[part] = waves.losses
    return losses


def _medoids_beside(contest: Contest, rows: IntArray, rng: np.random.Generator) -> IntArray:
    """Return medoids of the classes for the landmarks that are left."""
    n_left = contest.size - len(rows)
    if not n_left:
        return rows[:0]
    others = np.setdiff1d(contest.distinct, rows)
    return medoids_among(others, contest.X, contest.y, n_left, rng)
