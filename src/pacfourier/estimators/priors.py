"""From an estimator's parameters to the prior over frequencies."""

from numbers import Real

import numpy as np

from pacfourier.core.bandwidth import median_gamma, scale_gamma
from pacfourier.core.frequencies import FrequencyPool
from pacfourier.core.spectra import (
    RBF,
    Laplacian,
    Matern,
    RationalQuadratic,
    Spectrum,
    multiscale,
)
from pacfourier.estimators.parameters import drawn_seed

SPECTRA = {
    "rbf": RBF,
    "laplacian": Laplacian,
    "matern": Matern,
    "rational_quadratic": RationalQuadratic,
}
GAMMA_RULES = ("multiscale", "scale", "median")


def prior_spectrum(X, spectrum, gamma, rng, sample_weight=None):
    """Return the spectrum that a name and a bandwidth mean; X serves the rules of thumb only."""
    if isinstance(spectrum, Spectrum):
        return spectrum
    if spectrum not in SPECTRA:
        names = tuple(SPECTRA)
        raise ValueError(f"spectrum must be a Spectrum or one of {names}, got {spectrum!r}.")
    family = SPECTRA[spectrum]
    if isinstance(gamma, Real):
        return family(gamma=float(gamma))
    if gamma == "multiscale":
        return multiscale(family)
    if gamma not in GAMMA_RULES:
        raise ValueError(f"gamma must be positive or one of {GAMMA_RULES}, got {gamma!r}.")
    value = scale_gamma(X, sample_weight) if gamma == "scale" else median_gamma(X, rng)
    if family is Laplacian:
        # A rate a unit of the 1-norm, which is about sqrt(n_features) times the Euclidean one.
        value = np.sqrt(2 * value / X.shape[1])
    return family(gamma=float(value))


def prior_source(estimator):
    """Return where the bandwidth of an estimator's prior comes from, for its certificate."""
    return estimator.gamma if isinstance(estimator.spectrum, str) else estimator.spectrum


def prior_pool(X, estimator, n_frequencies, sample_weight=None):
    """Return a pool of frequencies from the prior that an estimator's parameters describe."""
    seed = drawn_seed(estimator.random_state)
    spectrum = prior_spectrum(
        X, estimator.spectrum, estimator.gamma, np.random.default_rng(seed), sample_weight
    )
    return FrequencyPool(spectrum, n_frequencies, X.shape[1], seed, estimator.sampling)
