"""What is learned about columns of numbers, categories, dates and texts, to make numbers of them.

Everything that is learned is plain data: texts, numbers and arrays. So a model file holds no
objects, and predictions need neither skrub nor the time of its import.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pacfourier.extras import explain_missing_extra
from pacfourier.model.plain_fields import PlainFields

_Doubles = NDArray[np.float64]
_Singles = NDArray[np.float32]

OWNER = "encoding"
# Columns whose numbers deviate more, or less, are measured in a power of ten near their largest
# deviation. No number is further away than so many units: single precision has no larger ones.
LARGEST, SMALLEST, FURTHEST = 1e15, 1e-15, 1e18
# The largest and smallest numbers that a file may hold.
HUGE, TINY = 1e100, 1e-100
# A category has its own column if it is one of the most frequent, and occurs more than once.
MOST_LEVELS, FEWEST_ROWS = 39, 2
# The parts of a text: sequences of three or four characters inside of words.
_GRAMS = {"analyzer": "char_wb", "ngram_range": (3, 4)}
MOST_GRAMS, N_COMPONENTS = 5000, 30
# More texts than these teach little, and take long.
_MOST_TEXTS = 10_000


class CellPlaces(NamedTuple):
    """Where a cell of the table goes among the encoded columns of its row.

    Attributes
    ----------
    column : str
        The column of the table.
    kind : {"number", "category", "date", "text"}
        What it holds.
    places : list of int
        The encoded columns of the value: one for a number, divided by ``unit``, or one for each
        part. Of categories, a last one without a name may stand for all others.
    parts : list of str
        The categories, or the parts of a date as skrub calls them.
    missing : int or None
        The encoded column that is one if the cell is empty, and zero if it is not.
    unit : float
        What a number is divided by.
    """

    column: str
    kind: str
    places: list[int]
    parts: list[str]
    missing: int | None
    unit: float = 1.0


@dataclass(frozen=True, eq=False)
class Numbers:
    r"""All columns of numbers.

    A value x becomes a number near zero in single precision,

    .. math:: (x - c) / u ,

    with the median c of its column. The unit u is one, unless single precision needs another. The
    difference is computed in double precision, so no digits are lost far from zero. Gaps become
    zero, which is the median.

    Attributes
    ----------
    columns : list of str
    centres, units : arrays of shape (n_columns,)
    has_gaps : array of bool of shape (n_columns,)
        Columns with gaps also get a column of zeros and ones that says where they are.
    """

    columns: list[str]
    centres: _Doubles
    units: _Doubles
    has_gaps: NDArray[np.bool_]

    @classmethod
    def learned(cls, frame: pd.DataFrame) -> Self:
        """Learn the medians and units of columns."""
        values = _finite_values(frame)
        known = [column[~np.isnan(column)] for column in values.T]
        centres = np.array([np.median(each) if len(each) else 0.0 for each in known])
        pairs = zip(known, centres, strict=True)
        deviations = np.array([np.abs(each - c).max(initial=0.0) for each, c in pairs])
        is_usual = (deviations == 0) | ((deviations >= SMALLEST) & (deviations <= LARGEST))
        exponents = np.floor(np.log10(np.where(is_usual, 1.0, np.clip(deviations, TINY, HUGE))))
        is_gappy = np.array([len(each) < len(values) for each in known], dtype=bool)
        return cls(list(frame.columns), centres, 10.0**exponents, is_gappy)

    @property
    def names(self) -> list[str]:
        """Names of the encoded columns."""
        pairs = zip(self.columns, self.units.tolist(), strict=True)
        numbers = (name if unit == 1 else f"{name} / {unit:g}" for name, unit in pairs)
        return [*numbers, *map(_missing_name, self.gappy)]

    @property
    def sources(self) -> list[str]:
        """The column of the table that each encoded column comes from."""
        return [*self.columns, *self.gappy]

    @property
    def gappy(self) -> list[str]:
        """The columns with gaps."""
        return [self.columns[place] for place in np.flatnonzero(self.has_gaps)]

    @property
    def offsets(self) -> _Doubles:
        """What was subtracted from each encoded column."""
        return np.concatenate([self.centres / self.units, np.zeros(len(self.gappy))])

    def cells(self) -> list[CellPlaces]:
        """Return where the numbers are among the encoded columns."""
        flags = {name: len(self.columns) + place for place, name in enumerate(self.gappy)}
        pairs = enumerate(zip(self.columns, self.units.tolist(), strict=True))
        return [
            CellPlaces(name, "number", [place], [], flags.get(name), unit)
            for place, (name, unit) in pairs
        ]

    def encoded(self, frame: pd.DataFrame) -> _Singles:
        """Return the encoded columns of a table."""
        values = _finite_values(frame[self.columns])
        is_gap = np.isnan(values)
        with np.errstate(over="ignore"):
            deviations = np.where(is_gap, 0.0, (values - self.centres) / self.units)
        near = np.clip(deviations, -FURTHEST, FURTHEST)
        return np.hstack([near, is_gap[:, self.has_gaps]]).astype(np.float32)

    def to_data(self) -> dict[str, Any]:
        """Return what was learned, as plain data."""
        return dict(vars(self))

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """Return what plain data describe, after checks."""
        fields = PlainFields(data, OWNER)
        columns = fields.texts("columns")
        shape = (len(columns),)
        centres, units = (fields.finite(name, shape, np.float64) for name in ("centres", "units"))
        is_right = (units >= TINY).all() and (units <= HUGE).all()
        fields.require(is_right, "units", "be positive and of usual size", units)
        fields.require((np.abs(centres) <= HUGE).all(), "centres", "be of usual size", centres)
        return cls(columns, centres, units, fields.array("has_gaps", shape, np.bool_))


@dataclass(frozen=True, eq=False)
class OneColumn(ABC):
    """Base class of what is learned about one column.

    Attributes
    ----------
    column : str
        Its name.
    has_gaps : bool
        Whether the column had gaps. Then a column of zeros and ones says where they are.
    """

    column: str
    has_gaps: bool

    kind: ClassVar[str]

    @property
    @abstractmethod
    def parts(self) -> list[str]:
        """Names of the encoded columns, except for the one that marks gaps."""

    @property
    def part_values(self) -> list[str]:
        """What the parts stand for: categories, or parts of dates."""
        return []

    def cell(self, start: int) -> CellPlaces:
        """Return where the cell is, if its encoded columns begin at a place."""
        end = start + len(self.parts)
        missing = end if self.has_gaps else None
        return CellPlaces(self.column, self.kind, [*range(start, end)], self.part_values, missing)

    @abstractmethod
    def values(self, column: pd.Series) -> NDArray[Any]:
        """Return the numbers of a column: one column for each part."""

    @property
    def names(self) -> list[str]:
        """Names of the encoded columns."""
        return self.parts + ([_missing_name(self.column)] if self.has_gaps else [])

    @property
    def sources(self) -> list[str]:
        """The column of the table that each encoded column comes from."""
        return [self.column] * len(self.names)

    @property
    def offsets(self) -> _Doubles:
        """What was subtracted from each encoded column."""
        return np.zeros(len(self.names))

    def encoded(self, frame: pd.DataFrame) -> _Singles:
        """Return the encoded columns of a table."""
        column = frame[self.column]
        values = np.asarray(self.values(column), dtype=np.float32)
        is_gap = column.isna().to_numpy(dtype=np.float32)
        return np.column_stack([values, is_gap]) if self.has_gaps else values

    def to_data(self) -> dict[str, Any]:
        """Return what was learned, as plain data."""
        return {"kind": self.kind, **vars(self)}


@dataclass(frozen=True, eq=False)
class Category(OneColumn):
    """A column of categories: one column of zeros and ones for each of them.

    Attributes
    ----------
    column : str
    has_gaps : bool
    levels : list of str
        The categories that have a column of their own.
    has_rare : bool
        Whether other categories occurred. They share a column, also with those that were never
        seen. Without this column, what was never seen becomes zeros.
    """

    levels: list[str]
    has_rare: bool

    kind = "category"

    @classmethod
    def learned(cls, column: pd.Series) -> Self:
        """Learn the categories of a column. Of equally frequent ones, the last are kept."""
        counts = column.value_counts()
        ranked = sorted(zip(counts.tolist(), counts.index.tolist(), strict=True), reverse=True)
        levels = [level for n_rows, level in ranked[:MOST_LEVELS] if n_rows >= FEWEST_ROWS]
        has_rare = len(levels) < len(ranked)
        return cls(str(column.name), _has_gaps(column), sorted(levels), has_rare)

    @property
    def part_values(self) -> list[str]:
        """The categories that have a column of their own."""
        return self.levels

    @property
    def parts(self) -> list[str]:
        """Names of the encoded columns, except for the one that marks gaps."""
        rare = [f"{self.column} is rare"] if self.has_rare else []
        return [f"{self.column} = {level}" for level in self.levels] + rare

    def values(self, column: pd.Series) -> NDArray[Any]:
        """Return zeros, and ones where a category occurs."""
        places = pd.Index(self.levels, dtype=column.dtype).get_indexer(column)
        is_other = places < 0
        if self.has_gaps:
            is_other &= ~column.isna().to_numpy()
        columns = [places[:, np.newaxis] == np.arange(len(self.levels))]
        return np.column_stack([*columns, is_other] if self.has_rare else columns)

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """Return what plain data describe, after checks."""
        fields = PlainFields(data, OWNER)
        levels = fields.texts("levels")
        is_right = len(set(levels)) == len(levels) <= MOST_LEVELS
        fields.require(is_right, "levels", f"be at most {MOST_LEVELS} distinct texts", levels)
        name, is_gappy = fields.text("column"), fields.truth("has_gaps")
        return cls(name, is_gappy, levels, fields.truth("has_rare"))


@dataclass(frozen=True, eq=False)
class Date(OneColumn):
    """A column of dates: their parts as numbers, less their medians. Gaps become the medians.

    Attributes
    ----------
    column : str
    has_gaps : bool
    features : list of str
        The parts, as skrub calls them.
    medians : array of shape (n_features,)
    """

    features: list[str]
    medians: _Doubles

    kind = "date"

    @classmethod
    def learned(cls, column: pd.Series) -> Self:
        """Learn from a column which parts of dates are of use, and their medians."""
        with explain_missing_extra():
            from skrub import DatetimeEncoder
        encoder = DatetimeEncoder(add_weekday=True, add_day_of_year=True)
        # skrub leaves out the hours of dates without a time of day.
        features = list(encoder.fit(column).extracted_features_)
        values = _date_features(column.dropna(), features)
        medians = np.median(values, axis=0) if len(values) else np.zeros(len(features))
        return cls(str(column.name), _has_gaps(column), features, medians)

    @property
    def part_values(self) -> list[str]:
        """The parts of dates, as skrub calls them."""
        return self.features

    @property
    def parts(self) -> list[str]:
        """Names of the encoded columns, except for the one that marks gaps."""
        return [f"{self.column}: {_DATE_FEATURES[each][0]}" for each in self.features]

    @property
    def offsets(self) -> _Doubles:
        """What was subtracted from each encoded column."""
        return np.concatenate([self.medians, np.zeros(int(self.has_gaps))])

    def values(self, column: pd.Series) -> NDArray[Any]:
        """Return the parts of dates, less their medians."""
        deviations = _date_features(column, self.features) - self.medians
        return np.nan_to_num(np.clip(deviations, -FURTHEST, FURTHEST))

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """Return what plain data describe, after checks."""
        fields = PlainFields(data, OWNER)
        features = fields.texts("features")
        is_known = set(features) <= set(_DATE_FEATURES) and len(set(features)) == len(features)
        rule = f"be some of {', '.join(_DATE_FEATURES)}"
        fields.require(is_known, "features", rule, features)
        medians = fields.finite("medians", (len(features),), np.float64)
        return cls(fields.text("column"), fields.truth("has_gaps"), features, medians)


@dataclass(frozen=True, eq=False)
class Text(OneColumn):
    r"""A column of texts: the main components of how often sequences of characters occur.

    .. math:: \frac1s V \, \mathrm{tfidf}(x) ,

    with the rows V of the truncated singular value decomposition that skrub learned, and its
    factor s. A gap counts as an empty text.

    Attributes
    ----------
    column : str
    has_gaps : bool
    grams : str
        The sequences of characters, one per line. They are parts of words, without line breaks.
    rarities : array of shape (n_grams,)
        The inverse document frequencies.
    components : array of shape (n_components, n_grams)
        The matrix V.
    factor : float
        The factor s.
    """

    grams: str
    rarities: _Doubles
    components: _Singles
    factor: float

    kind = "text"

    @classmethod
    def learned(cls, column: pd.Series, seed: int) -> Self:
        """Learn the sequences of characters and the components of a column."""
        texts = column.iloc[:: -(-len(column) // _MOST_TEXTS) or 1]
        grams = _frequent_grams(texts)
        # A decomposition must be smaller than the matrix.
        n_components = min(N_COMPONENTS, len(grams) - 1, len(texts) - 1)
        if n_components < 1:
            nothing = np.zeros((0, 0), dtype=np.float32)
            return cls(str(column.name), _has_gaps(column), "", np.zeros(0), nothing, 1.0)
        encoder = _fitted_string_encoder(texts, grams, n_components, seed)
        return cls(
            str(column.name),
            _has_gaps(column),
            "\n".join(grams),
            np.asarray(encoder.vectorizer_.idf_, dtype=np.float64),
            np.asarray(encoder.tsvd_.components_, dtype=np.float32),
            float(encoder.scaling_factor_),
        )

    @property
    def parts(self) -> list[str]:
        """Names of the encoded columns, except for the one that marks gaps."""
        return [f"{self.column}: component {k + 1}" for k in range(len(self.components))]

    def values(self, column: pd.Series) -> NDArray[Any]:
        """Return the components of texts."""
        if not self.grams or not len(column):
            return np.zeros((len(column), len(self.components)))
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(**_GRAMS, vocabulary=self.grams.split("\n"))
        vectorizer.idf_ = self.rarities
        weights = vectorizer.transform(column.fillna("")).astype(np.float32)
        return np.asarray(weights @ self.components.T / np.float32(self.factor))

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """Return what plain data describe, after checks."""
        fields = PlainFields(data, OWNER)
        text = fields.text("grams")
        grams = text.split("\n") if text else []
        is_right = len(set(grams)) == len(grams) <= MOST_GRAMS
        fields.require(is_right, "grams", f"be at most {MOST_GRAMS:,} distinct lines", text)
        rarities = fields.finite("rarities", (len(grams),), np.float64)
        components = fields.finite("components", (None, len(grams)), np.float32)
        is_right = len(components) <= N_COMPONENTS and bool(len(components)) == bool(grams)
        fields.require(is_right, "components", f"be 1 to {N_COMPONENTS} rows", len(components))
        # Components have length one, and texts have at most length one before they are scaled.
        is_unit = (np.abs(components) <= 2).all() and (np.abs(rarities) <= FURTHEST).all()
        fields.require(is_unit, "components", "be at most one", "large numbers")
        factor = fields.positive("factor")
        fields.require(1e-9 < factor < 1e9, "factor", "be of usual size", factor)
        name, is_gappy = fields.text("column"), fields.truth("has_gaps")
        return cls(name, is_gappy, text, rarities, components, factor)


def _finite_values(frame: pd.DataFrame) -> _Doubles:
    """Return columns of numbers as an array. What is not finite is a gap."""
    values = frame.to_numpy(dtype=np.float64, copy=True)
    values[~np.isfinite(values)] = np.nan
    return values


def _has_gaps(column: pd.Series) -> bool:
    """Return whether a value is missing."""
    return bool(column.isna().any())


def _missing_name(column: str) -> str:
    """Return the name of the encoded column that marks the gaps of a column."""
    return f"{column} is missing"


def _days_since_1970(dates: pd.Series) -> pd.Series:
    """Return how many days after the start of 1970 dates are, with fractions."""
    return (dates - pd.Timestamp(0)) / pd.Timedelta(days=1)


# How the parts of dates are called, and how they are found.
_DATE_FEATURES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "year": ("year", lambda dates: dates.dt.year),
    "month": ("month", lambda dates: dates.dt.month),
    "day": ("day", lambda dates: dates.dt.day),
    "hour": ("hour", lambda dates: dates.dt.hour),
    "total_seconds": ("days since 1970", _days_since_1970),
    "weekday": ("day of the week", lambda dates: dates.dt.day_of_week + 1),
    "day_of_year": ("day of the year", lambda dates: dates.dt.day_of_year),
}


def _date_features(dates: pd.Series, features: list[str]) -> _Doubles:
    """Return parts of dates as numbers, one column each. Gaps are NaN."""
    found = [_DATE_FEATURES[each][1](dates).to_numpy(dtype=np.float64) for each in features]
    return np.column_stack([np.zeros((len(dates), 0)), *found])


def _frequent_grams(texts: pd.Series) -> list[str]:
    """Return the most frequent sequences of characters in the words of texts."""
    from sklearn.feature_extraction.text import CountVectorizer

    known = [text for text in texts.dropna() if text.strip()]
    if not known:
        return []
    counter = CountVectorizer(**_GRAMS, max_features=MOST_GRAMS).fit(known)
    return [str(gram) for gram in counter.get_feature_names_out()]


def _fitted_string_encoder(texts: pd.Series, grams: list[str], n_components: int, seed: int) -> Any:
    """Return the encoder of skrub that has learned from texts."""
    with explain_missing_extra():
        from skrub import StringEncoder

    encoder = StringEncoder(n_components, **_GRAMS, vocabulary=grams, random_state=seed % 2**32)
    # The share of the variance, which is not used here, is 0 / 0 for equal texts.
    with np.errstate(invalid="ignore"):
        return encoder.fit(texts)
