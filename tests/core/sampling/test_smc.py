from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp

from pacfourier.core import loops
from pacfourier.core.alignment.gradients import alignment_objective
from pacfourier.core.alignment.targets import target_of
from pacfourier.core.prefetch import ahead
from pacfourier.core.sampling import smc
from pacfourier.core.sampling.particles import (
    TemperedPosterior,
    _log_flow,
    langevin_move,
    langevin_noise,
    scale_move,
    scale_noise,
)
from pacfourier.core.sampling.smc import (
    _log_equal_weights,
    _next_climb,
    _resampled,
    _reweighted,
    _Schedule,
    _tempered_run,
    _uniform_log_weights,
    gibbs_run,
    pilot_schedule,
    systematic_indices,
)
from pacfourier.pacbayes.evidence import particle_log_prior
from pacfourier.spectra import RBF, Laplacian, Mixture

SCALES, WEIGHTS = np.array([0.7, 2.5]), np.array([0.4, 0.6])


@pytest.fixture(scope="module")
def target():
    """A posterior over d = 2 dimensions and two bandwidths; its potential is about 3 to 9."""
    rng = np.random.default_rng(5)
    y = np.resize([-1, 1], 40)
    X = rng.standard_normal((40, 2))
    X[:, 0] += y
    loss = alignment_objective(X, y, target_of(y), precision="double")
    return TemperedPosterior(loss, 18.0, SCALES, WEIGHTS)


@pytest.fixture(scope="module")
def quadrature(target):
    """Points (u, k) and their prior masses: the trapezium rule, exact for smooth functions."""
    axis, spacing = np.linspace(-6.5, 6.5, 131, retstep=True)
    normals = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    density = np.exp(-0.5 * np.sum(normals**2, axis=1)) / (2 * np.pi) * spacing**2
    points = [target.at(normals, np.full(len(normals), k)) for k in range(2)]
    potentials = np.concatenate([point.potentials for point in points])
    frequencies = np.concatenate([target.frequencies(point) for point in points])
    return potentials, frequencies, np.concatenate([w * density for w in WEIGHTS])


def exact_draws(target, power, size, rng):
    """Draws from the tempered target, by rejection of draws from the prior."""
    prior = target.draw(60 * size, 2, rng)
    log_chance = -power * (prior.potentials - prior.potentials.min())
    chosen = np.flatnonzero(np.log(rng.random(60 * size)) < log_chance)
    assert len(chosen) >= size
    return prior.take(chosen[:size])


def test_the_acceptance_is_that_of_the_densities(target, rng):
    """Target times proposal, from their definitions: log_flow is what is left of the ratio."""
    power, step = 0.6, 0.3
    start, end = (target.at(rng.standard_normal((20, 2)), np.resize([0, 1], 20)) for _ in "ab")

    def log_joint(u, v):
        mean = ((2 - step) * u.normals - 2 * step * power * u.gradients) / (2 + step)
        variance = 8 * step / (2 + step) ** 2
        log_proposal = -0.5 * np.sum((v.normals - mean) ** 2, axis=1) / variance
        return log_proposal - 0.5 * np.sum(u.normals**2, axis=1) - power * u.potentials

    expected = log_joint(end, start) - log_joint(start, end)
    found = _log_flow(start, end, power, step) - _log_flow(end, start, power, step)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


