import numpy as np
import pytest

from pacfourier.core.prior.components import log_component_shares, three_bandwidths
from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.spectra import RBF, Laplacian, Matern, Mixture, RationalQuadratic

KERNELS = [RBF(0.3), Laplacian(0.3), Matern(0.3, nu=2.5), RationalQuadratic(0.3, alpha=2.0)]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_shares_of_a_component_give_its_kernel(kernel):
    """Importance sampling: 40,000 weighted cosines have a standard error below 0.01."""
    mixture = three_bandwidths(kernel)
    pool = FrequencyPool(mixture, 40_000, 2, seed=0)
    delta = np.array([0.8, -0.5])
    shares = np.exp(log_component_shares(pool))
    cosines = np.cos(pool[:].astype(np.float64) @ delta)
    for component, share in zip(mixture.components, shares, strict=True):
        found = share @ cosines / share.sum()
        assert found == pytest.approx(component.kernel(delta), abs=0.03)


@pytest.mark.parametrize("n_features", [1, 3, 2000])
def test_shares_of_a_frequency_sum_to_one(n_features):
    mixture = Mixture([RBF(0.1), Matern(2.0), RBF(50.0)], [1, 2, 3])
    log_shares = log_component_shares(FrequencyPool(mixture, 70, n_features, seed=0))
    assert log_shares.shape == (3, 70)
    assert np.isfinite(log_shares).all()
    np.testing.assert_allclose(np.exp(log_shares).sum(axis=0), 1, atol=1e-12)


def test_a_kernel_is_its_own_only_component():
    log_shares = log_component_shares(FrequencyPool(RBF(0.1), 30, 4, seed=0))
    np.testing.assert_array_equal(log_shares, np.zeros((1, 30)))


def test_three_bandwidths_keep_the_other_parameters():
    mixture = three_bandwidths(Matern(0.4, nu=0.5))
    assert mixture.components == (Matern(0.1, 0.5), Matern(0.4, 0.5), Matern(1.6, 0.5))
    assert mixture.weights == pytest.approx((1 / 3, 1 / 3, 1 / 3))
