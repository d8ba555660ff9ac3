"""Tables in lines of JSON: one object per line, whose keys are the names of the columns."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pacfourier.errors import InputError
from pacfourier.tabular.reading.table_blocks import (
    BLOCK_BYTES,
    TEXT,
    Reading,
    checked_names,
    chosen_names,
    with_gaps,
)
from pacfourier.tabular.reading.text_files import checked_text_file

# Larger whole numbers become floats.
_LARGEST_INTEGER = 2**63 - 1


class JsonTable:
    """A table in a ``.jsonl`` or ``.ndjson`` file.

    The file is read once to find the names and the types of all columns: a column of numbers in
    which some cells are words is a column of texts in every block.

    Parameters
    ----------
    path : pathlib.Path
    reading : Reading
    """

    def __init__(self, path: Path, reading: Reading) -> None:
        self.name = path.name
        self._file, self.notes = checked_text_file(path, reading.encoding)
        self._missing = reading.missing
        self._types: dict[str, set[type]] = {}
        self.n_rows = 0
        for _, row in self._rows():
            self.n_rows += 1
            for name, value in row.items():
                self._types.setdefault(name, set()).add(_cell_type(value))
        if not self.n_rows:
            raise InputError(f"data must have rows, got none in {self.name!r}.")
        self.names = checked_names(list(self._types))

    def blocks(self, names: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        """Yield the rows in order, block by block."""
        chosen = chosen_names(names, self.names)
        rows, n_read = [], 0
        for n_characters, row in self._rows():
            rows.append(row)
            n_read += n_characters
            if n_read >= BLOCK_BYTES:
                yield self._frame(rows, chosen)
                rows, n_read = [], 0
        if rows:
            yield self._frame(rows, chosen)

    def _frame(self, rows: list[dict[str, Any]], names: list[str]) -> pd.DataFrame:
        columns = {
            name: _typed_cells([row.get(name) for row in rows], self._types[name]) for name in names
        }
        return with_gaps(pd.DataFrame(columns, index=range(len(rows))), self._missing)

    def _rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the length of every line, and its object."""
        with self._file.characters() as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield len(line), self._row(number, line)

    def _row(self, number: int, line: str) -> dict[str, Any]:
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"line {number} must be valid JSON, got: {error}.") from None
        if not isinstance(row, dict):
            raise InputError(f"line {number} must be a JSON object, got {line.strip()[:40]!r}.")
        return row


def _cell_type(value: Any) -> type:
    """Return the type of a cell: float also for whole numbers that need more than 64 bits."""
    is_large = type(value) is int and abs(value) > _LARGEST_INTEGER
    return float if is_large else type(value)


def _typed_cells(values: list[Any], types: set[type]) -> Any:
    """Return the cells of a column as one array, given the types of cells in the whole file."""
    found = types - {type(None)}
    if found == {bool}:
        return pd.array(values, dtype="boolean")
    if found == {int}:
        return pd.array(values, dtype="Int64")
    if found and found <= {int, float}:
        return np.array(values, dtype=np.float64)
    return pd.array([_cell_text(value) for value in values], dtype=TEXT)


def _cell_text(value: Any) -> str | None:
    """Return a cell as text; None for a missing one. Lists and objects are written as JSON."""
    if value is None or value == "":
        return None
    return json.dumps(value) if isinstance(value, list | dict) else str(value)
