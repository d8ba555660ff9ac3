r"""A trained model folded into the user's columns, so that predictions need no codes.

Units, centres and codes are linear or piecewise linear in each column. So the phases and the linear
part are, too:

.. math:: z_r(x) = c_r + \sum_j v_{jr} x_j + \sum_{j\ \mathrm{coded}} T_{jr}(x_j) ,

where :math:`T_{jr}` interpolates a table of values at the knots of column j. A row then costs two
rows of a table per coded column, instead of a product with all its codes.
"""

from typing import NamedTuple

import numpy as np

from pacfourier.arrays import FloatArray, IntArray
from pacfourier.core.boosting.columns import CODE_UNIT, Columns
from pacfourier.core.boosting.cosine_model import CosineModel

__all__ = ["FoldedModel", "folded_model"]


class FoldedModel(NamedTuple):
    """What predictions need, for D frequencies, K outputs and d columns.

    Attributes
    ----------
    centres : array of shape (d,)
        Subtracted first, so that no digits are lost in columns far from zero.
    weights : array of shape (d, D + K)
        For the phases, in turns, and for the linear part of the scores.
    constants : array of shape (D + K,)
    coded : array of shape (n_coded,)
        The columns that have knots.
    starts : array of shape (n_coded + 1,)
        Where the knots of each coded column start.
    knots : array of shape (n_knots,)
    tables : array of shape (n_knots, D + K)
        Values at the knots.
    amplitudes : array of shape (2 D, K)
        Of the cosines, then of the sines.
    """

    centres: FloatArray
    weights: FloatArray
    constants: FloatArray
    coded: IntArray
    starts: IntArray
    knots: FloatArray
    tables: FloatArray
    amplitudes: FloatArray

    def astype(self, dtype: type) -> "FoldedModel":
        """Return the model in another precision."""
        parts = self._asdict()
        whole = ("coded", "starts")
        return FoldedModel(**{n: p if n in whole else p.astype(dtype) for n, p in parts.items()})


def folded_model(model: CosineModel, columns: Columns) -> FoldedModel:
    """Return the model in the user's columns. Sparse samples and their models are not folded."""
    # In double precision before the division, or the turns would be rounded to single.
    turns = model.frequencies.T.astype(np.float64) / (2 * np.pi)
    inner = np.hstack([turns, model.linear.astype(np.float64)])
    n_frequencies, n_columns = len(model.frequencies), len(columns.units)
    centres = columns.centres[:n_columns] * np.where(np.isfinite(columns.units), columns.units, 0.0)
    constants = np.concatenate([np.zeros(n_frequencies), model.intercepts.astype(np.float64)])
    constants -= columns.centres[n_columns:] @ inner[n_columns:]
    sizes = [len(knots) for knots in columns.knots.values()]
    pieces = np.split(inner[n_columns:], np.cumsum(np.array(sizes, dtype=int) - 1)[:-1])
    tables = [interpolation_table(piece) for piece in pieces if len(sizes)]
    return FoldedModel(
        centres,
        inner[:n_columns] / columns.units[:, np.newaxis],
        constants,
        np.array(list(columns.knots), dtype=np.intp),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp),
        np.concatenate([np.zeros(0), *columns.knots.values()]),
        np.vstack([np.zeros((0, inner.shape[1])), *tables]),
        np.vstack([model.cosines, model.sines]).astype(np.float64),
    )


def interpolation_table(weights: FloatArray) -> FloatArray:
    r"""Return the values at the knots of a weighted sum of the codes of one column.

    .. math:: T(t_k) = u \sum_{i \le k} w_i , \qquad T(t_0) = 0 ,

    with the unit u of the codes, because at knot k the first k codes are one and the others zero.
    """
    steps = CODE_UNIT * np.cumsum(weights, axis=0)
    return np.vstack([np.zeros((1, weights.shape[1])), steps])
