"""From an estimator's parameters to the prior over frequencies."""

from numbers import Real

import numpy as np

from pacfourier.core.prior.bandwidth import median_gamma, median_rows, scale_gamma
from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.estimators.parameters import drawn_seed
from pacfourier.spectra import (
    RBF,
    Laplacian,
    Matern,
    RationalQuadratic,
    Spectrum,
    multiscale,
)

SPECTRA = {
    "rbf": RBF,
    "laplacian": Laplacian,
    "matern": Matern,
    "rational_quadratic": RationalQuadratic,
}
GAMMA_RULES = ("multiscale", "scale", "median")


def prior_spectrum(sample, kernel, gamma, rng):
    """Return the spectrum that names mean; the sample serves the rules of thumb only."""
    if isinstance(kernel, Spectrum):
        return kernel
    if kernel not in SPECTRA:
        names = tuple(SPECTRA)
        raise ValueError(f"kernel must be a Spectrum or one of {names}, got {kernel!r}.")
    family = SPECTRA[kernel]
    if isinstance(gamma, Real):
        return family(gamma=float(gamma))
    if gamma == "multiscale":
        return multiscale(family)
    if gamma not in GAMMA_RULES:
        raise ValueError(f"gamma must be positive or one of {GAMMA_RULES}, got {gamma!r}.")
    if gamma == "scale":
        value = scale_gamma(sample.moments(), sample.n_features)
    else:
        value = median_gamma(sample.take(median_rows(sample.n_samples, rng)))
    if family is Laplacian:
        # A rate a unit of the 1-norm, which is about sqrt(n_features) times the Euclidean one.
        value = np.sqrt(2 * value / sample.n_features)
    return family(gamma=float(value))


def prior_source(estimator):
    """Return where the bandwidth of an estimator's prior comes from, for its certificate."""
    return estimator.gamma if isinstance(estimator.kernel, str) else estimator.kernel


def prior_pool(sample, estimator, n_frequencies):
    """Return a pool of frequencies from the prior that an estimator's parameters describe."""
    seed = drawn_seed(estimator.random_state)
    spectrum = prior_spectrum(
        sample, estimator.kernel, estimator.gamma, np.random.default_rng(seed)
    )
    return FrequencyPool(spectrum, n_frequencies, sample.n_features, seed, estimator.sampling)
