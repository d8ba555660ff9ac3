"""Bounds at any number of rows: exact probabilities that they ever fail, for the worst stop."""

import math
from collections import Counter

import numpy as np
import pytest
from scipy import special

from pacfourier import bounds
from pacfourier.bounds.anytime import _last_size, _share_of, _stream_grid
from pacfourier.bounds.bernstein import bernstein_factor

LAST = 400


def chance_of_ever(fails, heads, last, first=1):
    """Return the exact probability that a coin reaches a state that fails, at any of the sizes.

    ``fails(n)`` says for 0, ..., n heads whether the state fails. A stream that failed is not
    followed any further, so this is the chance of whoever stops at the first failure.
    """
    alive, failed = np.ones(1), 0.0
    for n in range(1, last + 1):
        alive = heads * np.append(0, alive) + (1 - heads) * np.append(alive, 0)
        if n >= first:
            is_failure = fails(n)
            failed += alive[is_failure].sum()
            alive[is_failure] = 0
    return failed


def point_exponents(n, heads, eta):
    """The exponent of one label of a coin as a function of the heads: X = -y, at most one."""
    mean = 1 - 2 * np.arange(n + 1) / n
    drift = math.log1p(-eta * (1 - 2 * heads))
    return n * (-eta * mean - bernstein_factor(eta) * eta**2 - drift)


def pair_exponents(n, heads, eta, n_terms):
    """The exponent of a pair of labels of a coin: X = 1{y != y'} - 1/2, whose square is 1/4."""
    k = np.arange(n + 1)
    mean = 2 * k * (n - k) / (n * (n - 1)) - 0.5
    drift = math.log1p(-eta * (2 * heads * (1 - heads) - 0.5))
    return n_terms * (-eta * mean - bernstein_factor(eta / 2) * eta**2 / 4 - drift)


@pytest.mark.parametrize("epsilon", [0.05, 0.3])
@pytest.mark.parametrize("heads", [0.5, 0.7, 0.95])
def test_a_rate_that_does_not_know_n_never_fails_too_often(heads, epsilon):
    for eta in (0.02, 0.1, 0.5):
        chance = chance_of_ever(
            lambda n, eta=eta: point_exponents(n, heads, eta) >= -math.log(epsilon), heads, LAST
        )
        assert chance <= epsilon


def test_the_best_rate_of_every_n_fails_too_often():
    """The reason for the price: rates that follow n are refuted by the same computation."""

    def fails(n):
        eta = min(math.sqrt(-2 * math.log(0.3) / n), 0.5)
        return point_exponents(n, 0.5, eta) >= -math.log(0.3)

    assert chance_of_ever(fails, 0.5, 4 * LAST) > 0.3


