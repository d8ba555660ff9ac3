"""The rows that a model is learned from, and those held out, read from a table in two passes.

The first pass gives every row a random number and keeps a random sample. The rows with the smallest
numbers are held out. What columns hold and how they are encoded is decided on the others only. The
second pass turns rows into numbers block by block, so the text of a large file is never in memory
as a whole.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray
from pacfourier.core.alignment.summary import SampleSummary
from pacfourier.errors import InputError, listed
from pacfourier.estimators.certify_predictions import row_summary
from pacfourier.estimators.fourier_predictor import MOST_HELD_OUT
from pacfourier.tabular.columns import Columns, Strays, decided_columns, stray_notes
from pacfourier.tabular.encoding import Encoding, learned_encoding
from pacfourier.tabular.table_blocks import Table
from pacfourier.tabular.table_target import TableTarget, check_target_column, decided_target

# Columns are described by at most so many rows.
MOST_DESCRIBING = 20_000
# At most so many numbers are learned from (400 MB in single precision): more rows are thinned.
MOST_NUMBERS = 100_000_000
FEWEST_ROWS = 20
SALT = 5_770_215_664
# What stands for a gap when rows are compared: a number that hardly any table holds.
GAP = -(2.0**49) - 0.5

# A function that is told which share of the table has been read.
Advance = Callable[[float], None]


class Draws(NamedTuple):
    """The random numbers of some rows: which are held out, and which are thinned or sampled."""

    splits: FloatArray
    samples: FloatArray


class Survey(NamedTuple):
    """What the first pass found: the random numbers of all rows, and a random sample of them."""

    splits: FloatArray
    sample: pd.DataFrame
    sample_splits: FloatArray


@dataclass(frozen=True)
class Division:
    """How rows are divided.

    Attributes
    ----------
    target : str
        Name of the target.
    share : float
        Share of the rows, or of the groups, to hold out.
    group : str or None
        Name of the column whose values are groups. A group is held out as a whole.
    types : mapping of str to str
        What the user says that columns hold.
    seed : int
    """

    target: str
    share: float = 0.2
    group: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0

    def drawn_blocks(self, table: Table) -> Iterator[tuple[pd.DataFrame, Draws]]:
        """Yield the blocks of a table with the random numbers of their rows, always the same."""
        # One generator each, so that the numbers of a row do not depend on the sizes of blocks.
        # With a number of our own, so that no table that others drew from this seed has them, too.
        first, second = (np.random.default_rng([SALT, self.seed, part]) for part in range(2))
        for block in table.blocks():
            splits: FloatArray = first.random(len(block))
            samples = second.random(len(block))
            if self.group is not None:
                splits = group_numbers(block[self.group], splits, self.seed)
            yield block, Draws(splits, samples)


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


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """All that a fit reads from a table.

    Attributes
    ----------
    target : TableTarget
    columns : Columns
    encoding : Encoding
    learned, held_out : LabelledRows
    frame : DataFrame
        The rows held out, before they are encoded.
    learned_summary : SampleSummary
        What the learned rows are, to find copies of them.
    counts : dict of str to int
        Numbers of rows: "read", "without label", "learned" and "held out".
    notes : list of str
    """

    target: TableTarget
    columns: Columns
    encoding: Encoding
    learned: LabelledRows
    held_out: LabelledRows
    frame: pd.DataFrame
    learned_summary: SampleSummary
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
    survey = surveyed(table, division, lambda share: advance(share / 2))
    limit = split_limit(survey.splits, division.share)
    learned = survey.sample[survey.sample_splits > limit]
    target = decided_target(learned, division.target, division.types.get(division.target))
    columns = described(learned, division)
    inputs = columns.typed(learned)
    kinds = {column.name: column.kind for column in columns.used}
    encoding = learned_encoding(inputs, kinds, division.seed)
    rate = MOST_NUMBERS / max(1, len(survey.splits) * len(encoding.names))
    reader = Reader(target, columns, encoding, limit, rate)
    n_rows = len(survey.splits)
    for block, draws in division.drawn_blocks(table):
        reader.read(block, draws)
        advance(0.5 + reader.n_read / n_rows / 2)
    notes = [*table.notes, *omissions(columns), *reader.notes()]
    # Arrow keeps the memory of blocks for later ones.
    pa.default_memory_pool().release_unused()
    return reader.finished(notes)


def check_columns(table: Table, division: Division) -> None:
    """Raise an error if a column that the user names is not in the table."""
    check_target_column(division.target, table.names)
    if division.group is not None and division.group not in table.names:
        raise InputError(
            f"--group must be one of the columns {listed(table.names)}, got {division.group!r}."
        )
    if division.group == division.target:
        raise InputError(f"--group must differ from the target, got {division.group!r} for both.")


def surveyed(table: Table, division: Division, advance: Advance) -> Survey:
    """Read a table once: draw the numbers of its rows, and keep a random sample of them."""
    splits: list[FloatArray] = []
    kept: list[pd.DataFrame] = []
    keys: FloatArray = np.zeros((2, 0))
    n_bytes = 0
    for block, draws in division.drawn_blocks(table):
        splits.append(draws.splits)
        kept.append(block)
        keys = np.hstack([keys, draws])
        if keys.shape[1] > 2 * MOST_DESCRIBING:
            kept, keys = thinned(kept, keys)
        n_bytes += int(block.memory_usage(index=False).sum())
        advance(min(1.0, n_bytes / max(1, table.n_bytes)))
    kept, keys = thinned(kept, keys)
    n_rows = sum(map(len, splits))
    if n_rows < FEWEST_ROWS:
        raise InputError(f"data must have {FEWEST_ROWS} rows or more, got {n_rows}.")
    return Survey(np.concatenate(splits), kept[0], keys[0])


def thinned(blocks: list[pd.DataFrame], keys: FloatArray) -> tuple[list[pd.DataFrame], FloatArray]:
    """Return a random sample of the rows of some blocks, in the order of the table."""
    frame = pd.concat(blocks, ignore_index=True)
    chosen = np.sort(np.argsort(keys[1], kind="stable")[:MOST_DESCRIBING])
    return [frame.iloc[chosen]], keys[:, chosen]


def split_limit(splits: FloatArray, share: float) -> float:
    """Return the random number up to which rows are held out.

    Rows of a group have one number, so whole groups are held out. More than some thousand rows, or
    groups, would make no bound much tighter.
    """
    numbers = np.unique(splits)
    size = min(int(np.ceil(share * len(numbers))), MOST_HELD_OUT)
    if not 0 < size < len(numbers):
        raise InputError(
            f"--certify must leave rows or groups to learn from, got {share:g} of {len(numbers)}."
        )
    return float(numbers[size - 1])


def group_numbers(groups: pd.Series, alone: FloatArray, seed: int) -> FloatArray:
    """Return a random number in (0, 1) per group, the same in every block.

    A row without a group is a group of its own, and keeps the number in ``alone``.
    """
    names, codes = np.unique(
        groups.astype(object).map(str, na_action="ignore").fillna(""), return_inverse=True
    )
    key = str(seed).encode()
    hashes = [blake2b(name.encode(), key=key, digest_size=8).digest() for name in names]
    numbers = np.array([(int.from_bytes(each) + 0.5) / 2.0**64 for each in hashes])
    return np.where(groups.isna(), alone, numbers[codes])


def described(learned: pd.DataFrame, division: Division) -> Columns:
    """Decide what the columns of learned rows hold. The target and the groups are no inputs."""
    apart = {division.target, division.group}
    types = {name: kind for name, kind in division.types.items() if name not in apart}
    columns = decided_columns(learned.drop(columns=[name for name in apart if name]), types)
    if not columns.used:
        raise InputError(
            "data must have a column to learn from besides the target, got none: "
            f"{' '.join(omissions(columns)) or 'the target is the only column.'}"
        )
    return columns


def omissions(columns: Columns) -> list[str]:
    """Return one note per column that is left out."""
    return [f"column {name!r} is left out: {why}." for name, why in columns.left_out.items()]


class Reader:
    """Collects the rows of the second pass as numbers.

    Parameters
    ----------
    target : TableTarget
    columns : Columns
    encoding : Encoding
    limit : float
        Rows whose random number is at most this are held out.
    rate : float
        Share of the learned rows to keep; all of them if it is one or more.
    """

    def __init__(
        self,
        target: TableTarget,
        columns: Columns,
        encoding: Encoding,
        limit: float,
        rate: float,
    ) -> None:
        self.target, self.columns, self.encoding = target, columns, encoding
        self.limit, self.rate = limit, rate
        self.n_read = self.n_present = 0
        self.strays = Strays()
        self.frames: list[pd.DataFrame] = []
        self.learned: list[LabelledRows] = []
        self.held_out: list[LabelledRows] = []
        self.summary: SampleSummary | None = None

    def read(self, block: pd.DataFrame, draws: Draws) -> None:
        """Add the rows of a block."""
        labels = self.target.labels(block)
        self.n_read += len(block)
        self.n_present += int(labels.is_present.sum())
        typed, strays = self.columns.read(block)
        self.strays.update(strays)
        is_held_out = draws.splits <= self.limit
        for part, is_part in (
            (self.held_out, is_held_out & labels.is_present),
            (self.learned, ~is_held_out & labels.is_present & (draws.samples < self.rate)),
        ):
            frame = typed[is_part]
            X, y = self.encoding.encoded(frame), labels.values[is_part]
            part.append(LabelledRows(X, y, draws.samples[is_part], draws.splits[is_part]))
            if part is self.held_out:
                self.frames.append(frame)
            elif len(y):
                found = frame_summary(frame, y)
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
        learned, held_out = joined(self.learned), joined(self.held_out)
        check_parts(self.target, learned, held_out)
        assert self.summary is not None
        counts = {
            "read": self.n_read,
            "without label": self.n_read - self.n_present,
            "learned": len(learned.y),
            "held out": len(held_out.y),
        }
        frame = pd.concat(self.frames, ignore_index=True)
        parts = (learned, held_out, frame, self.summary)
        return TrainingRows(self.target, self.columns, self.encoding, *parts, counts, notes)


def unlabelled_notes(counted: Mapping[str, int], target: str) -> list[str]:
    """Return a note on rows without a label, if there are some."""
    if not counted["without label"]:
        return []
    return [
        f"{counted['without label']:,} of {counted['rows']:,} rows have no value of {target!r} and "
        "are left out."
    ]


def joined(parts: list[LabelledRows]) -> LabelledRows:
    """Return the rows of all blocks. The list is emptied on the way, to save memory."""
    y, samples, groups = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("y", "samples", "groups")
    )
    X = np.empty((len(y), parts[0].X.shape[1]), dtype=np.float32)
    start = 0
    while parts:
        block = parts.pop(0).X
        X[start : start + len(block)] = block
        start += len(block)
    return LabelledRows(X, y, samples, groups)


def check_parts(target: TableTarget, learned: LabelledRows, held_out: LabelledRows) -> None:
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
    return row_summary(comparable(frame), y)


def comparable(frame: pd.DataFrame) -> NDArray[np.float64]:
    """Return rows as numbers that are equal if, and practically only if, the rows are equal."""
    table = np.empty(frame.shape)
    for place, name in enumerate(frame.columns):
        column = frame[name]
        if column.dtype.kind == "f":
            table[:, place] = column
        else:
            # 48 bits, which doubles hold without rounding.
            hashes = pd.util.hash_array(np.asarray(column.astype(object)), categorize=True)
            table[:, place] = hashes >> np.uint64(16)
        table[column.isna().to_numpy(), place] = GAP
    return table
