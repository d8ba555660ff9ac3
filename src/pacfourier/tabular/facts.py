"""What to tell a user about a model, as pairs of a name and a text."""

from typing import Any

import numpy as np

from pacfourier.bounds._result import rounded_up
from pacfourier.errors import listed
from pacfourier.pacbayes.certificate import Certificate
from pacfourier.pacbayes.yardsticks import yardstick_facts
from pacfourier.tabular.model import ObservedError, TabularModel

Facts = list[tuple[str, str]]


def fit_facts(model: TabularModel) -> Facts:
    """Return what was fitted, and the error on the held-out rows with its bound."""
    record, columns = model.record, model.columns
    n_preprocessing, n_training, n_held_out = record["rows"]
    rows = f"{n_preprocessing:,} preprocessing, {n_training:,} training, {n_held_out:,} held out"
    return [
        ("rows", f"{sum(record['rows']):,}: {rows}"),
        ("columns", f"{len(columns.numbers)} numeric, {len(columns.categories)} categorical"),
        ("classes", f"{record['target_column']}: {listed(record['classes'])}"),
        _constant_error(record["classes"], np.array(record["confusion"])),
        *error_facts("held-out", model.held_out_error, model.no_bound_reason),
    ]


def _constant_error(classes: list[str], confusion: np.ndarray) -> tuple[str, str]:
    """Return the error of always predicting the most frequent class, to compare with."""
    counts = confusion.sum(axis=1)
    most = counts.argmax()
    name = f"error of always predicting {classes[most]!r}"
    return name, _share(counts.sum() - counts[most], counts.sum())


def _share(n_errors: int, n_rows: int) -> str:
    return f"{n_errors / n_rows:.4f} ({n_errors:,} of {n_rows:,} rows)"


def error_facts(rows: str, error: ObservedError, no_bound_reason: str = "") -> Facts:
    """Return the error on some rows, and the bound on the error that follows from it.

    Parameters
    ----------
    rows : str
        What to call the rows: "held-out" or "new".
    error : ObservedError
    no_bound_reason : str, default=""
        Why there is no bound; empty if there is one.
    """
    probability = f"with probability {1 - error.epsilon:g}"
    bound = f"error on future rows <= {rounded_up(error.bound)}, {probability}"
    condition = "if all rows are independent draws from one distribution"
    return [
        (f"error on {rows} rows", _share(error.n_errors, error.n_samples)),
        (
            f"bound from {rows} rows",
            f"none: {no_bound_reason}" if no_bound_reason else f"{bound}, {condition}",
        ),
    ]


def certificate_facts(certificate: Certificate) -> Facts:
    """Return the certificate of the learned map with its assumptions."""
    headline, *_ = str(certificate).splitlines()
    probability = f"with probability {1 - certificate.epsilon:g}"
    sample = f"{probability} over samples of {certificate.n_samples:,} rows"
    value = None if certificate.violations else certificate.value
    return [
        ("certificate", headline if value is None else f"{headline}, {sample}"),
        ("empirical loss", f"{certificate.empirical_loss:.4f}"),
        *yardstick_facts(certificate.yardsticks, value),
        *(_assumption_fact(item) for item in sorted(certificate.assumptions, key=_is_proved)),
    ]


def _is_proved(assumption: Any) -> bool:
    return assumption.status == "holds"


def _assumption_fact(assumption: Any) -> tuple[str, str]:
    return f"{assumption.status}: {assumption.name}", assumption.reason