def test_proposals_are_those_of_the_formula(rng):
    u, g, xi = rng.standard_normal((3, 20, 7))
    power, step = 0.6, 0.3
    expected = ((2 - step) * u - 2 * step * power * g + np.sqrt(8 * step) * xi) / (2 + step)
    factors = (2 - step, -2 * step * power, np.sqrt(8 * step), 2 + step)
    loops.write_proposals(u, g, factors, xi)
    np.testing.assert_allclose(xi, expected, rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize("kind", ["langevin", "scale"])
def test_moves_leave_the_tempered_target_in_place(kind, target, rng):
    """Means over exact draws, before and after: paired, within 4.5 standard errors."""
    power = 0.7
    before = exact_draws(target, power, 20000, rng)
    if kind == "langevin":
        after, moved = langevin_move(target, before, power, 1.5, langevin_noise(rng, 20000, 2))
    else:
        after, moved = scale_move(target, before, power, scale_noise(rng, 20000, WEIGHTS))
    assert 0.2 < moved.mean() < 0.95

    def statistics(particles):
        u = particles.normals
        return np.column_stack(
            [particles.potentials, particles.components, u**2, np.abs(u), np.cos(2 * u)]
        )

    change = statistics(after) - statistics(before)
    errors = np.maximum(change.std(axis=0), 1e-12) / np.sqrt(len(change))
    assert (np.abs(change.mean(axis=0)) < 4.5 * errors).all()


def test_moved_particles_know_their_potential(target, rng):
    particles = target.draw(50, 2, rng)
    for _ in range(3):
        particles, _ = langevin_move(target, particles, 0.5, 0.4, langevin_noise(rng, 50, 2))
        particles, _ = scale_move(target, particles, 0.5, scale_noise(rng, 50, WEIGHTS))
    again = target.at(particles.normals, particles.components)
    np.testing.assert_allclose(particles.potentials, again.potentials, atol=1e-12)
    np.testing.assert_allclose(particles.gradients, again.gradients, atol=1e-12)


def test_runs_match_quadrature(target, quadrature, rng):
    """Unbiased evidence, posterior means and prior masses; radii of 4 standard errors.

    60 runs of 50 particles: the relative error of the mean evidence is a few per cent.
    """
    potentials, frequencies, masses = quadrature
    delta = np.array([1.0, -0.4])
    evidence = masses @ np.exp(-potentials)
    mean = masses @ (np.exp(-potentials) * np.cos(frequencies @ delta)) / evidence
    schedule = pilot_schedule(target, 20, 2, 6, 2, rng)
    ratios, means, prior_masses, prior_scales = [], [], [], []
    for _ in range(60):
        run = gibbs_run(target, schedule, 50, 2, 2, rng)
        weights = np.exp(run.log_weights)
        ratios.append(np.exp(run.log_evidence) / evidence)
        means.append(weights @ np.cos(target.frequencies(run.particles) @ delta))
        log_prior = particle_log_prior(run.log_weights, run.particles.potentials, run.log_evidence)
        prior_masses.append(np.exp(logsumexp(log_prior)))
        prior_scales.append(np.exp(log_prior) @ (run.particles.components == 1))

    def is_mean_of(value, draws):
        return abs(np.mean(draws) - value) < 4 * np.std(draws) / np.sqrt(len(draws))

    assert masses.sum() == pytest.approx(1, abs=1e-8)
    assert np.std(ratios) < 0.5
    assert is_mean_of(1.0, ratios)
    assert np.log(np.mean(ratios)) == pytest.approx(0, abs=0.15)
    # A ratio of estimates: its bias is of order 1 / 50, a fraction of the radius.
    assert is_mean_of(mean, means)
    assert np.mean(means) == pytest.approx(mean, abs=0.03)
    # The random measure of the certificate has the prior for its mean: mass 1, of which 0.6.
    assert is_mean_of(1.0, prior_masses)
    assert is_mean_of(WEIGHTS[1], prior_scales)


class Finite:
    """Particles on the points 0, 1, 2."""

    prior = np.array([0.5, 0.3, 0.2])
    table = np.array([8.0, 1.0, 0.0])

    def __init__(self, points):
        self.points = np.asarray(points)

    @property
    def potentials(self):
        return self.table[self.points]

    def take(self, indices):
        return Finite(self.points[indices])


def finite_kernel(power):
    """The Metropolis kernel with uniform proposals that leaves p exp(-power V) in place."""
    masses = Finite.prior * np.exp(-power * Finite.table)
    kernel = np.minimum(1, masses[np.newaxis] / masses[:, np.newaxis]) / 3
    np.fill_diagonal(kernel, 0)
    np.fill_diagonal(kernel, 1 - kernel.sum(axis=1))
    np.testing.assert_allclose(masses @ kernel, masses)
    return kernel


def offset_cells(weights):
    """Offsets that stand for all of [0, 1), and how long the interval of each is."""
    steps = np.arange(len(weights))
    ends = np.add.outer(len(weights) * np.cumsum(weights), -steps).ravel()
    ends = np.unique(np.concatenate([[0.0, 1.0], ends[(ends > 0) & (ends < 1)]]))
    return (ends[:-1] + ends[1:]) / 2, np.diff(ends)


@cache
def climbed(points, log_weights, climb):
    """All outcomes of a rung: chance, ratio of evidences, points and log-weights."""
    log_weights, log_ratio = _reweighted(np.array(log_weights), Finite(points).potentials, climb)
    outcomes = []
    for offset, chance in zip(*offset_cells(np.exp(log_weights)), strict=True):
        particles, weights = _resampled(Finite(points), log_weights, offset)
        outcomes.append((chance, log_ratio, particles.points, weights))
    return outcomes


def exact_means(first_power):
    """E_run[Z sum_k W_k 1(theta_k = point)] of three particles on two rungs, every path counted.

    ``first_power`` gives the first rung, as a function of the particles.
    """
    total, last = np.zeros(3), finite_kernel(1.0)
    for points in product(range(3), repeat=3):
        power = first_power(Finite(points))
        kernel = finite_kernel(power)
        prior = Finite.prior[list(points)].prod()
        for chance, ratio, middle, weights in climbed(points, (-np.log(3),) * 3, power):
            for moved in product(range(3), repeat=3):
                odds = prior * chance * kernel[middle, moved].prod()
                for share, more, end, ends in climbed(moved, tuple(weights), 1 - power):
                    # The last move is a matrix product: its expectation, exactly.
                    total += odds * share * np.exp(ratio + more) * (np.exp(ends) @ last[end])
    return total


def test_a_frozen_ladder_is_unbiased_exactly():
    climbed.cache_clear()
    truth = Finite.prior * np.exp(-Finite.table)
    np.testing.assert_allclose(exact_means(lambda _: 0.4), truth, rtol=1e-12)


def test_some_paths_of_the_exact_test_resample_and_some_do_not():
    log_weights = [
        _reweighted(_uniform_log_weights(3), Finite(points).potentials, 0.4)[0]
        for points in product(range(3), repeat=3)
    ]
    after = [_resampled(Finite(np.arange(3)), weights, 0.5)[1] for weights in log_weights]
    kept = [np.array_equal(*pair) for pair in zip(log_weights, after, strict=True)]
    assert 0 < sum(kept) < 27


def test_a_ladder_that_looks_at_its_particles_is_biased():
    climbed.cache_clear()
    truth = Finite.prior * np.exp(-Finite.table)
    adaptive = exact_means(lambda particles: _next_climb(particles.potentials, 0.9))
    assert np.abs(adaptive / truth - 1).max() > 0.01


@pytest.mark.parametrize("size", [1, 2, 7])
def test_systematic_draws_have_the_weights_for_their_mean(size, rng):
    weights = rng.dirichlet(np.ones(size))
    counts = sum(
        length * np.bincount(systematic_indices(weights, offset), minlength=size)
        for offset, length in zip(*offset_cells(weights), strict=True)
    )
    np.testing.assert_allclose(counts, size * weights, atol=1e-12)


def test_systematic_draws_stay_inside_for_weights_that_do_not_sum_to_one():
    chosen = systematic_indices(np.array([0.3, 0.7, 0.0]) * (1 - 1e-9), np.nextafter(1.0, 0.0))
    assert chosen.max() == 1


def test_without_a_ladder_the_particles_are_a_uniform_prior(target, rng):
    """One rung, few nats, no move: the certificate of a fixed pool of candidates."""
    mild = TemperedPosterior(target.loss, 0.5, SCALES, WEIGHTS)
    start = mild.draw(30, 2, rng)
    run = _tempered_run(start, np.ones(1), lambda particles, _: particles, iter([rng.random()]))
    log_prior = particle_log_prior(run[1], run[0].potentials, run[2])
    np.testing.assert_allclose(log_prior, -np.log(30), atol=1e-12)


def test_the_climb_leaves_half_of_the_particles(rng):
    potentials = 50 * rng.random(40)
    climb = _next_climb(potentials, 1.0)
    assert _log_equal_weights(-climb * potentials) == pytest.approx(np.log(20))
    assert _next_climb(0.01 * potentials, 0.7) == 0.7


@pytest.mark.parametrize("tau", [0.1, 18.0, 1e6])
@pytest.mark.parametrize("n_steps", [1, 2, 30])
def test_the_schedule_ends_at_one_in_as_many_steps_as_asked(n_steps, tau, target, rng):
    hot = TemperedPosterior(target.loss, tau, SCALES, WEIGHTS)
    schedule = pilot_schedule(hot, 20, 2, n_steps, 2, rng)
    assert schedule.powers.shape == schedule.steps.shape == (n_steps,)
    assert schedule.powers[-1] == 1.0
    assert (np.diff(schedule.powers, prepend=0.0) > 0).all()
    assert ((schedule.steps > 0) & (schedule.steps <= 2)).all()


def test_the_pilot_brings_the_acceptance_to_its_target(target, rng):
    """Where the potential is stiff the step must shrink; radius 0.2 for 20 noisy particles."""
    hot = TemperedPosterior(target.loss, 2000.0, SCALES, WEIGHTS)
    schedule = pilot_schedule(hot, 20, 2, 100, 5, rng)
    run = gibbs_run(hot, schedule, 200, 2, 5, rng)
    noise = langevin_noise(rng, 200, 2)
    _, moved = langevin_move(hot, run.particles, 1.0, float(schedule.steps[-1]), noise)
    assert moved.mean() == pytest.approx(0.574, abs=0.2)
    assert schedule.steps[-1] < 0.1


def test_a_run_moves_particles_between_bandwidths(target):
    """One rung that hardly tilts the prior: 0.48 of 200 have another bandwidth, if any asked."""
    mild = TemperedPosterior(target.loss, 0.01, SCALES, WEIGHTS)
    schedule = _Schedule(np.ones(1), np.array([0.3]))
    start = mild.draw(200, 2, np.random.default_rng(3))
    run = gibbs_run(mild, schedule, 200, 2, 1, np.random.default_rng(3))
    assert np.mean(run.particles.components != start.components) == pytest.approx(0.48, abs=0.15)
    assert (run.particles.normals != start.normals).any()


def test_a_run_reports_each_temperature(target, rng):
    lines = []
    schedule = _Schedule(np.array([0.5, 1.0]), np.array([0.3, 0.3]))
    gibbs_run(target, schedule, 10, 2, 1, rng, report=lines.append)
    assert [line.split(":")[0] for line in lines] == ["temperature 1/2", "temperature 2/2"]


def test_wide_particles_have_fewer_random_numbers_ahead(target, monkeypatch):
    depths, schedule = [], _Schedule(np.array([1.0]), np.array([0.2]))

    def recorded(items, depth):
        depths.append(depth)
        return ahead(items, depth)

    monkeypatch.setattr(smc, "ahead", recorded)
    for most in (10**6, 3 * 30 * 2, 1):
        monkeypatch.setattr(smc, "NUMBERS_AHEAD", most)
        gibbs_run(target, schedule, 30, 2, 3, np.random.default_rng(5))
    assert depths == [smc.NOISES_AHEAD, 3, 1]


def test_random_numbers_drawn_ahead_are_those_drawn_in_turn(target, monkeypatch):
    schedule = _Schedule(np.array([0.3, 1.0]), np.array([0.3, 0.2]))
    found, rngs = [], [np.random.default_rng(5), np.random.default_rng(5)]
    for rng in rngs:
        found.append(gibbs_run(target, schedule, 30, 2, 3, rng))
        monkeypatch.setattr(smc, "ahead", lambda items, **_: (item for item in items))
    np.testing.assert_array_equal(found[0].particles.normals, found[1].particles.normals)
    np.testing.assert_array_equal(found[0].log_weights, found[1].log_weights)
    assert rngs[0].bit_generator.state == rngs[1].bit_generator.state


def test_components_of_mixtures_and_what_has_none():
    nested = Mixture([RBF(0.5), Mixture([RBF(2.0), RBF(8.0)], [1, 3])], [1, 1])
    scales, weights = nested.gaussian_components()
    np.testing.assert_allclose(scales, [1, 2, 4])
    np.testing.assert_allclose(weights, [0.5, 0.125, 0.375])
    for spectrum in (Laplacian(1.0), Mixture([RBF(1.0), Laplacian(1.0)])):
        with pytest.raises(ValueError, match="kernel must be RBF or a mixture of RBFs, got Lap"):
            spectrum.gaussian_components()
