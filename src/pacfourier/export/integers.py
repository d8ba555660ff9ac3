r"""A predictor in integer arithmetic: its NumPy twin and its C99 header agree bit for bit.

A row is bytes :math:`q_j`, and a wave m has small integer weights :math:`W_{mj}` and a multiplier
:math:`\mu_m`. Its phase is

.. math:: t_m = \Big\lfloor 2^{-16} \Big(\mu_m \sum_j W_{mj} q_j \bmod 2^{32}\Big) \Big\rfloor ,

where :math:`2^{16}` is one turn, so that a sum which wraps around is still right. Cosines come from
a table of 256 entries, interpolated, with :math:`2^{14}` for one. Scores are sums in 32 bits.
"""

from dataclasses import dataclass
from functools import cached_property
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags, TargetTags

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

if TYPE_CHECKING:
    from pacfourier.tabular.encoding import TableRow

# What stands for the cosine one, and for one turn in the multipliers.
COSINE_ONE, TURN = 2**14, 2**32
_TABLE_SIZE = 256
LARGEST_INPUT = 255
# Bytes of the types of constants.
_SIZES = {"int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4}
_SIZES["float"] = 4
# Rows of which the products are computed at a time.
_ROW_BLOCK = 8192

_HEADER = Template("""/*
 * A Fourier predictor in integer arithmetic, written by pacfourier.
 *
 * C99 without heap, libm or dependencies: $n_bytes bytes of constants.
 *   ${prefix}_scores(row, scores) writes ${PREFIX}_N_SCORES scores of a row of
 *   ${PREFIX}_N_COLUMNS bytes. Times ${PREFIX}_UNIT, they are $meaning.
 *   ${prefix}_predict(row$more) $does.
 *   ${prefix}_row(values, row) turns numbers into such bytes. They must not be NaN. Only this
 *   needs the tables of lows and rates.
 */
#ifndef ${PREFIX}_H
#define ${PREFIX}_H
#include <stdint.h>

#define ${PREFIX}_N_COLUMNS $n_columns
#define ${PREFIX}_N_SCORES $n_scores
#define ${PREFIX}_N_WAVES $n_waves
#define ${PREFIX}_WIDTH $width
#define ${PREFIX}_UNIT $unit

$tables

/* The cosine of a phase, where 65536 is one turn and $one stands for one. */
static inline int32_t ${prefix}_cosine(uint16_t phase)
{
    const uint32_t share = phase & 255u;
    const uint32_t first = (uint32_t)(${prefix}_table[phase >> 8] + $one);
    const uint32_t last = (uint32_t)(${prefix}_table[((phase >> 8) + 1) & 255] + $one);
    return (int32_t)((first * (256u - share) + last * share) >> 8) - $one;
}

static inline void ${prefix}_scores(const uint8_t row[], int32_t scores[])
{
    int32_t sums[${PREFIX}_WIDTH] = {0};
    const $weight *weight = ${prefix}_weights;
    for (int r = 0; r < $n_runs; ++r)
        for (uint32_t j = ${prefix}_runs[2 * r]; j < ${prefix}_runs[2 * r + 1]; ++j) {
            const int32_t value = row[j];
            if (value)
$product
            weight += $stride;
        }
    for (int k = 0; k < ${PREFIX}_N_SCORES; ++k) scores[k] = ${prefix}_intercepts[k];
    for (int m = 0; m < ${PREFIX}_N_WAVES; ++m) {
        int32_t cosine, sine;
        uint16_t phase;
        phase = (uint16_t)(((uint32_t)sums[m] * ${prefix}_multipliers[m]) >> 16);
        cosine = ${prefix}_cosine(phase);
        sine = ${prefix}_cosine((uint16_t)(phase - 16384u));
        for (int k = 0; k < ${PREFIX}_N_SCORES; ++k)
            scores[k] += cosine * ${prefix}_cosines[m * ${PREFIX}_N_SCORES + k]
                       + sine * ${prefix}_sines[m * ${PREFIX}_N_SCORES + k];
    }
}

static inline void ${prefix}_row(const float values[], uint8_t row[])
{
    for (long j = 0; j < ${PREFIX}_N_COLUMNS; ++j) {
        const float level = (values[j] - ${prefix}_lows[$place]) * ${prefix}_rates[$place] + 0.5f;
        row[j] = level >= 255.0f ? 255 : level > 0.0f ? (uint8_t)level : 0;
    }
}
$prediction
#endif
""")
# One weight in a byte, or two: the first in the lower half.
_PRODUCTS = {
    8: """                for (int m = 0; m < ${PREFIX}_WIDTH; ++m)
                    sums[m] += weight[m] * value;""",
    4: """                for (int m = 0; m < ${PREFIX}_WIDTH / 2; ++m) {
                    sums[2 * m] += ((weight[m] & 15) - 8) * value;
                    sums[2 * m + 1] += ((weight[m] >> 4) - 8) * value;
                }""",
}
_AMOUNT = Template("""
/* The predicted amount. */
static inline float ${prefix}_predict(const uint8_t row[])
{
    int32_t score;
    ${prefix}_scores(row, &score);
    return ${prefix}_origins[0] + (float)score * ${PREFIX}_UNIT;
}
""")
_AMOUNTS = Template("""
/* The predicted amounts. */
static inline void ${prefix}_predict(const uint8_t row[], float amounts[])
{
    int32_t scores[${PREFIX}_N_SCORES];
    ${prefix}_scores(row, scores);
    for (int k = 0; k < ${PREFIX}_N_SCORES; ++k)
        amounts[k] = ${prefix}_origins[k] + (float)scores[k] * ${PREFIX}_UNIT;
}
""")


@dataclass(frozen=True, eq=False)
class IntegerModel:
    """A predictor with D waves and K scores of d columns, in integer arithmetic.

    :func:`quantised` makes one from a fitted predictor. ``scores`` and ``predict`` compute exactly
    what the functions of the header ``to_c()`` do, so a certificate that ``certify``
    returns for this model is one for the header.

    Attributes
    ----------
    bits : {8, 4}
        The size of a weight.
    weights : array of int8 of shape (D, d)
        The weights of the waves.
    multipliers : array of uint32 of shape (D,)
        What a product of one adds to a phase. 2**32 is one turn.
    cosines, sines : arrays of int16 of shape (D, K)
        Amplitudes.
    intercepts : array of int32 of shape (K,)
        Constants of the scores.
    origins : array of float32 of shape (K,) or (0,)
        What is added to the scores to get amounts. Classes need none.
    unit : float
        What one in an integer score stands for.
    lows, rates : arrays of float32 of shape (1,) or (d,)
        A value x of a column becomes the byte nearest to (x - low) * rate.
    classes : tuple or None
        The classes, or None if the scores are amounts.
    columns : tuple of str or None
        Names of the columns.
    table_row : TableRow or None
        Of a model of a table, how the cells of the table become a row.
    """

    bits: int
    weights: NDArray[np.int8]
    multipliers: NDArray[np.uint32]
    cosines: NDArray[np.int16]
    sines: NDArray[np.int16]
    intercepts: NDArray[np.int32]
    origins: NDArray[np.float32]
    unit: float
    lows: NDArray[np.float32]
    rates: NDArray[np.float32]
    classes: tuple[Any, ...] | None
    columns: tuple[str, ...] | None
    table_row: "TableRow | None" = None

    def __sklearn_tags__(self) -> Tags:
        """Say what is predicted, as scikit-learn and ``certify`` ask for."""
        kind = "regressor" if self.classes is None else "classifier"
        return Tags(estimator_type=kind, target_tags=TargetTags(required=True))

    @property
    def n_columns(self) -> int:
        """Number of bytes of a row."""
        return self.weights.shape[1]

    @cached_property
    def is_used(self) -> NDArray[np.bool_]:
        """Which columns have a weight that is not zero."""
        return np.asarray(self.weights.any(axis=0))

    def rows(self, X: Any) -> NDArray[np.uint8]:
        """Return rows of numbers as bytes, clipped to the range of each column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
            Rows of finite numbers.

        Returns
        -------
        rows : array of uint8 of shape (n_samples, n_columns)
            What ``<prefix>_row`` writes.
        """
        values = np.asarray(X, dtype=np.float32)
        if values.ndim != 2 or values.shape[1] != self.n_columns:
            raise ValueError(f"X must have {self.n_columns} columns, got shape {values.shape}.")
        if not np.isfinite(values).all():
            raise ValueError(
                "X must be finite to become bytes, got NaN or infinity: fill the gaps first."
            )
        with np.errstate(over="ignore"):
            levels = (values - self.lows) * self.rates + np.float32(0.5)
        return levels.clip(0, LARGEST_INPUT).astype(np.uint8)

    def scores(self, X: Any) -> NDArray[np.int32]:
        """Return the integer scores of rows of numbers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
            Rows of finite numbers.

        Returns
        -------
        scores : array of int32 of shape (n_samples, n_scores)
            Multiply by ``unit`` to get log-odds, or what amounts differ by from ``origins``.
        """
        return integer_scores(self.rows(X), self)

    def decision_function(self, X: Any) -> NDArray[np.int64]:
        """Return the integer scores in the shape that scikit-learn expects.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
            Rows of finite numbers.

        Returns
        -------
        scores : array of int64 of shape (n_samples,) or (n_samples, n_scores)
            One number per row for two classes or one amount. Their differences cannot overflow.
        """
        scores = self.scores(X).astype(np.int64)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted classes or amounts of rows of numbers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
            Rows of finite numbers.

        Returns
        -------
        predictions : array of shape (n_samples,) or (n_samples, n_outputs)
            Classes, or amounts in single precision.
        """
        scores = self.scores(X)
        if self.classes is None:
            amounts = self.origins + scores.astype(np.float32) * np.float32(self.unit)
            return np.asarray(amounts[:, 0] if amounts.shape[1] == 1 else amounts)
        best = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        has_texts = isinstance(self.classes[0], str)
        return np.array(self.classes, dtype=object if has_texts else None)[best.astype(int)]

    @cached_property
    def _tables(self) -> dict[str, tuple[str, NDArray[Any]]]:
        """The constants of scores and predictions by name, each with its type in C."""
        runs = column_runs(self.is_used)
        is_short = self.n_columns < 2**16
        weights = _packed_weights(self.weights[:, self.is_used].T, self.bits)
        origins = {"origins": ("float", self.origins)} if self.classes is None else {}
        return {
            "weights": ("int8_t" if self.bits == 8 else "uint8_t", weights),
            "runs": ("uint16_t" if is_short else "uint32_t", runs),
            "multipliers": ("uint32_t", self.multipliers),
            "cosines": ("int16_t", self.cosines),
            "sines": ("int16_t", self.sines),
            "intercepts": ("int32_t", self.intercepts),
            "table": ("int16_t", _cosine_table()),
            **origins,
        }

    @property
    def n_bytes(self) -> int:
        """Bytes of all constants that scores and predictions need, without the class names."""
        return sum(max(each.size, 1) * _SIZES[kind] for kind, each in self._tables.values())

    @property
    def _meaning(self) -> str:
        """What the scores are in words."""
        if self.classes is None:
            return "amounts minus their origins"
        is_single = len(self.intercepts) == 1
        return "log-odds" if is_single else "log-probabilities up to a constant"

    @property
    def _more(self) -> str:
        """What a prediction takes after the row."""
        return ", amounts" if self.classes is None and len(self.intercepts) > 1 else ""

    def to_c(self, *, prefix: str = "model") -> str:
        """Return the model as a C99 header.

        Parameters
        ----------
        prefix : str, default="model"
            How the names in the header start.

        Returns
        -------
        text : str
            The header. It defines ``<prefix>_row``, ``<prefix>_scores``, ``<prefix>_predict`` and
            the names of classes and columns.
        """
        check_prefix(prefix)
        words = {"prefix": prefix, "PREFIX": prefix.upper()}
        n_waves, per_byte = len(self.weights), 8 // self.bits
        width = n_waves + -n_waves % per_byte
        return _HEADER.substitute(
            words,
            n_bytes=self.n_bytes,
            more=self._more,
            meaning=self._meaning,
            does="gives the predicted amounts"
            if self.classes is None
            else "returns the number of the predicted class",
            n_columns=self.n_columns,
            n_scores=len(self.intercepts),
            n_waves=n_waves,
            width=width,
            stride=width // per_byte,
            weight=self._tables["weights"][0],
            unit=float_text(self.unit),
            tables="\n".join(self._texts(prefix)),
            one=COSINE_ONE,
            n_runs=len(self._tables["runs"][1]),
            product=Template(_PRODUCTS[self.bits]).substitute(words),
            place="0" if len(self.lows) == 1 else "j",
            prediction=self._prediction(prefix),
        )

    def _texts(self, prefix: str) -> list[str]:
        """Return the definitions of all tables."""
        floats = {"lows": ("float", self.lows), "rates": ("float", self.rates)}
        tables = {**self._tables, **floats}
        texts = [constants(kind, f"{prefix}_{name}", each) for name, (kind, each) in tables.items()]
        if self.columns is not None:
            texts.append(names_text(f"{prefix}_column_names", self.columns))
        if self.table_row is not None:
            texts.append(row_text(prefix, self.table_row, "uint8_t", self._more))
        return texts

    def _prediction(self, prefix: str) -> str:
        """Return the function ``predict``."""
        n_scores = len(self.intercepts)
        if self.classes is not None:
            return prediction_text(prefix, self.classes, n_scores, ("uint8_t", "int32_t"))
        template = _AMOUNT if n_scores == 1 else _AMOUNTS
        return template.substitute(prefix=prefix, PREFIX=prefix.upper())


def _packed_weights(weights: NDArray[np.int8], bits: int) -> NDArray[Any]:
    """Return weights of 8 bits as they are, or of 4 bits plus eight, two in a byte.

    A row of an odd number of weights ends with a weight of zero.
    """
    if bits == 8:
        return weights
    even = np.pad(weights, ((0, 0), (0, weights.shape[1] % 2)))
    halves = (even + 8).astype(np.uint8)
    return np.asarray(halves[:, ::2] | halves[:, 1::2] << 4)


def _cosine_table() -> NDArray[np.int16]:
    """Return the cosines of 256 phases that divide a turn evenly, times ``COSINE_ONE``."""
    angles = 2 * np.pi * np.arange(_TABLE_SIZE) / _TABLE_SIZE
    return np.rint(COSINE_ONE * np.cos(angles)).astype(np.int16)


def _wave_values(phases: IntArray) -> IntArray:
    r"""Return cosines of phases in units of :math:`2^{-16}` turns, times ``COSINE_ONE``.

    With :math:`p = 256 i + r` they are :math:`\lfloor (T_i (256 - r) + T_{i+1} r) / 256 \rfloor`.
    """
    table = _cosine_table().astype(np.int64)
    place, share = phases >> 8 & 255, phases & 255
    return (table[place] * (256 - share) + table[place + 1 & 255] * share) >> 8


def integer_scores(rows: NDArray[np.uint8], model: IntegerModel) -> NDArray[np.int32]:
    """Return the scores of rows of bytes, bit for bit as the C header computes them.

    Parameters
    ----------
    rows : array of uint8 of shape (n_samples, n_columns)
        Rows of bytes.
    model : IntegerModel
        The model.

    Returns
    -------
    scores : array of int32 of shape (n_samples, n_scores)
        Sums that never overflow, by the choice of the unit.
    """
    blocks = [rows[start : start + _ROW_BLOCK] for start in range(0, len(rows), _ROW_BLOCK)]
    parts = [_block_scores(block, model) for block in blocks]
    return np.concatenate([np.empty((0, len(model.intercepts)), dtype=np.int32), *parts])


def _block_scores(rows: NDArray[np.uint8], model: IntegerModel) -> NDArray[np.int32]:
    # Products of doubles are exact here: all sums are integers below 2**31.
    sums = (rows.astype(np.float64) @ model.weights.T.astype(np.float64)).astype(np.int64)
    phases = (sums * model.multipliers.astype(np.int64) % TURN) >> 16
    cosines, sines = _wave_values(phases), _wave_values(phases - 2**14)
    scores: FloatArray = cosines.astype(np.float64) @ model.cosines.astype(np.float64)
    scores += sines.astype(np.float64) @ model.sines.astype(np.float64) + model.intercepts
    return scores.astype(np.int32)
