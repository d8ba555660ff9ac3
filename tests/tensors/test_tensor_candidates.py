"""Candidates made on a device are those of the host, bit by bit."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from pacfourier.core.prior.frequencies import _UNIT, FrequencyPool  # noqa: E402
from pacfourier.spectra import RBF, Laplacian, Matern, Mixture, multiscale  # noqa: E402
from pacfourier.tensors.prior.frequencies import placed_frequencies  # noqa: E402

DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()
SEEDS = (0, 1, 2**31, 2**32 - 1, 2**32, 2**63 + 12345, 2**64 - 1)
SPECTRA = (multiscale(), RBF(0.5), Laplacian(1.0), Mixture([Matern(1.0), RBF(2.0)]))


@pytest.fixture(params=DEVICES)
def device(request):
    return torch.device(request.param)


def assert_same_bits(pool, rows, device):
    found = placed_frequencies(pool, rows, device)
    assert found.device.type == device.type
    np.testing.assert_array_equal(found.cpu().numpy().view(np.int32), pool[rows].view(np.int32))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n_features", [1, 3, 4, 108, 300])
def test_candidates_have_the_bits_of_the_host(device, seed, n_features):
    pool = FrequencyPool(multiscale(), _UNIT + 200, n_features, seed)
    assert_same_bits(pool, slice(0, len(pool)), device)
    assert_same_bits(pool, slice(_UNIT - 3, _UNIT + 50), device)


@pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)
def test_every_prior_is_that_of_the_host(device, spectrum):
    assert_same_bits(FrequencyPool(spectrum, 600, 7, 5), slice(10, 600), device)


def test_many_candidates_have_the_bits_of_the_host(device):
    """Two million numbers meet every branch of the logarithm and both ends of the turns."""
    assert_same_bits(FrequencyPool(RBF(0.5), 20_000, 100, 7), slice(0, 20_000), device)


def test_frequencies_that_are_given_are_moved(device, rng):
    given = rng.standard_normal((9, 4))
    found = placed_frequencies(given, slice(2, 5), device)
    np.testing.assert_array_equal(found.cpu(), given[2:5])
