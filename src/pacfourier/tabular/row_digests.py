"""Recognise the rows of a fit as a whole, in any order, without a trace of any single row.

A file holds digests of whole tables only. Who has a table can tell whether it is the one of the
fit. Who has a single row learns nothing, unless they know all other rows, or so many that they can
try all tables that are left.
"""

import secrets
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pacfourier.core.alignment.summary import row_fingerprints
from pacfourier.model.plain_fields import PlainFields

# What stands for a gap when rows are compared: a number that hardly any table holds.
_GAP = -(2.0**49) - 0.5
# Hexadecimal digits of a digest and of the salt: 128 bits.
_DIGITS = 32
# Odd numbers, by which the halves of a sum are mixed.
_MIXERS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], dtype=np.uint64)


@dataclass(frozen=True)
class RowDigests:
    """Digests of the rows of a fit, of which none depends on their order.

    Attributes
    ----------
    salt : str
        Random digits, so that files of the same table have nothing in common.
    table, learned, held_out : str
        Of all rows with a label, of those that the model was learned from, and of those held out
        for its certificate.
    """

    salt: str
    table: str
    learned: str
    held_out: str

    @classmethod
    def of(cls, learned: NDArray[Any], held_out: NDArray[Any], left_out: NDArray[Any]) -> Self:
        """Return the digests of the parts of a table, given their ``row_sum``."""
        salt = secrets.token_hex(_DIGITS // 2)
        sums = (learned + held_out + left_out, learned, held_out)
        return cls(salt, *(_digest(total, salt) for total in sums))

    def part_of(self, total: NDArray[np.uint64]) -> str | None:
        """Return "table", "learned" or "held_out" if rows of this sum are these rows, else None."""
        found = _digest(total, self.salt)
        parts = {self.held_out: "held_out", self.learned: "learned", self.table: "table"}
        return parts.get(found)

    def to_data(self) -> dict[str, Any]:
        """Return the digests as plain data."""
        return vars(self).copy()

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """Return the digests in plain data that was read from a file, after checks."""
        fields, found = PlainFields(data, "row digests"), {}
        for name in ("salt", "table", "learned", "held_out"):
            found[name] = value = fields.text(name)
            is_right = len(value) == _DIGITS and set(value) <= set("0123456789abcdef")
            fields.require(is_right, name, f"be {_DIGITS} hexadecimal digits", value)
        return cls(**found)


def row_sum(rows: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.uint64]:
    r"""Return the number of rows, and a sum over them that does not depend on their order.

    With the fingerprint :math:`f_i` of a row, the sum modulo :math:`2^{64}` is

    .. math:: s_c = \sum_i m_c(f_i), \qquad
              m_c(f) = g \oplus \lfloor g / 2^{32} \rfloor, \quad
              g = c \, (f \oplus \lfloor f / 2^{32} \rfloor),

    for two odd numbers c. Without the mixing m, tables that have the same columns in another
    pairing would have the same sum. Sums of parts add up to that of the whole.

    Parameters
    ----------
    rows : array of shape (n_rows, n_columns)
        What ``comparable`` returns.
    y : array of shape (n_rows,)
        The label of each row.

    Returns
    -------
    total : array of shape (3,)
    """
    labels = comparable(pd.DataFrame({"label": y}))
    prints, half = row_fingerprints(np.hstack([rows, labels])), np.uint64(32)
    mixed = np.multiply.outer(_MIXERS, prints ^ (prints >> half))
    sums = (mixed ^ (mixed >> half)).sum(axis=1, dtype=np.uint64)
    return np.append(np.uint64(len(rows)), sums)


def _digest(total: NDArray[np.uint64], salt: str) -> str:
    """Return what a file holds of a sum: a sum itself would tell more than which table it is of.

    From a sum, and a list of some dozens of rows, others could find out which of these it is over.
    """
    return blake2b(total.tobytes(), key=bytes.fromhex(salt), digest_size=_DIGITS // 2).hexdigest()


def comparable(frame: pd.DataFrame) -> NDArray[np.float64]:
    """Return rows as numbers that are equal if, and practically only if, the rows are equal."""
    is_number = np.array([dtype.kind == "f" for dtype in frame.dtypes])
    table = np.empty(frame.shape)
    table[:, is_number] = frame.loc[:, is_number].to_numpy(dtype=np.float64)
    table[np.isnan(table)] = _GAP
    for place in np.flatnonzero(~is_number):
        column = frame.iloc[:, place]
        # 48 bits, which doubles hold without rounding.
        hashes = pd.util.hash_array(np.asarray(column.astype(object)), categorize=True)
        table[:, place] = np.where(column.isna(), _GAP, hashes >> np.uint64(16))
    return table
