import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris

from pacfourier import PBLandmarks, RBFLandmarks, bounds
from pacfourier.bounds.divergences import kl_divergence
from pacfourier.data.samples import Block, Sample
from pacfourier.data.selection import _equal_shares, _landmark_count, select_landmarks
from reproduction.datasets import load
from reproduction.plan import TOYS
from reproduction.toy import toy_row

MAPS = [RBFLandmarks, PBLandmarks]


@pytest.fixture
def sample(rng):
    y = np.resize([0, 1, 1, 2, 2, 2], 120)
    return rng.standard_normal((120, 3)) + y[:, np.newaxis], y


def selected(landmarks, n_landmarks, X, y, rng):
    """What ``select_landmarks`` chooses."""
    return select_landmarks(landmarks, n_landmarks, Sample(Block(X, y)), rng)


def statuses(certificate):
    return {item.name: item.status for item in certificate.assumptions}


def test_shares_are_as_equal_as_the_classes_allow():
    assert _equal_shares(6, [10, 10, 10]).tolist() == [2, 2, 2]
    assert _equal_shares(7, [100, 2, 100]).sum() == 7
    assert _equal_shares(7, [100, 2, 100])[1] == 2
    assert _equal_shares(12, [10, 1, 1]).tolist() == [10, 1, 1]
    assert _equal_shares(1, [5, 6]).tolist() == [0, 1]


@pytest.mark.parametrize("landmarks", ["stratified", "medoids", "kmeans"])
@pytest.mark.parametrize("count", [1, 3, 10, 40, 120])
def test_landmarks_by_class_take_equal_shares(landmarks, count, sample, rng):
    X, y = sample
    chosen = selected(landmarks, count, X, y, rng)
    assert chosen.points.shape == (count, 3)
    counts = [np.sum(chosen.labels == label) for label in range(3)]
    assert counts == _equal_shares(count, [20, 40, 60]).tolist()
    if landmarks == "kmeans":
        assert chosen.indices is None
    else:
        assert len(set(chosen.indices)) == count
        np.testing.assert_array_equal(chosen.points, X[chosen.indices])
        np.testing.assert_array_equal(chosen.labels, y[chosen.indices])


def test_random_landmarks_do_not_look_at_the_data(sample):
    X, y = sample
    first = selected("random", 10, X, y, np.random.default_rng(3))
    other = selected("random", 10, -7 * X, y[::-1], np.random.default_rng(3))
    np.testing.assert_array_equal(first.indices, other.indices)


def test_medoids_are_the_samples_nearest_to_the_centroids(sample):
    X, y = sample
    centroids = selected("kmeans", 6, X, y, np.random.default_rng(0))
    medoids = selected("medoids", 6, X, y, np.random.default_rng(0))
    for centroid, label, index in zip(
        centroids.points, centroids.labels, medoids.indices, strict=True
    ):
        members = np.flatnonzero(y == label)
        distances = np.linalg.norm(X[members] - centroid, axis=1)
        assert index == members[distances.argmin()]


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_medoids_of_repeated_points_are_still_distinct_rows(container, rng):
    X, y = container(np.ones((10, 2))), np.resize([0, 1], 10)
    chosen = selected("medoids", 6, X, y, rng)
    assert len(set(chosen.indices)) == 6


@pytest.mark.parametrize("estimator", MAPS)
def test_landmarks_may_come_from_a_function(estimator, sample):
    X, y = sample

    def first_rows(X, y, n_landmarks, rng):
        del X, y, rng
        return np.arange(n_landmarks)

    def means(X, y, n_landmarks, rng):
        del n_landmarks, rng
        return np.array([X[y == label].mean(axis=0) for label in range(3)]), [0, 1, 2]

    rows = estimator(first_rows, n_landmarks=4, random_state=0).fit(X, y)
    np.testing.assert_array_equal(rows.landmark_indices_, np.arange(4))
    points = estimator(means, random_state=0).fit(X, y)
    assert points.transform(X).shape == (120, 3)
    assert points.landmark_indices_ is None


