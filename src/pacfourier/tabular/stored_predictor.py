"""A predictor that was read from plain data. It predicts without the import of scikit-learn.

Everything is checked, because a file may be damaged or forged.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray
from pacfourier.core.boosting.columns import Columns
from pacfourier.core.boosting.cosine_model import CosineModel
from pacfourier.core.boosting.folded import FoldedModel, folded_model
from pacfourier.core.boosting.outcomes import class_probabilities, likely_classes
from pacfourier.core.boosting.scoring import ScoringModel, row_scores, scoring_models
from pacfourier.tabular.plain_fields import PlainFields

__all__ = ["StoredClassifier", "StoredModel", "StoredRegressor", "stored_predictor"]


@dataclass(frozen=True, eq=False)
class StoredModel:
    """The model that a classifier or a regressor has in common, and how it reads its columns.

    Attributes
    ----------
    parts : CosineModel
        All parameters.
    columns : Columns
        Units and knots of the columns.
    folded : FoldedModel
        Both of these as one.
    scoring : dict from the name of a dtype to ScoringModel
        The same for predictions, in single and in double precision.
    """

    parts: CosineModel
    columns: Columns
    folded: FoldedModel
    scoring: dict[str, ScoringModel]

    def scores(self, X: FloatArray) -> FloatArray:
        """Return the scores of rows in single or double precision."""
        if X.ndim != 2 or X.shape[1] != len(self.columns.units):
            raise ValueError(
                f"X must have {len(self.columns.units)} columns as in the fit, got {X.shape}."
            )
        return row_scores(X, self.scoring[X.dtype.name])


@dataclass(frozen=True, eq=False)
class StoredClassifier:
    """A classifier that was read from plain data.

    Attributes
    ----------
    model : StoredModel
    classes_ : array of shape (n_classes,)
    has_label_sets : bool
        Whether a row can have several labels.
    """

    model: StoredModel
    classes_: NDArray[Any]
    has_label_sets: bool

    def predict(self, X: FloatArray) -> NDArray[Any]:
        """Return the most likely class of each row.

        Parameters
        ----------
        X : array of float32 or float64 of shape (n_samples, n_features)
            Finite numbers.

        Returns
        -------
        classes : array of shape (n_samples,) or (n_samples, n_labels)
        """
        scores = self.model.scores(X)
        return likely_classes(scores, self.classes_, has_label_sets=self.has_label_sets)

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """Return the probability of each class.

        Parameters
        ----------
        X : array of float32 or float64 of shape (n_samples, n_features)
            Finite numbers.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return class_probabilities(self.model.scores(X), has_label_sets=self.has_label_sets)


