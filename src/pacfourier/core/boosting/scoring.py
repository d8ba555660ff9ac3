r"""Scores of a trained model, for one row or for millions.

A folded model is first moved to an *origin* in each column, where the column adds nothing:

.. math:: z_r(x) = c_r + \sum_{j : x_j \ne o_j} v_{jr} (x_j - o_j) + T_{jr}(x_j) - T_{jr}(o_j) .

Most numbers of a table with categories are at their origin, and cost nothing. With one output, the
two waves of a frequency become one, :math:`a \cos t + b \sin t = r \cos(t - \varphi)`.
"""

from typing import NamedTuple

import numpy as np

from pacfourier.arrays import FloatArray, IntArray
from pacfourier.core.boosting.columns import Columns
from pacfourier.core.boosting.folded import FoldedModel
from pacfourier.core.threads import run_tasks

__all__ = ["ScoringModel", "row_scores", "scoring_model", "scoring_models"]

# Rows whose phases are computed at a time, so that they stay near the core.
SCORED_ROWS = 1024
# Rows of a task. It should take about a millisecond, because starting a thread takes a fifth of
# that. Rows of which most numbers are at their origins are quick.
ROWS_PER_TASK, QUICK_ROWS_PER_TASK = 4096, 8192
# So many rows tell how many numbers are at their origins. If these are all, no thread is started.
FEW_ROWS = 64
# A product with all numbers is faster if a larger share of them is not at its origin.
LARGEST_SHARE = 0.1


class ScoringModel(NamedTuple):
    """A folded model that was moved to the origins, for D frequencies, K outputs and d columns.

    Attributes
    ----------
    origins : array of shape (d,)
    constants : array of shape (D + K,)
        The phases, in turns, and the linear part of the scores at the origins.
    coded : array of shape (n_coded,)
        The columns that have knots.
    starts : array of shape (n_coded + 1,)
        Where the knots of each coded column start.
    knots : array of shape (n_knots,)
    terms : array of shape (d + n_knots, D + K)
        The slopes of all columns, and then the values at the knots, minus those at the origin.
    amplitudes : array of shape (D, 1), or (2 D, K) for several outputs
        Of the cosines, then of the sines. A single output needs no sines.
    """

    origins: FloatArray
    constants: FloatArray
    coded: IntArray
    starts: IntArray
    knots: FloatArray
    terms: FloatArray
    amplitudes: FloatArray

    def astype(self, dtype: type) -> "ScoringModel":
        """Return the model in another precision."""
        parts = self._asdict()
        whole = ("coded", "starts")
        return ScoringModel(**{n: p if n in whole else p.astype(dtype) for n, p in parts.items()})


def column_origins(columns: Columns) -> FloatArray:
    """Return a number near the mean of each column: zero, a whole number, or the mean itself.

    It lies within one unit of the mean, so that no digits are lost in columns far from zero.
    """
    units = np.where(np.isfinite(columns.units), columns.units, 0.0)
    means = columns.centres[: len(units)] * units
    origins = np.where(np.abs(np.rint(means) - means) <= units, np.rint(means), means)
    return np.where(np.abs(means) <= units, 0.0, origins)


def scoring_model(folded: FoldedModel, columns: Columns) -> ScoringModel:
    """Return a folded model, moved to the origins of its columns."""
    origins = column_origins(columns)
    constants = folded.constants + (origins - folded.centres) @ folded.weights
    tables = folded.tables.copy()
    for column, first, end in zip(folded.coded, folded.starts, folded.starts[1:], strict=False):
        part = slice(first, end)
        value = interpolated(origins[column], folded.knots[part], folded.tables[part])
        tables[part] -= value
        constants = constants + value
    amplitudes = folded.amplitudes
    if amplitudes.shape[1] == 1:
        cosines, sines = np.split(amplitudes, 2)
        constants[: len(cosines)] -= np.arctan2(sines, cosines)[:, 0] / (2 * np.pi)
        amplitudes = np.hypot(cosines, sines)
    terms = np.vstack([folded.weights, tables])
    # Compiled loops need contiguous rows.
    amplitudes = np.ascontiguousarray(amplitudes)
    return ScoringModel(origins, constants, *folded[3:6], terms, amplitudes)


