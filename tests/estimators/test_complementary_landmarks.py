import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from threadpoolctl import threadpool_limits

from pacfourier import PBLandmarks, RBFLandmarks
from pacfourier.bounds.divergences import kl_divergence
from pacfourier.core.sampling.complementary_columns import forward_columns
from pacfourier.data.distances import kernel_matrix
from pacfourier.estimators import complementary_landmarks
from pacfourier.estimators.complementary_landmarks import TILTS, contest_of
from pacfourier.spectra import RBF, Mixture

MAPS = [RBFLandmarks, PBLandmarks]


@pytest.fixture
def sample(rng):
    y = np.resize([0, 1, 1, 2, 2, 2], 120)
    return rng.standard_normal((120, 3)) + y[:, np.newaxis], y


def fitted(X, y, **parameters):
    options = {"n_landmarks": 6, "gamma": 0.3, "n_frequencies": 3, "random_state": 0}
    return PBLandmarks("complementary", **(options | parameters)).fit(X, y)


@pytest.mark.parametrize("estimator", MAPS)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_landmarks_are_distinct_samples(estimator, container, sample):
    X, y = sample
    model = estimator("complementary", n_landmarks=10, random_state=0).fit(container(X), y)
    assert len(set(model.landmark_indices_)) == 10
    np.testing.assert_array_equal(model.landmark_labels_, y[model.landmark_indices_])
    assert model.transform(container(X)).shape == (120, 10)
    again = clone(model).fit(container(X), y)
    np.testing.assert_array_equal(again.landmark_indices_, model.landmark_indices_)


@pytest.mark.parametrize("estimator", MAPS)
def test_copies_of_rows_are_taken_once_while_there_are_others(estimator, sample):
    X, y = sample
    X, y = np.repeat(X[:12], 10, axis=0), np.repeat(y[:12], 10)
    some = estimator("complementary", n_landmarks=12, random_state=0).fit(X, y)
    assert len(np.unique(some.landmarks_, axis=0)) == 12
    more = estimator("complementary", n_landmarks=15, random_state=0).fit(X, y)
    assert len(set(more.landmark_indices_)) == 15


def test_rbf_landmarks_are_chosen_by_forward_selection_on_the_kernel(sample):
    X, y = sample
    model = RBFLandmarks("complementary", n_landmarks=8, gamma=0.3, random_state=0).fit(X, y)
    # All 120 rows compete, and the order of the candidates does not matter.
    columns = kernel_matrix(RBF(0.3), X, X)
    chosen = forward_columns(columns, np.eye(3)[y], np.arange(120), 8)
    np.testing.assert_array_equal(model.landmark_indices_, chosen)


def test_posteriors_start_from_components_and_move_by_shares_of_beta(sample):
    X, y = sample
    model = fitted(X, y, beta=2.0)
    assert model.pool_.spectrum == Mixture([RBF(0.075), RBF(0.3), RBF(1.2)])
    assert model.posterior_.shape == (6, 64 * 3)
    frequencies = model.pool_[:].astype(np.float64)
    densities = np.exp([part.log_density(frequencies) for part in model.pool_.spectrum.components])
    shares = densities / densities.sum(axis=0)
    assert set(model._shapes.tilts) <= set(TILTS)
    for row, (component, tilt) in enumerate(zip(*model._shapes[1:], strict=True)):
        weights = shares[component] * np.exp(-tilt * 2 * np.sqrt(120) * model.losses_[row])
        np.testing.assert_allclose(model.posterior_[row], weights / weights.sum(), atol=1e-10)


def test_where_labels_teach_nothing_a_similarity_can_be_the_kernel(sample):
    """3,000 frequencies, a third of them for each bandwidth: a standard error of about 0.03."""
    X, y = sample
    model = fitted(X, y, n_landmarks=40, frequencies="shared", n_frequencies=3000)
    plain = np.flatnonzero(model._shapes.tilts == 0)
    assert len(plain) > 0
    for row in plain:
        kernel = model.pool_.spectrum.components[model._shapes.components[row]]
        expected = kernel.kernel(X - model.landmarks_[row])
        np.testing.assert_allclose(model.similarity(X, row), expected, atol=0.15)


