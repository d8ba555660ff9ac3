"""
Landmarks before and after learning
===================================

A landmark map describes each row by its similarity to a few reference rows, the *landmarks*. A
kernel gives the same round similarity to every landmark. ``PBLandmarks`` learns another one for
each, from the labels.
"""

# %%
# A chequerboard
# --------------
#
# The classes are the colours of a chequerboard with four squares. We take the same five rows as
# landmarks for two maps: ``RBFLandmarks`` uses the RBF kernel as it is, and ``PBLandmarks`` learns.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from pacfourier import PBLandmarks, RBFLandmarks
from pacfourier.plots import SimilarityDisplay


def chequerboard(n_rows, seed):
    """Return points in a square, and the colour of their field."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n_rows, 2))
    return X + 0.05 * rng.standard_normal(X.shape), (X[:, 0] * X[:, 1] > 0).astype(int)


X, y = chequerboard(300, seed=0)
before = RBFLandmarks("random", n_landmarks=5, gamma=2.0, random_state=0).fit(X, y)
after = PBLandmarks("random", n_landmarks=5, gamma=2.0, random_state=0).fit(X, y)

# %%
# What few landmarks are good for
# -------------------------------
#
# A linear model on the similarities then tells the classes apart. We count its errors on new rows,
# on average over ten chequerboards.


def mean_error(landmarks, n_landmarks):
    """Return the mean error of a linear model on a map with some landmarks, in percent."""
    errors = []
    for seed in range(10):
        features = landmarks("random", n_landmarks=n_landmarks, gamma=2.0, random_state=seed)
        model = make_pipeline(features, LogisticRegression(C=100))
        model.fit(*chequerboard(300, seed))
        errors.append(100 - 100 * model.score(*chequerboard(1000, seed + 100)))
    return np.mean(errors)


SIZES = (2, 3, 5, 8, 12, 20)
errors = {
    "before learning": [mean_error(RBFLandmarks, size) for size in SIZES],
    "after learning": [mean_error(PBLandmarks, size) for size in SIZES],
}

# %%
# Before, the similarity is a round hill around the landmark, the star. After, it is high on the
# squares of the landmark's own colour and low on the others. Five learned similarities are worth
# more than five hills. With eight landmarks or more the hills catch up, and learning is needless.

figure = plt.figure(figsize=(11, 4.9), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=(3, 2))
axes = left.subplots(2, 3)
for row, model, name in zip(axes, (before, after), errors, strict=True):
    for landmark, ax in enumerate(row):
        last = SimilarityDisplay.from_estimator(model, X, y, landmark=landmark, ax=ax)
    row[0].set_ylabel(name, fontsize=12)
left.suptitle("Similarity to three of the five landmarks")
bar = left.colorbar(last.surface_, ax=axes, location="bottom", shrink=0.5, ticks=[-1, 0, 1])
bar.set_label("similarity to the star")
ax = right.subplots()
for (name, values), colour in zip(errors.items(), ("#767676", "#D55E00"), strict=True):
    ax.plot(SIZES, values, "o-", color=colour, linewidth=2.5, label=name)
ax.set(xlabel="number of landmarks", ylabel="error on new rows (%)", xticks=SIZES, ylim=(0, None))
ax.grid(alpha=0.25)
ax.spines[["top", "right"]].set_visible(False)
right.suptitle("Errors of a linear model on the similarities")
right.legend(loc="outside lower center", ncols=2, frameon=False)
plt.show()
