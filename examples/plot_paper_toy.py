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
from matplotlib.colors import ListedColormap
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

# %%
# Before and after
# ----------------
#
# The first column shows the frequencies behind the similarity to one landmark, the star. Before
# learning, all weights are equal. After, a few waves carry most of the weight. The second column
# shows the similarity, and the third the decision that the linear SVM makes of all five.

X, y = make_moons(300, noise=0.15, random_state=0)
fitted = [model.fit(X, y) for model in models(seed=0)]
learned = fitted[1][0]
frequencies = learned.frequencies_of(0)
weights = [np.full(len(frequencies), 1 / len(frequencies)), learned.posterior_[0]]
figure, axes = plt.subplots(2, 3, figsize=(10.5, 6.6), layout="constrained")
for row, model, weight, error in zip(axes, fitted, weights, mean_errors, strict=True):
    row[0].axhline(0, color="#CCCCCC", linewidth=0.8)
    row[0].axvline(0, color="#CCCCCC", linewidth=0.8)
    row[0].scatter(*frequencies.T, s=1500 * weight, color="#0072B2", alpha=0.6, linewidths=0)
    row[0].set(xticks=[], yticks=[], aspect="equal", xlim=(-6, 6), ylim=(-6, 6))
    similarity = SimilarityDisplay.from_estimator(model[0], X, y, landmark=0, ax=row[1])
    DecisionBoundaryDisplay.from_estimator(
        model, X, response_method="predict", cmap=ListedColormap(["#F6CDB4", "#B5D3EA"]), ax=row[2]
    )
    row[2].scatter(*X.T, c=np.array(["#D55E00", "#0072B2"])[y], s=8)
    row[2].plot(*model[0].landmarks_.T, "*", color="gold", markersize=15, markeredgecolor="black")
    row[2].set(xticks=[], yticks=[], xlabel=f"mean test error {error:.1f} %")
axes[0, 0].set(title="Frequencies, by weight", ylabel="before learning")
axes[1, 0].set(ylabel="after learning")
axes[0, 1].set_title("Similarity to a landmark")
axes[0, 2].set_title("Decision from five landmarks")
figure.colorbar(similarity.surface_, ax=axes[:, 1], location="bottom", pad=0.02, ticks=[-1, 0, 1])
plt.show()
