"""The empirical kernel map: similarities to landmarks, before anything is learned."""

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
    """A map with one column per landmark."""

    def _choose_landmarks(self, sample: AnySample, classes: Any = None) -> int:
        """Choose the landmarks of a sample of classes; return a seed."""
        shown = np.unique(classes) if classes is not None else sample.witnesses(ClassTarget).labels
        self._target = target_of(shown, "multiclass", classes)
        if shown_type(shown) is not ClassTarget:
            raise ValueError(f"y must hold classes, got numbers with fractions: {shown}.")
        self.classes_ = self._target.classes
        seed = drawn_seed(self.random_state)
        chosen = select_landmarks(
            self.landmarks, self.n_landmarks, sample, np.random.default_rng([seed, 0])
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

    :math:`x \mapsto (k(x_1 - x), \dots, k(x_{n_L} - x))`, the prior of ``PBLandmarks``; the RBF
    kernel unless another kernel is chosen.

    Parameters
    ----------
    landmarks : {"medoids", "kmeans", "random", "stratified"}, tuple or callable, default="medoids"
        Which points: the samples nearest to the centroids of each class; the centroids
        themselves; samples drawn without looking at the data; samples drawn class by class;
        ``(points, labels)``; or a function of (X, y, n_landmarks, rng) that returns indices or
        ``(points, labels)``.
        Classes get equal shares; what a small class cannot fill goes to the others.
    n_landmarks : int or float, default=0.1
        A count, or a fraction of the samples.
    gamma : float or {"median", "scale", "multiscale"}, default="median"
        Bandwidth, as in ``RFF``.
    kernel : {"rbf", "laplacian", "matern", "rational_quadratic"} or Spectrum, default="rbf"
        The kernel, by the name of its Fourier transform.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    landmarks_ : array or sparse matrix of shape (n_landmarks, n_features)
    landmark_labels_ : array of shape (n_landmarks,)
    landmark_indices_ : array of shape (n_landmarks,) or None
        Rows of the sample, where the landmarks are samples.
    spectrum_ : Spectrum
    classes_ : array of shape (n_classes,)
    n_features_in_ : int

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

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the landmarks.

        Parameters
        ----------
        X : array-like, sparse matrix or tensor of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes.

        Returns
        -------
        self : object
        """
        with all_or_nothing(self) as draft:
            sample = Sample(classed_rows(draft, X, y, reset=True, fewest=2))
            rng = np.random.default_rng(draft._choose_landmarks(sample))
            draft.spectrum_ = prior_spectrum(sample, self, rng)
        return self

    def transform(self, X: Any) -> Any:
        """Map samples to their similarities to the landmarks.

        Parameters
        ----------
        X : array-like, sparse matrix or tensor of shape (n_samples, n_features)

        Returns
        -------
        similarities : array of shape (n_samples, n_landmarks)
        """
        check_is_fitted(self)
        X = validated(X, self, reset=False)
        return kernel_matrix(self.spectrum_, X, self.landmarks_)