@pytest.mark.parametrize(("n_landmarks", "expected"), [(7, 7), (0.1, 12), (1.0, 120), (1, 1)])
def test_landmarks_are_counted_or_a_fraction(n_landmarks, expected):
    assert _landmark_count(n_landmarks, 120) == expected


def test_partial_fit_and_merge_equal_fit_for_given_landmarks(sample):
    X, y = sample
    given = (X[:5] + 0.1, y[:5])
    whole = PBLandmarks(given, gamma=0.3, random_state=0).fit(X, y)
    parts = [slice(0, 36), slice(36, 72), slice(72, 120)]
    first, second, third = (clone(whole).fit(X[rows], y[rows]) for rows in parts)
    streamed = clone(whole)
    for rows in parts:
        streamed.partial_fit(X[rows], y[rows])
    for model in (streamed, first.merge(second).merge(third), first.merge(second.merge(third))):
        np.testing.assert_allclose(model.losses_, whole.losses_, atol=1e-12)
        np.testing.assert_allclose(model.transform(X), whole.transform(X), atol=1e-10)


def test_partial_fit_keeps_the_landmarks_of_the_first_batch(sample):
    X, y = sample
    model = PBLandmarks("random", n_landmarks=4, gamma=0.3, random_state=0).fit(X[:60], y[:60])
    later = clone(model).partial_fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
    np.testing.assert_array_equal(later.landmarks_, model.landmarks_)
    given = PBLandmarks((model.landmarks_, model.landmark_labels_), gamma=0.3, random_state=0)
    np.testing.assert_allclose(later.losses_, given.fit(X, y).losses_, atol=1e-12)


def test_merge_does_not_depend_on_its_order(sample):
    """Landmarks chosen on one shard, given to the other: the way of a cluster."""
    X, y = sample
    first = PBLandmarks("random", n_landmarks=4, gamma=0.3, random_state=0).fit(X[:60], y[:60])
    given = (first.landmarks_, first.landmark_labels_)
    second = PBLandmarks(given, gamma=0.3, random_state=0).fit(X[60:], y[60:])
    for merged in (first.merge(second), second.merge(first)):
        streamed = clone(first).partial_fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
        np.testing.assert_allclose(merged.losses_, streamed.losses_, atol=1e-12)
        assert merged.certificate().value == pytest.approx(streamed.certificate().value)


def test_certificates_keep_what_was_fitted(sample):
    X, y = sample
    medoids = PBLandmarks("medoids", n_landmarks=4, gamma=0.3, random_state=0).fit(X, y)
    before, features = medoids.certificate().value, medoids.transform(X)
    medoids.set_params(landmarks="random", n_frequencies=5)
    assert medoids.certificate().value == before
    np.testing.assert_array_equal(medoids.transform(X), features)


def test_samples_given_as_points_are_priced_as_samples(sample):
    X, y = sample
    rows = [3, 50, 77]
    given = PBLandmarks((X[rows], y[rows]), gamma=0.3, random_state=0).fit(X, y)
    chosen = PBLandmarks(lambda *_: rows, gamma=0.3, random_state=0).fit(X, y)
    assert given.certificate().value == pytest.approx(chosen.certificate().value)
    mixed = PBLandmarks((np.vstack([X[:2], X[:1] + 1]), y[[0, 1, 0]]), gamma=0.3).fit(X, y)
    twice = PBLandmarks((X[[0, 0, 1]], y[[0, 0, 1]]), gamma=0.3).fit(X, y)
    for model in (mixed, twice):
        with pytest.raises(ValueError, match="points were made from the sample"):
            _ = model.certificate().value


def test_merge_needs_the_same_landmarks(sample):
    X, y = sample
    first = PBLandmarks("random", n_landmarks=4, gamma=0.3, random_state=0).fit(X, y)
    second = PBLandmarks("random", n_landmarks=4, gamma=0.3, random_state=1).fit(X, y)
    with pytest.raises(ValueError, match="same landmarks and frequencies"):
        first.merge(second)


