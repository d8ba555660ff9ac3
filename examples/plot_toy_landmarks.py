"""Five landmarks, before and after learning (Figure 1 of the paper and its supplement twin).

Upper row: the RBF kernel around each landmark, the prior. Lower row: the similarities that twenty
frequencies learn from labels at beta = 1. Right: the decision of a linear SVM on the five columns.
"""

import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.svm import LinearSVC

from pacfourier import PBLandmarks, RBFLandmarks
from pacfourier.plots import SimilarityDisplay, plane_grid, scatter_classes

N_LANDMARKS, N_FREQUENCIES, N_SEEDS = 5, 20, 20
N_TRAIN, N_TEST = 300, 2000


def two_moons(n_samples, seed):
    """Return two interleaved half circles."""
    return make_moons(n_samples, noise=0.15, random_state=seed)


def four_squares(n_samples, seed):
    """Return a noisy two by two chequerboard."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n_samples, 2))
    return X + 0.05 * rng.standard_normal(X.shape), (X[:, 0] * X[:, 1] > 0).astype(int)


DATASETS = {"two moons": (two_moons, 2.0), "four squares": (four_squares, 2.0)}


def maps(gamma, seed):
    """Return the prior map and the learned map on the same landmarks."""
    common = {"n_landmarks": N_LANDMARKS, "gamma": gamma, "random_state": seed}
    return {
        "RBFLandmarks": RBFLandmarks("random", **common),
        "PBLandmarks": PBLandmarks("random", n_frequencies=N_FREQUENCIES, beta=1.0, **common),
    }


def test_errors(sample, gamma):
    """Return the mean test errors in % over seeds, by the name of the map."""
    X_test, y_test = sample(N_TEST, seed=10_000)
    errors = {}
    for seed in range(N_SEEDS):
        X, y = sample(N_TRAIN, seed=seed)
        for name, transformer in maps(gamma, seed).items():
            machine = LinearSVC(C=100, dual=False).fit(transformer.fit_transform(X, y), y)
            score = machine.score(transformer.transform(X_test), y_test)
            errors.setdefault(name, []).append(100 - 100 * score)
    return errors


def draw_decision(ax, transformer, X, y):
    """Draw the decision of a linear SVM on a fitted map."""
    machine = LinearSVC(C=100, dual=False).fit(transformer.transform(X), y)
    grid_x, grid_y = plane_grid(X, 120)
    points = np.column_stack([grid_x.ravel(), grid_y.ravel()])
    decision = machine.predict(transformer.transform(points)).reshape(grid_x.shape)
    ax.contourf(grid_x, grid_y, decision, levels=[-0.5, 0.5, 1.5], colors=["#F3CDB5", "#B5D3EA"])
    scatter_classes(ax, X, y)
    ax.set(xticks=[], yticks=[], aspect="equal")


def draw_figure(title, sample, gamma):
    """Draw both rows of one data set."""
    X, y = sample(N_TRAIN, seed=0)
    fitted = {name: transformer.fit(X, y) for name, transformer in maps(gamma, 0).items()}
    figure, axes = plt.subplots(2, N_LANDMARKS + 1, figsize=(14, 5), layout="constrained")
    for row, (name, transformer) in zip(axes, fitted.items(), strict=True):
        for landmark, ax in enumerate(row[:-1]):
            SimilarityDisplay.from_estimator(transformer, X, y, landmark=landmark, ax=ax)
        draw_decision(row[-1], transformer, X, y)
        row[0].set_ylabel(name)
    for landmark, ax in enumerate(axes[0, :-1]):
        ax.set_title(f"landmark {landmark + 1}", fontsize=10)
    axes[0, -1].set_title("linear SVM", fontsize=10)
    figure.suptitle(title)
    return figure


def main():
    """Print the test errors over seeds and save a figure a data set."""
    start = time.perf_counter()
    folder = Path("results")
    folder.mkdir(exist_ok=True)
    for title, (sample, gamma) in DATASETS.items():
        errors = test_errors(sample, gamma)
        summary = ", ".join(
            f"{name} {np.mean(values):.1f} (+- {np.std(values) / len(values) ** 0.5:.1f})"
            for name, values in errors.items()
        )
        print(f"{title}: test error in %, {N_SEEDS} seeds: {summary}")
        path = folder / f"toy_{title.replace(' ', '_')}.png"
        draw_figure(title, sample, gamma).savefig(path, dpi=110)
    print(f"figures saved to {folder}; {time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
