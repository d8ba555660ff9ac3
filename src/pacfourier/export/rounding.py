r"""From a fitted predictor to integers: the scale of each frequency, and a descent after rounding.

A frequency with the weights w, in turns per level of each column, is rounded to
:math:`s\, \mathrm{clip}(\mathrm{rint}(w / s))`. The scale s is the one whose phases are nearest on
the given rows. Then all parameters are trained once more. Gradients are taken at the rounded
frequencies and move the ones before rounding (bengio2013).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray
from pacfourier.core.boosting.columns import Columns
from pacfourier.core.boosting.cosine_model import CosineModel
from pacfourier.core.boosting.descent import Descent, Labelled, one_cycle
from pacfourier.data.samples import labelled_rows
from pacfourier.estimators.base import check_option
from pacfourier.estimators.training import PEAK_RATE, batch_size, coded_rows, decays_of, epochs
from pacfourier.export.expressible import single_label_model
from pacfourier.export.integers import COSINE_ONE, LARGEST_INPUT, TURN, IntegerModel
from pacfourier.model.fourier_model import turned

# Scales to try, relative to the one at which no weight is clipped.
_RELATIVE_SCALES = tuple(np.geomspace(0.125, 1, 16))
# Rows on which phases are compared.
_COMPARED_ROWS = 2000
# Waves take longer than a fit to stand in for the linear part, most of all on few rows.
_FEWEST_STEPS = 3200
# The least range of a column, relative to its largest value: single precision has 24 bits, and
# bytes need eight of them.
_LEAST_RANGE = 2.0**-16
# The order of the rows in the descent.
_SEED = 0
LARGEST_AMPLITUDE, LARGEST_SCORE = 2**15 - 1, 2**31 - 1
MOST_COLUMNS, MOST_WAVES = 2**16, 2**15


class _Levels(NamedTuple):
    """How the bytes of a row stand for values: byte q of column j is ``lows + q * steps``."""

    lows: NDArray[np.float32]
    rates: NDArray[np.float32]

    @classmethod
    def of(cls, X: FloatArray, bounds: Any) -> "_Levels":
        """Return levels between given bounds, or between the extremes of each column."""
        low, high = (X.min(axis=0), X.max(axis=0)) if bounds is None else bounds
        lows, highs = (np.atleast_1d(np.asarray(each, dtype=np.float32)) for each in (low, high))
        allowed = ((1,), (X.shape[1],))
        is_legal = lows.shape == highs.shape and lows.shape in allowed and np.all(lows <= highs)
        if not (is_legal and np.isfinite([lows, highs]).all()):
            raise ValueError(
                "bounds must be a pair of finite numbers, or of arrays with one number per column, "
                f"the lower first, got {bounds!r}."
            )
        check_ranges(lows, highs)
        ranges = highs - lows
        rates = np.divide(LARGEST_INPUT, ranges, out=np.zeros_like(ranges), where=ranges > 0)
        return cls(lows, rates)

    @property
    def steps(self) -> FloatArray:
        """The distance of two levels; zero for a column that does not vary."""
        rates = self.rates.astype(np.float64)
        return np.divide(1, rates, out=np.zeros_like(rates), where=rates > 0)

    def values(self, X: FloatArray) -> FloatArray:
        """Return values rounded to the levels."""
        levels = np.floor((X - self.lows) * self.rates + np.float32(0.5)).clip(0, LARGEST_INPUT)
        return np.asarray(self.lows + levels * self.steps.astype(X.dtype))


def check_ranges(lows: Any, highs: Any, names: Sequence[str] | None = None) -> None:
    """Raise ValueError if single precision cannot tell the levels of a column apart."""
    size = np.maximum(np.abs(lows), np.abs(highs))
    coarse = np.flatnonzero((lows < highs) & (highs - lows < size * _LEAST_RANGE))
    if len(coarse):
        found = [str(place) if names is None else repr(names[place]) for place in coarse[:3]]
        raise ValueError(
            "columns must vary by at least 1 / 65,536 of their largest value to become bytes, got "
            f"less in column {', '.join(found)}: subtract a constant, such as its smallest value."
        )


class _Grid(NamedTuple):
    """How frequencies are rounded.

    ``reach`` is what a frequency of one turns by when a column moves by one level. Each frequency
    has a scale, and weights are whole numbers up to ``most``.
    """

    reach: FloatArray
    scales: FloatArray
    most: int

    def weights(self, frequencies: FloatArray) -> FloatArray:
        """Return whole numbers."""
        exact = frequencies * self.reach / self.scales[:, np.newaxis]
        return np.clip(np.rint(exact), -self.most, self.most)

    def rounded(self, frequencies: FloatArray) -> FloatArray:
        """Return the frequencies that the whole numbers stand for."""
        turns = self.weights(frequencies) * self.scales[:, np.newaxis]
        rounded = np.divide(turns, self.reach, out=np.zeros_like(turns), where=self.reach > 0)
        return rounded.astype(frequencies.dtype)

    @classmethod
    def chosen(
        cls, frequencies: FloatArray, X: FloatArray, reach: FloatArray, most: int
    ) -> "_Grid":
        """Return the scale of each frequency whose phases vary least from the exact ones.

        Scales are whole numbers of ``1 / TURN``, as in the integer model.
        """
        largest = np.abs(frequencies * reach).max(axis=1, initial=0) / most
        best, least = largest, np.full(len(frequencies), np.inf)
        for share in _RELATIVE_SCALES:
            scales = np.maximum(np.rint(largest * share * TURN), 1) / TURN
            missing = frequencies - cls(reach, scales, most).rounded(frequencies)
            errors = (X @ missing.T).var(axis=0)
            best, least = np.where(errors < least, scales, best), np.minimum(errors, least)
        return cls(reach, best, most)


@dataclass
class _RoundedDescent(Descent):
    """A descent whose gradients are taken at the rounded frequencies."""

    grid: _Grid | None = None

    def seen(self) -> CosineModel:
        """Return the model with rounded frequencies, and itself before there is a grid."""
        if self.grid is None:
            return self.model
        return self.model._replace(frequencies=self.grid.rounded(self.model.frequencies))


def quantised(model: Any, X: Any, y: Any, *, bits: int = 8, bounds: Any = None) -> IntegerModel:
    """Return a fitted predictor in integer arithmetic, trained once more after rounding.

    The integers have no linear part: on bytes, which have bounds, waves learn to stand in for it.
    A certificate of the fitted predictor does not hold for the integers.

    Parameters
    ----------
    model : FourierClassifier or FourierRegressor
        Fitted on numbers with one label per row, without coded columns.
    X : array-like of shape (n_samples, n_features)
        Rows to train on: those of the fit.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Their labels.
    bits : {8, 4}, default=8
        The size of a weight.
    bounds : pair of float or of array-like of shape (n_features,), default=None
        The values that the bytes 0 and 255 stand for. ``(0, 255)`` takes the pixels of an image as
        they are. By default, the extremes of each column of X.

    Returns
    -------
    integers : IntegerModel
        The model, with ``predict``, ``scores``, ``to_c`` and ``n_bytes``.
    """
    single_label_model(model)
    check_option("bits", bits, (8, 4))
    _check_sizes(model)
    columns = model._trained.columns
    block = labelled_rows(model, X, y, reset=False, fewest=2)
    if not isinstance(block.X, np.ndarray):
        raise ValueError(f"X must be a dense array, got {type(block.X).__name__}: call toarray().")
    levels = _Levels.of(block.X, bounds)
    labels = np.asarray(block.y)
    rows = model._labelled(levels.values(block.X), labels, model._row_weights(labels, None))
    rows = coded_rows(columns, rows)
    reach = levels.steps / columns.units / (2 * np.pi)
    start = model._trained.model._replace(linear=np.zeros((0, len(model.intercept_))))
    descent = _RoundedDescent.start(start, model._objective().losses, decays_of(model._recipe()))
    grid = _trained_after_rounding(descent, rows, reach, 2 ** (bits - 1) - 1)
    weights = grid.weights(descent.model.frequencies).astype(np.int8)
    return _integer_model(model, descent.seen(), (bits, weights, grid.scales), levels)


def _check_sizes(model: Any) -> None:
    """Raise ValueError if a model has parts that integers cannot express."""
    if model._trained.columns.knots:
        raise ValueError(
            f"model must have no coded columns to become integers, got "
            f"{len(model._trained.columns.knots)}: fit it with piecewise=False."
        )
    n_waves = len(model.frequencies_)
    if model.n_features_in_ > MOST_COLUMNS or n_waves > MOST_WAVES:
        raise ValueError(
            f"model must have at most {MOST_COLUMNS} columns and {MOST_WAVES} waves to become "
            f"integers, got {model.n_features_in_} and {n_waves}: fit a smaller one."
        )


def _trained_after_rounding(
    descent: _RoundedDescent, rows: Labelled, reach: FloatArray, most: int
) -> _Grid:
    """Make at least as many steps as a fit does, and return the last grid.

    The scales are chosen again before each pass.
    """
    n_samples = rows.n_samples
    size = batch_size(n_samples)
    steps_per_epoch = -(-n_samples // size)
    n_epochs = max(epochs(n_samples), -(-_FEWEST_STEPS // steps_per_epoch))
    n_steps = n_epochs * steps_per_epoch
    rng = np.random.default_rng(_SEED)
    compared: Any = rows.X[rng.permutation(n_samples)[:_COMPARED_ROWS]]
    for _ in range(n_epochs):
        descent.grid = grid = _Grid.chosen(descent.model.frequencies, compared, reach, most)
        descent.pass_over(
            rows,
            rng.permutation(n_samples),
            size,
            lambda step: PEAK_RATE * one_cycle((step + 1) / n_steps),
        )
    return grid


def _integer_model(
    model: Any, seen: CosineModel, rounded: tuple[int, Any, FloatArray], levels: _Levels
) -> IntegerModel:
    """Return the integers of a rounded model: bits, weights and scales are those of its waves."""
    (bits, weights, scales), columns = rounded, model._trained.columns
    lows = np.broadcast_to(levels.lows, columns.units.shape).astype(np.float64)
    phases = _lowest_phases(seen, columns, lows)
    cosines, sines = turned(seen.cosines.astype(float), seen.sines.astype(float), phases)
    intercepts = seen.intercepts.astype(np.float64)
    origins = np.zeros(0)
    if not hasattr(model, "classes_"):
        # Far from zero, whole numbers could not tell amounts apart.
        origins = intercepts * model._unit + model._centre
        cosines, sines = cosines * model._unit, sines * model._unit
        intercepts = np.zeros_like(origins)
    unit = _unit_of(cosines, sines, intercepts)
    classes = tuple(model.classes_.tolist()) if hasattr(model, "classes_") else None
    names = getattr(model, "feature_names_in_", None)
    return IntegerModel(
        bits,
        weights,
        (np.rint(scales * TURN) % TURN).astype(np.uint32),
        np.rint(cosines / unit / COSINE_ONE).astype(np.int16),
        np.rint(sines / unit / COSINE_ONE).astype(np.int16),
        np.rint(intercepts / unit).astype(np.int32),
        origins.astype(np.float32),
        unit,
        levels.lows,
        levels.rates,
        classes,
        None if names is None else tuple(map(str, names)),
    )


def _lowest_phases(model: CosineModel, columns: Columns, lows: FloatArray) -> FloatArray:
    """Return the phases of a row of zero bytes, in radians."""
    return np.asarray(columns.inputs(lows[np.newaxis]) @ model.frequencies.T)[0]


def _unit_of(cosines: FloatArray, sines: FloatArray, intercepts: FloatArray) -> float:
    """Return the smallest unit of the scores at which nothing overflows.

    Amplitudes fit into 16 bits, and the largest possible score into 32, also after rounding.
    """
    amplitudes = np.abs(np.concatenate([cosines, sines]))
    largest = amplitudes.sum(axis=0) + np.abs(intercepts)
    room = LARGEST_SCORE - COSINE_ONE * (len(amplitudes) / 2 + 1)
    by_amplitude = amplitudes.max(initial=0) / LARGEST_AMPLITUDE / COSINE_ONE
    return float(max(by_amplitude, largest.max() / room, np.finfo(np.float32).tiny))
