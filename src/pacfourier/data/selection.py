"""Selection of landmarks: rows of the sample, centroids, or points that the user gives."""

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_array

from pacfourier.arrays import IntArray, by_kind, host
from pacfourier.core.precision import precision_of
from pacfourier.data.blocks import BlockedSample
from pacfourier.data.samples import Sample

_SELECTIONS = ("random", "stratified", "kmeans", "medoids")


class _Landmarks(NamedTuple):
    """Landmarks with their labels. ``indices`` are their rows, or None if they are no samples."""

    points: Any
    labels: NDArray[Any]
    indices: IntArray | None


def select_landmarks(
    landmarks: Any,
    n_landmarks: float,
    sample: Sample | BlockedSample,
    rng: np.random.Generator,
) -> _Landmarks:
    """Return landmarks, chosen as the parameters of an estimator say.

    Parameters
    ----------
    landmarks : one of ``_SELECTIONS``, (points, labels) or callable
        A callable takes (X, y, n_landmarks, rng) and returns indices or (points, labels).
    n_landmarks : int or float
        A count, or a fraction of the samples. Not used for given points.
    sample : Sample, or BlockedSample if the points are given
    rng : numpy.random.Generator

    Returns
    -------
    landmarks : Landmarks
    """
    if isinstance(landmarks, tuple):
        return _given(landmarks, sample.heading)
    if sample.whole is None:
        raise ValueError(
            f"landmarks must be (points, labels) for data in blocks, got {landmarks!r}."
        )
    X, y = sample.whole.X, sample.whole.y
    if callable(landmarks):
        chosen = landmarks(X, y, _landmark_count(n_landmarks, X.shape[0]), rng)
        return _given(chosen, X) if isinstance(chosen, tuple) else _rows(_checked(chosen, X), X, y)
    if not isinstance(landmarks, str) or landmarks not in _SELECTIONS:
        raise ValueError(
            f"landmarks must be (points, labels), a callable or one of {_SELECTIONS}, "
            f"got {landmarks!r}."
        )
    count = _landmark_count(n_landmarks, X.shape[0])
    if landmarks == "random":
        return _rows(np.sort(rng.choice(X.shape[0], size=count, replace=False)), X, y)
    return _by_class(landmarks, count, X, y, rng)


def _landmark_count(n_landmarks: Any, n_samples: int) -> int:
    """Return the number of landmarks, given as a number or as a fraction of the samples."""
    if isinstance(n_landmarks, bool):
        count = 0
    elif isinstance(n_landmarks, Integral):
        count = int(n_landmarks)
    elif isinstance(n_landmarks, Real) and 0 < float(n_landmarks) <= 1:
        count = max(1, round(float(n_landmarks) * n_samples))
    else:
        count = 0
    if not 1 <= count <= n_samples:
        raise ValueError(
            "n_landmarks must be a count from 1 to the number of samples or a fraction in (0, 1], "
            f"got {n_landmarks!r} for {n_samples} samples."
        )
    return count


def _equal_shares(total: int, capacities: Sequence[int]) -> IntArray:
    """Split a total into shares that are as equal as the capacities allow.

    If the total does not divide evenly, the classes with more capacity get the rest.

    >>> _equal_shares(7, [100, 2, 100]).tolist()
    [3, 2, 2]
    """
    shares = np.zeros(len(capacities), dtype=int)
    for _ in range(total):
        room = np.asarray(capacities) - shares
        # Let the smallest share grow that still can; if several are equal, the one with most room.
        order = np.lexsort((-room, np.where(room > 0, shares, np.iinfo(int).max)))
        shares[order[0]] += 1
    return shares


