"""
Ten cosines against a thousand random ones
==========================================

Ten frequencies that are learned from the labels do better than a thousand random ones, if only some
of the columns matter.

Random Fourier features turn a kernel method into a linear one: they map each row to cosines and
sines, whose frequencies are drawn at random. It often takes hundreds of them to be accurate.
"""

# %%
# A small model that certifies itself
# -----------------------------------
#
# First the predictor of this package, on 8 x 8 images of handwritten digits. Twenty frequencies are
# enough. ``certify=0.2`` keeps a fifth of the rows apart, and these rows tell how often the model
# will be wrong on new ones.

from math import ceil

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from pacfourier import FourierClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = FourierClassifier(20, certify=0.2, random_state=0).fit(X_train, y_train)
test_error = 1 - model.score(X_test, y_test)
bound = ceil(1000 * model.certificate_.error) / 1000
print(f"test error {test_error:.3f}, certified to be at most {bound}")

# %%
# Learned and random frequencies, side by side
# --------------------------------------------
#
# Now we compare feature maps, each followed by the same linear model. ``RFF`` draws its frequencies
# at random and ignores the labels. It needs a bandwidth, ``gamma``. We try three, and keep the one
# that is best *on the test rows*, which favours the random features. ``BoostedRFF`` learns its
# frequencies from the labels, and has nothing to choose.
#
# The first data set is Friedman's well-known function, with noise. It has twenty columns here, of
# which five matter. The second is the digits, where nearly every pixel matters a little.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline

from pacfourier import RFF, BoostedRFF

RANDOM_SIZES, LEARNED_SIZES = (5, 10, 30, 100, 300, 1000), (5, 10, 30)
GAMMAS = (0.03, 0.1, 0.3)


def error(features, linear, data, seed):
    """Return 1 - accuracy, or 1 - R², of a linear model on a feature map, in percent."""
    X_train, X_test, y_train, y_test = train_test_split(*data, random_state=seed)
    model = make_pipeline(features, linear).fit(X_train, y_train)
    return 100 - 100 * model.score(X_test, y_test)


def random_error(size, *task):
    """Return the error of random features with the best of three bandwidths."""
    seed = task[-1]
    maps = [RFF(size, gamma=gamma, random_state=seed) for gamma in GAMMAS]
    return min(error(features, *task) for features in maps)


def learned_error(size, *task):
    """Return the error of learned features."""
    return error(BoostedRFF(size, random_state=task[-1]), *task)


def mean_errors(error_of, sizes, *task):
    """Return the mean error over two splits of the data for each number of frequencies."""
    return [np.mean([error_of(size, *task, seed) for seed in range(2)]) for size in sizes]


tasks = {
    "Friedman's function: 5 of 20 columns matter": (
        RidgeCV(np.logspace(-5, 3, 9)),
        make_friedman1(1000, n_features=20, noise=1, random_state=0),
    ),
    "Handwritten digits: every pixel matters": (
        LogisticRegression(C=100, max_iter=1000),
        (X / 16, y),
    ),
}
random = {name: mean_errors(random_error, RANDOM_SIZES, *task) for name, task in tasks.items()}
learned = {name: mean_errors(learned_error, LEARNED_SIZES, *task) for name, task in tasks.items()}
for name in tasks:
    print(
        f"{name}\n  ten learned: {learned[name][1]:.1f} %, 1,000 random: {random[name][-1]:.1f} %"
    )

# %%
# Random frequencies look at all columns alike, and no number of them makes up for that on
# Friedman's function. Learned ones turn away from the columns that do not matter. On the digits
# the picture is different: ten learned frequencies are worth about forty random ones, and with
# enough of them, random features win.

ORANGE, GREY = "#D55E00", "#767676"
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for ax, name in zip(axes, tasks, strict=True):
    ax.plot(RANDOM_SIZES, random[name], "o--", color=GREY, label="random frequencies")
    ax.plot(LEARNED_SIZES, learned[name], "o-", color=ORANGE, lw=2.5, label="learned frequencies")
    ax.axhline(learned[name][1], color=ORANGE, lw=1, linestyle=":", label="ten learned ones")
    ax.set(title=name, xlabel="number of frequencies", xscale="log", yscale="log")
    ax.minorticks_off()
    ax.set_xticks(RANDOM_SIZES, [f"{size:,}" for size in RANDOM_SIZES])
    ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100) if tick > ax.get_ylim()[0]]
    ax.set_yticks(ticks, [f"{tick} %" for tick in ticks])
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("error on new rows (1 - R²)")
axes[1].set_ylabel("error on new images")
handles = axes[0].get_legend_handles_labels()
figure.legend(*handles, loc="outside lower center", ncols=3, frameon=False)
plt.show()
