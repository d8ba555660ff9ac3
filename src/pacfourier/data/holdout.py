"""Which rows are held out for a certificate, which are learned from, and what they stand for."""

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from pacfourier.arrays import FloatArray, IntArray, host
from pacfourier.data.samples import is_missing

_USUAL_SHARE = 0.2
# More rows held out would make the bound on an error little tighter.
_MOST_HELD_OUT = 10_000

Share: TypeAlias = float | Literal[True]
"""Which share of the rows to hold out. True leaves it to the library."""


@dataclass(frozen=True, eq=False)
class Kinship:
    """How rows are related: by groups, or by time. Without either they are independent draws.

    Attributes
    ----------
    groups : array of shape (n_rows,) or None
        The number of the group of each row.
    group : str or None
        What the groups are called.
    times : array of shape (n_rows,) or None
        When each row was taken.
    """

    groups: IntArray | None = None
    group: str | None = None
    times: NDArray[Any] | None = None

    def taken(self, rows: IntArray) -> Self:
        """Return how chosen rows are related."""
        groups, times = (None if each is None else each[rows] for each in (self.groups, self.times))
        return type(self)(groups, self.group, times)

    @property
    def period(self) -> str | None:
        """The first and the last time, in words. None if the rows have no times."""
        if self.times is None:
            return None
        return f"from {_shown_time(self.times.min())} to {_shown_time(self.times.max())}"


class _SplitRows(NamedTuple):
    """The places of the rows to learn from, and of those that certify, in increasing order."""

    learned: IntArray
    held_out: IntArray


def split_rows(
    n_rows: int,
    share: Share,
    rng: np.random.Generator,
    *,
    labels: NDArray[Any] | None = None,
    kinship: Kinship | None = None,
    fewest: int = 1,
) -> _SplitRows:
    r"""Return the rows to learn from and the rows that certify, without looking at their columns.

    Rows are put into an order: at random, groups at random, or by their time. The last ones are
    held out. Of each group that is held out, one random row certifies.

    *Why the bound is exact.* Let the rows be independent draws. In a random order they still are,
    and so are those after a stopping time (``n_learned``). Let the groups be independent draws, of
    any sizes. Then a random row of a random group has a law of its own, and one random row of each
    group held out are independent draws of it: no two of them share a group, nor has a group that
    is held out a row that was learned from. Of rows that are ordered by time, those of the last
    period are draws of the law of this period only, whatever was learned from earlier ones.

    Parameters
    ----------
    n_rows : int
    share : float or True
        Share of the rows, or of the groups, to hold out. Rows of equal time stay together, so a
        few more may be held out.
    rng : Generator
    labels : array of shape (n_rows,), default=None
        Classes, of which two are to be learned from.
    kinship : Kinship, default=None
        How the rows are related.
    fewest : int, default=1
        How many rows have to be held out.
    """
    kinship = Kinship() if kinship is None else kinship
    ranks, start = _unit_ranks(n_rows, share, rng, kinship)
    n_before = int((ranks < start).sum())
    if n_before < 2 or n_rows - n_before < fewest:
        raise ValueError(
            f"certify must leave at least 2 rows to learn from and {fewest} to hold out, got "
            f"{share!r} of {n_rows} rows{_units(kinship)}."
        )
    if labels is not None:
        start = _start_after_two_classes(ranks, labels, start)
    learned, held_out = np.flatnonzero(ranks < start), np.flatnonzero(ranks >= start)
    if kinship.groups is not None:
        samples = rng.random(len(held_out))
        held_out = held_out[one_of_each(kinship.groups[held_out], samples)]
    return _SplitRows(learned, held_out)


def _units(kinship: Kinship) -> str:
    """Return of how many groups or times rows are, in words."""
    if kinship.groups is not None:
        return f" in {len(np.unique(kinship.groups))} of {kinship.group!r}"
    return "" if kinship.times is None else f" at {len(np.unique(kinship.times))} times"


def _unit_ranks(
    n_rows: int, share: Share, rng: np.random.Generator, kinship: Kinship
) -> tuple[IntArray, int]:
    """Return the place of each row in the order of learning, and the first place held out.

    Rows of one group, and rows of equal time, have the same place.
    """
    if kinship.times is not None:
        ranks = np.unique(kinship.times, return_inverse=True)[1]
        return ranks, int(np.sort(ranks)[n_rows - n_held_out(share, n_rows)])
    units = np.arange(n_rows)
    if kinship.groups is not None:
        units = np.unique(kinship.groups, return_inverse=True)[1]
    n_units = int(units.max()) + 1
    ranks = np.argsort(rng.permutation(n_units)[::-1])[units]
    return ranks, n_units - n_held_out(share, n_units)


