"""The report of a reproduction: claims, tables and figures on one self-contained HTML page."""

import io
from collections.abc import Iterable
from pathlib import Path

from matplotlib.figure import Figure

from pacfourier.reports import page
from reproduction.claims import Judgement
from reproduction.figures import greedy_figure, landmarks_figure
from reproduction.protocol import FIRST_SPLIT_SEED, Row
from reproduction.results import Comparison, curve, datasets_of, figure_points, table1

CLAIMS_NOTE = (
    "Each claim of Section 6 is judged on the data sets that were run. The brackets hold the 95 % "
    "interval of the mean difference over random splits, which is widened because splits share "
    "rows (Nadeau and Bengio, 2003); the intervals of a sentence hold together. Errors are similar "
    "if they differ by at most two standard errors of an error rate on the test part, so that the "
    "one split of the paper could not tell them apart. Adult has one test part: its splits differ "
    "in the validation rows only. If we cannot tell, more splits may help (--splits)."
)
ERRORS_NOTE = (
    "Errors are in %. Ours are means over splits; split 0 has the rows of the paper. The brackets "
    "hold the 95 % prediction interval (Student's t) for one new split, because the paper reports "
    "one split. About one published error in twenty lies outside by chance."
)
LEGEND = "Filled marks: ours, with the interval for one new split. Hollow marks: published."


def write_report(rows: list[Row], judgements: list[Judgement], folder: Path) -> Path:
    """Write the figures and ``report.html`` into a folder; return the path of the page."""
    sections = [page.section("The claims of the paper", CLAIMS_NOTE, *map(str, judgements))]
    if datasets_of(rows, "landmarks"):
        image = saved(landmarks_figure(rows), folder / "figure2_landmarks.png")
        landmarks = page.section(
            "Landmarks: Table 1 and Figure 2",
            ERRORS_NOTE,
            comparison_table(table1(rows)),
            page.figure(image, f"Test error. {LEGEND}"),
            inside(figure_points(rows, "landmarks")),
        )
        sections.append(landmarks)
    if datasets_of(rows, "greedy"):
        image = saved(greedy_figure(rows), folder / "figure3_greedy.png")
        points = figure_points(rows, "greedy")
        greedy = page.section(
            "Greedy kernel learning: Figure 3",
            page.figure(image, f"Error by number of frequencies. {LEGEND}"),
            inside(points),
            page.details("Compare point by point", comparison_table(points)),
        )
        sections.append(greedy)
    if datasets_of(rows, "toy"):
        note = "The gallery of the documentation shows Figure 1."
        sections.append(page.section("Toy: Figures 1 and 4", note, toy_table(rows)))
    sections.append(versions_section(rows))
    path = folder / "report.html"
    path.write_text(page.page("The paper's experiments", *sections), "utf-8")
    return path


def saved(figure: Figure, path: Path) -> bytes:
    """Save a figure; return its bytes."""
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=150)
    path.write_bytes(image.getvalue())
    return image.getvalue()


def comparison_table(cells: Iterable[Comparison]) -> page.Markup:
    """Return one row per published error, beside ours."""
    rows = []
    for dataset, method, width, published, ours in cells:
        first = "" if ours.first is None else f"{ours.first:.2f}"
        place, verdict = (dataset, method, f"{width:g}" if width else ""), ours.verdict(published)
        rows.append((*place, f"{published:.2f}", first, str(ours), verdict))
    headers = ("data set", "method", "width", "published", "same split", "ours", "published is")
    return page.table(headers, rows, numeric=range(2, 6))


def inside(points: list[Comparison]) -> str:
    """Return how many published errors lie inside our intervals."""
    verdicts = [ours.verdict(published) for *_, published, ours in points]
    n_inside, n_outside = verdicts.count("inside"), verdicts.count("outside")
    return f"{n_inside} of {n_inside + n_outside} published points lie inside our intervals."


def toy_table(rows: list[Row]) -> page.Markup:
    """Return the test errors of the toy experiment, before and after learning."""
    toys, methods = datasets_of(rows, "toy"), ("RBF-R", "PB-R")
    found = {(toy, name): curve(rows, "toy", toy, name) for toy in toys for name in methods}
    lines = [(toy, *(str(*found[toy, name].values()) for name in methods)) for toy in toys]
    return page.table(("toy", *methods), lines, numeric=range(1, 3))


def versions_section(rows: list[Row]) -> page.Markup:
    """Return the seeds and the versions."""
    last = FIRST_SPLIT_SEED + max(row["split"] for row in rows)
    seeds = (
        f"The splits have the seeds {FIRST_SPLIT_SEED} to {last}. Every other seed is a hash of "
        "what it is used for: data set, split, method and parameters."
    )
    return page.section("Versions and seeds", seeds, rows[0]["versions"])
