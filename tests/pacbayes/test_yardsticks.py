"""What losses can be compared with. The smallest losses agree with semidefinite programs."""

import cvxpy as cp
import numpy as np
import pytest

from pacfourier import PBRFF, RFF, PBLandmarks, alignment_losses
from pacfourier.core.alignment.sums import alignment_sums
from pacfourier.core.alignment.targets import _ContinuousTarget, target_of
from pacfourier.pacbayes.certificate import label_yardsticks
from pacfourier.pacbayes.yardsticks import (
    KernelYardsticks,
    LandmarkYardsticks,
    _least_kernel_loss,
    _least_unrelated_loss,
    normalised_loss,
    yardstick_facts,
)

# An interior-point solver stops at a relative gap of 1e-8; there are at most 10^2 products.
SOLVER_GAP = 1e-6


def least_loss(weights):
    """Minimise sum of weights_ij k_ij over positive definite k with diagonal one."""
    kernel = cp.Variable(weights.shape, PSD=True)
    problem = cp.Problem(cp.Minimize(cp.vdot(weights, kernel)), [cp.diag(kernel) == 1])
    problem.solve(solver=cp.CLARABEL)
    return problem.value


def agreements(labels):
    return np.where(np.equal.outer(labels, labels), 1.0, -1.0)


def pair_loss(kernel, labels):
    """The mean of (1 - lambda k) / 2 over pairs of different samples, as a double loop."""
    n = len(labels)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    signs = agreements(labels)
    return np.mean([(1 - signs[i, j] * kernel[i, j]) / 2 for i, j in pairs])


@pytest.mark.parametrize("concentration", [0.2, 1.0, 20.0])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 7])
def test_no_kernel_of_classes_is_better_than_the_perfect_one(n_classes, concentration, rng):
    shares = rng.dirichlet(np.full(n_classes, concentration))
    signs = agreements(np.arange(n_classes))
    best = 0.5 + least_loss(-signs * np.outer(shares, shares) / 2)
    assert _least_kernel_loss(shares) == pytest.approx(best, abs=SOLVER_GAP)


@pytest.mark.parametrize("counts", [(3, 5), (1, 7), (2, 3, 4), (1, 1, 6), (1, 1, 1, 1), (2,) * 4])
def test_no_kernel_of_samples_is_better_than_the_perfect_one(counts):
    """The samples of a class need not be one point for this kernel, but the best has them so."""
    labels = np.repeat(np.arange(len(counts)), counts)
    n = len(labels)
    weights = -(agreements(labels) - np.eye(n)) / (2 * n * (n - 1))
    best = 0.5 + least_loss(weights)
    assert _least_kernel_loss(np.array(counts) / n, n) == pytest.approx(best, abs=SOLVER_GAP)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 1000])
def test_equal_classes_have_a_closed_form_that_the_simplex_attains(n_classes):
    shares = np.full(n_classes, 1 / n_classes)
    assert _least_kernel_loss(shares) == pytest.approx(0.5 - 1 / n_classes, abs=1e-15)
    simplex = (n_classes * np.eye(n_classes) - 1) / (n_classes - 1)
    signs = agreements(np.arange(n_classes))
    attained = 0.5 - np.sum(signs * simplex) / (2 * n_classes**2)
    assert attained == pytest.approx(0.5 - 1 / n_classes, abs=1e-12)


@pytest.mark.parametrize("share", [0.5, 0.5001, 0.9, 1.0])
def test_two_classes_can_be_told_apart_perfectly(share):
    assert _least_kernel_loss([share, 1 - share]) == pytest.approx(0, abs=1e-15)
    assert _least_kernel_loss([share, 1 - share], 50) == pytest.approx(0, abs=1e-15)


