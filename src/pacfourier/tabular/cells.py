"""Cells of a table as texts, numbers and dates. What cannot be read becomes missing."""

import re
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_numeric_dtype

from pacfourier.tabular.reading.table_blocks import TEXT

# Larger numbers become missing and smaller ones zero, so that the squares of scaled numbers are
# finite.
LARGEST_NUMBER, SMALLEST_NUMBER = 1e70, 1e-70
# Words for a missing value. They are gaps in columns of numbers and dates, in upper or lower case.
# In columns of texts they stay as they are: "None" can be a category.
GAP_WORDS = pa.array(["", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "nat", "nil", "none", "null"])
# Between the thousands of a number, besides a comma or a dot: spaces and an apostrophe.
# The last character is the decimal point. The one before it, if there is one, groups the digits of
# large numbers: "1,234.5" or "1.234,5".
DECIMALS = (".", ",.", ",", ".,")
_THOUSANDS = " \u00a0\u202f'"
# The formats in which dates are read, besides ISO 8601. If a column fits two of them equally well,
# the first one is taken: 1/2/2020 is in January, and 1.2.2020 is in February.
_DAYS = (
    *("%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%m/%d/%y", "%d/%m/%y", "%d.%m.%y", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d %B %Y"),
    *("%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y"),
)
_TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p")
# The empty format is ISO 8601, with or without a time.
DATE_FORMATS = ("", *(day + time for time in _TIMES for day in _DAYS))
# The dates that fit into 64 bits as nanoseconds, in whole years.
FIRST_DATE, LAST_DATE = pd.Timestamp("1678-01-01"), pd.Timestamp("2262-01-01")

# An array of texts of Arrow, in one piece or several. The library has no types.
Texts: TypeAlias = Any


def arrow_texts(values: Any) -> Texts:
    """Return cells of any type as texts of Arrow; gaps stay gaps.

    A whole number has no decimal point, whether its column has gaps or not. A date is written as
    ``2020-01-31 00:00:00``, whether the other dates have a time or not.

    Parameters
    ----------
    values : Series, array of Arrow or sequence
    """
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    column = values if isinstance(values, pd.Series) else pd.Series(values, dtype=object)
    if isinstance(column.dtype, pd.CategoricalDtype):
        texts = arrow_texts(column.cat.categories.to_series())
        return texts.take(pa.array(column.cat.codes, mask=column.isna().to_numpy()))
    if not isinstance(column.dtype, pd.StringDtype):
        column = column.astype(object).map(_cell_text, na_action="ignore").astype(TEXT)
    return pa.array(column.array, from_pandas=True)


def _cell_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, float | np.floating) and value.is_integer():
        return str(int(value))
    return str(value)


def trimmed_texts(values: Any) -> Texts:
    """Return cells as texts without white space around them; empty ones are gaps."""
    texts = pc.utf8_trim_whitespace(arrow_texts(values))
    return pc.if_else(pc.equal(texts, ""), None, texts)


