"""A kernel, a kind of label, a posterior and a bound that the package does not know.

Each is one object, defined here, and goes through estimators, landmarks, tensors, Dask, batches
and certificates.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import clone

from pacfourier import (
    OKRFF,
    PBRFF,
    RFF,
    BoostedRFF,
    GibbsRFF,
    PBLandmarks,
    RBFLandmarks,
    alignment_losses,
    fit_batches,
)
from pacfourier.arrays import namespace
from pacfourier.bounds import Bound, BoundRecord
from pacfourier.core.alignment.targets import Outputs
from pacfourier.estimators.learned_map import LearnedFourierMap
from pacfourier.pacbayes.posteriors import Posterior
from pacfourier.spectra import Spectrum


@dataclass(frozen=True)
class TwoWidths(Spectrum):
    """The mean of a Gaussian kernel and of one that is half as wide."""

    gamma: float = 1.0
    name = "two_widths"

    def profile(self, distances):
        xp = namespace(distances)
        return (xp.exp(-self.gamma * distances) + xp.exp(-4 * self.gamma * distances)) / 2

    def scales(self, rng, size, n_features):
        del n_features
        return np.sqrt(2 * self.gamma) * rng.choice([1.0, 2.0], size=(size, 1))

    def log_density(self, frequencies):
        d, squares = frequencies.shape[-1], np.square(frequencies).sum(axis=-1)
        variances = 2 * self.gamma * np.array([1.0, 4.0])
        logs = [-0.5 * (squares / v + d * np.log(2 * np.pi * v)) for v in variances]
        return logsumexp(logs, axis=0) - np.log(2)

    def gaussian_components(self):
        return np.sqrt(2 * self.gamma) * np.array([1.0, 2.0]), np.full(2, 0.5)


@dataclass(frozen=True)
class Ranks:
    """Labels 0, 1, ..., n_levels - 1 in order: the nearer two ranks, the more they agree."""

    n_levels: int
    classes = None
    is_binary = False
    has_sign_agreements = False
    is_fixed_in_advance = True

    def of(self, y, classes=None):
        del classes
        return self.observe(y)

    def witnesses(self, y):
        return np.unique(y)

    def encode(self, y):
        entries = (np.ones(len(y)), y, np.arange(len(y) + 1))
        return sparse.csr_array(entries, shape=(len(y), self.n_levels))

    def agreement(self, totals):
        del totals
        ranks = np.arange(self.n_levels)
        return 1 - 2 * np.abs(ranks[:, np.newaxis] - ranks) / (self.n_levels - 1)

    def balance(self, totals):
        del totals

    def outputs(self, y):
        return Outputs(y[:, np.newaxis].astype(float), "square")

    def observe(self, y):
        if y.min() < 0 or y.max() >= self.n_levels:
            raise ValueError(f"y must hold ranks below {self.n_levels}, got {y.max()}.")
        return self

    def merge(self, other):
        del other
        return self

    def recoder(self, other):
        return np.eye(other.n_levels)


@dataclass(frozen=True)
class Best:
    """Equal weights on a share of the candidates, those of smallest loss."""

    share: float

    def check(self):
        if not 0 < self.share <= 1:
            raise ValueError(f"share must be in (0, 1], got {self.share!r}.")

    def posterior(self, request):
        n_best = max(1, round(self.share * len(request.losses)))
        weights = np.zeros(len(request.losses))
        weights[np.argsort(request.losses, kind="stable")[:n_best]] = 1 / n_best
        return Posterior(weights)


class BestRFF(LearnedFourierMap):
    """Fourier features of the best candidates."""

    _rule = Best

    def __init__(
        self,
        n_frequencies=5,
        *,
        share=0.1,
        gamma=0.3,
        kernel="rbf",
        target_type="auto",
        n_candidates=200,
        draw="distinct",
        class_weight="balanced",
        precision="auto",
        random_state=0,
    ):
        self.n_frequencies = n_frequencies
        self.share = share
        self.gamma = gamma
        self.kernel = kernel
        self.target_type = target_type
        self.n_candidates = n_candidates
        self.draw = draw
        self.class_weight = class_weight
        self.precision = precision
        self.random_state = random_state


def pinsker(*, loss, divergence, n_samples, epsilon, pairs):
    """Weaken the kl bound by Pinsker's inequality (McAllester, 1999)."""
    n_terms = n_samples // 2 if pairs else n_samples
    width = np.sqrt((divergence + np.log(2 * np.sqrt(n_terms) / epsilon)) / (2 * n_terms))
    return Bound(
        value=float(loss + width),
        empirical_term=loss,
        divergence_term=float(width),
        parameters={},
        theorem="Pinsker",
        reference="mcallester1999",
    )


