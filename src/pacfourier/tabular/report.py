"""What is said of a model: facts for a terminal, and a page."""

import io

import numpy as np

from pacfourier.bounds._result import rounded_up
from pacfourier.reports.page import figure, page, section, table
from pacfourier.tabular.tables import listed

# A matrix of more classes than this fits no page.
MOST_ACROSS = 8
CHANCE = "one half is chance for two balanced classes"
CAPTION = (
    "Every candidate frequency: its length, which is the inverse of the width it sees, and how "
    "badly it agrees with the classes: lower is better. The circled ones were kept."
)


def fit_facts(model):
    """Return (name, value) pairs that say what was fitted, and what it is worth."""
    record, columns = model.record, model.columns
    n_preparation, n_learning, n_held_out = record["rows"]
    rows = f"{n_preparation:,} prepare, {n_learning:,} learn, {n_held_out:,} held out"
    return [
        ("rows", f"{sum(record['rows']):,}: {rows}"),
        ("columns", f"{len(columns.numbers)} numeric, {len(columns.categories)} categorical"),
        ("classes", f"{record['target']}: {listed(record['classes'])}"),
        _constant_error(record["classes"], np.array(record["confusion"])),
        *error_facts("held-out", model.held_out_error, model.refusal),
    ]


def _constant_error(classes, confusion):
    """Return the yardstick of an error: that of the best classifier that reads no column."""
    counts = confusion.sum(axis=1)
    often = counts.argmax()
    return f"error of always {classes[often]!r}", _share(counts.sum() - counts[often], counts.sum())


def _share(n_errors, n_rows):
    return f"{n_errors / n_rows:.4f} ({n_errors:,} of {n_rows:,} rows)"


def error_facts(rows, error, refusal=""):
    """Return the error on rows, and the bound from them, in words; copied rows bound nothing."""
    probability = f"with probability {1 - error.epsilon:g}"
    bound = f"error on new rows <= {rounded_up(error.bound)}, {probability}"
    condition = "if rows are independent draws of one law"
    return [
        (f"error on {rows} rows", _share(error.n_errors, error.n_samples)),
        (f"bound from {rows} rows", f"none: {refusal}" if refusal else f"{bound}, {condition}"),
    ]


def certificate_facts(certificate):
    """Return the certificate of the map with its assumptions, in words."""
    headline, *_ = str(certificate).splitlines()
    probability = f"with probability {1 - certificate.epsilon:g}"
    sample = f"{probability} over samples of {certificate.n_samples:,} ({CHANCE})"
    return [
        ("certificate", headline if certificate.violations else f"{headline}, {sample}"),
        ("empirical loss", f"{certificate.empirical_loss:.4f}"),
        *(
            (f"{item.status}: {item.name}", item.reason)
            for item in sorted(certificate.assumptions, key=lambda item: item.status == "holds")
        ),
    ]


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
    return page(f"A certified classifier of {record['target']}", *parts)


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

    from pacfourier.plots import LossSpectrumDisplay

    drawing, image = Figure(figsize=(7, 4), layout="constrained"), io.BytesIO()
    LossSpectrumDisplay.from_estimator(features, ax=drawing.subplots())
    drawing.savefig(image, format="png", dpi=120)
    return image.getvalue()
