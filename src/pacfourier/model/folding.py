r"""A trained model folded into the user's columns, so that predictions need no codes.

Units, centres and codes are linear or piecewise linear in each column. So phases and the linear
part are, too: a row costs two rows of a table per coded column, instead of a product with all its
codes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray
from pacfourier.core.boosting.columns import CODE_UNIT, Columns
from pacfourier.core.boosting.cosine_model import CosineModel
from pacfourier.model.fourier_model import FourierModel


def folded_model(model: CosineModel, columns: Columns, **labels: Any) -> FourierModel:
    """Return a trained model in the user's columns.

    Parameters
    ----------
    model : CosineModel
    columns : Columns
        How the model reads its columns.
    **labels
        The parts ``link``, ``classes``, ``centre``, ``unit`` and ``names`` of
        :class:`FourierModel`. By default, scores are amounts.
    """
    n_columns, n_scores = len(columns.units), len(model.intercepts)
    order = np.arange(n_columns) if columns.order is None else columns.order
    n_seen = columns.n_seen or n_columns
    places = np.argsort(order[:n_seen])
    seen = order[:n_seen][places]
    # In double precision before the division, or the turns would be rounded to single.
    inner, linear = model.frequencies.T.astype(np.float64) / (2 * np.pi), model.linear
    dtype = model.frequencies.dtype
    turns = _rounded(inner[places] / columns.units[seen, np.newaxis], dtype)
    measured = linear[np.argsort(order)].astype(np.float64)
    slopes = _rounded(measured / columns.units[:, np.newaxis], dtype)
    codes = np.hstack([inner[n_seen:], linear[n_columns:].astype(np.float64)])
    origins = _column_origins(columns)
    shift = origins - _column_means(columns)
    constants = np.concatenate([shift[seen] @ turns, shift @ slopes + model.intercepts])
    knot_columns = [np.full(len(knots), j) for j, knots in columns.knots.items()]
    parts = {"link": "identity", "classes": (), "names": ()} | labels
    return FourierModel(
        low=np.full(n_columns, -np.inf),
        high=np.full(n_columns, np.inf),
        origins=origins,
        seen=seen.astype(np.intp),
        turns=turns,
        slopes=slopes,
        constants=constants - columns.centres[n_columns:] @ codes,
        knot_columns=np.concatenate([np.zeros(0), *knot_columns]).astype(np.intp),
        knots=np.concatenate([np.zeros(0), *columns.knots.values()]),
        tables=_rounded(_interpolation_tables(codes, columns), dtype),
        cosines=model.cosines.astype(np.float64),
        sines=model.sines.astype(np.float64),
        link=parts["link"],
        classes=_text_array(parts["classes"]),
        centre=np.asarray(labels.get("centre", np.zeros(n_scores)), dtype=np.float64),
        unit=np.asarray(labels.get("unit", np.ones(n_scores)), dtype=np.float64),
        names=np.array(parts["names"], dtype=str),
    )


def _rounded(values: FloatArray, dtype: Any) -> FloatArray:
    """Return numbers rounded to the precision of the training, where it holds all their digits."""
    with np.errstate(over="ignore"):
        near = values.astype(dtype).astype(np.float64)
    is_held = np.isfinite(near) & (np.abs(near) >= np.finfo(dtype).smallest_normal)
    return np.where(is_held | (values == 0), near, values)


def _text_array(values: Any) -> NDArray[Any]:
    """Return values as an array. Texts that were objects become an array of texts."""
    found = np.asarray(values)
    has_texts = found.dtype.kind == "O" and all(isinstance(each, str) for each in found)
    return found.astype(str) if has_texts else found


def _column_means(columns: Columns) -> FloatArray:
    """Return the means of the columns; zero for those that no model sees."""
    units = np.where(np.isfinite(columns.units), columns.units, 0.0)
    return np.asarray(columns.centres[: len(units)] * units)


def _column_origins(columns: Columns) -> FloatArray:
    """Return a number near the mean of each column: zero, a whole number, or the mean itself.

    It lies within one unit of the mean, so that no digits are lost in columns far from zero.
    """
    means, units = _column_means(columns), np.where(np.isfinite(columns.units), columns.units, 0.0)
    origins = np.where(np.abs(np.rint(means) - means) <= units, np.rint(means), means)
    return np.where(np.abs(means) <= units, 0.0, origins)


def _interpolation_tables(codes: FloatArray, columns: Columns) -> FloatArray:
    """Return the tables of all columns that have knots, from the weights of their codes."""
    ends = np.cumsum([len(knots) - 1 for knots in columns.knots.values()])
    pieces = np.split(codes, ends[:-1]) if len(ends) else []
    return np.vstack([np.zeros((0, codes.shape[1])), *map(_interpolation_table, pieces)])


def _interpolation_table(weights: FloatArray) -> FloatArray:
    r"""Return the values at the knots of a weighted sum of the codes of one column.

    .. math:: T(t_k) = u \sum_{i \le k} w_i , \qquad T(t_0) = 0 ,

    with the unit u of the codes, because at knot k the first k codes are one and the others zero.
    """
    steps = CODE_UNIT * np.cumsum(weights, axis=0)
    return np.vstack([np.zeros((1, weights.shape[1])), steps])
