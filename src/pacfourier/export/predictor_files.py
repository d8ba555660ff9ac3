"""Read a fitted predictor from a ``.skops`` file, which runs no code, and write it as ONNX."""

from pathlib import Path
from typing import Any

import numpy as np

from pacfourier.errors import InputError
from pacfourier.estimators.fourier_predictor import FourierPredictor
from pacfourier.export.onnx_conversion import to_onnx
from pacfourier.extras import explain_missing_extra
from pacfourier.tabular.plain_fields import PlainFields
from pacfourier.tabular.plain_files import TABLE_FORMAT, is_plain, plain_data
from pacfourier.tabular.predictor_data import moved_predictor, predictor_of
from pacfourier.trusted_files import trusted_object

__all__ = ["load_predictor", "onnx_bytes"]

# All types in a predictor, besides plain data.
TYPES = frozenset(
    {
        "pacfourier.bounds._result.Bound",
        "pacfourier.core.boosting.columns.Columns",
        "pacfourier.core.boosting.cosine_model.CosineModel",
        "pacfourier.core.boosting.folded.FoldedModel",
        "pacfourier.core.boosting.scoring.ScoringModel",
        "pacfourier.estimators.fourier_classifier.FourierClassifier",
        "pacfourier.estimators.fourier_regressor.FourierRegressor",
        "pacfourier.estimators.training.Trained",
        "pacfourier.pacbayes.assumptions.Assumption",
        "pacfourier.pacbayes.prediction_certificate.ClassCounts",
        "pacfourier.pacbayes.prediction_certificate.ClassificationCertificate",
        "pacfourier.pacbayes.prediction_certificate.RegressionCertificate",
        "pacfourier.pacbayes.predictions.Confidences",
    }
)


def load_predictor(path: Path) -> Any:
    """Return the predictor in a ``.skops`` file; a file that holds other types gives an error.

    Parameters
    ----------
    path : pathlib.Path
        A file that ``skops.io.dump`` or ``pacfourier fit`` wrote. In the latter case, the columns
        of the predictor are the encoded columns of the table.

    Returns
    -------
    model : FourierClassifier or FourierRegressor
        The fitted predictor.
    """
    rule = "model must be a .skops file of a fitted Fourier predictor"
    content = path.read_bytes() if path.is_file() else b""
    if is_plain(content):
        rule = f"{rule}, got {str(path)!r}"
        return table_predictor(plain_data(content, rule), rule)
    model = trusted_object(path, TYPES, rule)
    if not isinstance(model, FourierPredictor):
        raise InputError(f"{rule}, got {str(path)!r}: it holds a {type(model).__name__}.")
    return model


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
