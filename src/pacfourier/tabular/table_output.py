"""Write tables block by block. A file is written completely or not at all."""

import os
import re
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

from pacfourier.errors import InputError
from pacfourier.tabular.cells import arrow_texts
from pacfourier.written_files import written_file

_TABLE_SUFFIXES = (".csv", ".parquet")
# A spreadsheet runs a cell as a formula if it begins so and is no number.
_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
# What makes a cell of a CSV file need quotes.
_NEEDS_QUOTES = r'[",\r\n]'


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
        raise InputError(f"the output must end in {' or '.join(suffixes)}, got {str(path)!r}.")
    folder = path.resolve().parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InputError(f"the output must be a file in a writable folder, got {str(path)!r}.")
    if path.exists() and not overwrite:
        raise InputError(
            f"the output must be a new file, got {str(path)!r}, which exists: name another one, "
            "or use --overwrite to replace it."
        )


@contextmanager
def written_table(path: Path, overwrite: bool) -> Iterator["_TableWriter"]:
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
    check_output(path, _TABLE_SUFFIXES, overwrite)
    is_parquet = path.name.lower().endswith(".parquet")
    with written_file(path) as file:
        writer: _TableWriter = _ParquetWriter(file) if is_parquet else _CsvWriter(file)
        try:
            yield writer
        finally:
            # Also on errors: Arrow would write the end of the file later, and complain.
            writer.close()
        writer.check_rows()
        # The file may have appeared meanwhile.
        check_output(path, _TABLE_SUFFIXES, overwrite)


class _TableWriter:
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

    def check_rows(self) -> None:
        """Raise an error if nothing was written."""
        if self._names is None:
            raise InputError("data must have rows, got none.")

    def _write(self, frame: pd.DataFrame, is_first: bool) -> None:
        raise NotImplementedError


class _CsvWriter(_TableWriter):
    """Writes CSV. Texts that a spreadsheet would run as a formula begin with an apostrophe."""

    def _write(self, frame: pd.DataFrame, is_first: bool) -> None:
        table = _text_table(frame)
        if is_first:
            self._file.write(_csv_line(_without_formulas(pa.array(table.column_names)).to_pylist()))
        columns = [
            _without_formulas(column) if pa.types.is_large_string(column.type) else column
            for column in table.columns
        ]
        table = _without_blank_lines(pa.table(columns, names=table.column_names))
        options = arrow_csv.WriteOptions(include_header=False, quoting_style=_quoting(table))
        arrow_csv.write_csv(table, self._file, options)


class _ParquetWriter(_TableWriter):
    """Writes Parquet. The columns have the types of the first block."""

    _writer: Any = None

    def _write(self, frame: pd.DataFrame, is_first: bool) -> None:
        table = _typed_table(frame)
        if is_first:
            self._writer = parquet.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table.cast(self._writer.schema))

    def close(self) -> None:
        """Write the end of the file."""
        if self._writer is not None:
            self._writer.close()


def _typed_table(frame: pd.DataFrame) -> pa.Table:
    """Return a block of rows as a table of Arrow. Columns of mixed objects become texts."""
    columns = [_typed_cells(column) for _, column in frame.items()]
    return pa.table(columns, names=[str(name) for name in frame.columns])


def _typed_cells(column: pd.Series) -> Any:
    if column.dtype == object:
        return arrow_texts(column)
    cells = pa.array(column.array, from_pandas=True)
    # The categories may differ from block to block.
    return cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells


def _text_table(frame: pd.DataFrame) -> pa.Table:
    """Return a block of rows as a table of Arrow: numbers stay numbers, all else becomes text."""
    columns = [
        pa.array(column.array, from_pandas=True) if _is_number(column) else arrow_texts(column)
        for _, column in frame.items()
    ]
    return pa.table(columns, names=[str(name) for name in frame.columns])


def _is_number(column: pd.Series) -> bool:
    return bool(is_numeric_dtype(column.dtype) and not is_bool_dtype(column.dtype))


def _csv_line(fields: Sequence[str]) -> bytes:
    """Return texts as a line of a CSV file, with quotes where they are needed."""
    quoted = ['"' + field.replace('"', '""') + '"' for field in fields]
    parts = [q if re.search(_NEEDS_QUOTES, f) else f for f, q in zip(fields, quoted, strict=True)]
    return (",".join(parts) + "\n").encode()


def _without_formulas(texts: Any) -> Any:
    """Return texts with an apostrophe before those that a spreadsheet would run as a formula."""
    is_formula = pc.and_(
        pc.match_substring_regex(texts, _FORMULA),
        pc.invert(pc.match_substring_regex(texts, _NUMBER)),
    )
    return pc.if_else(is_formula, pc.replace_substring_regex(texts, "^", "'"), texts)


def _without_blank_lines(table: pa.Table) -> pa.Table:
    """Return a table of one column with empty texts for its gaps, and any other unchanged."""
    if table.num_columns > 1 or not table.column(0).null_count:
        return table
    texts = table.column(0).cast(pa.large_string()).fill_null("")
    return pa.table([texts], names=table.column_names)


def _quoting(table: pa.Table) -> str:
    """Return the style of quotes of Arrow: "needed" quotes all texts, "none" quotes none."""
    texts = [column for column in table.columns if pa.types.is_large_string(column.type)]
    # A line of one empty cell is blank without quotes, and readers skip blank lines.
    rule = f"^$|{_NEEDS_QUOTES}" if table.num_columns == 1 else _NEEDS_QUOTES
    is_any = any(pc.any(pc.match_substring_regex(each, rule)).as_py() for each in texts)
    return "needed" if is_any else "none"
