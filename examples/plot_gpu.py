"""
The same fit on a GPU
=====================

Pass torch tensors instead of arrays, and the fit runs where the tensors are. On a GPU, a million
rows take 37 milliseconds. This example runs on yours if it finds one, and otherwise shows
times that were measured before.

It needs torch: ``pip install "pacfourier[torch]"``.
"""

# %%
# Tensors in, the same numbers out
# --------------------------------
#
# The same seed gives the same candidate frequencies on every device, so a fit on tensors finds the
# same losses as a fit on arrays, up to rounding.

import time

import matplotlib.pyplot as plt
import numpy as np
import torch

from pacfourier import PBRFF

device = "cuda" if torch.cuda.is_available() else "cpu"


def sample(n_rows):
    """Return random rows with 108 columns, and two classes that depend on two of them."""
    X = np.random.default_rng(0).standard_normal((n_rows, 108), dtype=np.float32)
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


X, y = sample(2000)
on_arrays = PBRFF(100, random_state=0).fit(X, y)
tensors = torch.as_tensor(X, device=device), torch.as_tensor(y, device=device)
on_tensors = PBRFF(100, random_state=0).fit(*tensors)
difference = np.abs(on_arrays.losses_ - on_tensors.losses_).max()
print(f"largest difference of {len(on_arrays.losses_):,} losses on {device}: {difference:.1e}")

# %%
# How the time grows with the rows
# --------------------------------
#
# ``SAVED`` holds seconds per fit that this code measured on one NVIDIA H200 and on the 16 CPU cores
# of the same machine (torch 2.11, Triton 3.6). They are also in the documentation, on the page
# about speed and scale. With a GPU at hand, your own times replace them.

ROWS = (1_000, 10_000, 100_000, 1_000_000)
SAVED = {
    "16 CPU cores": [0.034, 0.108, 0.91, 7.8],
    "NVIDIA H200": [0.008, 0.007, 0.012, 0.037],
}


def seconds(X, y):
    """Return the median time of three fits, after one that compiles and warms up."""
    times = []
    for _ in range(4):
        start = time.perf_counter()
        PBRFF(100, random_state=0).fit(X, y)
        times.append(time.perf_counter() - start)
    return np.median(times[1:])


times = SAVED
if device == "cuda":
    name = torch.cuda.get_device_name()
    times = {"your CPU cores": [], f"your {name}": []}
    for n_rows in ROWS:
        X, y = sample(n_rows)
        tensors = torch.as_tensor(X, device=device), torch.as_tensor(y, device=device)
        times["your CPU cores"].append(seconds(X, y))
        times[f"your {name}"].append(seconds(*tensors))

# %%
# Up to a hundred thousand rows, the GPU hardly notices them: a fit takes as long as it takes to
# start the work.

figure, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
for (name, values), colour in zip(times.items(), ("#767676", "#D55E00"), strict=True):
    ax.loglog(ROWS, values, "o-", color=colour, linewidth=2.5, markersize=8)
    label = f"{name}\n{values[-1]:.2g} s"
    ax.annotate(
        label,
        (ROWS[-1], values[-1]),
        (12, 0),
        textcoords="offset points",
        va="center",
        color=colour,
    )
ax.set(title="One fit of PBRFF: 108 columns, 20,000 candidate frequencies", xlabel="rows")
ax.set_xticks(ROWS, ["1 thousand", "10 thousand", "100 thousand", "1 million"])
ax.set_yticks([0.01, 0.1, 1, 10], ["10 ms", "0.1 s", "1 s", "10 s"])
ax.minorticks_off()
ax.grid(alpha=0.25)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
