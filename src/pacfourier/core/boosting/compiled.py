"""Compiled loops of the descent. Callers import this module when they first need it."""

import numpy as np
from numba import njit


@njit(nogil=True, fastmath=True, cache=True)
def adam(part, slope, first, second, scale, correction, kept):
    """Make one step of Adam with decoupled decay, in place; see ``descent``.

    ``first`` and ``second`` are the running means. ``scale`` is the rate divided by the bias of the
    first, ``correction`` is one over the bias of the second, and ``kept`` is what decay leaves.
    """
    old, new = np.float32(0.9), np.float32(0.1)
    older, newer = np.float32(0.99), np.float32(0.01)
    for i in range(len(part)):
        gradient = np.float32(slope[i])
        first[i] = old * first[i] + new * gradient
        second[i] = older * second[i] + newer * gradient * gradient
        size = np.sqrt(correction * second[i]) + np.float32(1e-8)
        part[i] = kept * part[i] - scale * first[i] / size
