"""How many rows are held out for a certificate, and how many are learned from."""

import math
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_HELD_OUT", "Share", "n_held_out", "n_learned"]

USUAL_SHARE = 0.2
# More rows held out would make the bound on an error little tighter.
MOST_HELD_OUT = 10_000

Share: TypeAlias = float | Literal[True]
"""Which share of the rows to hold out. True leaves it to the library."""


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
        return min(math.ceil(USUAL_SHARE * n_rows), MOST_HELD_OUT)
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
