r"""The one fitted predictor: plain arrays, in the user's own columns.

A row x is first clipped to the limits of its columns. It has the phases, in turns, and the scores

.. math:: z_r(x) = c_r + \sum_j v_{jr} (x_j - o_j) + \sum_{j\ \mathrm{with\ knots}} T_{jr}(x_j) ,

.. math:: f_k(x) = z_{D+k}(x) + \sum_{m \le D} a_{mk} \cos(2 \pi z_m(x))
          + b_{mk} \sin(2 \pi z_m(x)) ,

where :math:`T` interpolates a table between the knots of a column, and is constant outside them.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray, IntArray, host
from pacfourier.core.boosting.columns import CODE_UNIT, Columns
from pacfourier.core.boosting.cosine_model import CosineModel, model_scores
from pacfourier.core.boosting.outcomes import class_probabilities, likely_classes
from pacfourier.errors import InputError
from pacfourier.model.array_files import arrays_of_file, write_arrays
from pacfourier.model.checked_arrays import checked_arrays
from pacfourier.model.plain_fields import in_one_line
from pacfourier.model.scoring import Terms, clipped, interpolated, row_scores

# What two models must have in common, so that their scores can be added.
_SHARED = ("low", "high", "names", "link", "classes", "centre", "unit")
# Rows that are read at a time where there is no compiled loop for their kind.
_SCORED_ROWS = 8192


@dataclass(frozen=True, eq=False)
class FourierModel:
    """A fitted predictor with D waves and K scores of d columns.

    ``model_`` of :class:`FourierClassifier` and :class:`FourierRegressor` is one. It predicts
    without scikit-learn, and whatever reads a fitted predictor reads this record. Sums of models of
    the same columns, and multiples, are models: ``0.5 * first + 0.5 * second`` is an average.

    Parameters
    ----------
    low, high : arrays of shape (d,)
        Limits of the columns, to which values are clipped first. They may be infinite.
    origins : array of shape (d,)
        Subtracted next, so that no digits are lost in columns far from zero.
    seen : array of int of shape (n_seen,)
        The columns that the phases read: all of them, but for wide sparse samples.
    turns : array of shape (n_seen, D)
        What one unit of a column adds to each phase, in turns.
    slopes : array of shape (d, K)
        What one unit of a column adds to each score.
    constants : array of shape (D + K,)
        The phases and the linear part of the scores at the origins, without tables.
    knot_columns : array of int of shape (n_knots,)
        The column of each knot, in increasing order.
    knots : array of shape (n_knots,)
        Where the piecewise-linear columns bend, in increasing order within a column.
    tables : array of shape (n_knots, D + K)
        What a column adds to phases and scores at each of its knots, beside its slope. It is
        constant outside them.
    cosines, sines : arrays of shape (D, K)
        Amplitudes of the waves.
    link : {"identity", "logistic", "softmax"}
        What scores mean: amounts in units, or logarithms of odds of each label or of all classes.
    classes : array of shape (n_classes,)
        The classes, or empty for amounts. With two classes there is one score, of the second.
        With as many classes as scores and the logistic link, a row can have several labels.
    centre, unit : arrays of shape (K,)
        An amount is a score times the unit, plus the centre. Zeros and ones for classes.
    names : array of text of shape (d,) or (0,)
        Names of the columns, if the fit knew them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from pacfourier import FourierClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FourierClassifier(5, alpha=1.0, random_state=0).fit(X, y).model_
    >>> bool(np.all(model.predict(X) == (0.5 * model + 0.5 * model).predict(X)))
    True
    """

    low: FloatArray
    high: FloatArray
    origins: FloatArray
    seen: IntArray
    turns: FloatArray
    slopes: FloatArray
    constants: FloatArray
    knot_columns: IntArray
    knots: FloatArray
    tables: FloatArray
    cosines: FloatArray
    sines: FloatArray
    link: str
    classes: NDArray[Any]
    centre: FloatArray
    unit: FloatArray
    names: NDArray[Any]

    @property
    def n_columns(self) -> int:
        """Number of columns of a row."""
        return len(self.low)

    @property
    def n_waves(self) -> int:
        """Number of waves, which is the number of phases."""
        return len(self.cosines)

    @property
    def n_scores(self) -> int:
        """Number of scores of a row."""
        return self.cosines.shape[1]

    @property
    def is_wide(self) -> bool:
        """Whether the phases read some of the columns only."""
        return len(self.seen) < self.n_columns

    @property
    def has_label_sets(self) -> bool:
        """Whether a row can have several labels."""
        return self.link == "logistic" and len(self.classes) == self.n_scores

    @property
    def weights(self) -> FloatArray:
        """What one unit of each column adds to each phase and each score, of shape (d, D + K)."""
        turns = np.zeros((self.n_columns, self.n_waves))
        turns[self.seen] = self.turns
        return np.hstack([turns, self.slopes])

    @property
    def coded(self) -> IntArray:
        """The columns that have knots."""
        return np.unique(self.knot_columns)

    @property
    def starts(self) -> IntArray:
        """Where the knots of each column that has knots start, and where the last ones end."""
        first = np.searchsorted(self.knot_columns, self.coded)
        return np.append(first, len(self.knots)).astype(np.intp)

    @property
    def amounts(self) -> "FourierModel":
        """The same model with scores that are amounts: their unit is one, and their centre zero."""
        zeros = np.zeros(self.n_scores)
        model = self._times(self.unit)
        constants = model.constants + np.concatenate([np.zeros(self.n_waves), self.centre])
        return replace(model, constants=constants, centre=zeros, unit=zeros + 1)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, without what makes predictions fast."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def scores(self, X: Any) -> FloatArray:
        """Return the scores of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_columns)
            Finite numbers.

        Returns
        -------
        scores : array of shape (n_samples, n_scores)
            In the precision of X.
        """
        rows = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != self.n_columns:
            raise InputError(
                f"X must have {self.n_columns} columns as in the fit, got shape {rows.shape}."
            )
        if rows.dtype not in (np.float32, np.float64):
            rows = rows.astype(np.float64)
        scores = self.unchecked_scores(rows, float(np.finfo(rows.dtype).max))
        if np.isnan(scores).any():
            raise InputError(
                "X must hold finite numbers that are not too large, got rows without a score: fill "
                "the gaps first."
            )
        return scores

    def unchecked_scores(self, X: Any, limit: float = np.inf) -> FloatArray:
        """Return the scores of rows that are known to be right.

        Parameters
        ----------
        X : array, CSR matrix or tensor of shape (n_samples, n_columns)
            Numbers of single or double precision.
        limit : float, default=inf
            Of arrays, some scores are NaN if a number is NaN or farther from zero than this.
            Infinity means that the numbers are known to be finite.

        Returns
        -------
        scores : array of shape (n_samples, n_scores)
        """
        if isinstance(X, np.ndarray) and not self.is_wide:
            terms = self._terms.get(X.dtype.char)
            if terms is None:
                X, terms = X.astype(np.float64), self._terms["d"]
            return row_scores(X, terms, limit)
        columns, model = self._general
        blocks = (X[start : start + _SCORED_ROWS] for start in range(0, X.shape[0], _SCORED_ROWS))
        if self._has_limits:
            blocks = (clipped(block, self.low, self.high) for block in blocks)
        parts = [np.asarray(host(model_scores(columns.inputs(each), model))) for each in blocks]
        return np.concatenate(parts) if parts else np.empty((0, self.n_scores))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most likely class of each row, its set of labels, or its amount.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_columns)
            Finite numbers.

        Returns
        -------
        predictions : array of shape (n_samples,), or (n_samples, n_scores) for several
        """
        scores = self.scores(X)
        if len(self.classes):
            return likely_classes(scores, self.classes, has_label_sets=self.has_label_sets)
        amounts = scores * self.unit + self.centre
        return amounts[:, 0] if self.n_scores == 1 else amounts

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_columns)
            Finite numbers.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
            In the order of ``classes``.
        """
        if not len(self.classes):
            raise ValueError("link must be one of classes for probabilities, got 'identity'.")
        return class_probabilities(self.scores(X), has_label_sets=self.has_label_sets)

    def __add__(self, other: "FourierModel") -> "FourierModel":
        """Return the model whose scores are the sums of those of two models of the same columns."""
        _check_alike(self, other)
        first = _on_common_columns(self, other)
        second = _on_common_columns(with_origins(other, self.origins), self)
        return _joined(first, second)

    def __rmul__(self, weight: float) -> "FourierModel":
        """Return the model whose scores are a multiple of those of this one."""
        return self._times(np.full(self.n_scores, float(weight)))

    def _times(self, factors: FloatArray) -> "FourierModel":
        """Return the model with each score times a factor."""
        inner = np.concatenate([np.ones(self.n_waves), factors])
        return replace(
            self,
            slopes=self.slopes * factors,
            constants=self.constants * inner,
            tables=self.tables * inner,
            cosines=self.cosines * factors,
            sines=self.sines * factors,
        )

    def moved(self, offsets: FloatArray) -> "FourierModel":
        """Return the same predictor for rows to which offsets were added.

        Parameters
        ----------
        offsets : array of shape (n_columns,)
            What was added to each column.

        Returns
        -------
        model : FourierModel
            Its predictions for ``X + offsets`` are those of this model for X, up to rounding.
        """
        return replace(
            self,
            low=self.low + offsets,
            high=self.high + offsets,
            origins=self.origins + offsets,
            knots=self.knots + offsets[self.knot_columns],
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all parts by name, as arrays of numbers or texts.

        Returns
        -------
        arrays : dict from str to array
            What :meth:`from_arrays` reads, and what a file holds. Numbers are in single precision
            if that changes none of them.
        """
        if self.classes.dtype.kind not in "biufU":
            raise ValueError(
                "classes must be texts or numbers to be stored, got "
                f"{in_one_line(self.classes.tolist())}."
            )
        return {name: _compact(getattr(self, name)) for name in self.__dataclass_fields__}

    @classmethod
    def from_arrays(cls, data: Any) -> "FourierModel":
        """Return the model of its parts, after a check of each of them.

        Parameters
        ----------
        data : mapping from str to array
            What :meth:`arrays` returned, perhaps read from a file. Texts may be lists.

        Returns
        -------
        model : FourierModel
            It predicts the same, to the last bit.

        Raises
        ------
        InputError
            If a part is missing, has a wrong type or shape, or is not a possible number.
        """
        return cls(**checked_arrays(data))

    def save(self, path: Path | str) -> None:
        """Write the model to an ``.npz`` file, completely or not at all.

        Parameters
        ----------
        path : pathlib.Path or str
            NumPy can read the file, too. It holds no pickles.
        """
        write_arrays(Path(path), self.arrays())

    @classmethod
    def load(cls, path: Path | str) -> "FourierModel":
        """Return the model in a file that :meth:`save` wrote. Everything in it is checked.

        Parameters
        ----------
        path : pathlib.Path or str

        Returns
        -------
        model : FourierModel
        """
        rule = f"model must be a file that FourierModel.save wrote, got {str(path)!r}"
        try:
            return cls.from_arrays(arrays_of_file(Path(path), rule))
        except InputError as error:
            text = str(error)
            raise InputError(text if text.startswith(rule) else f"{rule}: {text}") from None

    @cached_property
    def _terms(self) -> dict[str, Terms]:
        """The model as compiled loops read it, by the letter of each dtype that can hold it."""
        double = scoring_terms(self)
        with np.errstate(over="ignore"):
            single = double.astype(np.float32)
        return {"d": double, "f": single} if single.is_finite else {"d": double}

    @cached_property
    def _has_limits(self) -> bool:
        """Whether any column has a finite limit."""
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())

    @cached_property
    def _general(self) -> tuple[Columns, CosineModel]:
        """The model on columns and codes, for sparse rows and tensors."""
        return general_form(self)


