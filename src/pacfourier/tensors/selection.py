"""Centroids of clusters of tensors: Lloyd's algorithm, as scikit-learn starts and ends it."""

import math

import numpy as np
import torch

from pacfourier.arrays import IntArray, host
from pacfourier.tensors.alignment.sums import row_blocks

# Rounds end when centroids move less than this part of the variance of the features.
TOLERANCE = 1e-4
MOST_ROUNDS = 300


def tensor_centroids(X: torch.Tensor, count: int, rng: np.random.Generator) -> torch.Tensor:
    """Return the centroids of as many clusters, beside X."""
    mean = X.mean(dim=0)
    # Distances are differences of squares, which are exact to the digit near zero only.
    X = X - mean
    centroids = seeds(X, count, rng)
    smallest = TOLERANCE * X.var(dim=0, correction=0).mean()
    for _ in range(MOST_ROUNDS):
        moved = cluster_means(X, nearest(X, centroids), centroids)
        is_still = bool((moved - centroids).square().sum() <= smallest)
        centroids = moved
        if is_still:
            break
    return centroids + mean


def seeds(X: torch.Tensor, count: int, rng: np.random.Generator) -> torch.Tensor:
    """Draw samples far from each other: the best of some draws in proportion to squared distance.

    (k-means++, Arthur and Vassilvitskii, 2007, in its greedy form.)
    """
    n_draws = 2 + int(math.log(count))
    chosen = torch.as_tensor([int(rng.integers(len(X)))], device=X.device)
    gaps = torch.cdist(X, X[chosen])[:, 0].square()
    for _ in range(count - 1):
        ends = gaps.cumsum(dim=0, dtype=torch.float64)
        places = torch.as_tensor(rng.random(n_draws), device=X.device) * ends[-1]
        drawn = torch.searchsorted(ends, places).clamp(max=len(X) - 1)
        candidates = torch.minimum(gaps[:, None], torch.cdist(X, X[drawn]).square())
        best = candidates.sum(dim=0).argmin()
        gaps = candidates[:, best]
        chosen = torch.cat([chosen, drawn[best][None]])
    return X[chosen]


def cluster_means(X: torch.Tensor, owners: torch.Tensor, centroids: torch.Tensor) -> torch.Tensor:
    """Return the mean of the samples of each centroid; one without any stays where it is."""
    sums, counts = torch.zeros_like(centroids), X.new_zeros((len(centroids), 1))
    numbers = torch.arange(len(centroids), device=X.device)[:, None]
    for rows in row_blocks(len(X), len(centroids)):
        # A product adds in the same order every time.
        own = (numbers == owners[rows]).to(X.dtype)
        sums += own @ X[rows]
        counts += own.sum(dim=1, keepdim=True)
    return torch.where(counts > 0, sums / counts.clamp(min=1), centroids)


def nearest(X: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
    """Return the index of the point that is nearest to each row of X, both near zero."""
    blocks = row_blocks(len(X), len(points))
    return torch.cat([torch.cdist(X[rows], points).argmin(dim=1) for rows in blocks])


def tensor_nearest(X: torch.Tensor, points: torch.Tensor) -> IntArray:
    """Return the index of the point that is nearest to each row of X, for NumPy."""
    centre = points.mean(dim=0)
    return host(nearest(X - centre, points - centre))
