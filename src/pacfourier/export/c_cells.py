"""C functions that write the cells of a table into a row of numbers: one for each column.

A program calls them instead of setting the encoded columns itself, so it cannot forget one, such as
the column that says whether a cell is empty.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import chain, count
from string import Template
from typing import TYPE_CHECKING

import numpy as np

from pacfourier.export.c_text import constants, string

if TYPE_CHECKING:
    from pacfourier.tabular.column_encodings import CellPlaces
    from pacfourier.tabular.encoding import TableRow

# Names of a header are cut to this length.
_LONGEST_NAME = 40
# Macros of a header, without its prefix.
_MACROS = ("H", "N_CLASSES", "N_COLUMNS", "N_SCORES", "N_WAVES", "UNIT", "WIDTH")

_GUIDE = Template("""/*
 * How to pass a row of the table: include string.h, copy ${prefix}_empty_row, whose cells are all
 * empty, and set the cells that are known.
 *
 *     float values[${PREFIX}_N_COLUMNS];
 *     memcpy(values, ${prefix}_empty_row, sizeof values);
$examples
 *
$last
 */
$empty
""")
# What follows after all cells are set, for rows of floats and of bytes.
_LAST = {
    "float": Template(" *     ${prefix}_predict(values$more);"),
    "uint8_t": Template(""" *     uint8_t row[${PREFIX}_N_COLUMNS];
 *     ${prefix}_row(values, row);
 *     ${prefix}_predict(row$more);"""),
}
_NUMBER = Template("""
/* $column is a number. NaN makes the cell empty. */
static inline void ${prefix}_set_$name(float values[], $kind number)
{
    const int is_known = number - number == 0;
    values[$place] = is_known ? $number : ${prefix}_empty_row[$place];
$missing}
""")
_CATEGORY = Template("""
/* $column is a category: the number of one that is listed here, or -1 for any other. */
$levels
static inline void ${prefix}_set_$name(float values[], int category)
{
    for (int k = 0; k < $n_levels; ++k) values[$first + k] = category == k ? 1.0f : 0.0f;
$others$missing}
""")
_DATE = Template("""
/* $column is a date$hours. */
static inline void ${prefix}_set_$name(float values[], int year, int month, int day$parameter)
{
$parts
$missing}
""")
# Years start in March here, so that the day which not all of them have comes last.
_DAYS = Template("""
/* Days since the start of 1970, in the Gregorian calendar. */
static inline long ${prefix}_days(int year, int month, int day)
{
    const long y = year - (month < 3), m = (month + 9) % 12;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 719469;
}
""")
_DAY = "${prefix}_days(year, month, day)"
# What each part of a date is in C.
_PARTS = {
    "year": "(float)year",
    "month": "(float)month",
    "day": "(float)day",
    "hour": "(float)(int)hour",
    "total_seconds": f"(float)({_DAY}$fraction)",
    "weekday": f"(float)(({_DAY} % 7 + 10) % 7 + 1)",
    "day_of_year": f"(float)({_DAY} - ${{prefix}}_days(year, 1, 1) + 1)",
}


def row_text(prefix: str, table_row: "TableRow", kind: str, more: str = "") -> str:
    """Return the row whose cells are all empty, and a function for each column of the table.

    Parameters
    ----------
    prefix : str
        How the names in the header start.
    table_row : TableRow
        Where the cells are among the encoded columns.
    kind : {"float", "uint8_t"}
        What the row of a prediction holds.
    more : str, default=""
        What a prediction takes after the row.

    Returns
    -------
    text : str
        C99 without other headers.
    """
    cells = table_row.cells
    names = _distinct_names(each.column.lower() for each in cells)
    levels = _level_names(cells, names)
    words = {"prefix": prefix, "PREFIX": prefix.upper()}
    calls: dict[str, str] = {}
    setters = []
    for cell, name, own_levels in zip(cells, names, levels, strict=True):
        calls.setdefault(cell.kind, f" *     {_example(prefix, cell, name, own_levels)};")
        setters.append(_setter(prefix, cell, name, own_levels))
    guide = _GUIDE.substitute(
        words,
        examples="\n".join(calls.values()),
        last=_LAST[kind].substitute(words, more=more),
        empty=constants("float", f"{prefix}_empty_row", np.asarray(table_row.empty)),
    )
    days = _DAYS.substitute(words) if any(each.kind == "date" for each in cells) else ""
    return guide + days + "".join(setters).rstrip("\n")


def _distinct_names(texts: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Return legal ends of C names, all different and none of them taken.

    >>> _distinct_names(["blood pressure", "blood-pressure", "%"])
    ['blood_pressure', 'blood_pressure_2', 'unnamed']
    """
    found = dict.fromkeys(taken)
    n_taken = len(found)
    for text in texts:
        name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")[:_LONGEST_NAME] or "unnamed"
        options = chain([name], (f"{name}_{number}" for number in count(2)))
        found[next(option for option in options if option not in found)] = None
    return list(found)[n_taken:]


