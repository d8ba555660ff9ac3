"""The page about a model of a table."""

import io

import numpy as np

from pacfourier.plots import LossSpectrumDisplay
from pacfourier.reports.page import figure, page, section, table
from pacfourier.tabular.facts import certificate_facts, fit_facts

# A matrix of more classes than this fits no page.
MOST_ACROSS = 8
CAPTION = (
    "Every candidate frequency: its length, which is the inverse of the width it sees, and how "
    "badly it agrees with the classes: lower is better. The circled ones were kept."
)


def fit_report(model):
    """Return a self-contained HTML page on a model."""
    record = model.record
    held_out = _matrix if len(record["classes"]) <= MOST_ACROSS else _errors
    parts = [
        section("In short", table(["what", "value"], fit_facts(model))),
        section("Columns", table(["kind", "names"], _column_names(model.columns))),
        section("Held-out rows", *held_out(record["classes"], np.array(record["confusion"]))),
        section(
            "Certificate of the learned map",
            "It bounds the alignment loss of the map, not the error of the classifier, which the "
            "held-out rows bound.",
            table(["what", "value"], certificate_facts(model.certificate())),
            figure(_loss_spectrum(model.pipeline["features"]), CAPTION),
        ),
    ]
    if record["notes"]:
        parts.append(section("Notes", *record["notes"]))
    made = [("seed", record["seed"]), ("seconds", f"{record['seconds']:.1f}")]
    made += record["versions"].items()
    parts.append(section("Made with", table(["what", "value"], made)))
    return page(f"A certified classifier of {record['target_column']}", *parts)


def _column_names(columns):
    kinds = [("numeric", columns.numbers), ("categorical", columns.categories)]
    return [(kind, ", ".join(names)) for kind, names in kinds if names]


def _matrix(classes, confusion):
    headers = ["class", *(f"predicted {name}" for name in classes)]
    counts = ([f"{count:,}" for count in row] for row in confusion)
    rows = ([name, *row] for name, row in zip(classes, counts, strict=True))
    return (
        "How many rows of each class, never seen in training, were given each class.",
        table(headers, rows, numeric=range(1, len(headers))),
    )


def _errors(classes, confusion):
    wrong = confusion - np.diag(np.diag(confusion))
    rows = []
    for index in np.argsort(-wrong.sum(axis=1), kind="stable"):
        instead = classes[wrong[index].argmax()] if wrong[index].any() else ""
        counts = (f"{matrix[index].sum():,}" for matrix in (confusion, wrong))
        rows.append((classes[index], *counts, instead))
    headers = ["class", "rows", "errors", "most often given instead"]
    return (
        "How many rows of each class, never seen in training, were given another; the most first.",
        table(headers, rows, numeric=(1, 2)),
    )


def _loss_spectrum(features):
    """Return the losses of all candidates as a PNG image."""
    from matplotlib.figure import Figure

    drawing, image = Figure(figsize=(7, 4), layout="constrained"), io.BytesIO()
    LossSpectrumDisplay.from_estimator(features, ax=drawing.subplots())
    drawing.savefig(image, format="png", dpi=120)
    return image.getvalue()
