"""One learned similarity per landmark."""

import copy
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pacfourier.arrays import FloatArray, matching
from pacfourier.bounds import BoundRecord
from pacfourier.core.alignment.landmarks import (
    LandmarkWaves,
    landmark_phases,
    landmark_similarities,
    landmark_waves,
)
from pacfourier.core.alignment.summary import row_fingerprints
from pacfourier.core.features import fourier_features
from pacfourier.core.prior.frequencies import FrequencyPool, Sampling
from pacfourier.data.samples import classed_rows, validated
from pacfourier.estimators.base import (
    AnySample,
    all_or_nothing,
    check_count,
    check_option,
    check_positive,
    check_same_classes,
    is_lazy,
    lazily_mapped,
    prior_source,
    prior_spectrum,
    read_sample,
)
from pacfourier.estimators.learned_landmarks import (
    ABSENT,
    SAMPLE,
    LearnedOfLandmarks,
    learned_of_landmarks,
    source_of_part,
)
from pacfourier.estimators.rbf_landmarks import LandmarkMap
from pacfourier.pacbayes.certificate import Certificate, LandmarkFacts, landmark_certificate
from pacfourier.pacbayes.posteriors import gibbs_posterior
from pacfourier.spectra import Spectrum

FREQUENCIES = ("per_landmark", "shared")


