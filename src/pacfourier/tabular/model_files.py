"""Save and load models of tables. A file holds plain data only, and loading it runs no code."""

from pathlib import Path
from typing import Any

from pacfourier.errors import InputError
from pacfourier.model.fourier_model import FourierModel
from pacfourier.model.plain_fields import PlainFields
from pacfourier.tabular.columns import TableColumns
from pacfourier.tabular.encoding import Encoding
from pacfourier.tabular.model import TableModel
from pacfourier.tabular.plain_files import TABLE_FORMAT, plain_bytes, plain_data
from pacfourier.tabular.row_digests import RowDigests
from pacfourier.tabular.table_output import check_output
from pacfourier.tabular.table_target import TableTarget
from pacfourier.written_files import write_file

# What commands read from the record of a fit.
_ROWS = ("read", "learned", "held out")
_RESULTS = ("error", "standard_error", "seconds")
_THRESHOLDS = ("recall", "threshold", "precision", "alarms")


def model_bytes(model: TableModel) -> bytes:
    """Return the content of the ``.skops`` file of a model."""
    fitted: Any = model.predictor
    return plain_bytes(
        {
            "format": TABLE_FORMAT,
            "target": model.target.to_data(),
            "columns": model.columns.to_data(),
            "encoding": model.encoding.to_data(),
            "predictor": _predictor_data(fitted.model_),
            "record": model.record,
            "row digests": model.row_digests.to_data(),
        }
    )


def _predictor_data(model: FourierModel) -> dict[str, Any]:
    """Return a fitted model as plain data: arrays of numbers, and lists of texts."""
    parts = model.arrays()
    return {name: p.tolist() if p.dtype.kind == "U" else p for name, p in parts.items()}


def save_model(model: TableModel, path: Path | str, *, overwrite: bool = False) -> None:
    """Write a model to a ``.skops`` file, completely or not at all.

    Parameters
    ----------
    model : TableModel
        The model of a fit.
    path : pathlib.Path or str
        Where to write it.
    overwrite : bool, default=False
        Whether the file may exist already.
    """
    path = Path(path)
    check_output(path, (".skops",), overwrite)
    write_file(path, model_bytes(model))


def load_model(path: Path | str) -> TableModel:
    """Return the model in a ``.skops`` file that ``pacfourier fit`` wrote.

    Everything is checked before it is used: a file of any other content gives an error.

    Parameters
    ----------
    path : pathlib.Path or str

    Returns
    -------
    model : TableModel
    """
    rule = f"model must be a file that 'pacfourier fit' wrote, got {str(path)!r}"
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{rule}: no such file.")
    data = plain_data(path.read_bytes(), rule)
    try:
        return _model_of(data)
    except InputError as error:
        raise InputError(f"{rule}: {error}") from None


def _model_of(data: Any) -> TableModel:
    """Return the model in plain data, after all checks."""
    fields = PlainFields(data, "model")
    fields.choice("format", (TABLE_FORMAT,))
    target = TableTarget.from_data(fields.value("target"))
    columns = TableColumns.from_data(fields.value("columns"))
    encoding = Encoding.from_data(fields.value("encoding"))
    predictor = FourierModel.from_arrays(fields.value("predictor"))
    kinds = {column.name: column.kind for column in columns.used}
    fields.require(encoding.kinds == kinds, "encoding", "read the used columns", encoding.kinds)
    n_inputs, n_encoded = predictor.n_columns, len(encoding.names)
    fields.require(n_inputs == n_encoded, "predictor", f"read {n_encoded} numbers", n_inputs)
    classes = [str(name) for name in predictor.classes.tolist()]
    fields.require(classes == target.classes, "predictor", "have the target's classes", classes)
    digests = RowDigests.from_data(fields.value("row digests"))
    record = _checked_record(fields.value("record"), len(classes))
    return TableModel(target, columns, encoding, predictor, record, digests)


def _checked_record(record: Any, n_classes: int) -> dict[str, Any]:
    """Return the record of a fit, after a check of what commands read from it."""
    fields = PlainFields(record, "record")
    for name in ("data", "date", "headline"):
        fields.text(name)
    fields.texts("notes")
    counts = fields.value("class counts")
    is_right = isinstance(counts, list) and len(counts) == n_classes
    is_right = is_right and all(type(count) is int for count in counts)
    fields.require(is_right, "class counts", f"be {n_classes} whole numbers", counts)
    rows = fields.value("rows")
    is_right = isinstance(rows, dict) and all(type(rows.get(name)) is int for name in _ROWS)
    fields.require(is_right, "rows", f"have the numbers {', '.join(_ROWS)}", rows)
    fields.require(isinstance(fields.value("settings"), dict), "settings", "be a dict", None)
    for name, columns in (("results", _RESULTS), ("thresholds", _THRESHOLDS)):
        _check_numbers(fields, name, columns)
    return dict(record)


def _check_numbers(fields: PlainFields, name: str, columns: tuple[str, ...]) -> None:
    """Raise an error unless a part is a list of dictionaries with some finite numbers."""
    rows = fields.value(name)
    is_right = isinstance(rows, list) and all(
        isinstance(row, dict) and all(type(row.get(column)) is float for column in columns)
        for row in rows
    )
    fields.require(is_right, name, f"be a list of {', '.join(columns)}", rows)
