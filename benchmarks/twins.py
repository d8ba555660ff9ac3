"""Straightforward versions of the computations, which the benchmarks compare with."""

import numpy as np


def plain_losses(X, y, frequencies):
    """Compute the losses directly from the formula, with full matrices in double precision.

    This takes two products and four n x N matrices: cos(XW), sin(XW) and each of them times the
    labels.
    """
    n = len(X)
    cosines = np.einsum("i,im->im", y, np.cos(X @ frequencies.T)).sum(axis=0)
    sines = np.einsum("i,im->im", y, np.sin(X @ frequencies.T)).sum(axis=0)
    return n / (2 * (n - 1)) - (cosines**2 + sines**2) / (2 * n * (n - 1))


def bare_product(X, frequencies, out):
    """Compute one matrix product of the same shape, into an existing array."""
    return np.dot(X, frequencies.T, out=out)


def product_in_blocks(X, frequencies, n_rows=1_024):
    """Compute that product a block of rows at a time, where its result would need too much memory.

    Each block is overwritten by the next one.
    """
    out = np.empty((n_rows, len(frequencies)), dtype=X.dtype)
    for start in range(0, len(X), n_rows):
        block = X[start : start + n_rows]
        bare_product(block, frequencies, out[: len(block)])


def plain_landmark_fit(X, y, landmark, label, frequencies, beta):
    """Return the posterior of one landmark, directly from the formula."""
    waves = np.cos((landmark - X) @ frequencies.T)
    agreements = np.where(y == label, 1.0, -1.0)
    losses = (1 - np.einsum("i,im->m", agreements, waves) / len(X)) / 2
    weights = np.exp(-beta * np.sqrt(len(X)) * (losses - losses.min()))
    return weights / weights.sum()


def plain_landmark_transform(X, landmark, frequencies, posterior):
    """Return the similarity of all samples to one landmark."""
    return np.cos((landmark - X) @ frequencies.T) @ posterior