def test_redraw_equals_a_new_fit(sample):
    X, y = sample
    model = PBLandmarks("random", n_landmarks=4, random_state=0).fit(X, y)
    redrawd = model.redraw(beta=5.0)
    expected = clone(model).set_params(beta=5.0).fit(X, y)
    np.testing.assert_array_equal(redrawd.posterior_, expected.posterior_)
    assert model.beta == 1.0
    with pytest.raises(ValueError, match="beta must be positive"):
        model.redraw(beta=0.0)


def test_pickle_and_names(sample):
    X, y = sample
    model = PBLandmarks("medoids", n_landmarks=3, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert model.get_feature_names_out().tolist() == [f"pblandmarks{i}" for i in range(3)]


@pytest.mark.parametrize("landmarks", ["random", "stratified", "medoids"])
def test_certificates_are_priced_as_the_landmarks_were_chosen(landmarks, sample):
    X, y = sample
    model = PBLandmarks(landmarks, n_landmarks=6, gamma="multiscale", random_state=0).fit(X, y)
    divergences = [kl_divergence(posterior) for posterior in model.posterior_]
    losses = np.sum(model.posterior_ * model.losses_, axis=1)
    universe = 6 if landmarks == "random" else 120
    average = model.certificate(bound="kl")
    assert average.empirical_loss == pytest.approx(losses.mean())
    assert average.divergence == pytest.approx(np.mean(divergences) + np.log(universe / 6))
    assert statuses(average)["landmarks"] == ("declared" if landmarks == "random" else "holds")
    for row, certificate in enumerate(model.certificate(of="each", bound="kl")):
        assert certificate.divergence == pytest.approx(divergences[row] + np.log(universe))
        expected = bounds.kl(
            loss=losses[row],
            divergence=certificate.divergence,
            n_samples=119,
            epsilon=0.05,
            pairs=False,
        )
        assert certificate.details.value == pytest.approx(expected.value)
    one = model.certificate(of=2)
    price = 0.0 if landmarks == "random" else np.log(120)
    assert one.divergence == pytest.approx(divergences[2] + price)
    assert statuses(one).get("choice") == ("declared" if landmarks == "random" else None)


@pytest.mark.parametrize("later", ["partial_fit", "merge"])
def test_landmarks_drawn_in_a_part_of_the_data_are_paid_for(later, sample):
    X, y = sample
    order = np.argsort(X[:, 0])
    X, y = X[order], y[order]
    options = {"n_landmarks": 6, "gamma": 0.3, "random_state": 0}
    model = PBLandmarks("random", **options).partial_fit(X[:60], y[:60], classes=[0, 1, 2])
    if later == "partial_fit":
        model.partial_fit(X[60:], y[60:])
    else:
        given = (model.landmarks_, model.landmark_labels_)
        other = PBLandmarks(given, **options).partial_fit(X[60:], y[60:], classes=[0, 1, 2])
        model = model.merge(other)
    certificate = model.certificate()
    divergences = [kl_divergence(posterior) for posterior in model.posterior_]
    assert certificate.divergence == pytest.approx(np.mean(divergences) + np.log(120 / 6))
    assert statuses(certificate)["landmarks"] == "holds"


def test_a_sample_with_another_label_is_no_sample(sample):
    X, y = sample
    model = PBLandmarks((X[:2], np.array([y[0], (y[1] + 1) % 3])), gamma=0.3, random_state=0).fit(
        X, y
    )
    assert model.is_sample_.tolist() == [True, False]
    assert statuses(model.certificate())["landmarks"] == "violated"
    all_wrong = PBLandmarks((X[:2], (y[:2] + 1) % 3), gamma=0.3, random_state=0).fit(X, y)
    assert statuses(all_wrong.certificate())["landmarks"] == "violated"
    chosen = PBLandmarks((X[:2], y[:2]), gamma=0.3, random_state=0).fit(X, y)
    assert statuses(chosen.certificate())["landmarks"] == "declared"


def test_adaptive_average_is_the_landmark_mixture(sample):
    X, y = sample
    model = PBLandmarks("medoids", n_landmarks=6, gamma=0.3, random_state=0).fit(X, y)
    expected = bounds.landmark_mixture(
        weights=np.full(6, 1 / 6),
        losses=np.sum(model.posterior_ * model.losses_, axis=1),
        divergences=[kl_divergence(posterior) for posterior in model.posterior_],
        n_train=120,
        epsilon=0.05,
    )
    assert model.certificate(bound="kl").details.value == pytest.approx(expected.value)


def test_centroids_cannot_be_certified_and_given_points_are_declared(sample):
    X, y = sample
    centroids = PBLandmarks("kmeans", n_landmarks=6, gamma=0.3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="use landmarks='medoids' or 'random'"):
        _ = centroids.certificate().value
    given = PBLandmarks((X[:4], y[:4]), gamma=0.3, random_state=0).fit(X[4:], y[4:])
    assert statuses(given.certificate())["landmarks"] == "declared"
    computed = PBLandmarks("random", n_landmarks=4, gamma="median", random_state=0).fit(X, y)
    assert statuses(computed.certificate())["prior"] == "violated"


def test_landmark_certificates_cover_the_truth():
    """200 samples, two classes on a line; landmarks drawn blindly, posteriors learned.

    If the bound failed with probability 0.05 no failure would have probability 4e-5.
    """
    rng = np.random.default_rng(1)
    for seed in range(200):
        y = rng.choice([-1, 1], 80)
        X = rng.standard_normal((80, 1)) + y[:, np.newaxis]
        model = PBLandmarks(
            "random", n_landmarks=4, n_frequencies=8, gamma=0.5, random_state=seed
        ).fit(X, y)
        truth = np.zeros((4, 8))
        for row, (point, label) in enumerate(
            zip(model.landmarks_[:, 0], model.landmark_labels_, strict=True)
        ):
            omega = model.pool_[8 * row : 8 * row + 8][:, 0].astype(float)
            # E lambda cos(omega (point - x)) with x ~ N(+-1, 1) and equal odds.
            means = [np.exp(-(omega**2) / 2) * np.cos(omega * (point - side)) for side in (-1, 1)]
            truth[row] = (1 - label * (means[1] - means[0]) / 2) / 2
        losses = np.sum(model.posterior_ * truth, axis=1)
        for bound in ("unexpected_bernstein", "kl", "catoni_grid", "hoeffding_grid"):
            assert model.certificate(bound=bound).value >= losses.mean()
            each = [item.value for item in model.certificate(of="each", bound=bound)]
            assert (np.array(each) >= losses).all()


@pytest.mark.usefixtures("data_folder")
def test_mnist_certificate_and_printed_union_bound():
    data = load("mnist17")
    rows = np.random.default_rng(0).permutation(len(data.y))
    X, y = data.X[rows].astype(np.float32), data.y[rows]
    model = PBLandmarks("random", n_landmarks=100, gamma=0.01, random_state=0).fit(
        X[:9102], y[:9102]
    )
    certificate = model.certificate()
    agreements = np.where(np.equal.outer(y[9102:], model.landmark_labels_), 1, -1)
    test_loss = np.mean(1 - agreements * model.transform(X[9102:])) / 2
    printed = bounds.printed.landmarks(
        loss=certificate.empirical_loss,
        divergence=certificate.divergence,
        n_samples=9102,
        epsilon=0.05,
        inverse_temperature=np.sqrt(9102),
        n_landmarks=100,
    )
    assert test_loss == pytest.approx(0.242, abs=0.005)
    assert certificate.value == pytest.approx(0.255, abs=0.005)
    assert printed.value == pytest.approx(0.364, abs=0.005)


def test_learned_landmarks_beat_the_prior_on_toys():
    """The toy experiment of the paper: twenty frequencies, beta = 1, twenty seeds."""
    for dataset in TOYS:
        prior, learned = (
            np.array([toy_row(dataset, split, method)["test_errors"] for split in range(20)])
            for method in ("RBF-R", "PB-R")
        )
        differences = prior - learned
        standard_error = differences.std(ddof=1) / np.sqrt(len(differences))
        assert differences.mean() > 2 * standard_error


BAD = {
    "more than rows": (lambda e, X, y: e("random", n_landmarks=121).fit(X, y), "n_landmarks must"),
    "none": (lambda e, X, y: e(n_landmarks=0).fit(X, y), "n_landmarks must be a count"),
    "above one": (lambda e, X, y: e(n_landmarks=1.5).fit(X, y), "n_landmarks must be a count"),
    "unknown rule": (lambda e, X, y: e("grid").fit(X, y), "landmarks must be"),
    "other width": (lambda e, X, y: e((X[:2, :2], y[:2])).fit(X, y), "3 columns as X has, got 2"),
    "too few labels": (lambda e, X, y: e((X[:2], y[:1])).fit(X, y), "come with 2 labels"),
    "unknown label": (lambda e, X, y: e((X[:2], [0, 9])).fit(X, y), "known classes .* got \\[9\\]"),
    "one class": (lambda e, X, y: e().fit(X, 0 * y), "at least two classes"),
    "not a number": (lambda e, X, y: e().fit(np.where(X > 0, np.nan, X), y), "NaN"),
    "numbers": (lambda e, X, y: e().fit(X, y + 0.5 * X[:, 0]), "y must hold classes"),
    "no array": (lambda e, X, y: e(X[:3]).fit(X, y), "landmarks must be"),
    "three items": (lambda e, X, y: e((X[:2], y[:2], 0)).fit(X, y), "got 3 items"),
    "points without values": (
        lambda e, X, y: e((np.full((2, 3), np.nan), y[:2])).fit(X, y),
        "landmarks contains NaN",
    ),
    "a row twice": (lambda e, X, y: e(lambda *_: [1, 1]).fit(X, y), "one of them twice"),
    "a row too many": (lambda e, X, y: e(lambda *_: [120]).fit(X, y), "indices of rows"),
    "a mask": (lambda e, X, y: e(lambda *_: y > 0).fit(X, y), "indices of rows"),
    "a truth": (lambda e, X, y: e(n_landmarks=True).fit(X, y), "n_landmarks must be a count"),
    "bad gamma": (lambda e, X, y: e(gamma=-1.0).fit(X, y), "gamma must be positive"),
}


@pytest.mark.parametrize("estimator", MAPS)
@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_a_clear_error(name, estimator, sample):
    call, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        call(estimator, *sample)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"beta": -1.0}, "beta must be positive"),
        ({"n_frequencies": 0}, "n_frequencies must be a positive integer"),
    ],
)
def test_bad_parameters_are_refused(parameters, message, sample):
    with pytest.raises(ValueError, match=message):
        PBLandmarks(**parameters).fit(*sample)


