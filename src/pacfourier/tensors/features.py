"""Feature maps and bandwidths of tensors."""

import math
from collections.abc import Iterator
from functools import reduce

import numpy as np
import torch

from pacfourier.arrays import FloatArray, IntArray, host, matching
from pacfourier.core.alignment.landmarks import landmark_similarities, landmarks_a_block
from pacfourier.core.features import fourier_features
from pacfourier.core.phases import largest_magnitudes, precision_groups, precision_of
from pacfourier.core.prior.bandwidth import merged_moments, scale_moments
from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.spectra import RBF, Laplacian, Matern, Mixture, RationalQuadratic, Spectrum
from pacfourier.tensors.alignment.sums import TYPES, magnitudes, phase_sizes, row_blocks

# Beyond it an exponential is zero.
SMALLEST_EXPONENT = 750.0


@host.register(torch.Tensor)
def tensor_host(X: torch.Tensor) -> FloatArray:
    """Return the numbers where NumPy can read them; those of a CPU tensor are not copied."""
    if X.device.type == "meta":
        raise ValueError("tensors must have data, got device 'meta'.")
    # NumPy has no such type; every number of it is one of single precision.
    X = X.float() if X.dtype == torch.bfloat16 else X
    return np.asarray(X.detach().cpu())


@matching.register(torch.Tensor)
def tensor_matching(X: torch.Tensor, values: FloatArray) -> torch.Tensor:
    """Return values as a tensor beside X."""
    return torch.as_tensor(values, dtype=X.dtype, device=X.device)


@largest_magnitudes.register(torch.Tensor)
def tensor_magnitudes(X: torch.Tensor) -> FloatArray:
    """Return the largest absolute value of each feature."""
    return host(magnitudes(X).double())


@fourier_features.register(torch.Tensor)
def tensor_features(X: torch.Tensor, frequencies: FloatArray, weights: FloatArray) -> torch.Tensor:
    """Return the cosines and sines, a tensor beside X."""
    n_frequencies = len(frequencies)
    features = X.new_empty((len(X), 2 * n_frequencies))
    for members, rows, phases in _phase_blocks(X, frequencies):
        amplitudes = torch.as_tensor(np.sqrt(weights[members]), device=X.device)
        columns = torch.as_tensor(members, device=X.device)
        block = features[rows]
        block[:, columns] = (amplitudes * phases.cos()).to(X.dtype)
        block[:, n_frequencies + columns] = (amplitudes * phases.sin()).to(X.dtype)
    return features


def _phase_blocks(
    X: torch.Tensor, frequencies: FloatArray
) -> Iterator[tuple[IntArray, slice, torch.Tensor]]:
    """Yield indices of frequencies, rows and their phases, in the precision that they need."""
    table = torch.tensor(frequencies, device=X.device)
    sizes = phase_sizes(table, magnitudes(X))
    for dtype, members in precision_groups(sizes, precision_of(X)):
        columns = table[torch.as_tensor(members, device=X.device)].to(TYPES[dtype]).T
        for rows in row_blocks(len(X), len(members)):
            yield members, rows, X[rows].to(TYPES[dtype]) @ columns


@landmark_similarities.register(torch.Tensor)
def tensor_similarities(
    X: torch.Tensor, pool: FrequencyPool, phases: FloatArray, posteriors: FloatArray
) -> torch.Tensor:
    """Return maps of shape (n_maps, n_samples, n_landmarks), a tensor beside X."""
    n_landmarks, n_frequencies = phases.shape
    similarities = X.new_zeros((len(posteriors), len(X), n_landmarks))
    size = landmarks_a_block(n_frequencies, X.shape[1])
    for start in range(0, n_landmarks, size):
        block = slice(start, min(start + size, n_landmarks))
        frequencies = pool[start * n_frequencies : block.stop * n_frequencies]
        offsets = phases[block].ravel()
        # Weights of shape (n_maps, frequencies of the block, landmarks): a landmark's own only.
        owners = np.repeat(np.eye(block.stop - start), n_frequencies, axis=0)
        own = posteriors[:, block].reshape(len(posteriors), -1, 1) * owners
        for members, rows, turned in _phase_blocks(X, frequencies):
            angles = turned - torch.as_tensor(offsets[members], device=X.device)
            weights = torch.as_tensor(own[:, members], dtype=X.dtype, device=X.device)
            similarities[:, rows, block] += angles.cos().to(X.dtype) @ weights
    return similarities


