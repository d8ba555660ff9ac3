"""Five landmarks, before and after learning (Figure 1 of the paper and its supplement twin).

Upper row: the RBF kernel around each landmark, the prior. Lower row: the similarities that twenty
frequencies learn from labels at beta = 1. Right: the decision of a linear SVM on the five columns.
"""

import time
from pathlib import Path

import numpy as np

from pacfourier.datasets.toy import TOYS
from pacfourier.experiments.figures import toy_figure
from pacfourier.experiments.toy import toy_maps, toy_row

N_SPLITS = 20


def test_errors(dataset, method):
    """Return the test errors in % over splits."""
    rows = [toy_row(dataset, split, method) for split in range(N_SPLITS)]
    return [100 * row["test_errors"] / row["n_test"] for row in rows]


def main():
    """Print the test errors over splits and save a figure a data set."""
    start = time.perf_counter()
    folder = Path("results")
    folder.mkdir(exist_ok=True)
    for dataset in TOYS:
        errors = {method: test_errors(dataset, method) for method in toy_maps(0)}
        summary = ", ".join(
            f"{method} {np.mean(values):.1f} (+- {np.std(values) / len(values) ** 0.5:.1f})"
            for method, values in errors.items()
        )
        print(f"{dataset}: test error in %, {N_SPLITS} splits: {summary}")
        toy_figure(dataset).savefig(folder / f"toy_{dataset.replace(' ', '_')}.png", dpi=110)
    print(f"figures saved to {folder}; {time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
