"""Small charts as inline SVG, in the colours of the page, so that they can be read in the dark too.

A chart is 320 units wide, the width of a narrow screen, and its text has the size of small print
there. On a wide screen, charts are put side by side.
"""

import math
from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate
from unicodedata import east_asian_width

import numpy as np

from pacfourier.arrays import FloatArray
from pacfourier.reports.page import Markup

WIDTH, HEIGHT = 320, 230
LEFT, RIGHT, TOP, BOTTOM = 50, 12, 26, 44
# The space of a row: its name above, its mark below.
_ROW = 36
# The series of a chart differ in colour, in dashes and in the shape of their marks.
_N_SERIES = 4
# How many letters of usual width fit beside each other, and half the width of a digit.
MOST_LETTERS, HALF_LETTER = 40, 3.6


# Smaller numbers of a table count as zero.
_SMALLEST = 1e-70


@dataclass(frozen=True)
class Axis:
    """One axis of a chart.

    Attributes
    ----------
    label : str
        What the numbers are, with their unit.
    low, high : float
        The first and the last number.
    ticks : tuple of pairs of float and str
        Numbers that are marked, and their texts.
    """

    label: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def shares(self, values: Sequence[float] | FloatArray) -> FloatArray:
        """Return where values are on the axis, from 0 at its start to 1 at its end."""
        return (np.asarray(values, dtype=np.float64) - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class _Frame:
    """The two axes of a chart, and where numbers are in the drawing.

    Attributes
    ----------
    across : Axis
    up : Axis
    """

    across: Axis
    up: Axis

    def x(self, values: Sequence[float] | FloatArray) -> FloatArray:
        """Return horizontal places."""
        return LEFT + (WIDTH - LEFT - RIGHT) * self.across.shares(values)

    def y(self, values: Sequence[float] | FloatArray) -> FloatArray:
        """Return vertical places, which count downwards."""
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * self.up.shares(values)


_Mark = Callable[[_Frame], str]


def number_axis(label: str, values: Sequence[float] | FloatArray, *, zero: bool = False) -> Axis:
    """Return an axis that holds some numbers, with ticks at round numbers.

    Parameters
    ----------
    label : str
    values : sequence of float
    zero : bool, default=False
        Whether the axis starts at zero.

    Returns
    -------
    axis : Axis
    """
    low, high = float(np.min(values)), float(np.max(values))
    if zero:
        low, high = 0.0, 1.05 * high
    size = max(abs(low), abs(high))
    if not high - low > max(1e-12 * size, _SMALLEST):
        margin = 0.5 * size if size > _SMALLEST else 0.5
        low, high = low - margin * (not zero), high + margin
    ticks = _round_numbers(low, high)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else high - low
    texts = tuple((tick, _tick_text(tick, step)) for tick in ticks)
    return Axis(label, low, high, texts)


def _round_numbers(low: float, high: float, most: int = 5) -> list[float]:
    """Return at most ``most`` round numbers between two numbers, evenly spaced."""
    power = math.floor(math.log10((high - low) / most))
    for step in (size * 10.0**exponent for exponent in (power, power + 1) for size in (1, 2, 5)):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    return [number * step for number in range(first, last + 1)]


def _tick_text(value: float, step: float) -> str:
    """Return a number of an axis as text, with the digits that tell it from its neighbours."""
    largest = max(abs(value), step)
    if largest >= 1e6 or step < 1e-4:
        return f"{value:.3g}"
    n_digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{value:,.{n_digits}f}"


def share_axis(label: str) -> Axis:
    """Return an axis from 0 to 1."""
    return Axis(label, 0.0, 1.0, tuple((k / 4, f"{k / 4:g}") for k in range(5)))


def date_axis(label: str, values: "np.ndarray") -> Axis:
    """Return an axis of dates. Its numbers are seconds since 1970."""
    seconds = seconds_of(values)
    low, high = float(seconds.min()), float(seconds.max())
    places = np.linspace(low, high, 3)
    unit = "D" if high - low > 3 * 86_400 else "m"
    texts = places.astype("datetime64[s]").astype(f"datetime64[{unit}]").astype(str)
    return Axis(label, low, high, tuple(zip(places.tolist(), texts.tolist(), strict=True)))


def seconds_of(values: "np.ndarray") -> FloatArray:
    """Return dates as seconds since 1970."""
    return np.asarray(values).astype("datetime64[ns]").astype(np.int64) / 1e9


def chart(title: str, across: Axis, up: Axis, *marks: _Mark) -> Markup:
    """Return a chart with two axes.

    Parameters
    ----------
    title : str
        What the chart shows, for those who do not see it too.
    across, up : Axis
    *marks : function of a Frame
        What is drawn, such as the result of ``line``.

    Returns
    -------
    svg : Markup
    """
    frame = _Frame(across, up)
    drawn = "".join(mark(frame) for mark in marks)
    return _svg(title, HEIGHT, _grid(frame) + drawn)


def line(xs: FloatArray, ys: FloatArray, series: int = 0) -> _Mark:
    """Return a mark that joins points by lines."""

    def draw(frame: _Frame) -> str:
        points = _points(frame.x(xs), frame.y(ys))
        return f'<polyline class="line s{series % _N_SERIES}" points="{points}"/>'

    return draw


def dots(xs: FloatArray, ys: FloatArray, series: int = 0, *, many: bool = False) -> _Mark:
    """Return a mark of points. Many points are small rings, so that one sees where they overlap."""
    size = 2 if many else 3.5
    kind = f"{'ring' if many else 'dot'} s{series % _N_SERIES}"

    def draw(frame: _Frame) -> str:
        places = zip(frame.x(xs), frame.y(ys), strict=True)
        return "".join(
            f'<path class="{kind}" d="{_shape(series, x, y, size)}"/>' for x, y in places
        )

    return draw


def diagonal(frame: _Frame) -> str:
    """Draw the line on which both axes have the same number."""
    ends = [max(frame.across.low, frame.up.low), min(frame.across.high, frame.up.high)]
    return f'<polyline class="guide" points="{_points(frame.x(ends), frame.y(ends))}"/>'


def strip(width: float) -> _Mark:
    """Return a mark of the two lines at a distance above and below the diagonal."""

    def draw(frame: _Frame) -> str:
        low, high = frame.across.low, frame.across.high
        sides = []
        for shift in (-width, width):
            ends = np.clip([low, high], frame.up.low - shift, frame.up.high - shift)
            points = _points(frame.x(ends), frame.y(ends + shift))
            sides.append(f'<polyline class="line s1" points="{points}"/>')
        return "".join(sides)

    return draw


def intervals(xs: FloatArray, lows: FloatArray, highs: FloatArray) -> _Mark:
    """Return a mark of upright lines between two numbers each."""

    def draw(frame: _Frame) -> str:
        places = zip(frame.x(xs), frame.y(lows), frame.y(highs), strict=True)
        return "".join(
            f'<path class="stem s0" d="M{x:.1f} {low:.1f}V{high:.1f}"/>' for x, low, high in places
        )

    return draw


def stems(xs: FloatArray, ys: FloatArray) -> _Mark:
    """Return a mark of points, each on a line that stands on zero."""
    feet = np.zeros(len(ys))
    return lambda frame: intervals(xs, feet, ys)(frame) + dots(xs, ys)(frame)


def bars_below(edges: FloatArray, counts: FloatArray, share: float = 0.25) -> _Mark:
    """Return a mark of bars on the lower part of a chart; the longest takes ``share`` of it."""

    def draw(frame: _Frame) -> str:
        places = frame.x(edges)
        foot = HEIGHT - BOTTOM
        sizes = (
            share * (HEIGHT - TOP - BOTTOM) * np.asarray(counts) / max(float(np.max(counts)), 1.0)
        )
        return "".join(
            f'<rect class="count" x="{start + 1:.1f}" y="{foot - size:.1f}" '
            f'width="{end - start - 2:.1f}" height="{size:.1f}"/>'
            for start, end, size in zip(places[:-1], places[1:], sizes, strict=True)
        )

    return draw


def bars(title: str, names: Sequence[str], values: FloatArray, texts: Sequence[str]) -> Markup:
    """Return horizontal bars, each with its name above it and a text at its end.

    Parameters
    ----------
    title : str
    names : sequence of str
    values : array of shape (n_bars,)
        Negative values have no bar.
    texts : sequence of str
        What to write at the end of each bar.

    Returns
    -------
    svg : Markup
    """
    most = max(float(np.max(values)), 1e-300)
    room = WIDTH - 70
    parts = []
    for row, (name, value, text) in enumerate(zip(names, values, texts, strict=True)):
        top, size = row * _ROW + 4, max(room * float(value) / most, 1.0)
        parts.append(
            f'<text class="name" x="0" y="{top + 10}">{escape(shortened(name))}</text>'
            f'<rect class="bar" x="0" y="{top + 17}" width="{size:.1f}" height="9"/>'
            f'<text x="{size + 5:.1f}" y="{top + 26}">{escape(text)}</text>'
        )
    return _svg(title, len(names) * _ROW + 4, "".join(parts))


def rows_of_dots(title: str, axis: Axis, names: Sequence[str], values: FloatArray) -> Markup:
    """Return a row for each name, with a dot for each of its values.

    Parameters
    ----------
    title : str
    axis : Axis
    names : sequence of str
    values : array of shape (n_names, n_series)

    Returns
    -------
    svg : Markup
    """
    height = len(names) * _ROW + BOTTOM
    foot = height - BOTTOM + 4
    places = 8 + (WIDTH - 20) * axis.shares(values)
    ticks = 8 + (WIDTH - 20) * axis.shares([tick for tick, _ in axis.ticks])
    parts = [
        f'<path class="grid" d="M{x:.1f} 0V{foot}"/>'
        f'<text class="middle" x="{x:.1f}" y="{foot + 16}">{escape(text)}</text>'
        for x, (_, text) in zip(ticks, axis.ticks, strict=True)
    ]
    for row, (name, xs) in enumerate(zip(names, places, strict=True)):
        top = row * _ROW + 4
        parts.append(
            f'<path class="grid" d="M0 {top + 22}H{WIDTH}"/>'
            f'<text class="name" x="0" y="{top + 10}">{escape(shortened(name))}</text>'
        )
        parts += [
            f'<path class="dot s{series % _N_SERIES}" d="{_shape(series, x, top + 22, 4)}"/>'
            for series, x in enumerate(xs)
        ]
    name = escape(shortened(axis.label))
    parts.append(f'<text class="middle" x="{WIDTH / 2}" y="{foot + 34}">{name}</text>')
    return _svg(title, height, "".join(parts))


def legend(names: Sequence[str]) -> Markup:
    """Return the names of series, each beside a piece of its line."""
    items = "".join(
        f'<li><svg class="key" viewBox="0 0 34 10" aria-hidden="true">'
        f'<path class="line s{series % _N_SERIES}" d="M1 5H33"/>'
        f'<path class="dot s{series % _N_SERIES}" d="{_shape(series, 17, 5, 3.5)}"/></svg>'
        f"{escape(name)}</li>"
        for series, name in enumerate(names)
    )
    return Markup(f'<ul class="legend">{items}</ul>')


def shortened(text: str) -> str:
    """Return a text that fits into the width of a chart."""
    ends = list(accumulate(map(_letter_width, text)))
    if not ends or ends[-1] <= MOST_LETTERS:
        return text
    return f"{text[: bisect(ends, MOST_LETTERS - 1)]}…"


def _letter_width(letter: str) -> float:
    """Return about how wide a letter is, in letters of usual width."""
    if east_asian_width(letter) in "WF" or letter in "MWmw@%":
        return 1.7
    return 1.25 if letter.isupper() else 1.0


def _svg(title: str, height: float, content: str) -> Markup:
    return Markup(
        f'<svg class="chart" role="img" viewBox="0 0 {WIDTH} {height:g}" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>{content}</svg>'
    )


def _grid(frame: _Frame) -> str:
    """Return the axes with their ticks and labels. The label of the vertical axis is on top."""
    parts = []
    xs = frame.x([tick for tick, _ in frame.across.ticks])
    for x, (_, text) in zip(xs, frame.across.ticks, strict=True):
        anchor = "end" if x + HALF_LETTER * len(text) > WIDTH else "middle"
        anchor = "start" if len(text) > 6 and x < LEFT + 20 else anchor
        parts.append(f'<text class="{anchor}" x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}">')
        parts.append(f"{escape(text)}</text>")
    ys = frame.y([tick for tick, _ in frame.up.ticks])
    for y, (_, text) in zip(ys, frame.up.ticks, strict=True):
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text class="end" x="{LEFT - 6}" y="{y + 4:.1f}">{escape(text)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<path class="axis" d="M{LEFT} {HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>')
    parts.append(f'<text class="name" x="0" y="12">{escape(shortened(frame.up.label))}</text>')
    parts.append(
        f'<text class="middle name" x="{middle}" y="{HEIGHT - 8}">'
        f"{escape(shortened(frame.across.label))}</text>"
    )
    return "".join(parts)


def _points(xs: FloatArray, ys: FloatArray) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))


def _shape(series: int, x: float, y: float, size: float) -> str:
    """Return the outline of a mark: a disc, a square, a triangle or a diamond."""
    r = size
    return (
        f"M{x - r:.1f} {y:.1f}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0",
        f"M{x - r:.1f} {y - r:.1f}h{2 * r}v{2 * r}h{-2 * r}z",
        f"M{x:.1f} {y - r:.1f}l{r} {2 * r}h{-2 * r}z",
        f"M{x:.1f} {y - 1.3 * r:.1f}l{r} {1.3 * r}l{-r} {1.3 * r}l{-r} {-1.3 * r}z",
    )[series % _N_SERIES]
