"""What a fitted predictor says of rows that it was not learned from, as a certificate."""

from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier, is_regressor

from pacfourier.arrays import FloatArray, host, is_tensor
from pacfourier.core.alignment.summary import SampleSummary, sample_summary
from pacfourier.data.samples import canonical, check_no_missing, dense_labels
from pacfourier.pacbayes.assumptions import Duplicates
from pacfourier.pacbayes.holdout import FreshRows
from pacfourier.pacbayes.prediction_certificate import (
    ClassificationCertificate,
    PredictionCertificate,
    RegressionCertificate,
    class_counts,
    label_set_counts,
    prediction_assumptions,
)
from pacfourier.pacbayes.predictions import Confidences, least_half_widths


def prediction_certificate(
    model: Any,
    X: Any,
    y: NDArray[Any],
    rows: FreshRows,
    *,
    epsilon: float,
    duplicates: Duplicates = None,
) -> PredictionCertificate:
    """Return the certificate of a predictor on rows that were summarised before.

    An estimator that sets rows aside inside ``fit`` passes ``FreshRows`` with ``is_split=True`` and
    the summaries of both parts, which ``row_summary`` makes. Only who also read the rows from the
    user's table adds ``is_raw=True``.
    """
    predictions = dense_labels(np.asarray(host(model.predict(X))))
    listed = prediction_assumptions(rows, duplicates)
    law: dict[str, Any] = {"group": rows.group, "period": rows.period}
    if is_regressor(model):
        errors = _absolute_errors(y, predictions)
        widths = least_half_widths(y, predictions)
        return RegressionCertificate(epsilon, listed, errors, widths, **law)
    confidences = _prediction_confidences(model, X, are_sets=y.ndim == 2)
    if y.ndim == 2:
        _check_label_sets(y, predictions)
        is_wrong, counts = (y != predictions).any(axis=1), label_set_counts(y, predictions)
    else:
        _check_classes(y, predictions)
        classes = np.asarray(getattr(model, "classes_", predictions))
        is_wrong, counts = y != predictions, class_counts(y, predictions, classes)
    return ClassificationCertificate(epsilon, listed, is_wrong, confidences, counts, **law)


def check_predictor(model: Any) -> None:
    """Raise ValueError unless a model predicts classes or amounts."""
    if not hasattr(model, "predict") or not (is_classifier(model) or is_regressor(model)):
        raise ValueError(
            "model must be a classifier, a regressor or a Fourier map such as PBRFF, got "
            f"{type(model).__name__}."
        )


def checked_labels(y: Any) -> NDArray[Any]:
    """Return labels as an array of numbers or of text, without missing values."""
    values = y if sparse.issparse(y) else _unpadded_array(host(y))
    check_no_missing(values)
    labels = dense_labels(values)
    if labels.dtype != object:
        return labels
    if any(isinstance(each, str) for each in labels.flat):
        return np.array([str(each) for each in labels.flat], dtype=object).reshape(labels.shape)
    # Numbers in a column of objects become an array of numbers.
    return np.asarray(labels.tolist())


def _unpadded_array(values: Any) -> NDArray[Any]:
    """Return values as an array, and lists as an array of objects.

    NumPy would give every text of a list the room of the longest one.
    """
    return np.asarray(values, dtype=object if isinstance(values, list | tuple) else None)


def _absolute_errors(y: NDArray[Any], predictions: NDArray[Any]) -> FloatArray:
    """Return the distance of each prediction from its label; of several outputs, the largest."""
    if y.shape != predictions.shape or y.dtype.kind not in "biuf":
        raise ValueError(
            f"y must hold numbers in the shape of the predictions, {predictions.shape}, got "
            f"{y.dtype} in the shape {y.shape}."
        )
    errors = np.abs(y.astype(np.float64) - predictions)
    if not np.isfinite(errors).all():
        raise ValueError("y and the predictions must be finite, got NaN or infinity.")
    return errors if errors.ndim == 1 else errors.max(axis=1)


