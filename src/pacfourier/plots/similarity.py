"""The similarity to one landmark, for inputs with two columns."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pacfourier.data.distances import kernel_matrix
from pacfourier.plots.axes import CLASS_COLOURS, drawing_axes

_MARGIN = 0.08


class SimilarityDisplay:
    """Contour plot of the similarity to one landmark, for inputs with two columns.

    Parameters
    ----------
    grid_x, grid_y : arrays of shape (n_grid, n_grid)
        Coordinates of the points of a grid.
    similarity : array of shape (n_grid, n_grid)
        Similarity of each point to the landmark.
    landmark : array of shape (2,)
        The point to which similarity is shown.
    """

    def __init__(
        self,
        *,
        grid_x: np.ndarray,
        grid_y: np.ndarray,
        similarity: np.ndarray,
        landmark: np.ndarray,
    ) -> None:
        self.grid_x = grid_x
        self.grid_y = grid_y
        self.similarity = similarity
        self.landmark = landmark

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        landmark: int = 0,
        n_grid: int = 120,
        ax: Any = None,
    ) -> Self:
        """Plot the similarity to one landmark of a fitted landmark map.

        Parameters
        ----------
        estimator : RBFLandmarks or PBLandmarks
            Fitted on inputs with two columns.
        X : array of shape (n_samples, 2)
            Samples to show on top.
        y : array of shape (n_samples,)
            Their labels, shown as colours.
        landmark : int, default=0
            Which row of ``landmarks_`` to show.
        n_grid : int, default=120
            Number of grid points along each side of the plot.
        ax : matplotlib axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        display : SimilarityDisplay
        """
        check_is_fitted(estimator)
        samples, labels = np.asarray(X), np.asarray(y)
        grid_x, grid_y = _plane_grid(samples, n_grid)
        points = np.column_stack([grid_x.ravel(), grid_y.ravel()])
        point: Any = estimator.landmarks_[[landmark]]
        if hasattr(estimator, "spectrum_"):
            values = kernel_matrix(estimator.spectrum_, points, point)
        else:
            values = estimator.similarity(points, landmark)
        display = cls(
            grid_x=grid_x,
            grid_y=grid_y,
            similarity=values.reshape(grid_x.shape),
            landmark=(point.toarray() if hasattr(point, "toarray") else point)[0],
        )
        return display.plot(ax=ax, X=samples, y=labels)

    def plot(
        self, *, ax: Any = None, X: np.ndarray | None = None, y: np.ndarray | None = None
    ) -> Self:
        """Draw the plot, with labelled samples on top if they are given.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw. None means a new figure.
        X : array of shape (n_samples, 2), default=None
            Samples to show on top.
        y : array of shape (n_samples,), default=None
            Their labels, shown as colours.

        Returns
        -------
        display : SimilarityDisplay
        """
        self.ax_ = drawing_axes(ax)
        self.figure_ = self.ax_.figure
        self.surface_ = self.ax_.contourf(
            self.grid_x,
            self.grid_y,
            self.similarity,
            levels=np.linspace(-1, 1, 21),
            # Purple to green: neither is the colour of a class.
            cmap="PRGn",
            alpha=0.75,
        )
        if X is not None and y is not None:
            _scatter_classes(self.ax_, X, y)
        self.ax_.plot(*self.landmark, "*", color="gold", markersize=15, markeredgecolor="black")
        self.ax_.set(xticks=[], yticks=[], aspect="equal")
        return self


def _plane_grid(X: np.ndarray, n_grid: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the coordinates of a grid over a square that contains the samples and a margin."""
    if X.shape[1] != 2:
        raise ValueError(f"X must have two columns to be drawn, got {X.shape[1]}.")
    centre = (X.min(axis=0) + X.max(axis=0)) / 2
    half = (0.5 + _MARGIN) * np.ptp(X, axis=0).max()
    side = np.linspace(-half, half, n_grid)
    grid_x, grid_y = np.meshgrid(centre[0] + side, centre[1] + side)
    return grid_x, grid_y


def _scatter_classes(ax: Any, X: np.ndarray, y: np.ndarray) -> None:
    """Draw samples, with one colour per class."""
    for index, label in enumerate(np.unique(y)):
        colour = CLASS_COLOURS[index % len(CLASS_COLOURS)]
        members = y == label
        ax.scatter(*X[members].T, s=9, color=colour, edgecolors="white", linewidths=0.3)
