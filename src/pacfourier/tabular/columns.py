"""Decide which columns hold numbers and which hold categories, and encode them."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pacfourier.errors import InputError, listed

# Of each column; the rarest categories share one indicator.
MOST_CATEGORIES = 20
# Larger numbers become missing and smaller ones zero, so that the squares of scaled numbers are
# finite.
LARGEST_NUMBER, SMALLEST_NUMBER = 1e70, 1e-70
KINDS = ("numbers", "categories")
CONSTANT = "it has a single value in the preprocessing rows"
# How many texts are tried as dates; trying is slow.
MOST_TRIED = 100
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
# Whole numbers that all differ are taken for row numbers in two cases: if that many numbers would
# rarely all differ by chance, or if twenty or more are in order and near each other. The gaps
# arise because only about one row in seven is a preprocessing row.
RARE_CHANCE, FEWEST_IN_ORDER, WIDEST_GAP = 0.05, 20, 20


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are used.

    Attributes
    ----------
    numbers, categories : list of str
        Names of the columns of each kind.
    left_out : dict of str to str
        The columns that are not used, each with the reason.
    """

    numbers: list[str]
    categories: list[str]
    left_out: dict[str, str]

    @property
    def names(self) -> list[str]:
        """The names of all columns that are used."""
        return [*self.numbers, *self.categories]

    def values(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the columns that are used: floats for numbers, and text for categories.

        In a column of numbers, a value that is not a number becomes missing. In a column of
        categories, a missing value becomes the empty text, a category of its own.
        """
        missing = [name for name in self.names if name not in table.columns]
        if missing:
            raise InputError(f"data must have the columns {listed(missing)} too, got none of them.")
        columns = {name: numbers(table[name]) for name in self.numbers}
        columns |= {name: texts(table[name]).fillna("") for name in self.categories}
        return pd.DataFrame(columns, index=table.index)

    def unread(self, table: pd.DataFrame) -> Counter[str]:
        """Return how many values of each column of numbers are not numbers."""
        return Counter({name: _n_unread(table[name]) for name in self.numbers})

    def notes(self, table: pd.DataFrame) -> list[str]:
        """Return one note per column of numbers in which some values are not numbers."""
        return unread_notes(self.unread(table))


def unread_notes(unread: Mapping[str, int]) -> list[str]:
    """Return one note per column, from the number of values that are not numbers."""
    return [
        f"{count:,} values of {name!r} are not usable numbers and count as missing."
        for name, count in unread.items()
        if count
    ]


def table_columns(preprocessing: pd.DataFrame, drop: Sequence[str] = ()) -> Columns:
    """Decide which columns to use, from the preprocessing rows.

    Parameters
    ----------
    preprocessing : DataFrame
        The preprocessing rows, in the order of the table. They are used for nothing else, because
        the certificate allows no choice that depends on the training rows.
    drop : sequence of str, default=()
        Names of columns to leave out.

    Returns
    -------
    columns : Columns
    """
    kinds = {name: _kind(name, preprocessing[name]) for name in preprocessing.columns}
    kinds |= dict.fromkeys(drop, "it is named in drop")
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


def _kind(name: str, column: pd.Series) -> str:
    """Return "numbers", "categories" or the reason to leave the column out."""
    present = column.dropna()
    if name.startswith("Unnamed: "):
        return "it has no name"
    if present.empty:
        return "it has no values in the preprocessing rows"
    if _n_unread(present) == 0:
        return _why_not_numbers(numbers(present)) or "numbers"
    return _why_not_categories(texts(column)) or "categories"


def _why_not_categories(values: pd.Series) -> str:
    """Return the reason to leave out a column of texts; empty if there is none."""
    present = values.dropna()
    n_distinct = present.nunique()
    if values.nunique(dropna=False) == 1:
        return CONSTANT
    if n_distinct <= max(MOST_CATEGORIES, len(present) / 2):
        return ""
    dates = pd.to_datetime(present.head(MOST_TRIED), format="mixed", errors="coerce", utc=True)
    if dates.notna().all():
        return "it looks like dates: replace them by numbers, such as the month or the age"
    return f"{n_distinct:,} different texts in {len(present):,} rows look like row names"


def _why_not_numbers(values: np.ndarray) -> str:
    """Return the reason to leave out a column of numbers; empty if there is none."""
    n_rows, n_distinct = len(values), len(np.unique(values))
    if n_distinct == 1:
        return CONSTANT
    if n_distinct < n_rows or (values % 1).any():
        return ""
    span = np.ptp(values) + 1
    # The chance that all differ; it is largest if all numbers of the span are equally likely.
    chance = np.exp(np.log1p(-np.arange(n_rows) / span).sum())
    is_in_order = n_rows >= FEWEST_IN_ORDER and len(np.unique(np.diff(values) > 0)) == 1
    if chance < RARE_CHANCE or (is_in_order and span < WIDEST_GAP * n_rows):
        return f"{n_rows:,} different whole numbers near each other look like row numbers"
    return ""


def numbers(column: pd.Series) -> np.ndarray:
    """Return a column as floats; values that are not numbers, or too large, become missing."""
    if not is_numeric_dtype(column) or is_bool_dtype(column):
        plain = texts(column).map(_without_commas, na_action="ignore")
        column = pd.to_numeric(plain, errors="coerce")
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    values = np.where(np.abs(values) <= LARGEST_NUMBER, values, np.nan)
    return np.where(np.abs(values) < SMALLEST_NUMBER, 0, values)


def _without_commas(text: str) -> str:
    """Remove the commas between the thousands of a number; return other text unchanged."""
    return text.replace(",", "") if "," in text and THOUSANDS.fullmatch(text.strip()) else text


def texts(column: pd.Series) -> pd.Series:
    """Return a column as text; missing values stay missing."""
    return column.astype(object).map(str, na_action="ignore")


def _n_unread(column: pd.Series) -> int:
    return int(np.isnan(numbers(column)).sum() - column.isna().sum())


def column_encoder(columns: Columns) -> ColumnTransformer:
    """Return an unfitted transformer from ``Columns.values`` to the inputs of a Fourier map.

    Missing numbers are replaced by the median, and numbers are scaled to mean zero and variance
    one. Categories are one-hot encoded: the rarest share one column, and an unknown category is
    zero in all of them.
    """
    scaler = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    indicators = OneHotEncoder(handle_unknown="ignore", max_categories=MOST_CATEGORIES)
    return ColumnTransformer(
        [("numbers", scaler, columns.numbers), ("categories", indicators, columns.categories)]
    )
