import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, make_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from pacfourier import PBRFF, BoostedRFF
from pacfourier.core.alignment.targets import target_of
from pacfourier.core.boosting.cosine_model import hinge_losses, moved_model, square_losses
from pacfourier.estimators import boosted_rff, training
from pacfourier.estimators.boosted_rff import _LOSSES, _round_sizes, _scaled_outputs
from pacfourier.estimators.training import drawn_frequencies


def score(features, model, X, y):
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    features.fit(X_train, y_train)
    model.fit(features.transform(X_train), y_train)
    return model.score(features.transform(X_test), y_test)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16, y


def test_few_moved_frequencies_beat_few_drawn_ones(digits):
    """Ten digits on ten frequencies."""
    model = LogisticRegression(C=100, max_iter=2000)
    boosted = score(BoostedRFF(10, random_state=0), model, *digits)
    drawn = score(PBRFF(10, random_state=0), model, *digits)
    assert boosted > 0.94
    assert 1 - boosted < 0.6 * (1 - drawn)


def test_raw_columns_of_all_sizes_do_no_harm():
    X, y = load_breast_cancer(return_X_y=True)
    model = LogisticRegression(C=10, max_iter=1000)
    assert score(BoostedRFF(5, random_state=0), model, X, y) > 0.94
    scales = 10.0 ** np.arange(-6, 24)[: X.shape[1]]
    found, expected = (
        BoostedRFF(5, random_state=0).fit(each, y).transform(each) for each in (X * scales, X)
    )
    # Columns are measured by their deviation: units do not matter, but for rounding.
    assert np.abs(np.abs(found) - np.abs(expected)).mean() < 0.05


def test_numbers_are_learned_too():
    X, y = make_regression(400, 5, noise=1.0, random_state=0)
    y = np.sin(y / 50)
    features = BoostedRFF(10, target_type="continuous", random_state=0)
    assert score(features, Ridge(1e-3), X, y) > 0.9


def test_label_sets_are_learned_too(rng):
    X = rng.standard_normal((300, 4))
    y = (X[:, :2] > 0).astype(int)
    model = BoostedRFF(4, random_state=0).fit(X, y)
    assert model.transform(X).shape == (300, 8)
    assert not hasattr(model, "classes_")


def test_sparse_samples_are_taken_as_they_are(digits):
    X, y = digits
    model = BoostedRFF(5, random_state=0).fit(sparse.csr_array(X), y)
    assert model.transform(sparse.csr_array(X)).shape == (len(y), 10)
    machine = LogisticRegression(C=100, max_iter=2000).fit(model.transform(X), y)
    assert machine.score(model.transform(X), y) > 0.9


def test_one_seed_gives_the_same_frequencies_on_any_number_of_threads(digits):
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.append(BoostedRFF(5, random_state=3).fit(*digits).frequencies_)
    np.testing.assert_array_equal(*found)
    other = BoostedRFF(5, random_state=4).fit(*digits).frequencies_
    assert not np.array_equal(found[0], other)


def test_threads_do_not_change_wide_models(rng):
    """BLAS adds more than ten thousand numbers in as many parts as it has threads."""
    X = rng.standard_normal((200, 600))
    y = np.where(X[:, :5].sum(axis=1) > 0, "b", "a")
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            model = BoostedRFF(20, n_rounds=2, n_steps=5, random_state=0).fit(X, y)
            found.append(model.frequencies_)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e8, 3.3e-9])
def test_no_frequency_looks_at_a_column_that_never_varied(value, container, rng):
    """0.1 and 3.3e-9 are no sums of powers of two: their mean is rounded, their deviation not 0."""
    X = rng.standard_normal((100, 4))
    X[:, 2] = value
    y = X[:, 0] > 0
    model = BoostedRFF(3, random_state=0).fit(container(X), y)
    assert (model.frequencies_[:, 2] == 0).all()
    plain = BoostedRFF(3, random_state=0).fit(container(X * [1, 1, 0, 1]), y)
    np.testing.assert_allclose(model.frequencies_, plain.frequencies_, atol=1e-5)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("dtype", "scale"),
    [(np.float64, 1e-60), (np.float64, 1e60), (np.float32, 1e-30), (np.float32, 1e30)],
)
def test_units_may_be_of_any_size(dtype, scale, container, rng):
    X = rng.standard_normal((60, 3))
    y = X[:, 0] > 0
    features = BoostedRFF(3, n_rounds=1, n_steps=10, random_state=0)
    expected = features.fit_transform(container(X), y)
    found = features.fit_transform(container((X * scale).astype(dtype)), y)
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_where_the_origin_lies_does_not_matter(rng):
    X = rng.standard_normal((60, 3))
    y = X[:, 0] > 0
    features = BoostedRFF(3, n_rounds=1, n_steps=10, random_state=0)
    expected = features.fit(X, y).frequencies_
    found = features.fit(X + np.array([1e3, -1e5, 0]), y).frequencies_
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_numbers_may_be_of_any_size(scale, rng):
    X = rng.standard_normal((60, 3))
    found, expected = (
        BoostedRFF(3, target_type="continuous", n_rounds=1, random_state=0)
        .fit(X, each)
        .transform(X)
        for each in (X[:, 0] * scale, X[:, 0])
    )
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_rounds_go_on_where_nothing_is_left_to_explain(rng):
    """Two far groups and hardly a penalty: every margin is met after the first round."""
    y = np.resize([-1, 1], 80)
    X = y[:, np.newaxis] + 0.01 * rng.standard_normal((80, 2))
    model = BoostedRFF(8, ridge=1e-9, n_steps=500, random_state=0).fit(X, y)
    assert np.isfinite(model.frequencies_).all()


