import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduction.plan import PROFILES, STANDARD_WIDTHS
from reproduction.published import published_curves, published_table
from reproduction.results import curve, estimate, figure_points, table1


@pytest.fixture(scope="module")
def rows(lines):
    return [line for _, line in sorted(lines.items())]


def test_an_interval_for_one_split_holds_as_often_as_it_says(rng):
    """5,000 draws: the standard error of a coverage of 0.95 is 0.003."""
    draws = rng.normal(10, 1, (5000, 6))
    inside = 0
    for row in draws:
        found = estimate(dict(enumerate(row[:-1])))
        inside += found.low <= row[-1] <= found.high
    assert abs(inside / 5000 - 0.95) < 0.012


def test_one_split_has_no_interval():
    found = estimate({0: 3.0})
    assert found.n_splits == 1
    assert found.verdict(3.0) == "no interval"
    assert str(found) == "3.00"


@given(st.lists(st.floats(0, 100), min_size=2, max_size=8))
def test_estimates_are_errors(values):
    found = estimate(dict(enumerate(values)))
    assert 0 <= found.low <= found.mean + 1e-9
    assert found.high >= found.mean - 1e-9
    assert found.first == values[0]
    assert found.n_splits == len(values)


def test_the_paper_s_split_is_shown_only_if_it_was_run():
    assert estimate({1: 3.0, 2: 4.0}).first is None


def test_the_interval_is_the_formula():
    """Errors 1, 2, 3: mean 2, deviation 1, t(2) = 4.3027, so 2 +- 4.3027 sqrt(4/3)."""
    found = estimate({0: 1.0, 1: 2.0, 2: 3.0})
    assert found.high == pytest.approx(2 + 4.302653 * np.sqrt(4 / 3), abs=1e-5)
    assert found.low == 0
    assert (found.verdict(6.9), found.verdict(7.0)) == ("inside", "outside")


def test_published_numbers_are_the_paper_s():
    assert published_table()["ads", "PB-C(beta=1)"] == 5.12
    assert len(published_table()) == 35
    curves = published_curves()
    assert len(curves) == 7 * (7 + 5)
    assert curves["greedy", "mnist49", "OKRFF", "test"][10] == pytest.approx(100 * 325 / 3446)
    assert curves["greedy", "mnist49", "SVM", "test"] == {0: pytest.approx(100 * 40 / 3446)}
    assert list(curves["landmarks", "ads", "PB-C", "test"]) == [1, 5, 10, 15, 20, 25]


def test_the_table_s_landmarks_are_those_of_the_figures():
    """Two independent readings of the paper agree to the digits that the table prints."""
    for (dataset, method), printed in published_table().items():
        if method in ("RBF-C", "PB-C"):
            drawn = published_curves()["landmarks", dataset, method, "test"][10]
            assert abs(drawn - printed) <= 0.005 + 1e-9


def test_curves_are_errors_over_splits(rows):
    errors = [
        100 * row["test_errors"] / 143
        for row in rows
        if (row["method"], row["width"], row["dataset"]) == ("PBRFF", 10, "breast")
    ]
    found = curve(rows, "greedy", "breast", "PBRFF")[10]
    assert (found.n_splits, found.first) == (2, errors[0])
    assert found.mean == pytest.approx(np.mean(errors))
    assert curve(rows, "greedy", "breast", "PBRFF", "train").keys() == {5, 10, 500}


def test_table_1_has_every_published_column_of_breast(rows):
    cells = table1(rows)
    assert [cell.method for cell in cells] == ["SVM", "RBF-C", "PB-C", "PB-C(beta=1)", "PB-C(D=64)"]
    assert cells[0].published == 4.90
    # The bandwidth, the split and the machine are the paper's: so is its error.
    assert cells[0].ours.first == pytest.approx(100 * 7 / 143)


def test_points_of_figures_meet_published_ones(rows):
    points = figure_points(rows, "greedy")
    assert {(point.method, point.width) for point in points} == {
        (method, width) for method in ("RFF", "OKRFF", "PBRFF") for width in (5, 10, 500)
    }
    assert {point.width for point in figure_points(rows, "landmarks")} == {5, 10}


def test_the_full_profile_has_the_published_widths():
    assert PROFILES["full"].widths[:6] == (1, 2, 3, 4, 5, 10)
    assert PROFILES["full"].widths[-1] == 5000
    assert set(STANDARD_WIDTHS) < set(PROFILES["full"].widths)
