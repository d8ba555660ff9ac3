"""Plots of fitted estimators, as display objects in the style of scikit-learn.

They need matplotlib: ``pip install "pacfourier[plot]"``.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pacfourier.bounds._result import rounded_up
from pacfourier.data.distances import kernel_matrix
from pacfourier.extras import explain_missing_extra
from pacfourier.pacbayes.assumptions import Ties

__all__ = ["CertificateDisplay", "LossSpectrumDisplay", "SimilarityDisplay"]

# Distinguishable with the common kinds of colour blindness.
CLASS_COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARGIN = 0.08
# Weights below this share of the largest weight all get the same colour.
LEAST_SHARE = 1e-4
# Frequencies whose lengths are computed at a time.
FREQUENCIES_AT_A_TIME = 1000


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
        prior: bool = False,
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
        prior : bool, default=False
            Whether to show the kernel before learning, instead of the learned similarity.
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
        grid_x, grid_y = plane_grid(samples, n_grid)
        points = np.column_stack([grid_x.ravel(), grid_y.ravel()])
        point: Any = estimator.landmarks_[[landmark]]
        if hasattr(estimator, "spectrum_"):
            values = kernel_matrix(estimator.spectrum_, points, point)
        elif prior:
            values = kernel_matrix(estimator.pool_.spectrum, points, point)
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
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        self.surface_ = self.ax_.contourf(
            self.grid_x,
            self.grid_y,
            self.similarity,
            levels=np.linspace(-1, 1, 21),
            cmap="RdBu_r",
            alpha=0.75,
        )
        if X is not None and y is not None:
            scatter_classes(self.ax_, X, y)
        self.ax_.plot(*self.landmark, "*", color="gold", markersize=15, markeredgecolor="black")
        self.ax_.set(xticks=[], yticks=[], aspect="equal")
        return self


class LossSpectrumDisplay:
    """Loss and posterior weight of each candidate frequency, against its length.

    Parameters
    ----------
    norms, losses, weights : arrays of shape (n_candidates,)
        Length, selection loss and posterior weight of each candidate frequency.
    kept : array of shape (n_frequencies,)
        Indices of the frequencies that the fitted map uses; may be empty.
    """

    def __init__(
        self,
        *,
        norms: np.ndarray,
        losses: np.ndarray,
        weights: np.ndarray,
        kept: Sequence[int] | np.ndarray,
    ) -> None:
        self.norms = norms
        self.losses = losses
        self.weights = weights
        self.kept = kept

    @classmethod
    def from_estimator(cls, estimator: Any, *, landmark: int = 0, ax: Any = None) -> Self:
        """Plot the candidate frequencies of a fitted estimator.

        Parameters
        ----------
        estimator : PBRFF, OKRFF or PBLandmarks
        landmark : int, default=0
            Which landmark to show, if the estimator is a PBLandmarks.
        ax : matplotlib axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        display : LossSpectrumDisplay
        """
        check_is_fitted(estimator)
        if hasattr(estimator, "landmarks_"):
            own = estimator.frequencies_of(landmark)
            losses, weights = estimator.losses_[landmark], estimator.posterior_[landmark]
            return cls(norms=_norms(own), losses=losses, weights=weights, kept=[]).plot(ax=ax)
        display = cls(
            norms=_norms(estimator.pool_),
            losses=estimator.selection_losses_,
            weights=estimator.posterior_,
            kept=estimator.kept_,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw one point per candidate frequency.

        Darker points have larger weights. The frequencies that the map uses are circled.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        display : LossSpectrumDisplay
        """
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        self.points_ = self._scatter(np.argsort(self.weights), s=5)
        if len(self.kept):
            outline = {"edgecolors": "#D55E00", "linewidths": 0.8}
            self._scatter(self.kept, s=35, label=f"{len(self.kept)} kept frequencies", **outline)
            self.ax_.legend(frameon=False)
        bar = self.figure_.colorbar(self.points_, ax=self.ax_, extend="min")
        bar.set_label("posterior weight / largest weight")
        self.ax_.set(
            xscale="log", xlabel="length of the candidate frequency", ylabel="selection loss"
        )
        return self

    def _scatter(self, chosen: Any, **style: Any) -> Any:
        # Weights fall exponentially with the loss, so a linear scale would show only a few.
        share = np.maximum(self.weights / self.weights.max(), LEAST_SHARE)
        style |= {"cmap": "viridis_r", "norm": "log", "vmin": LEAST_SHARE, "vmax": 1}
        return self.ax_.scatter(self.norms[chosen], self.losses[chosen], c=share[chosen], **style)


