r"""A fitted predictor as JSON: a formula in the user's own columns.

With :math:`u = x - \text{origins}`, a predictor has the phases and scores

.. math:: t_m(x) = p_m + \sum_j F_{mj} u_j + \sum_{j\ \mathrm{coded}} T_{jm}(x_j) ,

.. math:: f_k(x) = c_k + \sum_j L_{jk} u_j + \sum_{j\ \mathrm{coded}} S_{jk}(x_j)
          + \sum_m A_{mk} \cos(2 \pi t_m) + B_{mk} \sin(2 \pi t_m) ,

where :math:`T` and :math:`S` interpolate tables between the knots of a coded column, and are
constant outside them.
"""

import json
from typing import TYPE_CHECKING, Any

from pacfourier.export.expressible import single_label_model
from pacfourier.model.fourier_model import FourierModel, knot_slices

if TYPE_CHECKING:
    from pacfourier.tabular.encoding import TableRow


def to_json(model: Any, *, table_row: "TableRow | None" = None) -> str:
    """Return the formula of a fitted predictor as JSON that a person can read.

    Parameters
    ----------
    model : FourierClassifier, FourierRegressor or FourierModel
        It must have been fitted on numbers, with one label per row.
    table_row : TableRow, default=None
        Of a model of a table, how the cells of the table become a row.

    Returns
    -------
    text : str
        Standard JSON in ASCII. The key "equation" says in words how the numbers are used. Of a
        model of a table, "empty_row" holds the columns of a row whose cells are all empty, and
        "cells" says where the cells of the table are among the columns.
    """
    found = single_label_model(model)
    phases, intercepts = found.constants[: found.n_waves], found.constants[found.n_waves :]
    waves = zip(phases, found.turns.T, found.cosines, found.sines, strict=True)
    keys = ("phase", "turns_per_unit", "cosine", "sine")
    document = {
        "format": "pacfourier formula 1",
        "equation": _equation(found),
        "columns": found.names.tolist() or [f"x{j}" for j in range(found.n_columns)],
        "classes": found.classes.tolist() or None,
        "centres": found.origins.tolist(),
        "intercepts": intercepts.tolist(),
        "slopes": found.slopes.T.tolist(),
        "waves": [
            {key: part.tolist() for key, part in zip(keys, wave, strict=True)} for wave in waves
        ],
        "tables": _tables(found),
        "empty_row": None if table_row is None else table_row.empty,
        "cells": None if table_row is None else [each._asdict() for each in table_row.cells],
    }
    return json.dumps(document, indent=1, allow_nan=False)


def _tables(model: FourierModel) -> list[dict[str, Any]]:
    """Return the knots of each column that has some, and the values there."""
    n_waves = model.n_waves
    return [
        {
            "column": column,
            "knots": model.knots[part].tolist(),
            "phases": model.tables[part, :n_waves].tolist(),
            "scores": model.tables[part, n_waves:].tolist(),
        }
        for column, part in knot_slices(model)
    ]


def _equation(model: FourierModel) -> list[str]:
    """Return in words how a prediction is computed from the numbers of the JSON."""
    added = (
        [
            "For each table, interpolate its rows linearly between the knots, at the value of its "
            "column. Below the first knot use the first row, above the last knot the last row. "
            "Add 'phases' to t and 'scores' to the scores."
        ]
        if len(model.knots)
        else []
    )
    return [
        "u[j] = value of column j - centres[j]",
        "t[m] = waves[m].phase + sum over j of waves[m].turns_per_unit[j] * u[j]",
        *added,
        "score[k] = intercepts[k] + sum over j of slopes[k][j] * u[j]"
        " + sum over m of waves[m].cosine[k] * cos(2 pi t[m]) + waves[m].sine[k] * sin(2 pi t[m])",
        _rule_of_prediction(model),
    ]


def _rule_of_prediction(model: FourierModel) -> str:
    """Return in words what turns scores into a prediction."""
    if not len(model.classes):
        return "The scores are the predicted amounts."
    if model.n_scores == 1:
        return (
            "The prediction is the second class if the score is positive, else the first. "
            "The probability of the second is 1 / (1 + exp(-score))."
        )
    return (
        "The prediction is the class with the largest score, the first of them in a tie. "
        "Probabilities are exp(score) divided by their sum over classes."
    )