def _check_classes(y: NDArray[Any], predictions: NDArray[Any]) -> None:
    """Raise ValueError unless labels and predictions are both numbers or both text."""
    if (y.dtype.kind in "biuf") != (predictions.dtype.kind in "biuf"):
        raise ValueError(
            f"y must hold classes of the same type as the predictions, got {y[:1].tolist()} and "
            f"predictions such as {predictions[:1].tolist()}: convert y."
        )


def _check_label_sets(y: NDArray[Any], predictions: NDArray[Any]) -> None:
    """Raise ValueError unless labels and predictions are columns of zeros and ones."""
    if y.shape != predictions.shape or not (np.isin(y, (0, 1)).all()):
        raise ValueError(
            "y must have one column of classes, or one column of zeros and ones per label, got the "
            f"shape {y.shape}: certify other outputs one at a time."
        )


def _prediction_confidences(model: Any, X: Any, *, are_sets: bool = False) -> Confidences | None:
    """Return how confident a classifier is of each prediction, or None if it does not say.

    The confidence is the largest probability of ``predict_proba``. Without that method, it is the
    difference of the two largest scores of ``decision_function``, or the absolute score if there
    is one per row. ``are_sets`` says that there are several labels per row: the least certain one
    counts.
    """
    if hasattr(model, "predict_proba"):
        values = _largest_probabilities(model.predict_proba(X), are_sets)
    elif hasattr(model, "decision_function"):
        values = _margins(np.asarray(host(model.decision_function(X))), are_sets)
    else:
        return None
    if not np.isfinite(values).all():
        raise ValueError("the confidences of model must be finite, got NaN or infinity.")
    return Confidences(values, 1.0 if hasattr(model, "predict_proba") else np.inf)


def _largest_probabilities(probabilities: Any, are_sets: bool) -> FloatArray:
    if isinstance(probabilities, list):
        return np.min([each.max(axis=1) for each in probabilities], axis=0)
    values = np.asarray(host(probabilities))
    largest = np.maximum(values, 1 - values).min(axis=1) if are_sets else values.max(axis=1)
    # A sum of probabilities may be rounded to slightly more than one.
    return np.minimum(largest, 1.0)


def _margins(scores: FloatArray, are_sets: bool) -> FloatArray:
    if scores.ndim == 1:
        return np.abs(scores)
    if are_sets:
        return np.abs(scores).min(axis=1)
    second, first = np.partition(scores, -2, axis=1)[:, -2:].T
    return first - second


def row_summary(X: Any, y: NDArray[Any], names: Any = None) -> SampleSummary:
    """Return the summary of rows of any kind, with which assumptions are checked.

    Values that are not numbers count by a hash, which is the same in every sample. ``names`` of the
    columns are for messages; by default those of a data frame.
    """
    codes = _number_columns(y.reshape(len(y), -1))
    summary: SampleSummary = sample_summary(summable(X), sparse.csr_array(codes))
    names, hidden = getattr(X, "columns", names), summary.hidden
    if names is None or hidden is None or hidden.column is None:
        return summary
    return replace(summary, hidden=hidden._replace(column=str(names[hidden.column])))


def summable(X: Any) -> Any:
    """Return rows of any kind as an array or sparse matrix of floating-point numbers."""
    if is_tensor(X):
        return X if X.is_floating_point() else X.double()
    if hasattr(X, "tocsr"):
        rows = canonical(X.tocsr())
        return rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
    rows = _unpadded_array(X)
    return _number_columns(rows.reshape(len(rows), -1))


def _number_columns(rows: NDArray[Any]) -> FloatArray:
    """Return an array whose entries are numbers, hashes of text, or hashes of other objects."""
    if rows.dtype.kind == "f":
        return rows if rows.dtype == np.float32 else rows.astype(np.float64)
    if rows.dtype.kind in "biu":
        return rows.astype(np.float64)
    return np.stack([_number_column(column) for column in rows.T], axis=1)


def _number_column(column: NDArray[Any]) -> FloatArray:
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        texts = [str(each) for each in column.tolist()]
        numbers = {text: _text_number(text) for text in set(texts)}
        return np.array([numbers[text] for text in texts])


def _text_number(text: str) -> float:
    """Return a whole number that stands for a text. Doubles hold 48 bits without rounding."""
    return float(int.from_bytes(blake2b(text.encode(), digest_size=6).digest()))
