r"""A fitted predictor as a formula in the user's own columns, and as JSON.

With :math:`u = x - \text{centres}`, a predictor has the phases and scores

.. math:: t_m(x) = p_m + \sum_j F_{mj} u_j + \sum_{j\ \mathrm{coded}} T_{jm}(x_j) ,

.. math:: f_k(x) = c_k + \sum_j L_{jk} u_j + \sum_{j\ \mathrm{coded}} S_{jk}(x_j)
          + \sum_m A_{mk} \cos(2 \pi t_m) + B_{mk} \sin(2 \pi t_m) ,

where :math:`T` and :math:`S` interpolate tables between the knots of a coded column, and are
constant outside them.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from pacfourier.arrays import FloatArray
from pacfourier.core.boosting.folded import FoldedModel
from pacfourier.estimators.fourier_predictor import FourierPredictor
from pacfourier.export.expressible import check_expressible, exported_model

__all__ = ["CodedColumn", "Formula", "formula", "to_json"]


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """The tables of one coded column, interpolated between its knots.

    Attributes
    ----------
    column : int
        The number of the column.
    knots : array of shape (n_knots,)
    phases : array of shape (n_knots, D)
        What the column adds to each phase at each knot, in turns.
    scores : array of shape (n_knots, K)
        What the column adds to each score at each knot.
    """

    column: int
    knots: FloatArray
    phases: FloatArray
    scores: FloatArray


@dataclass(frozen=True, eq=False)
class Formula:
    """A fitted predictor with D frequencies, K scores and d columns.

    Attributes
    ----------
    centres : array of shape (d,)
        Subtracted from the columns first.
    frequencies : array of shape (D, d)
        In turns per unit of each column.
    phases : array of shape (D,)
        Constants of the phases, in turns.
    slopes : array of shape (d, K)
        The linear part of the scores.
    intercepts : array of shape (K,)
        Constants of the scores.
    cosines, sines : arrays of shape (D, K)
        Amplitudes.
    coded : tuple of CodedColumn
        Tables of the coded columns; often empty.
    classes : tuple or None
        The classes, in the order of the scores. Two classes have one score, which is positive for
        the second. None if the scores are the predicted amounts.
    columns : tuple of str or None
        Names of the columns, if the fit knew them.
    """

    centres: FloatArray
    frequencies: FloatArray
    phases: FloatArray
    slopes: FloatArray
    intercepts: FloatArray
    cosines: FloatArray
    sines: FloatArray
    coded: tuple[CodedColumn, ...]
    classes: tuple[Any, ...] | None
    columns: tuple[str, ...] | None

    @property
    def n_columns(self) -> int:
        """Number of columns of a row."""
        return len(self.centres)

    @property
    def n_scores(self) -> int:
        """Number of scores of a row."""
        return len(self.intercepts)


def formula(model: Any) -> Formula:
    """Return the formula of a fitted predictor.

    Parameters
    ----------
    model : FourierClassifier or FourierRegressor
        A fitted predictor. It must have been fitted on numbers, with one label per row.

    Returns
    -------
    formula : Formula
        All parameters, in double precision.

    Raises
    ------
    ValueError
        If the formula cannot express what the model does. The message names the feature.
    """
    check_exportable(model)
    classes = tuple(model.classes_.tolist()) if hasattr(model, "classes_") else None
    names = getattr(model, "feature_names_in_", None)
    columns = None if names is None else tuple(map(str, names))
    return unfolded(exported_model(model), classes, columns)


def unfolded(
    folded: FoldedModel, classes: tuple[Any, ...] | None, columns: tuple[str, ...] | None
) -> Formula:
    """Return a folded model part by part."""
    n_frequencies = len(folded.amplitudes) // 2
    inner, slopes = np.split(folded.weights, [n_frequencies], axis=1)
    phases, intercepts = np.split(folded.constants, [n_frequencies])
    cosines, sines = np.split(folded.amplitudes, 2)
    coded = []
    for column, first, last in zip(folded.coded, folded.starts, folded.starts[1:], strict=False):
        values = folded.tables[first:last]
        turns, added = values[:, :n_frequencies], values[:, n_frequencies:]
        coded.append(CodedColumn(int(column), folded.knots[first:last], turns, added))
    return Formula(
        folded.centres,
        inner.T,
        phases,
        slopes,
        intercepts,
        cosines,
        sines,
        tuple(coded),
        classes,
        columns,
    )


def check_exportable(model: Any) -> None:
    """Raise an error that names the feature of a model which its formula cannot express."""
    if not isinstance(model, FourierPredictor):
        raise ValueError(
            "model must be a FourierClassifier or a FourierRegressor, got a "
            f"{type(model).__name__}."
        )
    check_expressible(model)
    if getattr(model, "_has_label_sets", False):
        raise ValueError(
            f"model must predict one class per row to be exported, got {len(model.classes_)} "
            "labels per row: fit one classifier per label."
        )


def to_json(model: Any) -> str:
    """Return the formula of a fitted predictor as JSON that a person can read.

    Parameters
    ----------
    model : FourierClassifier or FourierRegressor
        A fitted predictor that :func:`formula` accepts.

    Returns
    -------
    text : str
        Standard JSON in ASCII. The key "equation" says in words how the numbers are used. Of a
        model of a table, "empty_row" holds the columns of a row whose cells are all empty, and
        "cells" says where the cells of the table are among the columns.
    """
    parts = formula(model)
    names = parts.columns or tuple(f"x{j}" for j in range(parts.n_columns))
    tables = [
        {
            "column": each.column,
            "knots": each.knots.tolist(),
            "phases": each.phases.tolist(),
            "scores": each.scores.tolist(),
        }
        for each in parts.coded
    ]
    waves = zip(*map(np.ndarray.tolist, wave_parts(parts)), strict=True)
    row = getattr(model, "_table_row", None)
    keys = ("phase", "turns_per_unit", "cosine", "sine")
    document = {
        "format": "pacfourier formula 1",
        "equation": equation(parts),
        "columns": names,
        "classes": parts.classes,
        "centres": parts.centres.tolist(),
        "intercepts": parts.intercepts.tolist(),
        "slopes": parts.slopes.T.tolist(),
        "waves": [dict(zip(keys, wave, strict=True)) for wave in waves],
        "tables": tables,
        "empty_row": None if row is None else row.empty,
        "cells": None if row is None else [each._asdict() for each in row.cells],
    }
    return json.dumps(document, indent=1, allow_nan=False)


def wave_parts(parts: Formula) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return what describes each wave: its phase, frequency, and amplitudes."""
    return parts.phases, parts.frequencies, parts.cosines, parts.sines