PINSKER = BoundRecord(
    name="pinsker",
    function=pinsker,
    needs=("loss", "divergence", "n_samples", "pairs"),
    exponential=True,
)
KERNEL, RANKS = TwoWidths(0.2), Ranks(4)


@pytest.fixture
def ranked(rng):
    X = rng.standard_normal((120, 3))
    noisy = X[:, 0] + 0.3 * rng.standard_normal(120)
    return X, np.digitize(noisy, [-0.7, 0.0, 0.7])


@pytest.fixture
def classed(ranked):
    X, y = ranked
    return X, (y > 1).astype(int)


EXTENDED = {
    "kernel": (PBRFF(5, n_candidates=200, kernel=KERNEL, random_state=0), "classed"),
    "kernel of OKRFF": (OKRFF(5, n_candidates=200, kernel=KERNEL, random_state=0), "classed"),
    "labels": (
        PBRFF(5, n_candidates=200, gamma=0.3, target_type=RANKS, random_state=0),
        "ranked",
    ),
    "posterior": (BestRFF(), "classed"),
    "kernel, labels and posterior": (BestRFF(kernel=KERNEL, target_type=RANKS), "ranked"),
}


@pytest.fixture(params=EXTENDED)
def extended(request):
    """Return an unfitted estimator with an extension, and data that it takes."""
    estimator, data = EXTENDED[request.param]
    return clone(estimator), *request.getfixturevalue(data)


def assert_same_model(found, expected):
    np.testing.assert_allclose(found.losses_, expected.losses_, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found.kept_, expected.kept_)
    np.testing.assert_array_equal(found.frequencies_, expected.frequencies_)


def test_the_losses_of_ranks_are_those_of_the_double_loop(ranked, rng):
    X, y = ranked
    frequencies = rng.standard_normal((6, 3))
    total, pairs = np.zeros(6), 0
    for i in range(len(y)):
        for j in range(len(y)):
            if i != j:
                agreement = 1 - 2 * abs(int(y[i]) - int(y[j])) / 3
                total += (1 - agreement * np.cos(frequencies @ (X[i] - X[j]))) / 2
                pairs += 1
    losses = alignment_losses(X, y, frequencies, target_type=RANKS)
    np.testing.assert_allclose(losses, total / pairs, atol=1e-12)


def test_a_kernel_serves_every_map(classed, rng):
    X, y = classed
    features = RFF(4000, kernel=KERNEL, random_state=0).fit_transform(X[:20])
    exact = KERNEL.kernel(X[:20, np.newaxis] - X[:20])
    # Hoeffding at 1e-6 over 400 pairs, two-sided.
    assert np.abs(features @ features.T - exact).max() < np.sqrt(2 * np.log(8e8) / 4000)
    landmarks = RBFLandmarks(n_landmarks=7, kernel=KERNEL, random_state=0).fit(X, y)
    expected = KERNEL.kernel(X[:, np.newaxis] - landmarks.landmarks_)
    np.testing.assert_allclose(landmarks.transform(X), expected, atol=1e-12)
    similarities = PBLandmarks(n_landmarks=7, kernel=KERNEL, random_state=0).fit_transform(X, y)
    assert np.abs(similarities).max() <= 1 + 1e-12
    model = GibbsRFF(4, n_particles=8, n_steps=5, kernel=KERNEL, random_state=0).fit(X, y)
    assert model.losses_.min() < alignment_losses(X, y, rng.standard_normal((50, 3))).mean()


