"""Kernel values between samples and landmarks, as features."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from pacfourier.core.alignment.targets import ClassTarget, shown_type, target_of
from pacfourier.data.distances import kernel_matrix
from pacfourier.data.samples import Sample, classed_rows, validated
from pacfourier.data.selection import select_landmarks
from pacfourier.estimators.base import (
    AnySample,
    SparseTransformer,
    all_or_nothing,
    drawn_seed,
    prior_spectrum,
)
from pacfourier.spectra import Spectrum


class LandmarkMap(ClassNamePrefixFeaturesOutMixin, SparseTransformer):
    """Base class of maps with one column per landmark."""

    def _choose_landmarks(self, sample: AnySample, classes: Any = None) -> int:
        """Choose the landmarks from a sample with classes, and return a seed."""
        shown = np.unique(classes) if classes is not None else sample.witnesses(ClassTarget).labels
        self._target = target_of(shown, "multiclass", classes)
        if shown_type(shown) is not ClassTarget:
            raise ValueError(
                f"y must hold classes, got numbers with fractions: {shown}. Cut them into classes."
            )
        self.classes_ = self._target.classes
        seed = drawn_seed(self.random_state)
        chosen = select_landmarks(
            self.landmarks,
            self.n_landmarks,
            sample,
            np.random.default_rng([seed, 0]),
        )
        self._target.observe(chosen.labels)
        self.landmarks_, self.landmark_labels_, self.landmark_indices_ = chosen
        self._landmark_source = self.landmarks if isinstance(self.landmarks, str) else "given"
        if callable(self.landmarks):
            self._landmark_source = "function"
        return seed

    @property
    def _n_features_out(self) -> int:
        return self.landmarks_.shape[0]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class RBFLandmarks(LandmarkMap):
    r"""The kernel between a sample and each landmark, as features for a linear model.

    Use it as a baseline for ``PBLandmarks``, which learns the similarities from labels. A landmark
    is a reference point with a class, usually one of the samples. y must hold classes.

    For landmarks :math:`x_1, \dots, x_{n_L}` and a kernel k, the map is
    :math:`x \mapsto (k(x_1 - x), \dots, k(x_{n_L} - x))`.

    Parameters
    ----------
    landmarks : str, tuple or callable, default="medoids"
        How to choose the landmarks.

        - "medoids": in each class, the samples nearest to the centroids of k-means.
        - "kmeans": in each class, the centroids themselves.
        - "random": samples drawn at random, without looking at the data.
        - "stratified": samples drawn at random in each class.
        - a tuple ``(points, labels)``: the landmarks themselves.
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
    kernel : {"rbf", "laplacian", "matern", "rational_quadratic"} or Spectrum, default="rbf"
        The kernel. A ``Spectrum`` is an object from ``pacfourier.spectra``; it contains its own
        bandwidth.
    random_state : int, RandomState or None, default=None
        Seed of the landmarks and of the samples that give the median distance. Pass an integer for
        reproducible results.

    Attributes
    ----------
    landmarks_ : array or sparse matrix of shape (n_landmarks, n_features)
        The landmarks.
    landmark_labels_ : array of shape (n_landmarks,)
        The class of each landmark.
    landmark_indices_ : array of shape (n_landmarks,) or None
        Their rows in the sample. None if the landmarks are not rows chosen in the sample.
    spectrum_ : Spectrum
        The kernel with its bandwidth.
    classes_ : array of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : array of shape (n_features,)
        Names of the features seen during fit. Only defined if all column names of X are strings.

    See Also
    --------
    PBLandmarks : Similarities that are learned from labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RBFLandmarks(n_landmarks=6, random_state=0).fit_transform(X, y).shape
    (150, 6)
    """

    def __init__(
        self,
        landmarks: Any = "medoids",
        *,
        n_landmarks: float = 0.1,
        gamma: float | str = "median",
        kernel: str | Spectrum = "rbf",
        random_state: Any = None,
    ) -> None:
        self.landmarks = landmarks
        self.n_landmarks = n_landmarks
        self.gamma = gamma
        self.kernel = kernel
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the landmarks and the bandwidth.

        Parameters
        ----------
        X : array-like, sparse matrix or tensor of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            The classes.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self) as draft:
            sample = Sample(classed_rows(draft, X, y, reset=True, fewest=2))
            rng = np.random.default_rng(draft._choose_landmarks(sample))
            draft.spectrum_ = prior_spectrum(sample, self, rng)
        return self

    def transform(self, X: Any) -> Any:
        """Map samples to their kernel values with the landmarks.

        Parameters
        ----------
        X : array-like, sparse matrix or tensor of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        similarities : array of shape (n_samples, n_landmarks)
            One column per landmark.
        """
        check_is_fitted(self)
        X = validated(X, self, reset=False)
        return kernel_matrix(self.spectrum_, X, self.landmarks_)