def _compact(values: Any) -> NDArray[Any]:
    """Return an array, in single precision if that changes none of its numbers."""
    found = np.asarray(values)
    if found.dtype != np.float64:
        return found
    with np.errstate(over="ignore"):
        single = found.astype(np.float32)
    return single if np.array_equal(single, found) else found


def scoring_terms(model: FourierModel) -> Terms:
    r"""Return a model as compiled loops read it: a column adds nothing at its origin.

    With one output, the two waves of a frequency become one,
    :math:`a \cos t + b \sin t = r \cos(t - \varphi)`.
    """
    constants, tables = model.constants.copy(), model.tables.copy()
    for column, part in knot_slices(model):
        value = interpolated(model.origins[column], model.knots[part], tables[part])[0]
        tables[part] -= value
        constants = constants + value
    amplitudes = np.vstack([model.cosines, model.sines])
    if model.n_scores == 1:
        angles = np.arctan2(model.sines, model.cosines)[:, 0]
        constants[: model.n_waves] -= angles / (2 * np.pi)
        amplitudes = np.hypot(model.cosines, model.sines)
    terms = np.vstack([model.weights, tables])
    limits = (model.low, model.high) if model._has_limits else ()
    parts = (model.coded, model.starts, model.knots, terms, np.ascontiguousarray(amplitudes))
    return Terms(model.origins, constants, *parts, limits)