def test_the_order_of_small_samples_does_not_matter(rng):
    """Double precision: what a round makes of rounding stays under 1e-8, single would not."""
    X = rng.standard_normal((100, 4))
    y = X[:, 0] + 0.3 * rng.standard_normal(100) > 0
    features = BoostedRFF(4, n_rounds=1, n_steps=10, random_state=0)
    found = features.fit(X[::-1], y[::-1]).frequencies_
    np.testing.assert_allclose(found, features.fit(X, y).frequencies_, atol=1e-8)


@pytest.mark.parametrize("kind", ["classes", "numbers", "sparse"])
def test_a_weight_counts_copies(kind, rng):
    X = rng.standard_normal((60, 3))
    y = X[:, 0] + X[:, 1] if kind == "numbers" else X[:, 0] + X[:, 1] > 0
    weights = rng.integers(0, 4, 60)
    container = sparse.csr_array if kind == "sparse" else np.asarray
    features = BoostedRFF(3, n_rounds=2, n_steps=10, random_state=0)
    found = features.fit(container(X), y, sample_weight=weights).frequencies_
    copies = np.repeat(np.arange(60), weights)
    expected = features.fit(container(X[copies]), y[copies]).frequencies_
    np.testing.assert_allclose(found, expected, atol=1e-7)
    # Twice the copies are twice the sample: the prior holds back less.
    assert not np.allclose(
        features.fit(container(X), y, sample_weight=2 * weights).frequencies_, expected, atol=1e-3
    )


def test_integers_that_look_like_numbers_are_warned_of(rng):
    with pytest.warns(UserWarning, match="target_type='continuous'") as caught:
        BoostedRFF(2, n_steps=1).fit(rng.standard_normal((30, 2)), np.arange(30))
    assert caught[0].filename == __file__


def test_verbose_writes_a_line_a_round(rng, capsys):
    X = rng.standard_normal((50, 2))
    BoostedRFF(5, n_rounds=3, verbose=True, random_state=0).fit(X, X[:, 0] > 0)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" mean loss ")[0] for line in lines] == [
        f"BoostedRFF: round {number}/3:" for number in (1, 2, 3)
    ]
    losses = [float(line.split()[-1]) for line in lines]
    assert losses[0] < 1
    BoostedRFF(5, random_state=0).fit(X, X[:, 0] > 0)
    assert capsys.readouterr().err == ""


@pytest.fixture
def watched(monkeypatch):
    """What each round draws from, and the penalties under which its frequencies move."""
    draws, penalties = [], []

    def drawn(X, residuals, pool, size):
        draws.append((residuals, pool))
        return drawn_frequencies(X, residuals, pool, size)

    def moved(*arguments, **options):
        penalties.append(arguments[5])
        return moved_model(*arguments, **options)

    monkeypatch.setattr(boosted_rff, "drawn_frequencies", drawn)
    monkeypatch.setattr(boosted_rff, "moved_model", moved)
    return draws, penalties


def test_every_round_draws_new_candidates_by_new_residuals(watched, rng):
    X = rng.standard_normal((80, 3))
    BoostedRFF(4, n_rounds=2, random_state=0).fit(X, X[:, 0] > 0)
    (first, candidates), (second, others) = watched[0]
    assert np.abs(second).sum() < 0.5 * np.abs(first).sum()
    assert (candidates[:] == others[:]).mean() < 0.01