def _level_names(cells: Sequence["CellPlaces"], names: Sequence[str]) -> list[list[str]]:
    """Return the ends of the C names of all categories, for each column."""
    texts = [
        [f"{name} {level}".upper() for level in cell.parts] if cell.kind == "category" else []
        for cell, name in zip(cells, names, strict=True)
    ]
    found = iter(_distinct_names(chain(*texts), _MACROS))
    return [[next(found) for _ in each] for each in texts]


def _comment(text: str) -> str:
    """Return a text in quotes that cannot end a comment."""
    return string(text.replace("\0", " ")).replace("*/", "* /")


def _example(prefix: str, cell: "CellPlaces", name: str, levels: Sequence[str]) -> str:
    """Return a call that sets a cell."""
    values = {"number": "1.5f", "date": "2026, 12, 31"}
    values["category"] = f"{prefix.upper()}_{levels[0]}" if levels else "-1"
    hours = ", 14.5" if "hour" in cell.parts and cell.kind == "date" else ""
    return f"{prefix}_set_{name}(values, {values[cell.kind]}{hours})"


def _setter(prefix: str, cell: "CellPlaces", name: str, levels: Sequence[str]) -> str:
    """Return the function that sets a cell."""
    known = "is_known ? 0.0f : 1.0f" if cell.kind == "number" else "0.0f"
    words = {
        "prefix": prefix,
        "column": _comment(cell.column),
        "name": name,
        "missing": "" if cell.missing is None else f"    values[{cell.missing}] = {known};\n",
    }
    return _SETTERS[cell.kind](words, cell, levels)


def _number_setter(words: dict[str, str], cell: "CellPlaces", levels: Sequence[str]) -> str:
    """Return the function that sets a number, in the unit of its column."""
    del levels
    is_plain = cell.unit == 1
    return _NUMBER.substitute(
        words,
        kind="float" if is_plain else "double",
        place=cell.places[0],
        number="number" if is_plain else f"(float)(number / {cell.unit!r})",
    )


def _category_setter(words: dict[str, str], cell: "CellPlaces", levels: Sequence[str]) -> str:
    """Return the function that sets a category, and the numbers of the categories."""
    n_levels, start = len(levels), words["prefix"].upper()
    pairs = zip(levels, cell.parts, strict=True)
    lines = [f"    {start}_{name}, /* {_comment(level)} */" for name, level in pairs]
    has_others = len(cell.places) > n_levels
    is_other = f"category < 0 || category >= {n_levels}"
    others = f"    values[{cell.places[-1]}] = {is_other} ? 1.0f : 0.0f;\n" if has_others else ""
    return _CATEGORY.substitute(
        words,
        levels="enum {{\n{}\n}};".format("\n".join(lines)) if lines else "",
        n_levels=n_levels,
        first=cell.places[0] if cell.places else 0,
        others=others,
    )


def _date_setter(words: dict[str, str], cell: "CellPlaces", levels: Sequence[str]) -> str:
    """Return the function that sets a date, with a time of day if the table has them."""
    del levels
    has_hours = "hour" in cell.parts
    words = {**words, "fraction": " + hour / 24.0" if has_hours else ""}
    pairs = zip(cell.places, cell.parts, strict=True)
    lines = [
        f"    values[{place}] = {Template(_PARTS[part]).substitute(words)};"
        for place, part in pairs
    ]
    return _DATE.substitute(
        words,
        hours=", with an hour such as 14.5 for half past two" if has_hours else "",
        parameter=", double hour" if has_hours else "",
        parts="\n".join(lines),
    )


_SETTERS = {"number": _number_setter, "category": _category_setter, "date": _date_setter}
