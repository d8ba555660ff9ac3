"""The self-certified posterior minimises the certificate it is read with."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from pacfourier import bounds
from pacfourier.bounds._bernstein import (
    bernstein_factor,
    bernstein_grid,
    unexpected_bernstein_fixed,
)
from pacfourier.bounds._self_certified import fixed_rate_posterior


def problem(seed, n_hypotheses=12):
    rng = np.random.default_rng(seed)
    losses = rng.uniform(0.1, 0.6, size=n_hypotheses)
    return {
        "losses": losses,
        "second_moments": rng.uniform((losses - 0.5) ** 2, 0.25),
        "prior": rng.dirichlet(np.ones(n_hypotheses)),
    }


def terms(posterior, data):
    return {
        "loss": posterior @ data["losses"],
        "second_moment": posterior @ data["second_moments"],
        "divergence": special.rel_entr(posterior, data["prior"]).sum(),
    }


def rivals(posterior, prior, rng):
    """Posteriors far and near."""
    noise = np.exp(0.05 * rng.normal(size=(20, len(prior))))
    near = posterior * noise / (posterior * noise).sum(axis=1, keepdims=True)
    return [prior, *rng.dirichlet(np.ones(len(prior)), size=20), *near, *np.eye(len(prior))]


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 4000),
    share=st.floats(0.02, 0.95),
    centre=st.floats(0.0, 0.5),
    pairs=st.booleans(),
)
def test_fixed_rate_posterior_is_the_minimiser(seed, n, share, centre, pairs):
    data, rng = problem(seed), np.random.default_rng(seed)
    constants = {"eta": share / (1 - centre), "centre": centre}
    best = fixed_rate_posterior(**data, n_samples=n, pairs=pairs, **constants)

    def value(posterior):
        case = terms(posterior, data)
        return unexpected_bernstein_fixed(
            **case, n_samples=n, epsilon=0.05, pairs=pairs, **constants
        ).value

    assert best.sum() == pytest.approx(1.0)
    assert all(value(best) <= value(rival) + 1e-10 for rival in rivals(best, data["prior"], rng))


# A case takes 30 ms, and more on a busy machine.
@settings(deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 4000), pairs=st.booleans())
def test_self_certified_posterior_is_the_minimiser(seed, n, pairs):
    data, rng = problem(seed), np.random.default_rng(seed)
    best = bounds.self_certified_posterior(**data, n_samples=n, epsilon=0.05, pairs=pairs)

    def value(posterior):
        case = terms(posterior, data)
        return bounds.unexpected_bernstein(
            **case, n_samples=n, epsilon=0.05, n_hypotheses=12, pairs=pairs
        ).value

    assert all(value(best) <= value(rival) + 1e-10 for rival in rivals(best, data["prior"], rng))
    grid = bernstein_grid(n_terms=n // 2 if pairs else n, n_hypotheses=12, epsilon=0.05)
    fixed = [
        fixed_rate_posterior(**data, n_samples=n, eta=eta, centre=centre, pairs=pairs)
        for centre, eta, _ in grid
    ]
    assert value(best) == pytest.approx(min(value(posterior) for posterior in fixed))


@pytest.mark.parametrize("centre", [0.5, 0.2])
def test_fixed_rate_posterior_has_its_closed_form(centre):
    data, m, eta = problem(0), 50, 0.6
    around_centre = data["second_moments"] + 2 * (0.5 - centre) * data["losses"]
    energy = eta * data["losses"] + bernstein_factor(eta * (1 - centre)) * eta**2 * around_centre
    weights = data["prior"] * np.exp(-m * energy)
    posterior = fixed_rate_posterior(**data, n_samples=2 * m, eta=eta, centre=centre)
    assert posterior == pytest.approx(weights / weights.sum())


def test_posterior_keeps_the_zeros_of_the_prior_and_survives_many_points():
    data = problem(1) | {"prior": np.eye(12)[0] / 2 + np.eye(12)[1] / 2}
    posterior = bounds.self_certified_posterior(**data, n_samples=10**7, epsilon=0.05)
    assert posterior[2:].sum() == 0.0
    assert posterior.sum() == pytest.approx(1.0)