def test_constant_columns_are_left_out(rng):
    """The model is that without them, up to rounding, and does not see them."""
    X = rng.standard_normal((90, 4))
    y = X[:, 0] * X[:, 1] > 0
    wide = np.insert(X, [1, 4], [5.0, 0.0], axis=1)
    model = BoostedRFF(3, n_rounds=1, n_steps=5, random_state=0).fit(wide, y)
    without = BoostedRFF(3, n_rounds=1, n_steps=5, random_state=0).fit(X, y)
    assert not model.frequencies_[:, [1, 5]].any()
    others = np.delete(model.frequencies_, [1, 5], axis=1)
    np.testing.assert_allclose(others, without.frequencies_, rtol=1e-6)
    assert not BoostedRFF(3).fit(0 * X, y).frequencies_.any()


def test_draws_are_balanced_between_classes(watched, rng):
    """The intercept is free: what is too low and what is too high weigh the same.

    Exactly so before the first step, nearly so where the steps have not ended.
    """
    X = rng.standard_normal((400, 3))
    y = np.select([X[:, 0] > 1.3, X[:, 1] > 1], [2, 1], 0)
    assert 0.05 < (y == 2).mean() < 0.15
    BoostedRFF(4, random_state=0).fit(X, y)
    for number, (residuals, _) in enumerate(watched[0]):
        shares = np.maximum(residuals, 0).sum(axis=0) / np.abs(residuals).sum(axis=0)
        np.testing.assert_allclose(shares, 0.5, atol=1e-12 if number == 0 else 0.1)


def test_the_price_of_the_prior_is_shared_by_the_sample(watched, rng):
    """A quarter of the mean squared distance, which is twice the number of columns that vary."""
    X = rng.standard_normal((80, 3)) * [1, 100, 0]
    features = BoostedRFF(1, ridge=0.3, random_state=0)
    features.fit(X, X[:, 0] > 0)
    features.fit(X, X[:, 0] > 0, sample_weight=np.full(80, 2.5))
    assert [tuple(each) for each in watched[1]] == [(0.3, 0.25 * 4 / 80), (0.3, 0.25 * 4 / 200)]


def test_labels_become_signs_and_numbers_of_deviation_one():
    def outputs(y, copies=None):
        y = np.asarray(y)
        copies = np.ones(len(y)) if copies is None else copies
        values, loss = _scaled_outputs(target_of(y), y, copies)
        return values, _LOSSES[loss]

    signs, losses = outputs(["b", "a", "b"])
    np.testing.assert_array_equal(signs, [[1], [-1], [1]])
    assert losses is hinge_losses
    signs, losses = outputs([3, 1, 2])
    np.testing.assert_array_equal(signs, [[-1, -1, 1], [1, -1, -1], [-1, 1, -1]])
    assert losses is hinge_losses
    signs, losses = outputs([[0, 1], [1, 1]])
    np.testing.assert_array_equal(signs, [[-1, 1], [1, 1]])
    assert losses is hinge_losses
    values, losses = outputs([[0.5, 7.0], [2.5, 7.0], [2.5, 7.0]], np.array([2.0, 1.0, 1.0]))
    np.testing.assert_allclose(values, [[-1, 0], [1, 0], [1, 0]])
    assert losses is square_losses


def test_a_round_may_take_more_frequencies_than_there_are_candidates_by_default(rng):
    X = rng.standard_normal((20, 2))
    model = BoostedRFF(1300, n_rounds=1, n_steps=1, random_state=0).fit(X, X[:, 0] > 0)
    assert len(np.unique(model.frequencies_, axis=0)) == 1300


def test_small_work_is_done_in_double_precision():
    features = BoostedRFF(10)
    assert features._dtype((1000, 100), 20) is np.float64
    assert features._dtype((10000, 1000), 20) is np.float32


@pytest.mark.parametrize(
    ("n_samples", "n_steps"), [(2, 20), (1_600, 20), (3_600, 30), (8_268, 45), (10**7, 50)]
)
def test_large_samples_take_more_steps(n_samples, n_steps):
    assert BoostedRFF()._steps(n_samples) == n_steps
    assert BoostedRFF(n_steps=7)._steps(n_samples) == 7


def test_weights_count_as_copies_for_the_number_of_steps(monkeypatch, rng):
    taken = []

    def moved(model, *arguments, n_steps):
        del arguments
        taken.append(n_steps)
        return model

    monkeypatch.setattr(boosted_rff, "moved_model", moved)
    X = rng.standard_normal((40, 2))
    BoostedRFF(2, random_state=0).fit(X, X[:, 0] > 0, np.full(40, 90.0))
    assert taken == [30, 30]


