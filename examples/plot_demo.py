"""Fit a predictor with a certificate, and compare feature maps of the same size.

The predictor is a FourierClassifier on scikit-learn's digits. Then a linear SVM is trained on six
feature maps with the same number of columns. BoostedRFF, PBRFF and PBLandmarks learn from the
labels. RFF and scikit-learn's RBFSampler are random, and scikit-learn's Nystroem evaluates the
kernel at random samples. Our maps run with their default parameters. scikit-learn's maps use the
bandwidth of its SVC, the kernel machine that they approximate.
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

from pacfourier import PBRFF, RFF, BoostedRFF, FourierClassifier, PBLandmarks

# All pixels have the same scale. Standardising them would give the nearly constant corners as much
# weight as the strokes, and every map gets worse. The columns of breast cancer differ in scale by
# five powers of ten, so they are standardised.
DATASETS = {
    "Digits (pixel values / 16)": (load_digits, FunctionTransformer(lambda X: X / 16)),
    "Breast cancer (standardised columns)": (load_breast_cancer, StandardScaler()),
}
N_FREQUENCIES = (2, 5, 10, 20, 50)
N_SPLITS = 10
# The colours can be told apart with the common kinds of colour blindness. Maps that do not see the
# labels are dashed.
STYLES = {
    "BoostedRFF": {"color": "#C00000", "marker": "o", "linewidth": 2.6},
    "PBLandmarks": {"color": "#CC79A7", "marker": "P"},
    "PBRFF": {"color": "#0072B2", "marker": "s"},
    "Nystroem": {"color": "#009E73", "marker": "d", "linestyle": "--"},
    "RBFSampler": {"color": "#999999", "marker": "v", "linestyle": "--"},
    "RFF": {"color": "#555555", "marker": "^", "linestyle": "--"},
}


def certified_predictor():
    """Print the test error of a small predictor, and what it certifies about itself."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = FourierClassifier(20, certify=0.2, random_state=0).fit(X_train, y_train)
    certificate = model.certificate_
    print("FourierClassifier with 20 frequencies on digits")
    print(f"  test error      {1 - model.score(X_test, y_test):.3f}")
    print(f"  certified error {certificate.error:.3f}, with probability {1 - certificate.epsilon}")
    accepted = certificate.abstention(error=0.02).accepted
    print(f"  {accepted:.0%} of its predictions are accepted if at most 2 % of them may be wrong")


def maps(n_frequencies, gamma, seed):
    """Return all maps with the same number of columns: two per frequency."""
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
    """Return X_train, X_test, y_train and y_test; the scaler is fitted on X_train only."""
    X, y = load(return_X_y=True)
    X_train, X_test, *labels = train_test_split(
        X, y, test_size=0.25, random_state=split, stratify=y
    )
    scaler.fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test), *labels


def split_errors(load, scaler, split):
    """Return the test errors in % of one split: one list over sizes per method, and the SVC."""
    X_train, X_test, y_train, y_test = parts(load, scaler, split)
    # RBFSampler and Nystroem take numbers only: this is gamma="scale", the default of SVC.
    gamma = 1 / (X_train.shape[1] * X_train.var())

    def error(model):
        return 100 - 100 * model.fit(X_train, y_train).score(X_test, y_test)

    table = {name: [] for name in STYLES}
    for n_frequencies in N_FREQUENCIES:
        for name, transformer in maps(n_frequencies, gamma, split).items():
            table[name].append(error(make_pipeline(transformer, LinearSVC(C=10, dual=False))))
    return table, error(SVC())


def errors(load, scaler):
    """Return test errors in %: one array (splits, sizes) per method, and the mean of the SVC."""
    # The maps are small, so one core per split is faster than several cores per map.
    work = Parallel(n_jobs=-1)(
        delayed(split_errors)(load, scaler, split) for split in range(N_SPLITS)
    )
    tables, references = zip(*work, strict=True)
    errors_of = {name: np.array([table[name] for table in tables]) for name in STYLES}
    return errors_of, np.mean(references)


def print_table(title, table, reference):
    """Print mean test errors, one row per method."""
    print(f"\n{title}: test error in %, mean of {N_SPLITS} splits")
    print("columns".ljust(12) + "".join(f"{2 * size:>8}" for size in N_FREQUENCIES))
    for name, values in table.items():
        print(name.ljust(12) + "".join(f"{value:8.1f}" for value in values.mean(axis=0)))
    print(f"{'RBF SVC':<12}{reference:8.1f}")


def draw(axis, title, table, reference):
    """Plot mean test errors and their standard errors against the number of columns."""
    widths = 2 * np.array(N_FREQUENCIES)
    for name, style in STYLES.items():
        mean = table[name].mean(axis=0)
        error = table[name].std(axis=0, ddof=1) / N_SPLITS**0.5
        axis.plot(widths, mean, markersize=5, label=name, **style)
        axis.fill_between(
            widths, mean - error, mean + error, color=style["color"], alpha=0.15, lw=0
        )
    axis.axhline(reference, color="black", linewidth=1, linestyle=":", label="RBF SVC")
    finish(axis, title, widths)


def finish(axis, title, widths):
    """Set the title, the scales and the ticks of a panel."""
    axis.set(xlabel="number of columns of the feature map", xscale="log", yscale="log")
    axis.set_title(title, fontsize=11)
    axis.minorticks_off()
    axis.set_xticks(widths, [str(width) for width in widths])
    low, high = axis.get_ylim()
    ticks = [tick for tick in (1, 2, 3, 5, 10, 20, 50) if low < tick < high]
    axis.set_yticks(ticks, [str(tick) for tick in ticks])
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)


def draw_legend(figure, handles):
    """Explain the lines and the bands below the panels."""
    band = Patch(color="#999999", alpha=0.4, linewidth=0, label="\u00b1 standard error")
    place = {"loc": "outside lower center", "ncols": 4, "frameon": False}
    title = "Solid lines: maps learned from labels. Dashed lines: maps that do not see the labels."
    figure.legend(handles=[*handles, band], title=title, **place)


def main():
    """Print the certificate and the tables, and save the figure."""
    start = time.perf_counter()
    certified_predictor()
    figure, axes = plt.subplots(1, len(DATASETS), figsize=(10, 4.9), layout="constrained")
    for axis, (title, source) in zip(axes, DATASETS.items(), strict=True):
        table, reference = errors(*source)
        print_table(title, table, reference)
        draw(axis, title, table, reference)
    axes[0].set_ylabel("test error (%)")
    draw_legend(figure, axes[0].get_legend_handles_labels()[0])
    path = Path("results", "demo.png")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=150)
    print(f"\nFigure saved to {path} after {time.perf_counter() - start:.0f} s.")


if __name__ == "__main__":
    main()
