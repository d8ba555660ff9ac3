"""The function ``to_torch``, which loads torch when it is called."""

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from pacfourier.estimators.base import FourierMap
from pacfourier.estimators.fourier_predictor import FourierPredictor
from pacfourier.export.expressible import exported_model
from pacfourier.extras import explain_missing_extra
from pacfourier.model.fourier_model import FourierModel

if TYPE_CHECKING:
    from torch import nn


def to_torch(model: Any) -> "nn.Module":
    """Return a fitted estimator as a torch module.

    The module has the outputs of ``decision_function`` for a classifier, of ``predict`` for a
    regressor and of ``transform`` for a map. They can be differentiated in the samples and in all
    parameters. The module is in double precision; call ``.float()`` for single precision.
    Modules of classifiers also have ``predict_proba``. This function needs
    ``pip install "pacfourier[torch]"``.

    Parameters
    ----------
    model : FourierClassifier, FourierRegressor, FourierModel or a Fourier map of this package
        A fitted estimator, or a fitted model. It shares no memory with the module.

    Returns
    -------
    module : torch.nn.Module
        It takes a tensor of shape (n_samples, n_features).

    Examples
    --------
    >>> import torch
    >>> from sklearn.datasets import load_iris
    >>> from pacfourier import FourierClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FourierClassifier(5, alpha=1.0, piecewise=False, random_state=0).fit(X, y)
    >>> to_torch(model)(torch.as_tensor(X)).shape
    torch.Size([150, 3])
    """
    if not isinstance(model, FourierPredictor | FourierModel | FourierMap):
        raise TypeError(
            "model must be a fitted predictor or Fourier map of pacfourier, got "
            f"{type(model).__name__}. Of a pipeline, export the step of pacfourier, and repeat the "
            "steps before it in torch."
        )
    with explain_missing_extra():
        from pacfourier.export import torch_modules

    if isinstance(model, FourierMap):
        check_is_fitted(model)
        return torch_modules.FourierMapModule(model)
    found = exported_model(model)
    is_single = found.n_scores == 1 and not found.has_label_sets
    is_flat = bool(getattr(model, "_is_flat", is_single))
    if len(found.classes):
        return torch_modules.ClassifierModule(found, is_flat=is_flat)
    return torch_modules.PredictorModule(found, is_flat=is_flat)
