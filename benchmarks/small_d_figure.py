"""Draw the figure of docs/small-d.md from the tables of that page.

The rows of the page were measured at different times, so no single folder of results has them all.
"""

import re
from pathlib import Path
from typing import Any

from pacfourier.experiments.figures import methods_figure
from pacfourier.experiments.plan import SMALL_WIDTHS
from pacfourier.experiments.results_summary import ResultsSummary

DOCS = Path(__file__).parents[1] / "docs"
HEADING, MACHINE = re.compile(r"### (\w+)"), re.compile(r"RBF SVM: ([\d.]+) %")


def page_rows(text: str) -> list[dict[str, Any]]:
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
                for width, error in zip(SMALL_WIDTHS, errors, strict=False)
            ]
    return rows


def row_of(experiment: str, dataset: str, method: str, width: int, percent: str) -> dict[str, Any]:
    """Return a row of results with a given test error; the page has two decimals."""
    place = {"profile": "standard", "experiment": experiment, "dataset": dataset, "split": 0}
    counts = {"test_errors": round(100 * float(percent)), "n_test": 10_000}
    return {**place, "method": method, "width": width, **counts}


def main() -> None:
    """Write the figure beside the page."""
    rows = page_rows((DOCS / "small-d.md").read_text(encoding="utf-8"))
    figure = methods_figure(ResultsSummary(rows, "standard"), "small-d")
    figure.savefig(DOCS / "images" / "small_d.png", dpi=150)


if __name__ == "__main__":
    main()
