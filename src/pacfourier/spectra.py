"""Spectral measures: kernels with their Fourier transforms (the public names)."""

from pacfourier.core.spectra import (
    GAMMA_GRID,
    RBF,
    Isotropic,
    Laplacian,
    Matern,
    Mixture,
    RationalQuadratic,
    Spectrum,
    multiscale,
)

__all__ = [
    "GAMMA_GRID",
    "RBF",
    "Isotropic",
    "Laplacian",
    "Matern",
    "Mixture",
    "RationalQuadratic",
    "Spectrum",
    "multiscale",
]
