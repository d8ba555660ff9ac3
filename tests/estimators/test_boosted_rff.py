import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, make_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from pacfourier import PBRFF, BoostedRFF
from pacfourier.estimators.boosted_rff import _round_sizes


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
    features = BoostedRFF(10, labels="continuous", random_state=0)
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
    model = BoostedRFF(3, n_rounds=1, random_state=0).fit(container((X * scale).astype(dtype)), y)
    expected = BoostedRFF(3, n_rounds=1, random_state=0).fit(container(X), y)
    np.testing.assert_allclose(
        model.transform(container((X * scale).astype(dtype))),
        expected.transform(container(X)),
        atol=1e-3,
    )


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_numbers_may_be_of_any_size(scale, rng):
    X = rng.standard_normal((60, 3))
    found, expected = (
        BoostedRFF(3, labels="continuous", n_rounds=1, random_state=0).fit(X, each).frequencies_
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
    """Double precision: what steps make of rounding stays under 1e-5."""
    X = rng.standard_normal((100, 4))
    y = X[:, 0] + 0.3 * rng.standard_normal(100) > 0
    found = BoostedRFF(4, random_state=0).fit(X[::-1], y[::-1]).frequencies_
    expected = BoostedRFF(4, random_state=0).fit(X, y).frequencies_
    np.testing.assert_allclose(found, expected, atol=1e-5)


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
    with pytest.warns(UserWarning, match="labels='continuous'"):
        BoostedRFF(2, n_steps=1).fit(rng.standard_normal((30, 2)), np.arange(30))


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


def test_rounds_share_the_frequencies():
    assert _round_sizes(10, 4) == [3, 3, 2, 2]
    assert _round_sizes(2, 4) == [1, 1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_frequencies": 0}, "n_frequencies must be"),
        ({"n_rounds": 0}, "n_rounds must be"),
        ({"n_steps": 1.5}, "n_steps must be"),
        ({"ridge": -1.0}, "ridge must be positive"),
        ({"labels": "text"}, "labels must be one of"),
    ],
)
def test_bad_parameters_are_named(parameters, message, rng):
    X = rng.standard_normal((20, 2))
    with pytest.raises(ValueError, match=message):
        BoostedRFF(**parameters).fit(X, np.arange(20) % 2)
