"""What a model predicts along one or two columns."""

from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from pacfourier.arrays import host
from pacfourier.estimators.frames import is_frame, taken
from pacfourier.plots.axes import CLASS_COLOURS, drawing_axes
from pacfourier.plots.grid_axis import GridAxis, column_place, grid_axis, spread

# Values along one column, and along each of two.
_GRID_SIZES = (60, 25)
# Predictions for one plot in all, rows that are averaged over, and predictions at a time.
MOST_PREDICTIONS, MOST_ROWS, BLOCK = 100_000, 1000, 20_000
_DOTS = {"color": "white", "markersize": 4, "markeredgewidth": 0, "alpha": 0.6}
_DASHED = {"linestyle": "--"}


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
        table = X if is_frame(X) else _dense_array(X)
        chosen = list(columns) if isinstance(columns, list | tuple) else [columns]
        if len(chosen) not in (1, 2):
            raise ValueError(f"columns must name one or two columns, got {columns!r}.")
        size = n_grid or _GRID_SIZES[len(chosen) - 1]
        places = [column_place(table, column) for column in chosen]
        axes = [grid_axis(table, place, size) for place in places]
        values = _averages(estimator, table, places, axes)
        names, kept, quantity = _shown_outputs(estimator, len(values), target)
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
        self.ax_ = drawing_axes(ax)
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
            dashes = {} if number < len(CLASS_COLOURS) or "marker" in style else _DASHED
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
            self.ax_.plot(across.rows, upward.rows, ".", **_DOTS)
            self.ax_.set(xlim=limits[0], ylim=limits[1])
        across.name_ticks(self.ax_.xaxis)
        upward.name_ticks(self.ax_.yaxis)
        self.figure_.colorbar(self.surface_, ax=self.ax_).set_label(self.quantity)


def _dense_array(X: Any) -> np.ndarray:
    """Return rows as a dense array of floating-point numbers."""
    rows = X.toarray() if hasattr(X, "toarray") else np.asarray(host(X))
    return rows if rows.dtype.kind == "f" else rows.astype(np.float64)


def _averages(estimator: Any, table: Any, places: list[int], axes: list[GridAxis]) -> np.ndarray:
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
            block = _with_column(block, place, taken(axis.column, np.repeat(chosen, len(rows))))
        outputs = _predicted(estimator, block)
        found.append(outputs.reshape(len(points[0]), len(rows), -1).mean(axis=1))
    return np.moveaxis(np.concatenate(found).reshape(*shape, -1), -1, 0)


def _with_column(table: Any, place: int, column: Any) -> Any:
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


def _predicted(estimator: Any, X: Any) -> np.ndarray:
    """Return probabilities of a classifier, or predictions of a regressor, one row per sample."""
    predict = estimator.predict_proba if is_classifier(estimator) else estimator.predict
    values = np.asarray(host(predict(X)))
    return values.reshape(len(values), -1)


def _shown_outputs(estimator: Any, n_outputs: int, target: Any) -> tuple[list[str], list[int], str]:
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
