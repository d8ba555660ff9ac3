"""Monte-Carlo coverage against closed-form truth, posteriors chosen after seeing the sample.

Each certificate is asked at epsilon = 0.05 over N_TRIALS samples; a trial fails as soon as one of
the posteriors escapes. A rate passes when its Clopper-Pearson upper limit, at confidence
1 - 1e-6, is below epsilon, and is refuted when the lower limit is above it.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from scipy import special

from pacfourier import bounds
from pacfourier.bounds import printed

EPSILON, DOUBT, N_TRIALS, TOLERANCE = 0.05, 1e-6, 700, 1e-9
N_SAMPLES, N_HYPOTHESES = 200, 20


def upper_limit(failures, n_trials):
    return 1.0 if failures == n_trials else special.betaincinv(
        failures + 1, n_trials - failures, 1 - DOUBT
    )  # fmt: skip


def lower_limit(failures, n_trials):
    return 0.0 if failures == 0 else special.betaincinv(failures, n_trials - failures + 1, DOUBT)


def assert_covered(failures, n_trials=N_TRIALS, epsilon=EPSILON):
    """Refuse a certificate whose failure rate is not below epsilon, at the stated confidence."""
    for name, count in failures.items():
        assert upper_limit(count, n_trials) < epsilon, (name, count)


@dataclass(frozen=True)
class Mixture:
    """Gaussian classes in the plane: x given y is N(centre_y, scale^2 I)."""

    centres: np.ndarray
    masses: np.ndarray
    scale: float

    def sample(self, rng, n):
        labels = rng.choice(len(self.masses), size=n, p=self.masses)
        return self.centres[labels] + self.scale * rng.normal(size=(n, 2)), labels

    def class_means(self, frequencies):
        """Mass times characteristic function of each class: (n_hypotheses, n_classes)."""
        decay = np.exp(-0.5 * self.scale**2 * (frequencies**2).sum(axis=1))
        return self.masses * np.exp(1j * frequencies @ self.centres.T) * decay[:, None]

    def truth(self, frequencies):
        """True alignment loss: sum over classes of the squared means, same less different."""
        means = self.class_means(frequencies)
        same = 2 * (np.abs(means) ** 2).sum(axis=1) - np.abs(means.sum(axis=1)) ** 2
        return (1 - same) / 2


SIGNAL = Mixture(np.asarray([[0.8, 0.3], [-0.8, -0.3]]), np.asarray([0.6, 0.4]), 0.8)
NOISE = Mixture(np.zeros((2, 2)), np.asarray([0.5, 0.5]), 1.0)
# Inputs all but constant, and the bias of largest variance: the hardest law for a variance bound.
COIN = Mixture(np.zeros((2, 2)), np.asarray([0.5 + 8**-0.5, 0.5 - 8**-0.5]), 1e-3)
FOUR = Mixture(np.asarray([[1, 1], [1, -1], [-1, 1], [-1, -1]]), np.full(4, 0.25), 0.5)
# Small losses: one class is rare, and a sample may miss it; or the classes lie far apart.
RARE = Mixture(np.zeros((2, 2)), np.asarray([0.985, 0.015]), 1e-3)
APART = Mixture(np.asarray([[np.pi / 2, 0], [-np.pi / 2, 0]]), np.asarray([0.5, 0.5]), 0.2)
BINARY = {"signal": SIGNAL, "noise": NOISE, "coin": COIN}
SMALL = {"rare": RARE, "apart": APART}


@dataclass(frozen=True)
class Summary:
    """Empirical losses, second moments, amplitudes and second harmonics, a hypothesis each."""

    losses: np.ndarray
    second_moments: np.ndarray
    amplitudes: np.ndarray
    harmonics: np.ndarray


def summary(points, labels, frequencies):
    """Statistics of a sample, by sums of unit vectors (the pairs are summed in other tests)."""
    n = len(points)
    waves = np.exp(1j * points @ frequencies.T)
    classes = np.stack([waves[labels == y].sum(axis=0) for y in range(labels.max() + 1)])
    squares = 2 * (np.abs(classes) ** 2).sum(axis=0) - np.abs(waves.sum(axis=0)) ** 2
    double = (waves**2).sum(axis=0)
    signs = 2.0 * (labels == 0) - 1.0
    means = (signs[:, None] * waves).mean(axis=0)
    return Summary(
        losses=(1 - (squares - n) / (n * (n - 1))) / 2,
        second_moments=(1 + (np.abs(double) ** 2 - n) / (n * (n - 1))) / 8,
        amplitudes=np.abs(means),
        harmonics=np.real(double / n * np.exp(-2j * np.angle(means))),
    )


def posteriors(stats, prior, truth):
    """Prior, Gibbs, the best frequency, one chosen by its bound, and an omniscient adversary."""
    root = np.sqrt(N_SAMPLES)
    gibbs = [special.softmax(-beta * root * stats.losses) for beta in (1.0, 5.0)]
    best = np.eye(len(prior))[stats.losses.argmin()]
    chosen = min(
        (special.softmax(-beta * root * stats.losses) for beta in np.geomspace(0.1, 30.0, 8)),
        key=lambda posterior: any_class(posterior, prior, stats)["bernstein"].value,
    )
    adversary = special.softmax(10 * root * (truth - stats.losses))
    return [prior, *gibbs, best, chosen, adversary]


def any_class(posterior, prior, stats, epsilon=EPSILON):
    """The certificates of any number of classes."""
    divergence = special.rel_entr(posterior, prior).sum()
    case = {"loss": posterior @ stats.losses, "n_samples": N_SAMPLES, "epsilon": epsilon}
    grid = case | {"divergence": divergence, "n_hypotheses": len(prior)}
    chi2 = prior @ (posterior / prior) ** 2 - 1
    return {
        "hoeffding": bounds.hoeffding(**case, divergence=divergence, inverse_temperature=50.0),
        "catoni": bounds.catoni(**case, divergence=divergence, C=0.8),
        "kl": bounds.kl(**case, divergence=divergence),
        "peeling": bounds.hoeffding_peeling(**case, divergence=divergence),
        "hoeffding_grid": bounds.hoeffding_grid(**grid),
        "catoni_grid": bounds.catoni_grid(**grid),
        "bernstein": bounds.unexpected_bernstein(
            **grid, second_moment=posterior @ stats.second_moments
        ),
        "chi2": bounds.f_divergence(**case, power_divergence=chi2, mu=2.0, binary=False),
    }


def two_classes(posterior, prior, stats, epsilon=EPSILON):
    """The certificates of two declared classes, and those of any number."""
    divergence = special.rel_entr(posterior, prior).sum()
    case = {"loss": posterior @ stats.losses, "n_samples": N_SAMPLES, "epsilon": epsilon}
    chi2 = prior @ (posterior / prior) ** 2 - 1
    return any_class(posterior, prior, stats, epsilon) | {
        "norm": bounds.norm(**case, divergence=divergence),
        "chi2 binary": bounds.f_divergence(**case, power_divergence=chi2, mu=2.0, binary=True),
        "first_order": bounds.first_order(
            posterior=posterior,
            prior=prior,
            amplitudes=stats.amplitudes,
            second_harmonics=stats.harmonics,
            n_samples=N_SAMPLES,
            epsilon=epsilon,
        ),
    }


def printed_theorem4(posterior, prior, stats):
    divergence = prior @ (posterior / prior) ** 10 - 1
    case = {"loss": posterior @ stats.losses, "n_samples": N_SAMPLES, "epsilon": EPSILON}
    return {"theorem 4": printed.theorem4(**case, divergence=divergence, mu=10.0)}


def failures(law, certificates, *, seed):
    """Count, for each certificate, the samples on which some posterior escapes it."""
    rng = np.random.default_rng(seed)
    frequencies = rng.normal(size=(N_HYPOTHESES, 2))
    prior, truth = np.full(N_HYPOTHESES, 1 / N_HYPOTHESES), law.truth(frequencies)
    count: dict[str, int] = {}
    for _ in range(N_TRIALS):
        stats = summary(*law.sample(rng, N_SAMPLES), frequencies)
        escaped: dict[str, bool] = {}
        for posterior in posteriors(stats, prior, truth):
            for name, bound in certificates(posterior, prior, stats).items():
                below = bound.value < posterior @ truth - TOLERANCE
                escaped[name] = escaped.get(name, False) or bool(below)
        for name, failed in escaped.items():
            count[name] = count.get(name, 0) + failed
    return count


@pytest.mark.parametrize("name", BINARY)
def test_certificates_of_two_classes_cover(name):
    assert_covered(failures(BINARY[name], two_classes, seed=1))


def test_certificates_of_four_classes_cover():
    assert_covered(failures(FOUR, any_class, seed=2))


@pytest.mark.parametrize("name", BINARY | SMALL)
def test_centred_certificates_cover_at_a_large_epsilon(name):
    """Frequencies near the one that tells the classes apart, so that small losses are seen too."""
    law, rng, epsilon, n_trials = (BINARY | SMALL)[name], np.random.default_rng(7), 0.2, 300
    frequencies = rng.normal([1.0, 0.0], 0.1, size=(N_HYPOTHESES, 2))
    prior, truth = np.full(N_HYPOTHESES, 1 / N_HYPOTHESES), law.truth(frequencies)
    count, centres = {"bernstein": 0, "first_order": 0}, set()
    for _ in range(n_trials):
        stats = summary(*law.sample(rng, N_SAMPLES), frequencies)
        escaped = set()
        for posterior in posteriors(stats, prior, truth):
            found = two_classes(posterior, prior, stats, epsilon)
            centres |= {(key, found[key].parameters["centre"]) for key in count}
            escaped |= {key for key in count if found[key].value < posterior @ truth - TOLERANCE}
        for key in escaped:
            count[key] += 1
    assert_covered(count, n_trials, epsilon)
    # The centres for small losses are at work where they should be.
    assert (("bernstein", 0.0) in centres) == (name in SMALL)
    assert (("first_order", 0.9) in centres) == (name != "noise")


@pytest.mark.parametrize("name", BINARY)
def test_localised_and_holdout_cover(name):
    """One Gibbs posterior: certified by its own sample, then by a second one."""
    rng, law, g = np.random.default_rng(6), BINARY[name], np.sqrt(N_SAMPLES)
    frequencies = rng.normal(size=(N_HYPOTHESES, 2))
    truth, count = law.truth(frequencies), {"localised": 0, "hold-out": 0}
    for _ in range(N_TRIALS):
        first, second = (summary(*law.sample(rng, N_SAMPLES), frequencies) for _ in range(2))
        posterior = special.softmax(-g * first.losses)
        case = {"n_samples": N_SAMPLES, "epsilon": EPSILON}
        own = bounds.localised(loss=posterior @ first.losses, inverse_temperature=g, **case)
        other = bounds.holdout_alignment(loss=posterior @ second.losses, **case)
        count["localised"] += own.value < posterior @ truth - TOLERANCE
        count["hold-out"] += other.value < posterior @ truth - TOLERANCE
    assert_covered(count)


def test_harness_refutes_the_printed_theorem4():
    count = failures(COIN, printed_theorem4, seed=3)
    assert lower_limit(count["theorem 4"], N_TRIALS) > EPSILON
    with pytest.raises(AssertionError):
        assert_covered(count)


def test_truth_is_what_the_losses_estimate():
    """Unbiasedness, at ten standard errors: the truth of the harness is the right one."""
    rng = np.random.default_rng(0)
    frequencies = rng.normal(size=(5, 2))
    for law in (SIGNAL, COIN, FOUR):
        losses = np.asarray(
            [summary(*law.sample(rng, 50), frequencies).losses for _ in range(2000)]
        )
        error = losses.std(axis=0) / np.sqrt(len(losses))
        assert (np.abs(losses.mean(axis=0) - law.truth(frequencies)) < 10 * error + 1e-9).all()


def test_summary_is_its_naive_twin():
    rng = np.random.default_rng(0)
    frequencies = rng.normal(size=(4, 2))
    for law in (SIGNAL, FOUR):
        points, labels = law.sample(rng, 9)
        stats = summary(points, labels, frequencies)
        for h, frequency in enumerate(frequencies):
            losses = [
                (1 - (1 if labels[i] == labels[j] else -1) * np.cos(frequency @ (x - z))) / 2
                for i, x in enumerate(points)
                for j, z in enumerate(points)
                if i != j
            ]
            assert stats.losses[h] == pytest.approx(np.mean(losses))
            assert stats.second_moments[h] == pytest.approx(
                np.var(losses) + (np.mean(losses) - 0.5) ** 2
            )


def landmark_summary(law, points, labels, frequencies):
    """Losses and second moments seen from each point, over the others, and their truth."""
    n = len(points)
    waves = np.exp(1j * points @ frequencies.T)
    signs = 1.0 - 2.0 * labels
    units = signs[:, None] * waves
    seen = np.real(units * np.conj(units.sum(axis=0) - units)) / (n - 1)
    squares = np.real(waves**2 * np.conj((waves**2).sum(axis=0) - waves**2)) / (n - 1)
    means = law.class_means(frequencies) @ np.asarray([1.0, -1.0])
    return (1 - seen) / 2, (1 + squares) / 8, (1 - np.real(units * np.conj(means))) / 2


@pytest.mark.parametrize("name", BINARY | SMALL)
def test_landmark_mixture_covers_an_adaptive_choice(name):
    """Landmarks, weights and posteriors chosen by an adversary who knows the truth."""
    law, n, n_landmarks = (BINARY | SMALL)[name], 60, 3
    rng = np.random.default_rng(4)
    frequencies = rng.normal(size=(N_HYPOTHESES, 2))
    count = {"kl": 0, "bernstein": 0}
    for _ in range(N_TRIALS):
        losses, moments, truth = landmark_summary(law, *law.sample(rng, n), frequencies)
        posterior = special.softmax(10 * (truth - losses), axis=1)
        divergences = special.rel_entr(posterior, 1 / N_HYPOTHESES).sum(axis=1)
        gap = ((truth - losses) * posterior).sum(axis=1)
        chosen = np.argsort(gap)[-n_landmarks:]
        weights = special.softmax(20 * gap[chosen])
        moment = weights @ (moments * posterior).sum(axis=1)[chosen]
        target = weights @ (truth * posterior).sum(axis=1)[chosen]
        bernstein = partial(
            bounds.unexpected_bernstein, second_moment=moment, n_hypotheses=N_HYPOTHESES
        )
        for key, bound in (("kl", bounds.kl), ("bernstein", bernstein)):
            certificate = bounds.landmark_mixture(
                weights=weights,
                losses=(losses * posterior).sum(axis=1)[chosen],
                divergences=divergences[chosen],
                n_train=n,
                epsilon=EPSILON,
                bound=bound,
            )
            count[key] += certificate.value < target - TOLERANCE
    assert_covered(count)


def test_gaussian_linear_covers():
    """A finite law of features and noisy labels, weights learned on the same points."""
    rng = np.random.default_rng(5)
    angles = rng.uniform(0, 2 * np.pi, size=8)
    units, noise = np.stack([np.cos(angles), np.sin(angles)], axis=1), rng.uniform(0.1, 0.9, 8)
    features = units * np.geomspace(0.01, 1700, 8)[:, None]
    count = {"gibbs": 0, "draw": 0}
    for _ in range(3000):
        types = rng.integers(8, size=30)
        y = np.where(rng.uniform(size=30) < noise[types], 1.0, -1.0)
        w = 4.0 * (y[:, None] * units[types]).mean(axis=0)
        draw = w + rng.normal(size=2)
        case = {"w": w, "prior_mean": np.zeros(2), "epsilon": EPSILON}
        case |= {"features": features[types], "labels": y}
        gibbs = bounds.gaussian_linear(**case)
        single = bounds.gaussian_linear_draw(draw=draw, **case)
        wrong = special.ndtr(-units @ w)
        true_gibbs = np.mean(noise * wrong + (1 - noise) * (1 - wrong))
        true_draw = np.mean(np.where(units @ draw > 0, 1 - noise, noise))
        count["gibbs"] += gibbs.value < true_gibbs - TOLERANCE
        count["draw"] += single.value < true_draw - TOLERANCE
    assert_covered(count, 3000)