def test_rounds_share_the_frequencies():
    assert _round_sizes(10, 4) == [3, 3, 2, 2]
    assert _round_sizes(2, 4) == [1, 1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_frequencies": 0}, "n_frequencies must be"),
        ({"n_rounds": 0}, "n_rounds must be"),
        ({"n_steps": 1.5}, "n_steps must be a positive integer or 'auto'"),
        ({"ridge": -1.0}, "ridge must be positive"),
        ({"target_type": "text"}, "target_type must be"),
    ],
)
def test_bad_parameters_are_named(parameters, message, rng):
    X = rng.standard_normal((20, 2))
    with pytest.raises(ValueError, match=message):
        BoostedRFF(**parameters).fit(X, np.arange(20) % 2)


@pytest.fixture
def few_are_many(monkeypatch):
    """Samples of 400 rows count as large, and 300 of them are enough to draw from."""
    monkeypatch.setattr(boosted_rff, "LARGE_SAMPLE", 400)
    monkeypatch.setattr(training, "_START_ROWS", 300)


def wide_sample(rng, n_samples=500):
    X = rng.standard_normal((n_samples, 12))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.usefixtures("few_are_many")
def test_mini_batches_learn_classes_numbers_and_label_sets(digits, rng):
    model = LogisticRegression(C=100, max_iter=2000)
    assert score(BoostedRFF(10, random_state=0), model, *digits) > 0.94
    X, y = make_regression(2000, 11, n_informative=3, noise=1.0, random_state=0)
    features = BoostedRFF(20, target_type="continuous", random_state=0)
    assert score(features, Ridge(1e-3), X, np.sin(y / 50)) > 0.9
    X = rng.standard_normal((1000, 11))
    both = (X[:, :2] > 0).astype(int)
    features = BoostedRFF(4, random_state=0).fit(X, both)
    for labels in both.T:
        found = LogisticRegression(C=100).fit(features.transform(X), labels)
        assert found.score(features.transform(X), labels) > 0.93


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize(
    ("change", "is_descended"),
    [
        ({}, True),
        ({"n_samples": 399}, False),
        ({"n_columns": 10}, False),
        ({"container": sparse.csr_array}, False),
        ({"n_steps": 5}, False),
    ],
)
def test_mini_batches_are_for_large_dense_samples(change, is_descended, watched, rng):
    X, y = wide_sample(rng, change.get("n_samples", 400))
    X = change.get("container", np.asarray)(X[:, : change.get("n_columns", 12)])
    BoostedRFF(2, n_rounds=1, n_steps=change.get("n_steps", "auto"), random_state=0).fit(X, y)
    assert (watched[1] == []) == is_descended


@pytest.mark.usefixtures("few_are_many")
def test_the_number_of_threads_changes_no_large_fit(rng):
    X, y = wide_sample(rng)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.append(BoostedRFF(5, random_state=3).fit(X, y).frequencies_)
    np.testing.assert_array_equal(*found)


@pytest.mark.usefixtures("few_are_many")
def test_large_samples_may_have_constant_columns_and_any_units(rng):
    X, y = wide_sample(rng)
    wide = np.insert(X, 3, 5.0, axis=1)
    model = BoostedRFF(6, random_state=0).fit(wide, y)
    assert not model.frequencies_[:, 3].any()
    # Powers of two change no digit.
    scales = 2.0 ** np.arange(-6, 7)
    scaled = BoostedRFF(6, random_state=0).fit(wide * scales, y)
    np.testing.assert_allclose(scaled.frequencies_ * scales, model.frequencies_, rtol=1e-6)


@pytest.mark.usefixtures("few_are_many")
def test_large_samples_see_weights_and_labels_in_any_order(rng):
    """Rows of weight zero are not there, and sorted labels do no harm."""
    X, y = wide_sample(rng, 2000)
    weights = np.repeat([1.0, 0.0], [1500, 500])
    features = BoostedRFF(6, random_state=0)
    expected = features.fit(X[:1500], y[:1500]).frequencies_
    np.testing.assert_array_equal(features.fit(X, y, weights).frequencies_, expected)
    order = np.argsort(y, kind="stable")
    features.fit(X[order], y[order])
    found = LogisticRegression(C=100, max_iter=1000).fit(features.transform(X), y)
    assert found.score(features.transform(X), y) > 0.9


@pytest.mark.usefixtures("few_are_many")
def test_rounds_of_large_samples_are_reported(capsys, rng):
    X, y = wide_sample(rng)
    BoostedRFF(6, n_rounds=3, verbose=True, random_state=0).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(" mean")[0] for line in lines] == [
        f"BoostedRFF: round {number}/3:" for number in (1, 2, 3)
    ]
    losses = [float(line.split()[-1]) for line in lines]
    assert losses[2] < losses[0] < 1
