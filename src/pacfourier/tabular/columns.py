"""Which columns hold numbers and which categories, and how they become inputs of a map."""

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pacfourier.errors import InputError, listed

# Rarer categories of a column share one.
MOST_CATEGORIES = 20
# Larger numbers are read as missing, smaller ones as zero: the square of their ratio is finite.
LARGEST_NUMBER, SMALLEST_NUMBER = 1e70, 1e-70
KINDS = ("numbers", "categories")
CONSTANT = "it has a single value in the rows of the preparation"
# Texts that are tried as dates: each takes long.
MOST_TRIED = 100
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
# Different whole numbers name the rows if so many would rarely differ by chance, or if twenty or
# more are in order and near each other: the preparation is one row in seven, which leaves gaps.
RARE_CHANCE, FEWEST_IN_ORDER, WIDEST_GAP = 0.05, 20, 20


@dataclass(frozen=True)
class Columns:
    """What is read of a table.

    Attributes
    ----------
    numbers, categories : list of str
        Names of the columns of each kind.
    left_out : dict of str to str
        Why each other column is not read, by name.
    """

    numbers: list
    categories: list
    left_out: dict

    @property
    def names(self):
        """The names of all columns that are read."""
        return [*self.numbers, *self.categories]

    def values(self, table):
        """Return the columns of a table that are read: floats, and text for categories.

        A value that is no number is missing in a column of numbers; a missing category is a
        category of its own, the empty text.
        """
        missing = [name for name in self.names if name not in table.columns]
        if missing:
            raise InputError(f"data must have the columns {listed(missing)} too, got none such.")
        columns = {name: numbers(table[name]) for name in self.numbers}
        columns |= {name: texts(table[name]).fillna("") for name in self.categories}
        return pd.DataFrame(columns, index=table.index)

    def unread(self, table):
        """Return how many values of each column of numbers are none."""
        return Counter({name: _n_unread(table[name]) for name in self.numbers})

    def notes(self, table):
        """Return what cannot be read of the columns that are read, in words."""
        return unread_notes(self.unread(table))


def unread_notes(unread):
    """Return what cannot be read, in words, from the numbers of such values by column."""
    return [
        f"{count:,} values of {name!r} are no usable numbers, and are read as missing."
        for name, count in unread.items()
        if count
    ]


def table_columns(preparation, drop=()):
    """Return which columns to read, as the rows of the preparation show it.

    Parameters
    ----------
    preparation : DataFrame
        Rows that serve nothing else, in the order of the table: a choice of columns made on
        certified rows would be a transform fitted on them.
    drop : sequence of str, default=()
        Names of columns to leave out.

    Returns
    -------
    columns : Columns
    """
    kinds = {name: _kind(name, preparation[name]) for name in preparation.columns}
    kinds |= dict.fromkeys(drop, "as asked")
    columns = Columns(
        numbers=[name for name, kind in kinds.items() if kind == "numbers"],
        categories=[name for name, kind in kinds.items() if kind == "categories"],
        left_out={name: kind for name, kind in kinds.items() if kind not in KINDS},
    )
    if not columns.names:
        raise InputError(
            "data must have a column to learn from besides the target, got "
            f"{columns.left_out or 'none'}."
        )
    return columns


def _kind(name, column):
    """Return "numbers", "categories", or why the column is left out."""
    present = column.dropna()
    if name.startswith("Unnamed: "):
        return "it has no name"
    if present.empty:
        return "no value is present in the rows of the preparation"
    if _n_unread(present) == 0:
        return _flaw_of_numbers(numbers(present)) or "numbers"
    return _flaw_of_texts(texts(column)) or "categories"


def _flaw_of_texts(values):
    """Return why text is of no use; empty if it may be. What is missing is a category."""
    present = values.dropna()
    n_distinct = present.nunique()
    if values.nunique(dropna=False) == 1:
        return CONSTANT
    if n_distinct <= max(MOST_CATEGORIES, len(present) / 2):
        return ""
    dates = pd.to_datetime(present.head(MOST_TRIED), format="mixed", errors="coerce", utc=True)
    if dates.notna().all():
        return "it looks like dates: derive numbers from them, as the month or the age"
    return f"{n_distinct:,} different texts in {len(present):,} rows look like names of rows"


def _flaw_of_numbers(values):
    """Return why numbers are of no use; empty if they may be."""
    n_rows, n_distinct = len(values), len(np.unique(values))
    if n_distinct == 1:
        return CONSTANT
    if n_distinct < n_rows or (values % 1).any():
        return ""
    span = np.ptp(values) + 1
    # The chance is largest where all numbers are as likely: that of any other law is smaller.
    chance = np.exp(np.log1p(-np.arange(n_rows) / span).sum())
    is_in_order = n_rows >= FEWEST_IN_ORDER and len(np.unique(np.diff(values) > 0)) == 1
    if chance < RARE_CHANCE or (is_in_order and span < WIDEST_GAP * n_rows):
        return f"{n_rows:,} different whole numbers so near each other look like numbers of rows"
    return ""


def numbers(column):
    """Return a column as floats; what is no number, or too large, is missing."""
    if not is_numeric_dtype(column) or is_bool_dtype(column):
        plain = texts(column).map(_without_commas, na_action="ignore")
        column = pd.to_numeric(plain, errors="coerce")
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    values = np.where(np.abs(values) <= LARGEST_NUMBER, values, np.nan)
    return np.where(np.abs(values) < SMALLEST_NUMBER, 0, values)


def _without_commas(text):
    """Return text without commas, if they set the thousands of a number apart."""
    return text.replace(",", "") if "," in text and THOUSANDS.fullmatch(text.strip()) else text


def texts(column):
    """Return a column as text; what is missing stays so."""
    return column.astype(object).map(str, na_action="ignore")


def _n_unread(column):
    return int(np.isnan(numbers(column)).sum() - column.isna().sum())


def column_encoder(columns):
    """Return the transformer of ``Columns.values`` to inputs of a map, not fitted.

    Numbers: missing ones become the median, then mean zero and variance one. Categories: one
    indicator each; the rare ones share one, and unknown ones have none.
    """
    scaler = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    indicators = OneHotEncoder(handle_unknown="ignore", max_categories=MOST_CATEGORIES)
    return ColumnTransformer(
        [("numbers", scaler, columns.numbers), ("categories", indicators, columns.categories)]
    )
