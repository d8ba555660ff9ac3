import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pacfourier.bounds.divergences import (
    kl_divergence,
    log_power_mean,
    power_divergence,
)
from pacfourier.pacbayes.balls import divergence_ball_posterior, kl_ball_posterior
from pacfourier.pacbayes.posteriors import (
    _effective_sample_size,
    _log_gibbs_size,
    gibbs_posterior,
    inverse_temperature_of_size,
)

# Losses on a grid: apart by 1e-3 or equal, so that ties are real ties.
losses_of_any_kind = arrays(np.int64, st.integers(2, 60), elements=st.integers(0, 1000)).map(
    lambda values: values / 1000
)
MUS = [1.1, 1.5, 2.0, 3.0, 6.0]
ALL_MUS = [*MUS, 20.0, 100.0, 500.0]


def test_gibbs_minimises_its_objective(rng):
    losses, t = rng.random(40), 7.0

    def objective(posterior):
        return t * posterior @ losses + kl_divergence(posterior)

    best = gibbs_posterior(losses, t)
    # The optimum of Donsker and Varadhan, and no other posterior below it.
    assert objective(best) == pytest.approx(-np.log(np.mean(np.exp(-t * losses))))
    for _ in range(50):
        other = 0.9 * best + 0.1 * rng.dirichlet(np.ones(40))
        assert objective(other) > objective(best)


@given(losses_of_any_kind, st.floats(0, 1e4), st.floats(-100, 100))
def test_gibbs_is_invariant_to_a_common_shift(losses, t, shift):
    shifted = gibbs_posterior(losses + shift, t)
    np.testing.assert_allclose(shifted, gibbs_posterior(losses, t), atol=1e-8)
    assert shifted.sum() == pytest.approx(1)


def test_gibbs_survives_any_temperature():
    losses = np.array([0.0, 0.5, 1.0])
    np.testing.assert_allclose(gibbs_posterior(losses, 1e300), [1, 0, 0])
    with pytest.raises(ValueError, match="inverse_temperature must be finite"):
        gibbs_posterior(losses, -1.0)


@given(losses_of_any_kind, st.floats(1e-3, 10))
@example(np.array([0.07, 0.0] + 57 * [0.001]), 4.0625)
@settings(deadline=None)
def test_kl_ball_is_the_gibbs_posterior_on_its_surface(losses, rho):
    posterior = kl_ball_posterior(losses, rho)
    divergence = kl_divergence(posterior)
    is_best = losses == losses.min()
    if divergence < rho - 1e-9:
        np.testing.assert_allclose(posterior, is_best / is_best.sum())
    else:
        assert divergence == pytest.approx(rho, abs=1e-9)
        # On the surface the log-weights are affine in the losses: some temperature gives it.
        # Weights too small for a float are zero and have no logarithm.
        weighty = np.flatnonzero(posterior > 1e-290)
        worst, best = weighty[losses[weighty].argmax()], losses.argmin()
        assume(losses[worst] > losses[best])
        slope = np.log(posterior[worst] / posterior[best]) / (losses[worst] - losses[best])
        expected = gibbs_posterior(losses, -slope)
        np.testing.assert_allclose(posterior, expected, atol=1e-9)


@pytest.mark.parametrize("size", [1, 1.5, 7, 99.5, 100, 1000])
def test_inverse_temperature_gives_the_asked_size(size, rng):
    losses = rng.random(100)
    t = inverse_temperature_of_size(losses, size)
    width = _effective_sample_size(gibbs_posterior(losses, t))
    assert width == pytest.approx(min(size, 100), rel=1e-6)


@pytest.mark.parametrize("t", [0.0, 3.0, 1e3, 1e6])
def test_the_size_of_a_gibbs_posterior_is_that_of_its_weights(t, rng):
    losses = rng.random(100)
    size = _effective_sample_size(gibbs_posterior(losses, t))
    assert _log_gibbs_size(losses - losses.min(), t) == pytest.approx(np.log(size), abs=1e-12)


def test_inverse_temperature_of_tied_losses_is_that_of_the_ties():
    losses = np.array([0.1, 0.1, 0.1, 0.9])
    t = inverse_temperature_of_size(losses, 2)
    assert _effective_sample_size(gibbs_posterior(losses, t)) == pytest.approx(3, rel=1e-6)
    assert inverse_temperature_of_size(np.full(5, 0.3), 2) == 0.0


def test_size_does_not_feel_the_scale_of_the_losses(rng):
    losses = rng.random(100)
    first = gibbs_posterior(losses, inverse_temperature_of_size(losses, 9))
    scaled = 0.5 - 1e-4 * (1 - losses)
    second = gibbs_posterior(scaled, inverse_temperature_of_size(scaled, 9))
    np.testing.assert_allclose(first, second, rtol=1e-6)


def kkt_residual(posterior, losses, rho, mu):
    """Largest violation of the optimality conditions, and the multiplier of the ball.

    Stationarity: L_m + nu (Q_m / max Q)^(mu - 1) = eta where Q_m > 0, L_m >= eta elsewhere.
    """
    support = posterior > 0
    powers = (posterior[support] / posterior.max()) ** (mu - 1)
    design = np.column_stack([-powers, np.ones(support.sum())])
    (nu, eta), *_ = np.linalg.lstsq(design, losses[support], rcond=None)
    stationarity = np.abs(losses[support] + nu * powers - eta).max()
    outside = np.max(eta - losses[~support], initial=0.0)
    surface = abs(power_divergence(posterior, mu) / rho - 1)
    return max(abs(posterior.sum() - 1), surface, stationarity, outside), nu


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("share", [1e-4, 0.01, 0.3, 0.9])
def test_ball_posterior_meets_its_optimality_conditions(mu, share, rng):
    """For every radius up to that of the whole simplex, N^(mu - 1) - 1."""
    rho = share * (300 ** (mu - 1) - 1)
    for _ in range(5):
        losses = rng.random(300)
        posterior = divergence_ball_posterior(losses, rho, mu)
        residual, multiplier = kkt_residual(posterior, losses, rho, mu)
        assert residual < 1e-8
        assert multiplier >= 0
        assert posterior.min() >= 0


