"""A fitted predictor as plain data, and back: for model files that hold no objects.

Only what predictions need is kept. Everything is checked on the way back, because a file may be
damaged or forged.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray
from pacfourier.core.boosting.columns import Columns
from pacfourier.core.boosting.cosine_model import CosineModel
from pacfourier.estimators.fourier_classifier import FourierClassifier
from pacfourier.estimators.fourier_regressor import LOSSES, FourierRegressor
from pacfourier.estimators.training import Recipe, Trained
from pacfourier.tabular.plain_fields import PlainFields, in_one_line

__all__ = ["predictor_data", "predictor_of"]

Predictor = FourierClassifier | FourierRegressor
PARTS = CosineModel._fields


def predictor_data(model: Predictor) -> dict[str, Any]:
    """Return a fitted predictor as plain data.

    Parameters
    ----------
    model : FourierClassifier or FourierRegressor
        It must have been fitted on numbers. Its certificate is not kept.

    Returns
    -------
    data : dict
        Of texts, numbers and arrays, for :func:`predictor_of`.
    """
    check_storable(model)
    columns = model._trained.columns
    knots = list(columns.knots.values())
    data = {
        "kind": "classifier" if hasattr(model, "classes_") else "regressor",
        "strength": float(model.strength_),
        "coded": bool(model.coded_),
        **dict(zip(PARTS, model._trained.model, strict=True)),
        "units": columns.units,
        "centres": columns.centres,
        "coded_columns": np.array(list(columns.knots), dtype=np.int64),
        "n_knots": np.array([len(each) for each in knots], dtype=np.int64),
        "knots": compact(np.concatenate([np.zeros(0), *knots])),
        # The sums over codes, because their last bits depend on the number of threads.
        "constants": model._trained.folded["float64"].constants,
    }
    return data | (class_data(model) if hasattr(model, "classes_") else amount_data(model))


def check_storable(model: Any) -> None:
    """Raise ValueError if a predictor is more than its arrays."""
    if model._encoder is not None or not model._trained.folded:
        raise ValueError(
            f"{type(model).__name__} must be fitted on numbers in a dense array to be stored, got "
            "a fit on a data frame or on wide sparse samples: encode the columns before the fit."
        )


def compact(values: FloatArray) -> FloatArray:
    """Return numbers in single precision if that changes none of them."""
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    return single if np.array_equal(single, values) else values


def class_data(model: Any) -> dict[str, Any]:
    """Return the classes as plain data."""
    classes = model.classes_
    is_text = classes.dtype.kind in "OUT"
    if is_text and not all(isinstance(each, str) for each in classes):
        raise ValueError(
            f"classes must be texts or numbers to be stored, got {in_one_line(classes.tolist())}."
        )
    return {
        "classes": [str(each) for each in classes] if is_text else classes,
        "has_objects": classes.dtype.kind == "O",
        "has_label_sets": bool(model._has_label_sets),
    }


def amount_data(model: Any) -> dict[str, Any]:
    """Return the centre and the unit of the amounts as plain data."""
    return {
        "loss": str(model.loss),
        "is_flat": bool(model._is_flat),
        "label_centre": np.asarray(model._centre, dtype=np.float64),
        "label_unit": np.asarray(model._unit, dtype=np.float64),
    }


def predictor_of(data: Any) -> Predictor:
    """Return the predictor that plain data describe.

    Parameters
    ----------
    data : dict
        What :func:`predictor_data` returned, perhaps read from a file.

    Returns
    -------
    model : FourierClassifier or FourierRegressor
        It predicts the same as the original one, to the last bit. It has no certificate.

    Raises
    ------
    InputError
        If anything is missing, has a wrong type or shape, or is not a possible number.
    """
    fields = PlainFields(data, "predictor")
    kind = fields.choice("kind", ("classifier", "regressor"))
    trained = trained_model(fields)
    n_outputs, n_frequencies = len(trained.model.intercepts), len(trained.model.frequencies)
    model: Any
    if kind == "classifier":
        model = FourierClassifier(n_frequencies)
        set_classes(model, fields, n_outputs)
    else:
        model = FourierRegressor(n_frequencies, loss=fields.choice("loss", LOSSES))
        set_amounts(model, fields, n_outputs)
    model.n_features_in_ = len(trained.columns.units)
    model._encoder = None
    model._store(trained, Recipe(fields.truth("coded"), fields.positive("strength")))
    return model


def trained_model(fields: PlainFields) -> Trained:
    """Return the trained model, with the columns that it reads."""
    columns = stored_columns(fields)
    n_inputs = len(columns.centres)
    intercepts = fields.finite("intercepts", (None,))
    fields.require(len(intercepts), "intercepts", "have at least one output", 0)
    n_outputs = len(intercepts)
    frequencies = fields.finite("frequencies", (None, n_inputs))
    n_frequencies = len(frequencies)
    fields.require(n_frequencies, "frequencies", "have at least one row", 0)
    amplitudes = [fields.finite(name, (n_frequencies, n_outputs)) for name in ("cosines", "sines")]
    linear = fields.finite("linear", (n_inputs, n_outputs))
    constants = fields.finite("constants", (n_frequencies + n_outputs,)).astype(np.float64)
    # Forged numbers may overflow on the way.
    with np.errstate(all="ignore"):
        found = Trained.of(CosineModel(frequencies, *amplitudes, linear, intercepts), columns)
        folded = found.folded["float64"]._replace(constants=constants)
        single = folded.astype(np.float32)
    is_small = all(np.isfinite(part).all() for part in single)
    fields.require(is_small, "units", "give numbers of single precision", "infinity or NaN")
    return found._replace(folded={"float64": folded, "float32": single})


def stored_columns(fields: PlainFields) -> Columns:
    """Return the units and the knots of the columns."""
    units = fields.array("units", (None,), np.float64)
    fields.require((units > 0).all() and len(units), "units", "be positive", units)
    coded = fields.array("coded_columns", (None,), np.int64)
    n_knots = fields.array("n_knots", (len(coded),), np.int64)
    knots = fields.finite("knots", (None,)).astype(np.float64)
    # Whole numbers of Python, which do not overflow.
    is_sum = (n_knots >= 2).all() and sum(n_knots.tolist()) == len(knots)
    fields.require(is_sum, "n_knots", "be at least 2 and count the knots", n_knots)
    is_order = (np.diff(coded) > 0).all() and ((coded >= 0) & (coded < len(units))).all()
    fields.require(is_order, "coded_columns", "be sorted numbers of columns", coded)
    pieces = np.split(knots, np.cumsum(n_knots)[:-1]) if len(coded) else []
    is_sorted = all((np.diff(piece) > 0).all() for piece in pieces)
    fields.require(is_sorted, "knots", "increase in each column", knots)
    centres = fields.finite("centres", (len(units) + len(knots) - len(coded),))
    by_column = dict(zip(coded.tolist(), pieces, strict=True))
    return Columns(units, by_column, centres.astype(np.float64))


def set_classes(model: Any, fields: PlainFields, n_outputs: int) -> None:
    """Set the classes of a classifier, of which there must be as many as outputs."""
    classes = stored_classes(fields)
    has_sets = fields.truth("has_label_sets")
    is_pair = len(classes) == 2 and not has_sets
    is_right = n_outputs == (1 if is_pair else len(classes)) and (has_sets or len(classes) > 1)
    fields.require(is_right, "classes", f"fit to {n_outputs} outputs", f"{len(classes)} classes")
    model.classes_, model._has_label_sets = classes, has_sets


def stored_classes(fields: PlainFields) -> NDArray[Any]:
    """Return the classes, which are distinct and sorted."""
    values, has_objects = fields.value("classes"), fields.truth("has_objects")
    is_texts = isinstance(values, list) and all(isinstance(each, str) for each in values)
    is_numbers = type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind in "biuf"
    fields.require(is_texts or is_numbers, "classes", "be a list of texts or an array", values)
    classes = np.array(values, dtype=object if has_objects else None)
    is_sorted = all(first < second for first, second in pairwise(classes))
    fields.require(is_sorted, "classes", "be distinct and sorted", values)
    return classes


def set_amounts(model: Any, fields: PlainFields, n_outputs: int) -> None:
    """Set the centre and the unit of the amounts of a regressor."""
    model._centre = fields.finite("label_centre", (n_outputs,)).astype(np.float64)
    model._unit = fields.finite("label_unit", (n_outputs,)).astype(np.float64)
    fields.require((model._unit > 0).all(), "label_unit", "be positive", model._unit)
    model._is_flat = fields.truth("is_flat")
    is_right = n_outputs == 1 or not model._is_flat
    fields.require(is_right, "is_flat", f"be False with {n_outputs} outputs", model._is_flat)
