"""Figures of a reproduction: our curves are solid with filled marks, published marks are hollow."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from reproduction.plan import GREEDY
from reproduction.protocol import Row
from reproduction.published import published_curves
from reproduction.results import Estimate, curve, datasets_of

# Distinguishable with the common kinds of colour blindness, and by their marks.
STYLES = {
    "RFF": ("#777777", "o"),
    "OKRFF": ("#009E73", "^"),
    "PBRFF": ("#0072B2", "s"),
    "RBF": ("#0072B2", "o"),
    "PB": ("#D55E00", "s"),
}
PANEL_WIDTH, PANEL_HEIGHT = 4.2, 2.8
# Neighbouring methods are drawn this far apart, as a share of the width of a panel.
APART = 0.014
SVM = "RBF SVM"
Methods = tuple[str, ...]


def landmarks_figure(rows: list[Row]) -> Figure:
    """Plot test errors against the percentage of landmarks (Figure 2)."""
    columns: dict[str, tuple[Methods, str]] = {
        "k-means centroids (-C)": (("RBF-C", "PB-C"), "test"),
        "random landmarks (-R)": (("RBF-R", "PB-R"), "test"),
    }
    return curves_figure(rows, "landmarks", columns, "landmarks, % of training set")


def greedy_figure(rows: list[Row]) -> Figure:
    """Plot errors against the number of frequencies (Figure 3)."""
    columns: dict[str, tuple[Methods, str]] = {
        "test": (GREEDY, "test"),
        "training": (GREEDY, "train"),
    }
    return curves_figure(rows, "greedy", columns, "number of frequencies")


def curves_figure(
    rows: list[Row], experiment: str, columns: dict[str, tuple[Methods, str]], x_label: str
) -> Figure:
    """Plot errors by width: a row of panels per data set, columns of methods and parts by title."""
    datasets = datasets_of(rows, experiment)
    size = (PANEL_WIDTH * len(columns), PANEL_HEIGHT * len(datasets) + 0.6)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(len(datasets), len(columns), squeeze=False)
    for dataset, axes in zip(datasets, panels, strict=True):
        for ax, (title, (methods, part)) in zip(axes, columns.items(), strict=True):
            draw_curves(ax, rows, (experiment, dataset, part), methods)
            ax.set_title(f"{dataset}, {title}", fontsize=10)
            ax.set_xlabel(x_label, fontsize=9)
            ax.set_ylabel("error, %", fontsize=9)
    with_legend(figure)
    return figure


def draw_curves(ax: Any, rows: list[Row], where: tuple[str, str, str], methods: Methods) -> None:
    """Draw one curve per method with its intervals, the published one, and the RBF SVM."""
    experiment, dataset, part = where
    curves = {name: curve(rows, experiment, dataset, name, part) for name in methods}
    found = {name: ours for name, ours in curves.items() if ours}
    set_log_widths(ax, sorted({width for each in found.values() for width in each}))
    for place, (name, ours) in enumerate(found.items()):
        shift = APART * (2 * place - len(found) + 1)
        draw_curve(ax, ours, shift, name.partition("-")[0])
        published = published_curves().get((*where[:2], name, part), {})
        shared = {width: error for width, error in published.items() if width in ours}
        draw_published(ax, shared, shift, name.partition("-")[0])
    svm = curve(rows, "svm", dataset, "SVM", part)[0]
    ax.axhline(svm.mean, color="black", linewidth=1, linestyle=":", label=SVM)
    set_log_errors(ax, max(each.high for ours in found.values() for each in ours.values()))


def draw_curve(ax: Any, ours: dict[float, Estimate], shift: float, name: str) -> None:
    """Draw a curve with its intervals for one new split."""
    colour, marker = STYLES[name]
    means = np.array([each.mean for each in ours.values()])
    reach = np.abs(np.array([[each.low, each.high] for each in ours.values()]).T - means)
    bars = {"yerr": reach, "elinewidth": 0.7} if reach.any() else {}
    style = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.3, "label": name}
    ax.errorbar(shifted(ax, ours, shift), means, **bars, **style)


def draw_published(ax: Any, published: dict[float, float], shift: float, name: str) -> None:
    """Draw the hollow marks of a published curve."""
    colour, marker = STYLES[name]
    x, label = shifted(ax, published, shift), f"{name}, published"
    (line,) = ax.plot(x, list(published.values()), color=colour, marker=marker, label=label)
    line.set(linestyle="--", linewidth=0.6, markersize=3.5, markerfacecolor="white")


def shifted(ax: Any, widths: Iterable[float], shift: float) -> np.ndarray:
    """Return the places of widths on a logarithmic axis, moved by a share of its length."""
    low, high = ax.get_xlim()
    return np.array([*widths]) * (high / low) ** shift


def set_log_widths(ax: Any, widths: list[float]) -> None:
    """Use a logarithmic axis with a tick at each width, and room beside the outer ones."""
    margin = (widths[-1] / widths[0]) ** 0.06
    ax.set_xscale("log")
    ax.minorticks_off()
    ax.set_xlim(widths[0] / margin, widths[-1] * margin)
    ax.set_xticks(widths, [f"{width:g}" for width in widths])


def set_log_errors(ax: Any, highest: float) -> None:
    """Use a logarithmic axis with all marks, zeros below them, and the upper ends of intervals."""
    values = np.concatenate([np.ravel(line.get_ydata()) for line in ax.get_lines()])
    low, high = min(values[values > 0], default=0.1), max(values.max(), highest, 0.2)
    # Below the smallest error the axis is linear, which leaves room for zero.
    ax.set_yscale("symlog", linthresh=low, linscale=0.3)
    ax.set_ylim(-0.1 * low if np.any(values == 0) else low / 1.1, high * 1.15)
    steps = (1, 2, 5) if high > 4 * low else (1, 1.5, 2, 3, 4, 5, 7)
    ticks = [0, *(step * 10.0**power for power in range(-3, 3) for step in steps)]
    bottom, top = ax.get_ylim()
    shown = [tick for tick in ticks if tick == 0 or low <= tick]
    ax.set_yticks([tick for tick in shown if bottom <= tick <= top])
    ax.yaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()
    ax.tick_params(labelsize=8)
    ax.grid(visible=True, which="major", alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)


def with_legend(figure: Figure) -> None:
    """Give a figure one legend for all its panels."""
    handles: dict[str, Any] = {}
    for ax in figure.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    # Each method above its published curve; the SVM at the end.
    labels = sorted(handles, key=lambda label: (label == SVM, label))
    shown, n_columns = [handles[label] for label in labels], (len(labels) + 1) // 2
    style: dict[str, Any] = {"loc": "outside upper center", "frameon": False, "fontsize": 9}
    figure.legend(shown, labels, ncols=n_columns, **style)
