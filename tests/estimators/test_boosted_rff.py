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
