"""Open a table from a file or a data frame, to read it block by block in constant memory."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from pacfourier.errors import InputError
from pacfourier.tabular.reading.arrow_files import ArrowTable, FrameTable, ParquetTable
from pacfourier.tabular.reading.csv_files import CsvTable
from pacfourier.tabular.reading.json_files import JsonTable
from pacfourier.tabular.reading.table_blocks import Reading, Table

_READERS: dict[str, Callable[[Path, Reading], Table]] = {
    **dict.fromkeys((".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz"), CsvTable),
    ".parquet": ParquetTable,
    **dict.fromkeys((".arrow", ".feather"), ArrowTable),
    **dict.fromkeys((".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"), JsonTable),
}


def open_table(source: Any, reading: Reading | None = None) -> Table:
    """Open a table to read it block by block, as often as needed.

    The cells of text files (``.csv``, ``.tsv``, ``.txt``, also with ``.gz``) are texts or missing:
    what they mean is decided later, from rows that no certificate is about. Parquet, Arrow and
    JSON lines files and data frames keep their types.

    Parameters
    ----------
    source : pathlib.Path, or data frame of pandas or polars
        A table of Arrow works too.
    reading : Reading, default=None
        The separator, the encoding and the words for missing values.

    Returns
    -------
    table : Table
    """
    reading = reading or Reading()
    if isinstance(source, pd.DataFrame):
        return FrameTable(source, reading)
    if isinstance(source, str | Path):
        return _opened_file(Path(source), reading)
    if hasattr(source, "to_arrow"):
        source = source.to_arrow()
    if hasattr(source, "to_batches"):
        return ArrowTable(source, reading)
    raise InputError(
        f"data must be a path or a data frame of pandas or polars, got {type(source).__name__}."
    )


def _opened_file(path: Path, reading: Reading) -> Table:
    if not path.is_file():
        why = "it is a folder" if path.is_dir() else "no such file"
        raise InputError(f"data must be a file, got {str(path)!r}: {why}.")
    suffix = next((end for end in _READERS if path.name.lower().endswith(end)), None)
    if suffix is None:
        raise InputError(
            f"data must end in one of {', '.join(_READERS)}, got {path.name!r}: save the table in "
            "one of these formats."
        )
    return _READERS[suffix](path, reading)
