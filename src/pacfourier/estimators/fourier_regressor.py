"""A small regressor: a linear model plus cosines whose frequencies are learned."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from pacfourier.arrays import FloatArray, beside
from pacfourier.core.boosting.objectives import OBJECTIVES
from pacfourier.estimators.base import all_or_nothing, check_option, drawn_seed
from pacfourier.estimators.fourier_predictor import FourierPredictor, labelled

LOSSES = ("squared_error", "absolute_error", "huber")


class FourierRegressor(RegressorMixin, FourierPredictor):
    """A regressor that is small, fast to predict with, and can certify its own errors.

    Use it on tables and arrays in place of a ridge regression, a support vector machine or boosted
    trees. Columns need no scaling.

    Predictions are a linear function plus cosines and sines of ``n_frequencies`` frequencies. The
    frequencies start from a draw of the Gibbs posterior, and then all parameters are trained
    together by stochastic descent. Rows set aside decide how strongly frequencies are held to zero
    and whether columns are coded. The final model is trained on all rows.

    A data frame goes in as it is, also with categories, text, dates and gaps. skrub encodes what
    is not numeric (``pip install "pacfourier[tables]"``). Gaps are filled by the median and marked.
    Rows held out for a certificate have no part in this.

    Parameters
    ----------
    n_frequencies : int, default=100
        Number of frequencies. The model has one cosine and one sine per frequency, so this is its
        size: fewer make it smaller and faster, more make it more flexible.
    loss : {"squared_error", "absolute_error", "huber"}, default="squared_error"
        What to minimise. "absolute_error" predicts the median, and "huber" is hardly moved by a few
        wild labels.
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
    certificate_ : RegressionCertificate
        Bounds on the errors of this predictor. Only defined if ``certify`` is a number.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features seen during fit. Only defined if all column names of X are strings.

    See Also
    --------
    FourierClassifier : The same model for classes.
    certify_predictions : Certify any predictor on rows of your own.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> X, y = make_friedman1(600, random_state=0)
    >>> model = FourierRegressor(20, random_state=0).fit(X[:400], y[:400])
    >>> bool(model.score(X[400:], y[400:]) > 0.9)
    True
    """

    def __init__(
        self,
        n_frequencies: int = 100,
        *,
        loss: str = "squared_error",
        strength: float | str = "auto",
        codes: bool | str = "auto",
        certify: float | bool = False,
        ties: str | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_frequencies = n_frequencies
        self.loss = loss
        self.strength = strength
        self.codes = codes
        self.certify = certify
        self.ties = ties
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the model.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or tensor of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The amounts to predict.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample in the loss.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        check_option("loss", self.loss, LOSSES)
        with all_or_nothing(self) as draft:
            seed = drawn_seed(self.random_state)
            split = draft._read(X, y, sample_weight, seed)
            amounts = np.asarray(split.block.y, dtype=np.float64)
            draft._is_flat = amounts.ndim == 1
            table = amounts.reshape(len(amounts), -1)
            draft._set_unit(table[split.learned])
            rows = labelled(split, (table - draft._centre) / draft._unit, split.block.weights)
            draft._learn_from(rows, OBJECTIVES[self.loss], seed)
            draft._certify(split)
        return self

    def _set_unit(self, amounts: FloatArray) -> None:
        """Set the centre and unit of the labels, so that all losses start alike."""
        self._centre, deviations = amounts.mean(axis=0), amounts.std(axis=0)
        self._unit = np.where(deviations > 0, deviations, 1.0)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted amounts.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or tensor of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        amounts : array of shape (n_samples,) or (n_samples, n_outputs)
            A tensor on the same device if X is a tensor.
        """
        amounts = self._scores(X) * self._unit + self._centre
        return beside(X, amounts[:, 0] if self._is_flat else amounts)
