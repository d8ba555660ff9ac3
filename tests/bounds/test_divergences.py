import numpy as np
import pytest

from pacfourier.bounds.divergences import (
    kl_divergence,
    power_divergence,
)
from pacfourier.pacbayes.posteriors import _effective_sample_size


@pytest.fixture
def posterior(rng):
    weights = rng.random(50) ** 3
    return weights / weights.sum()


def test_divergences_equal_their_definitions(posterior):
    prior = np.full(50, 1 / 50)
    ratio = posterior / prior
    assert kl_divergence(posterior) == pytest.approx(np.sum(posterior * np.log(ratio)))
    assert power_divergence(posterior, 3.5) == pytest.approx(np.sum(prior * ratio**3.5) - 1)
    expected = np.sum((posterior - prior) ** 2 / prior)
    assert power_divergence(posterior, 2.0) == pytest.approx(expected)
    assert _effective_sample_size(posterior) == pytest.approx(50 / (1 + expected))


def test_divergences_vanish_at_the_prior_only(posterior):
    uniform = np.full(50, 1 / 50)
    for divergence in (kl_divergence, lambda q: power_divergence(q, 1.3)):
        assert divergence(uniform) == pytest.approx(0, abs=1e-12)
        assert divergence(posterior) > 0.01


def test_kl_of_a_point_mass_is_the_logarithm_of_the_pool():
    assert kl_divergence(np.eye(30)[3]) == pytest.approx(np.log(30))


def test_orders_up_to_one_are_refused(posterior):
    with pytest.raises(ValueError, match=r"mu must be greater than 1, got 1\.0"):
        power_divergence(posterior, 1.0)
