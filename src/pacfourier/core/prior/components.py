"""The components of a prior that is a mixture: which of them a frequency may come from."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import log_softmax

from pacfourier.arrays import FloatArray
from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.core.products import frequency_bands
from pacfourier.spectra import Mixture, Spectrum

__all__ = ["log_component_shares", "three_bandwidths"]


def three_bandwidths(spectrum: Any) -> Mixture:
    """Return an equal mixture of a kernel with gamma / 4, gamma and 4 gamma."""
    gammas = (spectrum.gamma / 4, spectrum.gamma, 4 * spectrum.gamma)
    return Mixture([replace(spectrum, gamma=gamma) for gamma in gammas])


def log_component_shares(pool: FrequencyPool) -> FloatArray:
    r"""Return the logarithms of the components' shares in the density at each frequency.

    .. math:: \ln \frac{w_k p_k(\omega_m)}{\sum_j w_j p_j(\omega_m)}

    The shares of a frequency sum to one. Cosines of frequencies of the mixture, weighted by the
    shares of component k, have the kernel of that component for their mean (importance sampling).
    A spectrum that is no mixture is its own only component.

    Returns
    -------
    log_shares : array of shape (n_components, n_frequencies)
    """
    components, weights = _parts(pool.spectrum)
    log_shares = np.empty((len(components), len(pool)))
    for band in frequency_bands(len(pool), pool.n_features):
        frequencies = pool[band].astype(np.float64)
        densities = np.stack([component.log_density(frequencies) for component in components])
        log_shares[:, band] = log_softmax(densities + np.log(weights)[:, np.newaxis], axis=0)
    return log_shares


def _parts(spectrum: Spectrum) -> tuple[tuple[Spectrum, ...], FloatArray]:
    if not isinstance(spectrum, Mixture):
        return (spectrum,), np.ones(1)
    return tuple(spectrum.components), np.asarray(spectrum.weights)