def test_a_closed_polygon_in_the_plane_is_perfect(rng):
    """Unit vectors with sum_k p_k v_k = 0: a triangle with the sides p_k."""
    p = rng.dirichlet(np.full(3, 20.0))
    assert p.max() < 0.5
    cosines = [(p[2] ** 2 - p[0] ** 2 - p[1] ** 2) / (2 * p[0] * p[1])]
    v = np.exp(1j * np.array([0, np.arccos(cosines[0]), 0]))
    v[2] = -(p[0] * v[0] + p[1] * v[1]) / p[2]
    np.testing.assert_allclose(np.abs(v), 1, rtol=1e-12)
    kernel = np.outer(v, v.conj()).real
    loss = np.sum(np.outer(p, p) * (1 - agreements(np.arange(3)) * kernel) / 2)
    assert _least_kernel_loss(p) == pytest.approx(loss, abs=1e-12)


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.2, 0.8), (0.1,) * 10, (0.8, 0.1, 0.1)])
def test_no_kernel_unrelated_to_the_labels_is_better_than_zero_and_constant(shares):
    """Three equally likely points, each of which has every label with the same probability."""
    shares = np.array(shares)
    agreement = 2 * shares @ shares - 1
    best = 0.5 + least_loss(-agreement * np.full((3, 3), 1 / 9) / 2)
    assert _least_unrelated_loss(agreement) == pytest.approx(best, abs=SOLVER_GAP)
    assert _least_unrelated_loss(agreement) == min(0.5, 1 - shares @ shares)


@pytest.mark.parametrize("counts", [(4, 4), (2, 9), (3, 3, 3), (7, 1, 2), (1, 1, 1, 1)])
def test_yardsticks_are_losses_of_kernels_on_the_sample(counts, rng):
    """The zero kernel, the constant kernel and, for two classes, the product of the signs."""
    labels = np.repeat(np.arange(len(counts)), counts)
    n = len(labels)
    sums = alignment_sums(rng.standard_normal((n, 2)), labels, target_of(labels), np.zeros((1, 2)))
    found = label_yardsticks(sums, target_of(labels))
    constant = pair_loss(np.ones((n, n)), labels)
    assert found.constant == pytest.approx(constant, abs=1e-12)
    assert found.unrelated == pytest.approx(min(pair_loss(np.eye(n), labels), constant), abs=1e-12)
    if len(counts) == 2:
        assert found.perfect == pytest.approx(pair_loss(agreements(labels), labels), abs=1e-12)
    assert found.perfect <= found.unrelated <= found.constant + 1e-12


def test_a_kernel_of_the_sample_lies_between_its_yardsticks(rng):
    """Ten Gaussian clouds: perfect <= the loss of any frequency, for every kind of label."""
    y = rng.integers(0, 10, 300)
    X = 3 * rng.standard_normal((10, 2))[y] + rng.standard_normal((300, 2))
    losses = alignment_losses(X, y, rng.standard_normal((200, 2)))
    model = PBRFF(10, n_candidates=300, random_state=0).fit(X, y)
    found = model.certificate().yardsticks
    assert losses.min() >= found.perfect
    assert found.perfect == pytest.approx(0.4, abs=0.02)
    assert found.unrelated == 0.5
    assert found.constant == pytest.approx(0.9, abs=0.02)


def test_weights_count_in_the_yardsticks(rng):
    """A sample of weight two in the class shares; the pair with itself is left out."""
    X, y = rng.standard_normal((6, 2)), np.array([0, 0, 1, 1, 1, 2])
    weights = np.array([2.0, 1, 1, 1, 1, 1])
    target = target_of(y)
    sums = alignment_sums(X, y, target, np.zeros((1, 2)), sample_weight=weights)
    found = label_yardsticks(sums, target)
    products = np.outer(weights, weights) * (1 - np.eye(6))
    expected = np.sum(products * (1 - agreements(y)) / 2) / products.sum()
    assert found.constant == pytest.approx(expected, rel=1e-12)
    best = 0.5 + least_loss(-agreements(y) * products / (2 * products.sum()))
    assert found.perfect == pytest.approx(best, abs=SOLVER_GAP)


def test_label_sets_and_numbers_have_no_perfect_loss(rng):
    X = rng.standard_normal((80, 2))
    sets = (rng.random((80, 6)) < 0.1).astype(int)
    found = PBRFF(5, n_candidates=200, random_state=0).fit(X, sets).certificate()
    signs = 2.0 * sets - 1
    pairs = (signs @ signs.T / 6)[~np.eye(80, dtype=bool)]
    assert found.yardsticks.perfect is found.normalised is None
    assert found.yardsticks.constant == pytest.approx((1 - pairs.mean()) / 2, rel=1e-12)
    assert found.yardsticks.unrelated == found.yardsticks.constant < 0.5
    assert "perfect unknown, unrelated to the labels" in str(found)
    assert "normalised" not in str(found)
    numbers = PBRFF(5, n_candidates=200, random_state=0).fit(X, X[:, 0]).certificate()
    assert numbers.yardsticks.perfect is None
    # The agreements of all pairs sum to zero, so those of different samples sum to less.
    assert numbers.yardsticks.unrelated == 0.5 < numbers.yardsticks.constant


