"""
The toy of the paper: two moons
===============================

This repeats Figure 1 of the paper on which the package is built (Letarte, Morvant and Germain,
2019). It shows what learning does to a kernel in the plane, and to the frequencies behind it.
"""

# %%
# Five landmarks
# --------------
#
# The setting is that of the paper: 300 points on two moons, and five of them are *landmarks*. Each
# point is described by its similarity to the landmarks, and a linear SVM tells the moons apart.
# Before learning, the similarity is the RBF kernel. It is an average of many waves, whose
# frequencies are drawn at random around zero. Learning gives large weights to the waves that agree
# with the labels, seen from the landmark, and small weights to the others.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from pacfourier import PBLandmarks, RBFLandmarks
from pacfourier.plots import SimilarityDisplay


def models(seed):
    """Return a linear SVM on the kernel map, and one on the learned map, with equal landmarks."""
    common = {"n_landmarks": 5, "gamma": 2.0, "random_state": seed}
    before = RBFLandmarks("random", **common)
    after = PBLandmarks("random", n_frequencies=20, beta=1.0, **common)
    return [make_pipeline(each, LinearSVC(C=100, dual=False)) for each in (before, after)]


def errors(seed):
    """Return the test errors of both models in percent."""
    train = make_moons(300, noise=0.15, random_state=seed)
    test = make_moons(2000, noise=0.15, random_state=1000 + seed)
    return [100 - 100 * model.fit(*train).score(*test) for model in models(seed)]


mean_errors = np.mean([errors(seed) for seed in range(20)], axis=0)
print(f"test errors over 20 samples: {mean_errors[0]:.1f} % before, {mean_errors[1]:.1f} % after")
