"""Tables from files, and the labels in them; what cannot be used is refused in one line."""

import csv
import gzip
import zlib
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pandas as pd
from pyarrow import ArrowException

from pacfourier.errors import InputError

# More distinct numbers than this are amounts, not classes.
MOST_NUMERIC_CLASSES = 30
# More distinct texts than this are names, not classes.
MOST_CLASSES = 1000
# How many names an error message lists.
MOST_NAMES = 10


def read_table(path):
    """Return the rows of a ``.csv``, ``.csv.gz`` or ``.parquet`` file.

    The values of a CSV stay text here: which columns hold numbers is decided later, on rows
    that no certificate is about.

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


def _read_parquet(path):
    with parquet_errors(path):
        table = pd.read_parquet(path)
    table.columns = table.columns.map(str)
    check_names(list(table.columns))
    return table


@contextmanager
def parquet_errors(path):
    """Refuse what Arrow cannot read."""
    try:
        yield
    except (OSError, ValueError, ArrowException) as error:
        raise InputError(f"data must be readable Parquet, got {path.name!r}: {error}") from None


def _read_csv(path):
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as lines:
            _check_fields(lines)
        return pd.read_csv(path, dtype=str, encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"data must be UTF-8 text, got other bytes in {path.name!r}.") from None
    except (OSError, EOFError, zlib.error, pd.errors.ParserError) as error:
        raise InputError(f"data must be a readable file, got {path.name!r}: {error}") from None


def _check_fields(lines):
    """Check that every line has as many fields as the first.

    pandas fills short lines up, and takes the first column of long ones for an index.
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


def _check_separator(header):
    """Refuse a first line that is one field, in which another separator stands."""
    found = [separator for separator in ";\t|" if len(header) == 1 and separator in header[0]]
    if found:
        raise InputError(f"data must be separated by commas, got {found[0]!r} in the first line.")


def check_names(names):
    """Refuse names of columns that are no text, or come twice."""
    if not names:
        raise InputError("data must begin with the names of its columns, got none.")
    if any("\0" in name for name in names):
        raise InputError("data must be text, got zero bytes among the names of its columns.")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(f"data must have distinct column names, got {listed(repeated)} twice.")


def table_labels(table, target):
    """Return the classes of the rows, as text.

    Parameters
    ----------
    table : DataFrame
    target : str
        Name of the column that holds the classes.

    Returns
    -------
    labels : array of str, of shape (n_rows,)
    """
    check_target(target, table.columns)
    column = table[target]
    n_missing = int(column.isna().sum())
    if n_missing:
        raise InputError(
            f"target {target!r} must have a value in every row, got {n_missing} without: "
            "leave those rows out."
        )
    # pandas writes a column of midnights without the time: a day would have two names.
    if column.dtype.kind in "mM":
        column = column.astype(object)
    return np.asarray(column.astype(str).str.removesuffix(" 00:00:00"), dtype=str)


def check_target(target, names):
    """Refuse a target that is not among the columns."""
    if target not in names:
        raise InputError(f"target must be one of {listed(names)}, got {target!r}.")


def check_drop(drop, names):
    """Refuse columns to leave out that are not among those to learn from."""
    if isinstance(drop, str):
        raise InputError(f"drop must be a list of names, got {drop!r}.")
    unknown = [name for name in drop if name not in names]
    if unknown:
        raise InputError(f"drop must be among {listed(names)}, got {listed(unknown)}.")


def check_classes(labels, target):
    """Refuse labels that are all the same, amounts, or names of rows."""
    classes = np.unique(labels)
    if len(classes) < 2:
        raise InputError(f"target {target!r} must have two classes or more, got {listed(classes)}.")
    numbers = pd.to_numeric(pd.Series(classes), errors="coerce")
    if len(classes) > MOST_NUMERIC_CLASSES and numbers.notna().all():
        raise InputError(
            f"target {target!r} must hold classes, got more than {MOST_NUMERIC_CLASSES} different "
            "numbers, which looks like regression: cut them into ranges, or name the classes by "
            "words."
        )
    if len(classes) > MOST_CLASSES:
        raise InputError(f"target {target!r} must have {MOST_CLASSES} classes or fewer, got more.")


def listed(names):
    """Write names for a message, the first few of many."""
    shown = ", ".join(repr(str(name)) for name in list(names)[:MOST_NAMES])
    n_more = len(names) - MOST_NAMES
    return f"{shown} and {n_more} more" if n_more > 0 else shown
