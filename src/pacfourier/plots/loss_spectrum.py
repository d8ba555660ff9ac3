"""Loss and posterior weight of each candidate frequency."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pacfourier.plots.axes import drawing_axes

__all__ = ["LossSpectrumDisplay"]

# Weights below this share of the largest weight all get the same colour.
LEAST_SHARE = 1e-4
# Frequencies whose lengths are computed at a time.
FREQUENCIES_AT_A_TIME = 1000


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
        self.ax_ = drawing_axes(ax)
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


def _norms(frequencies: Any) -> np.ndarray:
    """Return the lengths of frequencies, which may be computed when they are indexed."""
    starts = range(0, len(frequencies), FREQUENCIES_AT_A_TIME)
    pieces = (frequencies[start : start + FREQUENCIES_AT_A_TIME] for start in starts)
    return np.concatenate([np.linalg.norm(piece, axis=1) for piece in pieces])
