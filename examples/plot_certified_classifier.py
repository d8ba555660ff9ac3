"""
A classifier that certifies its own error
=========================================

A test error is an estimate. A certificate is a promise: with probability 0.95, the error on new
data is *at most* this number. This example fits a classifier with a certificate and shows what is
promised for each class.
"""

# %%
# Fit and certify in one line
# ---------------------------
#
# The data are 8 x 8 images of handwritten digits. ``certify=0.3`` sets three rows in ten apart,
# before anything is learned. The model never sees them. After the fit they are used once, to count
# its mistakes. We keep a quarter of all rows to check the promise.

from math import floor

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import recall_score
from sklearn.model_selection import train_test_split

from pacfourier import FourierClassifier

X, y = load_digits(return_X_y=True)
X_train, X_new, y_train, y_new = train_test_split(X, y, random_state=0)
model = FourierClassifier(20, certify=0.3, random_state=0).fit(X_train, y_train)
certificate = model.certificate_
print(certificate)

# %%
# The first line is the promise. ``observed error`` is the share of mistakes on the rows that were
# set apart. The bound is larger because there are only a few hundred of them: more rows would bring
# the two together. The list below says what must be true for the promise to hold, and what was
# checked.
#
# What is promised for each digit
# -------------------------------
#
# The *recall* of a class is the share of its members that are recognised. ``certificate.recall``
# holds a lower bound for every class, and all ten hold at once. That is harder than a promise for
# all rows together, and each class has a tenth of the rows, so the bounds are looser.

error = 1 - model.score(X_new, y_new)
recall = recall_score(y_new, model.predict(X_new), average=None)
promised = np.array([certificate.recall[digit] for digit in range(10)])

BLUE, ORANGE = "#0072B2", "#D55E00"
figure, ax = plt.subplots(figsize=(8.5, 4.6), layout="constrained")
names = ["all digits", *(f"digit {digit}" for digit in range(10))]
places = np.r_[0, np.arange(10) + 1.6]
seen, least = np.r_[1 - error, recall], np.r_[1 - certificate.error, promised]
ax.hlines(places, least, seen, color="#B5D3EA", linewidth=6, zorder=1)
ax.plot(
    least,
    places,
    "|",
    color=BLUE,
    markersize=15,
    markeredgewidth=3,
    label="certified: at least this share is right",
)
ax.plot(seen, places, "o", color=ORANGE, markersize=8, label="share that is right on new rows")
for place, value in zip(places, least, strict=True):
    ax.annotate(
        f"{floor(100 * value)} %",
        (value, place),
        (-9, 0),
        textcoords="offset points",
        va="center",
        ha="right",
        color=BLUE,
    )
ax.set_yticks(places, names)
ax.invert_yaxis()
ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
ax.set(title="What the certificate promises, and what new images show", xlim=(0.6, 1.01))
ax.tick_params(axis="y", length=0)
ax.grid(axis="x", alpha=0.25)
ax.spines[["top", "right", "left"]].set_visible(False)
figure.legend(loc="outside lower center", ncols=2, frameon=False)
plt.show()
