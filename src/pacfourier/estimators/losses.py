"""The alignment losses of given frequencies, as a function."""

import numpy as np
from sklearn.utils import check_array, check_X_y

from pacfourier.arrays import is_tensor, matching
from pacfourier.core.alignment.sums import alignment_sums
from pacfourier.core.alignment.targets import target_of
from pacfourier.core.phases import precision_of
from pacfourier.data.labels import check_pairs, dense_labels, positive_weights


def alignment_losses(X, y, frequencies, *, sample_weight=None, target_type="auto"):
    r"""Return how badly each cosine agrees with the labels, over all pairs of samples.

    .. math:: \hat L(\omega) = \frac{1}{n (n - 1)} \sum_{i \neq j}
              \frac{1 - \lambda_{ij} \cos(\omega \cdot (x_i - x_j))}{2}

    in O(n) operations a frequency (Propositions 7 and 8 of the paper's supplement).

    Parameters
    ----------
    X : array-like, sparse matrix or tensor of shape (n_samples, n_features)
        float32 samples are computed in single precision, all others in double.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    frequencies : array-like of shape (n_frequencies, n_features)
    sample_weight : array-like of shape (n_samples,), default=None
    target_type : {"auto", "binary", "multiclass", "multilabel", "continuous"}, default="auto"
        What y holds; "auto" reads it off y.

    Returns
    -------
    losses : array of shape (n_frequencies,)
        Between 0 and 1. A tensor beside X if X is one.

    Examples
    --------
    Two points of different classes, half a period apart, are perfectly aligned:

    >>> alignment_losses([[0.0], [np.pi]], ["a", "b"], [[0.0], [1.0]]).round(6)
    array([1., 0.])
    """
    X, y, frequencies = _validated(X, y, frequencies)
    if frequencies.shape[1] != X.shape[1]:
        raise ValueError(
            f"frequencies must have {X.shape[1]} columns as X has, got {frequencies.shape[1]}."
        )
    X, y, sample_weight = positive_weights(X, dense_labels(y), sample_weight)
    target = target_of(y, target_type)
    sums = alignment_sums(
        X, y, target, frequencies, sample_weight=sample_weight, precision=precision_of(X)
    )
    check_pairs(sums)
    losses = sums.losses(target.agreement(sums.totals))
    return matching(X, losses) if is_tensor(X) else losses


def _validated(X, y, frequencies):
    if is_tensor(X):
        from pacfourier.tensors import beside, validated_labels, validated_tensor

        X = validated_tensor(X, "X", 2)
        y = validated_labels(X, y, "alignment_losses", multi_output=True)
        return X, y, beside(X, frequencies, "frequencies")
    X, y = check_X_y(
        X,
        y,
        accept_sparse="csr",
        dtype=(np.float64, np.float32),
        multi_output=True,
        ensure_min_samples=2,
    )
    return X, y, check_array(frequencies, dtype=(np.float64, np.float32))
