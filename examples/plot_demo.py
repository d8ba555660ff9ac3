"""Few learned frequencies against many random ones.

Test error of a linear model on small maps of equal width: Fourier features learned from labels
(PBRFF, OKRFF) and random ones (RFF, scikit-learn's RBFSampler), learned similarities to landmarks
(PBLandmarks) and kernel values at landmarks (Nystroem). Our maps have their default parameters,
scikit-learn's the bandwidth of its SVC, which is the kernel machine that they replace.
"""

import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from pacfourier import OKRFF, PBRFF, RFF, PBLandmarks

DATASETS = {"breast cancer": load_breast_cancer, "digits": load_digits}
N_FREQUENCIES = (2, 5, 10, 20, 50)
N_SPLITS = 5
# Colours that stay apart in the common kinds of colour blindness; random maps are dashed.
STYLES = {
    "PBRFF": ("#0072B2", "o", "-"),
    "OKRFF": ("#D55E00", "s", "-."),
    "PBLandmarks": ("#CC79A7", "P", "-"),
    "RFF": ("#777777", "^", "--"),
    "RBFSampler": ("#BBBBBB", "v", "--"),
    "Nystroem": ("#009E73", "d", "--"),
}


def maps(n_frequencies, n_features, seed):
    """Return every map at the same output width, two columns a frequency."""
    width = 2 * n_frequencies
    # Inputs have unit variance, so that this is scikit-learn's gamma="scale".
    gamma = 1 / n_features
    return {
        "PBRFF": PBRFF(n_frequencies, random_state=seed),
        "OKRFF": OKRFF(n_frequencies, random_state=seed),
        "PBLandmarks": PBLandmarks(n_landmarks=width, random_state=seed),
        "RFF": RFF(n_frequencies, random_state=seed),
        "RBFSampler": RBFSampler(n_components=width, gamma=gamma, random_state=seed),
        "Nystroem": Nystroem(n_components=width, gamma=gamma, random_state=seed),
    }


def errors(load):
    """Return test errors in percent: an array (splits, sizes) a method, and the SVC's mean."""
    X, y = load(return_X_y=True)
    table = {name: np.empty((N_SPLITS, len(N_FREQUENCIES))) for name in STYLES}
    ceiling = []
    for split in range(N_SPLITS):
        parts = train_test_split(X, y, test_size=0.25, random_state=split, stratify=y)
        scaler = StandardScaler().fit(parts[0])
        X_train, X_test, y_train, y_test = *map(scaler.transform, parts[:2]), *parts[2:]
        ceiling.append(100 - 100 * SVC().fit(X_train, y_train).score(X_test, y_test))
        for column, n_frequencies in enumerate(N_FREQUENCIES):
            for name, transformer in maps(n_frequencies, X.shape[1], split).items():
                model = make_pipeline(transformer, LinearSVC(C=10, dual=False))
                score = model.fit(X_train, y_train).score(X_test, y_test)
                table[name][split, column] = 100 - 100 * score
    return table, np.mean(ceiling)


def print_table(title, table, ceiling):
    """Print mean test errors, a row a method."""
    print(f"\n{title}: test error in %, mean of {N_SPLITS} splits")
    print("columns".ljust(12) + "".join(f"{2 * size:>8}" for size in N_FREQUENCIES))
    for name, values in table.items():
        print(name.ljust(12) + "".join(f"{value:8.1f}" for value in values.mean(axis=0)))
    print(f"{'RBF SVC':<12}{ceiling:8.1f}")


def draw(axis, title, table, ceiling):
    """Plot mean test errors against the width of the map."""
    widths = 2 * np.array(N_FREQUENCIES)
    for name, (colour, marker, line) in STYLES.items():
        mean = table[name].mean(axis=0)
        axis.plot(widths, mean, line, color=colour, marker=marker, markersize=5, label=name)
    axis.axhline(ceiling, color="black", linewidth=1, linestyle=":", label="RBF SVC")
    axis.set(title=title, xlabel="columns of the map", xscale="log", yscale="log")
    axis.minorticks_off()
    axis.set_xticks(widths, [str(width) for width in widths])
    ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100) if ceiling / 2 < tick < 100]
    axis.set_yticks(ticks, [str(tick) for tick in ticks])
    axis.grid(alpha=0.25)


def main():
    """Print the tables and save the plot."""
    start = time.perf_counter()
    figure, axes = plt.subplots(1, len(DATASETS), figsize=(10, 4), layout="constrained")
    for axis, (title, load) in zip(axes, DATASETS.items(), strict=True):
        table, ceiling = errors(load)
        print_table(title, table, ceiling)
        draw(axis, title, table, ceiling)
    axes[0].set_ylabel("test error, %")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    path = Path("results", "demo.png")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=150)
    print(f"\nplot saved to {path}; {time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
