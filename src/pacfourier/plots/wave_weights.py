"""How much each column counts in each wave of a predictor."""

from typing import Any

import numpy as np

from pacfourier.core.boosting.columns import CODE_UNIT, Columns


def wave_amplitudes(estimator: Any) -> np.ndarray:
    r"""Return how far each wave moves the scores: :math:`(\sum_k a_{mk}^2 + b_{mk}^2)^{1/2}`."""
    parts = np.hstack([estimator.cosines_, estimator.sines_])
    return np.asarray(np.linalg.norm(parts, axis=1))


def phase_turns(frequencies: np.ndarray, columns: Columns) -> np.ndarray:
    r"""Return how far each column turns the phases, in full turns over two standard deviations.

    A column without codes has the phase :math:`\omega x` with x in standard deviations, so the
    weight is :math:`2 \omega / 2 \pi`. The phase of a column with codes is linear between its
    knots. Its standard deviation over the knots takes the place of :math:`\omega`, with the sign of
    the change from the first knot to the last.
    """
    n_columns = len(columns.units)
    order = np.arange(n_columns) if columns.order is None else columns.order
    seen = order[: frequencies.shape[1]]
    deviations = np.zeros((len(frequencies), n_columns))
    deviations[:, seen] = frequencies[:, : len(seen)]
    # Constant columns have an infinite unit: they are not seen.
    deviations[:, np.isinf(columns.units)] = 0
    start = n_columns
    for place, knots in columns.knots.items():
        slopes = deviations[:, [place]] * np.diff(knots) / columns.units[place]
        steps = slopes + CODE_UNIT * frequencies[:, start : start + len(knots) - 1]
        phases = np.cumsum(steps, axis=1)
        spreads = np.hstack([np.zeros_like(phases[:, :1]), phases]).std(axis=1)
        deviations[:, place] = np.copysign(spreads, phases[:, -1])
        start += len(knots) - 1
    return deviations / np.pi
