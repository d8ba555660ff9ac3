"""Read the predictor of a table from its model file, and write it as ONNX."""

from pathlib import Path
from typing import Any

import numpy as np

from pacfourier.errors import InputError
from pacfourier.export.onnx_conversion import to_onnx
from pacfourier.extras import explain_missing_extra
from pacfourier.tabular.plain_fields import PlainFields
from pacfourier.tabular.plain_files import TABLE_FORMAT, plain_data
from pacfourier.tabular.predictor_data import moved_predictor, predictor_of

__all__ = ["load_predictor", "onnx_bytes"]


def load_predictor(path: Path) -> Any:
    """Return the predictor in a ``.skops`` file that ``pacfourier fit`` wrote.

    Parameters
    ----------
    path : pathlib.Path
        A file of plain data; all of it is checked.

    Returns
    -------
    model : FourierClassifier or FourierRegressor
        The fitted predictor. Its columns are the encoded columns of the table.
    """
    rule = f"model must be a file that 'pacfourier fit' wrote, got {str(path)!r}"
    if not path.is_file():
        raise InputError(f"{rule}: no such file.")
    return table_predictor(plain_data(path.read_bytes(), rule), rule)


def table_predictor(data: Any, rule: str) -> Any:
    """Return the predictor of a table's model, with the encoded columns as its columns.

    A number goes in as it is in the table, because the median that is subtracted from it for
    predictions is made part of the predictor.
    """
    with explain_missing_extra():
        from pacfourier.tabular.encoding import Encoding

    fields = PlainFields(data, rule)
    fields.choice("format", (TABLE_FORMAT,))
    model = predictor_of(fields.value("predictor"))
    encoding = Encoding.from_data(fields.value("encoding"))
    encoding.check_no_texts()
    names, n_columns = encoding.names, model.n_features_in_
    fields.require(len(names) == n_columns, "encoding", f"have {n_columns} columns", len(names))
    moved: Any = moved_predictor(model, encoding.offsets)
    moved.feature_names_in_ = np.array(names, dtype=object)
    moved._table_row = encoding.table_row
    return moved


def onnx_bytes(model: Any) -> bytes:
    """Return a predictor as the content of an ``.onnx`` file, for inputs of single precision."""
    rows = np.zeros((1, model.n_features_in_), dtype=np.float32)
    content: bytes = to_onnx(model, rows).SerializeToString()
    return content
