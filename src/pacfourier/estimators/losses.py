"""The alignment losses of given frequencies."""

from typing import Any

from pacfourier.core.alignment.sums import sample_losses
from pacfourier.core.alignment.targets import coded_labels, distinct_labels, target_of
from pacfourier.data.samples import dense_labels, positive_weights, validated_inputs


def alignment_losses(
    X: Any, y: Any, frequencies: Any, *, sample_weight: Any = None, target_type: Any = "auto"
) -> Any:
    r"""Return how badly each cosine agrees with the labels, over all pairs of samples.

    Use it to judge frequencies on data that they were not learned from.

    .. math:: \hat L(\omega) = \frac{1}{n (n - 1)} \sum_{i \neq j}
              \frac{1 - \lambda_{ij} \cos(\omega \cdot (x_i - x_j))}{2}

    Here :math:`\lambda_{ij}` is the agreement of two labels: 1 in the same class and -1 in
    different classes. The cost is O(n) per frequency (Propositions 7 and 8 of the paper's
    supplement).

    Parameters
    ----------
    X : array-like, sparse matrix or tensor of shape (n_samples, n_features)
        The samples. If X is float32, the losses are computed in single precision, else in double
        precision.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The labels.
    frequencies : array-like of shape (n_frequencies, n_features)
        The frequencies to judge, for example ``frequencies_`` of a fitted estimator.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weight of each sample. Only ratios of weights matter.
    target_type : {"auto", "binary", "multiclass", "multilabel", "continuous"}, default="auto"
        What y holds. "auto" infers it from y.

    Returns
    -------
    losses : array of shape (n_frequencies,)
        One loss per frequency, between 0 and 1. If X is a tensor, so are the losses, on the same
        device.

    Examples
    --------
    Two points of different classes, half a period apart, are perfectly aligned:

    >>> import numpy as np
    >>> alignment_losses([[0.0], [np.pi]], ["a", "b"], [[0.0], [1.0]]).round(6)
    array([1., 0.])
    """
    X, y, frequencies = validated_inputs(X, y, frequencies)
    if frequencies.shape[1] != X.shape[1]:
        raise ValueError(
            f"frequencies must have {X.shape[1]} columns as X has, got {frequencies.shape[1]}."
        )
    X, y, sample_weight = positive_weights(X, dense_labels(y), sample_weight)
    if sample_weight is None:
        y = coded_labels(X, y)
    target = target_of(distinct_labels(y), target_type)
    return sample_losses(X, y, target, frequencies, sample_weight)
