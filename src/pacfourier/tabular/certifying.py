"""Certify a saved model on new labelled rows, read block by block."""

from collections import Counter
from collections.abc import Iterator
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray
from pacfourier.core.alignment.summary import SampleSummary
from pacfourier.data.holdout import one_of_each
from pacfourier.errors import InputError, listed
from pacfourier.estimators.prediction_certificates import row_summary
from pacfourier.pacbayes.assumptions import Duplicates
from pacfourier.pacbayes.holdout import FreshRows
from pacfourier.pacbayes.prediction_certificate import (
    ClassCounts,
    ClassificationCertificate,
    RegressionCertificate,
    class_counts,
    prediction_assumptions,
)
from pacfourier.pacbayes.predictions import Confidences, least_half_widths
from pacfourier.tabular.columns import Strays, stray_notes
from pacfourier.tabular.evaluation import losses_of
from pacfourier.tabular.first_pass import Division, check_columns, group_numbers
from pacfourier.tabular.model import TableCertificate, TableModel
from pacfourier.tabular.reading.table_blocks import Advance, Table, advancing_blocks, unheard
from pacfourier.tabular.row_digests import comparable, row_sum
from pacfourier.tabular.training_rows import unlabelled_notes

# The word that means no groups, and the seed with which the row of each group is chosen.
NO_GROUPS, SEED = "none", 8_116_230_447


class _Observed(NamedTuple):
    """What the rows of a block that count say about a model."""

    losses: FloatArray
    # The confidence of each predicted class, or the least half width around each amount.
    scores: FloatArray
    classes: ClassCounts | None
    summary: SampleSummary


def fresh_certificate(
    model: TableModel,
    table: Table,
    *,
    epsilon: float = 0.05,
    duplicates: Duplicates = None,
    group: str | None = None,
) -> TableCertificate:
    """Return bounds on the errors of a model, from rows that it was not fitted on.

    The rows must be new, and you have to see to it. The model recognises the table that it was
    fitted on, or the part that it was learned from, with its rows in any order. It stores nothing
    by which single rows could be recognised, by this function or by other people.

    Parameters
    ----------
    model : TableModel
    table : Table
        New rows with their labels. Rows without a label are left out.
    epsilon : float, default=0.05
        Probability, over these rows, that a bound fails.
    duplicates : {None, "genuine"}, default=None
        Say "genuine" if rows repeat because the columns have few values, not as copies.
    group : str, default=None
        The column of groups, of which one random row each counts. By default, that of the fit, if
        it had one. Say "none" if rows are independent draws.

    Returns
    -------
    certificate : ClassificationCertificate or RegressionCertificate
    """
    return certified_rows(model, table, epsilon, duplicates, group).certificate


class _CertifiedRows(NamedTuple):
    """A certificate, and notes on rows and cells that were not used."""

    certificate: TableCertificate
    notes: list[str]


def certified_rows(
    model: TableModel,
    table: Table,
    epsilon: float,
    duplicates: Duplicates,
    group: str | None = None,
    advance: Advance = unheard,
) -> _CertifiedRows:
    """Return the certificate of fresh rows, and notes. See ``fresh_certificate``.

    ``advance`` is told which share of the rows is done.
    """
    _check_labelled(model, table)
    column = _group_column(model, table, group)
    is_chosen = None if column is None else _one_row_of_each_group(model, table, column)
    strays, counted, total = Strays(), Counter[str](), np.zeros(3, dtype=np.uint64)
    blocks = list(_observed_blocks(model, table, is_chosen, strays, counted, total, advance))
    if not blocks:
        raise InputError(
            f"data must have values of {model.target.name!r} to certify with, got none."
        )
    target = model.target.name
    notes = [*_fresh_notes(model, total), *stray_notes(strays), *unlabelled_notes(counted, target)]
    notes += [*_unknown_notes(counted, target), *_group_notes(counted, column)]
    return _CertifiedRows(_certificate_of_blocks(model, blocks, epsilon, duplicates, column), notes)


def _group_column(model: TableModel, table: Table, group: str | None) -> str | None:
    """Return the column of groups of new rows, or None if rows are independent draws."""
    if group == NO_GROUPS:
        return None
    if group is not None:
        check_columns(table, Division(model.target.name, group=group))
        return group
    known: str | None = model.record["settings"]["group"]
    if known is not None and known not in table.names:
        raise InputError(
            f"data must have the column {known!r}, because the model was fitted with groups, got "
            f"the columns {listed(table.names)}. Rows of one group are not independent. Pass "
            "--group if the column has another name, or --group none if each row is an "
            "independent draw."
        )
    return known


def _one_row_of_each_group(model: TableModel, table: Table, group: str) -> NDArray[np.bool_]:
    """Return for each row of a table whether it counts: a random labelled row of each group."""
    rng = np.random.default_rng(SEED)
    groups, samples, labelled = [], [], []
    for block in table.blocks([model.target.name, group]):
        alone, sample = rng.random((len(block), 2)).T
        groups.append(group_numbers(block[group], alone, SEED))
        samples.append(sample)
        labelled.append(model.target.labels(block).is_present)
    if not labelled:
        return np.zeros(0, dtype=bool)
    is_chosen = np.concatenate(labelled)
    places = np.flatnonzero(is_chosen)
    chosen = one_of_each(np.concatenate(groups)[places], np.concatenate(samples)[places])
    is_chosen[np.delete(places, chosen)] = False
    return is_chosen


