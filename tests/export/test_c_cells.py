"""C functions that set the cells of a table, against the encoding in Python."""

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from tests.export.conftest import FLAGS, SANITIZERS

from pacfourier.export.c_cells import _distinct_names, row_text
from pacfourier.tabular.encoding import learned_encoding

# Two names that become the same in C, one that would end a comment, and one without letters.
NAMES = ["size (cm)", "size [cm]", "light-years */", "%", "Ort", "zone", "seen", "born"]
KINDS = ["number"] * 4 + ["category"] * 2 + ["date"] * 2
# How a program sets the cells of a row; ``v`` has the values of a cell.
CALLS = {
    "size (cm)": "t_set_size_cm(values, (float)v[0]);",
    "size [cm]": "t_set_size_cm_2(values, (float)v[0]);",
    "light-years */": "t_set_light_years(values, v[0]);",
    "%": "t_set_unnamed(values, (float)v[0]);",
    "Ort": "t_set_ort(values, v[0] == 0 ? T_ORT_K_LN : v[0] == 1 ? T_ORT_BONN : -1);",
    "zone": "t_set_zone(values, v[0] == 0 ? T_ZONE_1 : v[0] == 1 ? T_ZONE_2 : -1);",
    "seen": "t_set_seen(values, (int)v[0], (int)v[1], (int)v[2], v[3]);",
    "born": "t_set_born(values, (int)v[0], (int)v[1], (int)v[2]);",
}
DRIVER = """
#include <stdio.h>
#include <string.h>
HEADER
int main(void)
{
    double cell[5];
    const double *v = cell + 1;
    float values[sizeof t_empty_row / sizeof *t_empty_row];
    for (;;) {
        memcpy(values, t_empty_row, sizeof values);
CALLS
        fwrite(values, sizeof values, 1, stdout);
    }
}
"""
CALL = "if (fread(cell, sizeof cell, 1, stdin) != 1) return 0;\n if (cell[0] > 0) {}"


def table(n_rows=400, seed=0):
    """Return cells of all kinds. Every column but two has gaps."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal([170, 3, 0, 0.5], [10, 100, 3e19, 0.1], (n_rows, 4))
    numbers[rng.random((n_rows, 4)) < [0.1, 0.0, 0.2, 0.1]] = np.nan
    days = rng.integers(-40_000, 40_000, (2, n_rows))
    dates = [pd.Timestamp("2000-03-01") + pd.to_timedelta(each, "D") for each in days]
    hours = pd.to_timedelta(rng.integers(0, 96, n_rows) / 4, "h")
    columns = [
        *numbers.T,
        rng.choice(["Köln", "Bonn", "Au", None], n_rows, p=[0.5, 0.4, 0.05, 0.05]),
        rng.choice(["1", "2"], n_rows),
        pd.Series(dates[0] + hours).mask(rng.random(n_rows) < 0.1),
        dates[1],
    ]
    frame = pd.DataFrame(dict(zip(NAMES, columns, strict=True)))
    return frame.astype({"Ort": "str", "zone": "str"}).where(frame.notna())


@pytest.fixture(scope="module")
def encoding():
    # "Au" is rare: it occurs once.
    frame = table()
    rare = frame.index[frame["Ort"] == "Au"][1:]
    frame.loc[rare, "Ort"] = "Bonn"
    return learned_encoding(frame, dict(zip(NAMES, KINDS, strict=True)), 0)


def cells_of(frame):
    """Return cells as a program reads them: whether one is known, and up to four numbers."""
    cells = np.zeros((len(frame), len(NAMES), 5))
    for place, (name, kind) in enumerate(zip(NAMES, KINDS, strict=True)):
        column, cell = frame[name], cells[:, place]
        cell[:, 0] = column.notna()
        if kind == "number":
            cell[:, 1] = column.fillna(0)
        elif kind == "category":
            places = {"Köln": 0, "Bonn": 1, "1": 0, "2": 1}
            cell[:, 1] = column.map(places).fillna(2)
        else:
            known = column.fillna(pd.Timestamp(0)).dt
            parts = [known.year, known.month, known.day, known.hour + known.minute / 60]
            cell[:, 1:] = np.column_stack(parts)
    return cells


@pytest.fixture(scope="module")
def rows(encoding, tmp_path_factory):
    """Return a function: the rows that a program makes of cells."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    folder = tmp_path_factory.mktemp("cells")
    calls = [CALL.replace("{}", f"{{ {CALLS[name]} }}") for name in NAMES]
    text = DRIVER.replace("HEADER", row_text("t", encoding.table_row, "float"))
    (folder / "main.c").write_text(text.replace("CALLS", "\n".join(calls)))
    program = folder / "main"
    subprocess.run(["gcc", *FLAGS, *SANITIZERS, folder / "main.c", "-o", program], check=True)

    def made(cells):
        done = subprocess.run([program], input=cells.tobytes(), capture_output=True, check=True)
        found = np.frombuffer(done.stdout, dtype=np.float32)
        return found.reshape(-1, len(encoding.names))

    return made


