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
# Lines of the losses that are drawn beside the bounds.
YARDSTICK = {"color": "#808080", "linewidth": 0.8}
EMPIRICAL = {"color": "black", "linewidth": 1.5}
HELD_OUT = {"color": "#D55E00", "linewidth": 1.5, "linestyle": "--"}
# Yardsticks that differ by less than this are drawn as one line.
NEAR = 1e-3
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
    """Bar chart of several bounds, with the empirical loss, a held-out loss and yardsticks.

    Parameters
    ----------
    values : dict from str to float
        Values of the bounds, by name.
    empirical_loss : float
        Loss on the training sample.
    held_out_loss : float or None
        Loss on other samples, if there are any.
    yardsticks : dict from str to float or None
        Losses to compare with, by name.
    """

    def __init__(
        self,
        *,
        values: dict[str, float],
        empirical_loss: float,
        held_out_loss: float | None = None,
        yardsticks: dict[str, float] | None = None,
    ) -> None:
        self.values = values
        self.empirical_loss = empirical_loss
        self.held_out_loss = held_out_loss
        self.yardsticks = yardsticks

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
        first = next(iter(certificates.values()))
        display = cls(
            values={name: certificate.value for name, certificate in certificates.items()},
            empirical_loss=first.empirical_loss,
            held_out_loss=held_out_loss,
            yardsticks=drawn_yardsticks(first.yardsticks),
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw one bar per bound, ordered by value, and one light line per yardstick.

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
        # A white background keeps the labels readable where a line crosses them.
        background = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        shown = [rounded_up(height, 3) for height in heights]
        self.ax_.bar_label(self.bars_, shown, padding=4, bbox=background, zorder=3)
        losses = {name: (loss, YARDSTICK) for name, loss in (self.yardsticks or {}).items()}
        losses["empirical loss"] = self.empirical_loss, EMPIRICAL
        if self.held_out_loss is not None:
            losses["held-out loss"] = self.held_out_loss, HELD_OUT
        farthest = max([*heights, *(loss for loss, _ in losses.values())])
        self.ax_.set(xlabel="alignment loss", xlim=(0, 1.15 * farthest))
        self.ax_.spines[["top", "right"]].set_visible(False)
        # The smaller a loss, the higher its label, so that no label meets the line of another.
        from_the_right = sorted(losses.items(), key=lambda item: item[1][0], reverse=True)
        self.lines_ = [
            self._flag(f"{name} {loss:.3f}", loss, row, style)
            for row, (name, (loss, style)) in enumerate(from_the_right)
        ]
        return self

    def _flag(self, text: str, loss: float, row: int, style: dict[str, Any]) -> Any:
        """Draw a vertical line that ends in its label, in one of the rows above the bars."""
        from matplotlib.transforms import offset_copy

        place = self.ax_.get_xaxis_transform()
        # Without patchA and shrinking, the line reaches from the axis to the corner of the label.
        line = {"arrowstyle": "-", "relpos": (0, 0), "patchA": None, "shrinkA": 0, "shrinkB": 0}
        return self.ax_.annotate(
            text,
            xy=(loss, 0),
            xycoords=place,
            xytext=(loss, 1),
            textcoords=offset_copy(place, self.figure_, y=3 + 12 * row, units="points"),
            arrowprops=line | style,
            color=style["color"],
            fontsize="small",
            zorder=2,
        )


def drawn_yardsticks(yardsticks: Any) -> dict[str, float]:
    """Return the yardsticks of a certificate by name. Those that look equal share a name."""
    named: dict[str, float] = {}
    for name in ("perfect", "unrelated", "constant"):
        loss = getattr(yardsticks, name)
        same = [other for other in named if loss is not None and abs(named[other] - loss) < NEAR]
        if same:
            named[f"{same[0]}, {name}"] = named.pop(same[0])
        elif loss is not None:
            named[name] = loss
    return named


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