@scale_moments.register(torch.Tensor)
def tensor_scale_moments(X: torch.Tensor, sample_weight: FloatArray | None = None) -> FloatArray:
    """Return the weight of all values, their mean and their weighted squared deviations from it."""
    weights = np.ones(len(X)) if sample_weight is None else sample_weight
    blocks = (_block_moments(X[rows].double(), weights[rows]) for rows in row_blocks(*X.shape))
    return reduce(merged_moments, blocks)


def _block_moments(X: torch.Tensor, weights: FloatArray) -> FloatArray:
    weight = weights.sum() * X.shape[1]
    mean = weights @ host(X.sum(dim=1)) / weight
    squares = host((X - mean).square().sum(dim=1))
    return np.array([weight, mean, weights @ squares])


def tensor_kernel(spectrum: Spectrum, X: torch.Tensor, landmarks: torch.Tensor) -> torch.Tensor:
    """Return the kernel of a spectrum between the rows of two tensors."""
    if isinstance(spectrum, Mixture):
        parts = zip(spectrum.weights, spectrum.components, strict=True)
        kernels = [weight * tensor_kernel(each, X, landmarks) for weight, each in parts]
        return torch.stack(kernels).sum(dim=0)
    if isinstance(spectrum, RBF | Matern | RationalQuadratic):
        # Differences first: squares of samples far from zero have no digits left for distances.
        mode = "donot_use_mm_for_euclid_dist"
        squares = torch.cdist(X, landmarks, compute_mode=mode).square()
        if isinstance(spectrum, RBF):
            return torch.exp(-spectrum.gamma * squares)
        if isinstance(spectrum, Matern):
            return matern_profile(spectrum, squares)
        return torch.exp(-spectrum.alpha * torch.log1p(spectrum.gamma * squares / spectrum.alpha))
    if isinstance(spectrum, Laplacian):
        return torch.exp(-spectrum.gamma * torch.cdist(X, landmarks, p=1))
    raise ValueError(f"spectrum must be isotropic, Laplacian or a mixture, got {spectrum!r}.")


def matern_profile(spectrum: Matern, squares: torch.Tensor) -> torch.Tensor:
    r"""Return the Matern kernel of squared distances.

    .. math:: \frac{2}{\Gamma(\nu)} \left(\frac r2\right)^\nu K_\nu(r)
              = \frac{1}{\Gamma(\nu)} \left(\frac r2\right)^\nu
              \int_{-\infty}^\infty e^{\nu v - r \cosh v} dv ,

    by the rule of trapezoids, which is exact to the last digits here: the integrand is smooth, and
    its width is that of the step or more wherever the kernel is not zero.
    """
    radii = (4 * spectrum.nu * spectrum.gamma * squares.double()).sqrt()
    positive = radii[radii > 0]
    if not len(positive):
        return torch.ones_like(squares)
    step = 1 / math.sqrt(spectrum.nu + 40)
    end = math.log(2 * (SMALLEST_EXPONENT + 2 * spectrum.nu) / float(positive.min()))
    logs = spectrum.nu * (radii / 2).log() - math.lgamma(spectrum.nu)
    kernel = torch.zeros_like(radii)
    for point in np.arange(-end, end, step):
        kernel += step * torch.exp(logs + spectrum.nu * point - radii * math.cosh(point))
    return torch.where(radii > 0, kernel, 1.0).to(squares.dtype)
