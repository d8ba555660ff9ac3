"""Fitted estimators to torch modules, and back."""

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from pacfourier.core.boosting.cosine_model import CosineModel
from pacfourier.estimators.base import FourierMap
from pacfourier.estimators.boosted_rff import BoostedRFF
from pacfourier.estimators.fourier_classifier import FourierClassifier
from pacfourier.estimators.fourier_regressor import FourierRegressor
from pacfourier.estimators.pb_landmarks import PBLandmarks
from pacfourier.estimators.rbf_landmarks import RBFLandmarks
from pacfourier.estimators.training import Recipe, Trained
from pacfourier.export.expressible import check_expressible, check_kernel
from pacfourier.extras import explain_missing_extra

if TYPE_CHECKING:
    from torch import nn

__all__ = ["from_torch", "to_torch"]

CONVERTED = (FourierClassifier, FourierRegressor, FourierMap, RBFLandmarks, PBLandmarks)


def to_torch(model: Any) -> "nn.Module":
    """Return a fitted estimator as a torch module.

    The module has the outputs of ``decision_function`` for a classifier, of ``predict`` for a
    regressor and of ``transform`` for a map. They can be differentiated in the samples and in all
    parameters. The module is in double precision; call ``.float()`` for single precision.
    Modules of classifiers also have ``predict_proba``. This function needs
    ``pip install "pacfourier[torch]"``.

    Parameters
    ----------
    model : FourierClassifier, FourierRegressor or a map of this package
        A fitted estimator. It shares no memory with the module.

    Returns
    -------
    module : torch.nn.Module
        It takes a tensor of shape (n_samples, n_features).

    See Also
    --------
    from_torch : Return to an estimator, for example after training the module further.

    Examples
    --------
    >>> import torch
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FourierClassifier(5, strength=1.0, codes=False, random_state=0).fit(X, y)
    >>> to_torch(model)(torch.as_tensor(X)).shape
    torch.Size([150, 3])
    """
    if not isinstance(model, CONVERTED):
        raise TypeError(
            f"model must be a fitted estimator of pacfourier, got {type(model).__name__}. Of a "
            "pipeline, export the step of pacfourier, and repeat the steps before it in torch."
        )
    with explain_missing_extra():
        from pacfourier.export import torch_modules

    check_expressible(model)
    if isinstance(model, FourierClassifier):
        return torch_modules.ClassifierModule(model)
    if isinstance(model, FourierRegressor):
        return torch_modules.RegressorModule(model)
    if isinstance(model, FourierMap):
        return torch_modules.FourierMapModule(model)
    if isinstance(model, PBLandmarks):
        return torch_modules.SimilarityModule(model)
    check_kernel(model.spectrum_)
    return torch_modules.KernelModule(model)


def from_torch(module: "nn.Module") -> Any:
    """Return the fitted estimator of a module that ``to_torch`` made.

    The parameters of the module may have been trained further. No certificate holds for trained
    parameters, so the estimator has none: use ``certify_predictions`` or ``holdout_certificate``
    with rows that were not used for training. For the same reason, Fourier maps of every kind come
    back as ``BoostedRFF``, which is a map without a certificate of its own.

    Parameters
    ----------
    module : torch.nn.Module
        A module from ``to_torch``, on any device and in single or double precision.

    Returns
    -------
    model : FourierClassifier, FourierRegressor, BoostedRFF or RBFLandmarks
        A fitted estimator with the outputs of the module.

    See Also
    --------
    to_torch : Make such a module.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FourierClassifier(5, strength=1.0, codes=False, random_state=0).fit(X, y)
    >>> from_torch(to_torch(model)).score(X, y) == model.score(X, y)
    True
    """
    with explain_missing_extra():
        from pacfourier.export import torch_modules

    if isinstance(module, torch_modules.PredictorModule):
        return predictor_of(module)
    if isinstance(module, torch_modules.FourierMapModule):
        return map_of(module)
    if isinstance(module, torch_modules.KernelModule):
        return landmark_map_of(module)
    if isinstance(module, torch_modules.SimilarityModule):
        raise ValueError(
            "module must not come from PBLandmarks, whose weights follow from its sums over the "
            "samples, got SimilarityModule. Keep the estimator, or use RBFLandmarks."
        )
    raise TypeError(f"module must come from to_torch, got {type(module).__name__}.")


def array_of(parameter: Any) -> Any:
    """Return a copy of a parameter as an array in double precision."""
    return np.array(parameter.detach().cpu().double().numpy())


def predictor_of(module: Any) -> Any:
    """Return a predictor with the parameters of a module."""
    model = copy.copy(module.template)
    for name in ("certificate_", "_stream"):
        vars(model).pop(name, None)
    names = ("frequencies", "cosines", "sines", "linear", "intercept")
    cosine_model = CosineModel(*(array_of(getattr(module, name)) for name in names))
    found = Trained.of(cosine_model, model._trained.columns)
    model._store(found, Recipe(model.coded_, model.strength_))
    return model


def map_of(module: Any) -> BoostedRFF:
    """Return a Fourier map with the frequencies of a module.

    It knows the columns and the rows of the fit, so that certificates can be refused for these
    rows.
    """
    known, frequencies = module.template, array_of(module.frequencies)
    target_type = getattr(known, "target_type", "auto")
    model = BoostedRFF(len(frequencies), target_type=target_type)
    for name in ("classes_", "feature_names_in_", "n_features_in_", "_summary"):
        if hasattr(known, name):
            setattr(model, name, getattr(known, name))
    model.frequencies_, model.frequency_weights_ = frequencies, known.frequency_weights_
    model.pool_, model.posterior_ = model.frequencies_, model.frequency_weights_
    return model


def landmark_map_of(module: Any) -> RBFLandmarks:
    """Return a map to the kernel with the landmarks of a module."""
    model: RBFLandmarks = copy.copy(module.template)
    model.landmarks_, model.landmark_indices_ = array_of(module.landmarks), None
    return model
