"""The target of a table: whether it holds classes or amounts, and the labels of rows."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pacfourier.errors import InputError, brief, listed
from pacfourier.model.plain_fields import PlainFields
from pacfourier.tabular.cells import DECIMALS
from pacfourier.tabular.columns import READABLE_SHARE, Column, TableColumns, decided_columns

# More different numbers than this are amounts, not classes.
_MOST_NUMERIC_CLASSES = 30
# More different texts than this are names of rows, not classes.
_MOST_CLASSES = 1000
# The name of a class has at most so many characters.
_LONGEST_CLASS = 1000
# So many classes are allowed even if most of them have a single row.
_FEW_CLASSES = 10
_TASKS = ("classification", "regression")


class _Labels(NamedTuple):
    """The labels of some rows: texts or numbers, and whether a row has one."""

    values: NDArray[Any]
    is_present: NDArray[np.bool_]


@dataclass(frozen=True)
class TableTarget:
    """What is predicted.

    Attributes
    ----------
    name : str
        Name of the column.
    task : {"classification", "regression"}
    classes : list of str
        The classes of the rows that were learned from, sorted. Empty for a regression.
    decimal : str, default="."
        The decimal marks of amounts, one of ``DECIMALS``.
    """

    name: str
    task: str
    classes: list[str]
    decimal: str = "."

    def labels(self, block: pd.DataFrame) -> _Labels:
        """Return the labels of rows. Cells of a regression that are no numbers are no labels."""
        check_target_column(self.name, list(block.columns))
        if self.task == "regression":
            amounts = _amounts_of(block[self.name], self.decimal)
            return _Labels(amounts, np.isfinite(amounts))
        names = class_names(block[self.name])
        is_present = names.notna().to_numpy()
        # Not of a fixed width, which would have room for the longest name in every row.
        return _Labels(np.where(is_present, names.to_numpy(object), ""), is_present)

    def to_data(self) -> dict[str, Any]:
        """Return the target as plain data."""
        return vars(self).copy()

    @classmethod
    def from_data(cls, data: Any) -> "TableTarget":
        """Return the target in plain data that was read from a file, after checks."""
        fields = PlainFields(data, "target")
        task, classes = fields.choice("task", _TASKS), fields.texts("classes")
        is_right = len(classes) > 1 if task == "classification" else not classes
        fields.require(is_right, "classes", f"fit to a {task}", classes)
        decimal = fields.choice("decimal", DECIMALS)
        return cls(fields.text("name"), task, classes, decimal)


def decided_target(learned: pd.DataFrame, name: str, kind: str | None = None) -> TableTarget:
    """Decide from learned rows whether a column holds classes or amounts.

    Parameters
    ----------
    learned : DataFrame
        Rows that are learned from.
    name : str
        Name of the target.
    kind : {None, "category", "number"}, default=None
        What the user says that it is.
    """
    check_target_column(name, list(learned.columns))
    column = learned[name].dropna()
    if column.empty:
        raise InputError(f"target {name!r} must have values, got none in the rows that were read.")
    if kind not in (None, "category", "number"):
        raise InputError(f"--type {name} must be number or category for a target, got {kind!r}.")
    decimal = decided_columns(column.to_frame(), {name: "number"}).used[0].decimal
    amounts = _amounts_of(column, decimal)
    amounts = amounts[np.isfinite(amounts)]
    are_numbers = len(amounts) >= READABLE_SHARE * len(column)
    has_many = len(np.unique(amounts)) > _MOST_NUMERIC_CLASSES
    if kind == "number" or (kind is None and are_numbers and has_many):
        if len(np.unique(amounts)) < 2:
            raise InputError(f"target {name!r} must have different numbers, got one or none.")
        return TableTarget(name, "regression", [], decimal)
    classes = sorted(class_names(column).dropna().unique())
    # Only the user can know that classes with a single row each are meant.
    _check_classes(classes, name, len(column), is_sure=kind is not None)
    return TableTarget(name, "classification", classes)


def _amounts_of(column: pd.Series, decimal: str) -> NDArray[np.float64]:
    """Return a column as numbers, with NaN where a cell holds none."""
    columns = TableColumns((Column(str(column.name), "number", decimal),), {})
    return columns.typed(column.to_frame()).iloc[:, 0].to_numpy(np.float64)


def class_names(column: pd.Series) -> pd.Series:
    """Return the classes of a column as text, without spaces around them.

    Whole numbers have no decimals and midnights no time, so a class has one name in every format.
    """
    if column.dtype.kind in "mM":
        column = column.astype(object)
    if column.dtype.kind == "f" and not (column.dropna() % 1).any():
        column = column.astype("Int64")
    texts = column.astype(object).map(str, na_action="ignore")
    names = texts.str.strip().str.removesuffix(" 00:00:00") if texts.notna().any() else texts
    _check_lengths(names.dropna())
    return names.mask(names == "", None)


def _check_lengths(names: pd.Series) -> None:
    """Raise an error if a class is as long as what follows a quotation mark without its partner."""
    longest = max(names, key=len, default="")
    if len(longest) > _LONGEST_CLASS:
        raise InputError(
            f"classes of {names.name!r} must have at most {_LONGEST_CLASS:,} characters, got "
            f"{len(longest):,} that begin with {brief(longest)!r}: a quotation mark may be missing "
            "at the end of a cell."
        )


def check_target_column(name: str, names: list[str]) -> None:
    """Raise an error if the target is not among the columns."""
    if name not in names:
        advice = "pass its name with --target, exactly as in the table"
        if len(names) == 1:
            advice += ", or see --separator if this is not a single column"
        raise InputError(
            f"the target must be one of the columns {listed(names)}, got {name!r}: {advice}."
        )


def _check_classes(classes: list[str], name: str, n_rows: int, *, is_sure: bool) -> None:
    """Raise an error if labels are all the same, or are names of rows."""
    if len(classes) < 2:
        raise InputError(
            f"target {name!r} must have two classes or more, got {listed(classes)} only."
        )
    is_list_of_names = not is_sure and len(classes) > max(_FEW_CLASSES, n_rows / 2)
    if len(classes) > _MOST_CLASSES or is_list_of_names:
        raise InputError(
            f"target {name!r} must have at most {_MOST_CLASSES:,} classes and several rows of "
            f"each, got {len(classes):,} different texts in {n_rows:,} rows, which look like names "
            "of rows: choose another column."
        )
