"""
A file larger than memory
=========================

A fit only adds up sums over rows, so the rows need not be in memory together. ``fit_batches`` reads
a Parquet file piece by piece. The memory it needs does not grow with the file, and the result is
the same as that of ``fit``.

It needs pyarrow and pandas: ``pip install "pacfourier[cli]"``.
"""

# %%
# Files of growing size
# ---------------------
#
# We write files of random rows, up to 200,000 of them, in groups of 10,000 rows. To keep the
# example short, they are not really larger than memory. What matters is how the memory grows.

import tempfile
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow

from pacfourier import PBRFF, fit_batches, parquet_batches

folder = tempfile.TemporaryDirectory()
N_COLUMNS, SIZES = 30, (25_000, 50_000, 100_000, 200_000)


def written_file(n_rows):
    """Write a table with a label to a Parquet file, and return its path."""
    X = np.random.default_rng(0).standard_normal((n_rows, N_COLUMNS), dtype=np.float32)
    table = pd.DataFrame(X, columns=[f"x{column}" for column in range(N_COLUMNS)])
    table["label"] = (X[:, 0] * X[:, 1] > 0).astype(int)
    path = Path(folder.name, f"{n_rows}.parquet")
    table.to_parquet(path, row_group_size=10_000)
    return path


paths = [written_file(n_rows) for n_rows in SIZES]

# %%
# Two ways to fit
# ---------------
#
# One reads the whole file, the other one group of rows at a time.


def fit_whole(path):
    """Fit on the whole table in memory."""
    table = pd.read_parquet(path)
    model = PBRFF(20, n_candidates=500, random_state=0)
    return model.fit(table.drop(columns="label"), table["label"])


def fit_in_batches(path):
    """Fit on one batch after another."""
    model = PBRFF(20, n_candidates=500, random_state=0)
    return fit_batches(model, parquet_batches(path, "label"))


# %%
# We add the memory of NumPy, which ``tracemalloc`` counts, to that of Arrow, which reads the file.
# A pool of Arrow counts its largest memory since the start, so we take one that was not used yet,
# and the fits in batches come first.

pool = pyarrow.system_memory_pool()
pyarrow.set_memory_pool(pool)


def peak_memory(fit, path):
    """Return the fitted model, and the largest memory so far in megabytes."""
    tracemalloc.start()
    model = fit(path)
    peak = tracemalloc.get_traced_memory()[1] + pool.max_memory()
    tracemalloc.stop()
    return model, peak / 1e6


fit_in_batches(paths[0])  # compiles what both need
batched, batched_memory = zip(*[peak_memory(fit_in_batches, path) for path in paths], strict=True)
whole, whole_memory = zip(*[peak_memory(fit_whole, path) for path in paths], strict=True)
difference = np.abs(whole[-1].losses_ - batched[-1].losses_).max()
print(f"largest difference of the losses: {difference:.1e}")
folder.cleanup()

# %%
# Both fits find the same losses for all candidate frequencies. But only one of them needs more
# memory for a larger file.

figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
ax.plot(SIZES, whole_memory, "o--", color="#767676", lw=2.5, label="fit on the whole file")
ax.plot(SIZES, batched_memory, "o-", color="#D55E00", lw=2.5, label="fit_batches, piece by piece")
ax.set(title="Memory that a fit needs", xlabel="rows in the file", ylabel="megabytes")
ax.set_xticks(SIZES, [f"{size:,}" for size in SIZES])
ax.set_ylim(0, None)
ax.grid(alpha=0.25)
ax.spines[["top", "right"]].set_visible(False)
figure.legend(loc="outside lower center", ncols=2, frameon=False)
plt.show()
