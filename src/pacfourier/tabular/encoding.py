"""All columns of a table together as one array of numbers without gaps."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pacfourier.errors import InputError, listed
from pacfourier.model.plain_fields import PlainFields
from pacfourier.tabular.column_encodings import (
    OWNER,
    Category,
    CellPlaces,
    Date,
    Numbers,
    OneColumn,
    Text,
)

_KINDS: dict[str, Any] = {each.kind: each for each in (Category, Date, Text)}


class TableRow(NamedTuple):
    """How the cells of a table become the encoded columns of a row.

    Attributes
    ----------
    empty : list of float
        The encoded columns of a row whose cells are all empty, with numbers as in the table. An
        empty cell of a number counts as the median of the rows that were learned from.
    cells : list of CellPlaces
        Where the cells are, in the order of the encoded columns.
    """

    empty: list[float]
    cells: list[CellPlaces]


@dataclass(frozen=True, eq=False)
class Encoding:
    """How the columns of a table become numbers.

    Attributes
    ----------
    numbers : Numbers
        What was learned about all columns of numbers. They come first.
    others : tuple of OneColumn
        What was learned about each other column.
    """

    numbers: Numbers
    others: tuple[OneColumn, ...]

    def __iter__(self) -> Iterator[Numbers | OneColumn]:
        yield self.numbers
        yield from self.others

    @property
    def names(self) -> list[str]:
        """Names of the encoded columns, all different, such as "age" or "job = nurse"."""
        return _distinct_names(name for part in self for name in part.names)

    @property
    def sources(self) -> list[str]:
        """The column of the table that each encoded column comes from."""
        return [source for part in self for source in part.sources]

    @property
    def kinds(self) -> dict[str, str]:
        """What each column of the table holds."""
        others = {part.to_data()["column"]: part.to_data()["kind"] for part in self.others}
        return dict.fromkeys(self.numbers.columns, "number") | others

    @property
    def offsets(self) -> NDArray[np.float64]:
        """What was subtracted from each encoded column, such as the median of a number."""
        return np.concatenate([part.offsets for part in self])

    @property
    def table_row(self) -> TableRow:
        """How a program outside of Python makes a row."""
        empty = {"number": np.nan, "category": None, "date": pd.NaT}
        frame = pd.DataFrame({name: [empty[kind]] for name, kind in self.kinds.items()})
        row: list[float] = (self.encoded(frame)[0] + self.offsets).tolist()
        cells, start = self.numbers.cells(), len(self.numbers.names)
        for part in self.others:
            cells.append(part.cell(start))
            start += len(part.names)
        return TableRow(row, cells)

    def check_no_texts(self) -> None:
        """Raise InputError if there are columns of texts."""
        texts = [name for name, kind in self.kinds.items() if kind == "text"]
        if texts:
            raise InputError(
                "columns must hold numbers, categories and dates to be exported, got texts in "
                f"{listed(texts)}: only Python computes their components. Fit with --type "
                "COLUMN=drop or --type COLUMN=category for each of them."
            )

    def encoded(self, frame: pd.DataFrame) -> NDArray[np.float32]:
        """Return the rows of a table as numbers without gaps.

        Parameters
        ----------
        frame : pandas.DataFrame
            With the columns of the fit, of the same kinds. Others are ignored.

        Returns
        -------
        array : array of float32 of shape (n_rows, n_encoded)
            All numbers are finite.
        """
        return np.hstack([part.encoded(frame) for part in self])

    def to_data(self) -> dict[str, Any]:
        """Return what was learned, as plain data.

        Returns
        -------
        data : dict
            Of texts, numbers and arrays, for :meth:`from_data`.
        """
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
            What :meth:`to_data` returned, perhaps read from a file.

        Returns
        -------
        encoding : Encoding
            It encodes the same as the original one.

        Raises
        ------
        InputError
            If anything is missing, has a wrong type or shape, or is not a possible number.
        """
        fields = PlainFields(data, OWNER)
        others = fields.value("others")
        fields.require(isinstance(others, list), "others", "be a list", others)
        kinds = [PlainFields(each, OWNER).choice("kind", tuple(_KINDS)) for each in others]
        parts = (_KINDS[kind].from_data(each) for kind, each in zip(kinds, others, strict=True))
        return cls(Numbers.from_data(fields.value("numbers")), tuple(parts))


def learned_encoding(frame: pd.DataFrame, kinds: Mapping[str, str], seed: int) -> Encoding:
    """Learn from the rows of a table how to encode them.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows to learn from. Rows held out for a certificate must not be among them. Numbers are
        float64, categories and texts are str, and dates are datetime64.
    kinds : mapping from names of columns to str
        What each column is: "number", "category", "date" or "text".
    seed : int
        Seed of the decomposition of texts.

    Returns
    -------
    encoding : Encoding
        How to encode these and other rows.
    """
    learn: dict[str, Callable[[pd.Series], OneColumn]] = {
        "category": Category.learned,
        "date": Date.learned,
        "text": lambda column: Text.learned(column, seed),
    }
    numbers = [name for name in frame.columns if kinds[name] == "number"]
    others = [name for name in frame.columns if kinds[name] != "number"]
    return Encoding(
        Numbers.learned(frame[numbers]), tuple(learn[kinds[name]](frame[name]) for name in others)
    )


def _distinct_names(names: Iterable[str]) -> list[str]:
    """Return names that are all different, by adding " (2)" to the second of two equal ones."""
    found: dict[str, None] = {}
    for name in names:
        options = chain([name], (f"{name} ({number})" for number in count(2)))
        found[next(option for option in options if option not in found)] = None
    return list(found)
