"""A column of a table as an axis of a plot."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from pacfourier.estimators.frames import holds_numbers, is_frame, numbers_of, placed, taken
from pacfourier.plots.axes import shortened

# Categories of an axis, and rows that are drawn.
MOST_CATEGORIES, MOST_STROKES = 12, 300
# Where the data are: strokes or bars below a line.
_STROKES = {"color": "#404040", "markersize": 7, "markeredgewidth": 0.6, "alpha": 0.5}
_BARS = {"color": "#D9D9D9", "zorder": 0}
_BAR_HEIGHT = 0.15


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
            heights = _BAR_HEIGHT * self.rows / self.rows.max()
            ax.bar(self.positions, heights, width=0.6, transform=place, **_BARS)
            ax.set_xlim(-0.6, len(self.positions) - 0.4)
            return
        limits = ax.get_xlim()
        ax.plot(self.rows, np.full(len(self.rows), 0.012), "|", transform=place, **_STROKES)
        ax.set_xlim(limits)


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
        kind = _column_kind(column.dtype)
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
    cells = zip(np.asarray(column).tolist(), is_missing, strict=True)
    texts = np.array(["missing" if gap else str(cell) for cell, gap in cells], dtype=object)
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


def _column_kind(dtype: Any) -> str:
    """Return what a column of a data frame holds: "numbers", "dates" or "categories"."""
    is_truth = str(dtype).lower().startswith("bool")
    if holds_numbers(dtype) and not is_truth:
        return "numbers"
    return "dates" if str(dtype).lower().startswith("date") else "categories"


def spread(n: int, size: int) -> np.ndarray:
    """Return at most ``size`` of the numbers below n, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(n, size)).round().astype(int))
