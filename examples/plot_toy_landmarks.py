"""Five landmarks, before and after learning (Figure 1 of the paper and its supplement twin).

Upper row: the RBF kernel around each landmark, the prior. Lower row: the similarities that twenty
frequencies learn from labels at beta = 1. Right: the decision of a linear SVM on the five columns.
"""

import time
from pathlib import Path

from pacfourier.datasets.toy import TOYS
from pacfourier.experiments.figures import toy_figure, toy_title
from pacfourier.experiments.summary import estimate
from pacfourier.experiments.toy import toy_maps, toy_row

N_SPLITS = 20


def test_errors(dataset, method):
    """Return the test error in % of every split."""
    rows = [toy_row(dataset, split, method) for split in range(N_SPLITS)]
    return {split: 100 * row["test_errors"] / row["n_test"] for split, row in enumerate(rows)}


def main():
    """Print the test errors over splits and save a figure a data set."""
    start = time.perf_counter()
    folder = Path("results")
    folder.mkdir(exist_ok=True)
    for dataset in TOYS:
        errors = {method: estimate(test_errors(dataset, method)) for method in toy_maps(0)}
        for method, error in errors.items():
            print(f"{dataset}: {toy_title(method, error)}")
        toy_figure(dataset, errors).savefig(
            folder / f"toy_{dataset.replace(' ', '_')}.png", dpi=110
        )
    print(f"figures saved to {folder}; {time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