def test_bad_questions_to_a_fitted_map_are_refused(sample):
    X, y = sample
    model = PBLandmarks("random", n_landmarks=4, gamma=0.3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="of must be 'average', 'each' or an index below 4"):
        model.certificate(of=4)
    with pytest.raises(ValueError, match="bound must be 'auto'"):
        model.certificate(bound="first_order")
    with pytest.raises(ValueError, match="known classes"):
        model.partial_fit(X, y + 1)
    with pytest.raises(ValueError, match="classes must be those of the first call"):
        model.partial_fit(X, y, classes=[0, 1])
    other = PBLandmarks((model.landmarks_, [0, 1, 1, 1]), gamma=0.3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="same landmarks and frequencies"):
        model.merge(other)


def test_a_first_batch_may_miss_a_class(sample):
    X, y = sample
    model = PBLandmarks("random", n_landmarks=4, gamma=0.3, random_state=0)
    model.partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2]).partial_fit(X[y == 2], y[y == 2])
    assert model.sums_.totals.tolist() == [20, 40, 60]


def test_iris_is_separated_by_a_few_learned_similarities():
    from sklearn.linear_model import RidgeClassifier

    X, y = load_iris(return_X_y=True)
    features = PBLandmarks(n_landmarks=6, random_state=0).fit_transform(X, y)
    assert RidgeClassifier(1e-3).fit(features, y).score(features, y) > 0.9
