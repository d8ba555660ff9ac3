"""Write tables block by block. A file is written completely or not at all."""

import csv
import io
import os
import stat
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from pacfourier.errors import InputError, listed
from pacfourier.tabular.cells import arrow_texts

TABLE_SUFFIXES = (".csv", ".parquet")
# A spreadsheet runs a cell as a formula if it begins so and is no number.
FORMULA = r"^[=+\-@\t\r]"
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
# What makes a cell of a CSV file need quotes.
NEEDS_QUOTES = r'[",\r\n]'


def check_output(path: Path, suffixes: Sequence[str], overwrite: bool) -> None:
    """Raise an error if a file cannot be written there, before any work is done.

    Parameters
    ----------
    path : pathlib.Path
    suffixes : sequence of str
        The file must end in one of them.
    overwrite : bool
        Whether the file may exist already.
    """
    if not path.name.lower().endswith(tuple(suffixes)):
        raise InputError(f"the output must end in {listed(suffixes)}, got {str(path)!r}.")
    folder = path.resolve().parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InputError(f"the output must be a file in a writable folder, got {str(path)!r}.")
    if path.exists() and not overwrite:
        raise InputError(
            f"the output must be a new file, got {str(path)!r}, which exists: name another one, "
            "or use --overwrite to replace it."
        )


@contextmanager
def written_file(path: Path, overwrite: bool) -> Iterator[BinaryIO]:
    """Open a file that is written completely or not at all.

    The bytes go to a temporary file beside it, which takes its name at the end. On any error, and
    on Ctrl-C, the temporary file is removed and an older file stays as it was. Temporary files
    that a killed process left for the same name are removed first, so two processes must not write
    to one file at once. The permissions of a file that is replaced are kept.

    Parameters
    ----------
    path : pathlib.Path
    overwrite : bool
        Whether the file may exist already.

    Yields
    ------
    file : binary file
    """
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        for left in _left_temporaries(target):
            left.unlink(missing_ok=True)
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        check_output(path, [path.suffix], overwrite)
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except OSError as error:
        raise InputError(f"the output must be writable, got {str(path)!r}: {error}.") from None
    finally:
        temporary.unlink(missing_ok=True)


def _left_temporaries(target: Path) -> list[Path]:
    """Return the temporary files for a name that a killed process has left."""
    start, n_hex = f".{target.name}.", len(uuid.uuid4().hex)
    return [
        path
        for path in target.parent.iterdir()
        if path.name.startswith(start)
        and path.name.endswith(".part")
        and len(path.name) == len(start) + n_hex + len(".part")
    ]


@contextmanager
def written_table(path: Path, overwrite: bool) -> Iterator["TableWriter"]:
    """Open a ``.csv`` or ``.parquet`` file to write a table block by block.

    Parameters
    ----------
    path : pathlib.Path
    overwrite : bool
        Whether the file may exist already.

    Yields
    ------
    writer : TableWriter
    """
    check_output(path, TABLE_SUFFIXES, overwrite)
    is_parquet = path.name.lower().endswith(".parquet")
    with written_file(path, overwrite) as file:
        writer: TableWriter = ParquetWriter(file) if is_parquet else CsvWriter(file)
        yield writer
        writer.close()


class TableWriter:
    """Writes blocks of rows to an open file.

    Parameters
    ----------
    file : binary file
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._names: list[str] | None = None

    def write(self, frame: pd.DataFrame) -> None:
        """Write a block of rows, with the same columns as the first block."""
        names = [str(name) for name in frame.columns]
        is_first = self._names is None
        if self._names is None:
            self._names = names
        if names != self._names:
            raise ValueError(f"blocks must have the columns {self._names}, got {names}.")
        self._write(frame, is_first)

    def close(self) -> None:
        """Write the end of the file, if its format has one."""
        if self._names is None:
            raise InputError("data must have rows, got none.")

    def _write(self, frame: pd.DataFrame, is_first: bool) -> None:
        raise NotImplementedError


class CsvWriter(TableWriter):
    """Writes CSV. Texts that a spreadsheet would run as a formula begin with an apostrophe."""

    def _write(self, frame: pd.DataFrame, is_first: bool) -> None:
        table = text_table(frame)
        if is_first:
            self._file.write(csv_line(without_formulas(pa.array(table.column_names)).to_pylist()))
        columns = [
            without_formulas(column) if pa.types.is_large_string(column.type) else column
            for column in table.columns
        ]
        table = pa.table(columns, names=table.column_names)
        options = arrow_csv.WriteOptions(include_header=False, quoting_style=quoting(table))
        arrow_csv.write_csv(table, self._file, options)


class ParquetWriter(TableWriter):
    """Writes Parquet. The columns have the types of the first block."""

    _writer: Any = None

    def _write(self, frame: pd.DataFrame, is_first: bool) -> None:
        table = typed_table(frame)
        if is_first:
            self._writer = parquet.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table.cast(self._writer.schema))

    def close(self) -> None:
        """Write the end of the file."""
        super().close()
        self._writer.close()


def typed_table(frame: pd.DataFrame) -> pa.Table:
    """Return a block of rows as a table of Arrow. Columns of mixed objects become texts."""
    columns = [
        arrow_texts(column) if column.dtype == object else pa.array(column.array, from_pandas=True)
        for _, column in frame.items()
    ]
    return pa.table(columns, names=[str(name) for name in frame.columns])


def text_table(frame: pd.DataFrame) -> pa.Table:
    """Return a block of rows as a table of Arrow: numbers stay numbers, all else becomes text."""
    columns = [
        pa.array(column.array, from_pandas=True) if _is_number(column) else arrow_texts(column)
        for _, column in frame.items()
    ]
    return pa.table(columns, names=[str(name) for name in frame.columns])


def _is_number(column: pd.Series) -> bool:
    return bool(is_numeric_dtype(column.dtype) and not is_bool_dtype(column.dtype))


def csv_line(fields: Sequence[str]) -> bytes:
    """Return texts as a line of a CSV file, with quotes where they are needed."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(fields)
    return line.getvalue().encode()


def without_formulas(texts: Any) -> Any:
    """Return texts with an apostrophe before those that a spreadsheet would run as a formula."""
    is_formula = pc.and_(
        pc.match_substring_regex(texts, FORMULA),
        pc.invert(pc.match_substring_regex(texts, NUMBER)),
    )
    return pc.if_else(is_formula, pc.replace_substring_regex(texts, "^", "'"), texts)


def quoting(table: pa.Table) -> str:
    """Return the style of quotes of Arrow: "needed" quotes all texts, "none" quotes none."""
    texts = [column for column in table.columns if pa.types.is_large_string(column.type)]
    is_any = any(pc.any(pc.match_substring_regex(each, NEEDS_QUOTES)).as_py() for each in texts)
    return "needed" if is_any else "none"
