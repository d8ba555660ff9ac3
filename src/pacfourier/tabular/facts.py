"""What is said of a model, as pairs of a name and a value in words."""

import numpy as np

from pacfourier.bounds._result import rounded_up
from pacfourier.errors import listed

CHANCE = "one half is chance for two balanced classes"


def fit_facts(model):
    """Return (name, value) pairs that say what was fitted, and what it is worth."""
    record, columns = model.record, model.columns
    n_preparation, n_learning, n_held_out = record["rows"]
    rows = f"{n_preparation:,} prepare, {n_learning:,} learn, {n_held_out:,} held out"
    return [
        ("rows", f"{sum(record['rows']):,}: {rows}"),
        ("columns", f"{len(columns.numbers)} numeric, {len(columns.categories)} categorical"),
        ("classes", f"{record['target_column']}: {listed(record['classes'])}"),
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