def interpolated(x: float, knots: FloatArray, table: FloatArray) -> FloatArray:
    """Return the interpolated table at one number. Outside the knots it is constant."""
    shares = np.clip((x - knots[:-1]) / np.diff(knots), 0, 1)
    return np.asarray(table[0] + shares @ np.diff(table, axis=0))


def scoring_models(folded: FoldedModel, columns: Columns) -> dict[str, ScoringModel]:
    """Return the model for rows of each dtype. Single precision is left out where it overflows."""
    double = scoring_model(folded, columns)
    with np.errstate(over="ignore"):
        single = double.astype(np.float32)
    both = {"float64": double, "float32": single}
    is_finite = all(np.isfinite(part).all() for part in single)
    return both if is_finite else {"float64": double}


def row_scores(X: FloatArray, model: ScoringModel, limit: float = np.inf) -> FloatArray:
    """Return the outputs of the model for each row, in the precision of X.

    Parameters
    ----------
    X : array of shape (n_samples, n_columns)
    model : ScoringModel
        In the precision of X.
    limit : float, default=inf
        If a number of X is NaN or farther from zero than this, some scores are NaN. Infinity means
        that the numbers are known to be finite.

    Returns
    -------
    scores : array of shape (n_samples, n_outputs)
    """
    from pacfourier.core import loops

    scores = np.empty((len(X), model.amplitudes.shape[1]), dtype=X.dtype)
    # Few rows take no product, which may be computed by threads.
    is_sparse = len(X) <= FEW_ROWS or np.mean(X[:FEW_ROWS] != model.origins) < LARGEST_SHARE
    rows_per_task = QUICK_ROWS_PER_TASK if is_sparse else ROWS_PER_TASK
    has_product = not is_sparse or model.amplitudes.shape[1] > 1

    def fill(start: int) -> None:
        # One array for all blocks, because fresh memory takes time.
        buffer = np.empty((min(SCORED_ROWS, len(X)), len(model.constants)), dtype=X.dtype)
        for first in range(start, min(start + rows_per_task, len(X)), SCORED_ROWS):
            block = slice(first, first + SCORED_ROWS)
            rows = np.ascontiguousarray(X[block])
            if limit < np.inf and not loops.are_within(rows, limit):
                scores[block] = np.nan
                continue
            values = buffer[: len(rows)]
            write_values(rows, model, values, is_sparse=is_sparse)
            write_scores(values, model, scores[block])

    # One task without a product needs neither threads nor a limit on those of BLAS.
    if len(X) <= (FEW_ROWS if has_product else rows_per_task):
        fill(0)
    else:
        run_tasks(fill, range(0, len(X), rows_per_task))
    return scores


def write_values(
    rows: FloatArray, model: ScoringModel, values: FloatArray, *, is_sparse: bool
) -> None:
    """Write the phases of each row, in turns, and the linear part of its scores.

    Both without their constants, which ``write_scores`` adds.
    """
    from pacfourier.core import loops

    origins = model.origins
    if is_sparse:
        values[:] = 0
    else:
        slopes = model.terms[: len(origins)]
        np.dot(rows - origins if origins.any() else rows, slopes, out=values)
    if is_sparse or len(model.coded):
        loops.add_columns(rows, origins, model[2:5], model.terms, is_sparse, values)


def write_scores(values: FloatArray, model: ScoringModel, scores: FloatArray) -> None:
    """Write the scores of rows whose phases and linear parts are known."""
    from pacfourier.core import loops

    amplitudes = model.amplitudes
    if amplitudes.shape[1] == 1:
        parts = model.constants, amplitudes.ravel()
        loops.write_single_scores(values, *parts, scores.ravel())
        return
    values += model.constants
    waves = np.empty((len(values), len(amplitudes)), dtype=values.dtype)
    n_frequencies = len(amplitudes) // 2
    loops.write_waves(values, np.ones(n_frequencies, dtype=values.dtype), waves)
    np.add(np.dot(waves, amplitudes), values[:, n_frequencies:], out=scores)
