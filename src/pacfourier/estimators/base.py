"""What the maps of this package share: validation, transform, kernel, names."""

import sys

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from pacfourier.arrays import is_tensor
from pacfourier.core.features import fourier_features
from pacfourier.core.phases import FREQUENCY_BLOCK
from pacfourier.data.labels import check_no_missing
from pacfourier.data.samples import is_lazy, lazily_mapped

# Frequencies lighter than this are left out of the kernel: together they weigh under 1e-12.
NEGLIGIBLE_WEIGHT = 1e-17


class SparseTransformer(TransformerMixin, BaseEstimator):
    """A transformer of dense and CSR samples, and of tensors, that keeps float32."""

    def _validate(self, X, y="no_validation", *, reset, **checks):
        if is_lazy(X):
            raise ValueError(
                f"X must be in memory for this method of {type(self).__name__}, "
                f"got {type(X).__module__}.{type(X).__name__}."
            )
        check_no_missing(y)
        if is_tensor(X):
            from pacfourier.tensors import validated_samples

            return validated_samples(self, X, y, reset=reset, **checks)
        return validate_data(
            self, X, y, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32), **checks
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class FourierMap(SparseTransformer):
    """A map to cosines and sines of the fitted ``frequencies_`` with ``frequency_weights_``."""

    def transform(self, X):
        """Map samples to the cosines and sines of the kept frequencies.

        Parameters
        ----------
        X : array-like, sparse matrix, tensor or Dask collection of shape (n_samples, n_features)

        Returns
        -------
        features : array of shape (n_samples, 2 * n_frequencies)
            All cosines, then all sines. Their inner product is the deployed kernel. A tensor on
            the device of X if that is one, a lazy Dask array for a Dask collection.
        """
        check_is_fitted(self)
        if is_lazy(X):
            return lazily_mapped(self, X, ("frequencies_", "frequency_weights_"))
        X = self._validate(X, reset=False)
        return fourier_features(X, self.frequencies_, self.frequency_weights_)

    def kernel_matrix(self, X, Y=None):
        """Return the kernel of the whole posterior, fit for ``SVC(kernel=model.kernel_matrix)``.

        Parameters
        ----------
        X : array-like, sparse matrix or tensor of shape (n_samples_X, n_features)
        Y : array-like, sparse matrix or tensor of shape (n_samples_Y, n_features), default=None
            None means X. A tensor if X is one, on the same device.

        Returns
        -------
        gram : array of shape (n_samples_X, n_samples_Y)
            The sum over candidates of Q_m cos(omega_m . (x - y)).
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        Y = X if Y is None else self._validate(Y, reset=False)
        if is_tensor(X) or is_tensor(Y):
            from pacfourier.tensors import alike

            X, Y = (X, X) if Y is X else alike(X, Y)
        gram = 0
        support = np.flatnonzero(self.posterior_ > NEGLIGIBLE_WEIGHT)
        for start in range(0, len(support), FREQUENCY_BLOCK):
            block = support[start : start + FREQUENCY_BLOCK]
            frequencies, weights = self.pool_[block], self.posterior_[block]
            left = fourier_features(X, frequencies, weights)
            right = left if Y is X else fourier_features(Y, frequencies, weights)
            gram = gram + left @ right.T
        return gram

    def get_feature_names_out(self, input_features=None):
        """Return the names of the features: cosine or sine, and which frequency.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Not used.

        Returns
        -------
        names : array of str
        """
        del input_features
        check_is_fitted(self)
        prefix = type(self).__name__.lower()
        waves = [(wave, m) for wave in ("cos", "sin") for m in range(len(self.frequencies_))]
        return np.asarray([f"{prefix}_{wave}{m}" for wave, m in waves], dtype=object)


def reporter(estimator):
    """Return a function that writes a line on an estimator's progress, if it is verbose."""
    name = type(estimator).__name__

    def report(line):
        if estimator.verbose:
            sys.stderr.write(f"{name}: {line}\n")

    return report
