"""Columns of numbers, categories, dates and texts as one array of numbers, without gaps.

What is learned about each column is kept as plain arrays. So a model file holds no objects, and
predictions need neither skrub nor its start-up time. skrub learns from texts, and decides which
parts of dates are of use.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pacfourier.extras import explain_missing_extra
from pacfourier.tabular.plain_fields import PlainFields

__all__ = ["Encoding", "learned_encoding"]

OWNER = "encoding"
FloatColumns = NDArray[np.float32]

# A category has its own column if it is one of the most frequent, and occurs more than once.
MOST_LEVELS, FEWEST_ROWS = 39, 2
# The parts of a text: sequences of three or four characters inside of words.
MOST_GRAMS, N_COMPONENTS = 5000, 30
GRAMS = {"analyzer": "char_wb", "ngram_range": (3, 4)}
# Numbers that deviate more, or less, are measured in units of their largest deviation, and no
# number is further away than this many units: single precision has no larger and smaller ones.
LARGEST, SMALLEST, FURTHEST = 1e15, 1e-15, 1e18
# How the parts of a date are called, and how they are found.
DATE_PARTS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "year": ("year", lambda column: column.dt.year),
    "month": ("month", lambda column: column.dt.month),
    "day": ("day", lambda column: column.dt.day),
    "hour": ("hour", lambda column: column.dt.hour),
    "weekday": ("day of the week", lambda column: column.dt.day_of_week + 1),
    "day_of_year": ("day of the year", lambda column: column.dt.day_of_year),
    "total_seconds": ("days since 1970", lambda column: days_since_1970(column)),
}


class ColumnEncoding(Protocol):
    """How one or several columns of a table become columns of numbers."""

    @property
    def names(self) -> list[str]:
        """Names of the encoded columns."""

    @property
    def sources(self) -> list[str]:
        """The column of the table that each encoded column comes from."""

    @property
    def offsets(self) -> NDArray[np.float64]:
        """What was subtracted from each encoded column."""

    def encoded(self, frame: pd.DataFrame) -> FloatColumns:
        """Return the encoded columns of a table."""

    def to_data(self) -> dict[str, Any]:
        """Return what was learned, as plain data."""


@dataclass(frozen=True, eq=False)
class Numbers:
    r"""All columns of numbers.

    A value x becomes a number near zero, in single precision,

    .. math:: \frac{x - c}{u} ,

    with the median c of the column. The unit u is one, unless single precision needs another.
    The difference is computed in double precision, so no digits are lost far from zero. Gaps
    become zero, which is the median.

    Attributes
    ----------
    columns : list of str
    centres, units : arrays of shape (n_columns,)
    has_gaps : array of bool of shape (n_columns,)
        Columns with gaps also get a column of zeros and ones that says where they are.
    """

    columns: list[str]
    centres: NDArray[np.float64]
    units: NDArray[np.float64]
    has_gaps: NDArray[np.bool_]

    @classmethod
    def learned(cls, frame: pd.DataFrame) -> Self:
        """Learn the medians and units of columns."""
        values = finite_values(frame)
        centres = np.zeros(values.shape[1])
        deviations = np.zeros(values.shape[1])
        for place, column in enumerate(values.T):
            known = column[~np.isnan(column)]
            if len(known):
                centres[place] = np.median(known)
                deviations[place] = np.abs(known - centres[place]).max()
        is_usual = (deviations == 0) | ((deviations >= SMALLEST) & (deviations <= LARGEST))
        has_gaps = np.isnan(values).any(axis=0)
        return cls(list(frame.columns), centres, np.where(is_usual, 1.0, deviations), has_gaps)

    @property
    def names(self) -> list[str]:
        """Names of the encoded columns."""
        gappy = np.flatnonzero(self.has_gaps)
        return [*self.columns, *(missing_name(self.columns[place]) for place in gappy)]

    @property
    def sources(self) -> list[str]:
        """The column of the table that each encoded column comes from."""
        return [*self.columns, *(self.columns[place] for place in np.flatnonzero(self.has_gaps))]

    @property
    def offsets(self) -> NDArray[np.float64]:
        """What was subtracted from each encoded column."""
        return np.concatenate([self.centres / self.units, np.zeros(self.has_gaps.sum())])

    def encoded(self, frame: pd.DataFrame) -> FloatColumns:
        """Return the encoded columns of a table."""
        values = finite_values(frame[self.columns])
        is_gap = np.isnan(values)
        deviations = np.where(is_gap, 0.0, (values - self.centres) / self.units)
        near = np.clip(deviations, -FURTHEST, FURTHEST).astype(np.float32)
        return np.hstack([near, is_gap[:, self.has_gaps].astype(np.float32)])

    def to_data(self) -> dict[str, Any]:
        """Return what was learned, as plain data."""
        return {
            "columns": self.columns,
            "centres": self.centres,
            "units": self.units,
            "has_gaps": self.has_gaps,
        }

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """Return what plain data describe, after checks."""
        fields = PlainFields(data, OWNER)
        columns = fields.texts("columns")
        shape = (len(columns),)
        units = fields.finite("units", shape, np.float64)
        fields.require((units > 0).all(), "units", "be positive", units)
        centres = fields.finite("centres", shape, np.float64)
        return cls(columns, centres, units, fields.array("has_gaps", shape, np.bool_))


@dataclass(frozen=True, eq=False)
class Category:
    """A column of categories: one column of zeros and ones for each of them.

    Attributes
    ----------
    column : str
    levels : list of str
        The categories that have their own column.
    has_rare : bool
        Whether the learned rows have rare categories. They share a column, also with those that
        were never seen. Without this column, what was never seen becomes zeros.
    has_gaps : bool
        Whether gaps have a column of their own.
    """

    column: str
    levels: list[str]
    has_rare: bool
    has_gaps: bool

    @classmethod
    def learned(cls, column: pd.Series) -> Self:
        """Learn the categories of a column. Of equally frequent ones, the last are kept."""
        counts = column.value_counts()
        ranked = sorted(zip(counts.tolist(), counts.index.tolist(), strict=True), reverse=True)
        levels = sorted(level for n_rows, level in ranked[:MOST_LEVELS] if n_rows >= FEWEST_ROWS)
        return cls(str(column.name), levels, len(levels) < len(ranked), has_gaps(column))

    @property
    def names(self) -> list[str]:
        """Names of the encoded columns."""
        names = [f"{self.column} = {level}" for level in self.levels]
        names += [f"{self.column} is rare"] if self.has_rare else []
        return names + ([missing_name(self.column)] if self.has_gaps else [])

    @property
    def sources(self) -> list[str]:
        """The column of the table that each encoded column comes from."""
        return [self.column] * self.width

    @property
    def width(self) -> int:
        """Number of encoded columns."""
        return len(self.levels) + self.has_rare + self.has_gaps

    @property
    def offsets(self) -> NDArray[np.float64]:
        """What was subtracted from each encoded column: nothing."""
        return np.zeros(self.width)

    def encoded(self, frame: pd.DataFrame) -> FloatColumns:
        """Return the encoded columns of a table."""
        values = frame[self.column]
        places = pd.Index(self.levels, dtype=values.dtype).get_indexer(values)
        is_gap = values.isna().to_numpy()
        # What has no column of its own is counted in a further column, which is cut off.
        absent = self.width
        places = np.where(places < 0, len(self.levels) if self.has_rare else absent, places)
        if self.has_gaps:
            places = np.where(is_gap, self.width - 1, places)
        table = np.zeros((len(values), self.width + 1), dtype=np.float32)
        table[np.arange(len(values)), places] = 1
        return table[:, : self.width]

    def to_data(self) -> dict[str, Any]:
        """Return what was learned, as plain data."""
        return {
            "kind": "category",
            "column": self.column,
            "levels": self.levels,
            "has_rare": self.has_rare,
            "has_gaps": self.has_gaps,
        }

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """Return what plain data describe, after checks."""
        fields = PlainFields(data, OWNER)
        levels = fields.texts("levels")
        fields.require(len(set(levels)) == len(levels), "levels", "be distinct", levels)
        flags = fields.truth("has_rare"), fields.truth("has_gaps")
        return cls(fields.text("column"), levels, *flags)


@dataclass(frozen=True, eq=False)
class Date:
    """A column of dates: their parts as numbers, less their medians. Gaps become the medians.

    Attributes
    ----------
    column : str
    parts : list of str
        Keys of ``DATE_PARTS``.
    medians : array of shape (n_parts,)
    has_gaps : bool
        Whether gaps have a column of their own.
    """

    column: str
    parts: list[str]
    medians: NDArray[np.float64]
    has_gaps: bool

    @classmethod
    def learned(cls, column: pd.Series) -> Self:
        """Learn from a column which parts of dates are of use, and their medians."""
        with explain_missing_extra():
            from skrub import DatetimeEncoder
        encoder = DatetimeEncoder(add_weekday=True, add_day_of_year=True)
        # skrub leaves out the hours of dates without a time of day.
        parts = list(encoder.fit(column).extracted_features_)
        values = date_parts(column.dropna(), parts)
        medians = np.median(values, axis=0) if len(values) else np.zeros(len(parts))
        return cls(str(column.name), parts, medians, has_gaps(column))

    @property
    def names(self) -> list[str]:
        """Names of the encoded columns."""
        names = [f"{self.column}: {DATE_PARTS[part][0]}" for part in self.parts]
        return names + ([missing_name(self.column)] if self.has_gaps else [])

    @property
    def sources(self) -> list[str]:
        """The column of the table that each encoded column comes from."""
        return [self.column] * (len(self.parts) + self.has_gaps)

    @property
    def offsets(self) -> NDArray[np.float64]:
        """What was subtracted from each encoded column."""
        return np.concatenate([self.medians, np.zeros(int(self.has_gaps))])

    def encoded(self, frame: pd.DataFrame) -> FloatColumns:
        """Return the encoded columns of a table."""
        column = frame[self.column]
        deviations = date_parts(column, self.parts) - self.medians
        return with_gaps(np.nan_to_num(deviations), column, self.has_gaps)

    def to_data(self) -> dict[str, Any]:
        """Return what was learned, as plain data."""
        return {
            "kind": "date",
            "column": self.column,
            "parts": self.parts,
            "medians": self.medians,
            "has_gaps": self.has_gaps,
        }

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """Return what plain data describe, after checks."""
        fields = PlainFields(data, OWNER)
        parts = fields.texts("parts")
        is_known = set(parts) <= set(DATE_PARTS) and len(set(parts)) == len(parts)
        fields.require(is_known, "parts", f"be some of {', '.join(DATE_PARTS)}", parts)
        medians = fields.finite("medians", (len(parts),), np.float64)
        return cls(fields.text("column"), parts, medians, fields.truth("has_gaps"))


@dataclass(frozen=True, eq=False)
class Text:
    r"""A column of texts: the main components of how often each sequence of characters occurs.

    .. math:: \frac1s V \, \mathrm{tfidf}(x) ,

    for the rows V of the truncated singular value decomposition that skrub learned, and its
    factor s. A gap is an empty text.

    Attributes
    ----------
    column : str
    grams : list of str
        The sequences of characters.
    rarities : array of shape (n_grams,)
        The inverse document frequencies.
    components : array of shape (n_components, n_grams)
        The matrix V.
    factor : float
    has_gaps : bool
        Whether gaps have a column of their own.
    """

    column: str
    grams: list[str]
    rarities: NDArray[np.float64]
    components: NDArray[np.float32]
    factor: float
    has_gaps: bool

    @classmethod
    def learned(cls, column: pd.Series, seed: int) -> Self:
        """Learn the sequences of characters and the components of a column."""
        with explain_missing_extra():
            from skrub import StringEncoder
        grams = frequent_grams(column)
        n_components = min(N_COMPONENTS, len(grams) - 1, len(column) - 1)
        if n_components < 1:
            empty = np.zeros((0, 0), dtype=np.float32)
            return cls(str(column.name), [], np.zeros(0), empty, 1.0, has_gaps(column))
        encoder = StringEncoder(n_components, **GRAMS, vocabulary=grams, random_state=seed % 2**32)
        # The share of the variance, which is not used here, is 0 / 0 for equal texts.
        with np.errstate(invalid="ignore"):
            encoder.fit(column)
        rarities = np.asarray(encoder.vectorizer_.idf_, dtype=np.float64)
        components = np.asarray(encoder.tsvd_.components_, dtype=np.float32)
        factor = float(encoder.scaling_factor_)
        return cls(str(column.name), grams, rarities, components, factor, has_gaps(column))

    @property
    def names(self) -> list[str]:
        """Names of the encoded columns."""
        names = [f"{self.column}: component {number}" for number in range(len(self.components))]
        return names + ([missing_name(self.column)] if self.has_gaps else [])

    @property
    def sources(self) -> list[str]:
        """The column of the table that each encoded column comes from."""
        return [self.column] * (len(self.components) + self.has_gaps)

    @property
    def offsets(self) -> NDArray[np.float64]:
        """What was subtracted from each encoded column: nothing."""
        return np.zeros(len(self.components) + self.has_gaps)

    def encoded(self, frame: pd.DataFrame) -> FloatColumns:
        """Return the encoded columns of a table."""
        column = frame[self.column]
        if not self.grams:
            return with_gaps(np.zeros((len(column), 0)), column, self.has_gaps)
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(**GRAMS, vocabulary=self.grams)
        vectorizer.idf_ = self.rarities
        weights = vectorizer.transform(column.fillna("")).astype(np.float32)
        table = weights @ self.components.T
        return with_gaps(table / np.float32(self.factor), column, self.has_gaps)

    def to_data(self) -> dict[str, Any]:
        """Return what was learned, as plain data."""
        return {
            "kind": "text",
            "column": self.column,
            # Sequences inside of words have no line breaks. One text is much smaller than many.
            "grams": "\n".join(self.grams),
            "rarities": self.rarities,
            "components": self.components,
            "factor": self.factor,
            "has_gaps": self.has_gaps,
        }

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """Return what plain data describe, after checks."""
        fields = PlainFields(data, OWNER)
        text = fields.text("grams")
        grams = text.split("\n") if text else []
        is_right = len(set(grams)) == len(grams) <= MOST_GRAMS
        fields.require(is_right, "grams", f"be at most {MOST_GRAMS:,} distinct texts", text)
        rarities = fields.finite("rarities", (len(grams),), np.float64)
        components = fields.finite("components", (None, len(grams)), np.float32)
        is_right = len(components) <= N_COMPONENTS and bool(len(components)) == bool(grams)
        fields.require(is_right, "components", f"be 1 to {N_COMPONENTS}", len(components))
        rest = fields.positive("factor"), fields.truth("has_gaps")
        return cls(fields.text("column"), grams, rarities, components, *rest)


KIND_NAMES: dict[type, str] = {Category: "category", Date: "date", Text: "text"}
KINDS: dict[str, Callable[[Any], ColumnEncoding]] = {
    "category": Category.from_data,
    "date": Date.from_data,
    "text": Text.from_data,
}


@dataclass(frozen=True, eq=False)
class Encoding:
    """How the columns of a table become numbers.

    Attributes
    ----------
    numbers : Numbers
        All columns of numbers, which come first.
    others : tuple of ColumnEncoding
        One for each other column.
    """

    numbers: Numbers
    others: tuple[ColumnEncoding, ...]

    def __iter__(self) -> Iterator[ColumnEncoding]:
        yield self.numbers
        yield from self.others

    @property
    def names(self) -> list[str]:
        """Names of the encoded columns, all different."""
        return distinct_names(name for part in self for name in part.names)

    @property
    def sources(self) -> list[str]:
        """The column of the table that each encoded column comes from."""
        return [source for part in self for source in part.sources]

    @property
    def kinds(self) -> dict[str, str]:
        """What each column of the table holds."""
        others = {part.column: KIND_NAMES[type(part)] for part in self.others}
        return dict.fromkeys(self.numbers.columns, "number") | others

    @property
    def offsets(self) -> NDArray[np.float64]:
        """What was subtracted from each encoded column, such as the median of a number."""
        return np.concatenate([part.offsets for part in self])

    def encoded(self, frame: pd.DataFrame) -> FloatColumns:
        """Return the rows of a table as numbers without gaps.

        Parameters
        ----------
        frame : pandas.DataFrame
            With the columns of the fit: numbers, texts or dates, each with or without gaps.

        Returns
        -------
        array : array of float32 of shape (n_rows, n_encoded)
        """
        return np.hstack([part.encoded(frame) for part in self])

    def to_data(self) -> dict[str, Any]:
        """Return what was learned, as plain data."""
        return {
            "numbers": self.numbers.to_data(),
            "others": [part.to_data() for part in self.others],
        }

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """Return the encoding that plain data describe.

        Parameters
        ----------
        data : dict
            What ``to_data`` returned, perhaps read from a file.

        Returns
        -------
        encoding : Encoding

        Raises
        ------
        InputError
            If anything is missing, has a wrong type or shape, or is not a possible number.
        """
        fields = PlainFields(data, OWNER)
        others = fields.value("others")
        fields.require(isinstance(others, list), "others", "be a list", others)
        parts = [
            KINDS[PlainFields(each, OWNER).choice("kind", tuple(KINDS))](each) for each in others
        ]
        return cls(Numbers.from_data(fields.value("numbers")), tuple(parts))


def learned_encoding(frame: pd.DataFrame, kinds: Mapping[str, str], seed: int) -> Encoding:
    """Learn from the rows of a table how to encode them.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows to learn from, as ``Columns.typed`` returns them. Rows held out for a certificate must
        not be among them.
    kinds : mapping from names of columns to str
        What each column is: "number", "category", "date" or "text".
    seed : int
        Seed of the encoding of texts.

    Returns
    -------
    encoding : Encoding
    """
    numbers = [name for name in frame.columns if kinds[name] == "number"]
    learn: dict[str, Callable[[pd.Series], ColumnEncoding]] = {
        "category": Category.learned,
        "date": Date.learned,
        "text": lambda column: Text.learned(column, seed),
    }
    others = [learn[kinds[name]](frame[name]) for name in frame.columns if name not in set(numbers)]
    return Encoding(Numbers.learned(frame[numbers]), tuple(others))


def finite_values(frame: pd.DataFrame) -> NDArray[np.float64]:
    """Return columns of numbers as an array. What is not finite is a gap."""
    values = frame.to_numpy(dtype=np.float64, copy=True)
    values[~np.isfinite(values)] = np.nan
    return values


def has_gaps(column: pd.Series) -> bool:
    """Return whether a value is missing."""
    return bool(column.isna().any())


def with_gaps(table: NDArray[Any], column: pd.Series, has_column: bool) -> FloatColumns:
    """Return encoded columns in single precision, and one that marks gaps if it is wanted."""
    encoded = np.asarray(table, dtype=np.float32)
    if not has_column:
        return encoded
    return np.column_stack([encoded, column.isna().to_numpy().astype(np.float32)])


def date_parts(column: pd.Series, parts: list[str]) -> NDArray[np.float64]:
    """Return parts of dates as numbers in double precision, one column each. Gaps are NaN."""
    found = [DATE_PARTS[part][1](column) for part in parts]
    table = [each.to_numpy(dtype=np.float64, na_value=np.nan) for each in found]
    return np.column_stack([np.zeros((len(column), 0)), *table])


def days_since_1970(dates: pd.Series) -> pd.Series:
    """Return how many days after the start of 1970 dates are, with fractions."""
    return (dates - pd.Timestamp(0)) / pd.Timedelta(days=1)


def frequent_grams(column: pd.Series) -> list[str]:
    """Return the most frequent sequences of characters in the words of a column."""
    from sklearn.feature_extraction.text import CountVectorizer

    counter = CountVectorizer(**GRAMS, max_features=MOST_GRAMS)
    try:
        counter.fit(column.dropna())
    except ValueError:
        # No text has a word, or there is no text.
        return []
    return [str(gram) for gram in counter.get_feature_names_out()]


def missing_name(column: str) -> str:
    """Return the name of the encoded column that marks the gaps of a column."""
    return f"{column} is missing"


def distinct_names(names: Iterable[str]) -> list[str]:
    """Return names that are all different: "name (2)" follows on "name", unless it exists."""
    taken: dict[str, None] = {}
    for name in names:
        others = (name if number == 1 else f"{name} ({number})" for number in count(1))
        taken[next(other for other in others if other not in taken)] = None
    return list(taken)
