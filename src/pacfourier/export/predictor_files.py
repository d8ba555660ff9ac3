"""Read the predictor of a table from its model file, and write it as ONNX."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pacfourier.errors import InputError
from pacfourier.export.onnx_conversion import to_onnx
from pacfourier.extras import explain_missing_extra
from pacfourier.model.fourier_model import FourierModel
from pacfourier.model.plain_fields import PlainFields
from pacfourier.tabular.plain_files import TABLE_FORMAT, plain_data

if TYPE_CHECKING:
    from pacfourier.tabular.encoding import TableRow


class TablePredictor(NamedTuple):
    """What is exported of a model of a table.

    Parameters
    ----------
    model : FourierModel
        Its columns are the encoded columns of the table, with numbers as in the table.
    table_row : TableRow
        How the cells of the table become a row.
    """

    model: FourierModel
    table_row: "TableRow"


def load_predictor(path: Path) -> TablePredictor:
    """Return the predictor in a ``.skops`` file that ``pacfourier fit`` wrote.

    Parameters
    ----------
    path : pathlib.Path
        A file of plain data; all of it is checked.

    Returns
    -------
    predictor : TablePredictor
    """
    rule = f"model must be a file that 'pacfourier fit' wrote, got {str(path)!r}"
    if not path.is_file():
        raise InputError(f"{rule}: no such file.")
    return _table_predictor(plain_data(path.read_bytes(), rule), rule)


def _table_predictor(data: Any, rule: str) -> TablePredictor:
    """Return the predictor of a table's model, with the encoded columns as its columns.

    A number goes in as it is in the table, because the median that is subtracted from it for
    predictions is made part of the predictor.
    """
    with explain_missing_extra():
        from pacfourier.tabular.encoding import Encoding

    fields = PlainFields(data, rule)
    fields.choice("format", (TABLE_FORMAT,))
    model = FourierModel.from_arrays(fields.value("predictor"))
    encoding = Encoding.from_data(fields.value("encoding"))
    encoding.check_no_texts()
    names, n_columns = encoding.names, model.n_columns
    fields.require(len(names) == n_columns, "encoding", f"have {n_columns} columns", len(names))
    moved = replace(model.moved(encoding.offsets), names=np.array(names, dtype=str))
    return TablePredictor(moved, encoding.table_row)


def onnx_bytes(model: FourierModel) -> bytes:
    """Return a predictor as the content of an ``.onnx`` file, for inputs of single precision."""
    rows = np.zeros((1, model.n_columns), dtype=np.float32)
    content: bytes = to_onnx(model, rows).SerializeToString()
    return content
