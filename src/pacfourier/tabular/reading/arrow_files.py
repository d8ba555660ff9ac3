"""Tables whose columns have types: Parquet and Arrow files, and data frames in memory."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import ipc, parquet

from pacfourier.errors import InputError
from pacfourier.tabular.reading.table_blocks import (
    Reading,
    checked_names,
    chosen_names,
    frame_of_batch,
    rows_per_block,
    with_gaps,
)

# pandas names the row numbers so that it writes to a Parquet file.
_ROW_NUMBERS = "__index_level_"


class ParquetTable:
    """A table in a ``.parquet`` file.

    Parameters
    ----------
    path : pathlib.Path
    reading : Reading
    """

    def __init__(self, path: Path, reading: Reading) -> None:
        self.name, self.notes = path.name, list[str]()
        self._path, self._missing = path, reading.missing
        with _arrow_errors(path, "Parquet"), parquet.ParquetFile(path, memory_map=True) as file:
            names, metadata = file.schema_arrow.names, file.metadata
            groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        self.names = _column_names(names)
        self.n_rows = metadata.num_rows
        _check_rows(self.n_rows, self.name)
        n_bytes = sum(group.total_byte_size for group in groups)
        self._n_together = rows_per_block(n_bytes, self.n_rows, len(names))

    def blocks(self, names: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        """Yield the rows in order, block by block."""
        chosen = chosen_names(names, self.names)
        with (
            _arrow_errors(self._path, "Parquet"),
            parquet.ParquetFile(self._path, memory_map=True) as file,
        ):
            for batch in file.iter_batches(self._n_together, columns=chosen):
                yield with_gaps(frame_of_batch(batch)[chosen], self._missing)


class ArrowTable:
    """A table in an ``.arrow`` or ``.feather`` file, or one of Arrow in memory.

    Parameters
    ----------
    source : pathlib.Path or pyarrow.Table
    reading : Reading
    """

    def __init__(self, source: Any, reading: Reading) -> None:
        self._source, self._missing, self.notes = source, reading.missing, list[str]()
        self.name = source.name if isinstance(source, Path) else "data frame"
        self.n_rows = n_memory = 0
        schema = None
        for batch in self._batches():
            schema = batch.schema
            self.n_rows += batch.num_rows
            n_memory += batch.nbytes
        _check_rows(self.n_rows, self.name)
        self.names = _column_names(schema.names if schema is not None else [])
        self._n_together = rows_per_block(n_memory, self.n_rows, len(self.names))

    def blocks(self, names: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        """Yield the rows in order, block by block."""
        chosen = chosen_names(names, self.names)
        for batch in self._batches():
            for start in range(0, batch.num_rows, self._n_together):
                rows = batch.slice(start, self._n_together).select(chosen)
                yield with_gaps(frame_of_batch(rows), self._missing)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        if not isinstance(self._source, Path):
            yield from self._source.to_batches()
            return
        with _arrow_errors(self._source, "Arrow"), pa.memory_map(str(self._source)) as file:
            yield from _file_batches(file)


class FrameTable:
    """A data frame of pandas in memory. Its index is not read.

    Parameters
    ----------
    frame : DataFrame
    reading : Reading
    """

    def __init__(self, frame: pd.DataFrame, reading: Reading) -> None:
        self.name, self.notes, self._missing = "data frame", list[str](), reading.missing
        self.names = checked_names(list(frame.columns))
        self.n_rows = len(frame)
        _check_rows(self.n_rows, self.name)
        self._frame = frame.set_axis(self.names, axis="columns")
        n_bytes = int(frame.memory_usage(index=False).sum())
        self._n_together = rows_per_block(n_bytes, self.n_rows, len(self.names))

    def blocks(self, names: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        """Yield the rows in order, block by block."""
        chosen = self._frame[chosen_names(names, self.names)]
        for start in range(0, len(chosen), self._n_together):
            rows = chosen.iloc[start : start + self._n_together].reset_index(drop=True)
            yield with_gaps(rows, self._missing)


def _file_batches(file: Any) -> Iterator[pa.RecordBatch]:
    """Yield the batches of an Arrow file, which is of one of two formats."""
    try:
        reader = ipc.open_file(file)
    except pa.ArrowInvalid:
        file.seek(0)
        yield from ipc.open_stream(file)
        return
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)


def _column_names(names: list[str]) -> list[str]:
    """Return the names of the columns of a file, without the row numbers that pandas wrote."""
    return checked_names([name for name in names if not name.startswith(_ROW_NUMBERS)])


def _check_rows(n_rows: int, name: str) -> None:
    """Raise an error if a table has no rows."""
    if n_rows == 0:
        raise InputError(f"data must have rows, got none in {name!r}.")


@contextmanager
def _arrow_errors(path: Path, kind: str) -> Iterator[None]:
    """Turn the errors of a reader of Arrow into an ``InputError``."""
    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputError(f"data must be readable {kind}, got {path.name!r}: {error}") from None
