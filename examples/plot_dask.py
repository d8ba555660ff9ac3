"""
A fit on a Dask cluster
=======================

Pass Dask collections to ``fit``, and the workers do the sums: each adds up its own blocks of rows,
and only the sums travel. The result is that of one machine.

It needs Dask: ``pip install "pacfourier[dask]"``.
"""

# %%
# A small cluster
# ---------------
#
# This cluster has two workers inside of this process. For a real one, pass the address of its
# scheduler: ``Client("tcp://scheduler:8786")``. Nothing else changes.

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, get_task_stream
from matplotlib.patches import Patch
from sklearn.datasets import make_moons

from pacfourier import PBRFF

client = Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")

# %%
# Rows in blocks
# --------------
#
# Two moons, 160,000 rows in 16 blocks. Here the blocks are cut from an array in memory, so that we
# can compare. Yours would come from files, for example by ``dask.dataframe.read_parquet``.

X, y = make_moons(160_000, noise=0.2, random_state=0)
X_blocks, y_blocks = da.from_array(X, chunks=(10_000, 2)), da.from_array(y, chunks=10_000)
settings = {"n_candidates": 2000, "precision": "double", "random_state": 0}
in_memory = PBRFF(20, **settings).fit(X, y)
with get_task_stream(client) as stream:
    on_cluster = PBRFF(20, **settings).fit(X_blocks, y_blocks)
client.close()
difference = np.abs(on_cluster.losses_ - in_memory.losses_).max()
print(f"largest difference of {len(in_memory.losses_):,} losses: {difference:.1e}")

# %%
# Who did what, and when
# ----------------------
#
# Dask has noted when each worker was busy. First both look at the labels, which takes no time.
# Then each adds up one block after another, and in between some sums are sent and merged. The
# losses agree with those of one machine to the last digits.

COLOURS = {"sum over a block": "#0072B2", "send sums": "#E69F00", "merge sums": "#D55E00"}
workers = sorted({task["worker"] for task in stream.data})
start = min(step["start"] for task in stream.data for step in task["startstops"])
figure, ax = plt.subplots(figsize=(10, 3.2), layout="constrained")
for task in stream.data:
    for step in task["startstops"]:
        kind = "merge sums" if "reduce" in str(task["key"]) else "sum over a block"
        kind = "send sums" if step["action"] == "transfer" else kind
        bar = [(step["start"] - start, step["stop"] - step["start"])]
        place = workers.index(task["worker"]) - 0.35
        edge = "white" if kind == "sum over a block" else COLOURS[kind]
        ax.broken_barh(bar, (place, 0.7), facecolor=COLOURS[kind], edgecolor=edge, linewidth=1)
ax.set_yticks(range(len(workers)), [f"worker {number + 1}" for number in range(len(workers))])
ax.set(title="16 blocks of rows on two workers", xlabel="seconds since the start of the fit")
ax.tick_params(axis="y", length=0)
ax.spines[["top", "right", "left"]].set_visible(False)
handles = [Patch(color=colour, label=kind) for kind, colour in COLOURS.items()]
figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
plt.show()
