import re

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tests.reports.test_page import parsed

from pacfourier.reports.charts import (
    HEIGHT,
    WIDTH,
    Axis,
    _Frame,
    _round_numbers,
    _tick_text,
    bars,
    bars_below,
    chart,
    date_axis,
    diagonal,
    dots,
    intervals,
    legend,
    line,
    number_axis,
    rows_of_dots,
    seconds_of,
    share_axis,
    shortened,
    stems,
    strip,
)

UNIT = _Frame(Axis("x", 0.0, 10.0, ()), Axis("y", 0.0, 1.0, ()))
NASTY = '<b>"&'


def places(svg):
    return [
        tuple(map(float, pair.split(","))) for pair in re.search('points="(.*?)"', svg)[1].split()
    ]


@given(st.floats(-1e70, 1e70), st.floats(1e-6, 1e6))
def test_ticks_are_round_even_and_inside(low, span):
    high = low + span
    assume(high - low > 1e-6 * abs(low))
    ticks = _round_numbers(low, high)
    steps = np.diff(ticks)
    assert 2 <= len(ticks) <= 5
    slack = 1e-6 * (high - low)
    assert low - slack <= ticks[0] <= ticks[-1] <= high + slack
    assert steps == pytest.approx(steps[0], rel=1e-3)
    digit = steps[0] / 10 ** np.floor(np.log10(steps[0]) + 1e-6)
    assert min(abs(digit - each) for each in (1, 2, 5)) < 1e-3


@given(st.lists(st.floats(-1e70, 1e70), min_size=1, max_size=5), st.booleans())
@example([5e-324], False)
@example([5e-324], True)
@example([1e-75, 3e-75], False)
def test_number_axes_hold_their_numbers(values, zero):
    if zero:
        values = [abs(value) for value in values]
    axis = number_axis("x", values, zero=zero)
    assert axis.low < axis.high
    assert axis.low <= min(values)
    assert max(values) <= axis.high
    assert not zero or axis.low == 0
    shares = axis.shares(values)
    assert ((shares >= 0) & (shares <= 1)).all()


def test_texts_of_ticks_tell_neighbours_apart():
    assert _tick_text(0.25, 0.05) == "0.25"
    assert _tick_text(20_000, 5000) == "20,000"
    assert _tick_text(2e7, 1e7) == "2e+07"
    assert _tick_text(2e-5, 1e-5) == "2e-05"
    assert _tick_text(-3, 1) == "-3"


def test_date_axes_count_seconds():
    dates = np.array(["2020-01-01", "2020-01-03", "2021-01-01"], dtype="datetime64[ns]")
    axis = date_axis("when", dates)
    assert [text for _, text in axis.ticks] == ["2020-01-01", "2020-07-02", "2021-01-01"]
    assert axis.shares(seconds_of(dates))[1] == pytest.approx(2 / 366)
    hours = np.array(["2020-01-01T00:00", "2020-01-01T12:00"], dtype="datetime64[ns]")
    assert date_axis("when", hours).ticks[1][1] == "2020-01-01T06:00"


def test_lines_go_from_corner_to_corner():
    (start, end) = places(line(np.array([0.0, 10.0]), np.array([0.0, 1.0]))(UNIT))
    assert start[0] < end[0] <= WIDTH
    assert end[1] < start[1] <= HEIGHT
    middle = line(np.array([5.0]), np.array([0.5]))(UNIT)
    assert places(middle)[0] == pytest.approx(np.mean([start, end], axis=0))


def test_the_diagonal_ends_where_one_axis_ends():
    frame = _Frame(Axis("x", -1.0, 3.0, ()), Axis("y", 0.0, 5.0, ()))
    expected = line(np.array([0.0, 3.0]), np.array([0.0, 3.0]))(frame)
    assert places(diagonal(frame)) == places(expected)


def test_a_strip_stays_inside_the_chart():
    frame = _Frame(Axis("x", 0.0, 10.0, ()), Axis("y", 0.0, 10.0, ()))
    lower, upper = re.findall('points="(.*?)"', strip(2.0)(frame))
    expected = [
        line(np.array(xs), np.array(ys))(frame) for xs, ys in (([2, 10], [0, 8]), ([0, 8], [2, 10]))
    ]
    assert [lower, upper] == re.findall('points="(.*?)"', "".join(expected))


def test_stems_stand_on_zero():
    assert stems(np.array([5.0]), np.array([0.5]))(UNIT).startswith(
        intervals(np.array([5.0]), np.array([0.0]), np.array([0.5]))(UNIT)
    )


def test_series_differ_in_class_and_in_shape():
    one = np.array([1.0])
    drawn = [dots(one, 0 * one, series)(UNIT) for series in range(4)]
    assert len({re.search('class="(.*?)"', each)[1] for each in drawn}) == 4
    assert len({re.search('d="(.*?)"', each)[1] for each in drawn}) == 4
    assert 'class="ring s0"' in dots(one, 0 * one, many=True)(UNIT)


def test_bars_are_as_long_as_their_values():
    svg = bars("t", ["a", "b", "c"], np.array([2.0, 1.0, -1.0]), ["2", "1", "-1"])
    sizes = [float(size) for size in re.findall(r'width="([\d.]+)" height="9"', svg)]
    assert sizes[0] == pytest.approx(2 * sizes[1])
    assert sizes[2] == 1.0
    counts = bars_below(np.array([0.0, 5.0, 10.0]), np.array([4, 1]))(UNIT)
    heights = [float(size) for size in re.findall(r'height="([\d.]+)"', counts)]
    assert heights[0] == pytest.approx(4 * heights[1], abs=0.3)


def test_charts_are_images_with_a_name_and_escaped_texts():
    axis = Axis(NASTY, 0.0, 1.0, ((0.5, NASTY),))
    charts = [
        chart(NASTY, axis, axis, diagonal),
        bars(NASTY, [NASTY], np.array([1.0]), [NASTY]),
        rows_of_dots(NASTY, axis, [NASTY], np.array([[0.2, 0.7]])),
    ]
    for drawn in charts:
        tag, attributes = parsed(drawn)[0]
        assert tag == "svg"
        assert attributes["role"] == "img"
        assert attributes["aria-label"] == NASTY
        assert "<b>" not in drawn
        assert "<title>&lt;b&gt;" in drawn
    assert "&lt;b&gt;" in legend([NASTY])
    assert share_axis("p").ticks[1] == (0.25, "0.25")


def test_long_names_are_shortened_by_their_width():
    assert shortened("a" * 40) == "a" * 40
    assert shortened("a" * 41) == "a" * 39 + "…"
    assert len(shortened("M" * 41)) < 25
    assert len(shortened("漢" * 41)) < 25
    assert shortened("") == ""


@pytest.mark.parametrize("last", [1, 100, 15_000, 999_999])
def test_the_last_tick_is_not_cut_at_the_edge(last):
    """A digit of small print is at most 7.2 units wide."""
    axis = Axis("x", 0.0, float(last), ((0.0, "0"), (float(last), f"{last:,}")))
    drawn = chart("t", axis, share_axis("y"))
    anchor, x = re.search(rf'<text class="(\w+)" x="([\d.]+)" y="\d+">{last:,}<', drawn).groups()
    reach = {"end": 0, "middle": 3.6}[anchor] * len(f"{last:,}")
    assert float(x) + reach <= WIDTH
