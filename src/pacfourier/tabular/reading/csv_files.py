"""Tables in lines of text, with separators between the fields. All cells stay texts."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import pandas as pd
import pyarrow as pa
from pyarrow import csv as arrow_csv

from pacfourier.errors import InputError
from pacfourier.tabular.reading.table_blocks import (
    NO_NAME,
    Reading,
    block_bytes,
    checked_names,
    chosen_names,
    frame_of_batch,
)
from pacfourier.tabular.reading.text_files import checked_text_file

_SEPARATORS = (",", ";", "\t", "|")
# How separators may be written that are hard to type.
_SPELLED = {"tab": "\t", "\\t": "\t"}
# How many lines the separator is found from.
_FIRST_LINES = 50
# Arrow reads ahead by 32 pieces of this size. A piece must hold a whole line, and work on it has a
# fixed cost per column, so pieces of tables with long lines or many columns are larger.
PIECE_BYTES, PIECE_BYTES_PER_COLUMN, LARGEST_PIECE = 2**19, 512, 2**26
# Arrow says so of a line that is longer than a piece.
_TOO_LONG = "straddling"


class CsvTable:
    """A table in a text file, such as ``.csv``, ``.tsv`` or ``.csv.gz``.

    Parameters
    ----------
    path : pathlib.Path
    reading : Reading
    """

    def __init__(self, path: Path, reading: Reading) -> None:
        self.name = path.name
        self._file, self.notes = checked_text_file(path, reading.encoding)
        self.n_rows = len(self._file.lines)
        self._missing = ["", *reading.missing]
        self._separator = self._found_separator(reading.separator)
        self._check_quotes()
        self.names = self._read_names()
        if next(self._batches(self.names[:1]), None) is None:
            raise InputError(f"data must have rows, got none in {self.name!r}.")

    def blocks(self, names: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        """Yield the rows in order, block by block, as texts."""
        chosen = chosen_names(names, self.names)
        # No names would mean all of them to Arrow.
        size = block_bytes(len(self.names))
        for batches in _grouped(self._batches(chosen or self.names[:1]), size):
            frame = frame_of_batch(pa.Table.from_batches(batches).combine_chunks())
            yield frame if chosen else frame[[]]

    def _batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of some columns, in pieces of the file."""
        # In UTF-8, characters of other encodings may have twice as many bytes.
        longest = 2 * self._file.lines.longest + 2
        size = max(PIECE_BYTES, PIECE_BYTES_PER_COLUMN * len(self.names), longest)
        size = min(size, LARGEST_PIECE)
        with self._file.utf8() as file:
            try:
                for batch in arrow_csv.open_csv(
                    file,
                    # The first row is that of the names.
                    read_options=arrow_csv.ReadOptions(
                        column_names=self.names, skip_rows_after_names=1, block_size=size
                    ),
                    parse_options=arrow_csv.ParseOptions(
                        delimiter=self._separator, newlines_in_values=True
                    ),
                    convert_options=arrow_csv.ConvertOptions(
                        column_types=dict.fromkeys(self.names, pa.large_string()),
                        include_columns=names,
                        strings_can_be_null=True,
                        null_values=self._missing,
                    ),
                ):
                    if batch.num_rows:
                        yield batch
            except pa.ArrowInvalid as error:
                self._check_lines()
                why = str(error)
                if _TOO_LONG in why:
                    why = (
                        f"a row of more than {size:,} bytes: leave out the column with the longest "
                        "texts, or save the table as Parquet"
                    )
                raise InputError(
                    f"data must be a readable table, got {self.name!r}: {why}."
                ) from None

    def _found_separator(self, separator: str | None) -> str:
        if separator is None:
            with self._file.characters() as lines:
                first = list(islice((line for line in lines if line.strip()), _FIRST_LINES))
            return _found_separator(first)
        separator = _SPELLED.get(separator, separator)
        if len(separator) != 1 or not separator.isascii() or separator in '\r\n"':
            raise InputError(
                f"--separator must be one character, such as ';' or 'tab', got {separator!r}."
            )
        return separator

    def _read_names(self) -> list[str]:
        with self._file.characters() as lines:
            header = _first_fields(lines, self._separator)
        names = [name.strip() for name in header]
        if not any(names):
            raise InputError(
                f"data must begin with the names of its columns, got none in {self.name!r}."
            )
        blank = [place for place, name in enumerate(names) if not name]
        for place in blank:
            names[place] = f"column {place + 1}" if place else f"{NO_NAME}0"
        self.notes += [f"column {place + 1} has no name." for place in blank if place]
        return checked_names(names)

    def _check_quotes(self) -> None:
        """Raise an error if a quote is never closed; the rest of the file would be one cell."""
        if self._file.lines.n_quotes % 2:
            self._check_lines()

    def _check_lines(self) -> None:
        """Raise an error that names the first line that cannot be read, if there is one."""
        with self._file.characters() as lines:
            _check_fields(lines, self._separator)


def _grouped(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[list[pa.RecordBatch]]:
    """Yield batches together that make a block of so many bytes."""
    group: list[pa.RecordBatch] = []
    n_bytes = 0
    for batch in batches:
        group.append(batch)
        n_bytes += batch.nbytes
        if n_bytes >= size:
            yield group
            group, n_bytes = [], 0
    if group:
        yield group


def _found_separator(lines: Sequence[str]) -> str:
    """Return the separator with which the first lines have the same number of fields, and most.

    If there is none, it is the one with the most fields in the first line, or else the comma.

    Parameters
    ----------
    lines : sequence of str
        The first lines of the file, without blank ones.
    """

    def rank(separator: str) -> tuple[bool, int]:
        counts = _numbers_of_fields(lines, separator)
        # The last line may end within quotes.
        whole = counts[:-1] or counts
        return whole[0] > 1 and len(set(whole)) == 1, whole[0]

    return max(_SEPARATORS, key=rank)


def _numbers_of_fields(lines: Sequence[str], separator: str) -> list[int]:
    """Return how many fields each line has; [0] if the lines cannot be split so."""
    try:
        return [len(fields) for fields in csv.reader(lines, delimiter=separator)] or [0]
    except csv.Error:
        return [0]


def _first_fields(lines: Iterable[str], separator: str) -> list[str]:
    """Return the fields of the first line that is not blank, which may go on over several lines."""
    try:
        return next(filter(None, csv.reader(lines, delimiter=separator)), [])
    except csv.Error as error:
        raise InputError(f"the names of the columns must be valid CSV, got: {error}.") from None


def _check_fields(lines: Iterable[str], separator: str) -> None:
    """Raise an error that names the first line with more or fewer fields than the first line.

    Parameters
    ----------
    lines : iterable of str
    separator : str
    """
    reader = csv.reader(lines, delimiter=separator, strict=True)
    n_fields = 0
    try:
        for fields in filter(None, reader):
            n_fields = n_fields or len(fields)
            if len(fields) != n_fields:
                raise InputError(
                    f"line {reader.line_num} must have {n_fields} fields, as the first line, "
                    f"got {len(fields)}: correct the line, or see --separator."
                )
    except csv.Error as error:
        raise InputError(f"line {reader.line_num} must be valid CSV, got: {error}.") from None
