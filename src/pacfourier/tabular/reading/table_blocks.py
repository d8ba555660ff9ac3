"""What every table offers, whatever it is read from: names of columns, and blocks of rows."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa

from pacfourier.errors import InputError, listed

# The size of a block of rows, and how much of it each column has at least. Work on a block has a
# fixed cost per column, so the blocks of wide tables are larger: two passes over 200,000 x 123
# numbers took 22 s in blocks of 4 MB, and 16 s in blocks of 16 MB.
BLOCK_BYTES, BLOCK_BYTES_PER_COLUMN, LARGEST_BLOCK = 2**22, 2**17, 2**26
# A function that is told which share of a table has been read.
Advance = Callable[[float], None]
# The pandas type of texts: they lie in one piece of memory, and gaps are NaN.
TEXT = pd.StringDtype("pyarrow", na_value=np.nan)
# pandas names a column without a name so, and so does it name the row numbers that it writes.
NO_NAME = "Unnamed: "
# Types that are the same in every block, whether the block has gaps or not.
_PANDAS_TYPES = {
    pa.string(): TEXT,
    pa.large_string(): TEXT,
    pa.string_view(): TEXT,
    pa.bool_(): pd.BooleanDtype(),
    **{pa.from_numpy_dtype(d.type): d for d in (pd.Int8Dtype(), pd.Int16Dtype())},
    **{pa.from_numpy_dtype(d.type): d for d in (pd.Int32Dtype(), pd.Int64Dtype())},
    **{pa.from_numpy_dtype(d.type): d for d in (pd.UInt8Dtype(), pd.UInt16Dtype())},
    **{pa.from_numpy_dtype(d.type): d for d in (pd.UInt32Dtype(), pd.UInt64Dtype())},
}


@dataclass(frozen=True)
class Reading:
    """How to read a table.

    Attributes
    ----------
    separator : str or None, default=None
        The character between the fields of a line. By default, it is found from the first lines:
        a comma, a semicolon, a tab or a vertical bar.
    encoding : str or None, default=None
        The encoding of a text file. By default UTF-8, or Latin-1 if the file is not UTF-8.
    missing : tuple of str, default=()
        Words that stand for a missing value. An empty field always does.
    """

    separator: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()


class Table(Protocol):
    """A table that is read block by block, as often as it is needed.

    Attributes
    ----------
    name : str
        The name of the file, for messages.
    names : list of str
        The names of the columns.
    notes : list of str
        What the user should know about the reading.
    n_rows : int
        The number of rows. Of CSV files it is the number of lines, which is about the same.
    """

    name: str
    names: list[str]
    notes: list[str]
    n_rows: int

    def blocks(self, names: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        """Yield the rows in order, block by block.

        Parameters
        ----------
        names : sequence of str, default=None
            The columns to read, in this order. By default all of them.
        """
        ...


def checked_names(names: Sequence[Any]) -> list[str]:
    """Return the names of columns as distinct texts, or raise an error."""
    texts = [str(name) for name in names]
    if not texts:
        raise InputError("data must begin with the names of its columns, got none.")
    repeated = [name for name, count in Counter(texts).items() if count > 1]
    if repeated:
        raise InputError(
            f"data must have distinct column names, got {listed(repeated)} twice: rename them."
        )
    return texts


def chosen_names(names: Sequence[str] | None, known: list[str]) -> list[str]:
    """Return the columns to read; an unknown one gives an error."""
    if names is None:
        return known
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise InputError(f"data must have the columns {listed(unknown)}, got {listed(known)}.")
    return list(names)


def unheard(share: float) -> None:
    """Report no progress."""
    del share


def advancing_blocks(table: Table, advance: Advance) -> Iterator[pd.DataFrame]:
    """Yield the blocks of a table, and tell a function which share of the rows was worked on."""
    n_done = 0
    for block in table.blocks():
        yield block
        n_done += len(block)
        advance(min(1.0, n_done / table.n_rows))


def rows_per_block(n_bytes: int, n_rows: int, n_columns: int) -> int:
    """Return how many rows make a block, from the size of the whole table."""
    return max(1, int(block_bytes(n_columns) * n_rows / max(1, n_bytes)))


def block_bytes(n_columns: int) -> int:
    """Return the size of a block of rows."""
    return min(max(BLOCK_BYTES, BLOCK_BYTES_PER_COLUMN * n_columns), LARGEST_BLOCK)


def frame_of_batch(batch: Any) -> pd.DataFrame:
    """Return a batch or table of Arrow as a data frame, with the same types in every block."""
    # Without the metadata of pandas, which would turn columns into an index.
    plain = batch.replace_schema_metadata(None)
    frame = plain.to_pandas(types_mapper=_PANDAS_TYPES.get, date_as_object=False)
    # Names are looked up once per column and block, which is slow in an index of Arrow.
    frame.columns = frame.columns.astype(object)
    return frame


def with_gaps(frame: pd.DataFrame, words: Sequence[str]) -> pd.DataFrame:
    """Return a typed frame in which the words that stand for missing values are missing.

    A word that is a number, such as "-999", also stands for that number.
    """
    if not words:
        return frame
    numbers = pd.to_numeric(pd.Series(words, dtype=object), errors="coerce").dropna().tolist()
    columns = {}
    for name, column in frame.items():
        wanted = numbers if pd.api.types.is_numeric_dtype(column.dtype) else list(words)
        columns[name] = column.mask(column.isin(wanted))
    return pd.DataFrame(columns)
