"""Pictures of what was learned, as scikit-learn style display objects (needs matplotlib)."""

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from pacfourier.bounds._result import rounded_up
from pacfourier.data.distances import kernel_matrix

__all__ = ["CertificateDisplay", "LossSpectrumDisplay", "SimilarityDisplay"]

# Apart in the common kinds of colour blindness.
CLASS_COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARGIN = 0.08
# Weights that are a smaller share of the largest are drawn alike.
LEAST_SHARE = 1e-4


class SimilarityDisplay:
    """Maps of the similarity to one landmark over the plane, before and after learning.

    Parameters
    ----------
    grid_x, grid_y : arrays of shape (n_grid, n_grid)
    similarity : array of shape (n_grid, n_grid)
    landmark : array of shape (2,)
    """

    def __init__(self, *, grid_x, grid_y, similarity, landmark):
        self.grid_x = grid_x
        self.grid_y = grid_y
        self.similarity = similarity
        self.landmark = landmark

    @classmethod
    def from_estimator(cls, estimator, X, y, *, landmark=0, prior=False, n_grid=120, ax=None):
        """Draw the similarity around a landmark of a fitted two-dimensional landmark map.

        Parameters
        ----------
        estimator : RBFLandmarks or PBLandmarks
        X : array of shape (n_samples, 2)
        y : array of shape (n_samples,)
        landmark : int, default=0
            Its row of ``landmarks_``.
        prior : bool, default=False
            Whether to draw the kernel that learning began with.
        n_grid : int, default=120
        ax : matplotlib axes, default=None

        Returns
        -------
        display : SimilarityDisplay
        """
        check_is_fitted(estimator)
        X, y = np.asarray(X), np.asarray(y)
        grid_x, grid_y = plane_grid(X, n_grid)
        points = np.column_stack([grid_x.ravel(), grid_y.ravel()])
        point = estimator.landmarks_[[landmark]]
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
            landmark=(point.toarray() if sparse.issparse(point) else point)[0],
        )
        return display.plot(ax=ax, X=X, y=y)

    def plot(self, *, ax=None, X=None, y=None):
        """Draw the map, with the sample on top if it is given."""
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
        if X is not None:
            scatter_classes(self.ax_, X, y)
        self.ax_.plot(*self.landmark, "*", color="gold", markersize=15, markeredgecolor="black")
        self.ax_.set(xticks=[], yticks=[], aspect="equal")
        return self


class LossSpectrumDisplay:
    """Losses and posterior weights of the candidates against the length of their frequency.

    Parameters
    ----------
    norms, losses, weights : arrays of shape (n_candidates,)
    kept : array of shape (n_frequencies,)
        Indices of the kept frequencies.
    """

    def __init__(self, *, norms, losses, weights, kept):
        self.norms = norms
        self.losses = losses
        self.weights = weights
        self.kept = kept

    @classmethod
    def from_estimator(cls, estimator, *, landmark=0, ax=None):
        """Draw the candidates of a fitted PBRFF or OKRFF, or of one landmark of a PBLandmarks.

        Parameters
        ----------
        estimator : PBRFF, OKRFF or PBLandmarks
        landmark : int, default=0
            Which landmark of a PBLandmarks.
        ax : matplotlib axes, default=None

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

    def plot(self, *, ax=None):
        """Draw losses against norms; the darker a point, the heavier; kept ones are circled."""
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        self.points_ = self._scatter(np.argsort(self.weights), s=5)
        if len(self.kept):
            outline = {"edgecolors": "#D55E00", "linewidths": 0.8}
            self._scatter(self.kept, s=35, label=f"{len(self.kept)} kept", **outline)
            self.ax_.legend(frameon=False)
        bar = self.figure_.colorbar(self.points_, ax=self.ax_, extend="min")
        bar.set_label("posterior weight / largest")
        self.ax_.set(xscale="log", xlabel="length of the frequency", ylabel="selection loss")
        return self

    def _scatter(self, chosen, **style):
        # Weights fall exponentially with the loss: on a linear scale all but a few are pale.
        share = np.maximum(self.weights / self.weights.max(), LEAST_SHARE)
        style |= {"cmap": "viridis_r", "norm": "log", "vmin": LEAST_SHARE, "vmax": 1}
        return self.ax_.scatter(self.norms[chosen], self.losses[chosen], c=share[chosen], **style)


class CertificateDisplay:
    """Bounds side by side, with the empirical loss and a held-out one.

    Parameters
    ----------
    values : dict from str to float
        Bounds by name.
    empirical_loss : float
    held_out_loss : float or None
    """

    def __init__(self, *, values, empirical_loss, held_out_loss=None):
        self.values = values
        self.empirical_loss = empirical_loss
        self.held_out_loss = held_out_loss

    @classmethod
    def from_estimator(cls, estimator, *, bounds, epsilon=0.05, held_out_loss=None, ax=None):
        """Draw several bounds of one fitted estimator; to quote one, name it in advance.

        Parameters
        ----------
        estimator : PBRFF, OKRFF or PBLandmarks
        bounds : sequence of str
            Names that ``certificate`` takes.
        epsilon : float, default=0.05
        held_out_loss : float, default=None
        ax : matplotlib axes, default=None

        Returns
        -------
        display : CertificateDisplay
        """
        certificates = {name: estimator.certificate(epsilon, bound=name) for name in bounds}
        display = cls(
            values={name: certificate.value for name, certificate in certificates.items()},
            empirical_loss=next(iter(certificates.values())).empirical_loss,
            held_out_loss=held_out_loss,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax=None):
        """Draw a bar a bound, from the largest to the smallest."""
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        names = sorted(self.values, key=self.values.get, reverse=True)
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


def plane_grid(X, n_grid):
    """Return a grid over the square that holds two-dimensional samples and a margin."""
    if X.shape[1] != 2:
        raise ValueError(f"X must have two columns to be drawn, got {X.shape[1]}.")
    centre = (X.min(axis=0) + X.max(axis=0)) / 2
    half = (0.5 + MARGIN) * np.ptp(X, axis=0).max()
    side = np.linspace(-half, half, n_grid)
    return np.meshgrid(centre[0] + side, centre[1] + side)


def scatter_classes(ax, X, y):
    """Draw samples, a colour a class."""
    for index, label in enumerate(np.unique(y)):
        colour = CLASS_COLOURS[index % len(CLASS_COLOURS)]
        members = y == label
        ax.scatter(*X[members].T, s=9, color=colour, edgecolors="white", linewidths=0.3)


def _norms(frequencies):
    """Return the lengths of frequencies, block by block."""
    starts = range(0, len(frequencies), 1000)
    blocks = [np.linalg.norm(frequencies[start : start + 1000], axis=1) for start in starts]
    return np.concatenate(blocks)


def _axes(ax):
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]
