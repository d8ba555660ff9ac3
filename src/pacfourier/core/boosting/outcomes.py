"""What scores mean: the probabilities of classes, and the most likely class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pacfourier.arrays import FloatArray


def class_probabilities(scores: FloatArray, *, has_label_sets: bool) -> FloatArray:
    r"""Return the probability of each class.

    Several scores f of one label give the softmax, and a single score the logistic function,

    .. math:: p_k = e^{f_k} / \sum_j e^{f_j} , \qquad p = 1 / (1 + e^{-f}) .

    Parameters
    ----------
    scores : array of shape (n_samples, n_outputs)
        With one output, the score of the second of two classes.
    has_label_sets : bool
        Whether each output is a label of its own, of which a row can have several.

    Returns
    -------
    probabilities : array of shape (n_samples, n_classes)
    """
    if has_label_sets:
        return np.asarray(special.expit(scores))
    if scores.shape[1] > 1:
        return np.asarray(special.softmax(scores, axis=1))
    return np.asarray(special.expit(np.hstack([-scores, scores])))


def likely_classes(
    scores: FloatArray, classes: NDArray[Any], *, has_label_sets: bool
) -> NDArray[Any]:
    """Return the most likely class of each row, or zeros and ones for sets of labels.

    Parameters
    ----------
    scores : array of shape (n_samples, n_outputs)
    classes : array of shape (n_classes,)
    has_label_sets : bool
        As in :func:`class_probabilities`.

    Returns
    -------
    classes : array of shape (n_samples,) or (n_samples, n_outputs)
    """
    if has_label_sets:
        return (scores > 0).astype(int)
    places = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
    return np.asarray(classes[places.astype(int)])
