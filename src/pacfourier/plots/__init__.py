"""Plots of fitted estimators, as display objects in the style of scikit-learn.

They need matplotlib: ``pip install "pacfourier[plot]"``.
"""

from pacfourier.plots.certificate import CertificateDisplay
from pacfourier.plots.loss_spectrum import LossSpectrumDisplay
from pacfourier.plots.prediction import PredictionDisplay
from pacfourier.plots.similarity import SimilarityDisplay
from pacfourier.plots.waves import WavesDisplay

__all__ = [
    "CertificateDisplay",
    "LossSpectrumDisplay",
    "PredictionDisplay",
    "SimilarityDisplay",
    "WavesDisplay",
]