@dataclass(frozen=True, eq=False)
class StoredRegressor:
    """A regressor that was read from plain data.

    Attributes
    ----------
    model : StoredModel
    centre, unit : arrays of shape (n_outputs,)
        Of the labels.
    is_flat : bool
        Whether predictions have one dimension.
    loss : str
        What the fit minimised.
    """

    model: StoredModel
    centre: FloatArray
    unit: FloatArray
    is_flat: bool
    loss: str

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the predicted amounts.

        Parameters
        ----------
        X : array of float32 or float64 of shape (n_samples, n_features)
            Finite numbers.

        Returns
        -------
        amounts : array of shape (n_samples,) or (n_samples, n_outputs)
        """
        amounts = self.model.scores(X) * self.unit + self.centre
        return amounts[:, 0] if self.is_flat else amounts


def stored_predictor(data: Any) -> StoredClassifier | StoredRegressor:
    """Return the predictor that plain data describe, for predictions only.

    Parameters
    ----------
    data : dict
        What ``predictor_data`` returned, perhaps read from a file.

    Returns
    -------
    predictor : StoredClassifier or StoredRegressor
        It predicts the same as the original one, to the last bit.

    Raises
    ------
    InputError
        If anything is missing, has a wrong type or shape, or is not a possible number.
    """
    fields = PlainFields(data, "predictor")
    kind = fields.choice("kind", ("classifier", "regressor"))
    model = stored_model(fields)
    n_outputs = len(model.parts.intercepts)
    read = stored_classifier if kind == "classifier" else stored_regressor
    return read(fields, model, n_outputs)


def stored_model(fields: PlainFields) -> StoredModel:
    """Return the model, with the columns that it reads."""
    columns = stored_columns(fields)
    n_inputs = len(columns.centres)
    intercepts = fields.finite("intercepts", (None,))
    frequencies = fields.finite("frequencies", (None, n_inputs))
    n_frequencies, n_outputs = len(frequencies), len(intercepts)
    fields.require(n_outputs, "intercepts", "have at least one output", n_outputs)
    fields.require(n_frequencies, "frequencies", "have at least one row", n_frequencies)
    waves = (n_frequencies, n_outputs)
    cosines, sines = fields.finite("cosines", waves), fields.finite("sines", waves)
    linear = fields.finite("linear", (n_inputs, n_outputs))
    parts = CosineModel(frequencies, cosines, sines, linear, intercepts)
    constants = fields.finite("constants", (n_frequencies + n_outputs,), np.float64)
    # Forged numbers may overflow on the way.
    with np.errstate(all="ignore"):
        folded = folded_model(parts, columns)._replace(constants=constants)
        scoring = scoring_models(folded, columns)
    is_small = "float32" in scoring
    fields.require(is_small, "units", "give numbers of single precision", "infinity or NaN")
    return StoredModel(parts, columns, folded, scoring)


def stored_columns(fields: PlainFields) -> Columns:
    """Return the units and the knots of the columns."""
    units = fields.array("units", (None,), np.float64)
    fields.require((units > 0).all() and len(units), "units", "be positive", units)
    coded = fields.array("coded_columns", (None,), np.int64)
    n_knots = fields.array("n_knots", (len(coded),), np.int64)
    knots = fields.finite("knots", (None,)).astype(np.float64)
    # Whole numbers of Python, which do not overflow.
    is_sum = (n_knots >= 2).all() and sum(n_knots.tolist()) == len(knots)
    fields.require(is_sum, "n_knots", "be at least 2 and count the knots", n_knots)
    is_order = (np.diff(coded) > 0).all() and ((coded >= 0) & (coded < len(units))).all()
    fields.require(is_order, "coded_columns", "be sorted numbers of columns", coded)
    pieces = np.split(knots, np.cumsum(n_knots)[:-1]) if len(coded) else []
    is_sorted = all((np.diff(piece) > 0).all() for piece in pieces)
    fields.require(is_sorted, "knots", "increase in each column", knots)
    centres = fields.finite("centres", (len(units) + len(knots) - len(coded),), np.float64)
    return Columns(units, dict(zip(coded.tolist(), pieces, strict=True)), centres)


def stored_classifier(fields: PlainFields, model: StoredModel, n_outputs: int) -> StoredClassifier:
    """Return a classifier, which must have as many classes as its outputs say."""
    classes, has_sets = stored_classes(fields), fields.truth("has_label_sets")
    is_pair = len(classes) == 2 and not has_sets
    is_right = n_outputs == (1 if is_pair else len(classes)) and (has_sets or len(classes) > 1)
    fields.require(is_right, "classes", f"fit to {n_outputs} outputs", f"{len(classes)} classes")
    return StoredClassifier(model, classes, has_sets)


def stored_classes(fields: PlainFields) -> NDArray[Any]:
    """Return the classes, which are distinct and sorted."""
    values, has_objects = fields.value("classes"), fields.truth("has_objects")
    is_texts = type(values) is list and all(type(each) is str for each in values)
    is_numbers = type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind in "biuf"
    fields.require(is_texts or is_numbers, "classes", "be a list of texts or an array", values)
    classes = np.array(values, dtype=object if has_objects else None)
    is_sorted = all(first < second for first, second in pairwise(classes))
    fields.require(is_sorted, "classes", "be distinct and sorted", values)
    return classes


def stored_regressor(fields: PlainFields, model: StoredModel, n_outputs: int) -> StoredRegressor:
    """Return a regressor, with the centre and the unit of its labels."""
    centre = fields.finite("label_centre", (n_outputs,), np.float64)
    unit = fields.finite("label_unit", (n_outputs,), np.float64)
    fields.require((unit > 0).all(), "label_unit", "be positive", unit)
    is_flat = fields.truth("is_flat")
    is_right = n_outputs == 1 or not is_flat
    fields.require(is_right, "is_flat", f"be False with {n_outputs} outputs", is_flat)
    return StoredRegressor(model, centre, unit, is_flat, fields.text("loss"))
