"""
A stream of rows, and a certificate that may be watched
=======================================================

Rows often arrive in batches. ``partial_fit`` learns from each batch as it comes, and an *anytime*
certificate stays valid however often you look at it. So you may stop as soon as it is good enough.
"""

# %%
# Learn from batches
# ------------------
#
# ``PBRFF`` learns a kernel: a similarity that should be high within a class and low between the
# classes. Its certificate bounds how much the kernel disagrees with the labels of new rows, from 0
# for a perfect kernel to 0.5 for one that is unrelated to the labels.
#
# An ordinary certificate is made for one look, after a number of rows that was fixed in advance.
# If you look after each batch and stop at the first good value, you have many chances to be fooled.
# ``bound="anytime"`` stays valid however often you look.

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from pacfourier import PBRFF, alignment_losses

X_new, y_new = make_moons(2000, noise=0.2, random_state=1)
model = PBRFF(20, target_type="binary", random_state=0)
GOAL = 0.36

rows, certified, losses = [], [], []
for batch in range(40):
    X, y = make_moons(100, noise=0.2, random_state=100 + batch)
    model.partial_fit(X, y)
    rows.append(100 * (batch + 1))
    certified.append(model.certificate(bound="anytime").value)
    losses.append(alignment_losses(X_new, y_new, model.frequencies_) @ model.frequency_weights_)
stop = next(place for place, value in enumerate(certified) if value < GOAL)
print(f"the certificate falls below {GOAL} after {rows[stop]:,} rows")

# %%
# What happens along the stream
# -----------------------------
#
# The certificate starts near 0.5, which promises nothing, and comes down towards the loss on new
# rows with every batch. Our goal was 0.36, so we were free to stop at the dot. The rows after it
# would have bought little.

BLUE, ORANGE = "#0072B2", "#D55E00"
figure, ax = plt.subplots(figsize=(9, 4.4), layout="constrained")
ax.fill_between(rows, losses, certified, color="#E3EEF6", linewidth=0)
ax.plot(rows, certified, color=BLUE, linewidth=2.5, label="anytime certificate")
ax.plot(rows, losses, color="#404040", linestyle="--", label="loss on new rows")
ax.plot(rows[stop], certified[stop], "o", color=ORANGE, markersize=11, label="free to stop here")
ax.axhline(GOAL, color=ORANGE, linewidth=1, linestyle=":")
ax.annotate(
    f"goal {GOAL}", (rows[-1], GOAL), (0, 4), textcoords="offset points", color=ORANGE, ha="right"
)
ax.set(title="The certificate comes down as the rows come in", xlabel="rows so far")
ax.set(ylabel="disagreement of kernel and labels", xlim=(0, 4050), ylim=(0.25, 0.5))
ax.xaxis.set_major_formatter("{x:,.0f}")
ax.grid(alpha=0.25)
ax.spines[["top", "right"]].set_visible(False)
figure.legend(loc="outside lower center", ncols=3, frameon=False)
plt.show()
