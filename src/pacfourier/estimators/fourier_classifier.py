"""A small classifier: a linear model plus cosines whose frequencies are learned."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from pacfourier.arrays import FloatArray, beside
from pacfourier.core.boosting.objectives import OBJECTIVES, Objective
from pacfourier.core.boosting.outcomes import class_probabilities, likely_classes
from pacfourier.estimators.base import is_lazy
from pacfourier.estimators.fourier_predictor import FourierPredictor


class FourierClassifier(ClassifierMixin, FourierPredictor):
    """A classifier that is small, fast to predict with, and can certify its own error.

    Use it on tables and arrays in place of a logistic regression, a support vector machine or
    boosted trees. Columns need no scaling.

    The scores are a linear function plus cosines and sines of ``n_frequencies`` frequencies. The
    frequencies start from a draw of the Gibbs posterior, and then all parameters are trained
    together on the cross-entropy, by stochastic descent. Validation rows decide how strongly
    frequencies are held to zero and whether columns are coded. The final model is trained on all
    rows. The same validation rows calibrate its probabilities, and on at most 10,000 rows they
    also blend it with a linear model whose penalty they choose.

    A data frame goes in as it is, also with categories, text, dates and gaps. skrub encodes what
    is not numeric (``pip install "pacfourier[tables]"``). Gaps are filled by the median and marked.
    Rows held out for a certificate have no part in this.

    Parameters
    ----------
    n_frequencies : int, default=100
        Number of frequencies. The model has one cosine and one sine per frequency, so this is its
        size: fewer make it smaller and faster, more make it more flexible.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes. "balanced" gives every class the same total weight.
    alpha : float or "auto", default="auto"
        How strongly frequencies are held to zero. "auto" tries 0.3 and 3 on validation rows, also
        1 and 10 with at most 10,000 rows, and 0.03 with at most 10 columns. Use a larger value if
        the model overfits. Values above 100 act like 100.
    piecewise : bool or "auto", default="auto"
        Whether numeric columns also enter as piecewise-linear codes, with which the model can see
        thresholds. "auto" uses them if they help on validation rows, for tables of at most 128
        columns.
    certify : float, True or False, default=False
        Share of the rows to hold out for ``certificate_``. True holds out a fifth, but at most
        10,000 rows. False trains on all rows, and there is no certificate. Fewer rows are held out
        if the others would have a single class.
    epsilon : float, default=0.05
        Probability that a bound of ``certificate_`` fails. Only used with ``certify``.
    duplicates : {None, "genuine"}, default=None
        What repeated rows are, as in ``PBRFF.certificate``. Only used for the certificate.
    random_state : int, RandomState or None, default=None
        Seed of the start, mini-batches and validation rows. Pass an integer for reproducible
        results; they do not depend on the number of threads.
    verbose : bool, default=False
        Whether to write a line to standard error after each pass over the rows.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes. For several labels per row, the numbers of the columns of y.
    model_ : FourierModel
        The fitted model in the columns of X; of a data frame with text, categories or gaps, in the
        encoded columns. It predicts, saves itself, and can be added to others.
    frequencies_ : array of shape (n_frequencies, n_inputs)
        The learned frequencies. Inputs are the columns in their units, then their codes. Of a data
        frame, the columns are the encoded ones.
    cosines_ : array of shape (n_frequencies, n_outputs)
        Amplitudes of the cosines.
    sines_ : array of shape (n_frequencies, n_outputs)
        Amplitudes of the sines.
    linear_ : array of shape (n_inputs, n_outputs)
        Slopes of the linear part.
    intercept_ : array of shape (n_outputs,)
        The constants.
    alpha_ : float
        The chosen alpha.
    piecewise_ : bool
        Whether columns are coded.
    certificate_ : ClassificationCertificate
        Bounds on the errors of this predictor. Only defined if ``certify`` is not False.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : array of shape (n_features,)
        Names of the features seen during fit. Only defined if all column names of X are strings.

    See Also
    --------
    FourierRegressor : The same model for amounts.
    BoostedRFF : A map to cosines and sines, for other models.
    certify : Certify any predictor on rows of your own.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = FourierClassifier(10, certify=0.3, random_state=0).fit(X, y)
    >>> bool(model.certificate_.error < 0.1)
    True
    """

    def __init__(
        self,
        n_frequencies: int = 100,
        *,
        class_weight: Any = None,
        alpha: float | str = "auto",
        piecewise: bool | str = "auto",
        certify: float | bool = False,
        epsilon: float = 0.05,
        duplicates: str | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_frequencies = n_frequencies
        self.class_weight = class_weight
        self.alpha = alpha
        self.piecewise = piecewise
        self.certify = certify
        self.epsilon = epsilon
        self.duplicates = duplicates
        self.random_state = random_state
        self.verbose = verbose

    _used = ("model_", "_encoder", "classes_", "_has_label_sets")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        time: Any = None,
    ) -> Self:
        """Learn the model.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or tensor of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            The classes, or one column of zeros and ones per label.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample in the loss. With unequal weights, ``certificate_``
            has no value.
        groups : array-like of shape (n_samples,), default=None
            The group of each sample, such as a patient. With ``certify``, whole groups are held
            out, and one random row of each certifies. The certificate is then about random rows of
            random new groups. The name of a Series is the name of the groups in texts.
        time : array-like of shape (n_samples,), default=None
            When each sample was taken, as numbers or dates. With ``certify``, the last rows are
            held out, and the certificate is about their period.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight, groups, time)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more batch of rows, in one pass.

        The first batch decides the units of the columns and draws the first frequencies, so it
        should have at least some hundred rows of every kind. There are no trials: ``alpha`` is
        0.3 unless it is given, and columns are not coded. After ``fit``, learning goes on from the
        fitted model. To learn from data larger than memory, ``fit_batches`` is more accurate.

        Parameters
        ----------
        X : array-like, sparse matrix or tensor of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            The classes, or one column of zeros and ones per label.
        classes : array-like of shape (n_classes,), default=None
            All classes that can occur. Only needed in the first call, and only if the first batch
            does not contain them all.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample in the loss.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._partial_fit(X, y, classes, sample_weight)

    def _check_parts(self) -> None:
        super()._check_parts()
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight must be a dict or None if rows come in parts, got 'balanced': weigh "
                "the classes yourself."
            )

    def _check_classes(self, classes: Any) -> None:
        if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes must be those of the first call, {self.classes_}, got {classes!r}. Pass "
                "classes=None after the first call."
            )

    def _describe_labels(self, y: NDArray[Any], classes: Any = None) -> None:
        check_classification_targets(y)
        self._has_label_sets = type_of_target(y, input_name="y") == "multilabel-indicator"
        if y.ndim > 1 and not self._has_label_sets:
            raise ValueError(
                f"y must have one column of classes, or columns of zeros and ones, got {y.shape}: "
                "fit one classifier per column."
            )
        known = np.unique(y if classes is None else classes)
        self.classes_ = np.arange(y.shape[1]) if self._has_label_sets else known
        if len(self.classes_) < 2 and not self._has_label_sets:
            raise ValueError(
                "y must have at least two classes in the rows to learn from, got 1 class: "
                f"{self.classes_}."
            )

    def _coded_labels(self, y: NDArray[Any]) -> FloatArray:
        if self._has_label_sets:
            _check_label_sets(y, self.classes_)
            return y.astype(np.float64)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y must have the known classes {self.classes_.tolist()}, got {unknown.tolist()}."
            )
        codes = np.searchsorted(self.classes_, y)
        is_one_column = len(self.classes_) == 2
        return codes[:, np.newaxis] * 1.0 if is_one_column else np.eye(len(self.classes_))[codes]

    def _row_weights(self, y: NDArray[Any], weights: FloatArray | None) -> FloatArray:
        weights = super()._row_weights(y, weights)
        if self.class_weight is None:
            return weights
        return np.asarray(weights * compute_sample_weight(self.class_weight, y))

    def _label_parts(self) -> dict[str, Any]:
        return {"link": "softmax" if self._is_softmax() else "logistic", "classes": self.classes_}

    def _objective(self) -> Objective:
        return OBJECTIVES["softmax" if self._is_softmax() else "logistic"]

    def _is_softmax(self) -> bool:
        return len(self.classes_) > 2 and not self._has_label_sets

    def decision_function(self, X: Any) -> Any:
        """Return the scores, which are logarithms of odds.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, tensor or Dask collection
            The samples, of shape (n_samples, n_features). For a Dask collection the result is a
            lazy Dask array.

        Returns
        -------
        scores : array of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_labels)
            For two classes, one number per sample: positive for the second class.
        """
        if is_lazy(X):
            return self._lazily(X, "decision_function")
        scores = self._scores(X)
        is_single = scores.shape[1] == 1 and not self._has_label_sets
        return beside(X, scores[:, 0] if is_single else scores)

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, tensor or Dask collection
            The samples, of shape (n_samples, n_features). For a Dask collection the result is a
            lazy Dask array.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes) or (n_samples, n_labels)
            In the order of ``classes_``. For several labels per row, the probability of each.
        """
        if is_lazy(X):
            return self._lazily(X, "predict_proba")
        scores = self._scores(X)
        return beside(X, class_probabilities(scores, has_label_sets=self._has_label_sets))

    def predict(self, X: Any) -> Any:
        """Return the most likely class, or the set of likely labels.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, tensor or Dask collection
            The samples, of shape (n_samples, n_features). For a Dask collection the result is a
            lazy Dask array.

        Returns
        -------
        classes : array of shape (n_samples,) or (n_samples, n_labels)
            For several labels per row, zeros and ones.
        """
        if is_lazy(X):
            return self._lazily(X, "predict")
        scores = self._scores(X)
        return likely_classes(scores, self.classes_, has_label_sets=self._has_label_sets)


def _check_label_sets(y: NDArray[Any], classes: NDArray[Any]) -> None:
    """Raise ValueError unless each row has a zero or a one for every label."""
    if y.shape[1:] != classes.shape or not np.isin(y, (0, 1)).all():
        raise ValueError(
            f"y must have {len(classes)} columns of zeros and ones as before, got shape {y.shape}."
        )