def _observed_blocks(
    model: TableModel,
    table: Table,
    is_chosen: NDArray[np.bool_] | None,
    strays: Strays,
    counted: Counter[str],
    total: NDArray[np.uint64],
    advance: Advance,
) -> Iterator[_Observed]:
    """Yield what the rows of each block that count say about a model; None means all rows.

    Of all rows, unreadable cells are added to ``strays``, numbers of rows to ``counted``, and sums
    of rows to ``total``.
    """
    for block in advancing_blocks(table, advance):
        labels = model.target.labels(block)
        is_used = labels.is_present
        start = counted["rows"]
        counted["rows"] += len(block)
        counted["without label"] += int((~is_used).sum())
        if not is_used.any():
            continue
        frame, unread = model.columns.read(block[is_used])
        strays.update(unread)
        rows, y = comparable(frame), labels.values[is_used]
        total += row_sum(rows, y)
        if model.target.task == "classification":
            known = np.array(model.target.classes, dtype=object)
            counted["of unknown class"] += int((~pd.Series(y).isin(known)).sum())
        if is_chosen is not None:
            kept = is_chosen[start : start + len(block)][is_used]
            frame, rows, y = frame[kept], rows[kept], y[kept]
        counted["chosen"] += len(y)
        if len(y):
            summary = row_summary(rows, y, frame.columns)
            yield _observed_rows(model, model.encoding.encoded(frame), y, summary)


def _observed_rows(
    model: TableModel, X: NDArray[Any], y: NDArray[Any], summary: SampleSummary
) -> _Observed:
    """Return what labelled rows say about a model."""
    predictor: Any = model.predictor
    predictions = predictor.predict(X)
    losses = losses_of(y, predictions, model.target.task)
    if model.target.task == "regression":
        widths = least_half_widths(y, predictions)
        return _Observed(losses, widths, None, summary)
    classes = class_counts(y, predictions, np.array(model.target.classes, dtype=object))
    confidences = predictor.predict_proba(X).max(axis=1)
    return _Observed(losses, confidences, classes, summary)


def _certificate_of_blocks(
    model: TableModel,
    blocks: list[_Observed],
    epsilon: float,
    duplicates: Duplicates,
    group: str | None,
) -> TableCertificate:
    """Return the certificate from what all blocks say."""
    summary = reduce(SampleSummary.merge, (block.summary for block in blocks))
    assumptions = prediction_assumptions(FreshRows(summary, group=group), duplicates)
    losses = np.concatenate([block.losses for block in blocks])
    scores = np.concatenate([block.scores for block in blocks])
    if model.target.task == "regression":
        return RegressionCertificate(epsilon, assumptions, losses, scores, group=group)
    confidences = Confidences(scores, 1.0)
    classes = _merged_counts([block.classes for block in blocks])
    return ClassificationCertificate(
        epsilon, assumptions, losses > 0, confidences, classes, group=group
    )


def _group_notes(counted: Counter[str], group: str | None) -> list[str]:
    """Return a note on which rows give the bound, if rows belong to groups."""
    if group is None:
        return []
    n_labelled = counted["rows"] - counted["without label"]
    return [
        f"of {n_labelled:,} rows, one random row of each of {counted['chosen']:,} groups of "
        f"{group!r} gives the bound."
    ]


def _unknown_notes(counted: Counter[str], target: str) -> list[str]:
    """Return a note on rows of classes that the model has never seen, if there are some."""
    if not counted["of unknown class"]:
        return []
    return [
        f"{counted['of unknown class']:,} of {counted['rows']:,} rows have a class of {target!r} "
        "that the model does not know: they count as errors."
    ]


def _merged_counts(parts: list[Any]) -> ClassCounts:
    """Return the counts of classes over all blocks. A block may have classes of its own."""
    classes = np.unique(np.concatenate([part.classes for part in parts]))
    totals = np.zeros((3, len(classes)), dtype=np.int64)
    for part in parts:
        places = np.searchsorted(classes, part.classes)
        totals[:, places] += np.stack([part.n_labelled, part.n_predicted, part.n_hits])
    return ClassCounts(classes, *totals)


def _check_labelled(model: TableModel, table: Table) -> None:
    """Raise an error if a table has no column of labels."""
    if model.target.name not in table.names:
        raise InputError(
            f"data must have the column {model.target.name!r} with the true values, got the "
            f"columns {listed(table.names)}: certify compares predictions with it. For rows "
            "without it, use 'pacfourier predict'."
        )


def _fresh_notes(model: TableModel, total: NDArray[np.uint64]) -> list[str]:
    """Return a note if rows are those held out. Raise an error if they are those learned from."""
    part = model.row_digests.part_of(total)
    if part is None:
        return []
    if part == "held_out":
        return [
            "these are the rows that the fit held out for the certificate in the model: this one "
            "repeats it, and is not about new rows."
        ]
    whose = "all rows of the table" if part == "table" else "the rows"
    raise InputError(
        f"data must be new rows, got {whose} that the model was fitted on. The error on known rows "
        "says nothing about new rows: use rows that the model has not seen."
    )