class CertificateDisplay:
    """Bar chart of several bounds, with the empirical loss and a held-out loss.

    Parameters
    ----------
    values : dict from str to float
        Values of the bounds, by name.
    empirical_loss : float
        Loss on the training sample.
    held_out_loss : float or None
        Loss on other samples, if there are any.
    """

    def __init__(
        self,
        *,
        values: dict[str, float],
        empirical_loss: float,
        held_out_loss: float | None = None,
    ) -> None:
        self.values = values
        self.empirical_loss = empirical_loss
        self.held_out_loss = held_out_loss

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        bounds: Sequence[str],
        epsilon: float = 0.05,
        ties: Ties = None,
        held_out_loss: float | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot several bounds of one fitted estimator.

        Each bound holds with probability 1 - epsilon on its own. The smallest of several does not:
        to report a bound, choose it before looking at the plot.

        Parameters
        ----------
        estimator : PBRFF, OKRFF or PBLandmarks
        bounds : sequence of str
            Names of bounds, as in the parameter ``bound`` of ``certificate``.
        epsilon : float, default=0.05
            Probability with which each bound may fail.
        ties : {None, "genuine"}, default=None
            What repeated rows are, as in ``certificate``.
        held_out_loss : float, default=None
            Loss on other samples, to show beside the bounds.
        ax : matplotlib axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        display : CertificateDisplay
        """
        certificates = {
            name: estimator.certificate(epsilon, bound=name, ties=ties) for name in bounds
        }
        display = cls(
            values={name: certificate.value for name, certificate in certificates.items()},
            empirical_loss=next(iter(certificates.values())).empirical_loss,
            held_out_loss=held_out_loss,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw one bar per bound, ordered by value.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        display : CertificateDisplay
        """
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        names = sorted(self.values, key=lambda name: self.values[name], reverse=True)
        heights = [self.values[name] for name in names]
        labels = [name.replace("_", " ") for name in names]
        self.bars_ = self.ax_.barh(labels, heights, color="#B5D3EA")
        self.ax_.bar_label(self.bars_, [rounded_up(height, 3) for height in heights], padding=3)
        self.ax_.axvline(self.empirical_loss, color="black", label="empirical loss")
        if self.held_out_loss is not None:
            label = "held-out loss"
            self.ax_.axvline(self.held_out_loss, color="#D55E00", linestyle="--", label=label)
        farthest = max([*heights, self.empirical_loss, self.held_out_loss or 0.0])
        self.ax_.set(xlabel="alignment loss", xlim=(0, 1.15 * farthest))
        self.ax_.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
        return self


def plane_grid(X: np.ndarray, n_grid: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the coordinates of a grid over a square that contains the samples and a margin."""
    if X.shape[1] != 2:
        raise ValueError(f"X must have two columns to be drawn, got {X.shape[1]}.")
    centre = (X.min(axis=0) + X.max(axis=0)) / 2
    half = (0.5 + MARGIN) * np.ptp(X, axis=0).max()
    side = np.linspace(-half, half, n_grid)
    grid_x, grid_y = np.meshgrid(centre[0] + side, centre[1] + side)
    return grid_x, grid_y


def scatter_classes(ax: Any, X: np.ndarray, y: np.ndarray) -> None:
    """Draw samples, with one colour per class."""
    for index, label in enumerate(np.unique(y)):
        colour = CLASS_COLOURS[index % len(CLASS_COLOURS)]
        members = y == label
        ax.scatter(*X[members].T, s=9, color=colour, edgecolors="white", linewidths=0.3)


def _norms(frequencies: Any) -> np.ndarray:
    """Return the lengths of frequencies, which may be computed when they are indexed."""
    starts = range(0, len(frequencies), FREQUENCIES_AT_A_TIME)
    pieces = (frequencies[start : start + FREQUENCIES_AT_A_TIME] for start in starts)
    return np.concatenate([np.linalg.norm(piece, axis=1) for piece in pieces])


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    with explain_missing_extra():
        import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]
