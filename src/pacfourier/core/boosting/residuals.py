"""Alignment of candidate frequencies with the residuals of a model.

Each round of boosting adds the candidates that align best with what the model still gets wrong.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pacfourier.arrays import FloatArray, Samples
from pacfourier.core.alignment.sums import alignment_loss, alignment_sums
from pacfourier.core.precision import precision_of
from pacfourier.core.prior.frequencies import FrequencyPool


@dataclass(frozen=True)
class _ResidualTarget:
    """Residuals as a target. The codes are the residuals, one number per sample and output."""

    def encode(self, residuals: FloatArray) -> sparse.csr_array:
        """Return the residuals as rows. Zeros are stored, because no row of codes may be empty."""
        n_samples, n_outputs = residuals.shape
        columns = np.tile(np.arange(n_outputs), n_samples)
        starts = n_outputs * np.arange(n_samples + 1)
        return sparse.csr_array((residuals.ravel(), columns, starts), shape=residuals.shape)


def residual_losses(X: Samples, residuals: FloatArray, pool: FrequencyPool) -> FloatArray:
    r"""Return how badly every candidate aligns with the residuals, in [0, 1/2].

    .. math:: \frac12 - \frac{\sum_k |\sum_i r_{ik} e^{i \omega \cdot x_i}|^2}
              {2 \sum_k (\sum_i |r_{ik}|)^2}

    This is an alignment loss in which the weight of a sample is the error of the model on it. The
    numerator is the squared length of the gradient of the model's loss in the amplitudes that the
    candidate would get. If all residuals are zero, all candidates have loss 1/2.
    """
    largest = np.square(np.abs(residuals).sum(axis=0)).sum()
    if largest == 0:
        return np.full(len(pool), 0.5)
    sums = alignment_sums(X, residuals, _ResidualTarget(), pool, precision=precision_of(X))
    aligned = np.square(np.abs(sums.waves)).sum(axis=0)
    return alignment_loss(aligned, self_pairs=0.0, pairs=largest)
