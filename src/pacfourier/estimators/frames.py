"""Data frames of pandas or polars with categories, text, dates and gaps, as numbers.

Numeric columns are kept. All others are encoded by the ``TableVectorizer`` of skrub: categories as
one column of zeros and ones each, texts by their parts, dates by their parts. Gaps are filled by
the median, and a column of zeros and ones says where they were.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import validate_data

from pacfourier.arrays import IntArray
from pacfourier.data.samples import Block, are_unequal, check_labels, positive_weights
from pacfourier.extras import explain_missing_extra


@dataclass(frozen=True, eq=False)
class FrameEncoder:
    """What was learned about the columns of a data frame, to encode other rows the same way.

    Attributes
    ----------
    numbers, others : lists of str
        Places of the numeric columns, and of all others.
    vectorizer : TableVectorizer or None
        Encodes the other columns. None if there are none.
    imputer : SimpleImputer
        Fills the gaps of all encoded columns.
    """

    numbers: list[str]
    others: list[str]
    vectorizer: Any
    imputer: Any

    def encoded(self, X: Any) -> NDArray[Any]:
        """Return the rows of a data frame as an array of numbers without gaps."""
        return np.asarray(self.imputer.transform(self.gappy(X)))

    def gappy(self, X: Any) -> NDArray[Any]:
        """Return the rows as numbers, before gaps are filled."""
        frame = placed(X)
        names = dict(zip(frame.columns, X.columns, strict=True))
        parts = [numbers_of(frame[place], names[place])[:, np.newaxis] for place in self.numbers]
        if self.vectorizer is not None:
            table = self.vectorizer.transform(frame[self.others])
            parts.append(np.asarray(table, dtype=np.float32))
        return np.hstack(parts)

    @property
    def sources(self) -> IntArray:
        """The place in the data frame of the column that each encoded column comes from."""
        places = list(self.numbers)
        if self.vectorizer is not None:
            origin = self.vectorizer.output_to_input_
            places += [origin[name] for name in self.vectorizer.all_outputs_]
        sources = np.array(places, dtype=np.intp)
        return np.concatenate([sources, sources[self.imputer.indicator_.features_]])


def fitted_encoder(X: Any, seed: int = 0) -> FrameEncoder:
    """Learn from the rows of a data frame how to encode them.

    Parameters
    ----------
    X : data frame of pandas or polars
        Rows to learn from. Rows held out for a certificate must not be among them.
    seed : int, default=0
        Seed of the encoding of texts.
    """
    frame = placed(X)
    columns = list(zip(frame.columns, frame.dtypes, strict=True))
    numbers = [place for place, dtype in columns if holds_numbers(dtype)]
    others = [place for place, dtype in columns if not holds_numbers(dtype)]
    vectorizer = _table_vectorizer(seed).fit(frame[others]) if others else None
    imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    encoder = FrameEncoder(numbers, others, vectorizer, imputer)
    imputer.fit(encoder.gappy(X))
    return encoder


def _table_vectorizer(seed: int) -> Any:
    """Return the encoder of columns that are not numeric. It is deterministic for a seed."""
    with explain_missing_extra():
        from skrub import StringEncoder, TableVectorizer

    # Without ``drop``, a category that is new at prediction differs from all known ones.
    return TableVectorizer(
        low_cardinality=OneHotEncoder(
            handle_unknown="ignore", sparse_output=False, dtype=np.float32
        ),
        high_cardinality=StringEncoder(random_state=seed % 2**32),
    )


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame in memory."""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and not hasattr(X, "__dask_graph__")


def needs_encoding(X: Any) -> bool:
    """Return whether X is a data frame with gaps or with a column that is not numeric."""
    if not is_frame(X):
        return False
    frame = placed(X)
    if not all(map(holds_numbers, frame.dtypes)):
        return True
    return any(np.isnan(numbers_of(frame[place])).any() for place in frame.columns)


def holds_numbers(dtype: Any) -> bool:
    """Return whether a column of pandas or polars holds numbers or truth values."""
    if hasattr(dtype, "is_numeric"):
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    return dtype.kind in "biufc"


def placed(X: Any) -> Any:
    """Return a data frame whose columns are named by their place, and its rows by theirs.

    The user's names may be numbers, which skrub would change with a warning.
    """
    frame = X.reset_index(drop=True) if hasattr(X, "iloc") else X.clone()
    frame.columns = [str(place) for place in range(X.shape[1])]
    return frame


def numbers_of(column: Any, name: Any = None) -> NDArray[Any]:
    """Return a numeric column as an array, with NaN for gaps. Single precision is kept."""
    dtype = np.float32 if str(column.dtype).lower() == "float32" else np.float64
    try:
        return np.asarray(column, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {name!r} must hold numbers, as in fit, got: {error}.") from error


def taken(X: Any, rows: IntArray) -> Any:
    """Return chosen rows of an array, sparse matrix, tensor, data frame or list."""
    if isinstance(X, list | tuple):
        return [X[row] for row in rows]
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def frame_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, reset: bool, fewest: int
) -> Block:
    """Read rows with labels of any kind. The data frame stays as it is, and is encoded later."""
    validate_data(estimator, X, y, reset=reset, skip_check_array=True)
    labels = check_labels(y)
    check_consistent_length(X, labels)
    if len(X) < fewest:
        raise ValueError(f"X must have at least {fewest} rows, got {len(X)}.")
    rows, labels, weights = positive_weights(np.arange(len(X)), labels, sample_weight, fewest)
    return Block(taken(X, rows), labels, weights, are_unequal(weights, len(X)))


def encoded_rows(estimator: Any, encoder: FrameEncoder, X: Any) -> NDArray[Any]:
    """Return rows as numbers, after a check that they have the columns of the fit."""
    if not is_frame(X):
        raise ValueError(
            f"X must be a data frame, as in fit, got {type(X).__name__}: "
            "pass a data frame with the same columns."
        )
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return encoder.encoded(X)


def check_no_text(X: Any) -> None:
    """Raise ValueError if an array or a list holds text that is no number."""
    if isinstance(X, list | tuple):
        X = np.asarray(X)
    if not isinstance(X, np.ndarray) or X.dtype.kind not in "OUS":
        return
    try:
        X.astype(np.float64)
    except TypeError:
        # Not text: scikit-learn says what is wrong with other objects.
        return
    except ValueError as error:
        raise ValueError(
            f"X must hold numbers or be a data frame, got an array with text ({error}): "
            "pass a data frame, such as pandas.DataFrame(X)."
        ) from error
