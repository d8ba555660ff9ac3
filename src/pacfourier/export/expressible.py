"""What exported models can express, and the errors for what they cannot."""

from math import factorial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pacfourier.arrays import FloatArray
from pacfourier.core.boosting.columns import WIDEST
from pacfourier.core.boosting.folded import FoldedModel
from pacfourier.estimators.fourier_predictor import FourierPredictor
from pacfourier.spectra import RBF, Laplacian, Matern, Mixture, RationalQuadratic, Spectrum

__all__ = [
    "check_expressible",
    "check_kernel",
    "dense",
    "exported_model",
    "matern_polynomial",
]


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
    """Raise ValueError unless a kernel has a formula of powers, exponentials and logarithms."""
    if isinstance(spectrum, Mixture):
        for component in spectrum.components:
            check_kernel(component)
        return
    is_matern = isinstance(spectrum, Matern) and float(spectrum.nu - 0.5).is_integer()
    if not is_matern and type(spectrum) not in (RBF, Laplacian, RationalQuadratic):
        raise ValueError(
            "kernel must be RBF, Laplacian, RationalQuadratic, Matern with nu = 0.5, 1.5, 2.5 and "
            f"so on, or a Mixture of these, to be exported, got {spectrum!r}. Fit RBFLandmarks "
            "with one of these kernels."
        )


def matern_polynomial(nu: float) -> FloatArray:
    r"""Return the coefficients of a Matern kernel of half-integer smoothness, lowest power first.

    For :math:`\nu = p + 1/2` the Bessel function of the kernel is an exponential times a
    polynomial (Rasmussen and Williams, 2006, Equation 4.16):

    .. math:: k = e^{-r} \frac{p!}{(2p)!} \sum_{i=0}^p \frac{(p + i)!}{i!\,(p - i)!} (2 r)^{p - i} .

    Parameters
    ----------
    nu : float
        The smoothness of the kernel.

    Examples
    --------
    >>> matern_polynomial(1.5)
    array([1., 1.])
    """
    p = int(nu - 0.5)
    terms = [factorial(p + i) / (factorial(i) * factorial(p - i)) for i in range(p, -1, -1)]
    powers = 2.0 ** np.arange(p + 1)
    return np.array(terms) * powers * (factorial(p) / factorial(2 * p))


def dense(points: Any) -> FloatArray:
    """Return landmarks as a dense array in double precision."""
    array = points.toarray() if hasattr(points, "toarray") else points
    return np.asarray(array, dtype=np.float64)