@pytest.mark.parametrize("rho", [0.05, 1.0, 10.0])
def test_chi_square_ball_agrees_with_a_convex_solver(rho, rng):
    losses = rng.random(60)
    weights = cp.Variable(60, nonneg=True)
    ball = cp.sum_squares(weights * 60 - 1) / 60 <= rho
    cp.Problem(cp.Minimize(losses @ weights), [cp.sum(weights) == 1, ball]).solve(
        solver=cp.CLARABEL
    )
    np.testing.assert_allclose(divergence_ball_posterior(losses, rho), weights.value, atol=1e-5)


@pytest.mark.parametrize("mu", [1.5, 3.0])
def test_power_ball_agrees_with_a_convex_solver(mu, rng):
    losses = rng.random(30)
    weights = cp.Variable(30, nonneg=True)
    ball = cp.sum(cp.power(weights * 30, mu)) / 30 - 1 <= 0.7
    problem = cp.Problem(cp.Minimize(losses @ weights), [cp.sum(weights) == 1, ball])
    problem.solve(solver=cp.CLARABEL)
    posterior = divergence_ball_posterior(losses, 0.7, mu)
    assert losses @ posterior == pytest.approx(problem.value, abs=1e-6)
    np.testing.assert_allclose(posterior, weights.value, atol=1e-4)


@given(losses_of_any_kind, st.floats(1e-3, 50))
@settings(deadline=None)
def test_chi_square_ball_has_the_effective_size_of_its_radius(losses, rho):
    """While the ball binds, ESS = 1 / (rho / N + 1 / N)."""
    n = len(losses)
    posterior = divergence_ball_posterior(losses, rho)
    if power_divergence(posterior, 2.0) < rho - 1e-9:
        n_best = np.sum(losses == losses.min())
        assert _effective_sample_size(posterior) == pytest.approx(n_best)
    else:
        size = _effective_sample_size(posterior)
        assert size == pytest.approx(1 / (rho / n + 1 / n), rel=1e-9)


@given(losses_of_any_kind, st.floats(1e-3, 50), st.sampled_from(MUS), st.integers(-5, 5))
@settings(deadline=None)
def test_ball_posterior_is_invariant_to_shift_and_scale(losses, rho, mu, shift):
    posterior = divergence_ball_posterior(losses, rho, mu)
    moved = divergence_ball_posterior(4 * losses + shift, rho, mu)
    np.testing.assert_allclose(moved, posterior, atol=1e-7)
    assert power_divergence(posterior, mu) <= rho * (1 + 1e-9)


@given(losses_of_any_kind, st.floats(-7, 6.5), st.sampled_from(ALL_MUS))
@example(np.array([0.0, 1.0]), np.log(499 * np.log(1.8)), 500.0)
@settings(deadline=None)
def test_ball_posterior_is_optimal_and_in_its_ball_at_every_order(losses, log_radius, mu):
    """The radius is drawn as ln ln(1 + rho), because it grows like N^mu."""
    rho = float(np.expm1(np.exp(log_radius)))
    posterior = divergence_ball_posterior(losses, rho, mu)
    divergence = power_divergence(posterior, mu)
    assert divergence <= rho * (1 + 1e-9)
    assert posterior.min() >= 0
    if divergence < rho * (1 - 1e-9):
        is_best = losses == losses.min()
        np.testing.assert_allclose(posterior, is_best / is_best.sum())
    else:
        residual, multiplier = kkt_residual(posterior, losses, rho, mu)
        assert residual < 1e-8
        assert multiplier >= 0


def test_equal_losses_give_the_prior_at_every_order():
    for mu in ALL_MUS:
        for rho in (1e-300, 1.0):
            posterior = divergence_ball_posterior(np.full(7, 0.3), rho, mu)
            np.testing.assert_allclose(posterior, 1 / 7)


def test_very_large_orders_do_not_overflow(rng):
    posterior = divergence_ball_posterior(rng.random(20_000), rho=1e300, mu=200.0)
    assert posterior.sum() == pytest.approx(1)
    assert log_power_mean(posterior, 200.0) == pytest.approx(np.log(1e300), rel=1e-9)


@pytest.mark.parametrize("mu", MUS)
def test_larger_balls_have_smaller_losses(mu, rng):
    losses = rng.random(200)
    radii = np.array([0.01, 0.1, 0.5, 0.9]) * (200 ** (mu - 1) - 1)
    means = [losses @ divergence_ball_posterior(losses, rho, mu) for rho in radii]
    assert (np.diff(means) < 0).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: divergence_ball_posterior(np.arange(3.0), 0.0), "rho must be positive"),
        (lambda: divergence_ball_posterior(np.arange(3.0), 1.0, 1.0), "mu must be greater"),
        (lambda: kl_ball_posterior(np.arange(3.0), -1.0), "rho must be positive"),
        (lambda: inverse_temperature_of_size(np.arange(3.0), 0.5), "size must be at least 1"),
    ],
)
def test_bad_radii_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("rho", [1e-300, 1.5930679605938135e-17, 1e-14])
def test_a_ball_smaller_than_rounding_holds_the_prior(rho):
    for losses in (np.array([0, 2 / 3, 1 / 3]), np.linspace(0, 1, 20_000)):
        posterior = kl_ball_posterior(losses, rho)
        np.testing.assert_allclose(posterior, 1 / len(losses), rtol=1e-6)
