"""A fitted predictor for tables, and what is known about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray
from pacfourier.errors import InputError
from pacfourier.tabular.columns import TableColumns
from pacfourier.tabular.encoding import Encoding
from pacfourier.tabular.reading.table_files import open_table
from pacfourier.tabular.row_digests import RowDigests
from pacfourier.tabular.table_target import TableTarget

# A prediction must not wait for the import of scikit-learn.
if TYPE_CHECKING:
    from pacfourier.data.holdout import Share
    from pacfourier.estimators.fourier_classifier import FourierClassifier
    from pacfourier.estimators.fourier_regressor import FourierRegressor
    from pacfourier.model.fourier_model import FourierModel
    from pacfourier.pacbayes.assumptions import Duplicates
    from pacfourier.pacbayes.prediction_certificate import (
        ClassificationCertificate,
        RegressionCertificate,
    )
    from pacfourier.tabular.evaluation import Result
    from pacfourier.tabular.training_rows import TrainingRows

_Predictor: TypeAlias = "FourierClassifier | FourierRegressor | FourierModel"
TableCertificate: TypeAlias = "ClassificationCertificate | RegressionCertificate"


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted predictor for tables.

    Attributes
    ----------
    target : TableTarget
        What is predicted.
    columns : TableColumns
        What the columns of a table hold.
    encoding : Encoding
        How the cells of a row become numbers.
    predictor : FourierClassifier or FourierRegressor; FourierModel if it was read from a file
    record : dict
        Facts about the fit, as plain data.
    row_digests : RowDigests
        Digests of rows and their labels, to recognise the table later.
    """

    target: TableTarget
    columns: TableColumns
    encoding: Encoding
    predictor: _Predictor
    record: dict[str, Any]
    row_digests: RowDigests

    def predict(self, table: Any) -> NDArray[Any]:
        """Return the predicted class or amount of each row.

        Parameters
        ----------
        table : path, or data frame of pandas or polars
            New rows, with the columns of the table of the fit.
        """
        blocks = (self.columns.typed(block) for block in open_table(table).blocks())
        return np.concatenate([self.predictions(frame) for frame in blocks])

    def predictions(self, frame: pd.DataFrame, threshold: float | None = None) -> NDArray[Any]:
        """Return the predicted class or amount of typed rows.

        Parameters
        ----------
        frame : DataFrame
            What ``columns.typed`` returns.
        threshold : float, default=None
            For two classes: predict the rarer one if its probability is at least this.
        """
        if threshold is None:
            return np.asarray(self.predictor.predict(self.encoding.encoded(frame)))
        place = self.rarer_place()
        is_rarer = self.probabilities(frame)[:, place] >= threshold
        return np.array(self.target.classes, dtype=object)[np.where(is_rarer, place, 1 - place)]

    def probabilities(self, frame: pd.DataFrame) -> FloatArray:
        """Return the probability of each class for typed rows."""
        predictor: Any = self.predictor
        return np.asarray(predictor.predict_proba(self.encoding.encoded(frame)))

    def rarer_place(self) -> int:
        """Return which of two classes has fewer learned rows."""
        n_classes = len(self.target.classes)
        if n_classes != 2:
            found = f"{n_classes} classes" if n_classes else "amounts"
            raise InputError(
                f"a threshold must come with two classes, but {self.target.name!r} has {found}: "
                "leave --threshold out."
            )
        return int(np.argmin(self.record["class counts"]))


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The rows held out, and what the model predicts for them.

    Attributes
    ----------
    frame : DataFrame
        Typed rows.
    truth, predictions : arrays of shape (n_rows,)
    probabilities : array of shape (n_rows, n_classes) or None
        None for a regression.
    """

    frame: pd.DataFrame
    truth: NDArray[Any]
    predictions: NDArray[Any]
    probabilities: FloatArray | None


@dataclass(frozen=True, eq=False)
class TableFit:
    """A fitted model, and how good it is.

    Attributes
    ----------
    model : TableModel
    held_out : HeldOut
    results : list of Result
        Of this model, of a linear one, of boosted trees, and of always predicting the same.
    certificate : ClassificationCertificate, RegressionCertificate or None
        None if no rows were held out for it.
    rows : TrainingRows
        The rows that were read, as numbers.
    settings : FitSettings
    """

    model: TableModel
    held_out: HeldOut
    results: "list[Result]"
    certificate: "TableCertificate | None"
    rows: "TrainingRows"
    settings: "FitSettings"


@dataclass(frozen=True)
class FitSettings:
    """What a user chooses about a fit of a table.

    Attributes
    ----------
    n_frequencies : int, default=100
    certify : float, True or None, default=True
        Share of the rows to hold out for the certificate. True holds out a fifth, but at most
        10,000 rows. With None the model is learned from all rows, and nothing is certified.
    epsilon : float, default=0.05
        Probability with which each bound may fail.
    duplicates : {None, "genuine"}, default=None
        Say "genuine" if rows repeat because the columns have few values, not as copies.
    group : str or None, default=None
        Name of a column. Rows of a group are all learned from or all held out.
    class_weight : dict, "balanced" or None, default=None
        As in ``FourierClassifier``.
    integers : bool, default=False
        Whether the model is also wanted in integers, by ``table_integers``. Then columns get no
        codes, and texts are refused.
    types : mapping of str to str, default=None
        What columns hold, where the choice of the library is to be overruled: "number",
        "category", "date", "text" or "drop".
    seed : int, default=0
    """

    n_frequencies: int = 100
    certify: "Share | None" = True
    epsilon: float = 0.05
    duplicates: "Duplicates" = None
    group: str | None = None
    class_weight: dict[str, float] | str | None = None
    integers: bool = False
    types: Mapping[str, str] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in (("epsilon", self.epsilon), ("certify", self.certify)):
            if value is not None and value is not True and not 0 < value < 1:
                raise InputError(f"--{name} must lie between 0 and 1, got {value:g}.")
        if self.duplicates not in (None, "genuine"):
            raise InputError(
                f"--duplicates must be 'genuine' or left out, got {self.duplicates!r}."
            )
