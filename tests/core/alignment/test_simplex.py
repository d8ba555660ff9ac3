"""The simplex agreement: 1 for equal classes, -1 / (K - 1) for different ones."""

import numpy as np
import pytest

from pacfourier import PBRFF, GibbsRFF, alignment_losses, bounds
from pacfourier.core.alignment.sums import alignment_sums, loss_moments
from pacfourier.core.alignment.targets import target_of
from pacfourier.pacbayes.certificate import label_yardsticks
from pacfourier.pacbayes.yardsticks import least_kernel_loss


def pair_losses(X, y, omega, n_classes):
    """Return the losses of all pairs of different samples, from their definition."""
    agreements = np.where(np.equal.outer(y, y), 1.0, -1 / (n_classes - 1))
    cosines = np.cos((X[:, np.newaxis] - X) @ omega)
    return ((1 - agreements * cosines) / 2)[~np.eye(len(y), dtype=bool)]


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_losses_and_moments_against_the_double_loop(n_classes, rng):
    """The moment is exact if the waves of a class are equal, and never below the truth."""
    X, y = rng.standard_normal((60, 3)), rng.integers(0, n_classes, 60)
    frequencies = rng.standard_normal((9, 3))
    target = target_of(y, "simplex")
    for points, is_exact in ((X, n_classes == 2), (np.eye(n_classes, 3)[y] * 0, True)):
        sums = alignment_sums(points, y, target, frequencies, precision="double")
        losses, moments = sums.losses(target.agreement(sums.totals)), loss_moments(sums, target)
        for m, omega in enumerate(frequencies):
            pairs = pair_losses(points, y, omega, n_classes)
            assert losses[m] == pytest.approx(pairs.mean())
            moment = np.mean((pairs - 0.5) ** 2)
            assert moments[m] >= moment - 1e-12
            assert not is_exact or moments[m] == pytest.approx(moment)
        assert (moments <= sums.second_moments()).all()


def test_moments_of_ten_classes_are_a_fifth_of_those_of_signs(rng):
    X, y = 9 * rng.standard_normal((900, 3)), np.resize(np.arange(10), 900)
    target = target_of(y, "simplex")
    sums = alignment_sums(X, y, target, rng.standard_normal((5, 3)), precision="double")
    assert (loss_moments(sums, target) < 0.22 * sums.second_moments()).all()


def test_two_classes_have_the_loss_of_the_paper(rng):
    X, y = rng.standard_normal((40, 2)), rng.choice([-1, 1], 40)
    frequencies = rng.standard_normal((6, 2))
    simplex = alignment_losses(X, y, frequencies, target_type="simplex")
    np.testing.assert_allclose(simplex, alignment_losses(X, y, frequencies))


@pytest.mark.parametrize("shares", [(10, 10, 10, 10), (30, 5, 4, 3), (12, 8, 7)])
def test_yardsticks_are_reached_by_kernels(shares, rng):
    """The zero kernel, the constant kernel, and the best kernel that 200 random ones approach."""
    y = np.repeat(np.arange(len(shares)), shares)
    n_classes, n = len(shares), len(y)
    agreements = np.where(np.equal.outer(y, y), 1.0, -1 / (n_classes - 1))
    pairs = ~np.eye(n, dtype=bool)
    target = target_of(y, "simplex")
    sums = alignment_sums(np.zeros((n, 1)), y, target, np.ones((1, 1)), precision="double")
    yardsticks = label_yardsticks(sums, target)
    assert yardsticks.constant == pytest.approx((1 - agreements[pairs].mean()) / 2)
    assert yardsticks.unrelated == min(0.5, yardsticks.constant)
    losses = []
    for _ in range(200):
        points = rng.standard_normal((n_classes, 3))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        gram = (points @ points.T)[np.ix_(y, y)]
        losses.append(np.mean((1 - agreements * gram)[pairs]) / 2)
    assert min(losses) >= yardsticks.perfect - 1e-12
    assert min(losses) < yardsticks.perfect + 0.02
    if len(set(shares)) == 1:
        assert least_kernel_loss(np.full(4, 0.25), apart=1 / 3) == pytest.approx(1 / 2 - 1 / 6)


def blobs(n_samples, rng, n_classes=5):
    y = rng.integers(0, n_classes, n_samples)
    return rng.standard_normal((n_samples, 2)) * 0.3 + 2 * np.array([np.cos(y), np.sin(y)]).T, y


@pytest.mark.parametrize("estimator", [PBRFF, GibbsRFF])
def test_the_simplex_loss_is_certified(estimator, rng):
    X, y = blobs(3000, rng)
    settings = {"n_candidates": 500} if estimator is PBRFF else {"n_particles": 20, "n_steps": 10}
    model = estimator(10, target_type="simplex", gamma=0.3, random_state=0, **settings).fit(X, y)
    certificate = model.certificate()
    expected = alignment_losses(X, y, model.frequencies_, target_type="simplex")
    assert certificate.empirical_loss == pytest.approx(expected @ model.frequency_weights_)
    assert "unexpected_bernstein" in certificate.bounds_tried
    assert certificate.empirical_loss < certificate.value < certificate.yardsticks.unrelated
    assert certificate.ceiling == 1
    assert "y can only have these 5 classes" in str(certificate)
    assert f"perfect {certificate.yardsticks.perfect:.4f}" in str(certificate)
    with pytest.raises(ValueError, match="declared binary labels"):
        model.certificate(bound="first_order")


def test_certificates_cover_random_classes():
    """100 samples with labels that say nothing, chosen together to look good on the sample.

    The true loss of a frequency is 1/2: classes of equal probability agree by zero on average. If a
    bound failed with probability 0.05, none would with probability 6e-3.
    """
    rng = np.random.default_rng(3)
    for seed in range(100):
        X, y = rng.standard_normal((60, 30)), rng.integers(0, 3, 60)
        model = PBRFF(
            5,
            n_candidates=300,
            gamma=0.02,
            target_type="simplex",
            draw="complementary",
            random_state=seed,
        ).fit(X, y)
        assert model.losses_[model.kept_].mean() < 0.5
        for name in ("kl", "catoni_grid", "unexpected_bernstein", "f_divergence", "auto"):
            assert model.certificate(bound=name).details.value >= 0.5


def test_the_bernstein_bound_grows_with_the_moment():
    """So an upper bound on the moment keeps the bound valid."""
    shared = {"loss": 0.47, "divergence": 4.0, "n_samples": 2000, "epsilon": 0.05}
    values = [
        bounds.unexpected_bernstein(
            second_moment=moment, n_hypotheses=500, pairs=True, **shared
        ).value
        for moment in np.linspace(0.0009, 0.25, 50)
    ]
    assert (np.diff(values) >= -1e-12).all()


def test_streams_need_all_classes_first(rng):
    X, y = blobs(200, rng)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    whole = PBRFF(5, n_candidates=100, target_type="simplex", random_state=0).fit(X, y)
    parts = PBRFF(5, n_candidates=100, target_type="simplex", random_state=0)
    parts.partial_fit(X[:50], y[:50], classes=range(5)).partial_fit(X[50:], y[50:])
    np.testing.assert_allclose(parts.losses_, whole.losses_)
    with pytest.raises(ValueError, match="y must hold known classes"):
        PBRFF(5, target_type="simplex").partial_fit(X[:150], y[:150]).partial_fit(X, y)
