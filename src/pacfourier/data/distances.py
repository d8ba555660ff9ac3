"""Distances and kernels between two sets of points."""

from typing import Any

from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from pacfourier.arrays import by_kind, matching
from pacfourier.spectra import Metric, Spectrum


@by_kind
def distances(X: Any, Y: Any, metric: Metric) -> Any:
    """Return the distances between the rows of X and of Y, which may be dense or sparse."""
    if metric == "cityblock":
        return manhattan_distances(X, Y)
    if sparse.issparse(X) or sparse.issparse(Y):
        return euclidean_distances(X, Y, squared=True)
    # Squares of points far from zero would leave no digits for their distances.
    centre = Y[:1]
    return euclidean_distances(X - centre, Y - centre, squared=True)


def kernel_matrix(spectrum: Spectrum, X: Any, Y: Any) -> Any:
    """Return the kernel of a spectrum between the rows of X and of Y, in the dtype of X."""
    kernel = spectrum.kernel_between(lambda metric: distances(X, Y, metric))
    return kernel if kernel.dtype == X.dtype else matching(X, kernel)
