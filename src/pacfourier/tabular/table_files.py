"""Read tables from files; a file that cannot be used gives an error of one line."""

import csv
import gzip
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
from pyarrow import ArrowException

from pacfourier.errors import InputError, listed


def read_table(path: Path) -> pd.DataFrame:
    """Return the rows of a ``.csv``, ``.csv.gz`` or ``.parquet`` file.

    The values of a CSV file stay text here. Which columns hold numbers is decided later, on the
    preprocessing rows, which no certificate is about.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    table : DataFrame
    """
    if not path.is_file():
        raise InputError(f"data must be a file, got {str(path)!r}.")
    readers = {".csv": _read_csv, ".csv.gz": _read_csv, ".parquet": _read_parquet}
    suffix = next((suffix for suffix in readers if path.name.lower().endswith(suffix)), None)
    if suffix is None:
        raise InputError(f"data must end in one of {tuple(readers)}, got {path.name!r}.")
    table = readers[suffix](path)
    if table.empty:
        raise InputError(f"data must have rows, got none in {path.name!r}.")
    return table


def with_columns(table: pd.DataFrame, columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return a table with more columns. A column that it has already is never overwritten.

    Parameters
    ----------
    table : DataFrame
    columns : mapping of str to array
        Names and values of the new columns.

    Returns
    -------
    longer : DataFrame
    """
    present = [name for name in columns if name in table.columns]
    if present:
        raise InputError(
            f"data must have no columns named {listed(present)}, which are added to the output: "
            "rename them."
        )
    return table.assign(**columns)


def _read_parquet(path: Path) -> pd.DataFrame:
    with parquet_errors(path):
        table = pd.read_parquet(path)
    table.columns = table.columns.map(str)
    check_names(list(table.columns))
    return table


@contextmanager
def parquet_errors(path: Path) -> Iterator[None]:
    """Turn the errors of a Parquet reader into an ``InputError``."""
    try:
        yield
    except (OSError, ValueError, ArrowException) as error:
        raise InputError(f"data must be readable Parquet, got {path.name!r}: {error}") from None


def _read_csv(path: Path) -> pd.DataFrame:
    opened: Any = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as lines:
            _check_fields(lines)
        return pd.read_csv(path, dtype=str, encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"data must be UTF-8 text, got other bytes in {path.name!r}.") from None
    except (OSError, EOFError, zlib.error, pd.errors.ParserError) as error:
        raise InputError(f"data must be a readable file, got {path.name!r}: {error}") from None


def _check_fields(lines: Iterable[str]) -> None:
    """Check that every line has as many fields as the first.

    pandas fills short lines with missing values, and reads the first column of long lines as an
    index.
    """
    reader = csv.reader(lines, strict=True)
    try:
        header = next(filter(None, reader), [])
        _check_separator(header)
        check_names([name for name in header if name])
        for fields in filter(None, reader):
            if len(fields) != len(header):
                raise InputError(
                    f"line {reader.line_num} must have {len(header)} fields, as the first line, "
                    f"got {len(fields)}."
                )
    except csv.Error as error:
        raise InputError(f"line {reader.line_num} must be valid CSV, got: {error}.") from None


def _check_separator(header: list[str]) -> None:
    """Raise an error if the first line has no comma but another separator."""
    found = [separator for separator in ";\t|" if len(header) == 1 and separator in header[0]]
    if found:
        raise InputError(f"data must be separated by commas, got {found[0]!r} in the first line.")


def check_names(names: list[str]) -> None:
    """Raise an error if the names of columns are missing, repeated or not text."""
    if not names:
        raise InputError("data must begin with the names of its columns, got none.")
    if any("\0" in name for name in names):
        raise InputError("data must be text, got zero bytes among the names of its columns.")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(f"data must have distinct column names, got {listed(repeated)} twice.")
