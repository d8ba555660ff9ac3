"""Kernels of tensors against SciPy and against the kernels of arrays."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import gammaln, kve

torch = pytest.importorskip("torch")

from pacfourier.arrays import host  # noqa: E402
from pacfourier.spectra import Matern  # noqa: E402
from pacfourier.tensors.distances import _tensor_distances  # noqa: E402
from pacfourier.tensors.spectra import _tensor_log_bessel_k  # noqa: E402

DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()


@pytest.fixture(params=DEVICES)
def device(request):
    return torch.device(request.param)


def log_bessel_k(order, argument):
    """Return the logarithm by SciPy, and its limit at zero where SciPy overflows."""
    with np.errstate(divide="ignore", over="ignore"):
        exact = np.log(kve(order, argument)) - argument
    # The next term of the series is smaller by (x / 2)^2 / (order - 1).
    limit = gammaln(order) - np.log(2) + order * np.log(2 / argument)
    return np.where(np.isfinite(exact), exact, limit)


@pytest.mark.parametrize("metric", ["sqeuclidean", "cityblock"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-13)])
def test_distances_are_those_of_scipy(metric, dtype, tolerance, device, rng):
    """Even far from zero, where differences of squares would have lost all digits."""
    X = (np.round(rng.standard_normal((50, 4)), 2) + 3000).astype(dtype)
    samples = torch.as_tensor(X, device=device)
    found = _tensor_distances(samples, samples[:9], metric)
    assert found.dtype == torch.float64
    expected = cdist(X.astype(np.float64), X[:9].astype(np.float64), metric)
    np.testing.assert_allclose(host(found), expected, rtol=tolerance)


@pytest.mark.parametrize("order", [0.3, 0.5, 1.5, 2.5, 10, 60])
def test_the_log_of_bessel_functions_is_that_of_scipy(order, device):
    arguments = np.geomspace(1e-6, 500, 300)
    expected = log_bessel_k(order, arguments)
    found = _tensor_log_bessel_k(torch.as_tensor(arguments, device=device), order)
    assert found.dtype == torch.float64
    np.testing.assert_allclose(host(found), expected, rtol=1e-11, atol=1e-12)
    # One element has an interval of its own, whatever the others need.
    alone = [_tensor_log_bessel_k(torch.tensor([x]), order) for x in (1e-3, 1.0, 300.0)]
    expected = log_bessel_k(order, np.float32([1e-3, 1, 300]).astype(np.float64))
    np.testing.assert_allclose(host(torch.cat(alone)), expected, rtol=1e-11, atol=1e-12)


def test_the_log_of_bessel_functions_of_extreme_arguments(device):
    """K of order 1/2 is sqrt(pi / 2x) exp(-x)."""
    arguments = np.array([0, 1e-300, 1e-100, 1e6, 1e18, 1e300, np.inf, np.nan])
    found = _tensor_log_bessel_k(torch.as_tensor(arguments, device=device), 0.5)
    with np.errstate(divide="ignore"):
        expected = 0.5 * np.log(np.pi / 2) - 0.5 * np.log(arguments) - arguments
    np.testing.assert_allclose(host(found), expected, rtol=1e-14)


def test_the_log_of_bessel_functions_of_other_orders():
    arguments = torch.tensor([1e-3, 2.0])
    zero = np.log(kve(0, host(arguments.double()))) - host(arguments)
    np.testing.assert_allclose(host(_tensor_log_bessel_k(arguments, 0)), zero, rtol=1e-12)
    mirrored = _tensor_log_bessel_k(arguments, -1.5)
    assert torch.equal(mirrored, _tensor_log_bessel_k(arguments, 1.5))
    assert _tensor_log_bessel_k(torch.zeros((0, 3)), 1.5).shape == (0, 3)
    assert torch.equal(_tensor_log_bessel_k(torch.zeros(2), 1.5), torch.full((2,), np.inf).double())


@pytest.mark.parametrize("nu", [0.05, 0.5, 1.5, 7.3, 1000.0])
def test_the_matern_kernel_of_any_smoothness(nu, device):
    """The logarithms of the kernel of arrays lose some digits for a large nu."""
    squares = np.concatenate([[0.0], np.logspace(-12, 3, 100)])
    spectrum = Matern(0.3, nu)
    found = spectrum.profile(torch.as_tensor(squares, device=device))
    tolerance = 1e-13 * max(1, nu)
    np.testing.assert_allclose(host(found), spectrum.profile(squares), atol=tolerance)