def knot_slices(model: FourierModel) -> list[tuple[int, slice]]:
    """Return each column that has knots, and where these are."""
    starts = model.starts.tolist()
    parts = map(slice, starts[:-1], starts[1:])
    return list(zip(model.coded.tolist(), parts, strict=True))


def general_form(model: FourierModel) -> tuple[Columns, CosineModel]:
    r"""Return a model as a cosine model on columns and codes, for sparse rows and tensors.

    A cosine model has no constants in its phases. So waves are turned,

    .. math:: a \cos(t + \varphi) + b \sin(t + \varphi)
              = (a \cos\varphi + b \sin\varphi) \cos t + (b \cos\varphi - a \sin\varphi) \sin t .
    """
    slices, n_waves = knot_slices(model), model.n_waves
    steps = [np.diff(model.tables[part], axis=0) / CODE_UNIT for _, part in slices]
    codes = np.vstack([np.zeros((0, len(model.constants))), *steps])
    everything = np.arange(model.n_columns)
    order = np.concatenate([model.seen, np.setdiff1d(everything, model.seen)])
    frequencies = 2 * np.pi * np.vstack([model.turns, codes[:, :n_waves]]).T
    linear = np.vstack([model.slopes[order], codes[:, n_waves:]])
    constants = model.constants + model.tables[model.starts[:-1]].sum(axis=0)
    cosines, sines = turned(model.cosines, model.sines, 2 * np.pi * constants[:n_waves])
    knots = {column: model.knots[part] for column, part in slices}
    centres = np.concatenate([model.origins, np.zeros(len(codes))])
    columns = Columns(np.ones(len(order)), knots, centres, order if model.is_wide else None)
    parts = (np.ascontiguousarray(frequencies), cosines, sines, linear, constants[n_waves:])
    return columns, CosineModel(*parts)


