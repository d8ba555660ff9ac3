"""Figures of a reproduction: our curves are solid, the published ones are dashed."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from pacfourier.experiments.plan import seed_of
from pacfourier.experiments.published import published_curves
from pacfourier.experiments.results_summary import Curve, Estimate, ResultsSummary
from pacfourier.experiments.toy_landmarks import C, toy_maps, toy_sample
from pacfourier.extras import explain_missing_extra
from pacfourier.plots.similarity import SimilarityDisplay, plane_grid, scatter_classes

with explain_missing_extra():
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

# Distinguishable with the common kinds of colour blindness.
COLOURS = {
    "RFF": "#777777",
    "OKRFF": "#009E73",
    "PBRFF": "#0072B2",
    "PBRFF complementary": "#CC79A7",
    "BoostedRFF": "#C00000",
    "GBRFF": "#E69F00",
    "Nystroem k-means": "#222222",
    "RBF-C": "#0072B2",
    "RBF-R": "#56B4E9",
    "PB-C": "#D55E00",
    "PB-R": "#E69F00",
}
# In panels with many methods, only these have colours; the others are thin and grey.
MARKERS = {
    "BoostedRFF": "o",
    "GBRFF": "P",
    "Nystroem k-means": "D",
    "PBRFF complementary": "X",
    "PBRFF": "s",
    "OKRFF": "^",
}
OTHERS, OTHERS_COLOUR = "other methods", "#C4C4C4"
SVM, PUBLISHED, NO_ERRORS = "RBF SVM", "published", "no errors"
BAND = "95 % interval for one new split"
# Legend entries that apply to all colours.
KEYS: dict[str, Any] = {
    PUBLISHED: Line2D([], [], color="#555555", linestyle="--", linewidth=1),
    BAND: Patch(color="#555555", alpha=0.2, linewidth=0),
    NO_ERRORS: Line2D([], [], color="#555555", linestyle="", marker="v", markerfacecolor="white"),
}
PANEL_WIDTH, PANEL_HEIGHT = 3.7, 2.8
# Ticks of a logarithmic axis within a decade, for wide ranges first and narrow ones last.
STEPS = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7), (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 8))
TOY_TITLES = {
    "RBF-R": "RBF kernel, random landmarks",
    "PB-R": "Learned similarities, same landmarks",
}


def greedy_figure(summary: ResultsSummary, part: str = "test") -> Figure:
    """Plot errors against the number of frequencies, with the published curves (Figure 3)."""
    figure, panels = _panels(summary.datasets("greedy"))
    methods = ("RFF", "OKRFF", "PBRFF")
    for dataset, ax in panels.items():
        _draw_published(ax, "greedy", dataset, methods, part)
        _draw_curves(ax, summary, "greedy", dataset, methods, part)
        if part == "test":
            _draw_bands(ax, summary, "greedy", dataset, methods)
        label = {"train": "training error, %", "test": "test error, %"}[part]
        _finish(ax, dataset, "number of frequencies", label, log_x=True)
    return _with_legend(figure, panels)


def landmarks_figure(summary: ResultsSummary) -> Figure:
    """Plot test errors against the percentage of landmarks (Figure 2)."""
    figure, panels = _panels(summary.datasets("landmarks"))
    methods = ("RBF-C", "RBF-R", "PB-C", "PB-R")
    for dataset, ax in panels.items():
        _draw_published(ax, "landmarks", dataset, methods, "test")
        _draw_curves(ax, summary, "landmarks", dataset, methods, "test")
        _draw_bands(ax, summary, "landmarks", dataset, methods)
        _finish(ax, dataset, "landmarks, % of training set", "test error, %")
    return _with_legend(figure, panels)


def methods_figure(summary: ResultsSummary, experiment: str) -> Figure:
    """Plot test errors of all methods; six of them are in colours, and there are no bands."""
    figure, panels = _panels(summary.datasets(experiment))
    found = summary.methods(experiment)
    order = [m for m in MARKERS if m in found] + [m for m in found if m not in MARKERS]
    for dataset, ax in panels.items():
        _draw_curves(ax, summary, experiment, dataset, order, "test", styled=_highlighted)
        _finish(ax, dataset, "number of frequencies", "test error, %", log_x=True)
    return _with_legend(figure, panels)


def certificates_figure(summary: ResultsSummary) -> Figure:
    """Plot alignment losses and their certificates against the number of frequencies."""
    figure, panels = _panels(summary.datasets("greedy"))
    for dataset, ax in panels.items():
        for method in ("RFF", "OKRFF", "PBRFF"):
            splits = summary.shared_splits("greedy", dataset, method)
            for column, style in {"certificate": "-", "test_loss": ":"}.items():
                values = summary.means("greedy", dataset, method, column, splits)
                label = f"{method}, {column.replace('_', ' ')}"
                ax.plot(
                    list(values), list(values.values()), style, color=COLOURS[method], label=label
                )
        _finish(ax, dataset, "number of frequencies", "alignment loss", log_x=True, log_y=False)
    return _with_legend(figure, panels)


def toy_figure(dataset: str, errors: dict[str, Estimate]) -> Figure:
    """Plot the similarities to five landmarks, before and after learning (Figure 1).

    Parameters
    ----------
    dataset : {"two moons", "four squares"}
        The plot shows its split 0.
    errors : dict from method to Estimate
        Test errors to show in the titles.
    """
    X, y = toy_sample(dataset, 0)
    figure = Figure(figsize=(13, 5.4), layout="constrained")
    maps = toy_maps(seed_of(dataset, 0, "landmarks"))
    rows: Any = figure.subfigures(2, 1)
    for row, (name, model) in zip(rows, maps.items(), strict=True):
        row.suptitle(toy_title(name, errors[name]), fontsize=12)
        draw_toy_row(row, model.fit(X, y), X, y)
    return figure


def toy_title(method: str, error: Estimate) -> str:
    """Return the title of a row of the toy figure, with the test error of its linear SVM."""
    samples = "one sample" if error.n_splits == 1 else f"mean of {error.n_splits} samples"
    return f"{TOY_TITLES[method]}: test error {error.mean:.1f} % ({samples})"


def draw_toy_row(row: Any, model: Any, X: np.ndarray, y: np.ndarray) -> None:
    """Draw the similarity to each landmark of a fitted map, and the regions of a linear SVM."""
    axes = row.subplots(1, len(model.landmarks_) + 1)
    for landmark, ax in enumerate(axes[:-1]):
        display = SimilarityDisplay.from_estimator(model, X, y, landmark=landmark, ax=ax)
        ax.set_title(f"landmark {landmark + 1}", fontsize=10)
    bar = row.colorbar(display.surface_, ax=list(axes[:-1]), ticks=[-1, 0, 1], pad=0.01, aspect=15)
    bar.set_label("similarity", fontsize=9)
    draw_decision(axes[-1], model, X, y)
    axes[-1].set_title("linear SVM on all five", fontsize=10)


def draw_decision(ax: Any, model: Any, X: np.ndarray, y: np.ndarray) -> None:
    """Draw the regions that a linear SVM on a fitted map assigns to each class."""
    machine = LinearSVC(C=C, dual=False).fit(model.transform(X), y)
    grid_x, grid_y = plane_grid(X, 120)
    points = np.column_stack([grid_x.ravel(), grid_y.ravel()])
    decision = machine.predict(model.transform(points)).reshape(grid_x.shape)
    ax.contourf(grid_x, grid_y, decision, levels=[-0.5, 0.5, 1.5], colors=["#F3CDB5", "#B5D3EA"])
    scatter_classes(ax, X, y)
    ax.set(xticks=[], yticks=[], aspect="equal")


def _panels(datasets: Iterable[str]) -> tuple[Figure, dict[str, Any]]:
    datasets = list(datasets)
    # More than two columns would be too small on a phone.
    n_columns = min(2, len(datasets))
    n_rows = -(-len(datasets) // n_columns)
    # The legend needs a strip above the panels.
    size = (2 * PANEL_WIDTH, PANEL_HEIGHT * n_rows + 0.6)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for ax in axes[len(datasets) :]:
        ax.set_axis_off()
    return figure, dict(zip(datasets, axes, strict=False))


def colour_of(method: str) -> str:
    """Return the colour of a method, which is the same in every figure."""
    return COLOURS.get(method, OTHERS_COLOUR)


def _plain(method: str) -> dict[str, Any]:
    return {"color": colour_of(method), "marker": "o", "markersize": 3, "label": method}


def _highlighted(method: str) -> dict[str, Any]:
    if method not in MARKERS:
        return {"color": OTHERS_COLOUR, "linewidth": 0.9, "label": OTHERS, "zorder": 1.5}
    style = {**_plain(method), "marker": MARKERS[method], "markersize": 4}
    return {**style, "linewidth": 2.6, "zorder": 3} if method == "BoostedRFF" else style


def _draw_curves(
    ax: Any,
    summary: ResultsSummary,
    experiment: str,
    dataset: str,
    methods: Iterable[str],
    part: str,
    styled: Callable[[str], dict[str, Any]] = _plain,
) -> None:
    """Draw one curve per method, and the RBF SVM on the same splits."""
    drawn: set[int] = set()
    for method in methods:
        # All points must use the same splits, or a curve would have bends without a meaning.
        splits = summary.shared_splits(experiment, dataset, method)
        curve = summary.curve(experiment, dataset, method, part, splits)
        if curve:
            ax.plot(list(curve), [each.mean for each in curve.values()], **styled(method))
        drawn |= splits
    line = summary.curve("svm", dataset, "SVM", part, drawn).get(0)
    if line:
        ax.axhline(line.mean, color="black", linewidth=1, linestyle=":", label=SVM)


def _draw_bands(
    ax: Any, summary: ResultsSummary, experiment: str, dataset: str, methods: Iterable[str]
) -> None:
    """Draw the interval for one new split, at the widths with at least two splits."""
    for method in methods:
        curve: Curve = summary.curve(experiment, dataset, method)
        known = {width: each for width, each in curve.items() if each.has_interval}
        if len(known) > 1:
            lows, highs = zip(*((each.low, each.high) for each in known.values()), strict=True)
            style = {"color": colour_of(method), "alpha": 0.12, "linewidth": 0, "label": BAND}
            ax.fill_between(list(known), lows, highs, **style)


def _draw_published(
    ax: Any, experiment: str, dataset: str, methods: Iterable[str], part: str
) -> None:
    for method in methods:
        curve = published_curves().get((experiment, dataset, method, part), {})
        # The published curves reach 5,000 frequencies, but the panels end where ours do.
        shown = {width: error for width, error in curve.items() if width <= 600}
        style = {"color": colour_of(method), "linewidth": 1, "alpha": 0.8, "label": PUBLISHED}
        ax.plot(list(shown), list(shown.values()), "--", **style)


def _finish(
    ax: Any, title: str, x: str, y: str, *, log_x: bool = False, log_y: bool = True
) -> None:
    ax.set_title(title, fontsize=10)
    ax.set_xlabel(x, fontsize=9)
    ax.set_ylabel(y, fontsize=9)
    if log_x:
        _set_log_widths(ax)
    if log_y:
        _set_log_errors(ax)
    ax.tick_params(labelsize=8)
    ax.grid(visible=True, which="major", alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)


def _set_log_widths(ax: Any) -> None:
    """Use a logarithmic axis with ticks at 1, 2 and 5 times the powers of ten."""
    widths = np.concatenate(
        [line.get_xdata() for line in ax.get_lines() if line.get_label() != SVM]
    )
    ticks = [step * 10**power for power in range(4) for step in (1, 2, 5)]
    ax.set_xscale("log")
    ax.minorticks_off()
    ax.set_xticks([tick for tick in ticks if widths.min() <= tick <= widths.max()])
    ax.xaxis.set_major_formatter("{x:g}")


def _set_log_errors(ax: Any) -> None:
    """Use a logarithmic axis that shows all lines; bands may be cut off, down to zero."""
    values = np.concatenate([line.get_ydata() for line in ax.get_lines()])
    positive = values[values > 0] if np.any(values > 0) else np.ones(1)
    margin = np.clip((positive.max() / positive.min()) ** 0.1, 1.1, 1.4)
    low, high = positive.min() / margin, positive.max() * margin
    ticks = {tick: f"{tick:g}" for tick in _log_ticks(low, high)}
    if np.any(values == 0):
        # A logarithmic axis has no zero, so zeros are drawn below all other values.
        low /= 1.4
        ticks = {low: "0", **ticks}
        _draw_zeros(ax, low)
    ax.set_yscale("log")
    ax.minorticks_off()
    ax.set_yticks(list(ticks), list(ticks.values()))
    ax.set_ylim(low, high)


def _log_ticks(low: float, high: float) -> list[float]:
    """Return at least three round numbers between two limits, if the finest steps allow."""
    for steps in STEPS:
        ticks = [step * 10.0**power for power in range(-4, 4) for step in steps]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= 3:
            break
    return ticks


def _draw_zeros(ax: Any, floor: float) -> None:
    """Draw the zeros of all lines on the floor of the panel, with special markers."""
    for line in list(ax.get_lines()):
        x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        line.set_ydata(np.where(y == 0, floor, y))
        # The line of the SVM spans the whole panel and has no widths.
        places = x[(y == 0) & (line.get_label() != SVM)]
        marks = {"marker": "v", "markersize": 6, "markerfacecolor": "white", "linestyle": ""}
        if len(places):
            # Above the axis, in the order of their lines.
            marks |= {"color": line.get_color(), "clip_on": False, "zorder": 3 + line.get_zorder()}
            ax.plot(places, np.full(len(places), floor), label=NO_ERRORS, **marks)


def _with_legend(figure: Figure, panels: dict[str, Any]) -> Figure:
    handles: dict[str, Any] = {}
    for ax in panels.values():
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    # Methods first, then the entries that apply to all of them.
    labels = sorted(handles, key=lambda label: (label in KEYS, label == SVM, label == OTHERS))
    shown = [KEYS.get(label, handles[label]) for label in labels]
    place: dict[str, Any] = {"loc": "outside upper center", "ncols": 3 if len(labels) > 4 else 4}
    figure.legend(shown, labels, frameon=False, fontsize=9, **place)
    return figure