def test_shared_frequencies_mixtures_and_own_kernels(sample):
    X, y = sample
    assert len(fitted(X, y, frequencies="shared").pool_) == 3
    assert len(fitted(X, y, n_landmarks=70).pool_) == 70 * 3
    assert len(fitted(X, y, gamma="multiscale").pool_.spectrum.components) == 10
    own = fitted(X, y, kernel=RBF(0.7))
    assert own.pool_.spectrum == RBF(0.7)
    assert set(own._shapes.components) == {0}


def test_later_batches_keep_the_landmarks_and_their_similarities(sample):
    X, y = sample
    first = fitted(X[:60], y[:60])
    streamed = clone(first).partial_fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
    np.testing.assert_array_equal(streamed.landmarks_, first.landmarks_)
    np.testing.assert_array_equal(streamed._shapes.tilts, first._shapes.tilts)
    merged = first.merge(clone(first).fit(X[:60], y[:60]))
    np.testing.assert_allclose(merged.losses_, first.losses_, atol=0.02)
    other = fitted(X[60:], y[60:])
    with pytest.raises(ValueError, match="same landmarks and frequencies"):
        first.merge(other)
    given = fitted(X[60:], y[60:]).set_params(landmarks=(first.landmarks_, first.landmark_labels_))
    with pytest.raises(ValueError, match="same landmarks and frequencies"):
        first.merge(given.fit(X[60:], y[60:]))
    changed = fitted(X[:60], y[:60])
    changed._shapes = changed._shapes._replace(tilts=1 - changed._shapes.tilts)
    with pytest.raises(ValueError, match="same landmarks and frequencies"):
        first.merge(changed)


def test_a_new_fit_with_other_landmarks_forgets_the_similarities(sample):
    X, y = sample
    model = fitted(X, y).set_params(landmarks="random").fit(X, y)
    fresh = PBLandmarks("random", n_landmarks=6, gamma=0.3, n_frequencies=3, random_state=0)
    np.testing.assert_array_equal(model.transform(X), fresh.fit(X, y).transform(X))


def test_the_certificate_pays_for_the_choice_among_all_samples(sample):
    X, y = sample
    model = fitted(X, y)
    certificate = model.certificate()
    divergences = [kl_divergence(posterior) for posterior in model.posterior_]
    assert certificate.divergence == pytest.approx(np.mean(divergences) + np.log(120 / 6))
    assert {a.name: a.status for a in certificate.assumptions}["landmarks"] == "holds"
    losses = np.sum(model.posterior_ * model.losses_, axis=1)
    assert certificate.empirical_loss == pytest.approx(losses.mean())
    assert certificate.value > losses.mean()
    each = model.certificate(of="each")
    assert each[2].divergence == pytest.approx(divergences[2] + np.log(120))
    computed = fitted(X, y, gamma="median").certificate()
    with pytest.raises(ValueError, match="gamma"):
        _ = computed.value


def test_certificates_cover_the_truth():
    """200 samples, two classes on a line; landmarks and similarities chosen with the labels.

    If the bound failed with probability 0.05, no failure would have probability 4e-5.
    """
    rng = np.random.default_rng(1)
    for seed in range(200):
        y = rng.choice([-1, 1], 80)
        X = rng.standard_normal((80, 1)) + y[:, np.newaxis]
        parameters = {"frequencies": "shared", "n_frequencies": 32, "gamma": 0.5}
        model = fitted(X, y, n_landmarks=4, random_state=seed, **parameters)
        omegas = model.pool_[:][:, 0].astype(float)
        # E lambda cos(omega (point - x)) with x ~ N(+-1, 1) and equal odds.
        points, labels = model.landmarks_, model.landmark_labels_[:, np.newaxis]
        means = [np.exp(-(omegas**2) / 2) * np.cos(omegas * (points - side)) for side in (-1, 1)]
        truth = (1 - labels * (means[1] - means[0]) / 2) / 2
        losses = np.sum(model.posterior_ * truth, axis=1)
        for bound in ("unexpected_bernstein", "kl"):
            assert model.certificate(bound=bound).value >= losses.mean()
            each = [item.value for item in model.certificate(of="each", bound=bound)]
            assert (np.array(each) >= losses).all()


def errors(model, digits):
    X, y, X_test, y_test = digits
    machine = RidgeClassifier(1e-3).fit(model.fit(X, y).transform(X), y)
    return 100 - 100 * machine.score(model.transform(X_test), y_test)


