"""The HTML report about a model that was fitted on a table."""

import io
from typing import Any

import numpy as np

from pacfourier.extras import explain_missing_extra
from pacfourier.plots import LossSpectrumDisplay
from pacfourier.reports.page import Markup, figure, page, section, table
from pacfourier.tabular.columns import Columns
from pacfourier.tabular.facts import certificate_facts, fit_facts
from pacfourier.tabular.model import TabularModel

with explain_missing_extra():
    from matplotlib.figure import Figure

# A confusion matrix with more classes than this is too wide for a page.
MOST_ACROSS = 8
CAPTION = (
    "Each point is a candidate frequency. Long frequencies see fine detail, short ones see coarse "
    "structure. The selection loss says how badly a frequency agrees with the classes: lower is "
    "better. The circled frequencies are used by the map."
)


def fit_report(model: TabularModel) -> Markup:
    """Return a self-contained HTML page about a model."""
    record = model.record
    held_out = _matrix if len(record["classes"]) <= MOST_ACROSS else _errors
    parts = [
        section("Summary", table(["what", "value"], fit_facts(model))),
        section("Columns", table(["kind", "names"], _column_names(model.columns))),
        section("Held-out rows", *held_out(record["classes"], np.array(record["confusion"]))),
        section(
            "Certificate of the learned map",
            "The alignment loss says how badly the kernel of the learned map agrees with the "
            "classes. The certificate bounds this loss on future rows. It is not a bound on the "
            "classification error: that bound is in the summary above.",
            table(["what", "value"], certificate_facts(model.certificate())),
            figure(_loss_spectrum(model.pipeline["features"]), CAPTION),
        ),
    ]
    if record["notes"]:
        parts.append(section("Notes", *record["notes"]))
    details = [("seed", record["seed"]), ("run time", f"{record['seconds']:.1f} seconds")]
    details += record["versions"].items()
    parts.append(section("Versions and seed", table(["what", "value"], details)))
    return page(f"A certified classifier of {record['target_column']}", *parts)


def _column_names(columns: Columns) -> list[tuple[str, str]]:
    kinds = [("numeric", columns.numbers), ("categorical", columns.categories)]
    return [(kind, ", ".join(names)) for kind, names in kinds if names]


def _matrix(classes: list[str], confusion: np.ndarray) -> tuple[str, Markup]:
    headers = ["true class", *(f"predicted {name}" for name in classes)]
    counts = ([f"{count:,}" for count in row] for row in confusion)
    rows = ([name, *row] for name, row in zip(classes, counts, strict=True))
    return (
        "Number of rows by true class and predicted class. These rows were not used in training.",
        table(headers, rows, numeric=range(1, len(headers))),
    )


def _errors(classes: list[str], confusion: np.ndarray) -> tuple[str, Markup]:
    wrong = confusion - np.diag(np.diag(confusion))
    rows = []
    for index in np.argsort(-wrong.sum(axis=1), kind="stable"):
        instead = classes[wrong[index].argmax()] if wrong[index].any() else ""
        counts = (f"{matrix[index].sum():,}" for matrix in (confusion, wrong))
        rows.append((classes[index], *counts, instead))
    headers = ["true class", "rows", "errors", "most frequent wrong class"]
    return (
        "Number of rows and errors by true class, most errors first. These rows were not used in "
        "training.",
        table(headers, rows, numeric=(1, 2)),
    )


def _loss_spectrum(features: Any) -> bytes:
    """Return the plot of the losses of all candidate frequencies, as a PNG image."""
    drawing, image = Figure(figsize=(7, 4), layout="constrained"), io.BytesIO()
    LossSpectrumDisplay.from_estimator(features, ax=drawing.subplots())
    drawing.savefig(image, format="png", dpi=120)
    return image.getvalue()
