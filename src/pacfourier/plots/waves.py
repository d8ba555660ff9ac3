"""The waves of a predictor over the columns."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pacfourier.estimators.fourier_predictor import FourierPredictor
from pacfourier.plots.axes import drawing_axes, shortened
from pacfourier.plots.wave_weights import column_weights, wave_amplitudes

__all__ = ["WavesDisplay"]


class WavesDisplay:
    """The waves of a predictor: the cosines with the largest amplitudes, over the columns.

    A wave is a cosine whose phase is a sum over columns. The weight of a column says how far it
    turns the phase: a weight of one is a full turn over two standard deviations.

    Parameters
    ----------
    weights : array of shape (n_waves, n_columns)
        Weights of the columns in each wave, of which the sizes are shown.
    amplitudes : array of shape (n_waves,)
        How far each wave moves the scores; over several outputs, the root of the sum of squares.
    names : list of str
        Names of the columns.
    image_shape : tuple of two int or None, default=None
        Show each wave as an image of this shape. None means one row of a heat map per wave.
    """

    def __init__(
        self,
        *,
        weights: np.ndarray,
        amplitudes: np.ndarray,
        names: list[str],
        image_shape: tuple[int, int] | None = None,
    ) -> None:
        self.weights = weights
        self.amplitudes = amplitudes
        self.names = names
        self.image_shape = image_shape

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        n_waves: int = 12,
        n_columns: int = 20,
        image_shape: tuple[int, int] | str | None = "auto",
        ax: Any = None,
    ) -> Self:
        """Plot the waves of a fitted predictor.

        Parameters
        ----------
        estimator : FourierClassifier or FourierRegressor
        n_waves : int, default=12
            How many waves to show, those with the largest amplitudes.
        n_columns : int, default=20
            How many columns to show in a heat map, those with the largest weights.
        image_shape : tuple of two int, "auto" or None, default="auto"
            The shape of an image whose pixels are the columns. None means a heat map. "auto" shows
            square images if there are 49 columns or more, without names, and their number is a
            square.
        ax : matplotlib axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        display : WavesDisplay
        """
        if not isinstance(estimator, FourierPredictor):
            raise ValueError(
                "estimator must be a FourierClassifier or a FourierRegressor, got "
                f"{type(estimator).__name__}."
            )
        check_is_fitted(estimator)
        amplitudes = wave_amplitudes(estimator)
        first = np.argsort(-amplitudes, kind="stable")[:n_waves]
        weights = column_weights(estimator)[first]
        places = np.arange(estimator.n_features_in_)
        names = list(getattr(estimator, "feature_names_in_", places))
        shape: Any = square_shape(estimator) if image_shape == "auto" else image_shape
        if shape is None:
            totals = amplitudes[first] @ np.abs(weights)
            kept = np.sort(np.argsort(-totals, kind="stable")[:n_columns])
        elif np.prod(shape) == len(places):
            kept = places
        else:
            raise ValueError(
                f"image_shape must have one pixel for each of the {len(places)} columns, got "
                f"{shape}."
            )
        display = cls(
            weights=weights[:, kept],
            amplitudes=amplitudes[first],
            names=[str(names[each]) for each in kept],
            image_shape=shape,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the waves, those with the largest amplitudes first.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        display : WavesDisplay
        """
        self.ax_ = drawing_axes(ax)
        self.figure_ = self.ax_.figure
        if self.image_shape is None:
            self._plot_heat_map()
        else:
            self._plot_images(self.image_shape)
        return self

    def _plot_heat_map(self) -> None:
        n_waves = len(self.amplitudes)
        self.image_ = self.ax_.imshow(
            np.abs(self.weights), cmap="magma_r", aspect="auto", vmin=0, interpolation="nearest"
        )
        labels = [shortened(name) for name in self.names]
        is_long = max(map(len, labels)) > 3
        turned = {"rotation": 40, "ha": "left", "rotation_mode": "anchor"} if is_long else {}
        self.ax_.xaxis.tick_top()
        self.ax_.set_xticks(np.arange(len(labels)), labels, **turned)
        self.ax_.set_yticks(np.arange(n_waves), np.arange(1, n_waves + 1))
        self.ax_.set_ylabel("wave, by amplitude")
        self.ax_.tick_params(length=0)
        self.ax_.spines[:].set_visible(False)
        # White lines between the cells.
        self.ax_.set_xticks(np.arange(0.5, len(labels) - 1), minor=True)
        self.ax_.set_yticks(np.arange(0.5, n_waves - 1), minor=True)
        self.ax_.grid(which="minor", color="white", linewidth=1.5)
        self.ax_.tick_params(which="minor", length=0)
        below = self.ax_.inset_axes((0.2, -0.09, 0.6, 0.03))
        bar = self.figure_.colorbar(self.image_, cax=below, orientation="horizontal")
        bar.set_label("turns of the wave over two standard deviations of the column")
        self._plot_amplitudes()

    def _plot_amplitudes(self) -> None:
        beside = self.ax_.inset_axes((1.03, 0, 0.28, 1), sharey=self.ax_)
        self.bars_ = beside.barh(np.arange(len(self.amplitudes)), self.amplitudes, color="#0072B2")
        beside.tick_params(axis="y", length=0, labelleft=False, which="both")
        beside.spines[["top", "right", "left"]].set_visible(False)
        beside.set_xlabel("amplitude")
        beside.xaxis.set_major_locator(_few_ticks())

    def _plot_images(self, shape: tuple[int, int]) -> None:
        n_waves = len(self.amplitudes)
        n_across = int(np.ceil(np.sqrt(4 / 3 * n_waves)))
        n_down = -(-n_waves // n_across)
        self.ax_.set_axis_off()
        self.ax_.set_title("waves over the pixels, and their amplitudes", fontsize="medium")
        self.images_ = []
        for number, (weights, amplitude) in enumerate(
            zip(self.weights, self.amplitudes, strict=True)
        ):
            down, across = divmod(number, n_across)
            box = (across / n_across, 1 - (down + 1) / n_down, 0.94 / n_across, 0.86 / n_down)
            small = self.ax_.inset_axes(box)
            largest = np.abs(weights).max() or 1.0
            limits = {"vmin": -largest, "vmax": largest, "cmap": "RdBu_r"}
            self.images_.append(small.imshow(weights.reshape(shape), **limits))
            small.set_title(f"{amplitude:.2f}", fontsize="small", pad=3)
            small.set(xticks=[], yticks=[])


def square_shape(estimator: Any) -> tuple[int, int] | None:
    """Return the shape of square images with one pixel per column, or None if they are none."""
    side = round(estimator.n_features_in_**0.5)
    is_square = side > 6 and side**2 == estimator.n_features_in_
    is_named = hasattr(estimator, "feature_names_in_")
    return (side, side) if is_square and not is_named else None


def _few_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(3)