def _start_after_two_classes(ranks: IntArray, labels: NDArray[Any], start: int) -> int:
    """Return the first place to hold out, so that two classes are learned from (``n_learned``).

    The rows of one place stay together. It is the given one if nothing would be held out.
    """
    order = np.argsort(ranks, kind="stable")
    last = n_learned(labels[order], int((ranks < start).sum())) - 1
    moved = max(start, int(ranks[order[last]]) + 1)
    return moved if moved <= ranks.max() else start


def kinship_of(X: Any, groups: Any, time: Any) -> Kinship:
    """Return how the rows of X are related, from the arguments ``groups`` and ``time``.

    The name of a Series is the name of its groups.
    """
    if groups is not None and time is not None:
        raise ValueError("groups and time must not be given both, got two columns: choose one.")
    if groups is not None:
        name = getattr(groups, "name", None)
        values = _checked_column("groups", groups, X)
        if values.dtype == object:
            values = np.array([str(each) for each in values], dtype=object)
        numbers = np.unique(values, return_inverse=True)[1]
        return Kinship(numbers, name if name and isinstance(name, str) else "groups")
    if time is not None:
        values = _checked_column("time", time, X)
        if any(isinstance(each, str) for each in values[:1]):
            raise ValueError(
                f"time must hold numbers or dates, got text such as {values[0]!r}: convert it, for "
                "example by pandas.to_datetime."
            )
        return Kinship(times=values)
    return Kinship()


def _checked_column(name: str, values: Any, X: Any) -> NDArray[Any]:
    """Return an argument with one value per row as an array, if no value is missing."""
    column = np.asarray(host(values))
    if column.ndim != 1:
        raise ValueError(f"{name} must have one value per row, got the shape {column.shape}.")
    check_consistent_length(X, column)
    if any(map(is_missing, set(column.tolist()))):
        raise ValueError(f"{name} must have a value for each row, got gaps: fill them first.")
    return column


def _shown_time(value: Any) -> str:
    """Return a time as text, without a time of day if it is midnight."""
    if isinstance(value, np.datetime64):
        return str(np.datetime_as_string(value, unit="auto"))
    return str(value).removesuffix(" 00:00:00")


def check_share(share: Any) -> None:
    """Raise ValueError unless a share of rows is False, True or between 0 and 1."""
    is_share = isinstance(share, Real) and 0 < float(share) < 1
    if not isinstance(share, bool) and not is_share:
        raise ValueError(
            "certify must be False, True or the share of rows to hold out, between 0 and 1, got "
            f"{share!r}."
        )


def n_held_out(share: Share, n_rows: int) -> int:
    """Return how many rows to hold out: a given share as it is given, or a fifth, up to 10,000.

    Only the library's own choice has a limit. Someone who names a share may need its rows, for
    example to bound the recall of a rare class.

    Examples
    --------
    >>> n_held_out(True, 200), n_held_out(True, 200_000), n_held_out(0.3, 200_000)
    (40, 10000, 60000)
    """
    if share is True:
        return min(math.ceil(_USUAL_SHARE * n_rows), _MOST_HELD_OUT)
    return math.ceil(share * n_rows)


def n_learned(labels: NDArray[Any], least: int) -> int:
    r"""Return how many rows of a random order to learn from, so that two classes are among them.

    Learn from the first rows, at least ``least`` of them, and on until a second class was seen.
    All later rows are held out.

    *Why the bound stays exact.* Whether to go on depends on the rows before only, so the number
    :math:`T` is a stopping time. Given the first T of some independent draws, the others are still
    independent draws of the same law, whatever T is. So they are exchangeable with new rows.

    This would be false if classes were stratified, or if a class that occurs among the later rows
    only were moved to the learned ones: rows of rare classes would be missing where errors are
    counted. A class that was not learned from is therefore never predicted, and its rows count as
    errors, as they will later.

    Parameters
    ----------
    labels : array of shape (n_rows,)
        The classes of all rows, in their random order.
    least : int
        How many rows to learn from if they have two classes.

    Returns
    -------
    n_learned : int
        It is ``least`` if no row would be left: with one class, or if the second one comes last.

    Examples
    --------
    >>> n_learned(np.array(["no", "yes", "no", "no"]), 2)
    2
    >>> n_learned(np.array(["no", "no", "no", "yes", "no"]), 2)
    4
    """
    others = np.flatnonzero(labels[:-1] != labels[0])
    return max(least, int(others[0]) + 1) if len(others) else least


def one_of_each(groups: NDArray[Any], samples: FloatArray) -> NDArray[np.intp]:
    """Return the places of one random row of each group: the one with the smallest number.

    Rows of one group are not independent, but groups are. If there are no groups, all rows count.

    Parameters
    ----------
    groups : array of shape (n_rows,)
        Equal for rows of one group, and different for others.
    samples : array of shape (n_rows,)
        A random number per row.
    """
    order = np.lexsort((samples, groups))
    _, first = np.unique(groups[order], return_index=True)
    return np.sort(order[first])
