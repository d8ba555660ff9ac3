"""Draw the similarity to five landmarks before and after learning from labels.

This repeats Figure 1 of the paper, and the matching figure of its supplement. The upper row shows
the RBF kernel around each landmark, which is the prior. The lower row shows the similarities that
PBLandmarks learns with twenty frequencies per landmark and beta = 1. The last column shows the
decision of a linear SVM on the five similarities.
"""

import time
from pathlib import Path

from pacfourier.datasets.toy_samples import TOYS
from pacfourier.experiments.figures import toy_figure, toy_title
from pacfourier.experiments.results_summary import estimate
from pacfourier.experiments.toy_landmarks import toy_maps, toy_row

N_SPLITS = 20


def test_errors(dataset, method):
    """Return the test error in % for each split."""
    rows = [toy_row(dataset, split, method) for split in range(N_SPLITS)]
    return {split: 100 * row["test_errors"] / row["n_test"] for split, row in enumerate(rows)}


def main():
    """Print the mean test errors and save one figure per data set."""
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
    print(f"Figures saved to {folder} after {time.perf_counter() - start:.0f} s.")


if __name__ == "__main__":
    main()
