"""What exported models can express, and the errors for what they cannot."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pacfourier.arrays import FloatArray
from pacfourier.core.boosting.columns import WIDEST
from pacfourier.estimators.fourier_predictor import FourierPredictor
from pacfourier.model.fourier_model import FourierModel, on_knots
from pacfourier.spectra import RBF, Mixture, RationalQuadratic, Spectrum

# The smallest and the largest number of single precision that has all of its digits.
SMALLEST, LARGEST = (float(getattr(np.finfo(np.float32), n)) for n in ("smallest_normal", "max"))
# Turns by which a phase may change between two neighbouring values of a column.
_COARSEST = 1 / 16


def exported_model(model: Any) -> FourierModel:
    """Return what writers read of a predictor: scores are amounts, and limits are in tables.

    Parameters
    ----------
    model : FourierModel, FourierClassifier or FourierRegressor
    """
    found = model if isinstance(model, FourierModel) else _fitted_model(model)
    if found.is_wide:
        raise ValueError(
            f"{type(model).__name__} must be fitted on at most {WIDEST} columns to be exported, "
            f"got a fit on sparse samples with {found.n_columns} columns: select columns before "
            "the fit, for example with SelectKBest."
        )
    return _without_limits(found.amounts)


def _fitted_model(model: Any) -> FourierModel:
    """Return the fitted model of an estimator whose columns are numbers."""
    if not isinstance(model, FourierPredictor):
        raise ValueError(
            "model must be a FourierClassifier, a FourierRegressor or a FourierModel, got a "
            f"{type(model).__name__}."
        )
    check_is_fitted(model)
    if model._encoder is not None:
        raise ValueError(
            f"{type(model).__name__} must be fitted on numbers to be exported, got a fit on a data "
            "frame with text, categories or gaps: encode the columns before the fit, for example "
            "with a ColumnTransformer."
        )
    return model.model_


def single_label_model(model: Any) -> FourierModel:
    """Return what writers read of a predictor of one class or of amounts."""
    found = exported_model(model)
    if found.has_label_sets:
        raise ValueError(
            f"model must predict one class per row to be exported, got {len(found.classes)} "
            "labels per row: fit one classifier per label."
        )
    return found


def _without_limits(model: FourierModel) -> FourierModel:
    """Return the same function without limits: a limited column becomes a table.

    A slope between limits is a table of two knots, and a table that is clipped is one, too.
    """
    limits = np.column_stack([model.low, model.high])
    limited = np.flatnonzero(np.isfinite(limits).any(axis=1))
    if not len(limited):
        return model
    if not np.isfinite(limits[limited]).all():
        raise ValueError(
            "low and high must both be finite or both be infinite to be exported, got one of them "
            f"in column {limited[~np.isfinite(limits[limited]).all(axis=1)][0]}: give both."
        )
    found = on_knots(model, np.repeat(limited, 2), limits[limited].ravel())
    weights, columns = model.weights, found.knot_columns
    is_limited = np.isin(columns, limited)
    steps = np.where(is_limited, found.knots - model.origins[columns], 0.0)
    is_kept = (found.knots >= model.low[columns]) & (found.knots <= model.high[columns])
    weights_left = np.where(np.isin(np.arange(model.n_columns), limited)[:, np.newaxis], 0, weights)
    return replace(
        found,
        low=np.full(model.n_columns, -np.inf),
        high=np.full(model.n_columns, np.inf),
        turns=weights_left[model.seen, : model.n_waves],
        slopes=weights_left[:, model.n_waves :],
        knot_columns=columns[is_kept],
        knots=found.knots[is_kept],
        tables=(found.tables + steps[:, np.newaxis] * weights[columns])[is_kept],
    )


def check_single(model: FourierModel) -> None:
    """Raise ValueError if single precision cannot hold the numbers of a model.

    Numbers too large would be infinite. If the largest weight of a column is too small, the column
    would have no effect. Far from zero, neighbouring values of a column would be waves apart.
    """
    largest = np.abs(model.weights).max(axis=1, initial=0.0)
    parts = {
        "origins": model.origins,
        "slopes": largest,
        "constants": model.constants,
        "knots": model.knots,
        "tables": model.tables,
        "amplitudes": np.vstack([model.cosines, model.sines]),
    }
    for name, values in parts.items():
        _check_range(name, values)
    lost = np.flatnonzero((largest > 0) & (largest < SMALLEST))
    if len(lost):
        raise ValueError(
            f"slopes must be at least {SMALLEST:.1e} in single precision, got "
            f"{largest[lost[0]]:.1e} in column {lost[0]}: divide the column by a large number "
            "before the fit."
        )
    fastest = np.abs(model.weights[:, : model.n_waves]).max(axis=1, initial=0.0)
    gaps = np.spacing(np.abs(model.origins).astype(np.float32)).astype(np.float64)
    coarse = np.flatnonzero(gaps * fastest > _COARSEST)
    if len(coarse):
        raise ValueError(
            "columns must vary by much more than single precision is rounded by, got values around "
            f"{model.origins[coarse[0]]:.7g} in column {coarse[0]}: subtract a constant before the "
            "fit."
        )


def _check_range(name: str, values: FloatArray) -> None:
    """Raise ValueError if numbers would be infinite in single precision."""
    size = np.abs(values).max(initial=0.0)
    if not size <= LARGEST:
        raise ValueError(
            f"{name} must be at most {LARGEST:.1e} in single precision, got "
            f"{size:.1e}: measure columns and amounts in other units before the fit."
        )


def check_kernel(spectrum: Spectrum) -> None:
    """Raise ValueError unless a kernel is RBF, RationalQuadratic or a Mixture of these."""
    if isinstance(spectrum, Mixture):
        for component in spectrum.components:
            check_kernel(component)
    elif type(spectrum) not in (RBF, RationalQuadratic):
        raise ValueError(
            "kernel must be RBF, RationalQuadratic or a Mixture of these to be exported, got "
            f"{spectrum!r}: fit RBFLandmarks with one of these kernels."
        )
