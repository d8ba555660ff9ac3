"""Every certificate inverts a moment; here each moment is summed over all samples, exactly."""

import math

import numpy as np
import pytest
from scipy import special

from pacfourier import bounds
from pacfourier.bounds.arguments import GridPoint
from pacfourier.bounds.bernstein import _unexpected_bernstein_fixed, bernstein_factor
from pacfourier.bounds.binary_kl import binary_kl, log_xi
from pacfourier.bounds.f_divergence import _log_moment, largest_variance
from pacfourier.bounds.first_order import _arc_margins, _Tilt

ROUNDING = 1e-10
SIZES = range(2, 7)
kl_rows = np.vectorize(binary_kl)


def off_diagonal(losses, sample):
    pairs = losses[:, sample[:, None], sample[None, :]]
    return pairs[:, ~np.eye(len(sample), dtype=bool)]


def hoeffding_exponent(loss, truth, m, t):
    return t * (truth - loss) - t**2 / (8 * m)


def kl_exponent(loss, truth, m):
    return m * kl_rows(np.clip(loss, 0, 1), np.clip(truth, 0, 1)) - log_xi(m)


def catoni_exponent(loss, truth, m, C):
    return -m * np.log((1 - truth) + truth * math.exp(-C)) - C * m * loss


def bernstein_exponent(mean, square, truth, m, eta, largest):
    """For a variable of given empirical mean and square, true mean, and largest value."""
    factor = bernstein_factor(eta * largest)
    return m * (-eta * mean - factor * eta**2 * square - np.log1p(-eta * truth))


def pair_exponents(losses, truth, m, rng):
    """The exponents of the bounds on a mean of losses: rows of ``losses`` are hypotheses."""
    mean, square = losses.mean(axis=1), ((losses - 0.5) ** 2).mean(axis=1)
    centre, share = rng.uniform(0, 0.5), rng.uniform(0.01, 0.98)
    return {
        "hoeffding": hoeffding_exponent(mean, truth, m, t=rng.uniform(0.1, 20)),
        "kl": kl_exponent(mean, truth, m),
        "catoni": catoni_exponent(mean, truth, m, C=rng.uniform(0.01, 5)),
        "bernstein": bernstein_exponent(
            mean - 0.5, square, truth - 0.5, m, eta=rng.uniform(0.01, 1.95), largest=0.5
        ),
        "bernstein, centred": bernstein_exponent(
            mean - centre,
            ((losses - centre) ** 2).mean(axis=1),
            truth - centre,
            m,
            eta=share / (1 - centre),
            largest=1 - centre,
        ),
    }


