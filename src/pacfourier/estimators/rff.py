"""Random Fourier features of a kernel, drawn without labels."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from pacfourier.bounds import BoundRecord
from pacfourier.core.alignment.summary import sample_summary
from pacfourier.core.alignment.sums import alignment_sums
from pacfourier.core.alignment.targets import target_of
from pacfourier.data.samples import Block, Sample, dense_labels, validated
from pacfourier.estimators.base import (
    FourierMap,
    all_or_nothing,
    check_count,
    prior_pool,
    prior_source,
)
from pacfourier.pacbayes.assumptions import Duplicates
from pacfourier.pacbayes.certificate import Certificate, certificate_of
from pacfourier.pacbayes.evidence import alignment_evidence
from pacfourier.spectra import Spectrum


class RFF(FourierMap):
    r"""Random Fourier features: an explicit map that approximates a shift-invariant kernel.

    Use it as a baseline for the estimators that learn from labels: it ignores y. It is the *prior*
    of ``PBRFF`` and ``OKRFF``, which choose among such frequencies.

    The frequencies :math:`\omega` are drawn from the Fourier transform of a kernel k, and
    :math:`\varphi(x)` holds their cosines and sines (Rahimi and Recht, 2007). Then
    :math:`\varphi(x) \cdot \varphi(x')` is an unbiased estimate of :math:`k(x - x')`.

    Parameters
    ----------
    n_frequencies : int, default=100
        Number of frequencies to draw. The map has two columns per frequency.
    gamma : float or {"median", "scale", "multiscale"}, default="median"
        Bandwidth of the kernel, as in the RBF kernel exp(-gamma ||x - x'||^2). A larger value
        makes the kernel narrower. Ignored if ``kernel`` is a ``Spectrum``.

        - "median": 1 / (2 m^2), where m is the median distance between samples.
        - "scale": 1 / (n_features * variance of X).
        - "multiscale": an equal mixture of ten bandwidths from 1e-7 to 1e2.

        A certificate needs "multiscale" or a number that was chosen without this sample.
    kernel : {"rbf", "laplacian", "matern", "rational_quadratic"} or Spectrum, default="rbf"
        Kernel whose Fourier transform is the prior. A ``Spectrum`` is an object from
        ``pacfourier.spectra``; it contains its own bandwidth.
    random_state : int, RandomState or None, default=None
        Seed of the frequencies. Pass an integer for reproducible results.

    Attributes
    ----------
    frequencies_ : array of shape (n_frequencies, n_features)
        The frequencies.
    frequency_weights_ : array of shape (n_frequencies,)
        Weights of the frequencies in the kernel of the map. All are equal and they sum to one.
    posterior_ : array of shape (n_frequencies,)
        The same as ``frequency_weights_``, because nothing is learned.
    pool_ : FrequencyPool
        The frequencies and the prior that they come from, ``pool_.spectrum``.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : array of shape (n_features,)
        Names of the features seen during fit. Only defined if all column names of X are strings.

    See Also
    --------
    PBRFF : Choose the frequencies by labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> RFF(n_frequencies=50, random_state=0).fit_transform(X).shape
    (150, 100)
    """

    def __init__(
        self,
        n_frequencies: int = 100,
        *,
        gamma: float | str = "median",
        kernel: str | Spectrum = "rbf",
        random_state: Any = None,
    ) -> None:
        self.n_frequencies = n_frequencies
        self.gamma = gamma
        self.kernel = kernel
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the frequencies.

        Parameters
        ----------
        X : array-like, sparse matrix or tensor of shape (n_samples, n_features)
            The samples. They set the number of features, and the bandwidth if ``gamma`` is "median"
            or "scale".
        y : ignored
            Present for compatibility with pipelines.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        del y
        check_count("n_frequencies", self.n_frequencies)
        with all_or_nothing(self) as draft:
            X = validated(X, draft, reset=True)
            draft._prior_source = prior_source(self)
            is_free = draft._prior_source not in ("median", "scale")
            # The labels are not known here: one code for all.
            codes = sparse.csr_array(np.ones((X.shape[0], 1)))
            draft._summary = None if is_free else sample_summary(X, codes)
            draft.pool_ = prior_pool(Sample(Block(X)), self, self.n_frequencies)
            draft.frequencies_ = draft.pool_[:]
            draft.posterior_ = np.full(self.n_frequencies, 1 / self.n_frequencies)
            draft.frequency_weights_ = draft.posterior_
        return self

    def certificate(
        self,
        epsilon: float = 0.05,
        *,
        X: Any,
        y: Any,
        bound: str | BoundRecord = "auto",
        target_type: Any = "auto",
        duplicates: Duplicates = None,
    ) -> Certificate:
        """Return an upper bound on the alignment loss of the map's kernel.

        ``fit`` ignores labels, so pass the data here. Nothing was learned, so the divergence
        between posterior and prior is zero. ``gamma`` must be "multiscale" or a number, because the
        prior must not depend on the data.

        Parameters
        ----------
        epsilon : float, default=0.05
            Probability, over the sample, that the bound fails.
        X : array-like, sparse matrix or tensor of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The labels.
        bound : str or BoundRecord, default="auto"
            Name of a bound in ``pacfourier.bounds``, or a bound of your own. "auto" uses
            ``unexpected_bernstein``. For labels declared binary it uses the better of this and
            ``first_order``, each at epsilon / 2, and for multilabel y it uses ``catoni_grid``.
            "anytime" holds at all numbers of samples at once, so you may add data and look again
            until you like the value.
        target_type : {"auto", "binary", "multiclass", "multilabel"}, default="auto"
            What y holds. "auto" infers it from y. Declare "binary" if y can only have two values:
            the certificate may become smaller.
        duplicates : {None, "genuine"}, default=None
            What repeated rows are. Above 1 % of them the value is refused, unless you declare that
            they are "genuine": independent draws of a distribution that repeats values, not copies.

        Returns
        -------
        certificate : Certificate
            ``certificate.value`` is the bound. If an assumption is violated, ``value`` raises an
            error that says how to fix it.
        """
        check_is_fitted(self)
        X, y = validated(X, self, y, reset=False, multi_output=True, ensure_min_samples=2)
        y = dense_labels(y)
        target = target_of(y, target_type)
        sums = alignment_sums(X, y, target, self.frequencies_, precision="double")
        return certificate_of(
            self.posterior_,
            alignment_evidence(sums, target),
            sums=sums,
            target=target,
            summary=sample_summary(X, target.encode(y)),
            prior_source=self._prior_source,
            epsilon=epsilon,
            bound=bound,
            of="deployed",
            duplicates=duplicates,
        )
