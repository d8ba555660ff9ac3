"""
1. A kernel is an average of cosines
====================================

A kernel says how similar two points are. Many kernels depend only on the difference of the points.
This lesson shows that such a kernel is an average of cosines. The distribution of their frequencies
is called the Fourier transform of the kernel.
"""

# %%
# A similarity
# ------------
#
# The Gaussian kernel, also called RBF, is :math:`k(\delta) = e^{-\gamma \delta^2}`, where
# :math:`\delta` is the difference of two points. It is 1 if the points are equal, and falls to 0
# when they are far apart.
#
# Now draw some frequencies :math:`\omega` from a normal law of variance :math:`2 \gamma`, and look
# at the cosines :math:`\cos(\omega \delta)`. All of them are 1 at :math:`\delta = 0`, where they
# agree. Further away they disagree, and their average falls.

import matplotlib.pyplot as plt
import numpy as np

from pacfourier.spectra import RBF, Laplacian, Matern

delta = np.linspace(-4, 4, 401)
kernel = RBF(gamma=1.0)
frequencies = kernel.sample(np.random.default_rng(0), 1000, n_features=1)[:, 0]
cosines = np.cos(frequencies[:, np.newaxis] * delta)

figure, axes = plt.subplots(1, 4, figsize=(11, 2.8), sharey=True, layout="constrained")
for ax, n_cosines in zip(axes, [1, 5, 50, 1000], strict=True):
    ax.plot(delta, cosines[: min(n_cosines, 5)].T, color="C1", linewidth=0.7, alpha=0.6)
    ax.plot(delta, cosines[:n_cosines].mean(axis=0), color="C0", linewidth=2)
    ax.plot(delta, kernel.kernel(delta[:, np.newaxis]), "k:")
    ax.set(title=f"average of {n_cosines:,}", xlabel="difference of two points")
axes[0].set_ylabel("similarity")
plt.show()

# %%
# Orange: up to five single cosines. Blue: the average. Dotted: the kernel. A thousand cosines are
# hard to tell from the kernel itself. The distance between the two shrinks like one over the square
# root of the number of cosines:

for n_cosines in (10, 100, 1000):
    average = cosines[:n_cosines].mean(axis=0)
    error = np.abs(average - kernel.kernel(delta[:, np.newaxis])).max()
    print(f"{n_cosines:5} cosines: largest error {error:.2f}")

# %%
# Every kernel has its own frequencies
# ------------------------------------
#
# Bochner's theorem says that this works for every kernel of this kind: its cosines have frequencies
# from one distribution, and this distribution is the Fourier transform of the kernel. A kernel with
# a sharp peak needs high frequencies. A smooth one has hardly any.

kernels = {
    "Gaussian": RBF(gamma=0.5),
    "Matern, smoothness 3/2": Matern(nu=1.5, gamma=0.5),
    "Laplacian": Laplacian(gamma=1.0),
}
omega = np.linspace(-6, 6, 401)
figure, (top, bottom) = plt.subplots(2, 3, figsize=(11, 4.6), sharey="row", layout="constrained")
for above, below, (name, kernel) in zip(top, bottom, kernels.items(), strict=True):
    above.plot(delta, kernel.kernel(delta[:, np.newaxis]), color="C0")
    above.set(title=name, xlabel="difference of two points")
    below.fill_between(omega, np.exp(kernel.log_density(omega[:, np.newaxis])), color="C1")
    below.set(xlabel="frequency")
top[0].set_ylabel("similarity")
bottom[0].set_ylabel("density")
plt.show()

# %%
# Wide and narrow
# ---------------
#
# A wide kernel calls even distant points similar. It is made of slow cosines, so its frequencies
# are small. A narrow kernel needs fast ones. What is wide on one side is narrow on the other.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
for gamma in (0.1, 0.5, 2.5):
    kernel = RBF(gamma)
    left.plot(delta, kernel.kernel(delta[:, np.newaxis]), label=f"gamma = {gamma}")
    right.plot(omega, np.exp(kernel.log_density(omega[:, np.newaxis])))
left.set(xlabel="difference of two points", ylabel="similarity")
left.legend(frameon=False)
right.set(xlabel="frequency", ylabel="density")
plt.show()

# %%
# What this is good for
# ---------------------
#
# The cosine of a difference is a sum of products, in which the two points stand apart:
#
# .. math:: \cos(\omega(x - x')) = \cos(\omega x) \cos(\omega x') + \sin(\omega x) \sin(\omega x') .
#
# So the average of cosines is a scalar product of two rows of features. A linear model on these
# features behaves like a kernel machine, at a fraction of the cost. :class:`pacfourier.RFF`
# computes them. In the next lesson, the labels choose which frequencies to keep.
