"""Plots of fitted estimators, as display objects in the style of scikit-learn.

They need matplotlib: ``pip install "pacfourier[plot]"``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from pacfourier.arrays import host
from pacfourier.bounds._result import rounded_up
from pacfourier.core.boosting.columns import CODE_UNIT, Columns
from pacfourier.data.distances import kernel_matrix
from pacfourier.estimators.fourier_predictor import FourierPredictor
from pacfourier.estimators.frames import holds_numbers, is_frame, numbers_of, placed, taken
from pacfourier.extras import explain_missing_extra
from pacfourier.pacbayes.assumptions import Ties

__all__ = [
    "CertificateDisplay",
    "LossSpectrumDisplay",
    "PredictionDisplay",
    "SimilarityDisplay",
    "WavesDisplay",
]

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
# Values along one column, and along each of two.
GRID_SIZES = (60, 25)
# Predictions for one plot in all, rows that are averaged over, and predictions at a time.
MOST_PREDICTIONS, MOST_ROWS, BLOCK = 100_000, 1000, 20_000
# Categories of an axis, and rows that are drawn.
MOST_CATEGORIES, MOST_STROKES = 12, 300
# Where the data are: strokes or bars below a line, and dots on a map.
STROKES = {"color": "#404040", "markersize": 7, "markeredgewidth": 0.6, "alpha": 0.5}
BARS = {"color": "#D9D9D9", "zorder": 0}
BAR_HEIGHT = 0.15
DOTS = {"color": "white", "markersize": 4, "markeredgewidth": 0, "alpha": 0.6}
DASHED = {"linestyle": "--"}


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
            # Purple to green: neither is the colour of a class.
            cmap="PRGn",
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


@dataclass(frozen=True, eq=False)
class GridAxis:
    """A column of a table as an axis of a plot.

    Attributes
    ----------
    name : str
    kind : {"numbers", "dates", "categories"}
    positions : array of shape (n_values,)
        Where the values are drawn.
    labels : list of str
        Names of the categories; empty for numbers and dates.
    column : array
        The values, as they are put into the table.
    rows : array
        Some values of the data; for categories, the share of rows in each.
    """

    name: str
    kind: str
    positions: np.ndarray
    labels: list[str]
    column: Any
    rows: np.ndarray

    def name_ticks(self, axis: Any) -> None:
        """Write the name of the column and its categories on an axis of matplotlib."""
        axis.set_label_text(self.name)
        if self.kind == "categories":
            is_long = axis.axis_name == "x" and sum(map(len, self.labels)) > 40
            turned = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if is_long else {}
            axis.set_ticks(self.positions, self.labels, **turned)
        elif self.kind == "dates":
            from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

            locator = AutoDateLocator()
            axis.set_major_locator(locator)
            axis.set_major_formatter(ConciseDateFormatter(locator))

    def draw_rug(self, ax: Any) -> None:
        """Draw where the data are: a stroke per row, or a grey bar per category."""
        place = ax.get_xaxis_transform()
        if self.kind == "categories":
            heights = BAR_HEIGHT * self.rows / self.rows.max()
            ax.bar(self.positions, heights, width=0.6, transform=place, **BARS)
            ax.set_xlim(-0.6, len(self.positions) - 0.4)
            return
        limits = ax.get_xlim()
        ax.plot(self.rows, np.full(len(self.rows), 0.012), "|", transform=place, **STROKES)
        ax.set_xlim(limits)


class PredictionDisplay:
    """What a model predicts along one or two columns, on average over the rows of a table.

    For each value of the column, all rows get this value, and their predictions are averaged
    (partial dependence). The plot says what the model does, not what causes what.

    Parameters
    ----------
    axes : list of one or two GridAxis
        The columns, the values that they get, and how the data spread over them.
    predictions : array of shape (n_outputs, n_values) or (n_outputs, n_values_x, n_values_y)
        Mean predictions at these values.
    outputs : list of str
        Names of the outputs.
    quantity : str
        What is predicted.
    """

    def __init__(
        self, *, axes: list[GridAxis], predictions: np.ndarray, outputs: list[str], quantity: str
    ) -> None:
        self.axes = axes
        self.predictions = predictions
        self.outputs = outputs
        self.quantity = quantity

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        columns: Any,
        *,
        target: Any = None,
        n_grid: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot what a fitted predictor does along one or two columns.

        Parameters
        ----------
        estimator : classifier or regressor
            A fitted predictor, such as FourierClassifier. A classifier needs ``predict_proba``.
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to average over. Of many rows some are used, evenly spread.
        columns : str, int, or list of one or two of them
            Names or numbers of the columns. Numbers, dates and categories can be shown.
        target : object, default=None
            The class, or the number of the output, to show. None means all of them, or the second
            of two classes. To show two columns, a single output is needed.
        n_grid : int, default=None
            Number of values along each column. None means 60 for one column and 25 for two.
        ax : matplotlib axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        display : PredictionDisplay
        """
        check_is_fitted(estimator)
        table = X if is_frame(X) else dense_array(X)
        chosen = list(columns) if isinstance(columns, list | tuple) else [columns]
        if len(chosen) not in (1, 2):
            raise ValueError(f"columns must name one or two columns, got {columns!r}.")
        size = n_grid or GRID_SIZES[len(chosen) - 1]
        places = [column_place(table, column) for column in chosen]
        axes = [grid_axis(table, place, size) for place in places]
        values = averages(estimator, table, places, axes)
        names, kept, quantity = shown_outputs(estimator, len(values), target)
        if len(axes) == 2 and len(kept) > 1:
            raise ValueError(f"target must be one of {names} to show two columns, got {target!r}.")
        display = cls(axes=axes, predictions=values[kept], outputs=names, quantity=quantity)
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw a line per output over one column, or a map over two columns.

        Small strokes, dots and grey bars show where the data are.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        display : PredictionDisplay
        """
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        if len(self.axes) == 1:
            self._plot_lines()
        else:
            self._plot_map()
        return self

    def _plot_lines(self) -> None:
        (axis,) = self.axes
        style: dict[str, Any] = {"linewidth": 2}
        if axis.kind == "categories":
            style = {"linestyle": "none", "marker": "o", "markersize": 8}
        self.lines_ = []
        for number, values in enumerate(self.predictions):
            colour = CLASS_COLOURS[(number + 1) % len(CLASS_COLOURS)]
            # Colours repeat after six outputs, and then lines are dashed.
            dashes = {} if number < len(CLASS_COLOURS) or "marker" in style else DASHED
            label = self.outputs[number]
            self.lines_ += self.ax_.plot(
                axis.positions, values, color=colour, label=label, **(style | dashes)
            )
        lowest, highest = self.ax_.get_ylim()
        is_share = self.predictions.min() >= 0 and self.predictions.max() <= 1
        bottom = 0.0 if is_share else lowest - 0.1 * (highest - lowest)
        self.ax_.set(ylabel=self.quantity, ylim=(bottom, highest + 0.05 * (highest - bottom)))
        self.ax_.spines[["top", "right"]].set_visible(False)
        axis.name_ticks(self.ax_.xaxis)
        axis.draw_rug(self.ax_)
        if len(self.predictions) > 1:
            n_legend_columns = 1 + len(self.outputs) // 6
            self.ax_.legend(frameon=False, fontsize="small", ncols=n_legend_columns)

    def _plot_map(self) -> None:
        across, upward = self.axes
        values = self.predictions[0].T
        if "categories" in (across.kind, upward.kind):
            self.surface_ = self.ax_.pcolormesh(
                across.positions, upward.positions, values, shading="nearest", cmap="viridis"
            )
        else:
            self.surface_ = self.ax_.contourf(
                across.positions, upward.positions, values, levels=15, cmap="viridis"
            )
            # Rows outside the range of the map are not drawn.
            limits = self.ax_.get_xlim(), self.ax_.get_ylim()
            self.ax_.plot(across.rows, upward.rows, ".", **DOTS)
            self.ax_.set(xlim=limits[0], ylim=limits[1])
        across.name_ticks(self.ax_.xaxis)
        upward.name_ticks(self.ax_.yaxis)
        self.figure_.colorbar(self.surface_, ax=self.ax_).set_label(self.quantity)


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
        self.ax_ = _axes(ax)
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


def dense_array(X: Any) -> np.ndarray:
    """Return rows as a dense array of floating-point numbers."""
    rows = X.toarray() if hasattr(X, "toarray") else np.asarray(host(X))
    return rows if rows.dtype.kind == "f" else rows.astype(np.float64)


def column_place(table: Any, column: Any) -> int:
    """Return the place of a column that is given by its name or its number."""
    names = list(table.columns) if is_frame(table) else []
    if column in names:
        return names.index(column)
    if isinstance(column, Integral) and -table.shape[1] <= column < table.shape[1]:
        return int(column) % table.shape[1]
    known = f"one of {names}" if names else f"a number below {table.shape[1]}"
    raise ValueError(f"columns must hold {known}, got {column!r}.")


def grid_axis(table: Any, place: int, size: int) -> GridAxis:
    """Return a column of a table as an axis, with about ``size`` of its values.

    Numbers are evenly spaced between the first and the last percentile, or are all distinct values
    if there are few. Dates are evenly spaced by rank. Categories come by the number of rows.
    """
    if is_frame(table):
        column, name = placed(table)[str(place)], str(table.columns[place])
        is_missing = np.asarray(column.isna() if hasattr(column, "isna") else column.is_null())
        kind = column_kind(column.dtype)
    else:
        column, name, kind = table[:, place], f"column {place}", "numbers"
        is_missing = np.isnan(column)
    if kind == "categories":
        return _category_axis(column, name, is_missing)
    known = np.flatnonzero(~is_missing)
    if not len(known):
        raise ValueError(f"column {name!r} must have values to be drawn, got only gaps.")
    is_number = kind == "numbers"
    values = numbers_of(column) if is_number else np.asarray(column, dtype="datetime64[ns]")
    some = values[spread(len(values), MOST_STROKES)]
    distinct, first = np.unique(values[known], return_index=True)
    if is_number and len(distinct) > size:
        lowest, highest = np.percentile(values[known], (1, 99))
        grid = np.linspace(lowest, highest, size)
        return GridAxis(name, kind, grid, [], grid, some)
    ranks = spread(len(distinct), size)
    return GridAxis(name, kind, distinct[ranks], [], taken(column, known[first[ranks]]), some)


def _category_axis(column: Any, name: str, is_missing: np.ndarray) -> GridAxis:
    texts = np.where(is_missing, "missing", np.asarray(column).astype(str))
    found, first, counts = np.unique(texts, return_index=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]
    return GridAxis(
        name,
        "categories",
        np.arange(len(order), dtype=np.float64),
        [shortened(str(text)) for text in found[order]],
        taken(column, first[order]),
        counts[order] / len(texts),
    )


def column_kind(dtype: Any) -> str:
    """Return what a column of a data frame holds: "numbers", "dates" or "categories"."""
    is_truth = str(dtype).lower().startswith("bool")
    if holds_numbers(dtype) and not is_truth:
        return "numbers"
    return "dates" if str(dtype).lower().startswith("date") else "categories"


def shortened(text: str) -> str:
    """Return a text of at most 18 letters, for a tick of an axis."""
    return text if len(text) <= 18 else f"{text[:17]}…"


def spread(n: int, size: int) -> np.ndarray:
    """Return at most ``size`` of the numbers below n, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(n, size)).round().astype(int))


