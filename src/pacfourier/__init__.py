"""Learn the Fourier features of a kernel from labels, with a PAC-Bayes certificate."""

from pacfourier import arrays, bounds, spectra
from pacfourier.data.batches import fit_batches
from pacfourier.data.parquet import parquet_batches
from pacfourier.estimators.boosted_rff import BoostedRFF
from pacfourier.estimators.certify import certify
from pacfourier.estimators.certify_predictions import certify_predictions
from pacfourier.estimators.fourier_classifier import FourierClassifier
from pacfourier.estimators.fourier_regressor import FourierRegressor
from pacfourier.estimators.gibbs_rff import GibbsRFF
from pacfourier.estimators.holdout import holdout_certificate
from pacfourier.estimators.losses import alignment_losses
from pacfourier.estimators.okrff import OKRFF
from pacfourier.estimators.pb_landmarks import PBLandmarks
from pacfourier.estimators.pbrff import PBRFF
from pacfourier.estimators.rbf_landmarks import RBFLandmarks
from pacfourier.estimators.rff import RFF
from pacfourier.pacbayes.balls import divergence_ball_posterior, kl_ball_posterior
from pacfourier.pacbayes.certificate import Assumption, Certificate
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
    "FourierRegressor",
    "GibbsRFF",
    "PBLandmarks",
    "RBFLandmarks",
    "RegressionCertificate",
    "alignment_losses",
    "bounds",
    "certify",
    "certify_predictions",
    "divergence_ball_posterior",
    "fit_batches",
    "gibbs_posterior",
    "holdout_certificate",
    "kl_ball_posterior",
    "parquet_batches",
    "spectra",
]
__version__ = "0.1.0.dev0"


def _load_tensors() -> None:
    import pacfourier.tensors  # noqa: F401


arrays.when_tensors_arrive(_load_tensors)
