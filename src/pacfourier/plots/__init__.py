"""Plots of fitted estimators, as display objects in the style of scikit-learn.

They need matplotlib: ``pip install "pacfourier[plot]"``.
"""

from pacfourier.plots.prediction import PredictionDisplay
from pacfourier.plots.similarity import SimilarityDisplay

__all__ = ["PredictionDisplay", "SimilarityDisplay"]
