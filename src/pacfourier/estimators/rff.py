"""Random Fourier features of the prior."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pacfourier.bounds import BoundRecord
from pacfourier.core.alignment.summary import sample_summary
from pacfourier.core.alignment.sums import alignment_sums
from pacfourier.core.alignment.targets import target_of
from pacfourier.core.prior.frequencies import Sampling
from pacfourier.data.samples import Block, Sample, dense_labels, validated
from pacfourier.estimators.base import (
    FourierMap,
    all_or_nothing,
    check_count,
    prior_pool,
    prior_source,
)
from pacfourier.pacbayes.certificate import Certificate, certificate_of
from pacfourier.pacbayes.evidence import alignment_evidence
from pacfourier.spectra import Spectrum


class RFF(FourierMap):
    r"""Random Fourier features: an explicit map that approximates a shift-invariant kernel.

    Frequencies are drawn from the Fourier transform p of the kernel (Rahimi and Recht, 2007),
    and :math:`\varphi(x) \cdot \varphi(x')` is an unbiased estimate of :math:`k(x - x')`. This is
    the *prior* that ``PBRFF`` and ``OKRFF`` learn from.

    Parameters
    ----------
    n_frequencies : int, default=100
        Number D of frequencies; the map has 2 D columns.
    gamma : float or {"median", "scale", "multiscale"}, default="median"
        Bandwidth: the RBF kernel is exp(-gamma ||x - x'||^2). "median" is 1 / (2 m^2) for m the
        median distance; "scale" is 1 / (n_features * variance of X); "multiscale" is the equal
        mixture of ten bandwidths from 1e-7 to 1e2.
    kernel : {"rbf", "laplacian", "matern", "rational_quadratic"} or Spectrum, default="rbf"
        The kernel, by the name of its Fourier transform. An object of ``pacfourier.spectra``
        carries its own bandwidth.
    sampling : {"iid", "orthogonal", "sobol", "structured"}, default="iid"
        How the frequencies are drawn together. The estimate of "structured" is unbiased but for
        what measurements do not see; its transform is not faster, the fit of ``PBRFF`` is.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    frequencies_ : array of shape (n_frequencies, n_features)
    frequency_weights_, posterior_ : arrays of shape (n_frequencies,)
        All equal: nothing was learned.
    pool_ : FrequencyPool
        The prior and its seed.
    n_features_in_ : int

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
        sampling: Sampling = "iid",
        random_state: Any = None,
    ) -> None:
        self.n_frequencies = n_frequencies
        self.gamma = gamma
        self.kernel = kernel
        self.sampling = sampling
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the frequencies.

        Parameters
        ----------
        X : array-like, sparse matrix or tensor of shape (n_samples, n_features)
            Its width, and its spread where ``gamma`` asks for it, are all that matters.
        y : ignored

        Returns
        -------
        self : object
        """
        del y
        check_count("n_frequencies", self.n_frequencies)
        with all_or_nothing(self) as draft:
            X = validated(X, draft, reset=True)
            draft._prior_source = prior_source(self)
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
    ) -> Certificate:
        """Return an upper bound on the alignment loss of the map's kernel.

        ``fit`` does not see labels, so the data are passed here. The divergence is zero, because
        nothing was learned. The bandwidth must not come from the data: use a number or
        "multiscale".

        Parameters
        ----------
        epsilon : float, default=0.05
            Probability, over the sample, that the bound fails.
        X : array-like, sparse matrix or tensor of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        bound : str or BoundRecord, default="auto"
            As in ``PBRFF.certificate``.
        target_type : {"auto", "binary", "multiclass", "multilabel"}, default="auto"
            What y holds. Binary labels must be declared.

        Returns
        -------
        certificate : Certificate
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
            summary=sample_summary(X),
            prior_source=self._prior_source,
            epsilon=epsilon,
            bound=bound,
            of="deployed",
        )
