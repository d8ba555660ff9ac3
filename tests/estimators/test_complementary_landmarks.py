import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from threadpoolctl import threadpool_limits

from pacfourier import PBLandmarks, RBFLandmarks
from pacfourier.core.sampling.complementary_columns import forward_columns
from pacfourier.data.distances import kernel_matrix
from pacfourier.spectra import RBF


@pytest.fixture
def sample(rng):
    y = np.resize([0, 1, 1, 2, 2, 2], 120)
    return rng.standard_normal((120, 3)) + y[:, np.newaxis], y


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_landmarks_are_distinct_samples(container, sample):
    X, y = sample
    model = RBFLandmarks("complementary", n_landmarks=10, random_state=0).fit(container(X), y)
    assert len(set(model.landmark_indices_)) == 10
    np.testing.assert_array_equal(model.landmark_labels_, y[model.landmark_indices_])
    assert model.transform(container(X)).shape == (120, 10)
    again = clone(model).fit(container(X), y)
    np.testing.assert_array_equal(again.landmark_indices_, model.landmark_indices_)


def test_copies_of_rows_are_taken_once_while_there_are_others(sample):
    X, y = sample
    X, y = np.repeat(X[:12], 10, axis=0), np.repeat(y[:12], 10)
    some = RBFLandmarks("complementary", n_landmarks=12, random_state=0).fit(X, y)
    assert len(np.unique(some.landmarks_, axis=0)) == 12
    more = RBFLandmarks("complementary", n_landmarks=15, random_state=0).fit(X, y)
    assert len(set(more.landmark_indices_)) == 15


def test_rbf_landmarks_are_chosen_by_forward_selection_on_the_kernel(sample):
    X, y = sample
    model = RBFLandmarks("complementary", n_landmarks=8, gamma=0.3, random_state=0).fit(X, y)
    # All 120 rows compete, and the order of the candidates does not matter.
    columns = kernel_matrix(RBF(0.3), X, X)
    chosen = forward_columns(columns, np.eye(3)[y], 8)
    np.testing.assert_array_equal(model.landmark_indices_, chosen)


def errors(model, digits):
    X, y, X_test, y_test = digits
    machine = RidgeClassifier(1e-3).fit(model.fit(X, y).transform(X), y)
    return 100 - 100 * machine.score(model.transform(X_test), y_test)


def test_complementary_landmarks_predict_better_than_random_ones():
    X, y = load_digits(return_X_y=True)
    digits = (X[:900] / 16, y[:900], X[900:] / 16, y[900:])
    rules = ("complementary", "random")
    together, random = (
        np.mean([errors(RBFLandmarks(r, n_landmarks=30, random_state=s), digits) for s in range(2)])
        for r in rules
    )
    assert together < 0.9 * random


def test_threads_do_not_change_the_choice_among_near_copies():
    """With products in several threads, one of the thirty landmarks was another."""
    rng = np.random.default_rng(2)
    X = np.repeat(rng.standard_normal((300, 23)), 5, axis=0)
    X = (X * (1 + 1e-7 * rng.standard_normal(X.shape))).astype(np.float32)[rng.permutation(1500)]
    y = X[:, 0] + 0.5 * rng.standard_normal(1500) > 0
    model = RBFLandmarks("complementary", n_landmarks=30, random_state=0)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            found.append((model.fit(X, y).landmark_indices_, model.transform(X)))
    np.testing.assert_array_equal(*(landmarks for landmarks, _ in found))
    np.testing.assert_array_equal(*(similarities for _, similarities in found))


def test_a_fraction_of_many_rows_gives_the_most_landmarks_that_are_possible(rng):
    X, y = rng.standard_normal((700, 2)), np.resize([0, 1], 700)
    model = RBFLandmarks("complementary", n_landmarks=0.5, random_state=0).fit(X, y)
    assert len(model.landmarks_) == 300
    for refused in (1.5, 301, True, "all"):
        with pytest.raises(ValueError, match="n_landmarks must be"):
            clone(model).set_params(n_landmarks=refused).fit(X, y)


def test_medoids_follow_where_kernels_explain_nothing_more():
    """The kernels of rows far apart are zero, so only the first few of 40 explain anything."""
    X, y = np.arange(60.0)[:, np.newaxis] % 3, np.resize([0, 1, 1], 60)
    model = RBFLandmarks("complementary", n_landmarks=40, gamma=1e3, random_state=0).fit(X, y)
    assert len(set(model.landmark_indices_)) == 40
    assert set(model.landmarks_[:2].ravel()) <= {0.0, 1.0, 2.0}


def test_too_many_landmarks_are_refused():
    with pytest.raises(ValueError, match=r"at most 300 .* got 301"):
        RBFLandmarks("complementary", n_landmarks=301).fit(np.zeros((400, 2)), np.arange(400) % 2)


def test_learned_landmarks_are_not_chosen_together(sample):
    with pytest.raises(ValueError, match="landmarks must be"):
        PBLandmarks("complementary").fit(*sample)
