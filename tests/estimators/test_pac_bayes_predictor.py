import numpy as np
import pytest
from sklearn.datasets import load_digits, make_moons

from pacfourier import FourierClassifier
from pacfourier.estimators.pac_bayes_predictor import weights_of, with_weights


def moons(n_samples, seed):
    return make_moons(n_samples, noise=0.2, random_state=seed)


@pytest.fixture(scope="module")
def fitted():
    X, y = moons(1200, 0)
    model = FourierClassifier(8, strength=1.0, codes=False, certify="pac-bayes", random_state=0)
    return model.fit(X, y)


def test_the_certificate_bounds_the_error_of_the_drawn_predictor(fitted):
    X, y = moons(20_000, 1)
    error = 1 - fitted.score(X, y)
    assert error < fitted.certificate_.error < 0.2
    assert fitted.certificate_.n_samples == 600


def test_predictions_are_those_of_the_weights_that_were_drawn(fitted):
    """Their errors on the fresh rows are those that the certificate counts."""
    X, y = moons(1200, 0)
    found = weights_of(fitted._trained.model)
    drawn = fitted.certificate_.drawn
    cosine = found @ drawn / np.linalg.norm(found) / np.linalg.norm(drawn)
    assert cosine == pytest.approx(1, abs=1e-12)
    wrong = fitted.predict(X) != y
    assert fitted.certificate_.observed_error * 600 <= wrong.sum()


def test_random_labels_are_not_certified_better_than_chance():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 3)), rng.integers(0, 2, 600)
    model = FourierClassifier(5, strength=1.0, codes=False, certify="pac-bayes", random_state=0)
    assert model.fit(X, y).certificate_.error >= 0.5


def test_weights_go_in_and_out(fitted):
    model = fitted._trained.model
    vector = np.arange(len(weights_of(model)), dtype=np.float64)
    np.testing.assert_array_equal(weights_of(with_weights(model, vector)), vector)


def test_more_classes_are_refused():
    X, y = load_digits(return_X_y=True)
    with pytest.raises(ValueError, match="two classes and a dense array, got 10 classes"):
        FourierClassifier(3, strength=1.0, certify="pac-bayes").fit(X[:200], y[:200])
