"""A small regressor: a linear model plus cosines whose frequencies are learned."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from pacfourier.arrays import FloatArray, beside
from pacfourier.core.boosting.objectives import OBJECTIVES, Objective
from pacfourier.estimators.base import check_option, is_lazy
from pacfourier.estimators.fourier_predictor import FourierPredictor

_LOSSES = ("squared_error", "absolute_error", "huber")
# The standard deviation of a normal distribution in units of the median distance from its centre.
_NORMAL_DEVIATION = 1.4826


class FourierRegressor(RegressorMixin, FourierPredictor):
    """A regressor that is small, fast to predict with, and can certify its own errors.

    Use it on tables and arrays in place of a ridge regression, a support vector machine or boosted
    trees. Columns need no scaling.

    Predictions are a linear function plus cosines and sines of ``n_frequencies`` frequencies. The
    frequencies start from a draw of the Gibbs posterior, and then all parameters are trained
    together by stochastic descent. Validation rows decide how strongly frequencies are held to zero
    and whether columns are coded. The final model is trained on all rows. On at most 10,000 rows
    the validation rows also blend it with a linear model whose penalty they choose.

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
        10,000 rows. False trains on all rows, and there is no certificate.
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
    certificate_ : RegressionCertificate
        Bounds on the errors of this predictor. Only defined if ``certify`` is not False.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : array of shape (n_features,)
        Names of the features seen during fit. Only defined if all column names of X are strings.

    See Also
    --------
    FourierClassifier : The same model for classes.
    certify : Certify any predictor on rows of your own.

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
        alpha: float | str = "auto",
        piecewise: bool | str = "auto",
        certify: float | bool = False,
        epsilon: float = 0.05,
        duplicates: str | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_frequencies = n_frequencies
        self.loss = loss
        self.alpha = alpha
        self.piecewise = piecewise
        self.certify = certify
        self.epsilon = epsilon
        self.duplicates = duplicates
        self.random_state = random_state
        self.verbose = verbose

    _used = ("model_", "_encoder", "_unit", "_centre", "_is_flat")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
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
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The amounts to predict.
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

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from one more batch of rows, in one pass.

        The first batch decides the units of the columns and of y, and draws the first frequencies,
        so it should have at least some hundred rows of every kind. There are no trials: ``alpha``
        is 0.3 unless it is given, and columns are not coded. After ``fit``, learning goes on from
        the fitted model. To learn from data larger than memory, ``fit_batches`` is more accurate.

        Parameters
        ----------
        X : array-like, sparse matrix or tensor of shape (n_samples, n_features)
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
        return self._partial_fit(X, y, None, sample_weight)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_option("loss", self.loss, _LOSSES)

    def _describe_labels(self, y: NDArray[Any], classes: Any = None) -> None:
        """Set the centre and unit of the labels, so that all losses start alike.

        Those of absolute and Huber losses are the median and the median distance from it, which a
        few wild labels do not move.
        """
        if classes is not None:
            raise ValueError(f"classes must be None for a regressor, got {classes!r}.")
        self._is_flat = y.ndim == 1
        table = y.reshape(len(y), -1).astype(np.float64)
        self._centre, deviations = table.mean(axis=0), table.std(axis=0)
        if self.loss != "squared_error":
            self._centre = np.median(table, axis=0)
            distances = _NORMAL_DEVIATION * np.median(np.abs(table - self._centre), axis=0)
            deviations = np.where(distances > 0, distances, deviations)
        self._unit = np.where(deviations > 0, deviations, 1.0)

    def _coded_labels(self, y: NDArray[Any]) -> FloatArray:
        table = y.reshape(len(y), -1)
        if table.shape[1] != len(self._unit):
            raise ValueError(f"y must have {len(self._unit)} outputs as before, got {y.shape}.")
        return np.asarray((table - self._centre) / self._unit)

    def _label_parts(self) -> dict[str, Any]:
        return {"centre": self._centre, "unit": self._unit}

    def _objective(self) -> Objective:
        return OBJECTIVES[self.loss]

    def predict(self, X: Any) -> Any:
        """Return the predicted amounts.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, tensor or Dask collection
            The samples, of shape (n_samples, n_features).

        Returns
        -------
        amounts : array of shape (n_samples,) or (n_samples, n_outputs)
            A tensor on the same device if X is a tensor, and a lazy array if it is a Dask
            collection.
        """
        if is_lazy(X):
            return self._lazily(X, "predict")
        amounts = self._scores(X) * self._unit + self._centre
        return beside(X, amounts[:, 0] if self._is_flat else amounts)