def turned(
    cosines: FloatArray, sines: FloatArray, phases: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the amplitudes of waves that start at phase zero instead of the given ones."""
    cosine, sine = np.cos(phases)[:, np.newaxis], np.sin(phases)[:, np.newaxis]
    return cosines * cosine + sines * sine, sines * cosine - cosines * sine


def _check_alike(first: FourierModel, second: FourierModel) -> None:
    """Raise InputError unless two models read the same columns, and predict the same."""
    for name in _SHARED:
        if not np.array_equal(getattr(first, name), getattr(second, name)):
            raise InputError(
                f"models must have the same {name} to be added, got different ones: fit them on "
                "the same rows, or add the ``amounts`` of two regressors."
            )


def with_origins(model: FourierModel, origins: FloatArray) -> FourierModel:
    """Return the same function, with other numbers subtracted from the columns."""
    shift = origins - model.origins
    added = np.concatenate([shift[model.seen] @ model.turns, shift @ model.slopes])
    return replace(model, origins=origins, constants=model.constants + added)


def _on_common_columns(model: FourierModel, other: FourierModel) -> FourierModel:
    """Return the same function, whose phases and tables also read what another model reads."""
    seen = np.union1d(model.seen, other.seen)
    turns = np.zeros((len(seen), model.n_waves))
    turns[np.searchsorted(seen, model.seen)] = model.turns
    return on_knots(replace(model, seen=seen, turns=turns), other.knot_columns, other.knots)


def on_knots(model: FourierModel, columns: IntArray, knots: FloatArray) -> FourierModel:
    """Return the same function with more knots in some columns.

    A table is linear between its knots, so more of them do not change what it interpolates.
    """
    old, new = (
        np.column_stack(each) for each in ((model.knot_columns, model.knots), (columns, knots))
    )
    all_columns, all_knots = np.unique(np.vstack([old, new]), axis=0).T
    tables = np.zeros((len(all_knots), model.tables.shape[1]))
    for column, part in knot_slices(model):
        places = all_columns == column
        tables[places] = interpolated(all_knots[places], model.knots[part], model.tables[part])
    return replace(model, knot_columns=all_columns.astype(np.intp), knots=all_knots, tables=tables)


def _joined(first: FourierModel, second: FourierModel) -> FourierModel:
    """Return the sum of two models of common columns: waves side by side, linear parts added."""
    sizes = first.n_waves, second.n_waves

    def beside(left: FloatArray, right: FloatArray) -> FloatArray:
        (waves, linear), (others, added) = (
            np.split(each, [size], axis=-1) for each, size in zip((left, right), sizes, strict=True)
        )
        return np.concatenate([waves, others, linear + added], axis=-1)

    return replace(
        first,
        turns=np.hstack([first.turns, second.turns]),
        slopes=first.slopes + second.slopes,
        constants=beside(first.constants, second.constants),
        tables=beside(first.tables, second.tables),
        cosines=np.vstack([first.cosines, second.cosines]),
        sines=np.vstack([first.sines, second.sines]),
    )
