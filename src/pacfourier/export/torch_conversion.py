"""Fitted estimators as torch modules."""

from typing import TYPE_CHECKING, Any

from pacfourier.estimators.base import FourierMap
from pacfourier.estimators.fourier_classifier import FourierClassifier
from pacfourier.estimators.fourier_regressor import FourierRegressor
from pacfourier.export.expressible import check_expressible
from pacfourier.extras import explain_missing_extra

if TYPE_CHECKING:
    from torch import nn

__all__ = ["to_torch"]


def to_torch(model: Any) -> "nn.Module":
    """Return a fitted estimator as a torch module.

    The module has the outputs of ``decision_function`` for a classifier, of ``predict`` for a
    regressor and of ``transform`` for a map. They can be differentiated in the samples and in all
    parameters. The module is in double precision; call ``.float()`` for single precision.
    Modules of classifiers also have ``predict_proba``. This function needs
    ``pip install "pacfourier[torch]"``.

    Parameters
    ----------
    model : FourierClassifier, FourierRegressor or a Fourier map of this package
        A fitted estimator. It shares no memory with the module.

    Returns
    -------
    module : torch.nn.Module
        It takes a tensor of shape (n_samples, n_features).

    Examples
    --------
    >>> import torch
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FourierClassifier(5, alpha=1.0, piecewise=False, random_state=0).fit(X, y)
    >>> to_torch(model)(torch.as_tensor(X)).shape
    torch.Size([150, 3])
    """
    if not isinstance(model, FourierClassifier | FourierRegressor | FourierMap):
        raise TypeError(
            "model must be a fitted predictor or Fourier map of pacfourier, got "
            f"{type(model).__name__}. Of a pipeline, export the step of pacfourier, and repeat the "
            "steps before it in torch."
        )
    with explain_missing_extra():
        from pacfourier.export import torch_modules

    check_expressible(model)
    if isinstance(model, FourierClassifier):
        return torch_modules.ClassifierModule(model)
    if isinstance(model, FourierRegressor):
        return torch_modules.RegressorModule(model)
    return torch_modules.FourierMapModule(model)
