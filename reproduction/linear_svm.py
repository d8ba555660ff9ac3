"""A linear SVM for all values of C at once; the problem is that of scikit-learn's LinearSVC."""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dsyrk

MAX_STEPS = 100
# Relative to the norm of the gradient at w = 0; far smaller than the tolerance of LinearSVC.
TOLERANCE = 1e-6
NEGLIGIBLE = 1e-20


def squared_hinge_path(X: np.ndarray, y: np.ndarray, Cs: Sequence[float]) -> np.ndarray:
    r"""Return the weights of a linear SVM for each C, intercepts in the last column.

    .. math:: \min_w \tfrac12 \|w\|^2 + C \sum_i \max(0, 1 - y_i\, w \cdot (x_i, 1))^2

    The objective is piecewise quadratic, so Newton's method with an exact line search ends after
    finitely many steps (Mangasarian, 2002; Keerthi and DeCoste, 2005). Few samples cross the
    margin from one C to the next, so the Hessian is updated by those rows only.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Labels -1 and +1.
    Cs : sequence of float
        Increasing.

    Returns
    -------
    weights : array of shape (n_Cs, n_features + 1)
    """
    signed = y[:, np.newaxis] * np.column_stack([X, np.ones(len(X))])
    # Kernel values of far points can be tiny; their products are subnormal numbers, which are slow.
    signed[np.abs(signed) < NEGLIGIBLE] = 0
    if signed.shape[0] >= signed.shape[1]:
        return _path(signed, Cs)
    # With more columns than samples, the weights lie in the span of the samples.
    basis, triangle = np.linalg.qr(signed.T)
    return _path(triangle.T, Cs) @ basis.T


def _path(signed: np.ndarray, Cs: Sequence[float]) -> np.ndarray:
    active_gram = _ActiveGram(signed)
    weights = np.zeros(signed.shape[1])
    path = []
    for C in Cs:
        weights = _newton(signed, C, weights, active_gram)
        path.append(weights)
    return np.array(path)


def _newton(
    signed: np.ndarray, C: float, weights: np.ndarray, active_gram: "_ActiveGram"
) -> np.ndarray:
    margins = signed @ weights
    scale = 2 * C * np.linalg.norm(signed.sum(axis=0))
    for _ in range(MAX_STEPS):
        slack = np.maximum(0, 1 - margins)
        gradient = weights - 2 * C * (slack @ signed)
        if np.linalg.norm(gradient) <= TOLERANCE * scale:
            break
        hessian = 2 * C * active_gram.of(margins < 1)
        hessian[np.diag_indices_from(hessian)] += 1
        factor = cho_factor(hessian, lower=True, overwrite_a=True, check_finite=False)
        step = -cho_solve(factor, gradient, check_finite=False)
        moved = signed @ step
        length = _best_length(weights, step, margins, moved, C)
        weights = weights + length * step
        margins = margins + length * moved
    return weights


def _best_length(
    weights: np.ndarray, step: np.ndarray, margins: np.ndarray, moved: np.ndarray, C: float
) -> float:
    """Return the step length that minimises the objective.

    It is the root of the slope, which increases with the length t and is piecewise linear: it is
    a + b t between two lengths at which samples cross the margin.
    """
    active = margins < 1
    a = weights @ step - 2 * C * ((1 - margins[active]) @ moved[active])
    b = step @ step + 2 * C * (moved[active] @ moved[active])
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = (1 - margins) / moved
    passed = np.flatnonzero((crossings > 0) & np.isfinite(crossings))
    passed = passed[np.argsort(crossings[passed])]
    leaves = np.where(active[passed], -1.0, 1.0) * 2 * C
    slopes = b + np.cumsum(leaves * moved[passed] ** 2)
    offsets = a - np.cumsum(leaves * (1 - margins[passed]) * moved[passed])
    a, b = np.concatenate([[a], offsets]), np.concatenate([[b], slopes])
    ends = np.concatenate([crossings[passed], [np.inf]])
    piece = np.argmax(a + b * ends >= 0)
    return -a[piece] / b[piece]


class _ActiveGram:
    """The Gram matrix of the active rows, updated when rows become active or inactive.

    Only its lower triangle is computed, in the column order that BLAS and LAPACK use.
    """

    def __init__(self, rows: np.ndarray) -> None:
        self._rows = rows
        self._active = np.zeros(len(rows), dtype=bool)
        self._gram = np.zeros((rows.shape[1], rows.shape[1]), order="F")

    def of(self, active: np.ndarray) -> np.ndarray:
        """Return the lower triangle of the sum of outer products of the active rows."""
        entered = np.flatnonzero(active & ~self._active)
        left = np.flatnonzero(self._active & ~active)
        if len(entered) + len(left) > np.count_nonzero(active):
            self._gram[:] = 0
            entered, left = np.flatnonzero(active), left[:0]
        for rows, sign in ((entered, 1), (left, -1)):
            if len(rows):
                dsyrk(sign, self._rows[rows].T, 1, self._gram, lower=True, overwrite_c=True)
        self._active = active
        return self._gram
