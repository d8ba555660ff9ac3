"""Labels and weights of samples, as users give them."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from pacfourier.core.arrays import host
from pacfourier.core.targets import ClassTarget


def dense_labels(y):
    """Return y as an array, of one axis if it has one column."""
    if sparse.issparse(y):
        y = y.toarray()
    return column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y


def positive_weights(X, y, sample_weight, fewest=2):
    """Check the weights, and leave out the samples that have none."""
    if sample_weight is None:
        return X, y, None
    weights = check_array(
        host(sample_weight), ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    check_consistent_length(X, weights)
    if weights.ndim != 1 or (weights < 0).any():
        raise ValueError("sample_weight must be one non-negative number a sample.")
    positive = weights > 0
    if positive.sum() < fewest:
        raise ValueError(
            f"sample_weight must be above zero weight for {fewest} samples at least, "
            f"got {positive.sum()}."
        )
    if positive.any() and not 1e-100 < weights[positive].min() <= weights.max() < 1e100:
        raise ValueError("sample_weight must lie between 1e-100 and 1e100, or be zero.")
    return X[positive], y[positive], weights[positive]


def show_classes(estimator, target):
    """Give an estimator the classes of its target, or take away those of an earlier fit."""
    if isinstance(target, ClassTarget):
        estimator.classes_ = target.classes
    elif hasattr(estimator, "classes_"):
        del estimator.classes_


def warn_of_many_classes(target, sample):
    """Warn where integers read as classes look like numbers."""
    if not isinstance(target, ClassTarget) or target.classes.dtype.kind not in "fiu":
        return
    n_classes = len(target.classes)
    if n_classes > 20 and sample.n_samples < 2 * n_classes:
        warnings.warn(
            f"y has {n_classes} distinct integers in {sample.n_samples} samples, read as "
            "classes: pass labels='continuous' if they are numbers.",
            UserWarning,
            stacklevel=4,
        )
