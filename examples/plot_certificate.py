"""
Reading a certificate
=====================

A certificate is a sum of three things: what was seen on the sample, a price for the sample being
finite, and a price for having learned from it. This example takes one apart, and shows what more
rows would buy.
"""

# %%
# The certificate of a kernel
# ---------------------------
#
# ``PBRFF`` learns a kernel: a similarity that should be 1 for two points on the same of two moons,
# and -1 for two points on different ones. The *alignment loss* says how far it is from that, on a
# scale from 0 to 1. All rows are used for learning, and none are held out. The certificate bounds
# the loss on new points all the same. We name its bound, ``"kl"``, because its formula is short.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from pacfourier import PBRFF, alignment_losses, bounds

X, y = make_moons(1500, noise=0.2, random_state=0)
X_new, y_new = make_moons(5000, noise=0.2, random_state=1)
model = PBRFF(20, target_type="binary", random_state=0).fit(X, y)
certificate = model.certificate(bound="kl")
new_loss = alignment_losses(X_new, y_new, model.frequencies_) @ model.frequency_weights_
print(certificate)

# %%
# Take it apart
# -------------
#
# The bound is a plain function of four numbers: the loss on the sample, the number of rows, the
# probability ``epsilon`` that it may fail, and the *divergence*, which says how far learning has
# moved away from the frequencies we started with. With a divergence of zero, we see what the bound
# would be if nothing had been learned. The rest is the price of learning.


def terms(n_rows):
    """Return the loss on the sample, the price of few rows, and the price of learning."""
    numbers = {"loss": certificate.empirical_loss, "n_samples": n_rows, "epsilon": 0.05}
    unlearned = bounds.kl(divergence=0.0, **numbers).value
    value = bounds.kl(divergence=certificate.divergence, **numbers).value
    return certificate.empirical_loss, unlearned - certificate.empirical_loss, value - unlearned


parts = terms(certificate.n_samples)
print(f"{' + '.join(f'{part:.3f}' for part in parts)} = {sum(parts):.3f}")

# %%
# The terms as a chart
# --------------------
#
# On the left, the three terms add up to the certificate. It is below the line of kernels that have
# nothing to do with the labels, so the kernel has learned something that holds for new points. On
# the right, the same bound for larger samples. The loss stays, and both prices shrink.

NAMES = ("loss on the sample", "price of few rows", "price of learning")
COLOURS = ("#0072B2", "#56B4E9", "#E69F00")
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
starts = np.cumsum([0, *parts])[:-1]
left.bar(range(3), parts, bottom=starts, color=COLOURS, width=0.6)
left.bar(3, sum(parts), color="#404040", width=0.6)
left.set_xticks(
    range(4), ["loss on\nthe sample", "price of\nfew rows", "price of\nlearning", "certificate"]
)
for place, (start, part) in enumerate(zip([*starts, 0], [*parts, sum(parts)], strict=True)):
    left.annotate(
        f"{part:.3f}", (place, start + part), (0, 4), textcoords="offset points", ha="center"
    )
unrelated = certificate.yardsticks.unrelated
for name, loss, colour, lift in (
    ("unrelated to the labels", unrelated, "#767676", 4),
    ("loss on new rows", new_loss, "#D55E00", -13),
):
    left.axhline(loss, color=colour, linestyle="--", linewidth=1.5)
    left.annotate(name, (0.75, loss), (0, lift), textcoords="offset points", color=colour)
left.set(title="Three terms make the certificate", ylabel="alignment loss", ylim=(0, 0.56))
left.tick_params(axis="x", length=0)

rows = np.logspace(2, 5, 40).astype(int)
right.stackplot(rows, np.transpose([terms(n) for n in rows]), colors=COLOURS, labels=NAMES)
right.axvline(certificate.n_samples, color="#404040", linestyle=":")
right.annotate(
    f"our {certificate.n_samples:,} rows",
    (certificate.n_samples, 0.56),
    (5, -12),
    textcoords="offset points",
)
right.set(title="More rows make it smaller", xlabel="number of rows", xscale="log", ylim=(0, 0.56))
right.xaxis.set_major_formatter("{x:,.0f}")
right.set_xlim(rows[0], rows[-1])
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
handles, labels = right.get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
plt.show()
