"""
A classifier that abstains when it is not sure
==============================================

Some rows cannot be told apart by anyone. If a person can look at the difficult ones, a classifier
should say "I do not know" there. The certificate finds the confidence from which on its answers can
be trusted.
"""

# %%
# Two classes that overlap
# ------------------------
#
# Two noisy half moons overlap, so no classifier can be right everywhere. With ``certify=0.4``, two
# rows in five are held out for the certificate.

from math import ceil

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from pacfourier import FourierClassifier

X, y = make_moons(4000, noise=0.3, random_state=0)
model = FourierClassifier(certify=0.4, random_state=0).fit(X, y)
bound = ceil(1000 * model.certificate_.error) / 1000
print(f"certified error of all answers: {bound}")

# %%
# Ask for an error
# ----------------
#
# We ask for an error of at most 2 % among the answers that we accept. ``abstention`` returns the
# threshold: accept an answer if its probability, from ``predict_proba``, is at least this large.

abstention = model.certificate_.abstention(error=0.02)
threshold = ceil(1000 * abstention.threshold) / 1000
print(f"accept answers with a probability of {threshold} or more")

X_new, y_new = make_moons(20_000, noise=0.3, random_state=1)
confidence = model.predict_proba(X_new).max(axis=1)
is_wrong = model.predict(X_new) != y_new
is_accepted = confidence >= abstention.threshold
accepted_error = is_wrong[is_accepted].mean()
print(
    f"on 20,000 new rows, {is_accepted.mean():.1%} are accepted, {accepted_error:.2%} of them wrong"
)

# %%
# Where it abstains
# -----------------
#
# On the left, the model answers in the coloured areas and abstains in the grey one, where the
# classes overlap. On the right, the error falls as fewer answers are accepted. The certified
# threshold stays below the error that we asked for.

BLUE, ORANGE = "#0072B2", "#D55E00"
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
x1, x2 = np.meshgrid(np.linspace(-2, 3, 250), np.linspace(-1.6, 2.1, 250))
second = model.predict_proba(np.c_[x1.ravel(), x2.ravel()])[:, 1].reshape(x1.shape)
limits = [0, 1 - abstention.threshold, abstention.threshold, 1]
left.contourf(x1, x2, second, limits, colors=["#F6CDB4", "#EDEDED", "#B5D3EA"])
left.contour(x1, x2, second, limits[1:3], colors="#404040", linewidths=1)
for label, colour in enumerate((ORANGE, BLUE)):
    left.plot(*X_new[:800][y_new[:800] == label].T, ".", color=colour, markersize=4)
left.set(title="It answers in colour, and abstains in grey", xticks=[], yticks=[])

order = np.argsort(-confidence)
share = np.arange(1, len(order) + 1) / len(order)
errors = np.cumsum(is_wrong[order]) / np.arange(1, len(order) + 1)
right.plot(
    100 * share[200:], 100 * errors[200:], color=BLUE, linewidth=2, label="error on new rows"
)
right.axhline(2, color="#404040", linestyle=":", label="the error we asked for")
right.plot(
    100 * is_accepted.mean(),
    100 * accepted_error,
    "o",
    color=ORANGE,
    markersize=10,
    label="certified threshold",
)
right.set(
    title="The fewer answers, the fewer errors",
    xlabel="answers that are accepted (%)",
    ylabel="errors among them (%)",
)
right.set(xlim=(0, 101), ylim=(0, None))
right.grid(alpha=0.25)
right.spines[["top", "right"]].set_visible(False)
figure.legend(loc="outside lower center", ncols=3, frameon=False)
plt.show()
