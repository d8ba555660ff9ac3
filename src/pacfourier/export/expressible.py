"""What exported models can express, and the errors for what they cannot."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pacfourier.core.boosting.columns import WIDEST
from pacfourier.core.boosting.folded import FoldedModel
from pacfourier.estimators.fourier_predictor import FourierPredictor
from pacfourier.spectra import RBF, Mixture, RationalQuadratic, Spectrum

__all__ = ["check_expressible", "check_kernel", "exported_model"]


def check_expressible(model: Any) -> None:
    """Raise an error if an estimator is not fitted, or was fitted on what cannot be exported."""
    check_is_fitted(model)
    if not isinstance(model, FourierPredictor):
        return
    name = type(model).__name__
    if model._encoder is not None:
        raise ValueError(
            f"{name} must be fitted on numbers to be exported, got a fit on a data frame with "
            "text, categories or gaps: encode the columns before the fit, for example with a "
            "ColumnTransformer."
        )
    if model._trained.folded is None:
        raise ValueError(
            f"{name} must be fitted on at most {WIDEST} columns to be exported, got a fit on "
            f"sparse samples with {model.n_features_in_} columns: select columns before the fit, "
            "for example with SelectKBest."
        )


def exported_model(model: Any) -> FoldedModel:
    """Return the folded model of a predictor in double precision.

    The outputs of a regressor are its amounts, in the units of the labels.
    """
    folded: FoldedModel = model._trained.folded
    if hasattr(model, "classes_"):
        return folded
    return in_label_units(folded, model._unit, model._centre)


def in_label_units(model: FoldedModel, unit: Any, centre: Any) -> FoldedModel:
    """Return a folded model whose outputs are amounts, in the units of the labels."""
    size = len(model.amplitudes) // 2
    factors = np.concatenate([np.ones(size), unit])
    return model._replace(
        weights=model.weights * factors,
        constants=model.constants * factors + np.concatenate([np.zeros(size), centre]),
        tables=model.tables * factors,
        amplitudes=model.amplitudes * unit,
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
