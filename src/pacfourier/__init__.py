"""Learn the Fourier features of a kernel from labels, with a PAC-Bayes certificate.

Public names are imported when they are first used, so that the command line starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pacfourier.tensor_loading import when_tensors_arrive

if TYPE_CHECKING:
    from pacfourier import bounds, spectra
    from pacfourier.data.batches import fit_batches
    from pacfourier.data.parquet import parquet_batches
    from pacfourier.estimators.boosted_rff import BoostedRFF
    from pacfourier.estimators.certify import certify
    from pacfourier.estimators.device_batches import device_batches
    from pacfourier.estimators.fourier_classifier import FourierClassifier
    from pacfourier.estimators.fourier_regressor import FourierRegressor
    from pacfourier.estimators.gibbs_rff import GibbsRFF
    from pacfourier.estimators.losses import alignment_losses
    from pacfourier.estimators.okrff import OKRFF
    from pacfourier.estimators.pb_landmarks import PBLandmarks
    from pacfourier.estimators.pbrff import PBRFF
    from pacfourier.estimators.rbf_landmarks import RBFLandmarks
    from pacfourier.estimators.rff import RFF
    from pacfourier.model.fourier_model import FourierModel
    from pacfourier.pacbayes.assumptions import Assumption
    from pacfourier.pacbayes.balls import divergence_ball_posterior, kl_ball_posterior
    from pacfourier.pacbayes.certificate import Certificate
    from pacfourier.pacbayes.posteriors import gibbs_posterior
    from pacfourier.pacbayes.prediction_certificate import (
        ClassificationCertificate,
        RegressionCertificate,
    )

__all__ = [
    "OKRFF",
    "PBRFF",
    "RFF",
    "Assumption",
    "BoostedRFF",
    "Certificate",
    "ClassificationCertificate",
    "FourierClassifier",
    "FourierModel",
    "FourierRegressor",
    "GibbsRFF",
    "PBLandmarks",
    "RBFLandmarks",
    "RegressionCertificate",
    "alignment_losses",
    "bounds",
    "certify",
    "device_batches",
    "divergence_ball_posterior",
    "fit_batches",
    "gibbs_posterior",
    "kl_ball_posterior",
    "parquet_batches",
    "spectra",
]
__version__ = "0.1.0"

# The module of each public name that is not a module itself.
_HOMES = {
    "OKRFF": "pacfourier.estimators.okrff",
    "PBRFF": "pacfourier.estimators.pbrff",
    "RFF": "pacfourier.estimators.rff",
    "Assumption": "pacfourier.pacbayes.assumptions",
    "BoostedRFF": "pacfourier.estimators.boosted_rff",
    "Certificate": "pacfourier.pacbayes.certificate",
    "ClassificationCertificate": "pacfourier.pacbayes.prediction_certificate",
    "FourierClassifier": "pacfourier.estimators.fourier_classifier",
    "FourierModel": "pacfourier.model.fourier_model",
    "FourierRegressor": "pacfourier.estimators.fourier_regressor",
    "GibbsRFF": "pacfourier.estimators.gibbs_rff",
    "PBLandmarks": "pacfourier.estimators.pb_landmarks",
    "RBFLandmarks": "pacfourier.estimators.rbf_landmarks",
    "RegressionCertificate": "pacfourier.pacbayes.prediction_certificate",
    "alignment_losses": "pacfourier.estimators.losses",
    "certify": "pacfourier.estimators.certify",
    "device_batches": "pacfourier.estimators.device_batches",
    "divergence_ball_posterior": "pacfourier.pacbayes.balls",
    "fit_batches": "pacfourier.data.batches",
    "gibbs_posterior": "pacfourier.pacbayes.posteriors",
    "kl_ball_posterior": "pacfourier.pacbayes.balls",
    "parquet_batches": "pacfourier.data.parquet",
}


def __getattr__(name: str) -> Any:
    """Import a public name. Python calls this once for each, because its value is kept."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name not in _HOMES:
        return import_module(f"{__name__}.{name}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _load_tensors() -> None:
    import pacfourier.tensors  # noqa: F401


when_tensors_arrive(_load_tensors)