def expectation(law, n, exponents_of, seed):
    """Sum exp(exponent) over all the samples of n points and the uniform prior."""
    total: dict[str, float] = {}
    for probability, sample in law.samples(n):
        # The same constants for every sample: they may not depend on it.
        for name, exponent in exponents_of(sample, np.random.default_rng(seed)).items():
            total[name] = total.get(name, 0.0) + probability * float(np.exp(exponent).mean())
    return total


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_moments_of_pairs_are_at_most_one(finite_law, n, n_classes):
    rng = np.random.default_rng([n, n_classes])
    for seed in range(30):
        law = finite_law(rng, n_classes=n_classes)

        def exponents(sample, constants, law=law):
            losses = off_diagonal(law.pair_losses, sample)
            return pair_exponents(losses, law.truth, n // 2, constants)

        for name, moment in expectation(law, n, exponents, seed).items():
            assert moment <= 1 + ROUNDING, name


@pytest.mark.parametrize("n", SIZES)
def test_moments_of_the_two_sides_are_at_most_one(finite_law, n):
    rng = np.random.default_rng(n)
    for seed in range(20):
        law = finite_law(rng, n_classes=3)
        above = np.maximum(2 * law.pair_losses - 1, 0)
        below = np.maximum(1 - 2 * law.pair_losses, 0)

        def exponents(sample, _, law=law, sides=(above, below)):
            return {
                str(k): kl_exponent(
                    off_diagonal(side, sample).mean(axis=1), side @ law.masses @ law.masses, n // 2
                )
                for k, side in enumerate(sides)
            }

        for moment in expectation(law, n, exponents, seed).values():
            assert moment <= 1 + ROUNDING


@pytest.mark.parametrize("n", SIZES)
def test_moments_of_two_classes_are_at_most_one(finite_law, n):
    rng = np.random.default_rng(n)
    angles = np.linspace(0, 2 * np.pi, 7, endpoint=False)
    for seed in range(30):
        law = finite_law(rng)
        units, means = law.units, law.units @ law.masses

        def exponents(sample, constants, units=units, means=means):
            s, eta = constants.uniform(0.01, 0.49), constants.uniform(0.01, 0.95)
            centre, share = constants.uniform(0, 0.99), constants.uniform(0.01, 0.98)
            deviation = np.abs(units[:, sample].mean(axis=1) - means) ** 2
            turned = -np.real(units[:, sample, None] * np.exp(-1j * angles))
            truth = -np.real(means[:, None] * np.exp(-1j * angles))
            return {
                "norm": s * n * deviation + math.log1p(-2 * s),
                "first order": bernstein_exponent(
                    turned.mean(axis=1), (turned**2).mean(axis=1), truth, n, eta, largest=1.0
                ),
                "first order, centred": bernstein_exponent(
                    (centre + turned).mean(axis=1),
                    ((centre + turned) ** 2).mean(axis=1),
                    centre + truth,
                    n,
                    eta=share / (1 + centre),
                    largest=1 + centre,
                ),
            }

        for name, moment in expectation(law, n, exponents, seed).items():
            assert moment <= 1 + ROUNDING, name


@pytest.mark.parametrize("n", SIZES)
def test_moments_of_the_landmark_mixture_are_at_most_one(finite_law, n):
    rng = np.random.default_rng(n)
    for seed in range(20):
        law = finite_law(rng, n_classes=3)
        losses, means = law.pair_losses, law.pair_losses @ law.masses

        def exponents(sample, constants, losses=losses, means=means):
            # Hypothesis (i, w): the loss seen from point i, over the n - 1 others.
            others = [np.delete(sample, i) for i in range(n)]
            seen = np.concatenate([losses[:, sample[i], others[i]] for i in range(n)])
            truth = np.concatenate([means[:, sample[i]] for i in range(n)])
            return pair_exponents(seen, truth, n - 1, constants)

        for name, moment in expectation(law, n, exponents, seed).items():
            assert moment <= 1 + ROUNDING, name


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("mu", [1.1, 1.5, 1.99, 2.0, 3.0, 10.0])
def test_moment_of_the_conjugate_order(finite_law, n, n_classes, mu):
    rng = np.random.default_rng([n, n_classes])
    variance = largest_variance(n, binary=n_classes == 2)
    ceiling = math.exp(_log_moment(mu, variance=variance, n_terms=n // 2))
    for _ in range(5):
        law = finite_law(rng, n_classes=n_classes)
        moment = sum(
            probability * np.maximum(law.truth - off_diagonal(law.pair_losses, s).mean(axis=1), 0)
            ** (mu / (mu - 1))
            for probability, s in law.samples(n)
        )  # fmt: skip
        assert moment.max() <= ceiling * (1 + ROUNDING)


@pytest.mark.parametrize(
    ("n", "expected"), [(2, 0.25), (3, 1 / 9), (4, 0.075), (6, 0.0462963), (1000, 999 / 3_994_000)]
)
def test_largest_variance_of_two_classes_is_attained(n, expected):
    assert largest_variance(n, binary=True) == pytest.approx(expected, rel=1e-6)
    assert largest_variance(n, binary=True) <= 1 / (4 * (n - 1))
    bias = (1 + math.sqrt((n - 2) / (2 * n - 3))) / 2
    heads = np.arange(n + 1)
    weights = np.exp(
        special.gammaln(n + 1) - special.gammaln(heads + 1) - special.gammaln(n - heads + 1)
        + special.xlogy(heads, bias) + special.xlogy(n - heads, 1 - bias)
    )  # fmt: skip
    losses = 2 * heads * (n - heads) / (n * (n - 1))
    variance = weights @ losses**2 - (weights @ losses) ** 2
    assert variance == pytest.approx(largest_variance(n, binary=True), rel=1e-7)


def test_largest_variance_of_points():
    assert largest_variance(5, binary=True, pairs=False) == 1 / 20
    assert largest_variance(5, binary=False) == 1 / 8


@pytest.mark.parametrize("pairs", [True, False])
def test_fixed_bounds_invert_their_moments(pairs):
    """With a divergence equal to what the moment leaves, the bound is the truth itself."""
    rng = np.random.default_rng(0)
    n_checked = 0
    for _ in range(300):
        n, epsilon = int(rng.integers(2, 200)), rng.uniform(0.01, 0.9)
        m = n // 2 if pairs else n
        loss, truth = np.sort(rng.uniform(0, 1, size=2))
        square = rng.uniform((loss - 0.5) ** 2, 0.25)
        t, C, eta = rng.uniform(1, 50), rng.uniform(0.1, 3), rng.uniform(0.1, 1.5)
        centre, share = rng.uniform(0, 0.5), rng.uniform(0.1, 0.95)
        around_centre = square - (loss - 0.5) ** 2 + (loss - centre) ** 2
        case = {"loss": loss, "n_samples": n, "epsilon": epsilon, "pairs": pairs}
        for bound, constants, exponent in (
            (bounds.kl, {}, kl_exponent(loss, truth, m)),
            (
                bounds.hoeffding,
                {"inverse_temperature": t},
                hoeffding_exponent(loss, truth, m, t),
            ),
            (bounds.catoni, {"C": C}, catoni_exponent(loss, truth, m, C)),
            (
                _unexpected_bernstein_fixed,
                {"eta": eta, "second_moment": square},
                bernstein_exponent(loss - 0.5, square, truth - 0.5, m, eta, 0.5),
            ),
            (
                _unexpected_bernstein_fixed,
                {"eta": share / (1 - centre), "centre": centre, "second_moment": square},
                bernstein_exponent(
                    loss - centre,
                    around_centre,
                    truth - centre,
                    m,
                    share / (1 - centre),
                    1 - centre,
                ),
            ),
        ):
            divergence = float(exponent) + math.log(epsilon)
            if divergence >= 0:
                n_checked += 1
                value = bound(**case, **constants, divergence=divergence).value
                assert value == pytest.approx(truth, abs=1e-9)
    assert n_checked > 200


def test_first_order_inverts_its_moment(rng):
    """As above, for the posterior on an arc: means over the arc are sums over many phases."""
    n_checked = 0
    for _ in range(300):
        n, epsilon, arc = int(rng.integers(5, 200)), rng.uniform(0.01, 0.9), rng.uniform(0.05, 1.5)
        units = np.exp(1j * rng.normal(size=n) * rng.uniform(0.2, 2))
        units *= np.exp(-1j * np.angle(units.mean()))
        centre, share, weight = rng.uniform(0, 0.99), rng.uniform(0.1, 0.95), rng.uniform(0.01, 1)
        amplitude = units.mean().real
        truth = amplitude * rng.uniform(0, 1)
        phases = arc * (2 * np.arange(4000) + 1 - 4000) / 4000
        shrinkage = np.cos(phases).mean()
        turned = centre - np.real(units[:, None] * np.exp(1j * phases))
        exponent = bernstein_exponent(
            turned.mean(),
            (turned**2).mean(),
            centre - truth * shrinkage,
            n,
            share / (1 + centre),
            1 + centre,
        )
        divergence = float(exponent) - math.log(math.pi / arc) + math.log(weight * epsilon)
        if divergence >= 0:
            n_checked += 1
            tilted = _Tilt(amplitude, (units**2).mean().real, divergence, amplitude**2, 1.0)
            grid = (GridPoint(centre, share / (1 + centre), weight),)
            margin = _arc_margins(tilted, grid, np.asarray([arc]), n_samples=n, epsilon=epsilon)
            # The midpoint rule is off by less than arc^2 / 4000^2.
            assert margin.item() == pytest.approx(truth, abs=1e-5)
    assert n_checked > 50


def posteriors(prior, losses, truth):
    """Posteriors that a statistician, or an adversary who knows the truth, may choose."""
    corners = list(np.eye(len(prior)))
    tilts = [prior * np.exp(t * (truth - losses)) for t in (1.0, 5.0, 25.0)]
    gibbs = [prior * np.exp(-t * losses) for t in (0.0, 1.0, 5.0, 25.0)]
    return corners + [weights / weights.sum() for weights in tilts + gibbs]


def certificates(posterior, prior, stats, n, epsilon):
    """Every certificate of the alignment loss, of one posterior on one sample."""
    divergence = float(special.rel_entr(posterior, prior).sum())
    case = {"loss": posterior @ stats["loss"], "n_samples": n, "epsilon": epsilon}
    kl_case = case | {"divergence": divergence}
    grid = kl_case | {"n_hypotheses": len(prior)}
    moment = posterior @ stats["square"]
    chi2 = float(prior @ (posterior / prior) ** 2 - 1)
    values = {
        "hoeffding": bounds.hoeffding(**kl_case, inverse_temperature=3.0),
        "hoeffding_grid": bounds.hoeffding_grid(**grid),
        "hoeffding_peeling": bounds.hoeffding_peeling(**kl_case),
        "kl": bounds.kl(**kl_case),
        "catoni": bounds.catoni(**kl_case, C=2.0),
        "catoni_grid": bounds.catoni_grid(**grid),
        "unexpected_bernstein": bounds.unexpected_bernstein(**grid, second_moment=moment),
        "split_kl": bounds.split_kl(
            positive_moment=posterior @ stats["above"],
            negative_moment=posterior @ stats["below"],
            divergence=divergence,
            n_samples=n,
            epsilon=epsilon,
        ),
        "norm": bounds.norm(**kl_case, s=0.3),
        "first_order": bounds.first_order(
            posterior=posterior,
            prior=prior,
            amplitudes=stats["amplitude"],
            second_harmonics=stats["harmonic"],
            n_samples=n,
            epsilon=epsilon,
        ),
        "f_divergence": bounds.f_divergence(**case, power_divergence=chi2, mu=2.0, binary=True),
    }
    return {name: bound.value for name, bound in values.items()}


def statistics(law, sample):
    losses = off_diagonal(law.pair_losses, sample)
    means = law.units[:, sample].mean(axis=1)
    phases = law.frequencies @ law.points[sample].T
    return {
        "loss": losses.mean(axis=1),
        "square": ((losses - 0.5) ** 2).mean(axis=1),
        "above": np.maximum(losses - 0.5, 0).mean(axis=1),
        "below": np.maximum(0.5 - losses, 0).mean(axis=1),
        "amplitude": np.abs(means),
        "harmonic": np.cos(2 * (phases - np.angle(means)[:, None])).mean(axis=1),
    }


@pytest.mark.parametrize(("n", "epsilon"), [(2, 0.9), (3, 0.7), (4, 0.9), (5, 0.5), (6, 0.9)])
def test_certificates_fail_with_probability_at_most_epsilon(finite_law, n, epsilon):
    """Exact probability that some posterior of the list escapes, over all samples."""
    rng = np.random.default_rng(n)
    for _ in range(3):
        law = finite_law(rng)
        prior = rng.dirichlet(np.ones(3))
        failures: dict[str, float] = {}
        for probability, sample in law.samples(n):
            stats = statistics(law, sample)
            failed = {
                name
                for posterior in posteriors(prior, stats["loss"], law.truth)
                for name, value in certificates(posterior, prior, stats, n, epsilon).items()
                if value < posterior @ law.truth - ROUNDING
            }
            for name in failed:
                failures[name] = failures.get(name, 0.0) + probability
        assert max(failures.values(), default=0.0) <= epsilon, failures


@pytest.mark.parametrize("g", [0.5, 3.0, 20.0])
@pytest.mark.parametrize("n", [2, 4, 6])
def test_localised_fails_with_probability_at_most_epsilon(finite_law, n, g):
    rng = np.random.default_rng(n)
    for _ in range(4):
        law, failure = finite_law(rng, n_classes=3), 0.0
        for probability, sample in law.samples(n):
            losses = off_diagonal(law.pair_losses, sample).mean(axis=1)
            posterior = special.softmax(-g * losses)
            bound = bounds.localised(
                loss=posterior @ losses, n_samples=n, epsilon=0.9, inverse_temperature=g
            )
            failure += probability * (bound.value < posterior @ law.truth - ROUNDING)
        assert failure <= 0.9


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("n", [2, 5, 6])
def test_holdout_alignment_fails_with_probability_at_most_epsilon(finite_law, n, epsilon):
    rng = np.random.default_rng(n)
    for _ in range(10):
        law = finite_law(rng, n_classes=3)
        failure = np.zeros(3)
        for probability, sample in law.samples(n):
            losses = off_diagonal(law.pair_losses, sample).mean(axis=1)
            values = [
                bounds.holdout_alignment(loss=loss, n_samples=n, epsilon=epsilon).value
                for loss in losses
            ]
            failure += probability * (values < law.truth - ROUNDING)
        assert failure.max() <= epsilon


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("n", [1, 7, 40])
def test_holdout_fails_with_probability_at_most_epsilon(n, epsilon):
    values = np.asarray(
        [bounds.holdout(n_errors=k, n_samples=n, epsilon=epsilon).value for k in range(n + 1)]
    )
    assert values[-1] == 1.0
    assert (np.diff(values) > 0).all()
    for risk in np.concatenate([np.linspace(0.01, 0.99, 50), values[:-1] - 1e-9]):
        errors = np.arange(n + 1)
        weights = special.binom(n, errors) * risk**errors * (1 - risk) ** (n - errors)
        failure = weights[values < risk].sum()
        assert failure <= epsilon + ROUNDING
    # One point above a value, k errors no longer exceed epsilon: the supremum is exact.
    assert special.bdtr(0, n, values[0]) == pytest.approx(epsilon, rel=1e-9)


def test_the_divergence_of_a_localised_posterior_of_rounded_losses(rng):
    """The step of the proof that rounding enters: 2 g r more, for losses r away."""
    g, r = 50.0, 0.01
    for _ in range(100):
        truth, empirical = rng.uniform(0, 1, (2, 30))
        rounded = empirical + rng.choice([-r, r], 30)
        posterior, prior = (
            np.exp(-g * losses) / np.exp(-g * losses).sum() for losses in (rounded, truth)
        )
        divergence = posterior @ np.log(posterior / prior)
        gap = truth - empirical
        assert divergence <= g * (posterior @ gap - prior @ gap) + 2 * g * r + 1e-9


def test_a_localised_bound_of_rounded_losses_solves_its_inequality():
    arguments = {"loss": 0.3, "n_samples": 500, "epsilon": 0.05, "inverse_temperature": 20.0}
    exact = bounds.localised(**arguments)
    bound = bounds.localised(**arguments, rounding=0.001)
    m = 250
    c, nats = 20 / np.sqrt(2 * m), bounds.log_xi(m) + np.log(20)
    x = np.sqrt(m * bound.divergence_term)
    assert x**2 - nats == pytest.approx(c * x + c * np.sqrt(nats) + 2 * 20 * 0.001)
    assert np.sqrt(m * exact.divergence_term) == pytest.approx(c + np.sqrt(nats))
    assert bound.value > exact.value
