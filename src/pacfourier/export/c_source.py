"""A fitted predictor as one C99 header in single precision, without heap, libm or dependencies."""

from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np

from pacfourier.arrays import FloatArray, IntArray
from pacfourier.export.c_cells import row_text
from pacfourier.export.c_text import (
    check_prefix,
    column_runs,
    constants,
    float_text,
    names_text,
    prediction_text,
)
from pacfourier.export.expressible import check_single, single_label_model
from pacfourier.model.fourier_model import FourierModel, with_origins

if TYPE_CHECKING:
    from pacfourier.tabular.encoding import TableRow

# Rows of weights are padded to a multiple of this, so that compilers use vector instructions.
_VECTOR = 4

_HEADER = Template("""/*
 * A Fourier predictor in single precision, written by pacfourier.
 *
 * C99 without heap, libm or other headers. Cosines are right to 2e-7.
 *   ${prefix}_scores(row, scores) writes ${PREFIX}_N_SCORES scores of a row of
 *   ${PREFIX}_N_COLUMNS numbers.
 *   ${prefix}_predict(row$more) $does.
 */
#ifndef ${PREFIX}_H
#define ${PREFIX}_H

#define ${PREFIX}_N_COLUMNS $n_columns
#define ${PREFIX}_N_SCORES $n_scores
#define ${PREFIX}_N_WAVES $n_waves
#define ${PREFIX}_WIDTH $width

$tables

/* The cosine and the sine of a number of turns. Neither infinity nor NaN is undefined behaviour. */
static inline void ${prefix}_wave(float turn, float *cosine, float *sine)
{
    const int is_fraction = turn > -4194304.0f && turn < 4194304.0f;
    const float rest = is_fraction ? turn - (float)(int)(turn + (turn < 0 ? -0.5f : 0.5f))
                                   : turn - turn;
    const float z = rest * rest;
    const float half_sine = rest * ($sine);
    const float half_cosine = $cosine;
    *cosine = 1.0f - 2.0f * half_sine * half_sine;
    *sine = 2.0f * half_sine * half_cosine;
}
$interpolation
static inline void ${prefix}_scores(const float row[], float scores[])
{
    float inner[${PREFIX}_WIDTH];
    const float *weight = ${prefix}_weights, *centre = ${prefix}_centres;
    for (int m = 0; m < ${PREFIX}_WIDTH; ++m) inner[m] = ${prefix}_constants[m];
    for (int r = 0; r < $n_runs; ++r)
        for (long j = (long)${prefix}_runs[2 * r]; j < (long)${prefix}_runs[2 * r + 1]; ++j) {
            const float value = row[j] - *centre++;
            if (value != 0.0f)
                for (int m = 0; m < ${PREFIX}_WIDTH; ++m) inner[m] += weight[m] * value;
            weight += ${PREFIX}_WIDTH;
        }
$interpolated    for (int k = 0; k < ${PREFIX}_N_SCORES; ++k)
        scores[k] = inner[${PREFIX}_N_WAVES + k];
    for (int m = 0; m < ${PREFIX}_N_WAVES; ++m) {
        float cosine, sine;
        ${prefix}_wave(inner[m], &cosine, &sine);
        for (int k = 0; k < ${PREFIX}_N_SCORES; ++k)
            scores[k] += cosine * ${prefix}_cosines[m * ${PREFIX}_N_SCORES + k]
                       + sine * ${prefix}_sines[m * ${PREFIX}_N_SCORES + k];
    }
}
$prediction
#endif
""")
# Adds the interpolated tables of the coded columns.
_INTERPOLATION = Template("""
static inline void ${prefix}_interpolate(const float row[], float inner[])
{
    for (int c = 0; c < $n_coded; ++c) {
        const float value = row[${prefix}_coded[c]];
        long low = (long)${prefix}_starts[c], high = (long)${prefix}_starts[c + 1] - 1;
        float width, share;
        while (high - low > 1) {
            const long middle = (low + high) / 2;
            if (${prefix}_knots[middle] <= value) low = middle;
            else high = middle;
        }
        width = ${prefix}_knots[high] - ${prefix}_knots[low];
        share = width > 0 ? (value - ${prefix}_knots[low]) / width : 1.0f;
        share = share < 0 ? 0.0f : share > 1 ? 1.0f : share;
        for (int m = 0; m < ${PREFIX}_WIDTH; ++m) {
            const float first = ${prefix}_values[low * ${PREFIX}_WIDTH + m];
            const float last = ${prefix}_values[high * ${PREFIX}_WIDTH + m];
            inner[m] += first + share * (last - first);
        }
    }
}
""")
_AMOUNT = Template("""
/* The predicted amount. */
static inline float ${prefix}_predict(const float row[])
{
    float amount;
    ${prefix}_scores(row, &amount);
    return amount;
}
""")
_AMOUNTS = Template("""
/* The predicted amounts. */
static inline void ${prefix}_predict(const float row[], float amounts[])
{
    ${prefix}_scores(row, amounts);
}
""")


