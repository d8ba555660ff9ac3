"""The report of a reproduction: tables, figures and one self-contained HTML page."""

import io
from pathlib import Path

from pacfourier.experiments import figures
from pacfourier.experiments.protocol import EPSILON, FIRST_SPLIT_SEED
from pacfourier.experiments.records import Records
from pacfourier.experiments.result_tables import (
    COMPARED_WIDTHS,
    Table,
    certificate_table,
    comparison_table,
    time_table,
    toy_table,
    wide_table,
    width_table,
)
from pacfourier.experiments.results_summary import Comparison, ResultsSummary, figure_points, table1
from pacfourier.experiments.toy_landmarks import N_LANDMARKS
from pacfourier.extras import explain_missing_extra
from pacfourier.reports import page
from pacfourier.written_files import write_file

with explain_missing_extra():
    import matplotlib as mpl
    from matplotlib.figure import Figure

ONE_SPLIT = (
    "Errors are test errors in %, on the same split of every data set as in the paper. One split "
    "is not enough for an interval: use --seeds to run more splits."
)
MANY_SPLITS = (
    "Errors are test errors in %. The paper reports one run on one split. Our results are means "
    "over up to {n_splits} splits, and split 0 has the rows of the paper. The numbers in brackets "
    "are a 95 % prediction interval (Student's t) for the error on one new split. The report says "
    "whether each published error lies inside it; about one in twenty lies outside by chance."
)
LANDMARKS_CAPTION = (
    "Test error. Solid: ours. Dashed: published. -C: the landmarks are k-means centroids. -R: the "
    "landmarks are random training samples."
)
TOY_CAPTION = (
    "Top: RBF kernel values around five landmarks (stars). Bottom: the learned similarities. "
    "Right: the regions of a linear SVM on all five."
)
WIDTHS = (
    "In the tables, the width is the number of frequencies of a Fourier map, or the number of "
    "landmarks in % of the training set."
)
SAME_SPLITS = "Each curve is a mean over the splits that were run at all its points."


def write_report(records: Records, profile: str, folder: Path) -> Path:
    """Write tables, figures and ``report.html`` into a folder; return the path of the page.

    Parameters
    ----------
    records : Records
    profile : str
    folder : Path
    """
    summary = ResultsSummary(records.results(), profile)
    images = {}
    for name, figure in _figures(summary).items():
        images[name] = _rendered(figure, "png")
        write_file(folder / f"{name}.png", images[name])
        write_file(folder / f"{name}.svg", _rendered(figure, "svg"))
    for name, table in _tables(summary).items():
        write_file(folder / f"{name}.csv", table.csv().encode())
        write_file(folder / f"{name}.md", table.markdown().encode())
        write_file(folder / f"{name}.tex", table.latex().encode())
    path = folder / "report.html"
    write_file(path, _page(records, summary, images).encode())
    return path


def _figures(summary: ResultsSummary) -> dict[str, Figure]:
    """Return the figures of what was run; figures of the paper have the paper's numbers."""
    drawn = {}
    if summary.toys:
        drawn["figure1_toy_two_moons"] = _toy_figure(summary, "two moons")
        drawn["figure4_toy_four_squares"] = _toy_figure(summary, "four squares")
    if summary.methods("landmarks"):
        drawn["figure2_landmarks"] = figures.landmarks_figure(summary)
    if summary.methods("greedy"):
        drawn["figure3_greedy"] = figures.greedy_figure(summary)
        drawn["figure3_greedy_train"] = figures.greedy_figure(summary, "train")
        drawn["figure5_methods"] = figures.methods_figure(summary, "greedy")
        drawn["figure6_certificates"] = figures.certificates_figure(summary)
    if summary.methods("small-d"):
        drawn["figure7_small_d"] = figures.methods_figure(summary, "small-d")
    return dict(sorted(drawn.items()))


def _toy_figure(summary: ResultsSummary, dataset: str) -> Figure:
    methods = summary.methods("toy")
    errors = {method: summary.curve("toy", dataset, method)[N_LANDMARKS] for method in methods}
    return figures.toy_figure(dataset, errors)


def _tables(summary: ResultsSummary) -> dict[str, Table]:
    tables = {}
    if summary.methods("landmarks"):
        tables["table1"] = wide_table(table1(summary))
        tables["table1_intervals"] = comparison_table(table1(summary))
    if summary.methods("greedy"):
        tables["greedy"] = comparison_table(_compared_points(summary))
    return tables


def _compared_points(summary: ResultsSummary) -> list[Comparison]:
    points = figure_points(summary, "greedy")
    return [point for point in points if point.width in COMPARED_WIDTHS]


def _rendered(figure: Figure, kind: str) -> bytes:
    image = io.BytesIO()
    # A fixed salt: the same numbers give the same bytes.
    with mpl.rc_context({"svg.hashsalt": "pacfourier"}):
        figure.savefig(
            image, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else {}
        )
    return image.getvalue()


def _page(records: Records, summary: ResultsSummary, images: dict[str, bytes]) -> str:
    introduction = MANY_SPLITS if summary.n_splits > 1 else ONE_SPLIT
    sections = [introduction.format(n_splits=summary.n_splits), WIDTHS]
    if summary.methods("landmarks"):
        sections.append(_landmarks_section(summary, images))
    if summary.methods("greedy"):
        sections += [_greedy_section(summary, images), _methods_section(summary, images)]
        sections.append(_certificates_section(summary, images))
    if summary.methods("small-d"):
        sections.append(_small_d_section(summary, images))
    if summary.toys:
        sections.append(_toy_section(summary, images))
    sections += [_time_section(records, summary), _run_section(records, summary)]
    return page.page(f"The paper's experiments, profile {summary.profile}", *sections)


