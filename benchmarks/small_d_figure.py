"""Draw the figure of docs/small-d.md from the tables of that page.

The rows of the page were measured at different times, so no single folder of results has them all.
"""

import re
from pathlib import Path

from benchmarks.small_d import WIDTHS
from matplotlib.figure import Figure

from reproduction.figures import SVM, set_log_errors, set_log_widths, with_legend
from reproduction.protocol import Row
from reproduction.results import curve, datasets_of

# Only these have colours, and marks of their own; the other methods are thin and grey.
STYLES = {
    "BoostedRFF": ("#C00000", "o", 2.6),
    "GBRFF": ("#E69F00", "P", 1.5),
    "Nystroem k-means": ("#222222", "D", 1.5),
    "PBRFF complementary": ("#CC79A7", "X", 1.5),
    "PBRFF": ("#0072B2", "s", 1.5),
    "OKRFF": ("#009E73", "^", 1.5),
}
DOCS = Path(__file__).parents[1] / "docs"
HEADING, MACHINE = re.compile(r"### (\w+)"), re.compile(r"RBF SVM: ([\d.]+) %")


def page_rows(text: str) -> list[Row]:
    """Return the test errors of the section "All results", as rows of results."""
    rows, dataset = [], ""
    for line in text.partition("## All results")[2].splitlines():
        heading, machine = HEADING.match(line), MACHINE.match(line)
        if heading:
            dataset = heading[1]
        elif machine:
            rows.append(row_of("svm", dataset, "SVM", 0, machine[1]))
        elif line.startswith("| ") and "---" not in line and "D = 5" not in line:
            method, *errors = (cell.strip() for cell in line.strip("|").split("|"))
            rows += [
                row_of("small-d", dataset, method, width, error)
                for width, error in zip(WIDTHS, errors, strict=False)
            ]
    return rows


def row_of(experiment: str, dataset: str, method: str, width: int, percent: str) -> Row:
    """Return a row of results with a given test error; the page has two decimals."""
    place = {"experiment": experiment, "dataset": dataset, "split": 0}
    counts = {"test_errors": round(100 * float(percent)), "n_test": 10_000}
    return {**place, "method": method, "width": width, **counts}


def figure_of(rows: list[Row]) -> Figure:
    """Return one panel per data set with the errors of all methods."""
    datasets = datasets_of(rows, "small-d")
    n_lines = -(-len(datasets) // 2)
    figure = Figure(figsize=(7.4, 2.8 * n_lines + 0.6), layout="constrained")
    for dataset, ax in zip(datasets, figure.subplots(n_lines, 2).ravel(), strict=False):
        set_log_widths(ax, [*WIDTHS])
        for method in dict.fromkeys(row["method"] for row in rows):
            errors = [each.mean for each in curve(rows, "small-d", dataset, method).values()]
            colour, marker, width = STYLES.get(method, ("#C4C4C4", "", 0.9))
            label = method if method in STYLES else "other methods"
            (line,) = ax.plot(WIDTHS[: len(errors)], errors, color=colour, marker=marker)
            line.set(linewidth=width, markersize=4, label=label, zorder=1.5 + width)
        (machine,) = curve(rows, "svm", dataset, "SVM").values()
        ax.axhline(machine.mean, color="black", linewidth=1, linestyle=":", label=SVM)
        ax.set_title(dataset, fontsize=10)
        ax.set_xlabel("number of frequencies", fontsize=9)
        ax.set_ylabel("test error, %", fontsize=9)
        set_log_errors(ax, 0.0)
    with_legend(figure)
    return figure


def main() -> None:
    """Write the figure beside the page."""
    rows = page_rows((DOCS / "small-d.md").read_text(encoding="utf-8"))
    figure_of(rows).savefig(DOCS / "images" / "small_d.png", dpi=150)


if __name__ == "__main__":
    main()