def _by_class(
    landmarks: str, count: int, X: Any, y: NDArray[Any], rng: np.random.Generator
) -> _Landmarks:
    classes, sizes = np.unique(y, return_counts=True)
    points, labels, indices = [], [], []
    for label, share in zip(classes, _equal_shares(count, sizes.tolist()), strict=True):
        if share == 0:
            continue
        members = np.flatnonzero(y == label)
        if landmarks == "stratified":
            indices.append(np.sort(rng.choice(members, size=share, replace=False)))
            continue
        centroids = _kmeans_centroids(X[members], share, rng)
        if landmarks == "medoids":
            indices.append(members[_distinct_nearest_rows(X[members], centroids)])
        else:
            points.append(host(centroids))
            labels.append(np.full(share, label, dtype=y.dtype))
    if indices:
        return _rows(np.concatenate(indices), X, y)
    return _Landmarks(np.concatenate(points), np.concatenate(labels), None)


def _kmeans_centroids(X: Any, count: int, rng: np.random.Generator) -> Any:
    """Return the centroids of ``count`` clusters, as an array of the same kind as X."""
    return seeded_centroids(X, count, int(rng.integers(2**31)))


@by_kind
def seeded_centroids(X: Any, count: int, seed: int) -> Any:
    """Return the centroids that k-means finds with a given seed."""
    with warnings.catch_warnings():
        # It warns if there are fewer distinct points than clusters. Equal centroids do no harm.
        warnings.simplefilter("ignore", ConvergenceWarning)
        centroids = KMeans(count, n_init=1, random_state=seed).fit(X).cluster_centers_
    return centroids.astype(X.dtype)


def _distinct_nearest_rows(X: Any, centroids: Any) -> IntArray:
    """Return a different row for every centroid, the nearest one that is not taken yet."""
    nearest = nearest_rows(centroids, X)
    _, first = np.unique(nearest, return_index=True)
    chosen = dict(zip(first.tolist(), nearest[first].tolist(), strict=True))
    left = np.setdiff1d(np.arange(X.shape[0]), nearest)
    for centroid in range(len(centroids)):
        if centroid not in chosen:
            position = nearest_rows(centroids[[centroid]], X[left])[0]
            chosen[centroid] = left[position]
            left = np.delete(left, position)
    return np.array([chosen[centroid] for centroid in range(len(centroids))])


@by_kind
def nearest_rows(points: Any, X: Any) -> IntArray:
    """Return the row of X that is nearest to each point."""
    # Squares of rows far from zero would leave no digits for their distances.
    centre = 0 if sparse.issparse(X) else X[:1]
    return pairwise_distances_argmin(points - centre, X - centre)


def _rows(indices: IntArray, X: Any, y: NDArray[Any]) -> _Landmarks:
    return _Landmarks(host(X[indices]), y[indices], indices)


def _checked(indices: Any, X: Any) -> IntArray:
    """Return the indices that a callable gave, after checking that they are different rows."""
    indices = np.asarray(host(indices))
    is_rows = indices.ndim == 1 and indices.size > 0 and indices.dtype.kind in "iu"
    if not is_rows or indices.min() < 0 or indices.max() >= X.shape[0]:
        raise ValueError(
            f"landmarks must return (points, labels) or indices of rows, got {indices!r}."
        )
    if len(np.unique(indices)) < len(indices):
        raise ValueError("landmarks must return different rows, got one of them twice.")
    return indices


def _given(landmarks: tuple[Any, ...], X: Any) -> _Landmarks:
    if len(landmarks) != 2:
        raise ValueError(f"landmarks must be (points, labels), got {len(landmarks)} items.")
    points = check_array(
        host(landmarks[0]), accept_sparse="csr", dtype=_type_of(X), input_name="landmarks"
    )
    labels = np.asarray(host(landmarks[1]))
    if points.shape[1] != X.shape[1]:
        raise ValueError(
            f"landmarks must have {X.shape[1]} columns as X has, got {points.shape[1]}."
        )
    if labels.shape != (points.shape[0],):
        raise ValueError(
            f"landmarks must come with {points.shape[0]} labels, got shape {labels.shape}."
        )
    return _Landmarks(points, labels, None)


def _type_of(X: Any) -> type[np.floating[Any]]:
    return np.float32 if precision_of(X) == "single" else np.float64