@pytest.mark.parametrize("epsilon", [0.05, 0.3])
@pytest.mark.parametrize("heads", [0.5, 0.7, 0.95])
@pytest.mark.parametrize("size", [2, 7, 40])
def test_means_over_pairs_never_fail_too_often_after_a_size(size, heads, epsilon):
    for eta in (0.1, 0.5, 1.5):
        chance = chance_of_ever(
            lambda n, eta=eta: pair_exponents(n, heads, eta, size // 2) >= -math.log(epsilon),
            heads,
            LAST,
            first=size,
        )
        assert chance <= epsilon


def test_shares_and_grids_are_fixed_before_the_first_row():
    assert sum(_share_of(j) for j in range(10_000)) == pytest.approx(1 - 1 / 10_001)
    last = _stream_grid(10**7)
    assert sum(point.weight for point in last) < 1
    for n in (2, 100, 10_000):
        grid = _stream_grid(n)
        assert set(grid) < set(last)
        assert min(point.eta for point in grid) < max(0.3, 2 / math.sqrt(n))
        assert all(point.eta * (1 + point.centre) < 1 for point in grid)


def test_sizes_are_reached_and_grow():
    found = [_last_size(n) for n in range(2, 3000)]
    assert all(n / 1.6 <= size <= n for n, (size, _) in enumerate(found, start=2))
    shares = Counter(found)
    assert sum(share for _, share in shares) <= 1
    assert len({share for _, share in shares}) == len(shares)


def streams(law, last):
    """Yield for every n the samples of a law up to their order, as counts of its types."""
    for n in range(2, last + 1):
        yield n, {tuple(np.bincount(s, minlength=len(law.masses))): s for _, s in law.samples(n)}


def worst_stop(law, last, fails):
    """Return the exact probability that ``fails(sample)`` is ever true, n = 2, ..., last."""
    n_types = len(law.masses)
    alive = {tuple(np.eye(n_types, dtype=int)[k]): law.masses[k] for k in range(n_types)}
    failed = 0.0
    for _, samples in streams(law, last):
        reached: Counter = Counter()
        for counts, probability in alive.items():
            for k in range(n_types):
                more = tuple(np.asarray(counts) + np.eye(n_types, dtype=int)[k])
                reached[more] += probability * law.masses[k]
        lost = {counts for counts in reached if fails(samples[counts])}
        failed += sum(reached[counts] for counts in lost)
        alive = {counts: p for counts, p in reached.items() if counts not in lost}
    return failed


def values(law, sample, posterior, prior, epsilon):
    """Return both bounds of a posterior, from the definitions of what they take."""
    n = len(sample)
    pairs = law.pair_losses[:, sample[:, None], sample[None, :]][:, ~np.eye(n, dtype=bool)]
    means = law.units[:, sample].mean(axis=1)
    phases = law.frequencies @ law.points[sample].T - np.angle(means)[:, None]
    return (
        bounds.anytime_bernstein(
            loss=posterior @ pairs.mean(axis=1),
            second_moment=posterior @ ((pairs - 0.5) ** 2).mean(axis=1),
            divergence=float(special.rel_entr(posterior, prior).sum()),
            n_samples=n,
            n_hypotheses=len(prior),
            epsilon=epsilon,
        ).value,
        bounds.anytime_first_order(
            posterior=posterior,
            log_prior=np.log(prior),
            amplitudes=np.abs(means),
            second_harmonics=np.cos(2 * phases).mean(axis=1),
            n_samples=n,
            epsilon=epsilon,
        ).value,
    )


@pytest.mark.parametrize("epsilon", [0.2, 0.9])
def test_no_posterior_escapes_whoever_stops_at_the_first_failure(finite_law, epsilon):
    """Exactly, over all streams of 8 rows, for posteriors of an adversary who knows the truth."""
    rng = np.random.default_rng(4)
    for _ in range(3):
        law, prior = finite_law(rng), rng.dirichlet(np.ones(3))

        def fails(sample, law=law, prior=prior):
            losses = law.pair_losses[:, sample[:, None], sample[None, :]].mean(axis=(1, 2))
            tilted = prior * np.exp(9 * (law.truth - losses))
            return any(
                value < posterior @ law.truth - 1e-9
                for posterior in (*np.eye(3), tilted / tilted.sum())
                for value in values(law, sample, posterior, prior, epsilon)
            )

        assert worst_stop(law, 8, fails) <= epsilon


LAWS = {
    "rare errors": (0.98, lambda rng, n: np.where(rng.random(n) < 0.98, 1.0, -1.0)),
    "noise": (0.5, lambda rng, n: rng.choice([-1.0, 1.0], n)),
    "uneven": (0.8, lambda rng, n: np.where(rng.random(n) < 0.8, 1.0, -1.0)),
}


@pytest.mark.parametrize("name", LAWS)
def test_coverage_at_the_worst_of_many_looks(name):
    """At epsilon = 0.2 and 40 streams, with a look after every 10 of 200 rows."""
    heads, draw = LAWS[name]
    rng, truth, looks = np.random.default_rng(0), 2 * heads * (1 - heads), range(10, 201, 10)
    failures = 0
    for _ in range(40):
        sums = np.cumsum(draw(rng, 200))
        first_order = (
            bounds.anytime_first_order(
                posterior=[1.0],
                log_prior=[0.0],
                amplitudes=[abs(sums[n - 1]) / n],
                second_harmonics=[1.0],
                n_samples=n,
                epsilon=0.2,
            ).value
            for n in looks
        )
        failures += min(first_order) < truth - 1e-9
    assert failures <= 0.2 * 40


def test_pairs_are_certified_as_if_the_sample_had_stopped_growing():
    case = {"loss": 0.3, "divergence": 3, "second_moment": 0.145, "n_hypotheses": 200}
    size, share = _last_size(1000)
    found = bounds.anytime_bernstein(**case, n_samples=1000, epsilon=0.05)
    same = bounds.unexpected_bernstein(**case, n_samples=size, epsilon=0.05 * share)
    assert found.value == same.value == pytest.approx(0.39966, abs=1e-5)
    assert (found.parameters["size"], found.parameters["share"]) == (size, share)
    assert "at any number of rows" in found.theorem


def test_first_order_is_its_naive_twin(rng):
    """The best of all points and a few arcs, written out for one hypothesis."""
    units = np.exp(1j * rng.normal(0, 0.6, 500))
    units *= np.exp(-1j * np.angle(units.mean()))
    amplitude, harmonic = units.mean().real, (units**2).mean().real
    best = 0.0
    for centre in (0.0, 0.3, 0.6, 0.9):
        for k in range(12):
            eta, u = 0.9 / 1.5**k / (1 + centre), 0.9 / 1.5**k
            share = (1 / 2 if centre == 0 else 1 / 6) / ((k + 1) * (k + 2))
            factor = (-math.log(1 - u) - u) / u**2
            for arc in np.geomspace(0.01, 1.5, 300):
                shrunk = amplitude * math.sin(arc) / arc
                square = (1 + harmonic * math.sin(2 * arc) / (2 * arc)) / 2
                square += centre**2 - 2 * centre * shrunk
                price = (math.log(math.pi / arc) - math.log(0.05 * share)) / 500
                exponent = eta * (centre - shrunk) + factor * eta**2 * square + price
                rho = (centre - (1 - math.exp(-exponent)) / eta) * arc / math.sin(arc)
                best = max(best, rho)
    value = bounds.anytime_first_order(
        posterior=[1.0],
        log_prior=[0.0],
        amplitudes=[amplitude],
        second_harmonics=[harmonic],
        n_samples=500,
        epsilon=0.05,
    ).value
    assert value == pytest.approx((1 - best**2) / 2, abs=1e-4)


def test_small_samples_are_refused():
    case = {"loss": 0.3, "divergence": 0, "second_moment": 0.2, "n_hypotheses": 1, "epsilon": 0.1}
    with pytest.raises(ValueError, match="n_samples must be an integer of at least 2"):
        bounds.anytime_bernstein(n_samples=1, **case)