def numbers(column: pd.Series, decimal: str = ",.") -> NDArray[np.float64]:
    """Return a column of any type as floats. Truth values are 0 and 1, and times are seconds.

    Parameters
    ----------
    column : Series
    decimal : str, default=",."
        One of ``DECIMALS``, for texts.
    """
    if column.dtype.kind == "M":
        column = column - pd.Timestamp(0, tz=getattr(column.dtype, "tz", None))
    if column.dtype.kind == "m":
        column = column.dt.total_seconds()
    if is_numeric_dtype(column.dtype) or is_bool_dtype(column.dtype):
        return _usable(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return numbers_of_texts(arrow_texts(column), decimal)


def numbers_of_texts(values: Any, decimal: str = ",.") -> NDArray[np.float64]:
    """Return texts as floats, with NaN for gaps and for texts that are no finite number.

    Both ``1,234.5`` and ``1.234,5`` are understood, according to the decimal marks. The words
    "true" and "false" are 1 and 0. Numbers beyond 1e70 are missing.

    Parameters
    ----------
    values : Series, array of Arrow or sequence of str
    decimal : str, default=",."
        One of ``DECIMALS``.

    Returns
    -------
    numbers : array of shape (n_values,)
    """
    texts = arrow_texts(values)
    found = quick_numbers(texts) if decimal[-1] == "." else None
    return _floats(_plain_numbers(texts, decimal)) if found is None else found


def quick_numbers(texts: Texts) -> NDArray[np.float64] | None:
    """Return texts as floats if all of them are numbers as a computer writes them, else None."""
    try:
        return _floats(texts)
    except pa.ArrowInvalid:
        return None


def _floats(texts: Texts) -> NDArray[np.float64]:
    cast = pc.cast(texts, pa.float64())
    is_array = isinstance(cast, pa.Array)
    return _usable(cast.to_numpy(zero_copy_only=False) if is_array else cast.to_numpy())


def _usable(values: NDArray[np.float64]) -> NDArray[np.float64]:
    sizes = np.abs(values)
    if len(sizes) and sizes.max() <= LARGEST_NUMBER and sizes.min() >= SMALLEST_NUMBER:
        return values
    values = np.where(sizes <= LARGEST_NUMBER, values, np.nan)
    return np.where(sizes < SMALLEST_NUMBER, 0.0, values)


def _plain_numbers(texts: Texts, decimal: str) -> Texts:
    """Return texts of numbers as a computer writes them; gaps where a text is no number."""
    point = r"\." if decimal[-1] == "." else ","
    # The other mark groups digits only where it was seen to do so: elsewhere it may be a decimal
    # point of another country.
    between = f"[{re.escape(decimal[:-1])}{_THOUSANDS}]"
    grouped = rf"^[+-]?[1-9]\d{{0,2}}({between}\d{{3}})+({point}\d*)?$"
    number = rf"^[+-]?(\d+{point}?\d*|{point}\d+)([eE][+-]?\d+)?$"
    plain = pc.utf8_trim_whitespace(texts)
    for word, digit in (("true", "1"), ("false", "0")):
        plain = pc.if_else(pc.match_substring_regex(plain, f"(?i)^{word}$"), digit, plain)
    joined = pc.replace_substring_regex(plain, between, "")
    plain = pc.if_else(pc.match_substring_regex(plain, grouped), joined, plain)
    plain = pc.if_else(pc.match_substring_regex(plain, number), plain, None)
    return plain if decimal[-1] == "." else pc.replace_substring(plain, ",", ".")


def found_decimal(texts: Texts) -> str:
    """Return the decimal marks with which most texts are numbers; the first of those."""
    n_read = {marks: int(np.isfinite(numbers_of_texts(texts, marks)).sum()) for marks in DECIMALS}
    return max(n_read, key=n_read.__getitem__)


def dates(column: pd.Series, date_format: str = "") -> NDArray[np.datetime64]:
    """Return a column of any type as times in nanoseconds, in UTC, with NaT for gaps.

    Parameters
    ----------
    column : Series
    date_format : str, default=""
        One of ``DATE_FORMATS``, for texts.
    """
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.to_timestamp()
    if is_datetime64_any_dtype(column.dtype):
        return _nanoseconds(pd.to_datetime(column, utc=True))
    return dates_of_texts(arrow_texts(column), date_format)


def dates_of_texts(values: Any, date_format: str = "") -> NDArray[np.datetime64]:
    """Return texts as times in nanoseconds, in UTC, with NaT for gaps and other texts.

    Parameters
    ----------
    values : Series, array of Arrow or sequence of str
    date_format : str, default=""
        One of ``DATE_FORMATS``.

    Returns
    -------
    times : array of shape (n_values,)
    """
    texts = trimmed_texts(values)
    # pandas reads "now" and "today" as dates.
    texts = pc.if_else(pc.match_substring_regex(texts, r"\d"), texts, None)
    read = pd.to_datetime(
        texts.to_pandas(types_mapper={pa.large_string(): TEXT, pa.string(): TEXT}.get),
        format=date_format or "ISO8601",
        errors="coerce",
        utc=True,
    )
    return _nanoseconds(read)


def _nanoseconds(times: pd.Series) -> NDArray[np.datetime64]:
    plain = times.dt.tz_localize(None)
    is_inside = (plain >= FIRST_DATE) & (plain < LAST_DATE)
    return plain.where(is_inside).to_numpy().astype("datetime64[ns]")


def found_date_format(texts: Texts) -> str:
    """Return the format in which the most texts are dates; the first one, if several read as many.

    Only formats of the shape of one of the texts are tried, so that other texts cost little.

    Parameters
    ----------
    texts : array of Arrow
    """
    shapes = {_text_shape(text) for text in texts.to_pylist() if text is not None}
    formats = [one for one in DATE_FORMATS if not one or _SHAPES[one] in shapes]
    if len(formats) == 1:
        return formats[0]
    n_read = [int((~np.isnat(dates_of_texts(texts, one))).sum()) for one in formats]
    return formats[int(np.argmax(n_read))]


def _text_shape(text: str) -> str:
    """Return a text with 0 for every row of digits, and a for every row of letters.

    >>> _text_shape("31-Jan-2020 10:05")
    '0-a-0 0:0'
    """
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", text.strip()))


# The shape of the dates in each format.
_SHAPES = {one: _text_shape(FIRST_DATE.strftime(one)) for one in DATE_FORMATS}


def stray_texts(texts: Texts, is_read: NDArray[np.bool_]) -> Texts:
    """Return the texts that were not read although they are there, and are no word for a gap.

    Parameters
    ----------
    texts : array of Arrow
    is_read : array of bool
        Which of the texts were read as numbers or dates.
    """
    unread = texts.filter(pa.array(~is_read)).drop_null()
    return unread.filter(pc.invert(_is_gap_word(unread)))


def _is_gap_word(texts: Texts) -> Texts:
    """Return which texts are words for a missing value in a column of numbers or dates."""
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    return pc.is_in(plain, value_set=GAP_WORDS.cast(plain.type))
