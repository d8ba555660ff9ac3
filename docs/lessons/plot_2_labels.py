"""
2. Labels choose the cosines
============================

Frequencies that are drawn at random know nothing about the labels. Most of them are useless. This
lesson draws many candidates, asks the labels how useful each of them is, and keeps the best.
"""

# %%
# How useful is one cosine?
# -------------------------
#
# One frequency :math:`\omega` gives one similarity, :math:`\cos(\omega \cdot (x - x'))`. It is
# useful if it is near 1 for two points with equal labels, and near -1 for two points with different
# labels. The *alignment loss* measures this over all pairs: 0 is perfect, and 1/2 is what a
# similarity has that knows nothing.
#
# :class:`pacfourier.PBRFF` computes the loss of 20,000 candidates and gives each candidate a weight
# that falls exponentially with its loss. The weights are called the *posterior*. Before the labels
# were seen, all candidates had the same weight: this was the *prior*.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from pacfourier import PBRFF
from pacfourier.spectra import RBF

X, y = make_moons(300, noise=0.12, random_state=0)
model = PBRFF(10, kernel=RBF(2.0), beta=10.0, target_type="binary", random_state=0).fit(X, y)
candidates = model.pool_[np.arange(len(model.pool_))]
likely = np.random.default_rng(0).choice(len(candidates), 400, p=model.posterior_)

# %%
# Before and after
# ----------------
#
# Left: the candidates (grey), and 400 draws from the posterior (red). The labels prefer a few
# directions and lengths. Middle: the similarity to one point, marked by a star, before learning. It
# is round, whatever the labels are. Right: the same similarity after learning. It follows the moon
# of the star, and is negative on the other moon.

axis = np.linspace(-1.7, 2.7, 90)
grid = np.stack(np.meshgrid(axis, axis - 0.25), axis=-1)
star = X[y == 1][3]
before = model.kernel.kernel(grid - star)
after = model.kernel_matrix(grid.reshape(-1, 2), star[np.newaxis]).reshape(before.shape)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.7), layout="constrained")
axes[0].scatter(*candidates[:4000].T, s=2, color="0.75", label="prior")
axes[0].scatter(*candidates[likely].T, s=8, color="#D55E00", label="posterior")
axes[0].legend(frameon=False, loc="upper right", markerscale=2)
axes[0].set(title="frequencies", xlim=(-7, 7), ylim=(-7, 7))
for ax, similarity, title in zip(axes[1:], (before, after), ("before", "after"), strict=True):
    ax.contourf(*grid.T.transpose(0, 2, 1), similarity, np.linspace(-1, 1, 21), cmap="PRGn")
    ax.scatter(*X.T, s=6, c=np.array(["#0072B2", "#D55E00"])[y], edgecolors="w", linewidths=0.3)
    ax.plot(*star, "*", color="gold", markersize=16, markeredgecolor="k")
    ax.set(title=f"similarity to the star, {title}")
for ax in axes:
    ax.set(xticks=[], yticks=[], aspect="equal")
plt.show()

# %%
# How strongly should labels count?
# ---------------------------------
#
# ``beta`` sets how much more weight a useful candidate gets. At 0, the posterior is the prior. At a
# large value, a single candidate has all the weight, and may have been lucky. The *divergence*
# measures how far the posterior is from the prior, and is the price of learning: the certificate of
# the next lesson grows with it.

figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), sharey=True, layout="constrained")
for ax, beta in zip(axes, (1.0, 10.0, 100.0), strict=True):
    weights = model.redraw(beta=beta).posterior_
    divergence = np.sum(weights * np.log(np.maximum(weights, 1e-300) * len(weights)))
    ax.scatter(model.losses_, weights / weights.max(), s=2)
    ax.set(title=f"beta = {beta:g}, divergence {divergence:.1f}", xlabel="loss of a candidate")
axes[0].set_ylabel("weight, relative to the largest")
plt.show()
