"""Tables of a reproduction, as CSV, Markdown and LaTeX."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pacfourier.bounds.safe_side import safely_rounded
from pacfourier.experiments.plan import Cell
from pacfourier.experiments.results_summary import Comparison, ResultsSummary

# Numbers of frequencies at which the greedy curves are compared with the published ones.
COMPARED_WIDTHS = (10, 50, 100, 500)


class Table(NamedTuple):
    """A table of plain text."""

    headers: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    def csv(self) -> str:
        """Return comma-separated values."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.headers, *self.rows])
        return text.getvalue()

    def markdown(self) -> str:
        """Return a Markdown table."""
        lines = [self.headers, ("---",) * len(self.headers), *self.rows]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def latex(self) -> str:
        """Return a LaTeX tabular, for the package booktabs."""
        lines = [" & ".join(map(_latex_text, line)) + r" \\" for line in (self.headers, *self.rows)]
        body = "\n".join([r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"])
        columns = "l" + "r" * (len(self.headers) - 1)
        return f"\\begin{{tabular}}{{{columns}}}\n{body}\n\\end{{tabular}}\n"


def _latex_text(text: str) -> str:
    for plain, escaped in (("%", r"\%"), ("_", r"\_"), ("beta", r"$\beta$")):
        text = text.replace(plain, escaped)
    return text


def comparison_table(cells: Iterable[Comparison]) -> Table:
    """Return one row per published error, beside ours.

    The columns are the published error, ours on the same split, ours over all splits, and whether
    the published error lies inside our interval.
    """
    headers = (
        "data set",
        "method",
        "width",
        "published %",
        "same split %",
        "ours %",
        "published vs. interval",
    )
    rows = [
        (
            cell.dataset,
            cell.method,
            f"{cell.width:g}" if cell.width else "",
            f"{cell.published:.2f}",
            "" if cell.ours.first is None else f"{cell.ours.first:.2f}",
            str(cell.ours),
            cell.verdict,
        )
        for cell in cells
    ]
    return Table(headers, rows)


def wide_table(cells: Sequence[Comparison]) -> Table:
    """Return Table 1 in the paper's layout, with our mean beside each published error.

    A star marks a published error outside our interval.
    """
    methods = list(dict.fromkeys(cell.method for cell in cells))
    found = {(cell.dataset, cell.method): cell for cell in cells}
    headers = ("data set", *(text for method in methods for text in (method, "ours")))
    rows = []
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        texts = [dataset]
        for method in methods:
            cell = found.get((dataset, method))
            star = "*" if cell and cell.verdict == "outside" else ""
            texts += [f"{cell.published:.2f}{star}", f"{cell.ours.mean:.2f}"] if cell else ["", ""]
        rows.append(tuple(texts))
    return Table(headers, rows)


def width_table(summary: ResultsSummary, experiment: str, dataset: str) -> Table:
    """Return mean test errors in %, with one row per method and one column per width."""
    curves = {m: summary.curve(experiment, dataset, m) for m in summary.methods(experiment)}
    widths = sorted({width for curve in curves.values() for width in curve})
    rows = [
        (method, *(f"{curve[w].mean:.2f}" if w in curve else "" for w in widths))
        for method, curve in curves.items()
        if curve
    ]
    return Table((dataset, *(f"{width:g}" for width in widths)), rows)


def toy_table(summary: ResultsSummary) -> Table:
    """Return the test errors of the toy experiment in %, before and after learning."""
    methods = summary.methods("toy")
    rows = []
    for dataset in summary.toys:
        curves = [summary.curve("toy", dataset, method) for method in methods]
        rows.append((dataset, *(str(next(iter(curve.values()))) for curve in curves)))
    return Table(("data set", *methods), rows)


def certificate_table(summary: ResultsSummary, dataset: str) -> Table:
    """Return certificates, the losses they bound and test errors, by method and width."""
    headers = ("method", "width", "certificate", "training loss", "test loss", "test error %")
    rows = []
    for experiment in ("greedy", "landmarks"):
        for method in summary.methods(experiment):
            key = (experiment, dataset, method)
            columns = [summary.means(*key, name) for name in ("train_loss", "test_loss")]
            errors = summary.curve(*key)
            for width, certificate in summary.means(*key, "certificate").items():
                if experiment == "greedy" and width not in COMPARED_WIDTHS:
                    continue
                losses = [f"{c[width]:.3f}" if width in c else "" for c in columns]
                text = f"{width:g}" if experiment == "greedy" else f"{width:g} %"
                bound = safely_rounded(certificate, "up", decimals=3)
                rows.append((method, text, bound, *losses, f"{errors[width].mean:.2f}"))
    return Table(headers, rows)


def time_table(finished: dict[Cell, float], profile: str) -> Table:
    """Return the run time of every method in seconds, with one column per data set."""
    cells = {cell: s for cell, s in finished.items() if cell.profile == profile}
    datasets = list(dict.fromkeys(cell.dataset for cell in sorted(cells)))
    methods = list(dict.fromkeys((cell.experiment, cell.method) for cell in sorted(cells)))
    rows = []
    for experiment, method in methods:
        seconds = [
            sum(
                s
                for cell, s in cells.items()
                if (cell.experiment, cell.method, cell.dataset) == (experiment, method, dataset)
            )
            for dataset in datasets
        ]
        rows.append((experiment, method, *(f"{s:.1f}" if s else "" for s in seconds)))
    return Table(("experiment", "method", *datasets), rows)
