"""The first pass over a table: random numbers that divide its rows, and a sample of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import pandas as pd

from pacfourier.arrays import FloatArray
from pacfourier.data.holdout import Share, n_held_out, n_learned
from pacfourier.errors import InputError, listed
from pacfourier.tabular.reading.table_blocks import Advance, Table, advancing_blocks
from pacfourier.tabular.table_target import check_target_column

# Columns are described by at most so many rows, and by fewer if there are many columns: then the
# rows have about so many cells, but are at least a thousand.
MOST_DESCRIBING, CELLS_DESCRIBING, FEWEST_DESCRIBING = 20_000, 20_000_000, 1000
# The sample is cut to its size whenever it is larger by this factor.
_SLACK = 1.25
FEWEST_ROWS = 20
_SALT = 5_770_215_664


class Draws(NamedTuple):
    """The random numbers of some rows: which are held out, and which are thinned or sampled."""

    splits: FloatArray
    samples: FloatArray


class _FirstPass(NamedTuple):
    """What the first pass found: the random numbers of all rows, and a random sample of them."""

    draws: Draws
    sample: pd.DataFrame
    sample_splits: FloatArray


@dataclass(frozen=True)
class Division:
    """How rows are divided.

    Attributes
    ----------
    target : str
        Name of the target.
    share : float or True
        Share of the rows, or of the groups, to hold out, as in ``n_held_out``.
    group : str or None
        Name of the column whose values are groups. A group is held out as a whole.
    types : mapping of str to str
        What the user says that columns hold.
    seed : int
    """

    target: str
    share: Share = True
    group: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0

    def drawn_blocks(self, table: Table, advance: Advance) -> Iterator[tuple[pd.DataFrame, Draws]]:
        """Yield the blocks of a table with the random numbers of their rows, always the same."""
        # One generator each, so that the numbers of a row do not depend on the sizes of blocks.
        # With a number of our own, so that no table that others drew from this seed has them, too.
        first, second = (np.random.default_rng([_SALT, self.seed, part]) for part in range(2))
        for block in advancing_blocks(table, advance):
            splits: FloatArray = first.random(len(block))
            samples = second.random(len(block))
            if self.group is not None:
                splits = group_numbers(block[self.group], splits, self.seed)
            yield block, Draws(splits, samples)


def check_columns(table: Table, division: Division) -> None:
    """Raise an error if a column that the user names is not in the table."""
    check_target_column(division.target, table.names)
    if division.group is not None and division.group not in table.names:
        raise InputError(
            f"--group must be one of the columns {listed(table.names)}, got {division.group!r}."
        )
    if division.group == division.target:
        raise InputError(f"--group must differ from the target, got {division.group!r} for both.")


def surveyed(table: Table, division: Division, advance: Advance) -> _FirstPass:
    """Read a table once: draw the numbers of its rows, and keep a random sample of them."""
    most = CELLS_DESCRIBING // len(table.names)
    sample = _RowSample(int(np.clip(most, FEWEST_DESCRIBING, MOST_DESCRIBING)))
    drawn: list[Draws] = []
    for block, draws in division.drawn_blocks(table, advance):
        drawn.append(draws)
        sample.add(block, draws)
    all_draws = Draws(*map(np.concatenate, zip(*drawn, strict=True)))
    n_rows = len(all_draws.splits)
    if n_rows < FEWEST_ROWS:
        raise InputError(f"data must have {FEWEST_ROWS} rows or more, got {n_rows}.")
    return _FirstPass(all_draws, *sample.finished())


class _RowSample:
    """A random sample of the rows of all blocks: those with the smallest random numbers.

    Parameters
    ----------
    size : int
        How many rows to keep.
    """

    def __init__(self, size: int) -> None:
        self.size, self.limit = size, np.inf
        self.blocks: list[pd.DataFrame] = []
        self.draws = Draws(np.zeros(0), np.zeros(0))

    def add(self, block: pd.DataFrame, draws: Draws) -> None:
        """Add the rows of a block that may be in the sample."""
        is_small = draws.samples < self.limit
        self.blocks.append(block[is_small])
        self.draws = Draws(*map(np.append, self.draws, (each[is_small] for each in draws)))
        if len(self.draws.samples) > _SLACK * self.size:
            self._cut()

    def _cut(self) -> None:
        frame = pd.concat(self.blocks, ignore_index=True)
        chosen = np.sort(np.argsort(self.draws.samples, kind="stable")[: self.size])
        self.blocks, self.draws = [frame.iloc[chosen]], Draws(*(x[chosen] for x in self.draws))
        if len(chosen) == self.size:
            self.limit = self.draws.samples.max()

    def finished(self) -> tuple[pd.DataFrame, FloatArray]:
        """Return the sample in the order of the table, and the numbers that split it."""
        self._cut()
        return self.blocks[0], self.draws.splits


def split_limit(splits: FloatArray, share: Share) -> float:
    """Return the random number up to which rows are held out.

    Rows of a group have one number, so whole groups are held out.
    """
    numbers = np.unique(splits)
    size = n_held_out(share, len(numbers))
    if not 0 < size < len(numbers):
        raise InputError(
            "--certify must leave rows or groups to learn from, got "
            f"{size} of {len(numbers)} to hold out."
        )
    return float(numbers[size - 1])


def limit_for_two_labels(limit: float, splits: FloatArray, labels: pd.Series) -> float:
    """Return the limit, or a smaller one, so that two labels are learned from (``n_learned``).

    Rows are learned from in the order of falling numbers. Rows without a label have no part in it.
    """
    order = np.argsort(-splits, kind="stable")
    order = order[labels.notna().to_numpy()[order]]
    least = int((splits[order] > limit).sum())
    if not len(order) or (n_rows := n_learned(labels.to_numpy()[order], least)) == least:
        return limit
    return float(np.nextafter(splits[order[n_rows - 1]], 0.0))


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