@pytest.mark.parametrize("estimator", MAPS)
def test_complementary_landmarks_predict_better_than_random_ones(estimator):
    X, y = load_digits(return_X_y=True)
    digits = (X[:900] / 16, y[:900], X[900:] / 16, y[900:])
    rules = ("complementary", "random")
    together, random = (
        np.mean([errors(estimator(r, n_landmarks=30, random_state=s), digits) for s in range(2)])
        for r in rules
    )
    assert together < 0.9 * random


def test_where_no_similarity_pays_landmarks_are_medoids_with_kernels(sample, monkeypatch):
    X, y = sample
    monkeypatch.setattr(complementary_landmarks, "PENALTY", np.inf)
    model = fitted(X, y, n_landmarks=9)
    assert set(model._shapes.tilts) == {0}
    # Without an example of what is chosen, this is the bandwidth in the middle.
    assert set(model._shapes.components) == {1}
    assert [np.sum(model.landmark_labels_ == label) for label in range(3)] == [3, 3, 3]
    centroids = KMeans(3, n_init=1, random_state=0).fit(X[y == 0])
    own = model.landmarks_[model.landmark_labels_ == 0]
    # Three medoids explain about as much of a class as three centroids.
    errors = np.min(np.sum((X[y == 0][:, np.newaxis] - own) ** 2, axis=2), axis=1).sum()
    assert errors < 2 * centroids.inertia_


def test_medoids_follow_where_similarities_no_longer_pay(sample, monkeypatch):
    X, y = sample
    y = np.random.default_rng(0).permutation(y)
    few = fitted(X, y, n_landmarks=60)
    monkeypatch.setattr(complementary_landmarks, "PENALTY", 0.0)
    monkeypatch.setattr(complementary_landmarks, "medoids_among", pytest.fail)
    every = fitted(X, y, n_landmarks=60)
    is_same = few.landmark_indices_ == every.landmark_indices_
    n_chosen = int(np.argmin(is_same))
    assert 0 < n_chosen < 60
    median = np.median(few._shapes.components[:n_chosen])
    assert set(few._shapes.components[n_chosen:]) == {median}
    assert set(few._shapes.tilts[n_chosen:]) == {0}
    assert len(set(few.landmark_indices_)) == 60


def test_threads_do_not_change_the_choice_among_near_copies():
    """With products in several threads, one of the thirty landmarks was another."""
    rng = np.random.default_rng(2)
    X = np.repeat(rng.standard_normal((300, 23)), 5, axis=0)
    X = (X * (1 + 1e-7 * rng.standard_normal(X.shape))).astype(np.float32)[rng.permutation(1500)]
    y = X[:, 0] + 0.5 * rng.standard_normal(1500) > 0
    model = PBLandmarks("complementary", n_landmarks=30, n_frequencies=32, random_state=0)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            found.append((model.fit(X, y).landmark_indices_, model.transform(X)))
    np.testing.assert_array_equal(*(landmarks for landmarks, _ in found))
    np.testing.assert_array_equal(*(similarities for _, similarities in found))


def test_refusals_say_what_to_do(sample):
    X, y = sample
    with pytest.raises(ValueError, match=r"redraw cannot .* fit again with beta=3\.0"):
        fitted(X, y).redraw(beta=3.0)
    with pytest.raises(ValueError, match=r"at most 300 .* got 301"):
        contest_of(np.zeros((400, 2)), np.zeros(400), 301, np.random.default_rng(0))
    assert len(contest_of(X, y, 100, np.random.default_rng(0)).candidates) == 120


@pytest.mark.parametrize("estimator", MAPS)
def test_a_fraction_of_many_rows_gives_the_most_landmarks_that_are_possible(estimator, rng):
    X, y = rng.standard_normal((700, 2)), np.resize([0, 1], 700)
    parameters = {"n_landmarks": 0.5, "random_state": 0}
    if estimator is PBLandmarks:
        parameters |= {"frequencies": "shared", "n_frequencies": 4}
    model = estimator("complementary", **parameters).fit(X, y)
    assert len(model.landmarks_) == 300
    for refused in (1.5, 301, True, "all"):
        with pytest.raises(ValueError, match="n_landmarks must be"):
            clone(model).set_params(n_landmarks=refused).fit(X, y)


def test_dask_collections_need_given_landmarks(sample):
    da = pytest.importorskip("dask.array")
    X, y = sample
    with pytest.raises(ValueError, match=r"\(points, labels\) for data in blocks, got 'compl"):
        fitted(da.from_array(X), da.from_array(y))
