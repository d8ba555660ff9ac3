"""Predictions for a table, block by block."""

from collections.abc import Iterator, Sequence

import pandas as pd

from pacfourier.errors import InputError, listed
from pacfourier.tabular.columns import Strays
from pacfourier.tabular.model import TableModel
from pacfourier.tabular.reading.table_blocks import Advance, Table, advancing_blocks, unheard


def predicted_blocks(
    model: TableModel,
    table: Table,
    *,
    columns: Sequence[str] | None = None,
    has_probabilities: bool = True,
    threshold: float | None = None,
    advance: Advance = unheard,
) -> Iterator[tuple[pd.DataFrame, Strays]]:
    """Yield blocks of a table with columns of predictions, and counts of unreadable cells.

    Parameters
    ----------
    model : TableModel
    table : Table
    columns : sequence of str or None, default=None
        The columns of the table to keep. None keeps all.
    has_probabilities : bool, default=True
        Whether to add the probability of each class.
    threshold : float or None, default=None
        For two classes: predict the rarer one if its probability is at least this.
    advance : function of a float, optional
        It is told which share of the rows is done.
    """
    kept = list(table.names if columns is None else columns)
    added = _added_names(model, has_probabilities)
    _check_names(table, kept, added)
    for block in advancing_blocks(table, advance):
        frame, strays = model.columns.read(block)
        values = {added[0]: model.predictions(frame, threshold)}
        if len(added) > 1:
            values |= dict(zip(added[1:], model.probabilities(frame).T, strict=True))
        yield block[kept].assign(**values), strays


def _added_names(model: TableModel, has_probabilities: bool) -> list[str]:
    """Return the names of the columns that are added: the prediction comes first."""
    classes = model.target.classes if has_probabilities else []
    return [f"predicted_{model.target.name}", *(f"probability_{name}" for name in classes)]


def _check_names(table: Table, kept: Sequence[str], added: Sequence[str]) -> None:
    """Raise an error if a column to keep is missing, or would be overwritten."""
    unknown = [name for name in kept if name not in table.names]
    if unknown:
        raise InputError(
            f"--columns must name columns of the table, {listed(table.names)}, got "
            f"{listed(unknown)}."
        )
    present = [name for name in added if name in kept]
    if present:
        raise InputError(
            f"data must have no columns named {listed(present)}, which are added to the output: "
            "rename them, or leave them out with --columns."
        )


def unused_notes(model: TableModel, table: Table) -> list[str]:
    """Return a note on the columns of a table that the model does not know."""
    known = {column.name for column in model.columns.used} | set(model.columns.left_out)
    known |= {model.target.name, model.record["settings"]["group"]}
    extra = [name for name in table.names if name not in known]
    return [f"columns that the model does not know are ignored: {listed(extra)}."] if extra else []
