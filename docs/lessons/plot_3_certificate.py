"""
3. What a certificate says
==========================

A model makes 5 errors in 200 test rows, which is 2.5 %. Is its true error 2.5 %? Perhaps it was
lucky. A certificate is a number that the true error exceeds only in rare samples. This lesson shows
what "rare" means, by drawing many samples.
"""

# %%
# Many samples of one model
# -------------------------
#
# Suppose that a model is wrong on 5 % of all rows that will ever come. We do not know this number.
# We see 200 rows, count the errors, and ask for a bound that fails in at most 1 sample of 20. Here
# are 100 such samples, with the observed error (dot) and the bound (bar):

from math import ceil

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from pacfourier import PBRFF, bounds

TRUE_ERROR, N_ROWS = 0.05, 200
counts = np.random.default_rng(0).binomial(N_ROWS, TRUE_ERROR, size=100)
certified = np.array(
    [bounds.holdout(n_errors=int(k), n_samples=N_ROWS, epsilon=0.05).value for k in counts]
)
failed = certified < TRUE_ERROR

figure, ax = plt.subplots(figsize=(10, 3.2), layout="constrained")
for is_shown, colour, label in ((~failed, "C0", "bound holds"), (failed, "C3", "bound fails")):
    samples = np.flatnonzero(is_shown)
    ax.vlines(samples, counts[is_shown] / N_ROWS, certified[is_shown], color=colour, label=label)
    ax.plot(samples, counts[is_shown] / N_ROWS, ".", color=colour)
ax.axhline(TRUE_ERROR, color="k", linestyle=":", label="true error")
ax.set(xlabel="sample", ylabel="error")
ax.legend(frameon=False, ncols=3, loc="lower right", bbox_to_anchor=(1, 1))
plt.show()

print(f"{failed.sum()} of 100 bounds fail.")

# %%
# The number in the certificate is not the error, and not the probability of an error. It is a bar
# that was made long enough to reach the truth in at least 19 of 20 samples. We never know whether
# ours is one of the 19. More rows make the bar shorter:

for n_rows in (100, 1000, 10_000):
    bound = bounds.holdout(n_errors=n_rows // 20, n_samples=n_rows, epsilon=0.05).value
    print(f"5 % of {n_rows:6,} rows wrong: certified at {ceil(1000 * bound) / 1000}")

# %%
# A certificate without a test set
# --------------------------------
#
# A PAC-Bayes certificate needs no held-out rows. It compares the posterior of lesson 2 with the
# prior. If the posterior stayed near the prior, it cannot have learned the accidents of one sample.
# The certificate of a kernel has two parts: the loss on the sample, and the price of learning. The
# price grows with the divergence and shrinks with the number of rows.

X, y = load_breast_cancer(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
sizes = (50, 100, 200, 400, 569)
certificates = []
for size in sizes:
    rows = order[:size]
    model = PBRFF(10, target_type="binary", random_state=0).fit(X[rows], y[rows])
    certificates.append(model.certificate())

figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
losses = np.array([certificate.empirical_loss for certificate in certificates])
values = np.array([certificate.value for certificate in certificates])
places = np.arange(len(sizes))
ax.bar(places, losses, color="C0", label="loss on the sample")
ax.bar(places, values - losses, bottom=losses, color="C1", label="price of learning")
ax.axhline(certificates[-1].yardsticks.unrelated, color="k", linestyle=":")
ax.annotate("a kernel unrelated to the labels", (2.6, 0.475))
ax.set(xticks=places, xticklabels=sizes, xlabel="rows", ylabel="alignment loss", ylim=(0, 0.6))
ax.legend(frameon=False, ncols=2, loc="upper left")
plt.show()

# %%
# With few rows, the price is high, and the certificate says nothing: it is not below what a kernel
# has that is unrelated to the labels. With more rows the price falls, and the certificate proves
# that the kernel knows something about labels that nobody has seen.
#
# The page on certificates lists what must hold for this: the rows are independent draws, and the
# prior was chosen without looking at them.
