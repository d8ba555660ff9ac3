"""Labels and weights of samples, as users give them."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from pacfourier.arrays import host
from pacfourier.core.alignment.targets import ClassTarget

# How often the pairs of samples with themselves may outweigh the others, by working precision:
# losses are then good to three digits at least.
LARGEST_SELF_PAIRS = {"single": 2.0**14, "double": 2.0**36}


def dense_labels(y):
    """Return y as an array, of one axis if it has one column."""
    if sparse.issparse(y):
        y = y.toarray()
    return column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y


def check_no_missing(y):
    """Raise ValueError on missing objects or times; scikit-learn sees missing numbers."""
    labels = np.asarray(host(y))
    # None, and a sparse matrix, are arrays without an axis.
    if labels.ndim == 0 or labels.dtype.kind not in "OmM":
        return
    missing = [each for each in _distinct(labels) if _is_missing(each)]
    if missing:
        raise ValueError(f"y must have no missing labels, got {missing[0]!r}.")


def _distinct(labels):
    try:
        return set(labels.flat)
    except TypeError:
        kinds = sorted({type(each).__name__ for each in labels.flat})
        raise ValueError(f"y must hold numbers or text, got {', '.join(kinds)}.") from None


def _is_missing(label):
    # The NA of pandas is not equal to itself, and not unequal either.
    return label is None or str(label == label) != "True"


def positive_weights(X, y, sample_weight, fewest=2):
    """Check the weights, and leave out the samples that have none."""
    if sample_weight is None:
        return X, y, None
    weights = check_array(
        host(sample_weight), ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    check_consistent_length(X, weights)
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must be one number a sample, got shape {weights.shape}.")
    if (weights < 0).any():
        raise ValueError(f"sample_weight must be non-negative, got {weights.min()}.")
    positive = weights > 0
    if positive.sum() < fewest:
        raise ValueError(
            f"sample_weight must be above zero weight for {fewest} samples at least, "
            f"got {positive.sum()}."
        )
    if positive.any() and not 1e-100 < weights[positive].min() <= weights.max() < 1e100:
        raise ValueError(
            "sample_weight must lie between 1e-100 and 1e100, or be zero, "
            f"got {weights[positive].min()} to {weights.max()}."
        )
    return X[positive], y[positive], weights[positive]


def check_pairs(sums):
    """Raise ValueError where one sample outweighs all pairs: their sum would be rounding."""
    largest = LARGEST_SELF_PAIRS["single" if sums.rounding.any() else "double"]
    if sums.squared_weight > largest * sums.pairs:
        share = np.sqrt(sums.squared_weight) / sums.weight
        raise ValueError(
            "sample_weight must let more than one sample count, "
            f"got one with a share of {share:.10g}."
        )


def check_same_classes(target, classes):
    """Raise ValueError on classes that are not those of the first call."""
    known = getattr(target, "classes", None)
    if classes is not None and not np.array_equal(np.unique(classes), known):
        raise ValueError(f"classes must be those of the first call, {known}, got {classes!r}.")


def show_classes(estimator, target):
    """Give an estimator the classes of its target, or take away those of an earlier fit."""
    if isinstance(target, ClassTarget):
        estimator.classes_ = target.classes
    elif hasattr(estimator, "classes_"):
        del estimator.classes_


def warn_of_many_classes(target, n_samples, labels, *, stacklevel=4):
    """Warn where integers that nobody declared, read as classes, look like numbers."""
    is_declared = labels != "auto" or not isinstance(target, ClassTarget)
    if is_declared or target.classes.dtype.kind not in "fiu":
        return
    n_classes = len(target.classes)
    if n_classes > 20 and n_samples < 10 * n_classes:
        warnings.warn(
            f"y has {n_classes} distinct integers in {n_samples} samples, read as "
            "classes: pass target_type='continuous' if they are numbers, "
            "else target_type='multiclass'.",
            UserWarning,
            stacklevel=stacklevel,
        )