def equation(parts: Formula) -> list[str]:
    """Return in words how a prediction is computed from the numbers of the JSON."""
    added = (
        [
            "For each table, interpolate its rows linearly between the knots, at the value of its "
            "column. Below the first knot use the first row, above the last knot the last row. "
            "Add 'phases' to t and 'scores' to the scores."
        ]
        if parts.coded
        else []
    )
    return [
        "u[j] = value of column j - centres[j]",
        "t[m] = waves[m].phase + sum over j of waves[m].turns_per_unit[j] * u[j]",
        *added,
        "score[k] = intercepts[k] + sum over j of slopes[k][j] * u[j]"
        " + sum over m of waves[m].cosine[k] * cos(2 pi t[m]) + waves[m].sine[k] * sin(2 pi t[m])",
        rule_of_prediction(parts),
    ]


def rule_of_prediction(parts: Formula) -> str:
    """Return in words what turns scores into a prediction."""
    if parts.classes is None:
        return "The scores are the predicted amounts."
    if parts.n_scores == 1:
        return (
            "The prediction is the second class if the score is positive, else the first. "
            "The probability of the second is 1 / (1 + exp(-score))."
        )
    return (
        "The prediction is the class with the largest score, the first of them in a tie. "
        "Probabilities are exp(score) divided by their sum over classes."
    )
