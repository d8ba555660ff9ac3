"""Few learned frequencies against many random ones.

Test error of a linear SVM on small maps of equal width: learned from labels (BoostedRFF, PBRFF,
PBLandmarks), random (RFF, scikit-learn's RBFSampler), or kernel values at random samples
(scikit-learn's Nystroem). Our maps have their default parameters, scikit-learn's the bandwidth of
its SVC, which is the kernel machine that they replace.
"""

import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed
from matplotlib.patches import Patch
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from pacfourier import PBRFF, RFF, BoostedRFF, PBLandmarks

# Pixels have one scale: standardised, dark corners would count as much as strokes, and every map
# is worse. The columns of breast cancer differ in scale by five powers of ten.
DATASETS = {
    "digits, pixels / 16": (load_digits, FunctionTransformer(lambda X: X / 16)),
    "breast cancer, standardised columns": (load_breast_cancer, StandardScaler()),
}
N_FREQUENCIES = (2, 5, 10, 20, 50)
N_SPLITS = 10
# Colours that stay apart in the common kinds of colour blindness; what sees no labels is dashed.
STYLES = {
    "BoostedRFF": {"color": "#C00000", "marker": "o", "linewidth": 2.6},
    "PBLandmarks": {"color": "#CC79A7", "marker": "P"},
    "PBRFF": {"color": "#0072B2", "marker": "s"},
    "Nystroem": {"color": "#009E73", "marker": "d", "linestyle": "--"},
    "RBFSampler": {"color": "#999999", "marker": "v", "linestyle": "--"},
    "RFF": {"color": "#555555", "marker": "^", "linestyle": "--"},
}


def maps(n_frequencies, gamma, seed):
    """Return every map at the same output width, two columns a frequency."""
    width = 2 * n_frequencies
    return {
        "BoostedRFF": BoostedRFF(n_frequencies, random_state=seed),
        "PBLandmarks": PBLandmarks(n_landmarks=width, random_state=seed),
        "PBRFF": PBRFF(n_frequencies, random_state=seed),
        "Nystroem": Nystroem(n_components=width, gamma=gamma, random_state=seed),
        "RBFSampler": RBFSampler(n_components=width, gamma=gamma, random_state=seed),
        "RFF": RFF(n_frequencies, random_state=seed),
    }


def parts(load, scaler, split):
    """Return training inputs, test inputs and their labels; the scaler sees training inputs."""
    X, y = load(return_X_y=True)
    X_train, X_test, *labels = train_test_split(
        X, y, test_size=0.25, random_state=split, stratify=y
    )
    scaler.fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test), *labels


def split_errors(load, scaler, split):
    """Return the test errors in percent of one split: a list over sizes a method, and the SVC's."""
    X_train, X_test, y_train, y_test = parts(load, scaler, split)
    # The default of SVC, gamma="scale", as a number.
    gamma = 1 / (X_train.shape[1] * X_train.var())

    def error(model):
        return 100 - 100 * model.fit(X_train, y_train).score(X_test, y_test)

    table = {name: [] for name in STYLES}
    for n_frequencies in N_FREQUENCIES:
        for name, transformer in maps(n_frequencies, gamma, split).items():
            table[name].append(error(make_pipeline(transformer, LinearSVC(C=10, dual=False))))
    return table, error(SVC())


def errors(load, scaler):
    """Return test errors in percent: an array (splits, sizes) a method, and the SVC's mean."""
    # A core a split is faster than many cores a map: the maps are small.
    work = Parallel(n_jobs=-1)(
        delayed(split_errors)(load, scaler, split) for split in range(N_SPLITS)
    )
    tables, ceilings = zip(*work, strict=True)
    return {name: np.array([table[name] for table in tables]) for name in STYLES}, np.mean(ceilings)


def print_table(title, table, ceiling):
    """Print mean test errors, a row a method."""
    print(f"\n{title}: test error in %, mean of {N_SPLITS} splits")
    print("columns".ljust(12) + "".join(f"{2 * size:>8}" for size in N_FREQUENCIES))
    for name, values in table.items():
        print(name.ljust(12) + "".join(f"{value:8.1f}" for value in values.mean(axis=0)))
    print(f"{'RBF SVC':<12}{ceiling:8.1f}")


def draw(axis, title, table, ceiling):
    """Plot mean test errors, and their standard errors, against the width of the map."""
    widths = 2 * np.array(N_FREQUENCIES)
    for name, style in STYLES.items():
        mean = table[name].mean(axis=0)
        error = table[name].std(axis=0, ddof=1) / N_SPLITS**0.5
        axis.plot(widths, mean, markersize=5, label=name, **style)
        axis.fill_between(
            widths, mean - error, mean + error, color=style["color"], alpha=0.15, lw=0
        )
    axis.axhline(ceiling, color="black", linewidth=1, linestyle=":", label="RBF SVC")
    finish(axis, title, widths)


def finish(axis, title, widths):
    """Set title, scales and ticks of a panel."""
    axis.set(xlabel="columns of the map", xscale="log", yscale="log")
    axis.set_title(title, fontsize=11)
    axis.minorticks_off()
    axis.set_xticks(widths, [str(width) for width in widths])
    low, high = axis.get_ylim()
    ticks = [tick for tick in (1, 2, 3, 5, 10, 20, 50) if low < tick < high]
    axis.set_yticks(ticks, [str(tick) for tick in ticks])
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)


def draw_legend(figure, handles):
    """Say below the panels what every line and the bands are."""
    band = Patch(color="#999999", alpha=0.4, linewidth=0, label="\u00b1 standard error")
    place = {"loc": "outside lower center", "ncols": 4, "frameon": False}
    title = "Solid: the map is learned from labels. Dashed: it sees no labels."
    figure.legend(handles=[*handles, band], title=title, **place)


def main():
    """Print the tables and save the plot."""
    start = time.perf_counter()
    figure, axes = plt.subplots(1, len(DATASETS), figsize=(10, 4.9), layout="constrained")
    for axis, (title, source) in zip(axes, DATASETS.items(), strict=True):
        table, ceiling = errors(*source)
        print_table(title, table, ceiling)
        draw(axis, title, table, ceiling)
    axes[0].set_ylabel("test error, %")
    draw_legend(figure, axes[0].get_legend_handles_labels()[0])
    path = Path("results", "demo.png")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=150)
    print(f"\nplot saved to {path}; {time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
