"""The empirical kernel map: similarities to landmarks, before anything is learned."""

import copy

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.utils.validation import check_is_fitted

from pacfourier.arrays import is_tensor, matching
from pacfourier.core.alignment.targets import labels_shown, target_of
from pacfourier.data.samples import Block, Sample, adopt
from pacfourier.data.selection import select_landmarks
from pacfourier.estimators.base import SparseTransformer
from pacfourier.estimators.parameters import drawn_seed
from pacfourier.estimators.priors import prior_spectrum
from pacfourier.spectra import Isotropic, Laplacian, Mixture


class LandmarkMap(ClassNamePrefixFeaturesOutMixin, SparseTransformer):
    """A map with one column a landmark."""

    def _block(self, X, y, sample_weight=None, *, reset, fewest):
        """Validate rows with their classes."""
        if sample_weight is not None:
            raise ValueError("sample_weight must be None for landmarks, got weights.")
        X, y = self._validate(X, y, reset=reset, ensure_min_samples=max(fewest, 1))
        return Block(X, y)

    def _choose(self, sample, classes=None):
        """Choose the landmarks of a sample of classes; return a seed."""
        shown = np.unique(classes) if classes is not None else sample.witnesses("multiclass").labels
        self.target_ = target_of(shown, "multiclass", classes)
        if labels_shown(shown) != "multiclass":
            raise ValueError(f"y must hold classes, got numbers with fractions: {shown}.")
        self.classes_ = self.target_.classes
        seed = drawn_seed(self.random_state)
        chosen = select_landmarks(
            self.landmarks, self.n_landmarks, sample, np.random.default_rng([seed, 0])
        )
        self.target_.observe(chosen.labels)
        self.landmarks_, self.landmark_labels_, self.landmark_indices_ = chosen
        self.landmark_source_ = self.landmarks if isinstance(self.landmarks, str) else "given"
        if callable(self.landmarks):
            self.landmark_source_ = "function"
        return seed

    @property
    def _n_features_out(self):
        return self.landmarks_.shape[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class RBFLandmarks(LandmarkMap):
    r"""The kernel between a sample and each landmark, as features for a linear model.

    :math:`x \mapsto (k(x_1 - x), \dots, k(x_{n_L} - x))`, the prior of ``PBLandmarks``; the RBF
    kernel unless another spectrum is asked for.

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
    kernel : {"rbf", "laplacian", "matern", "rational_quadratic"} or Spectrum, default="rbf"
        The kernel, by the name of its Fourier transform.
    gamma : float or {"median", "scale", "multiscale"}, default="median"
        Bandwidth, as in ``RFF``.
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
        landmarks="medoids",
        *,
        n_landmarks=0.1,
        kernel="rbf",
        gamma="median",
        random_state=None,
    ):
        self.landmarks = landmarks
        self.n_landmarks = n_landmarks
        self.kernel = kernel
        self.gamma = gamma
        self.random_state = random_state

    def fit(self, X, y):
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
        trial = copy.copy(self)
        sample = Sample(trial._block(X, y, reset=True, fewest=2))
        rng = np.random.default_rng(trial._choose(sample))
        trial.spectrum_ = prior_spectrum(sample, self.kernel, self.gamma, rng)
        return adopt(self, trial)

    def transform(self, X):
        """Map samples to their similarities to the landmarks.

        Parameters
        ----------
        X : array-like, sparse matrix or tensor of shape (n_samples, n_features)

        Returns
        -------
        similarities : array of shape (n_samples, n_landmarks)
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        if is_tensor(X):
            from pacfourier.tensors import tensor_kernel

            points = self.landmarks_
            dense = points.toarray() if sparse.issparse(points) else points
            return tensor_kernel(self.spectrum_, X, matching(X, dense))
        return kernel_matrix(self.spectrum_, X, self.landmarks_).astype(X.dtype, copy=False)


def kernel_matrix(spectrum, X, Y):
    """Return the kernel of a spectrum between the rows of X and of Y, dense or sparse."""
    if isinstance(spectrum, Mixture):
        parts = zip(spectrum.weights, spectrum.components, strict=True)
        return sum(weight * kernel_matrix(component, X, Y) for weight, component in parts)
    if isinstance(spectrum, Isotropic):
        return spectrum.profile(euclidean_distances(X, Y, squared=True))
    if isinstance(spectrum, Laplacian):
        return np.exp(-spectrum.gamma * manhattan_distances(X, Y))
    raise ValueError(f"spectrum must be isotropic, Laplacian or a mixture, got {spectrum!r}.")