def expected_rows(encoding, frame):
    return encoding.encoded(frame) + encoding.offsets


def test_setters_make_the_rows_of_the_encoding(encoding, rows):
    fresh = table(300, seed=1)
    fresh.loc[:3, "Ort"] = "Ulm"
    expected = expected_rows(encoding, fresh)
    # Numbers of the table are rounded to single precision, once or twice.
    errors = np.abs(rows(cells_of(fresh)) - expected) / np.abs(expected).max(axis=0)
    assert errors.shape == (300, len(encoding.names))
    assert not np.array(encoding.names)[(errors > 2.0**-22).any(axis=0)].tolist()


def test_a_cell_that_is_not_set_is_empty(encoding, rows):
    nothing = pd.DataFrame({name: table(1)[name].mask([True]) for name in NAMES})
    made = rows(np.zeros((1, len(NAMES), 5)))
    np.testing.assert_allclose(made, expected_rows(encoding, nothing), rtol=2.0**-22)
    np.testing.assert_array_equal(made[0], np.float32(encoding.table_row.empty))


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_empties_the_cell(encoding, rows, number):
    cells = np.zeros((1, len(NAMES), 5))
    cells[0, :4, 0], cells[0, :4, 1] = 1, number
    np.testing.assert_array_equal(rows(cells)[0], np.float32(encoding.table_row.empty))


def test_the_guide_shows_a_call_for_each_kind(encoding):
    text = row_text("t", encoding.table_row, "uint8_t")
    guide, _, _ = text.partition("*/")
    for call in ("t_set_size_cm(values, 1.5f);", "t_set_ort(values, T_ORT_BONN);"):
        assert call in guide
    assert "t_set_seen(values, 2026, 12, 31, 14.5);" in guide
    assert guide.index("t_row(values, row);") < guide.index("t_predict(row);")
    assert "t_predict(values);" in row_text("t", encoding.table_row, "float")


def test_names_are_legal_and_distinct():
    taken = ("UNIT", "H")
    names = _distinct_names(["a b", "a-b", "a_b_2", "", "é", "UNIT", "x" * 99, "x" * 98], taken)
    assert len(set(names)) == len(names) == 8
    assert not set(names) & set(taken)
    assert all(re.fullmatch("[A-Za-z0-9_]{1,44}", name) for name in names)


def test_categories_cannot_collide_with_macros_or_with_each_other():
    frame = pd.DataFrame({"n": ["columns", "scores"] * 5, "n columns": ["x", "y"] * 5})
    encoding = learned_encoding(frame.astype("str"), dict.fromkeys(frame, "category"), 0)
    text = row_text("t", encoding.table_row, "float")
    assert re.findall(r"^    (T_\w+),", text, re.MULTILINE) == [
        "T_N_COLUMNS_2",
        "T_N_SCORES_2",
        "T_N_COLUMNS_X",
        "T_N_COLUMNS_Y",
    ]