class PBLandmarks(LandmarkMap):
    r"""Similarities to landmarks, each learned from labels by its own pseudo-posterior.

    For every landmark, frequencies are drawn from the prior and weighted by how well their
    cosines tell the samples of the landmark's class from the others,
    :math:`Q^l_m \propto e^{-\beta \sqrt n \hat L^l_m}`; the feature is
    :math:`\psi_l(x) = \sum_m Q^l_m \cos(\omega^l_m \cdot (x_l - x))` (Letarte, Morvant and
    Germain, 2019, Equations 12 and 13).

    Parameters
    ----------
    landmarks : {"medoids", "kmeans", "random", "stratified"}, tuple or callable, default="medoids"
        Which points, as in ``RBFLandmarks``. Samples can be certified, and so can given points
        that come from elsewhere; centroids cannot.
    n_landmarks : int or float, default=0.1
        A count, or a fraction of the samples.
    gamma : float or {"median", "scale", "multiscale"}, default="median"
        Bandwidth, as in ``RFF``.
    kernel : {"rbf", "laplacian", "matern", "rational_quadratic"} or Spectrum, default="rbf"
        The kernel, by the name of its Fourier transform.
    n_frequencies : int, default=64
        Number of frequencies per landmark.
    beta : float, default=1.0
        Inverse temperature of the posteriors.
    frequencies : {"per_landmark", "shared"}, default="per_landmark"
        Whether each landmark draws its own frequencies, or all landmarks weigh the same ones.
    sampling : {"iid", "orthogonal", "sobol", "structured"}, default="iid"
        How the frequencies are drawn together; "structured" is not faster here.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    landmarks_, landmark_labels_, landmark_indices_
        As in ``RBFLandmarks``.
    losses_, posterior_ : arrays of shape (n_landmarks, n_frequencies)
    pool_ : FrequencyPool
        Landmark l owns rows l D to l D + D - 1, unless the frequencies are shared.
    phases_ : array of shape (n_landmarks, n_frequencies)
        The phase of every landmark at its frequencies.
    sums_ : AlignmentSums
        What was learned of the data; additive.
    is_sample_ : array of shape (n_landmarks,)
        Whether the landmark is one of the samples seen.
    classes_ : array of shape (n_classes,)
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PBLandmarks(n_landmarks=6, random_state=0).fit(X, y)
    >>> model.transform(X).shape, model.posterior_.shape
    ((150, 6), (6, 64))
    """

    def __init__(
        self,
        landmarks: Any = "medoids",
        *,
        n_landmarks: float = 0.1,
        gamma: float | str = "median",
        kernel: str | Spectrum = "rbf",
        n_frequencies: int = 64,
        beta: float = 1.0,
        frequencies: str = "per_landmark",
        sampling: Sampling = "iid",
        random_state: Any = None,
    ) -> None:
        self.landmarks = landmarks
        self.n_landmarks = n_landmarks
        self.gamma = gamma
        self.kernel = kernel
        self.n_frequencies = n_frequencies
        self.beta = beta
        self.frequencies = frequencies
        self.sampling = sampling
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the landmarks and learn their similarities.

        Landmarks of Dask collections must be given as (points, labels).

        Parameters
        ----------
        X : array-like, sparse matrix, tensor or Dask collection of shape (n_samples, n_features)
        y : array-like or Dask collection of shape (n_samples,)
            Classes.

        Returns
        -------
        self : object
        """
        return self._learn((X, y), None, is_first=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Add data, for the landmarks chosen at the first call.

        Parameters
        ----------
        X : array-like, sparse matrix, tensor or Dask collection of shape (n_samples, n_features)
        y : array-like or Dask collection of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            Every class that may come; needed in the first call only. None means the classes of
            the first batch.

        Returns
        -------
        self : object
        """
        return self._learn((X, y), classes, is_first=not hasattr(self, "sums_"))

    def merge(self, other: Self) -> Self:
        """Return a new estimator: the same as if fitted on the data of both.

        Parameters
        ----------
        other : PBLandmarks
            With the same given landmarks and the same ``random_state``, fitted on other data.

        Returns
        -------
        merged : PBLandmarks
        """
        check_is_fitted(self)
        check_is_fitted(other)
        is_same = type(other) is type(self) and self.pool_ == other.pool_
        is_same = is_same and np.array_equal(self.phases_, other.phases_)
        if not is_same or not np.array_equal(self.landmark_labels_, other.landmark_labels_):
            raise ValueError(
                "merge needs two estimators over the same landmarks and frequencies: pass "
                "landmarks=(points, labels), a gamma that is not computed from the data and the "
                f"same random_state, got {self} and {other}."
            )
        merged = copy.copy(self)
        merged._target = self._target.merge(other._target)
        # Points chosen in one sample and given to the other are points chosen in a sample.
        chooser = self if self._landmark_source != "given" else other
        merged._landmark_source = source_of_part(chooser._landmark_source)
        merged.landmark_indices_ = None
        return merged._keep(self._learned().merge(other._learned()))

    def redraw(self, *, beta: float) -> Self:
        """Return a new estimator with another temperature, without a pass over the data.

        Parameters
        ----------
        beta : float

        Returns
        -------
        redrawn : PBLandmarks
        """
        check_is_fitted(self)
        redrawn = copy.copy(self).set_params(beta=beta)
        redrawn._check_parameters()
        return redrawn._keep(self._learned())

    def transform(self, X: Any) -> Any:
        """Map samples to their learned similarities to the landmarks.

        Parameters
        ----------
        X : array-like, sparse matrix, tensor or Dask collection of shape (n_samples, n_features)

        Returns
        -------
        similarities : array of shape (n_samples, n_landmarks)
            A lazy Dask array for a Dask collection.
        """
        check_is_fitted(self)
        if is_lazy(X):
            return lazily_mapped(self, X, ("pool_", "posterior_", "phases_", "_is_shared"))
        X = validated(X, self, reset=False)
        if not self._is_shared:
            posteriors = self.posterior_[np.newaxis]
            return landmark_similarities(X, self.pool_, self.phases_, posteriors)[0]
        waves = fourier_features(X, self.pool_[:], np.ones(len(self.pool_)))
        weights = self.posterior_ * np.exp(1j * self.phases_)
        return waves @ matching(X, np.hstack([weights.real, weights.imag]).T)

    def similarity(self, X: Any, landmark: int) -> Any:
        """Return the learned similarity of samples to one landmark.

        Parameters
        ----------
        X : array-like, sparse matrix or tensor of shape (n_samples, n_features)
        landmark : int
            Its row of ``landmarks_``.

        Returns
        -------
        similarities : array of shape (n_samples,)
        """
        check_is_fitted(self)
        X = validated(X, self, reset=False)
        weights = self.posterior_[landmark]
        features = fourier_features(X, self.frequencies_of(landmark), weights)
        turned = np.sqrt(weights) * np.exp(1j * self.phases_[landmark])
        return features @ matching(X, np.concatenate([turned.real, turned.imag]))

    def certificate(
        self, epsilon: float = 0.05, *, bound: str | BoundRecord = "auto", of: str | int = "average"
    ) -> Certificate | list[Certificate]:
        """Return upper bounds on the losses of the landmarks' similarities.

        Landmarks drawn without looking at the data cost nothing on average, and the logarithm
        of their number each; landmarks chosen among the n samples by any other rule cost
        ln(n / n_landmarks) on average and ln n each. The prior must not come from the sample, so
        ``gamma`` must be a number or "multiscale": with the default "median" the certificate
        has no value.

        Parameters
        ----------
        epsilon : float, default=0.05
            Probability, over the sample, that a bound fails.
        bound : str or BoundRecord, default="auto"
            "unexpected_bernstein" ("auto"), "kl", "catoni_grid", "hoeffding_grid" or
            "hoeffding_peeling", or a bound of your own that takes ``pairs``.
        of : {"average", "each"} or int, default="average"
            The mean over the landmarks; each of them, all bounds holding together; or one
            landmark that was named before the data were seen.

        Returns
        -------
        certificate : Certificate, or list of Certificate for "each"
            If an assumption is violated, its ``value`` raises an error that says how to fix it.
        """
        check_is_fitted(self)
        n_landmarks = self.landmarks_.shape[0]
        n_distinct = len(np.unique(row_fingerprints(self.landmarks_)))
        facts = LandmarkFacts(
            waves=self._waves(),
            posteriors=self.posterior_,
            source=self._landmark_source,
            are_samples=self.is_sample_.all() and n_distinct == n_landmarks,
            are_foreign=(self._standing == ABSENT).all(),
            n_samples=self.sums_.n_samples,
        )
        certify = partial(
            landmark_certificate,
            facts,
            target=self._target,
            summary=self._summary,
            prior_source=self._prior_source,
            epsilon=epsilon,
            bound=bound,
        )
        if of == "average":
            return certify(range(n_landmarks), of=of)
        if of == "each":
            return [certify([row], of=f"landmark {row}") for row in range(n_landmarks)]
        if isinstance(of, bool) or not isinstance(of, Integral) or not 0 <= of < n_landmarks:
            raise ValueError(
                f"of must be 'average', 'each' or an index below {n_landmarks}, got {of!r}."
            )
        return certify([of], of=f"landmark {of}", is_named=True)

    def frequencies_of(self, landmark: int) -> FloatArray:
        """Return the frequencies of one landmark.

        Parameters
        ----------
        landmark : int

        Returns
        -------
        frequencies : array of shape (n_frequencies, n_features)
        """
        if self._is_shared:
            return self.pool_[:]
        n_landmarks, n_frequencies = self.phases_.shape
        start = range(n_landmarks)[landmark] * n_frequencies
        return self.pool_[start : start + n_frequencies]

    def _learn(self, data: Any, classes: Any, *, is_first: bool) -> Self:
        """Read, reduce, choose; if anything fails, the estimator stays as it was."""
        self._check_parameters()
        with all_or_nothing(self) as draft:
            sample = read_sample(draft, classed_rows, data, reset=is_first)
            if is_first:
                draft._begin(sample, classes)
            else:
                check_same_classes(self._target, classes)
                draft._landmark_source = source_of_part(self._landmark_source)
            learned = draft._reduced(sample)
            if not is_first:
                learned = self._learned().merge(learned)
            elif learned.sums.n_samples < 2:
                raise ValueError("X must have at least 2 samples, got 1.")
            draft._keep(learned)
        return self

    def _begin(self, sample: AnySample, classes: Any) -> None:
        """Choose landmarks and frequencies."""
        seed = self._choose_landmarks(sample, classes)
        self._prior_source = prior_source(self)
        self._is_shared = self.frequencies == "shared"
        n_owners = 1 if self._is_shared else self.landmarks_.shape[0]
        self.pool_ = FrequencyPool(
            prior_spectrum(sample, self, np.random.default_rng(seed)),
            n_owners * self.n_frequencies,
            sample.n_features,
            seed,
            self.sampling,
        )
        self.phases_ = landmark_phases(
            self.landmarks_, self.pool_, self.n_frequencies, shared=self._is_shared
        )

    def _reduced(self, sample: AnySample) -> LearnedOfLandmarks:
        of_block = partial(
            learned_of_landmarks,
            target=self._target,
            pool=self.pool_,
            fingerprints=row_fingerprints(self.landmarks_),
            labels=self.landmark_labels_,
        )
        learned: LearnedOfLandmarks = sample.reduce(of_block, LearnedOfLandmarks.merge)
        return learned

    def _learned(self) -> LearnedOfLandmarks:
        return LearnedOfLandmarks(self.sums_, self._summary, self._standing)

    def _keep(self, learned: LearnedOfLandmarks) -> Self:
        """Compute losses and posteriors from what was learned, and store them all."""
        self.sums_, self._summary, self._standing = learned
        self.is_sample_ = self._standing == SAMPLE
        self.losses_ = self._waves().losses
        inverse_temperature = self.beta * np.sqrt(self.sums_.n_samples)
        self.posterior_ = np.array(
            [gibbs_posterior(losses, inverse_temperature) for losses in self.losses_]
        )
        return self

    def _check_parameters(self) -> None:
        check_count("n_frequencies", self.n_frequencies)
        check_positive("beta", self.beta)
        check_option("frequencies", self.frequencies, FREQUENCIES)

    def _waves(self) -> LandmarkWaves:
        codes = self._target.encode(self.landmark_labels_).toarray()
        agreement = self._target.agreement(self.sums_.totals)
        return landmark_waves(self.sums_, codes, agreement, self.phases_, self.is_sample_)
