"""Distances between the rows of tensors."""

from typing import Any

import torch

from pacfourier.arrays import matching
from pacfourier.data.distances import distances
from pacfourier.spectra import Metric


@distances.register(torch.Tensor)
def _tensor_distances(X: torch.Tensor, Y: Any, metric: Metric) -> torch.Tensor:
    """Return the distances between the rows of X and of Y, in double precision."""
    points = matching(X, Y.toarray() if hasattr(Y, "toarray") else Y)
    if metric == "cityblock":
        return torch.cdist(X, points, p=1).double()
    # By differences, because squares of samples far from zero leave no digits for distances.
    mode = "donot_use_mm_for_euclid_dist"
    return torch.cdist(X, points, compute_mode=mode).double().square()
