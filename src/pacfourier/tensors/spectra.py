"""Kernels between the rows of tensors."""

import math
from typing import Literal, TypeAlias

import torch

from pacfourier.spectra import RBF, Laplacian, Matern, Mixture, RationalQuadratic, Spectrum

Metric: TypeAlias = Literal["sqeuclidean", "cityblock"]

# A term of exp(-40) times the largest one does not change a sum in double precision.
NEGLIGIBLE = 40.0


def tensor_distances(X: torch.Tensor, Y: torch.Tensor, metric: Metric) -> torch.Tensor:
    """Return the distances between the rows of X and of Y, of shape (len(X), len(Y)).

    Parameters
    ----------
    X, Y : tensors of shape (n_rows, n_features)
        Of one type, on one device.
    metric : {"sqeuclidean", "cityblock"}
        The squared Euclidean distance, or the sum of absolute differences.
    """
    if metric == "sqeuclidean":
        # By differences, because squares of samples far from zero leave no digits for distances.
        mode = "donot_use_mm_for_euclid_dist"
        return torch.cdist(X, Y, compute_mode=mode).square()
    if metric == "cityblock":
        return torch.cdist(X, Y, p=1)
    raise ValueError(f"metric must be 'sqeuclidean' or 'cityblock', got {metric!r}.")


def tensor_log_bessel_k(order: float, argument: torch.Tensor) -> torch.Tensor:
    r"""Return :math:`\ln K_\nu(x)` in double precision, which is infinite at zero.

    The modified Bessel function of the second kind is

    .. math:: K_\nu(x) = \int_0^\infty e^{-x \cosh v} \cosh(\nu v)\, dv .

    With :math:`s = \sqrt{\nu^2 + x^2}`, the integrand is at most :math:`e^{\nu p - s}`, and its
    peak is near :math:`p = \ln((\nu + s) / x)`. The integrand is smooth, so the trapezoid rule
    with steps below the width of the peak, :math:`1 / \sqrt s`, is exact to the last digits.

    Parameters
    ----------
    order : float
        The order :math:`\nu`. Orders of opposite sign give the same function.
    argument : tensor
        The x, non-negative.
    """
    order, given = abs(order), argument.double()
    is_regular = (given > 0) & given.isfinite()
    if not bool(is_regular.any()):
        return -given.log()
    x = torch.where(is_regular, given, 1.0)
    s = torch.hypot(x, torch.full_like(x, order))
    peak = (order + s).log() - x.log()
    # s - x, without the cancellation of a large x.
    excess = order**2 / (x + s)
    start, end = integration_ends(order, s, peak)
    n_steps = math.ceil(float(((end - start) * (2 * s + NEGLIGIBLE).sqrt()).max()))
    step = (end - start) / n_steps
    root = (2 * x).sqrt()
    total = torch.zeros_like(x)
    for number in range(n_steps + 1):
        v = start + number * step
        # Relative to the peak, with x (cosh v - 1) = 2 x sinh^2(v / 2).
        fall = (root * (v / 2).sinh()).square() + (order * peak - excess)
        term = torch.exp(order * v - fall) + torch.exp(-order * v - fall)
        total += term if number else term / 2
    logs = (step * total / 2).log() + (order * peak - excess) - x
    # What is left are zero, infinity and numbers that are no arguments.
    return torch.where(is_regular, logs, -given.log())


def integration_ends(
    order: float, s: torch.Tensor, peak: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    r"""Return where the integrand of ``tensor_log_bessel_k`` becomes negligible, or zero.

    At distance u from the peak, the logarithm of the integrand has fallen by at least
    :math:`s (\cosh u - 1)` on the right, and by at least
    :math:`\nu (e^{-u} - 1 + u) \ge \nu u^2 / (2 + u)` on the left.
    """
    ratio = NEGLIGIBLE / order if order else math.inf
    left = (ratio + math.sqrt(ratio**2 + 8 * ratio)) / 2
    return (peak - left).clamp(min=0), peak + 2 * torch.asinh((NEGLIGIBLE / (2 * s)).sqrt())


def tensor_kernel(spectrum: Spectrum, X: torch.Tensor, landmarks: torch.Tensor) -> torch.Tensor:
    """Return the kernel of a spectrum between the rows of two tensors."""
    if isinstance(spectrum, Mixture):
        parts = zip(spectrum.weights or (), spectrum.components, strict=True)
        kernels = [weight * tensor_kernel(each, X, landmarks) for weight, each in parts]
        return torch.stack(kernels).sum(dim=0)
    if isinstance(spectrum, Laplacian):
        return torch.exp(-spectrum.gamma * tensor_distances(X, landmarks, "cityblock"))
    if not isinstance(spectrum, RBF | Matern | RationalQuadratic):
        raise ValueError(f"spectrum must be isotropic, Laplacian or a mixture, got {spectrum!r}.")
    squares = tensor_distances(X, landmarks, "sqeuclidean")
    if isinstance(spectrum, RBF):
        return torch.exp(-spectrum.gamma * squares)
    if isinstance(spectrum, Matern):
        return matern_profile(spectrum, squares)
    return torch.exp(-spectrum.alpha * torch.log1p(spectrum.gamma * squares / spectrum.alpha))


def matern_profile(spectrum: Matern, squares: torch.Tensor) -> torch.Tensor:
    r"""Return the Matern kernel of squared distances.

    .. math:: k = \frac{2}{\Gamma(\nu)} \left(\frac r2\right)^\nu K_\nu(r),
              \qquad r = \sqrt{4 \nu \gamma}\, \|\delta\| .
    """
    radii = (4 * spectrum.nu * spectrum.gamma * squares.double()).sqrt()
    constant = math.log(2) - math.lgamma(spectrum.nu)
    logs = constant + spectrum.nu * (radii / 2).log() + tensor_log_bessel_k(spectrum.nu, radii)
    return torch.where(radii > 0, logs.clamp(max=0).exp(), 1.0).to(squares.dtype)
