"""The classes of the rows of a table, and checks of the columns that a user names."""

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from pacfourier.errors import InputError, listed

# More distinct numbers than this are measurements, not classes.
MOST_NUMERIC_CLASSES = 30
# More distinct texts than this are names of rows, not classes.
MOST_CLASSES = 1000


def table_labels(table: pd.DataFrame, target_column: str) -> np.ndarray:
    """Return the class of each row, as text.

    Parameters
    ----------
    table : DataFrame
    target_column : str
        Name of the column that holds the classes.

    Returns
    -------
    labels : array of str, of shape (n_rows,)
    """
    check_target_column(target_column, table.columns)
    column = table[target_column]
    n_missing = int(column.isna().sum())
    if n_missing:
        raise InputError(
            f"target {target_column!r} must have a value in every row, got {n_missing} without: "
            "leave those rows out."
        )
    # pandas writes a column of midnights without the time: a day would have two names.
    if column.dtype.kind in "mM":
        column = column.astype(object)
    return np.asarray(column.astype(str).str.removesuffix(" 00:00:00"), dtype=str)


def check_target_column(target_column: str, names: Collection[str]) -> None:
    """Raise an error if the target column is not among the columns."""
    if target_column not in names:
        raise InputError(f"target must be one of {listed(names)}, got {target_column!r}.")


def check_drop(drop: Sequence[str], names: Collection[str]) -> None:
    """Raise an error if a column to leave out is not among the columns of inputs."""
    if isinstance(drop, str):
        raise InputError(f"drop must be a list of names, got {drop!r}.")
    unknown = [name for name in drop if name not in names]
    if unknown:
        raise InputError(f"drop must be among {listed(names)}, got {listed(unknown)}.")


def check_classes(labels: np.ndarray, target_column: str) -> None:
    """Raise an error if labels are all the same, measurements or names of rows."""
    classes = np.unique(labels)
    if len(classes) < 2:
        raise InputError(
            f"target {target_column!r} must have two classes or more, got {listed(classes)}."
        )
    numbers = pd.to_numeric(pd.Series(classes), errors="coerce")
    if len(classes) > MOST_NUMERIC_CLASSES and numbers.notna().all():
        raise InputError(
            f"target {target_column!r} must hold classes, got more than {MOST_NUMERIC_CLASSES} "
            "different numbers, which looks like regression: group the numbers into ranges, or "
            "name the classes by words."
        )
    if len(classes) > MOST_CLASSES:
        raise InputError(
            f"target {target_column!r} must have {MOST_CLASSES} classes or fewer, got more: "
            "merge classes, or name another column."
        )
