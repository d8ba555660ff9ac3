"""What rows say about the kernel of a fitted Fourier map, which they had no part in."""

from typing import Any

import numpy as np

from pacfourier.arrays import ComplexArray, FloatArray, host, is_tensor
from pacfourier.core.alignment.sums import alignment_sums
from pacfourier.core.alignment.targets import Target
from pacfourier.core.features import ROWS_PER_TASK, fourier_features
from pacfourier.data.samples import Block
from pacfourier.pacbayes.holdout import FreshRows, FrozenKernel


def frozen_kernel(model: Any, block: Block, target: Target, rows: FreshRows) -> FrozenKernel:
    """Return what fresh rows, as a fitted map sees them, say about its kernel."""
    frequencies, weights = model.frequencies_, model.frequency_weights_
    sums = alignment_sums(block.X, block.y, target, frequencies, precision="double")
    means = _learned_means(model) if target.is_binary else None
    direction = np.zeros(2 * len(weights)) if means is None else _score_direction(means, weights)
    gram, projections = _feature_moments(block.X, frequencies, weights, direction)
    scores, concentration = None, None
    if means is not None:
        scores = (target.encode(block.y) @ np.asarray([-1.0, 1.0])) * projections
        concentration = _amplitude_concentration(np.abs(means), weights)
    return FrozenKernel(
        weights=weights,
        sums=sums,
        target=target,
        second_moment=(
            _kernel_second_moment(gram, sums.n_samples) if target.has_sign_agreements else None
        ),
        scores=scores,
        concentration=concentration,
        rows=rows,
    )


def _learned_means(model: Any) -> ComplexArray | None:
    """Return the sums of y exp(i omega . x) over the rows of the fit, or None without labels.

    There is one per kept frequency. Only their angles and ratios matter.
    """
    if hasattr(model, "kept_"):
        waves = model.sums_.waves[:, model.kept_]
    elif hasattr(model, "_sums"):
        waves = model._sums.waves
    else:
        return None
    means: ComplexArray = waves[1] - waves[0]
    return means


def _score_direction(means: ComplexArray, weights: FloatArray) -> FloatArray:
    r"""Return the vector d such that :math:`\varphi(x) \cdot d` is the score, up to its sign y.

    With the means :math:`a_m e^{i \varphi_m}` of the fit and :math:`q'_m \propto q_m a_m`,

    .. math:: \sum_m q'_m \cos(\omega_m \cdot x - \varphi_m) = \varphi(x) \cdot d, \qquad
              d = \frac{1}{\sum_l q_l a_l} \bigl(\sqrt{q_m}\, a_m \cos\varphi_m,
              \sqrt{q_m}\, a_m \sin\varphi_m\bigr)_m .
    """
    total = float(weights @ np.abs(means))
    parts = np.sqrt(weights) * np.stack([means.real, means.imag])
    return np.asarray(parts.ravel() / (total if total > 0 else 1.0))


def _amplitude_concentration(amplitudes: FloatArray, weights: FloatArray) -> float:
    r"""Return :math:`(\mathbb{E}_q a)^2 / \mathbb{E}_q a^2`, or zero if all amplitudes are zero."""
    square = float(weights @ amplitudes**2)
    return min(float(weights @ amplitudes) ** 2 / square, 1.0) if square > 0 else 0.0


def _kernel_second_moment(gram: FloatArray, n_samples: int) -> float:
    r"""Return the mean over pairs of the squared kernel, divided by four.

    .. math:: M_2 = \frac{1}{4 n (n - 1)} \sum_{i \ne j} k(x_i, x_j)^2
              = \frac{\lVert \sum_i \varphi_i \varphi_i^\top \rVert_F^2 - n}{4 n (n - 1)} ,

    because :math:`k(x, x) = \lVert \varphi(x) \rVert^2 = 1`.
    """
    pairs = n_samples * (n_samples - 1)
    return float((np.square(gram).sum() - n_samples) / (4 * pairs))


def _feature_moments(
    X: Any, frequencies: FloatArray, weights: FloatArray, direction: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the sum of phi phi^T, and phi . direction of every row, in double precision."""
    gram, projections = np.zeros((len(direction), len(direction))), []
    for start in range(0, X.shape[0], ROWS_PER_TASK):
        rows = X[start : start + ROWS_PER_TASK]
        rows = rows.double() if is_tensor(rows) else rows.astype(np.float64)
        features = host(fourier_features(rows, frequencies, weights))
        gram += features.T @ features
        projections.append(features @ direction)
    return gram, np.concatenate(projections)
