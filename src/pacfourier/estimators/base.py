"""What all estimators share: parameter checks, reading data, priors, and the Fourier map."""

import copy
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from pacfourier.core.alignment.targets import Target
from pacfourier.core.features import features_within, fourier_features, fourier_kernel
from pacfourier.core.prior.bandwidth import median_gamma, median_rows, scale_gamma
from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.data.blocks import BlockedSample, blocked_sample
from pacfourier.data.samples import (
    Reader,
    Sample,
    is_plain,
    limit_of,
    validated,
    validated_pair,
)
from pacfourier.spectra import FAMILIES, Spectrum, multiscale

AnySample: TypeAlias = Sample | BlockedSample
_GAMMA_RULES = ("multiscale", "scale", "median")


class SparseTransformer(TransformerMixin, BaseEstimator):
    """Base class of transformers that accept dense and CSR arrays and keep float32."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class FourierMap(SparseTransformer):
    """Base class of maps to the cosines and sines of ``frequencies_``."""

    def transform(self, X: Any) -> Any:
        """Map samples to the cosines and sines of the kept frequencies.

        Parameters
        ----------
        X : array-like, sparse matrix, tensor or Dask collection of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        features : array of shape (n_samples, 2 * n_frequencies)
            All cosines, then all sines. Their inner products are the kernel of the map. The result
            is a tensor on the same device if X is a tensor, and a lazy Dask array if X is a Dask
            collection.
        """
        check_is_fitted(self)
        if is_lazy(X):
            return lazily_mapped(self, X, ("frequencies_", "frequency_weights_"))
        # Arrays are checked while they are in the cache. If something is wrong, they are read once
        # more below, for the message.
        if is_plain(X, self):
            kept = self.frequencies_, self.frequency_weights_
            features = features_within(X, *kept, limit_of(X, self))
            if features is not None:
                return features
        X = validated(X, self, reset=False)
        return fourier_features(X, self.frequencies_, self.frequency_weights_)

    def kernel_matrix(self, X: Any, Y: Any = None) -> Any:
        """Return the learned kernel between samples, as in ``SVC(kernel=model.kernel_matrix)``.

        This is the kernel of the whole posterior, not only of the kept frequencies.

        Parameters
        ----------
        X : array-like, sparse matrix or tensor of shape (n_samples_X, n_features)
            The samples of the rows.
        Y : array-like, sparse matrix or tensor of shape (n_samples_Y, n_features), default=None
            The samples of the columns. None means X. If X is a tensor, Y must be a tensor on the
            same device.

        Returns
        -------
        gram : array of shape (n_samples_X, n_samples_Y)
            The mean of cos(omega . (x - y)) over the posterior of the frequencies omega.
        """
        check_is_fitted(self)
        X, Y = validated_pair(X, self, Y)
        return fourier_kernel(X, Y, self.pool_, self.posterior_)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features: cosine or sine, and the number of the frequency.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Ignored.

        Returns
        -------
        names : array of str
            One name per column of ``transform``, such as "rff_cos0".
        """
        del input_features
        check_is_fitted(self)
        prefix = type(self).__name__.lower()
        waves = [(wave, m) for wave in ("cos", "sin") for m in range(len(self.frequencies_))]
        return np.asarray([f"{prefix}_{wave}{m}" for wave, m in waves], dtype=object)


class SupervisedFourierMap(FourierMap):
    """Base class of Fourier maps that are learned from labels."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[Any]:
    """Fit a copy of an estimator, and copy its attributes back if no error occurs.

    A fit that fails therefore leaves the estimator as it was.
    """
    draft = copy.copy(estimator)
    yield draft
    # The draft may have dropped attributes of an earlier fit, such as the names of columns.
    for name in vars(estimator).keys() - vars(draft).keys():
        delattr(estimator, name)
    vars(estimator).update(vars(draft))


def read_sample(
    draft: Any, reader: Reader, data: Any, *, reset: bool, persist: bool = False
) -> AnySample:
    """Return the data of a fit as a sample: one block in memory, or blocks that are read later.

    Parameters
    ----------
    draft : estimator
        The estimator that is fitted.
    reader : callable
        Validates rows.
    data : Batches, or tuple (X, y) or (X, y, sample_weight)
        The data of the fit.
    reset : bool
        Whether to store the number and names of the columns, rather than to check them.
    persist : bool, default=False
        Whether Dask collections stay in the memory of the workers, for many passes.
    """
    if not isinstance(data, tuple):
        return blocked_sample(draft, reader, data.fold, data.each, data.heading(), reset=reset)
    if not is_lazy(data[0]):
        return Sample(reader(draft, *data, reset=reset, fewest=2 if reset else 1))
    if data[1] is None:
        raise ValueError(f"{type(draft).__name__} requires y to be passed, got None.")
    from pacfourier.data import dask

    names, blocks = dask.heading(data[0]), dask.aligned_blocks(*data)
    blocks = dask.persisted(blocks) if persist else blocks
    fold, each = partial(dask.fold, blocks), partial(dask.each, blocks)
    return blocked_sample(draft, reader, fold, each, names, reset=reset)


def is_lazy(X: Any) -> bool:
    """Return whether X is a Dask collection."""
    return hasattr(X, "__dask_graph__")


def lazily_mapped(estimator: Any, X: Any, attributes: tuple[str, ...]) -> Any:
    """Return ``transform`` of a Dask collection as a lazy Dask array.

    The workers get only the given attributes of the estimator.
    """
    from pacfourier.data import dask

    return dask.transformed(estimator, X, attributes)


def lazily_predicted(estimator: Any, X: Any, method: str, attributes: tuple[str, ...]) -> Any:
    """Return a method of a predictor on a Dask collection as a lazy Dask array.

    The workers get only the given attributes of the estimator.
    """
    from pacfourier.data import dask

    return dask.predicted(estimator, X, method, attributes)


def prior_pool(sample: AnySample, estimator: Any, n_frequencies: int) -> FrequencyPool:
    """Return frequencies from the prior that an estimator's parameters describe."""
    seed = drawn_seed(estimator.random_state)
    spectrum = prior_spectrum(sample, estimator, np.random.default_rng(seed))
    return FrequencyPool(spectrum, n_frequencies, sample.n_features, seed)


