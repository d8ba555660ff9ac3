"""The special function that Matern kernels of tensors need."""

import math

import torch

from pacfourier.spectra import log_bessel_k

# A term of exp(-40) times the largest one does not change a sum in double precision.
_NEGLIGIBLE = 40.0


@log_bessel_k.register(torch.Tensor)
def _tensor_log_bessel_k(argument: torch.Tensor, order: float) -> torch.Tensor:
    r"""Return :math:`\ln K_\nu(x)` in double precision, which is infinite at zero.

    The modified Bessel function of the second kind is

    .. math:: K_\nu(x) = \int_0^\infty e^{-x \cosh v} \cosh(\nu v)\, dv .

    With :math:`s = \sqrt{\nu^2 + x^2}`, the integrand is at most :math:`e^{\nu p - s}`, and its
    peak is near :math:`p = \ln((\nu + s) / x)`. The integrand is smooth, so the trapezoid rule
    with steps below the width of the peak, :math:`1 / \sqrt s`, is exact to the last digits.

    Parameters
    ----------
    argument : tensor
        The x, non-negative.
    order : float
        The order :math:`\nu`. Orders of opposite sign give the same function.
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
    start, end = _integration_ends(order, s, peak)
    n_steps = math.ceil(float(((end - start) * (2 * s + _NEGLIGIBLE).sqrt()).max()))
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


def _integration_ends(
    order: float, s: torch.Tensor, peak: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    r"""Return where the integrand of ``_tensor_log_bessel_k`` becomes negligible, or zero.

    At distance u from the peak, the logarithm of the integrand has fallen by at least
    :math:`s (\cosh u - 1)` on the right, and by at least
    :math:`\nu (e^{-u} - 1 + u) \ge \nu u^2 / (2 + u)` on the left.
    """
    ratio = _NEGLIGIBLE / order if order else math.inf
    left = (ratio + math.sqrt(ratio**2 + 8 * ratio)) / 2
    return (peak - left).clamp(min=0), peak + 2 * torch.asinh((_NEGLIGIBLE / (2 * s)).sqrt())
