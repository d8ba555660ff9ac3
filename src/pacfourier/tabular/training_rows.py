"""The rows that a model is learned from, and those held out, read from a table in two passes.

The first pass gives every row a random number and keeps a random sample. The rows with the smallest
numbers are held out. What columns hold and how they are encoded is decided on the others only. The
second pass turns rows into numbers block by block, so the text of a large file is never in memory
as a whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray
from pacfourier.core.alignment.summary import SampleSummary
from pacfourier.errors import InputError, listed
from pacfourier.estimators.prediction_certificates import row_summary
from pacfourier.tabular.columns import Strays, TableColumns, decided_columns, stray_notes
from pacfourier.tabular.encoding import Encoding, learned_encoding
from pacfourier.tabular.first_pass import (
    FEWEST_ROWS,
    Division,
    Draws,
    check_columns,
    limit_for_two_labels,
    split_limit,
    surveyed,
)
from pacfourier.tabular.reading.table_blocks import Advance, Table
from pacfourier.tabular.row_digests import comparable, row_sum
from pacfourier.tabular.table_target import TableTarget, class_names, decided_target

# At most so many numbers are learned from (400 MB in single precision): more rows are thinned.
_MOST_NUMBERS = 100_000_000


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows as numbers, with their labels.

    Attributes
    ----------
    X : array of shape (n_rows, n_encoded)
    y : array of shape (n_rows,)
    samples : array of shape (n_rows,)
        A random number per row.
    groups : array of shape (n_rows,)
        Equal for rows of one group, and different for others.
    """

    X: NDArray[np.float32]
    y: NDArray[Any]
    samples: FloatArray
    groups: FloatArray

    def joined(self, other: Self) -> Self:
        """Return these rows and others."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return type(self)(*map(np.concatenate, pairs))

    def moved(self, offsets: FloatArray) -> Self:
        """Return these rows with offsets added to the columns.

        The sums are rounded once, so encoded rows become the numbers of the table, rounded.
        """
        X = np.empty_like(self.X)
        np.add(self.X, offsets, out=X, dtype=np.float64, casting="unsafe")
        return replace(self, X=X)


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """All that a fit reads from a table.

    Attributes
    ----------
    target : TableTarget
    columns : TableColumns
    encoding : Encoding
    learned, held_out : LabelledRows
    frame : DataFrame
        The rows held out, before they are encoded.
    learned_summary : SampleSummary
        What the learned rows are, to find copies of them.
    sums : array of shape (3, 3)
        The ``row_sum`` of the learned rows, of those held out, and of others with a label.
    counts : dict of str to int
        Numbers of rows: "read", "without label", "learned" and "held out".
    notes : list of str
    """

    target: TableTarget
    columns: TableColumns
    encoding: Encoding
    learned: LabelledRows
    held_out: LabelledRows
    frame: pd.DataFrame
    learned_summary: SampleSummary
    sums: NDArray[np.uint64]
    counts: dict[str, int]
    notes: list[str]


def training_rows(table: Table, division: Division, advance: Advance) -> TrainingRows:
    """Read a table in two passes, and divide its rows.

    Parameters
    ----------
    table : Table
    division : Division
    advance : function of a float
        It is told which share of both passes is done.
    """
    check_columns(table, division)
    reader = _prepared_reader(table, division, lambda share: advance(share / 2))
    # Arrow keeps memory that is free for later blocks: here that of the sample.
    pa.default_memory_pool().release_unused()
    for block, draws in division.drawn_blocks(table, lambda share: advance(0.5 + share / 2)):
        reader.read(block, draws)
    notes = [*table.notes, *_omissions(reader.columns), *reader.notes()]
    pa.default_memory_pool().release_unused()
    return reader.finished(notes)


def _prepared_reader(table: Table, division: Division, advance: Advance) -> "_Reader":
    """Make the first pass, and decide from it how to read the rows in the second one."""
    draws, sample, sample_splits = surveyed(table, division, advance)
    limit = split_limit(draws.splits, division.share)
    limit = limit_for_two_labels(limit, sample_splits, class_names(sample[division.target]))
    learned = sample[sample_splits > limit]
    target = decided_target(learned, division.target, division.types.get(division.target))
    columns = _described(learned, division)
    kinds = {column.name: column.kind for column in columns.used}
    encoding = learned_encoding(columns.typed(learned), kinds, division.seed)
    return _Reader(target, columns, encoding, draws, limit)


def _described(learned: pd.DataFrame, division: Division) -> TableColumns:
    """Decide what the columns of learned rows hold. The target and the groups are no inputs."""
    apart = {division.target, division.group}
    types = {name: kind for name, kind in division.types.items() if name not in apart}
    columns = decided_columns(learned.drop(columns=[name for name in apart if name]), types)
    if not columns.used:
        raise InputError(
            "data must have a column to learn from besides the target, got none: "
            f"{' '.join(_omissions(columns)) or 'the target is the only column.'}"
        )
    return columns


def _omissions(columns: TableColumns) -> list[str]:
    """Return one note per column that is left out."""
    return [f"column {name!r} is left out: {why}." for name, why in columns.left_out.items()]


class _RowStore:
    """Labelled rows that are added block by block, to arrays that are made once.

    A list of blocks that is joined at the end would need twice the memory.

    Parameters
    ----------
    n_most, n_encoded : int
        The largest number of rows, and the number of columns.
    """

    def __init__(self, n_most: int, n_encoded: int) -> None:
        # The system provides memory only for rows that are written.
        self.X: NDArray[np.float32] = np.empty((n_most, n_encoded), dtype=np.float32)
        self.n_rows = 0
        self.others: list[tuple[NDArray[Any], ...]] = []

    def add(self, X: NDArray[np.float32], *others: NDArray[Any]) -> None:
        """Add rows, with their labels, random numbers and groups."""
        self.X[self.n_rows : self.n_rows + len(X)] = X
        self.n_rows += len(X)
        self.others.append(others)

    def finished(self) -> LabelledRows:
        """Return all rows."""
        others = map(np.concatenate, zip(*self.others, strict=True))
        return LabelledRows(self.X[: self.n_rows], *others)


class _Reader:
    """Collects the rows of the second pass as numbers.

    Parameters
    ----------
    target : TableTarget
    columns : TableColumns
    encoding : Encoding
    draws : Draws
        The random numbers of all rows.
    limit : float
        Rows whose first random number is at most this are held out.
    """

    def __init__(
        self,
        target: TableTarget,
        columns: TableColumns,
        encoding: Encoding,
        draws: Draws,
        limit: float,
    ) -> None:
        self.target, self.columns, self.encoding, self.limit = target, columns, encoding, limit
        n_encoded = len(encoding.names)
        # The share of the learned rows to keep; all of them if it is one or more.
        self.rate = _MOST_NUMBERS / max(1, len(draws.splits) * n_encoded)
        self.n_read = self.n_present = 0
        self.strays = Strays()
        self.frames: list[pd.DataFrame] = []
        parts = (self._is_learned(draws), self._is_held_out(draws))
        self.learned, self.held_out = (_RowStore(int(part.sum()), n_encoded) for part in parts)
        self.summary: SampleSummary | None = None
        self.sums = np.zeros((3, 3), dtype=np.uint64)

    def _is_held_out(self, draws: Draws) -> NDArray[np.bool_]:
        return draws.splits <= self.limit

    def _is_learned(self, draws: Draws) -> NDArray[np.bool_]:
        return (draws.splits > self.limit) & (draws.samples < self.rate)

    def read(self, block: pd.DataFrame, draws: Draws) -> None:
        """Add the rows of a block."""
        labels = self.target.labels(block)
        self.n_read += len(block)
        self.n_present += int(labels.is_present.sum())
        typed, strays = self.columns.read(block)
        self.strays.update(strays)
        is_learned, is_held_out = self._is_learned(draws), self._is_held_out(draws)
        is_left_out = ~(is_learned | is_held_out)
        for place, is_part in enumerate((is_learned, is_held_out, is_left_out)):
            is_chosen = is_part & labels.is_present
            frame, y = typed[is_chosen], labels.values[is_chosen]
            rows = comparable(frame)
            self.sums[place] += row_sum(rows, y)
            if is_part is is_left_out:
                continue
            numbers = (each[is_chosen] for each in (draws.samples, draws.splits))
            part = self.learned if is_part is is_learned else self.held_out
            part.add(self.encoding.encoded(frame), y, *numbers)
            if is_part is is_held_out:
                self.frames.append(frame)
            elif len(y):
                found = row_summary(rows, y, frame.columns)
                self.summary = found if self.summary is None else self.summary.merge(found)

    def notes(self) -> list[str]:
        """Return what the user should know about rows and cells that were not used."""
        notes = stray_notes(self.strays)
        counted = {"rows": self.n_read, "without label": self.n_read - self.n_present}
        notes += unlabelled_notes(counted, self.target.name)
        if self.rate < 1:
            notes.append(
                f"the table is large: the model is learned from a random {self.rate:.1%} of its "
                "rows."
            )
        return notes

    def finished(self, notes: list[str]) -> TrainingRows:
        """Return all rows that were read."""
        learned, held_out = self.learned.finished(), self.held_out.finished()
        _check_parts(self.target, learned, held_out)
        assert self.summary is not None
        counts = {
            "read": self.n_read,
            "without label": self.n_read - self.n_present,
            "learned": len(learned.y),
            "held out": len(held_out.y),
        }
        frame = pd.concat(self.frames, ignore_index=True)
        parts = (learned, held_out, frame, self.summary, self.sums)
        return TrainingRows(self.target, self.columns, self.encoding, *parts, counts, notes)


def unlabelled_notes(counted: Mapping[str, int], target: str) -> list[str]:
    """Return a note on rows without a label, if there are some."""
    if not counted["without label"]:
        return []
    return [
        f"{counted['without label']:,} of {counted['rows']:,} rows have no value of {target!r} and "
        "are left out."
    ]


def _check_parts(target: TableTarget, learned: LabelledRows, held_out: LabelledRows) -> None:
    """Raise an error if a part has too few labelled rows, or a single class."""
    if len(learned.y) < 2 or not len(held_out.y):
        raise InputError(
            f"data must have {FEWEST_ROWS} rows or more with a value of {target.name!r}, got "
            f"{len(learned.y) + len(held_out.y)}."
        )
    classes = np.unique(learned.y)
    if target.task == "classification" and len(classes) < 2:
        raise InputError(
            f"target {target.name!r} must have two classes or more among the learned rows, got "
            f"{listed(classes)} only: add rows of rare classes."
        )


def frame_summary(frame: pd.DataFrame, y: NDArray[Any]) -> SampleSummary:
    """Return what rows are, to find copies. Gaps count as values, and texts by a hash."""
    return row_summary(comparable(frame), y, frame.columns)
