import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacfourier.experiments.plan import GAMMAS, Cell
from pacfourier.experiments.records import KEY, VALUES, Records

CELL = Cell("quick", "greedy", "breast", 0, "RFF", 10)
ROW = {
    "settings": {"beta": 0.001, "n_frequencies": 8},
    "C": 0.1,
    "train_errors": 12,
    "valid_errors": 3,
    "test_errors": 7,
    "n_train": 340,
    "n_valid": 86,
    "n_test": 143,
    "certificate": 0.1 + 0.2,
    "train_loss": 1 / 3,
    "test_loss": 0.25,
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


def test_rows_are_read_back_as_they_were_written(path):
    """Every digit: the file keeps doubles as doubles."""
    with Records(path) as records:
        records.write(CELL, {"RFF": ROW}, 0.125)
    with Records(path) as records:
        (row,) = records.results()
        assert records.finished() == {CELL: 0.125}
    assert set(row) == {*KEY, *VALUES}
    assert {name: row[name] for name in ROW} == ROW
    assert Cell(*(row[name] for name in KEY)) == CELL


def test_what_a_method_does_not_have_is_none(path):
    with Records(path) as records:
        records.write(CELL, {"RFF": {"settings": {}, "C": 1.0}}, 0.0)
        (row,) = records.results()
    assert row["certificate"] is None
    assert row["C"] == 1.0


def test_several_rows_of_a_cell_stand_under_their_own_names(path):
    cell = Cell("quick", "landmarks", "breast", 0, "PB-C", 10)
    names = ("PB-C", "PB-C beta=1", "PB-C D=64")
    with Records(path) as records:
        records.write(cell, dict.fromkeys(names, ROW), 1.0)
        assert {row["method"] for row in records.results()} == set(names)
        assert list(records.finished()) == [cell]


def test_a_cell_is_written_once(path):
    with Records(path) as records:
        records.write(CELL, {"RFF": ROW}, 1.0)
        before = records.results()
        with pytest.raises(sqlite3.IntegrityError):
            records.write(CELL, {"RFF": {**ROW, "test_errors": 0}}, 2.0)
        assert records.results() == before
        assert records.finished() == {CELL: 1.0}


@pytest.mark.parametrize("culprit", ["second row", "finished"])
def test_a_cell_is_written_whole_or_not_at_all(path, culprit):
    """The first row goes in, what follows does not: nothing may stay, even for another reader."""
    rows = {"RFF": ROW, "RFF again": ROW}
    with Records(path) as records:
        if culprit == "second row":
            rows["RFF again"] = {**ROW, "C": object()}
        else:
            records.write(CELL, {}, 1.0)
        before = records.finished()
        with pytest.raises((sqlite3.IntegrityError, sqlite3.ProgrammingError)):
            records.write(CELL, rows, 2.0)
        with Records(path) as reader:
            assert reader.results() == []
            assert reader.finished() == before


def test_a_row_without_settings_is_refused_whole(path):
    with Records(path) as records:
        with pytest.raises(KeyError, match="settings"):
            records.write(CELL, {"RFF": ROW, "broken": {"C": 1.0}}, 1.0)
        assert records.results() == []
        assert records.finished() == {}


@pytest.mark.parametrize("width", [*GAMMAS, 1, 25, 5000])
def test_widths_are_keys_that_survive_the_file(path, width):
    cell = Cell("full", "svm", "adult", 3, "SVM grid", width)
    with Records(path) as records:
        records.write(cell, {cell.method: ROW}, 1.0)
    with Records(path) as records:
        assert cell in records.finished()
        assert records.results()[0]["width"] == width
        # Seeds are made from the text of a width: 10 must not come back as 10.0.
        assert repr(records.results()[0]["width"]) == repr(width)


@given(
    width=st.floats(allow_nan=False, allow_infinity=False) | st.integers(0, 2**53),
    split=st.integers(0, 10**6),
    method=st.text(st.characters(exclude_categories=["Cs"])),
)
def test_any_cell_is_found_again(width, split, method):
    cell = Cell("quick", "greedy", "breast", split, method, width)
    with Records(":memory:") as records:
        records.write(cell, {method: ROW}, 1.0)
        assert cell in records.finished()
        (row,) = records.results()
        assert (row["method"], row["split"], row["width"]) == (method, split, width)


def test_results_come_in_the_order_of_their_keys(path):
    cells = [
        Cell("quick", "greedy", "breast", s, m, w) for s in (1, 0) for m in "ba" for w in (9, 2)
    ]
    with Records(path) as records:
        for cell in cells:
            records.write(cell, {cell.method: ROW}, 1.0)
        found = [Cell(*(row[name] for name in KEY)) for row in records.results()]
    assert found == sorted(cells)


def test_runs_are_noted_with_their_versions(path):
    with Records(path) as records:
        records.start("2026-01-02", {"numpy": "2.0"})
        records.start("2026-01-01", {"numpy": "1.0"})
    with Records(path) as records:
        assert [run["versions"]["numpy"] for run in records.runs()] == ["1.0", "2.0"]
