"""Two observations of random fits, and what explains them."""

import numpy as np
import pytest

from pacfourier import PBRFF
from pacfourier.core.precision import single_rounding


def pairs_of(X, y, frequencies):
    kernels = np.cos((X[:, np.newaxis] - X) @ frequencies.T)
    agreements = np.where(y[:, np.newaxis] == y, 1.0, -1.0)
    return ((1 - agreements[..., np.newaxis] * kernels) / 2)[~np.eye(len(X), dtype=bool)]


@pytest.mark.parametrize("seed", range(30))
def test_a_certificate_is_below_the_empirical_loss_only_at_the_ceiling(seed):
    """The loss of two classes is at most 1/2, but its mean over a sample of pairs may be above."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((20, 2)), np.resize([0, 1], 20)
    model = PBRFF(5, n_candidates=16, target_type="binary", random_state=seed).fit(X, y)
    certificate = model.certificate(0.05)
    if certificate.value < certificate.empirical_loss:
        assert certificate.value == certificate.ceiling == 0.5
        assert certificate.empirical_loss > 0.5
    else:
        assert certificate.empirical_loss <= 0.5


@pytest.mark.parametrize("seed", range(10))
def test_losses_in_single_precision_are_inside_the_proved_rounding_at_large_phases(seed):
    """Phases of several hundred lose digits; the certificate allows for it."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((30, 4)), np.resize([0, 1], 30)
    model = PBRFF(1, n_candidates=64, gamma=3e4, precision="single", random_state=seed).fit(X, y)
    frequencies = model.pool_[np.arange(64)]
    sizes = (np.abs(X) @ np.abs(frequencies.T)).max(axis=0)
    is_large = (sizes > 550) & (sizes < 1400)
    assert is_large.any()
    errors = np.abs(model.losses_ - pairs_of(X, y, frequencies).mean(axis=0))
    allowed = single_rounding((np.abs(X) @ np.abs(frequencies.T)).mean(axis=0), n_steps=4)
    assert np.all(errors[is_large] <= allowed[is_large])