def test_codes_that_agree_like_classes_need_not_be_classes(rng):
    """Numbers with the same agreement matrix are not taken for classes."""

    class Disguised(_ContinuousTarget):
        def agreement(self, totals):
            return 2 * np.eye(len(totals)) - 1

    X, y = rng.standard_normal((20, 2)), rng.random(20)
    target = Disguised.of(y)
    sums = alignment_sums(X, y, target, np.zeros((1, 2)))
    assert label_yardsticks(sums, target).perfect is None


def test_a_sample_of_one_class_has_no_scale(rng):
    model = PBRFF(5, n_candidates=200, random_state=0)
    model.partial_fit(rng.standard_normal((30, 2)), np.zeros(30, dtype=int), classes=[0, 1])
    found = model.certificate()
    assert found.yardsticks.perfect == found.yardsticks.unrelated == found.yardsticks.constant == 0
    assert found.normalised is None
    assert "below unrelated         no" in str(found)


@pytest.mark.parametrize("of", ["average", 2])
def test_landmarks_are_compared_with_similarities_of_their_own(of, rng):
    """Similarities can be any numbers in [-1, 1]: constants, or the agreements themselves."""
    y = rng.choice(5, 60, p=[0.7, 0.1, 0.1, 0.05, 0.05])
    X = rng.standard_normal((60, 2))
    model = PBLandmarks("random", n_landmarks=4, gamma=0.5, random_state=0).fit(X, y)
    rows = range(4) if of == "average" else [of]
    constants = []
    for row in rows:
        is_other = (model.landmarks_[row] != X).any(axis=1)
        label = y[~is_other][0]
        share = np.mean(y[is_other] == label)
        constants.append((1 - share, share))
    found = model.certificate(of=of).yardsticks
    if of == "average":
        assert min(found.agreements) < 0 < max(found.agreements)
    assert found.constant == pytest.approx(np.mean(constants, axis=0)[0], rel=1e-12)
    assert found.unrelated == pytest.approx(np.mean(np.min(constants, axis=1)), rel=1e-12)
    assert found.perfect == 0


def test_landmarks_of_other_labels_have_no_perfect_loss():
    assert LandmarkYardsticks((0.2, -0.4), are_signs=False).perfect is None


def test_the_scale_is_zero_at_perfect_and_one_at_unrelated():
    found = KernelYardsticks(agreement=-0.8, class_shares=(0.1,) * 10, n_samples=np.inf)
    assert normalised_loss(found.perfect, found) == 0
    assert normalised_loss(found.unrelated, found) == 1
    assert normalised_loss(0.65, found) == pytest.approx(2.5)


def test_a_text_never_shows_a_smaller_value_than_it_is():
    found = KernelYardsticks(agreement=-0.8, class_shares=(0.1,) * 10, n_samples=np.inf)
    facts = dict(yardstick_facts(found, 0.49901))
    assert facts["normalised"].startswith("1.00 ")
    assert facts["below unrelated"].startswith("yes")
    assert dict(yardstick_facts(found, found.unrelated))["below unrelated"].startswith("no")


def test_a_kernel_without_learning_may_be_below_unrelated_and_shuffled_labels_are_not(rng):
    """So a value below it does not show that learning helped."""
    y = np.resize([0, 1], 400)
    X = rng.standard_normal((400, 2)) + 4 * y[:, np.newaxis]
    fixed = RFF(200, gamma=0.02, random_state=0).fit(X)
    found = fixed.certificate(X=X, y=y)
    assert found.value < found.yardsticks.unrelated
    shuffled = fixed.certificate(X=X, y=rng.permutation(y))
    assert shuffled.value > shuffled.yardsticks.unrelated