def _landmarks_section(summary: ResultsSummary, images: dict[str, bytes]) -> str:
    cells = table1(summary)
    return page.section(
        "Landmarks: Table 1 and Figure 2",
        "The landmarks are k-means centroids; their number is 10 % of the training set. Each "
        "published error is followed by our mean. A star marks a published error outside our "
        "interval. The columns beta=1 and D=64 fix this parameter; all other parameters are "
        "selected on the validation part.",
        _html(wide_table(cells)),
        _verdicts(cells),
        page.details("Show intervals", _html(comparison_table(cells), numeric=range(2, 6))),
        _picture(images, "figure2_landmarks", f"{LANDMARKS_CAPTION} {SAME_SPLITS}"),
    )


def _greedy_section(summary: ResultsSummary, images: dict[str, bytes]) -> str:
    points = _compared_points(summary)
    return page.section(
        "Greedy kernel learning: Figure 3",
        _picture(
            images, "figure3_greedy", f"Test error. Solid: ours. Dashed: published. {SAME_SPLITS}"
        ),
        _verdicts(points),
        page.details(
            "Compare point by point", _html(comparison_table(points), numeric=range(2, 6))
        ),
        _picture(images, "figure3_greedy_train", "Training error."),
    )


def _methods_section(summary: ResultsSummary, images: dict[str, bytes]) -> str:
    return page.section(
        "Other methods",
        "The methods of the paper, compared with draws without "
        "repetition (distinct) and with Nystroem maps. Nystroem maps have as many columns as the "
        "Fourier maps: twice the number of frequencies. The tables show the mean test error in % "
        "by number of frequencies.",
        _picture(images, "figure5_methods", f"Test error of all methods. {SAME_SPLITS}"),
        *_width_tables(summary, "greedy"),
    )


def _small_d_section(summary: ResultsSummary, images: dict[str, bytes]) -> str:
    return page.section(
        "Few frequencies",
        "Mean test error in % by number of frequencies. Nystroem maps have as many columns as the "
        "Fourier maps: twice the number of frequencies.",
        _picture(images, "figure7_small_d", f"Test error. {SAME_SPLITS}"),
        *_width_tables(summary, "small-d"),
    )


def _width_tables(summary: ResultsSummary, experiment: str) -> list[str]:
    return [
        page.details(dataset, _html(width_table(summary, experiment, dataset)))
        for dataset in summary.datasets(experiment)
    ]


def _certificates_section(summary: ResultsSummary, images: dict[str, bytes]) -> str:
    parts = [
        page.details(dataset, _html(certificate_table(summary, dataset)))
        for dataset in summary.datasets("greedy")
    ]
    return page.section(
        "Certificates and errors",
        "The alignment loss says how badly the kernel of a map agrees with the classes; it is not "
        "the classification error. A certificate bounds this loss on new data. It holds with "
        f"probability {1 - EPSILON:g} for all ten bandwidths of the grid at once, so it also holds "
        "for the bandwidth that the SVM selected. Maps with random landmarks have a certificate; "
        "maps with k-means centroids do not.",
        _picture(
            images,
            "figure6_certificates",
            "Alignment loss. Solid: certificate. Dotted: loss on the test part.",
        ),
        *parts,
    )


def _toy_section(summary: ResultsSummary, images: dict[str, bytes]) -> str:
    names = [name for name in images if "toy" in name]
    pictures = [
        _picture(
            images,
            name,
            TOY_CAPTION,
        )
        for name in names
    ]
    return page.section("Toy: Figures 1 and 4", _html(toy_table(summary)), *pictures)


def _time_section(records: Records, summary: ResultsSummary) -> str:
    table = time_table(records.finished(), summary.profile)
    return page.section(
        "Run time",
        "Seconds on one core, summed over all splits, widths and settings.",
        _html(table, numeric=range(2, len(table.headers))),
    )


def _run_section(records: Records, summary: ResultsSummary) -> str:
    rows = []
    for run in records.runs():
        names = ", ".join(f"{name} {number}" for name, number in run["versions"].items())
        rows.append((run["started"], names))
    last = FIRST_SPLIT_SEED + summary.n_splits - 1
    return page.section(
        "Versions and seeds",
        f"The splits have the seeds {FIRST_SPLIT_SEED} to {last}. Every other seed is a hash of "
        "what it is used for: data set, split, method and parameters.",
        page.table(("started", "versions"), rows),
    )


def _verdicts(cells: list[Comparison]) -> str:
    judged = [cell.verdict for cell in cells if cell.verdict != "no interval"]
    if not judged:
        return "One split gives no intervals, so nothing is compared."
    outside = judged.count("outside")
    return f"{len(judged) - outside} of {len(judged)} published errors lie inside our intervals."


def _picture(images: dict[str, bytes], name: str, caption: str) -> str:
    return page.figure(images[name], caption)


def _html(table: Table, numeric: range | None = None) -> str:
    columns = range(1, len(table.headers)) if numeric is None else numeric
    return page.table(table.headers, table.rows, numeric=columns)