def prior_spectrum(sample: AnySample, estimator: Any, rng: np.random.Generator) -> Spectrum:
    """Return the spectrum that ``kernel`` and ``gamma`` describe.

    The sample is used only if gamma is "scale" or "median".
    """
    kernel, gamma = estimator.kernel, estimator.gamma
    if isinstance(kernel, Spectrum):
        return kernel
    if kernel not in FAMILIES:
        names = tuple(FAMILIES)
        raise ValueError(f"kernel must be a Spectrum or one of {names}, got {kernel!r}.")
    family: Any = FAMILIES[kernel]
    if isinstance(gamma, Real):
        return family(gamma=float(gamma))
    if gamma == "multiscale":
        return multiscale(family)
    if gamma == "scale":
        value = scale_gamma(sample.moments(), sample.n_features)
    elif gamma == "median":
        value = median_gamma(sample.take(median_rows(sample.n_samples, rng)))
    else:
        raise ValueError(f"gamma must be positive or one of {_GAMMA_RULES}, got {gamma!r}.")
    return family.of_bandwidth(value, sample.n_features)


def prior_source(estimator: Any) -> Any:
    """Return where the bandwidth of the prior comes from, which certificates check."""
    return estimator.gamma if isinstance(estimator.kernel, str) else estimator.kernel


def set_classes(estimator: Any, target: Target) -> None:
    """Set ``classes_`` from the target, or delete the attribute of an earlier fit."""
    if target.classes is not None:
        estimator.classes_ = target.classes
    elif hasattr(estimator, "classes_"):
        del estimator.classes_


def check_same_classes(target: Target, classes: Any) -> None:
    """Raise ValueError if the classes are not those of the first call."""
    known: Any = target.classes
    if classes is not None and not np.array_equal(np.unique(classes), known):
        raise ValueError(
            f"classes must be those of the first call, {target.classes}, got {classes!r}. Pass "
            "classes=None after the first call."
        )


def warn_of_many_classes(
    target: Target, n_samples: int, target_type: Any, *, stacklevel: int
) -> None:
    """Warn if integers are read as classes by default but look like amounts."""
    is_auto = isinstance(target_type, str) and target_type == "auto"
    if not is_auto or target.classes is None or target.classes.dtype.kind not in "fiu":
        return
    n_classes = len(target.classes)
    if n_classes > 20 and n_samples < 10 * n_classes:
        warnings.warn(
            f"y has {n_classes} distinct integers in {n_samples} samples, which are read as "
            "classes. Pass target_type='continuous' if they are amounts, or "
            "target_type='multiclass' to keep them as classes without this warning.",
            UserWarning,
            stacklevel=stacklevel,
        )


def check_count(name: str, value: Any, or_else: str | None = None) -> None:
    """Raise ValueError unless a parameter is a positive integer."""
    if not isinstance(value, Integral) or value < 1:
        rule = "a positive integer" if or_else is None else f"a positive integer or {or_else}"
        raise ValueError(f"{name} must be {rule}, got {value!r}.")


def check_option(name: str, value: Any, options: tuple[Any, ...]) -> None:
    """Raise ValueError unless a parameter is one of its options."""
    if value not in options:
        raise ValueError(f"{name} must be one of {options}, got {value!r}.")


def check_positive(name: str, value: Any) -> None:
    """Raise ValueError unless a parameter is a positive finite number."""
    if not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name} must be positive and finite, got {value!r}.")


def drawn_seed(random_state: Any) -> int:
    """Return a 32-bit seed from a ``random_state``."""
    return int(check_random_state(random_state).randint(0, 2**32, dtype=np.uint64))


def reporter(estimator: Any) -> Callable[[str], None]:
    """Return a function that writes a line of progress to standard error if ``verbose``."""
    name = type(estimator).__name__

    def report(line: str) -> None:
        if estimator.verbose:
            sys.stderr.write(f"{name}: {line}\n")

    return report
