"""A fitted predictor as plain data, and back: for model files that hold no objects.

Only what predictions need is kept.
"""

import copy
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pacfourier.arrays import FloatArray
from pacfourier.core.boosting.columns import Columns
from pacfourier.core.boosting.folded import FoldedModel
from pacfourier.tabular.plain_fields import PlainFields, in_one_line
from pacfourier.tabular.stored_predictor import StoredClassifier, stored_predictor

if TYPE_CHECKING:
    from pacfourier.estimators.fourier_classifier import FourierClassifier
    from pacfourier.estimators.fourier_regressor import FourierRegressor

    Predictor: TypeAlias = FourierClassifier | FourierRegressor

__all__ = ["moved_predictor", "predictor_data", "predictor_of"]


def predictor_data(model: "Predictor") -> dict[str, Any]:
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
    folded, columns = storable_model(model), model._trained.columns
    knots = list(columns.knots.values())
    data = {
        "kind": "classifier" if hasattr(model, "classes_") else "regressor",
        "alpha": float(model.alpha_),
        "coded": bool(model.piecewise_),
        **model._trained.model._asdict(),
        "units": columns.units,
        "centres": columns.centres,
        "coded_columns": np.array(list(columns.knots), dtype=np.int64),
        "n_knots": np.array([len(each) for each in knots], dtype=np.int64),
        "knots": compact(np.concatenate([np.zeros(0), *knots])),
        # The sums over codes, because their last bits depend on the number of threads.
        "constants": folded.constants,
    }
    return data | (class_data(model) if hasattr(model, "classes_") else amount_data(model))


def storable_model(model: Any) -> FoldedModel:
    """Return the folded model of a predictor; ValueError if it is more than its arrays."""
    folded: FoldedModel | None = model._trained.folded
    if model._encoder is not None or folded is None:
        raise ValueError(
            f"{type(model).__name__} must be fitted on numbers in a dense array to be stored, got "
            "a fit on a data frame or on wide sparse samples: encode the columns before the fit."
        )
    return folded


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


def predictor_of(data: Any) -> "Predictor":
    """Return the predictor that plain data describe.

    Where only predictions are needed, :func:`~pacfourier.tabular.stored_predictor.stored_predictor`
    saves the import of scikit-learn.

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
    from pacfourier.estimators.fourier_classifier import FourierClassifier
    from pacfourier.estimators.fourier_regressor import LOSSES, FourierRegressor
    from pacfourier.estimators.training import Recipe, Trained

    stored, fields = stored_predictor(data), PlainFields(data, "predictor")
    parts, columns = stored.model.parts, stored.model.columns
    model: Any
    if isinstance(stored, StoredClassifier):
        model = FourierClassifier(len(parts.frequencies))
        model.classes_, model._has_label_sets = stored.classes_, stored.has_label_sets
    else:
        model = FourierRegressor(len(parts.frequencies), loss=fields.choice("loss", LOSSES))
        model._centre, model._unit, model._is_flat = stored.centre, stored.unit, stored.is_flat
    model.n_features_in_, model._encoder = len(columns.units), None
    recipe = Recipe(fields.truth("coded"), fields.positive("alpha"))
    model._store(Trained(parts, columns, stored.model.folded, stored.model.scoring), recipe)
    return model


def moved_predictor(model: "Predictor", offsets: FloatArray) -> "Predictor":
    """Return the same predictor for rows to which offsets were added.

    Parameters
    ----------
    model : FourierClassifier or FourierRegressor
        A predictor that :func:`predictor_data` can store.
    offsets : array of shape (n_features_in_,)
        What was added to each column.

    Returns
    -------
    model : FourierClassifier or FourierRegressor
        Its predictions for ``X + offsets`` are those of the original one for X, up to rounding.
    """
    from pacfourier.estimators.training import Trained

    columns = model._trained.columns
    centres = columns.centres.copy()
    centres[: len(offsets)] += offsets / columns.units
    knots = {column: each + offsets[column] for column, each in columns.knots.items()}
    moved = copy.copy(model)
    moved._trained = Trained.of(model._trained.model, Columns(columns.units, knots, centres))
    # The rows of the fit were not moved, so they would not be recognised.
    moved._summary = None
    return moved