def averages(estimator: Any, table: Any, places: list[int], axes: list[GridAxis]) -> np.ndarray:
    r"""Return the mean prediction of each output if columns are set to each value of a grid.

    .. math:: \bar f(v) = \frac{1}{n} \sum_i f(x_i \text{ with column } j \text{ set to } v)
    """
    shape = [len(axis.positions) for axis in axes]
    n_points = int(np.prod(shape))
    most = int(np.clip(MOST_PREDICTIONS // n_points, 1, MOST_ROWS))
    rows = spread(table.shape[0], most)
    per_block = max(1, BLOCK // len(rows))
    found = []
    for start in range(0, n_points, per_block):
        points = np.unravel_index(np.arange(start, min(start + per_block, n_points)), shape)
        block = taken(table, np.tile(rows, len(points[0])))
        for place, axis, chosen in zip(places, axes, points, strict=True):
            block = with_column(block, place, taken(axis.column, np.repeat(chosen, len(rows))))
        outputs = predicted(estimator, block)
        found.append(outputs.reshape(len(points[0]), len(rows), -1).mean(axis=1))
    return np.moveaxis(np.concatenate(found).reshape(*shape, -1), -1, 0)


def with_column(table: Any, place: int, column: Any) -> Any:
    """Return a table in which one column is replaced."""
    if hasattr(table, "isetitem"):
        changed = table.copy()
        # Without its index, which need not be that of the table. The type of the column is kept.
        changed.isetitem(place, getattr(column, "array", column))
        return changed
    if is_frame(table):
        series = type(table[:, place])(table.columns[place], column)
        return table.clone().replace_column(place, series)
    changed = table.copy()
    changed[:, place] = column
    return changed


def predicted(estimator: Any, X: Any) -> np.ndarray:
    """Return probabilities of a classifier, or predictions of a regressor, one row per sample."""
    predict = estimator.predict_proba if is_classifier(estimator) else estimator.predict
    values = np.asarray(host(predict(X)))
    return values.reshape(len(values), -1)


def shown_outputs(estimator: Any, n_outputs: int, target: Any) -> tuple[list[str], list[int], str]:
    """Return the names and numbers of the outputs to draw, and what they are."""
    is_odds = is_classifier(estimator)
    labels = list(estimator.classes_) if is_odds else list(range(n_outputs))
    if target is not None:
        if target not in labels:
            raise ValueError(f"target must be one of {list(map(str, labels))}, got {target!r}.")
        kept = [labels.index(target)]
    elif is_odds and n_outputs == 2 and not getattr(estimator, "_has_label_sets", False):
        kept = [1]
    else:
        kept = list(range(n_outputs))
    names = [str(labels[each]) for each in kept]
    if len(kept) > 1:
        return names, kept, "mean probability" if is_odds else "mean prediction"
    if is_odds:
        return names, kept, f"mean probability of {names[0]}"
    return names, kept, "mean prediction" if n_outputs == 1 else f"mean prediction {names[0]}"


def wave_amplitudes(estimator: Any) -> np.ndarray:
    r"""Return how far each wave moves the scores: :math:`(\sum_k a_{mk}^2 + b_{mk}^2)^{1/2}`."""
    parts = np.hstack([estimator.cosines_, estimator.sines_])
    return np.asarray(np.linalg.norm(parts, axis=1))


def column_weights(estimator: Any) -> np.ndarray:
    """Return how far each column of the user's table turns the phase of each wave.

    Several encoded columns of one column, such as its categories, count by the root of the sum of
    their squares.
    """
    turns = phase_turns(estimator.frequencies_, estimator._trained.columns)
    if estimator._encoder is None:
        return turns
    squares = np.zeros((len(turns), estimator.n_features_in_))
    np.add.at(squares.T, estimator._encoder.sources, np.square(turns).T)
    return np.asarray(np.sqrt(squares))


def phase_turns(frequencies: np.ndarray, columns: Columns) -> np.ndarray:
    r"""Return how far each column turns the phases, in full turns over two standard deviations.

    A column without codes has the phase :math:`\omega x` with x in standard deviations, so the
    weight is :math:`2 \omega / 2 \pi`. The phase of a column with codes is linear between its
    knots. Its standard deviation over the knots takes the place of :math:`\omega`, with the sign of
    the change from the first knot to the last.
    """
    n_columns = len(columns.units)
    order = np.arange(n_columns) if columns.order is None else columns.order
    seen = order[: frequencies.shape[1]]
    deviations = np.zeros((len(frequencies), n_columns))
    deviations[:, seen] = frequencies[:, : len(seen)]
    # Constant columns have an infinite unit: they are not seen.
    deviations[:, np.isinf(columns.units)] = 0
    start = n_columns
    for place, knots in columns.knots.items():
        slopes = deviations[:, [place]] * np.diff(knots) / columns.units[place]
        steps = slopes + CODE_UNIT * frequencies[:, start : start + len(knots) - 1]
        phases = np.cumsum(steps, axis=1)
        spreads = np.hstack([np.zeros_like(phases[:, :1]), phases]).std(axis=1)
        deviations[:, place] = np.copysign(spreads, phases[:, -1])
        start += len(knots) - 1
    return deviations / np.pi


def square_shape(estimator: Any) -> tuple[int, int] | None:
    """Return the shape of square images with one pixel per column, or None if they are none."""
    side = round(estimator.n_features_in_**0.5)
    is_square = side > 6 and side**2 == estimator.n_features_in_
    is_named = hasattr(estimator, "feature_names_in_")
    return (side, side) if is_square and not is_named else None


def _few_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(3)


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
