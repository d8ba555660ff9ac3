"""Decide what each column of a table holds, and turn its cells into numbers, texts and dates."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_numeric_dtype

from pacfourier.errors import InputError, brief, listed
from pacfourier.tabular.cells import (
    DATE_FORMATS,
    DECIMALS,
    GAP_WORDS,
    Texts,
    arrow_texts,
    dates,
    dates_of_texts,
    found_date_format,
    found_decimal,
    numbers,
    numbers_of_texts,
    quick_numbers,
    stray_texts,
    trimmed_texts,
)
from pacfourier.tabular.reading.table_blocks import NO_NAME, TEXT

_KINDS = ("number", "category", "date", "text", "drop")
# A column holds numbers, or dates, if at least this share of its cells can be read as such.
READABLE_SHARE = 0.9
# Marks for "not known". They say nothing about what a column holds.
_MARKS = pa.array(["?", "-", "--", "---", ".", "*", "unknown", "missing"])
_UNKNOWN = frozenset([*_MARKS.to_pylist(), *GAP_WORDS.to_pylist()])
# A quick look at a few cells tells columns of words apart, without reading all of them.
N_SPREAD, NUMBER_LIKE = 64, re.compile(r"\d|^\s*(true|false)\s*$", re.IGNORECASE)
# A column of texts is read as text rather than as categories if it has more different values than
# this, and if its values are rare or long.
MOST_CATEGORIES, RARE_ROWS, LONG_TEXT = 40, 5, 30
# How many cells the format of dates is found from, and how dates of ISO 8601 begin.
MOST_TRIED, ISO_LIKE = 100, re.compile(r"\d{4}[-/.T\d]")
# Whole numbers that all differ are taken for row numbers in two cases: if that many numbers would
# rarely all differ by chance, or if twenty or more are in order and near each other. The gaps
# arise because not all rows are looked at.
RARE_CHANCE, FEWEST_IN_ORDER, WIDEST_GAP = 0.05, 20, 20
CONSTANT, NO_VALUES = "it has a single value", "it has no values"


@dataclass(frozen=True)
class Column:
    """What a column holds, and how its cells are written.

    Attributes
    ----------
    name : str
    kind : {"number", "category", "date", "text"}
    decimal : str, default="."
        The decimal marks of numbers, one of ``DECIMALS``.
    date_format : str, default=""
        The format of dates, as in ``strptime``. Empty for ISO 8601.
    """

    name: str
    kind: str
    decimal: str = "."
    date_format: str = ""

    def values(self, cells: pd.Series) -> Any:
        """Return the cells of the column in the type of its kind."""
        if self.kind == "number":
            return numbers(cells, self.decimal)
        if self.kind == "date":
            return dates(cells, self.date_format)
        return pd.array(trimmed_texts(cells), dtype=TEXT)


@dataclass
class Strays:
    """Cells of columns of numbers and dates that are there but cannot be read.

    Attributes
    ----------
    counts : Counter
        How many there are, by the name of the column. Only columns that have some.
    n_rows : int
        How many rows were looked at.
    examples : dict of str to str
        One of them per column.
    kinds : dict of str to str
        The kinds of the columns.
    """

    counts: Counter[str] = field(default_factory=Counter)
    n_rows: int = 0
    examples: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)

    def update(self, other: "Strays") -> None:
        """Add the strays of another block."""
        self.counts.update(other.counts)
        self.n_rows += other.n_rows
        self.examples = {**other.examples, **self.examples}
        self.kinds |= other.kinds


def stray_notes(strays: Strays) -> list[str]:
    """Return one note per column that has cells that cannot be read."""
    return [
        f"{count:,} of {strays.n_rows:,} values of {name!r} are no {strays.kinds[name]}s, such as "
        f"{strays.examples[name]!r}: they count as missing."
        for name, count in strays.counts.items()
    ]


@dataclass(frozen=True)
class TableColumns:
    """Which columns of a table are used, and which are left out.

    Attributes
    ----------
    used : tuple of Column
    left_out : dict of str to str
        The columns that are not used, each with the reason.
    """

    used: tuple[Column, ...]
    left_out: dict[str, str]

    @property
    def names(self) -> list[str]:
        """The names of the columns that are used."""
        return [column.name for column in self.used]

    def typed(self, block: pd.DataFrame) -> pd.DataFrame:
        """Return the columns that are used, in the types of their kinds.

        Numbers are float64 with NaN, categories and texts are texts or missing, and dates are
        datetime64[ns] or NaT. Cells that cannot be read are missing. Other columns of the block
        are ignored.

        Parameters
        ----------
        block : DataFrame
            Rows as ``open_table`` reads them.

        Returns
        -------
        frame : DataFrame
        """
        return self.read(block)[0]

    def strays(self, block: pd.DataFrame) -> Strays:
        """Return which cells of columns of numbers and dates are there but cannot be read."""
        return self.read(block)[1]

    def read(self, block: pd.DataFrame) -> tuple[pd.DataFrame, Strays]:
        """Return what ``typed`` and ``strays`` return, at the price of one of them."""
        missing = [name for name in self.names if name not in block.columns]
        if missing:
            raise InputError(
                f"data must have all columns that the model uses, got none named {listed(missing)}."
            )
        values, strays = {}, Strays(n_rows=len(block))
        for column in self.used:
            cells = block[column.name]
            values[column.name] = column.values(cells)
            if column.kind in ("number", "date"):
                _count_strays(strays, column, cells, values[column.name])
        frame = pd.DataFrame(values, index=block.index, copy=False)
        frame.columns = frame.columns.astype(object)
        return frame, strays

    def to_data(self) -> dict[str, Any]:
        """Return the columns as plain data."""
        return {
            "names": self.names,
            "kinds": [column.kind for column in self.used],
            "decimals": [column.decimal for column in self.used],
            "date_formats": [column.date_format for column in self.used],
            "left_out": dict(self.left_out),
        }

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """Return the columns that ``to_data`` wrote; any other data gives an error."""
        keys = ("names", "kinds", "decimals", "date_formats")
        if not isinstance(data, dict) or set(data) != {*keys, "left_out"}:
            raise InputError(f"the columns of a model must have the entries {listed(keys)}.")
        lists, left_out = [data[key] for key in keys], data["left_out"]
        texts = [*lists, list(left_out), list(left_out.values())] if _is_dict(left_out) else [None]
        if not all(isinstance(part, list) and all(map(_is_str, part)) for part in texts):
            raise InputError("the columns of a model must be described by lists of texts.")
        if len({len(part) for part in lists}) != 1:
            raise InputError("the columns of a model must be described by lists of one length.")
        columns = cls(tuple(Column(*fields) for fields in zip(*lists, strict=True)), left_out)
        columns._check()
        return columns

    def _check(self) -> None:
        names = [*self.names, *self.left_out]
        if len(set(names)) != len(names) or not self.used:
            raise InputError("the columns of a model must have distinct names, and one at least.")
        allowed = {"kind": _KINDS[:-1], "decimal": DECIMALS, "date_format": DATE_FORMATS}
        for attribute, values in allowed.items():
            found = {getattr(column, attribute) for column in self.used} - set(values)
            if found:
                raise InputError(
                    f"the {attribute} of a column must be one of {listed(values)}, "
                    f"got {listed(sorted(found))}."
                )


def _is_dict(value: Any) -> bool:
    return isinstance(value, dict)


def _is_str(value: Any) -> bool:
    return isinstance(value, str)


def _count_strays(strays: Strays, column: Column, cells: pd.Series, values: Any) -> None:
    is_missing = np.isnat(values) if column.kind == "date" else np.isnan(values)
    if not is_missing.any() or is_missing.sum() == cells.isna().sum():
        return
    found = stray_texts(arrow_texts(cells), ~is_missing)
    if len(found):
        strays.counts[column.name] = len(found)
        strays.examples[column.name] = brief(found[0].as_py())
        strays.kinds[column.name] = column.kind


def decided_columns(sample: pd.DataFrame, forced: Mapping[str, str] | None = None) -> TableColumns:
    """Decide what the columns hold, from some rows.

    A column holds numbers if at least 90 % of its cells can be read as numbers, and dates if at
    least 90 % can be read as dates. Truth values are the numbers 0 and 1. All other columns hold
    categories, or texts if there are more than 40 different ones that are rare or long. Columns
    are left out if they have a single value, or look like the numbers or names of the rows.

    Parameters
    ----------
    sample : DataFrame
        Rows as ``open_table`` reads them, in the order of the table. Rows held out for a
        certificate must not be among them.
    forced : mapping of str to str, default=None
        Kinds by names of columns. They win over every rule.

    Returns
    -------
    columns : TableColumns
    """
    forced = dict(forced or {})
    _check_forced(forced, list(sample.columns))
    used, left_out = [], {}
    for name, cells in sample.items():
        kind = forced.get(name)
        decided = _decided(name, cells) if kind is None else _forced(name, kind, cells)
        if isinstance(decided, Column):
            used.append(decided)
        else:
            left_out[name] = decided
    if not used:
        why = "; ".join(f"{name!r}: {reason}" for name, reason in list(left_out.items())[:3])
        raise InputError(
            "data must have a column to learn from besides the target, got "
            f"{f'none that can be used ({why}): name one with --type' if why else 'none'}."
        )
    return TableColumns(tuple(used), left_out)


def _check_forced(forced: Mapping[str, str], names: list[str]) -> None:
    unknown = [name for name in forced if name not in names]
    if unknown:
        raise InputError(f"--type must name columns among {listed(names)}, got {listed(unknown)}.")
    wrong = sorted(set(forced.values()) - set(_KINDS))
    if wrong:
        raise InputError(
            f"--type must give one of the kinds {listed(_KINDS)}, got {listed(wrong)}."
        )


def _forced(name: str, kind: str, cells: pd.Series) -> Column | str:
    """Return a column of the kind that the user asks for, or the reason to leave it out."""
    if kind == "drop":
        return "it is named in --type"
    if kind == "number" and not _is_typed(cells):
        return Column(name, kind, decimal=found_decimal(arrow_texts(cells)))
    if kind == "date" and not is_datetime64_any_dtype(cells.dtype):
        tried = trimmed_texts(cells).unique().drop_null()[:MOST_TRIED]
        return Column(name, kind, date_format=found_date_format(tried))
    return Column(name, kind)


def _is_typed(cells: pd.Series) -> bool:
    dtype = cells.dtype
    return dtype.kind in "mM" or is_bool_dtype(dtype) or is_numeric_dtype(dtype)


def _decided(name: str, cells: pd.Series) -> Column | str:
    """Return what a column holds, or the reason to leave it out."""
    if name.startswith(NO_NAME):
        return "it has no name"
    if cells.isna().all():
        return NO_VALUES
    if is_datetime64_any_dtype(cells.dtype) or isinstance(cells.dtype, pd.PeriodDtype):
        return CONSTANT if cells.nunique(dropna=False) == 1 else Column(name, "date")
    if _is_typed(cells):
        return _why_not_numbers(numbers(cells)) or Column(name, "number")
    return _decided_texts(name, arrow_texts(cells))


def _decided_texts(name: str, texts: Texts) -> Column | str:
    values, decimal = quick_numbers(texts), "."
    if values is None and _may_be_numbers(texts):
        decimal = found_decimal(texts)
        values = numbers_of_texts(texts, decimal)
    if values is not None and _are_enough_read(texts, np.isfinite(values)):
        return _why_not_numbers(values) or Column(name, "number", decimal=decimal)
    texts = trimmed_texts(texts)
    different = texts.unique()
    if len(different) == 1:
        return CONSTANT if different[0].is_valid else NO_VALUES
    column = _column_of_dates(name, texts)
    if column is not None:
        return column
    present = texts.drop_null()
    why = _why_not_texts(present, different.drop_null())
    return why or Column(name, _kind_of_texts(present, different.drop_null()))


def _may_be_numbers(texts: Texts) -> bool:
    """Return whether one of a few cells, spread over the column, may be a number or is no word.

    If 90 % of the cells are numbers, one of these cells is, unless they are all missing.
    """
    spread = np.unique(np.linspace(0, len(texts) - 1, N_SPREAD).astype(int))
    cells = [text for text in texts.take(pa.array(spread)).to_pylist() if text is not None]
    words = [text for text in cells if not NUMBER_LIKE.search(text)]
    return len(words) < len(cells) or all(text.strip().lower() in _UNKNOWN for text in words)


def _column_of_dates(name: str, texts: Texts) -> Column | None:
    """Return a column of dates if enough of the texts are dates."""
    tried = texts.unique().drop_null()[:MOST_TRIED]
    date_format = found_date_format(tried)
    if not date_format and not any(ISO_LIKE.match(text) for text in tried.to_pylist()):
        return None
    times = dates_of_texts(texts, date_format)
    is_enough = _are_enough_read(texts, ~np.isnat(times))
    return Column(name, "date", date_format=date_format) if is_enough else None


def _are_enough_read(texts: Texts, is_read: NDArray[np.bool_]) -> bool:
    """Return whether enough cells were read, of those that are no mark for an unknown value."""
    n_read = int(is_read.sum())
    if n_read and n_read + texts.null_count == len(texts):
        return True
    strays = stray_texts(texts, is_read)
    words = pc.utf8_lower(pc.utf8_trim_whitespace(strays))
    marks = pc.is_in(words, value_set=_MARKS.cast(words.type))
    n_strays = len(strays) - (pc.sum(marks).as_py() or 0)
    return n_read > 0 and n_read >= READABLE_SHARE * (n_read + n_strays)


def _kind_of_texts(present: Texts, different: Texts) -> str:
    """Return whether texts are categories, or are read by their parts."""
    if len(different) <= MOST_CATEGORIES:
        return "category"
    length = pc.mean(pc.utf8_length(different)).as_py()
    share_with_spaces = pc.mean(pc.match_substring(different, " ")).as_py()
    is_long = length > LONG_TEXT and share_with_spaces > 0.5
    is_rare = len(present) < RARE_ROWS * len(different)
    return "text" if is_rare or is_long else "category"


def _why_not_texts(present: Texts, different: Texts) -> str:
    """Return the reason to leave out a column of texts that are all different, if there is one.

    They are names of rows if each is one word, or all have one length, or they differ only in
    their digits.
    """
    if len(different) < len(present) or len(present) <= FEWEST_IN_ORDER:
        return ""
    has_one_length = len(pc.utf8_length(present).unique()) == 1
    has_spaces = pc.any(pc.match_substring_regex(present, r"\s")).as_py()
    shapes = pc.replace_substring_regex(present, r"\d+", "0").unique()
    if has_spaces and not has_one_length and len(shapes) > 1:
        return ""
    return f"{len(present):,} different texts in {len(present):,} rows look like row names"


def _why_not_numbers(values: NDArray[np.float64]) -> str:
    """Return the reason to leave out a column of numbers; empty if there is none."""
    present = values[np.isfinite(values)]
    if not len(present):
        return NO_VALUES
    if present.min() == present.max():
        return CONSTANT if len(present) == len(values) else ""
    if (present % 1).any() or len(np.unique(present)) < len(present):
        return ""
    span, n_rows = np.ptp(present) + 1, len(present)
    # The chance that all differ; it is largest if all numbers of the span are equally likely.
    chance = np.exp(np.log1p(-np.arange(n_rows) / span).sum())
    is_in_order = n_rows >= FEWEST_IN_ORDER and len(np.unique(np.diff(present) > 0)) == 1
    if chance < RARE_CHANCE or (is_in_order and span < WIDEST_GAP * n_rows):
        return f"{n_rows:,} different whole numbers near each other look like row numbers"
    return ""
