"""Centroids and nearest points of tensors.

Centroids come from Lloyd's algorithm, with the seeds and the stopping rule of scikit-learn.
"""

import math

import numpy as np
import torch

from pacfourier.arrays import IntArray, host
from pacfourier.data.selection import nearest_rows, seeded_centroids
from pacfourier.tensors.phases import row_blocks

# Stop when the centroids move by less than this fraction of the variance of the features.
_TOLERANCE = 1e-4
_MOST_ROUNDS = 300


@seeded_centroids.register(torch.Tensor)
def _tensor_centroids(X: torch.Tensor, count: int, seed: int) -> torch.Tensor:
    """Return the centroids of ``count`` clusters as a tensor on the device of X."""
    mean = X.mean(dim=0)
    # Distances are computed as differences of squares, which lose digits far from zero.
    X = X - mean
    centroids = _seeds(X, count, np.random.default_rng(seed))
    smallest = _TOLERANCE * X.var(dim=0, correction=0).mean()
    for _ in range(_MOST_ROUNDS):
        moved = _cluster_means(X, _nearest(X, centroids), centroids)
        is_still = bool((moved - centroids).square().sum() <= smallest)
        centroids = moved
        if is_still:
            break
    return centroids + mean


def _seeds(X: torch.Tensor, count: int, rng: np.random.Generator) -> torch.Tensor:
    """Choose samples that are far from each other, by greedy k-means++.

    Each step draws a few samples with probability proportional to their squared distance from
    the seeds chosen so far, and keeps the best of them (Arthur and Vassilvitskii, 2007).
    """
    n_draws = 2 + int(math.log(count))
    chosen = torch.as_tensor([int(rng.integers(len(X)))], device=X.device)
    gaps = torch.cdist(X, X[chosen])[:, 0].square()
    for _ in range(count - 1):
        ends = gaps.cumsum(dim=0, dtype=torch.float64)
        places = torch.as_tensor(rng.random(n_draws), device=X.device) * ends[-1]
        drawn = torch.searchsorted(ends, places).clamp(max=len(X) - 1)
        shrunk = torch.minimum(gaps[:, None], torch.cdist(X, X[drawn]).square())
        best = shrunk.sum(dim=0).argmin()
        gaps = shrunk[:, best]
        chosen = torch.cat([chosen, drawn[best][None]])
    return X[chosen]


def _cluster_means(X: torch.Tensor, owners: torch.Tensor, centroids: torch.Tensor) -> torch.Tensor:
    """Return the mean of the samples of each centroid; a centroid without samples does not move."""
    sums, counts = torch.zeros_like(centroids), X.new_zeros((len(centroids), 1))
    numbers = torch.arange(len(centroids), device=X.device)[:, None]
    for rows in row_blocks(len(X), len(centroids)):
        # Unlike a scatter, a matrix product adds in the same order every time.
        own = (numbers == owners[rows]).to(X.dtype)
        sums += own @ X[rows]
        counts += own.sum(dim=1, keepdim=True)
    return torch.where(counts > 0, sums / counts.clamp(min=1), centroids)


def _nearest(X: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
    """Return the index of the nearest point for each row of X; both must be centred."""
    blocks = row_blocks(len(X), len(points))
    return torch.cat([torch.cdist(X[rows], points).argmin(dim=1) for rows in blocks])


@nearest_rows.register(torch.Tensor)
def _tensor_nearest(X: torch.Tensor, points: torch.Tensor) -> IntArray:
    """Return the index of the nearest point for each row of X, as a NumPy array."""
    centre = points.mean(dim=0)
    return host(_nearest(X - centre, points - centre))
