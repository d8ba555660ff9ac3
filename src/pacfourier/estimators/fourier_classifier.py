"""A small classifier: a linear model plus cosines whose frequencies are learned."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from pacfourier.arrays import FloatArray, beside
from pacfourier.core.boosting.objectives import OBJECTIVES
from pacfourier.estimators.base import all_or_nothing, drawn_seed
from pacfourier.estimators.fourier_predictor import FourierPredictor, labelled
from pacfourier.estimators.training import Trained


class FourierClassifier(ClassifierMixin, FourierPredictor):
    """A classifier that is small, fast to predict with, and can certify its own error.

    Use it on tables and arrays in place of a logistic regression, a support vector machine or
    boosted trees. Columns need no scaling.

    The scores are a linear function plus cosines and sines of ``n_frequencies`` frequencies. The
    frequencies start from a draw of the Gibbs posterior, and then all parameters are trained
    together on the cross-entropy, by stochastic descent. Rows set aside decide how strongly
    frequencies are held to zero and whether columns are coded. The final model is trained on all
    rows, and the same rows set aside calibrate its probabilities.

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
    strength : float or "auto", default="auto"
        How strongly frequencies are held to zero. "auto" tries 0.3, 3 and 10 on rows set aside.
        Use a larger value if the model overfits.
    codes : bool or "auto", default="auto"
        Whether numeric columns also enter as piecewise-linear codes, with which the model can see
        thresholds. "auto" uses them if they help on rows set aside, for tables of at most 128
        columns.
    certify : float or False, default=False
        Share of the rows to hold out for ``certificate_``, at most 10,000 rows. False trains on all
        rows, and there is no certificate.
    ties : {None, "genuine"}, default=None
        What repeated rows are, as in ``PBRFF.certificate``. Only used for the certificate.
    random_state : int, RandomState or None, default=None
        Seed of the start, the mini-batches and the rows set aside. Pass an integer for reproducible
        results; they do not depend on the number of threads.
    verbose : bool, default=False
        Whether to write a line to standard error after each pass over the rows.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes. For several labels per row, the numbers of the columns of y.
    frequencies_ : array of shape (n_frequencies, n_inputs)
        The learned frequencies. Inputs are the columns in their units, then their codes. Of a data
        frame, the columns are the encoded ones.
    cosines_, sines_ : arrays of shape (n_frequencies, n_outputs)
        Amplitudes of the cosines and sines.
    linear_ : array of shape (n_inputs, n_outputs)
        Slopes of the linear part.
    intercept_ : array of shape (n_outputs,)
        The constants.
    strength_ : float
        The chosen strength.
    coded_ : bool
        Whether columns are coded.
    certificate_ : ClassificationCertificate
        Bounds on the errors of this predictor. Only defined if ``certify`` is a number.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features seen during fit. Only defined if all column names of X are strings.

    See Also
    --------
    FourierRegressor : The same model for amounts.
    BoostedRFF : A map to cosines and sines, for other models.
    certify_predictions : Certify any predictor on rows of your own.

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
        strength: float | str = "auto",
        codes: bool | str = "auto",
        certify: float | bool = False,
        ties: str | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_frequencies = n_frequencies
        self.class_weight = class_weight
        self.strength = strength
        self.codes = codes
        self.certify = certify
        self.ties = ties
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the model.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or tensor of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            The classes, or one column of zeros and ones per label.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample in the loss.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        with all_or_nothing(self) as draft:
            seed = drawn_seed(self.random_state)
            split = draft._read(X, y, sample_weight, seed)
            labels = draft._coded_labels(np.asarray(split.block.y))
            weights = draft._weights(np.asarray(split.block.y), split.block.weights)
            rows = labelled(split, labels, weights)
            draft._learn_from(rows, OBJECTIVES[draft._objective_name()], seed)
            draft._certify(split)
        return self

    def _coded_labels(self, y: NDArray[Any]) -> FloatArray:
        """Set the classes, and return one column of zeros and ones per output."""
        check_classification_targets(y)
        self._has_label_sets = type_of_target(y, input_name="y") == "multilabel-indicator"
        if self._has_label_sets:
            self.classes_ = np.arange(y.shape[1])
            return y.astype(np.float64)
        if y.ndim > 1:
            raise ValueError(
                f"y must have one column of classes, or columns of zeros and ones, got {y.shape}: "
                "fit one classifier per column."
            )
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y must have at least two classes, got 1 class: {self.classes_}.")
        if len(self.classes_) == 2:
            return codes[:, np.newaxis].astype(np.float64)
        return np.eye(len(self.classes_))[codes]

    def _weights(self, y: NDArray[Any], weights: FloatArray | None) -> FloatArray | None:
        if self.class_weight is None:
            return weights
        by_class = compute_sample_weight(self.class_weight, y)
        return by_class if weights is None else by_class * weights

    def _objective_name(self) -> str:
        is_softmax = len(self.classes_) > 2 and not self._has_label_sets
        return "softmax" if is_softmax else "logistic"

    def _calibrated(self, found: Trained, factor: float) -> Trained:
        return found.scaled(factor)

    def decision_function(self, X: Any) -> Any:
        """Return the scores, which are logarithms of odds.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or tensor of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        scores : array of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_labels)
            For two classes, one number per sample: positive for the second class.
        """
        scores = self._scores(X)
        is_single = scores.shape[1] == 1 and not self._has_label_sets
        return beside(X, scores[:, 0] if is_single else scores)

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or tensor of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes) or (n_samples, n_labels)
            In the order of ``classes_``. For several labels per row, the probability of each.
        """
        scores = self._scores(X)
        if self._objective_name() == "softmax":
            return beside(X, special.softmax(scores, axis=1))
        if self._has_label_sets:
            return beside(X, special.expit(scores))
        return beside(X, special.expit(np.hstack([-scores, scores])))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most likely class, or the set of likely labels.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or tensor of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        classes : array of shape (n_samples,) or (n_samples, n_labels)
            For several labels per row, zeros and ones.
        """
        check_is_fitted(self)
        scores = self._scores(X)
        if self._has_label_sets:
            return (scores > 0).astype(int)
        is_second = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[is_second.astype(int)])
