r"""Scores of a fitted model, for one row or for millions.

In the arrays that compiled loops read, each column adds nothing at its *origin*:

.. math:: z_r(x) = c_r + \sum_{j : x_j \ne o_j} v_{jr} (x_j - o_j) + T_{jr}(x_j) - T_{jr}(o_j) .

Most numbers of a table with categories are at their origin, and cost nothing.
"""

from typing import Any, NamedTuple

import numpy as np

from pacfourier.arrays import FloatArray, IntArray, matching, namespace
from pacfourier.core.threads import run_tasks

# Rows whose phases are computed at a time, so that they stay near the core.
_SCORED_ROWS = 1024
# Rows of a task. It should take about a millisecond, because starting a thread takes a fifth of
# that. Rows of which most numbers are at their origins are quick.
ROWS_PER_TASK, QUICK_ROWS_PER_TASK = 4096, 8192
# So many rows tell how many numbers are at their origins. If these are all, no thread is started.
_FEW_ROWS = 64
# A product with all numbers is faster if a larger share of them is not at its origin.
_LARGEST_SHARE = 0.1


class Terms(NamedTuple):
    """The arrays that compiled loops read, for D waves, K outputs and d columns.

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
    limits : tuple of two arrays of shape (d,), or ()
        The lowest and the highest value of each column, if any is finite.
    """

    origins: FloatArray
    constants: FloatArray
    coded: IntArray
    starts: IntArray
    knots: FloatArray
    terms: FloatArray
    amplitudes: FloatArray
    limits: tuple[FloatArray, ...] = ()

    def astype(self, dtype: type) -> "Terms":
        """Return the same in another precision."""
        whole = ("coded", "starts")
        parts = {n: p if n in whole else p.astype(dtype) for n, p in self._numbers().items()}
        return Terms(**parts, limits=tuple(each.astype(dtype) for each in self.limits))

    def _numbers(self) -> dict[str, Any]:
        """Return all parts but the limits by name."""
        return {name: part for name, part in self._asdict().items() if name != "limits"}

    @property
    def is_finite(self) -> bool:
        """Whether all numbers but limits are finite."""
        return all(np.isfinite(part).all() for part in self._numbers().values())


def interpolated(x: Any, knots: FloatArray, table: FloatArray) -> FloatArray:
    """Return the interpolated table at some numbers. Outside the knots it is constant."""
    shares = np.clip((np.reshape(x, (-1, 1)) - knots[:-1]) / np.diff(knots), 0, 1)
    return np.asarray(table[0] + shares @ np.diff(table, axis=0))


def clipped(X: Any, low: FloatArray, high: FloatArray) -> Any:
    """Return rows with each column clipped to its limits. Those of sparse rows contain zero."""
    if not hasattr(X, "tocsr"):
        return namespace(X).clip(X, matching(X, low), matching(X, high))
    found = X.tocsr(copy=True)
    found.data = found.data.clip(low[found.indices], high[found.indices]).astype(X.dtype)
    return found


def row_scores(X: FloatArray, model: Terms, limit: float = np.inf) -> FloatArray:
    """Return the outputs of the model for each row, in the precision of X.

    Parameters
    ----------
    X : array of shape (n_samples, n_columns)
    model : Terms
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
    is_sparse = len(X) <= _FEW_ROWS or np.mean(X[:_FEW_ROWS] != model.origins) < _LARGEST_SHARE
    rows_per_task = QUICK_ROWS_PER_TASK if is_sparse else ROWS_PER_TASK
    has_product = not is_sparse or model.amplitudes.shape[1] > 1

    def fill(start: int) -> None:
        # One array for all blocks, because fresh memory takes time.
        buffer = np.empty((min(_SCORED_ROWS, len(X)), len(model.constants)), dtype=X.dtype)
        for first in range(start, min(start + rows_per_task, len(X)), _SCORED_ROWS):
            block = slice(first, first + _SCORED_ROWS)
            rows = np.ascontiguousarray(X[block])
            if limit < np.inf and not loops.are_within(rows, limit):
                scores[block] = np.nan
                continue
            if model.limits:
                rows = np.maximum(rows, model.limits[0])
                np.minimum(rows, model.limits[1], out=rows)
            values = buffer[: len(rows)]
            _write_values(rows, model, values, is_sparse=is_sparse)
            _write_scores(values, model, scores[block])

    # One task without a product needs neither threads nor a limit on those of BLAS.
    if len(X) <= (_FEW_ROWS if has_product else rows_per_task):
        fill(0)
    else:
        run_tasks(fill, range(0, len(X), rows_per_task))
    return scores


def _write_values(rows: FloatArray, model: Terms, values: FloatArray, *, is_sparse: bool) -> None:
    """Write the phases of each row, in turns, and the linear part of its scores.

    Both without their constants, which ``_write_scores`` adds.
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


def _write_scores(values: FloatArray, model: Terms, scores: FloatArray) -> None:
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