def to_c(model: Any, *, prefix: str = "model", table_row: "TableRow | None" = None) -> str:
    """Return a fitted predictor as a C99 header in single precision.

    For a few kilobytes of integers instead, see :func:`quantised`.

    Parameters
    ----------
    model : FourierClassifier, FourierRegressor or FourierModel
        It must have been fitted on numbers, with one label per row.
    prefix : str, default="model"
        How the names in the header start.
    table_row : TableRow, default=None
        Of a model of a table, how the cells of the table become a row.

    Returns
    -------
    text : str
        The header. It defines ``<prefix>_scores``, ``<prefix>_predict`` and the names of classes
        and columns.
    """
    check_prefix(prefix)
    parts = _without_small_origins(single_label_model(model))
    check_single(parts)
    is_used = np.any(parts.weights != 0, axis=1)
    runs = column_runs(is_used)
    words = {"prefix": prefix, "PREFIX": prefix.upper()}
    interpolated = f"    {prefix}_interpolate(row, inner);\n" if len(parts.knots) else ""
    tables = _table_texts(parts, prefix, is_used, runs)
    if table_row is not None:
        tables.append(row_text(prefix, table_row, "float"))
    return _HEADER.substitute(
        words,
        more=", amounts" if _is_table_of_amounts(parts) else "",
        does=_description(parts),
        n_columns=parts.n_columns,
        n_scores=parts.n_scores,
        n_waves=parts.n_waves,
        width=_padded(parts.constants).shape[-1],
        tables="\n".join(tables),
        sine=_polynomial("sine"),
        cosine=_polynomial("cosine"),
        interpolation=_INTERPOLATION.substitute(words, n_coded=len(parts.coded))
        if len(parts.knots)
        else "",
        n_runs=len(runs),
        interpolated=interpolated,
        prediction=_prediction(parts, prefix),
    )


def _without_small_origins(model: FourierModel) -> FourierModel:
    """Return the same function with origins of zero where no digits are lost by that.

    Then a value of zero costs nothing. Others are kept: a phase must move by at most a turn, and a
    score by at most the sum of its amplitudes.
    """
    shifts = np.abs(model.weights * model.origins[:, np.newaxis])
    sizes = np.abs(model.cosines).sum(axis=0) + np.abs(model.sines).sum(axis=0)
    room = np.concatenate([np.ones(model.n_waves), sizes])
    return with_origins(model, np.where((shifts <= room).all(axis=1), 0.0, model.origins))


def _table_texts(parts: FourierModel, prefix: str, is_used: Any, runs: IntArray) -> list[str]:
    """Return the definitions of all tables."""
    floats: dict[str, FloatArray] = {
        "centres": parts.origins[is_used],
        "weights": _padded(parts.weights)[is_used],
        "constants": _padded(parts.constants),
        "cosines": parts.cosines,
        "sines": parts.sines,
    }
    places: dict[str, Any] = {"runs": runs}
    if len(parts.knots):
        places |= {"coded": parts.coded, "starts": parts.starts}
        floats |= {"knots": parts.knots, "values": _padded(parts.tables)}
    texts = [constants("float", f"{prefix}_{name}", each) for name, each in floats.items()]
    for name, each in places.items():
        kind = "unsigned short" if np.max(each, initial=0) < 2**16 else "unsigned long"
        texts.append(constants(kind, f"{prefix}_{name}", each))
    if len(parts.names):
        texts.append(names_text(f"{prefix}_column_names", tuple(parts.names.tolist())))
    return texts


def _padded(values: FloatArray) -> FloatArray:
    """Return rows with zeros up to the width."""
    missing = -values.shape[-1] % _VECTOR
    return np.concatenate([values, np.zeros((*values.shape[:-1], missing))], axis=-1)


def _polynomial(name: str) -> str:
    """Return the polynomial in z of sin(pi t) / t or cos(pi t), with z = t * t, as C text."""
    from pacfourier.core import loops

    factors = loops.SIN_SINGLE if name == "sine" else loops.COS_SINGLE
    text = float_text(factors[-1])
    for factor in factors[-2::-1]:
        text = f"{float_text(factor)} + z * ({text})"
    return text


def _is_table_of_amounts(parts: FourierModel) -> bool:
    """Return whether several amounts are predicted."""
    return not len(parts.classes) and parts.n_scores > 1


def _description(parts: FourierModel) -> str:
    """Return what the function ``predict`` does, in words."""
    if len(parts.classes):
        return "returns the number of the predicted class"
    return "writes the predicted amounts" if _is_table_of_amounts(parts) else "returns the amount"


def _prediction(parts: FourierModel, prefix: str) -> str:
    """Return the function ``predict``."""
    if len(parts.classes):
        return prediction_text(
            prefix, tuple(parts.classes.tolist()), parts.n_scores, ("float", "float")
        )
    template = _AMOUNTS if _is_table_of_amounts(parts) else _AMOUNT
    return template.substitute(prefix=prefix)
