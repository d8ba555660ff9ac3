"""Similarities to landmarks that are learned from labels."""

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
from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.data.samples import classed_rows, validated
from pacfourier.estimators.base import (
    AnySample,
    all_or_nothing,
    check_count,
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
from pacfourier.pacbayes.assumptions import Duplicates
from pacfourier.pacbayes.certificate import Certificate, LandmarkFacts, landmark_certificate
from pacfourier.pacbayes.posteriors import gibbs_posterior
from pacfourier.spectra import Spectrum


class PBLandmarks(LandmarkMap):
    r"""Similarities to landmarks, each learned from labels by its own pseudo-posterior.

    Use it for features that you can interpret: column l says how similar a sample is to landmark l.
    A landmark is a reference point with a class, usually one of the samples. y must hold classes.
    For predictions, ``RBFLandmarks`` is usually better.

    For every landmark :math:`x_l`, frequencies :math:`\omega^l_m` are drawn from the prior, which
    is the Fourier transform of a kernel. The loss :math:`\hat L^l_m` says how badly the cosine of a
    frequency separates the class of the landmark from the other classes. The feature of the
    landmark is a weighted mean of the cosines,

    .. math:: \psi_l(x) = \sum_m Q^l_m \cos(\omega^l_m \cdot (x_l - x)), \qquad
              Q^l_m \propto e^{-\beta \sqrt n \hat L^l_m}

    (Letarte, Morvant and Germain, 2019, Equations 12 and 13), where n is the number of samples.

    Parameters
    ----------
    landmarks : str, tuple or callable, default="medoids"
        How to choose the landmarks.

        - "medoids": in each class, the samples nearest to the centroids of k-means.
        - "kmeans": in each class, the centroids themselves. They cannot be certified.
        - "random": samples drawn at random, without looking at the data.
        - "stratified": samples drawn at random in each class.
        - a tuple ``(points, labels)``: the landmarks themselves. They can be
          certified if they are samples, or if they come from other data.
        - a function of ``(X, y, n_landmarks, rng)`` that returns the indices of samples, or
          ``(points, labels)``.

        Options that work class by class give all classes an equal share of the landmarks. If a
        class has too few samples for its share, the others get the rest.
    n_landmarks : int or float, default=0.1
        Number of landmarks, if int, or fraction of the samples, if float. Ignored if the landmarks
        are given.
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
    n_frequencies : int, default=64
        Number of frequencies per landmark.
    beta : float, default=1.0
        How far the posteriors move from the prior. A larger value gives more weight to the
        frequencies of smallest loss.
    random_state : int, RandomState or None, default=None
        Seed of the landmarks and frequencies. Pass an integer for reproducible results.

    Attributes
    ----------
    landmarks_ : array or sparse matrix of shape (n_landmarks, n_features)
        The landmarks.
    landmark_labels_ : array of shape (n_landmarks,)
        The class of each landmark.
    landmark_indices_ : array of shape (n_landmarks,) or None
        Their rows in the sample. None if the landmarks are not rows chosen in the sample, and after
        ``merge``.
    is_sample_ : array of shape (n_landmarks,)
        Whether each landmark is one of the samples, with the same label.
    losses_ : array of shape (n_landmarks, n_frequencies)
        Loss of each frequency for each landmark.
    posterior_ : array of shape (n_landmarks, n_frequencies)
        Weight of each frequency for each landmark. The weights of a landmark sum to one.
    phases_ : array of shape (n_landmarks, n_frequencies)
        Inner product of each landmark with each of its frequencies.
    pool_ : FrequencyPool
        The frequencies of all landmarks, in order. ``frequencies_of`` returns those of one
        landmark.
    classes_ : array of shape (n_classes,)
        The classes.
    sums_ : AlignmentSums
        Sums over the samples, from which the losses are computed. ``sums_.n_samples`` is the
        number of samples seen.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : array of shape (n_features,)
        Names of the features seen during fit. Only defined if all column names of X are strings.

    See Also
    --------
    RBFLandmarks : The kernel itself, before anything is learned.

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
        random_state: Any = None,
    ) -> None:
        self.landmarks = landmarks
        self.n_landmarks = n_landmarks
        self.gamma = gamma
        self.kernel = kernel
        self.n_frequencies = n_frequencies
        self.beta = beta
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the landmarks and learn their similarities.

        Parameters
        ----------
        X : array-like, sparse matrix, tensor or Dask collection of shape (n_samples, n_features)
            The samples. If X is a Dask collection, give the landmarks as ``(points, labels)``.
        y : array-like or Dask collection of shape (n_samples,)
            The classes.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._learn((X, y), None, is_first=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from one more batch of data.

        The first call chooses the landmarks. Later calls keep them.

        Parameters
        ----------
        X : array-like, sparse matrix, tensor or Dask collection of shape (n_samples, n_features)
            The samples.
        y : array-like or Dask collection of shape (n_samples,)
            The classes.
        classes : array-like of shape (n_classes,), default=None
            All classes that can occur. Only needed in the first call, and only if the first batch
            does not contain them all.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._learn((X, y), classes, is_first=not hasattr(self, "sums_"))

    def merge(self, other: Self) -> Self:
        """Return a new estimator, the same as if it were fitted on the data of both.

        Use it to fit parts of the data in separate processes.

        Parameters
        ----------
        other : PBLandmarks
            An estimator with the same landmarks, parameters and integer ``random_state``, fitted on
            other data. Pass ``landmarks=(points, labels)`` to both.

        Returns
        -------
        merged : PBLandmarks
            A new estimator. Neither of the two is changed.
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
        # Landmarks that one side chose in its sample are not given points of the merged sample.
        chooser = self if self._landmark_source != "given" else other
        merged._landmark_source = source_of_part(chooser._landmark_source)
        merged.landmark_indices_ = None
        return merged._keep(self._learned().merge(other._learned()))

    def redraw(self, *, beta: float) -> Self:
        """Return a new estimator with another beta, without a pass over the data.

        Parameters
        ----------
        beta : float
            New value of the parameter.

        Returns
        -------
        redrawn : PBLandmarks
            A new estimator. This one is not changed.
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
            The samples.

        Returns
        -------
        similarities : array of shape (n_samples, n_landmarks)
            One column per landmark. The result is a tensor on the same device if X is a tensor, and
            a lazy Dask array if X is a Dask collection.
        """
        check_is_fitted(self)
        if is_lazy(X):
            return lazily_mapped(self, X, ("pool_", "posterior_", "phases_"))
        X = validated(X, self, reset=False)
        posteriors = self.posterior_[np.newaxis]
        return landmark_similarities(X, self.pool_, self.phases_, posteriors)[0]

    def similarity(self, X: Any, landmark: int) -> Any:
        """Return the learned similarity of samples to one landmark.

        Parameters
        ----------
        X : array-like, sparse matrix or tensor of shape (n_samples, n_features)
            The samples.
        landmark : int
            Row of the landmark in ``landmarks_``.

        Returns
        -------
        similarities : array of shape (n_samples,)
            The column of ``transform`` for this landmark.
        """
        check_is_fitted(self)
        X = validated(X, self, reset=False)
        weights = self.posterior_[landmark]
        features = fourier_features(X, self.frequencies_of(landmark), weights)
        turned = np.sqrt(weights) * np.exp(1j * self.phases_[landmark])
        return features @ matching(X, np.concatenate([turned.real, turned.imag]))

    def certificate(
        self,
        epsilon: float = 0.05,
        *,
        bound: str | BoundRecord = "auto",
        of: str | int = "average",
        duplicates: Duplicates = None,
    ) -> Certificate | list[Certificate]:
        """Return upper bounds on the losses of the landmarks' similarities.

        The prior must not depend on the sample, so ``gamma`` must be "multiscale" or a number. With
        the default "median" the certificate has no value.

        The divergence in the bound includes the price of choosing the landmarks. For n samples and
        L landmarks:

        - Random landmarks, and landmarks that are not in the sample, cost nothing on average, and
          ln L if each is certified.
        - Landmarks chosen among the samples in any other way cost ln(n / L) on average, and ln n if
          each is certified.

        Parameters
        ----------
        epsilon : float, default=0.05
            Probability, over the sample, that a bound fails.
        bound : str or BoundRecord, default="auto"
            "unexpected_bernstein", "kl", "catoni_grid", "hoeffding_grid", "hoeffding_peeling", or a
            bound of your own that takes ``pairs``. "auto" uses "unexpected_bernstein".
        of : {"average", "each"} or int, default="average"
            What to certify.

            - "average": the mean loss of all landmarks.
            - "each": the loss of each landmark. All bounds hold at the same time.
            - an int: the loss of one landmark, if you chose it before you saw the data.
        duplicates : {None, "genuine"}, default=None
            What repeated rows are. Above 1 % of them the value is refused, unless you declare that
            they are "genuine": independent draws of a distribution that repeats values, not copies.

        Returns
        -------
        certificate : Certificate, or list of Certificate if ``of`` is "each"
            ``certificate.value`` is the bound. If an assumption is violated, ``value`` raises an
            error that says how to fix it.
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
            duplicates=duplicates,
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
            Row of the landmark in ``landmarks_``.

        Returns
        -------
        frequencies : array of shape (n_frequencies, n_features)
            The frequencies, in the order of the columns of ``posterior_``.
        """
        n_landmarks, n_frequencies = self.phases_.shape
        start = range(n_landmarks)[landmark] * n_frequencies
        return self.pool_[start : start + n_frequencies]

    def _learn(self, data: Any, classes: Any, *, is_first: bool) -> Self:
        """Read, reduce and choose. After an error the estimator is as it was before."""
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
        self._prior_source = prior_source(self)
        seed = self._choose_landmarks(sample, classes)
        spectrum = prior_spectrum(sample, self, np.random.default_rng(seed))
        size = self.n_frequencies * self.landmarks_.shape[0]
        self.pool_ = FrequencyPool(spectrum, size, sample.n_features, seed)
        self.phases_ = landmark_phases(self.landmarks_, self.pool_, self.n_frequencies)

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

    def _waves(self) -> LandmarkWaves:
        codes = self._target.encode(self.landmark_labels_).toarray()
        agreement = self._target.agreement(self.sums_.totals)
        return landmark_waves(self.sums_, codes, agreement, self.phases_, self.is_sample_)
