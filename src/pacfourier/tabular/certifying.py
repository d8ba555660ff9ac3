"""Certify a saved model on new labelled rows, read block by block."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray
from pacfourier.core.alignment.summary import SampleSummary
from pacfourier.errors import InputError, listed
from pacfourier.pacbayes.assumptions import Ties
from pacfourier.pacbayes.holdout import FreshRows
from pacfourier.pacbayes.prediction_certificate import (
    ClassCounts,
    ClassificationCertificate,
    Confidences,
    RegressionCertificate,
    class_counts,
    prediction_assumptions,
)
from pacfourier.pacbayes.predictions import least_half_widths
from pacfourier.tabular.columns import Strays, stray_notes
from pacfourier.tabular.evaluation import losses_of
from pacfourier.tabular.fresh_rows import FEWEST_ROWS_RECOGNISED
from pacfourier.tabular.model import TableCertificate, TableModel
from pacfourier.tabular.reading.table_blocks import Advance, Table, advancing_blocks, unheard
from pacfourier.tabular.training_rows import frame_summary, unlabelled_notes

# A smaller probability of chance agreement means that rows are not new. The probability is an
# approximation; in simulations, fewer than one in a thousand honest tables fall below this level.
COINCIDENCE = 2e-4


class Observed(NamedTuple):
    """What a block of labelled rows says about a model."""

    losses: FloatArray
    # The confidence of each predicted class, or the least half width around each amount.
    scores: FloatArray
    classes: ClassCounts | None
    bucket_counts: NDArray[np.int64]


def fresh_certificate(
    model: TableModel,
    table: Table,
    *,
    is_fresh: bool = False,
    epsilon: float = 0.05,
    ties: Ties = None,
) -> TableCertificate:
    """Return bounds on the errors of a model, from rows that it was not fitted on.

    The rows must be new, and you have to see to it. The model recognises only a table that is, for
    the most part, the one that it was fitted on. It stores nothing by which single rows could be
    recognised, by this function or by other people (see ``fresh_rows``).

    Parameters
    ----------
    model : TableModel
    table : Table
        New rows with their labels. Rows without a label are left out.
    is_fresh : bool, default=False
        Whether you declare that no row was in the table of the fit. This is needed if the model
        was fitted on fewer than 400 rows, which cannot be recognised.
    epsilon : float, default=0.05
        Probability, over these rows, that a bound fails.
    ties : {None, "genuine"}, default=None
        Say "genuine" if rows repeat because the columns have few values, not as copies.

    Returns
    -------
    certificate : ClassificationCertificate or RegressionCertificate
    """
    return certified_rows(model, table, is_fresh, epsilon, ties).certificate


class CertifiedRows(NamedTuple):
    """A certificate, and notes on rows and cells that were not used."""

    certificate: TableCertificate
    notes: list[str]


def certified_rows(
    model: TableModel,
    table: Table,
    is_fresh: bool,
    epsilon: float,
    ties: Ties,
    advance: Advance = unheard,
) -> CertifiedRows:
    """Return the certificate of fresh rows, and notes. See ``fresh_certificate``.

    ``advance`` is told which share of the rows is done.
    """
    check_labelled(model, table)
    strays, counted = Strays(), Counter[str]()
    blocks: list[Observed] = []
    summary: SampleSummary | None = None
    for observed, found in observed_blocks(model, table, strays, counted, advance):
        blocks.append(observed)
        summary = found if summary is None else summary.merge(found)
    if summary is None:
        raise InputError(
            f"data must have values of {model.target.name!r} to certify with, got none."
        )
    losses = np.concatenate([block.losses for block in blocks])
    scores = np.concatenate([block.scores for block in blocks])
    counts = np.sum([block.bucket_counts for block in blocks], axis=0)
    check_fresh(model, counts, len(losses), is_fresh)
    assumptions = prediction_assumptions(FreshRows(summary), ties)
    notes = [*stray_notes(strays), *unlabelled_notes(counted, model.target.name)]
    notes += unknown_notes(counted, model.target.name)
    if model.target.task == "regression":
        return CertifiedRows(RegressionCertificate(epsilon, assumptions, losses, scores), notes)
    confidences = Confidences(scores, 1.0)
    classes = merged_counts([block.classes for block in blocks])
    is_wrong = losses > 0
    certificate = ClassificationCertificate(epsilon, assumptions, is_wrong, confidences, classes)
    return CertifiedRows(certificate, notes)


def observed_blocks(
    model: TableModel, table: Table, strays: Strays, counted: Counter[str], advance: Advance
) -> Iterator[tuple[Observed, SampleSummary]]:
    """Yield what each block of labelled rows says about a model, and what the rows are.

    Unreadable cells are added to ``strays``, and numbers of rows to ``counted``.
    """
    predictor: Any = model.predictor
    for block in advancing_blocks(table, advance):
        labels = model.target.labels(block)
        counted["rows"] += len(block)
        counted["without label"] += int((~labels.is_present).sum())
        if not labels.is_present.any():
            continue
        frame, unread = model.columns.read(block[labels.is_present])
        strays.update(unread)
        X, y = model.encoding.encoded(frame), labels.values[labels.is_present]
        predictions = predictor.predict(X)
        is_classes = model.target.task == "classification"
        known = np.array(model.target.classes, dtype=object)
        counted["of unknown class"] += int((~pd.Series(y).isin(known)).sum()) if is_classes else 0
        scores = (
            predictor.predict_proba(X).max(axis=1)
            if is_classes
            else least_half_widths(y, predictions)
        )
        observed = Observed(
            losses_of(y, predictions, model.target.task),
            scores,
            class_counts(y, predictions, known) if is_classes else None,
            model.row_counts.bucket_counts(X, y),
        )
        yield observed, frame_summary(frame, y)


def unknown_notes(counted: Counter[str], target: str) -> list[str]:
    """Return a note on rows of classes that the model has never seen, if there are some."""
    if not counted["of unknown class"]:
        return []
    return [
        f"{counted['of unknown class']:,} of {counted['rows']:,} rows have a class of {target!r} "
        "that the model does not know: they count as errors."
    ]


def merged_counts(parts: list[Any]) -> ClassCounts:
    """Return the counts of classes over all blocks. A block may have classes of its own."""
    classes = np.unique(np.concatenate([part.classes for part in parts]))
    totals = np.zeros((3, len(classes)), dtype=np.int64)
    for part in parts:
        places = np.searchsorted(classes, part.classes)
        totals[:, places] += np.stack([part.n_labelled, part.n_predicted, part.n_hits])
    return ClassCounts(classes, *totals)


def check_labelled(model: TableModel, table: Table) -> None:
    """Raise an error if a table has no column of labels."""
    if model.target.name not in table.names:
        raise InputError(
            f"data must have the column {model.target.name!r} with the true values, got the "
            f"columns {listed(table.names)}: certify compares predictions with it. For rows "
            "without it, use 'pacfourier predict'."
        )


def check_fresh(model: TableModel, counts: NDArray[np.int64], n_rows: int, is_fresh: bool) -> None:
    """Raise an error if rows are those of the fit, as far as this can be seen."""
    n_known = model.row_counts.n_rows
    if model.row_counts.agreement(counts, n_rows) < COINCIDENCE:
        raise InputError(
            f"data must be new rows, got {n_rows:,} rows, many of which the model was fitted on: "
            "independent rows would differ more from them. The error on known rows says nothing "
            "about new rows: use rows that the model has not seen."
        )
    if n_known < FEWEST_ROWS_RECOGNISED and not is_fresh:
        raise InputError(
            f"data must be declared to be new rows, because the {n_known} rows of the fit are "
            "too few to be recognised: pass --fresh if none of these rows was among them."
        )
