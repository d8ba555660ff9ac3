"""Figures of a reproduction: ours solid, the published curves dashed."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator
from sklearn.svm import LinearSVC

from pacfourier.experiments.plan import seed_of
from pacfourier.experiments.published import published_curves
from pacfourier.experiments.summary import Curve, Summary
from pacfourier.experiments.toy import C, toy_maps, toy_sample
from pacfourier.plots import SimilarityDisplay, plane_grid, scatter_classes

# Apart in the common kinds of colour blindness.
COLOURS = {
    "RFF": "#0072B2",
    "OKRFF": "#009E73",
    "PBRFF": "#D55E00",
    "orthogonal RFF": "#56B4E9",
    "OKRFF distinct": "#7A5195",
    "PBRFF distinct": "#CC79A7",
    "BoostedRFF": "#C00000",
    "GibbsRFF": "#E69F00",
    "GBRFF": "#117733",
    "GBRFF ensemble": "#88CCAA",
    "Nystroem uniform": "#999999",
    "Nystroem k-means": "#333333",
    "RBF-C": "#0072B2",
    "RBF-R": "#56B4E9",
    "PB-C": "#D55E00",
    "PB-R": "#E69F00",
}
MORE_COLOURS = ("#882255", "#44AA99", "#999933", "#AA4499")
SVM_COLOUR = "#000000"
PANEL_WIDTH, PANEL_HEIGHT = 3.7, 2.8


def greedy_figure(summary: Summary, part: str = "test") -> Figure:
    """Return errors against the number of frequencies, beside the published curves (Figure 3)."""
    figure, panels = _panels(summary.datasets("greedy"))
    for dataset, ax in panels.items():
        for method in ("RFF", "OKRFF", "PBRFF"):
            _draw_published(ax, "greedy", dataset, method, part)
            curve = summary.curve("greedy", dataset, method, part)
            _draw_curve(ax, curve, method, band=part == "test")
        _draw_svm(ax, summary, dataset, part)
        _finish(ax, dataset, "number of frequencies", f"{part} error, %", log_x=True)
    return _with_legend(figure, panels)


def landmarks_figure(summary: Summary) -> Figure:
    """Return test errors against the percentage of landmarks (Figure 2)."""
    figure, panels = _panels(summary.datasets("landmarks"))
    for dataset, ax in panels.items():
        for method in ("RBF-C", "RBF-R", "PB-C", "PB-R"):
            _draw_published(ax, "landmarks", dataset, method, "test")
            _draw_curve(ax, summary.curve("landmarks", dataset, method), method)
        _draw_svm(ax, summary, dataset, "test")
        _finish(ax, dataset, "landmarks, % of training set", "test error, %")
    return _with_legend(figure, panels)


def methods_figure(summary: Summary, experiment: str) -> Figure:
    """Return test errors of all methods against the number of frequencies, without bands."""
    figure, panels = _panels(summary.datasets(experiment))
    for dataset, ax in panels.items():
        for method in summary.methods(experiment):
            _draw_curve(ax, summary.curve(experiment, dataset, method), method, band=False)
        _draw_svm(ax, summary, dataset, "test")
        _finish(ax, dataset, "number of frequencies", "test error, %", log_x=True)
    return _with_legend(figure, panels)


def certificates_figure(summary: Summary) -> Figure:
    """Return alignment losses and their certificates against the number of frequencies."""
    figure, panels = _panels(summary.datasets("greedy"))
    styles = {"certificate": "-", "test_loss": ":"}
    for dataset, ax in panels.items():
        for method in ("RFF", "OKRFF", "PBRFF"):
            for column, style in styles.items():
                values = summary.means("greedy", dataset, method, column)
                label = f"{method}, {column.replace('_', ' ')}"
                ax.plot(
                    list(values), list(values.values()), style, color=COLOURS[method], label=label
                )
        _finish(ax, dataset, "number of frequencies", "alignment loss", log_x=True, log_y=False)
    return _with_legend(figure, panels)


def toy_figure(dataset: str, split: int = 0) -> Figure:
    """Return the similarities around five landmarks, before and after learning (Figure 1)."""
    X, y = toy_sample(dataset, split)
    maps = toy_maps(seed_of(dataset, split, "landmarks"))
    fitted = {name: model.fit(X, y) for name, model in maps.items()}
    figure = Figure(figsize=(13, 4.8), layout="constrained")
    axes = figure.subplots(2, 6)
    for row, (name, model) in zip(axes, fitted.items(), strict=True):
        for landmark, ax in enumerate(row[:-1]):
            SimilarityDisplay.from_estimator(model, X, y, landmark=landmark, ax=ax)
        draw_decision(row[-1], model, X, y)
        row[0].set_ylabel(name)
    for landmark, ax in enumerate(axes[0, :-1]):
        ax.set_title(f"landmark {landmark + 1}", fontsize=10)
    axes[0, -1].set_title("linear SVM", fontsize=10)
    return figure


def draw_decision(ax: Any, model: Any, X: np.ndarray, y: np.ndarray) -> None:
    """Draw the decision of a linear SVM on a fitted map of the plane."""
    machine = LinearSVC(C=C, dual=False).fit(model.transform(X), y)
    grid_x, grid_y = plane_grid(X, 120)
    points = np.column_stack([grid_x.ravel(), grid_y.ravel()])
    decision = machine.predict(model.transform(points)).reshape(grid_x.shape)
    ax.contourf(grid_x, grid_y, decision, levels=[-0.5, 0.5, 1.5], colors=["#F3CDB5", "#B5D3EA"])
    scatter_classes(ax, X, y)
    ax.set(xticks=[], yticks=[], aspect="equal")


def _panels(datasets: Iterable[str]) -> tuple[Figure, dict[str, Any]]:
    datasets = list(datasets)
    # Two columns can be read on a phone.
    n_columns = min(2, len(datasets))
    n_rows = -(-len(datasets) // n_columns)
    # A strip above the panels for the legend.
    size = (2 * PANEL_WIDTH, PANEL_HEIGHT * n_rows + 0.6)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for ax in axes[len(datasets) :]:
        ax.set_axis_off()
    return figure, dict(zip(datasets, axes, strict=False))


def colour_of(method: str) -> str:
    """Return the colour of a method, the same in every figure."""
    return COLOURS.get(method) or MORE_COLOURS[seed_of(method) % len(MORE_COLOURS)]


def _draw_curve(ax: Any, curve: Curve, method: str, band: bool = True) -> None:
    if not curve:
        return
    widths = list(curve)
    colour = colour_of(method)
    ax.plot(
        widths, [e.mean for e in curve.values()], "o-", color=colour, markersize=3, label=method
    )
    known = {width: e for width, e in curve.items() if band and e.has_interval}
    lows, highs = [e.low for e in known.values()], [e.high for e in known.values()]
    ax.fill_between(list(known), lows, highs, color=colour, alpha=0.12, linewidth=0)


def _draw_published(ax: Any, experiment: str, dataset: str, method: str, part: str) -> None:
    curve = published_curves().get((experiment, dataset, method, part), {})
    # The published curves go on to 5,000 frequencies; the panels end where ours do.
    shown = {width: error for width, error in curve.items() if width <= 600}
    colour = colour_of(method)
    ax.plot(list(shown), list(shown.values()), "--", color=colour, linewidth=1, alpha=0.8)


def _draw_svm(ax: Any, summary: Summary, dataset: str, part: str) -> None:
    line = summary.curve("svm", dataset, "SVM", part).get(0)
    if line:
        ax.axhline(line.mean, color=SVM_COLOUR, linewidth=1, label="RBF SVM")


def _finish(
    ax: Any, title: str, x: str, y: str, *, log_x: bool = False, log_y: bool = True
) -> None:
    ax.set_title(title, fontsize=10)
    ax.set_xlabel(x, fontsize=9)
    ax.set_ylabel(y, fontsize=9)
    if log_x:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    if log_y:
        _set_log_errors(ax)
    ax.tick_params(labelsize=8)
    ax.grid(visible=True, which="major", alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)


def _set_log_errors(ax: Any) -> None:
    """Show the lines from margin to margin; a band that reaches zero is cut."""
    values = np.concatenate([line.get_ydata() for line in ax.get_lines()])
    values = values[values > 0]
    ax.set_yscale("log")
    ax.set_ylim(values.min() / 1.4, values.max() * 1.4)
    steps = (1, 2, 5) if values.max() < 100 * values.min() else (1,)
    ax.yaxis.set_major_locator(LogLocator(subs=steps))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_locator(NullLocator())


def _with_legend(figure: Figure, panels: dict[str, Any]) -> Figure:
    handles, labels = next(iter(panels.values())).get_legend_handles_labels()
    place = {
        "loc": "outside upper center",
        "ncols": 4 if len(labels) <= 5 else 3,
        "frameon": False,
        "fontsize": 9,
    }
    figure.legend(handles, labels, **place)
    return figure