def test_labels_serve_the_maps_whose_frequencies_move(ranked):
    X, y = ranked
    model = GibbsRFF(4, n_particles=8, n_steps=5, target_type=RANKS, random_state=0).fit(X, y)
    expected = alignment_losses(X, y, model.pool_, target_type=RANKS)
    np.testing.assert_allclose(model.losses_, expected, atol=1e-9)
    boosted = BoostedRFF(3, n_steps=5, target_type=RANKS, random_state=0).fit(X, y)
    features = boosted.transform(X)
    fitted = features @ np.linalg.lstsq(features, y - y.mean(), rcond=None)[0]
    assert np.var(y - y.mean() - fitted) < 0.5 * np.var(y)


def test_the_posterior_is_that_of_the_rule(classed):
    model = BestRFF(share=0.05).fit(*classed)
    best = np.argsort(model.selection_losses_, kind="stable")[:10]
    np.testing.assert_array_equal(np.flatnonzero(model.posterior_), np.sort(best))
    assert set(model.kept_) <= set(best)
    wider = model.redraw(share=0.5)
    assert np.count_nonzero(wider.posterior_) == 100
    with pytest.raises(ValueError, match=r"share must be in \(0, 1\], got 2"):
        BestRFF(share=2).fit(*classed)


def test_parts_and_batches_give_the_same_model(extended):
    estimator, X, y = extended
    whole = clone(estimator).fit(X, y)
    batches = [(X[:50], y[:50]), (X[50:90], y[50:90]), (X[90:], y[90:])]
    assert_same_model(fit_batches(clone(estimator), batches), whole)
    first, second = clone(estimator).fit(X[:60], y[:60]), clone(estimator).fit(X[60:], y[60:])
    assert_same_model(first.merge(second), whole)
    in_parts = clone(estimator).partial_fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
    assert_same_model(in_parts, whole)


def test_dask_collections_give_the_same_model(extended):
    da = pytest.importorskip("dask.array")
    estimator, X, y = extended
    lazy = clone(estimator).fit(da.from_array(X, chunks=(50, -1)), da.from_array(y, chunks=50))
    assert_same_model(lazy, clone(estimator).fit(X, y))


def test_tensors_give_the_same_model(extended):
    torch = pytest.importorskip("torch")
    estimator, X, y = extended
    model = clone(estimator).fit(torch.as_tensor(X), torch.as_tensor(y))
    assert_same_model(model, clone(estimator).fit(X, y))
    features = model.transform(torch.as_tensor(X))
    np.testing.assert_allclose(features.numpy(), model.transform(X), atol=1e-12)


def test_landmarks_of_tensors_have_the_kernel(classed):
    torch = pytest.importorskip("torch")
    X, y = classed
    model = RBFLandmarks("random", n_landmarks=7, kernel=KERNEL, random_state=0).fit(X, y)
    found = model.transform(torch.as_tensor(X))
    np.testing.assert_allclose(found.numpy(), model.transform(X), atol=1e-12)


def test_everything_is_certified(extended):
    estimator, X, y = extended
    model = estimator.fit(X, y)
    for bound in ("auto", "kl", PINSKER):
        for of in ("deployed", "posterior"):
            certificate = model.certificate(bound=bound, of=of)
            assert certificate.empirical_loss < certificate.value <= 1
    weaker, kl = model.certificate(bound=PINSKER), model.certificate(bound="kl")
    assert weaker.bound == "pinsker"
    assert kl.details.value <= weaker.details.value


def test_a_bound_serves_landmarks_particles_and_random_maps(classed):
    X, y = classed
    sampled = GibbsRFF(4, n_particles=8, n_steps=5, random_state=0).fit(X, y)
    landmarks = PBLandmarks("random", n_landmarks=5, gamma=0.3, random_state=0).fit(X, y)
    random = RFF(5, gamma=0.3, random_state=0).fit(X)
    for certificate in (
        sampled.certificate(bound=PINSKER),
        landmarks.certificate(bound=PINSKER),
        random.certificate(X=X, y=y, bound=PINSKER),
    ):
        assert certificate.bounds_tried == ("pinsker",)
        assert certificate.empirical_loss < certificate.value
