"""
A stream of rows, and a certificate that may be watched
=======================================================

Rows often arrive in batches. ``partial_fit`` learns from each batch as it comes, and an *anytime*
certificate stays valid however often you look at it. So you may stop as soon as it is good enough.
"""

# %%
# Watch the certificate
# ---------------------
#
# ``PBRFF`` learns a kernel: a similarity that should be high within a class and low between the
# classes. Its certificate bounds how much the kernel disagrees with the labels of new rows, from 0
# for a perfect kernel to 0.5 for one that is useless here.
#
# An ordinary certificate is made for one look, after a number of rows that was fixed in advance.
# If you look after each batch and stop at the first good value, you have many chances to be fooled.
# ``bound="anytime"`` allows for all of these looks.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from pacfourier import PBRFF, FourierClassifier, alignment_losses

X_new, y_new = make_moons(2000, noise=0.2, random_state=1)
kernel = PBRFF(20, target_type="binary", random_state=0)
predictor = FourierClassifier(random_state=0)
GOAL = 0.36

rows, certified, kernel_losses, errors = [], [], [], []
for batch in range(40):
    X, y = make_moons(100, noise=0.2, random_state=100 + batch)
    kernel.partial_fit(X, y)
    predictor.partial_fit(X, y, classes=[0, 1])
    rows.append(100 * (batch + 1))
    certified.append(kernel.certificate(bound="anytime").value)
    new_losses = alignment_losses(X_new, y_new, kernel.frequencies_)
    kernel_losses.append(new_losses @ kernel.frequency_weights_)
    errors.append(100 - 100 * predictor.score(X_new, y_new))
stop = int(np.argmax(np.array(certified) < GOAL))
print(f"the certificate falls below {GOAL} after {rows[stop]:,} rows")

# %%
# What happens along the stream
# -----------------------------
#
# The certificate starts at 0.5, which promises nothing, and comes closer to the loss on new rows
# with every batch. It is allowed to stop at the dot. A ``FourierClassifier`` learns from the same
# batches, in one pass, and its errors become fewer.

BLUE, ORANGE = "#0072B2", "#D55E00"
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
left.plot(rows, certified, color=BLUE, linewidth=2.5, label="anytime certificate")
left.plot(rows, kernel_losses, color="#404040", linestyle="--", label="loss on new rows")
left.plot(rows[stop], certified[stop], "o", color=ORANGE, markersize=10, label=f"first value below {GOAL}")
left.set(title="The certificate comes down to the truth", ylabel="disagreement with the labels", ylim=(0.25, 0.5))
right.plot(rows, errors, color=BLUE, linewidth=2.5)
right.set(title="The predictor makes fewer errors", ylabel="error on new rows (%)", ylim=(0, None))
for ax in (left, right):
    ax.set(xlabel="rows seen so far", xlim=(0, None))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
figure.legend(loc="outside lower center", ncols=3, frameon=False)
plt.show()
