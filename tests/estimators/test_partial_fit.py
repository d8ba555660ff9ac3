"""Predictors that learn from rows as they arrive."""

import copy
import math
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import (
    load_digits,
    load_iris,
    make_friedman1,
    make_moons,
    make_multilabel_classification,
)

from pacfourier import FourierClassifier, FourierRegressor
from pacfourier.core.boosting.cosine_model import CosineModel
from pacfourier.core.boosting.descent import Decays
from pacfourier.estimators.streaming import (
    _FORGETTING,
    _PATIENCE,
    USUAL_ALPHA,
    _averaged,
    _falling_decays,
    _falling_rate,
)
from pacfourier.estimators.training import PEAK_RATE

ORDER = np.random.default_rng(0).permutation(1797)
DIGITS, DIGIT_CLASSES = (part[ORDER] for part in load_digits(return_X_y=True))
IRIS_ORDER = np.random.default_rng(1).permutation(150)
IRIS, IRIS_CLASSES = (part[IRIS_ORDER] for part in load_iris(return_X_y=True))
AMOUNTS = make_friedman1(2000, noise=0.5, random_state=0)


def taught(model, X, y, n_calls, size, **parameters):
    """Return the model after calls with parts of the rows, again from the start at their end."""
    for call in range(n_calls):
        start = call * size % len(y)
        model.partial_fit(X[start : start + size], y[start : start + size], **parameters)
    return model


@pytest.mark.parametrize("size", [1200, 200])
def test_thirty_calls_come_close_to_a_fit(size):
    fit = FourierClassifier(30, alpha=1.0, piecewise=False, random_state=0)
    expected = fit.fit(DIGITS[:1200], DIGIT_CLASSES[:1200]).score(
        DIGITS[1200:], DIGIT_CLASSES[1200:]
    )
    model = FourierClassifier(30, random_state=0)
    taught(model, DIGITS[:1200], DIGIT_CLASSES[:1200], 30, size)
    assert expected > 0.97
    assert model.score(DIGITS[1200:], DIGIT_CLASSES[1200:]) > expected - 0.03
    assert (model.alpha_, model.piecewise_) == (USUAL_ALPHA, False)


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_amounts_are_learned_in_parts(loss):
    X, y = AMOUNTS[0], 1e4 + 1e3 * AMOUNTS[1]
    model = taught(FourierRegressor(20, loss=loss, random_state=0), X[:1200], y[:1200], 30, 400)
    assert model.score(X[1200:], y[1200:]) > 0.93
    both = np.column_stack([y, -y])
    several = FourierRegressor(5, random_state=0).partial_fit(X, both)
    assert several.predict(X).shape == (2000, 2)
    with pytest.raises(ValueError, match="y must have 2 outputs as before"):
        several.partial_fit(X, y)


def test_rates_fall_slowly():
    rates = [_falling_rate(step) for step in range(10_000)]
    assert rates[0] == PEAK_RATE
    assert (np.diff(rates) < 0).all()
    assert rates[_PATIENCE] == pytest.approx(PEAK_RATE / np.sqrt(2))
    # Their sum has no limit, so that no start is out of reach.
    assert rates[9999] > PEAK_RATE / 10


def test_decays_fall_with_the_rows_seen():
    decays = Decays(0.3, 0.1, 1.0)
    assert _falling_decays(decays, 0) == decays
    assert _falling_decays(decays, _PATIENCE) == tuple(decay / 2 for decay in decays)


def test_the_average_weighs_recent_models_more(rng):
    models = [
        CosineModel(*(rng.standard_normal((2, 3)).astype(np.float32) for _ in range(5)))
        for _ in range(6)
    ]
    found = models[0].zeros()
    for step, model in enumerate(models, start=1):
        found = _averaged(found, model, step)
    # In closed form, model s has a weight proportional to s (s + 1) ... (s + 8).
    shares = [math.perm(s + _FORGETTING - 1, _FORGETTING) for s in range(1, 7)]
    expected = np.average([model.packed() for model in models], axis=0, weights=shares)
    np.testing.assert_allclose(found.packed(), expected, rtol=1e-5, atol=1e-6)


def test_a_long_stream_does_not_get_worse():
    X_test, y_test = make_moons(2000, noise=0.2, random_state=1000)
    model, scores = FourierClassifier(50, random_state=0), []
    for call in range(160):
        model.partial_fit(*make_moons(100, noise=0.2, random_state=call))
        if call in (19, 79, 159):
            scores.append(model.score(X_test, y_test))
    # The best possible score is about 0.97.
    assert scores[0] < scores[1] < scores[2] + 0.01
    assert scores[2] > 0.95


def test_the_first_call_describes_columns_and_later_ones_do_not_change_them():
    model = FourierClassifier(5, random_state=0).partial_fit(IRIS[:90], IRIS_CLASSES[:90])
    columns = model._trained.columns
    np.testing.assert_allclose(columns.units, IRIS[:90].std(axis=0))
    model.partial_fit(100 * IRIS[90:], IRIS_CLASSES[90:])
    assert model._trained.columns is columns


def test_classes_of_later_batches_may_be_named_before():
    first = IRIS_CLASSES < 2
    model = FourierClassifier(5, random_state=0)
    model.partial_fit(IRIS[first], IRIS_CLASSES[first], classes=[2, 1, 0])
    assert model.classes_.tolist() == [0, 1, 2]
    taught(model, IRIS, IRIS_CLASSES, 20, 150, classes=[0, 1, 2])
    assert model.score(IRIS, IRIS_CLASSES) > 0.9


def test_label_sets_are_learned_in_parts():
    X, y = make_multilabel_classification(300, n_classes=3, random_state=0)
    model = taught(FourierClassifier(5, random_state=0), X, y, 9, 100)
    share = y.mean(axis=0)
    assert (model.predict(X) == y).mean() > np.maximum(share, 1 - share).mean() + 0.05
    with pytest.raises(ValueError, match="3 columns of zeros and ones as before"):
        model.partial_fit(X, y[:, :2])


def test_sparse_rows_are_learned_in_parts():
    model = taught(
        FourierClassifier(10, random_state=0), sparse.csr_array(DIGITS), DIGIT_CLASSES, 9, 600
    )
    assert model.score(sparse.csr_array(DIGITS), DIGIT_CLASSES) > 0.9


@pytest.mark.parametrize("kind", [FourierClassifier, FourierRegressor])
def test_calls_are_reproducible_and_survive_pickling(kind):
    first = taught(kind(5, random_state=0), IRIS, IRIS_CLASSES, 3, 50)
    second = taught(kind(5, random_state=0), IRIS, IRIS_CLASSES, 2, 50)
    loaded = pickle.loads(pickle.dumps(second))
    loaded.partial_fit(IRIS[100:], IRIS_CLASSES[100:])
    np.testing.assert_array_equal(first.frequencies_, loaded.frequencies_)
    assert not np.array_equal(first.frequencies_, second.frequencies_)


def test_a_call_does_not_reach_into_copies():
    model = FourierClassifier(5, random_state=0).partial_fit(IRIS, IRIS_CLASSES)
    copied, before = copy.copy(model), model.frequencies_.copy()
    model.partial_fit(IRIS, IRIS_CLASSES)
    np.testing.assert_array_equal(copied.frequencies_, before)


def test_only_ratios_of_weights_matter_across_calls():
    weights = np.linspace(1, 2, 150)
    models = [FourierClassifier(5, random_state=0) for _ in range(3)]
    for part in (slice(0, 75), slice(75, None)):
        models[0].partial_fit(IRIS[part], IRIS_CLASSES[part], sample_weight=weights[part])
        models[1].partial_fit(IRIS[part], IRIS_CLASSES[part], sample_weight=8 * weights[part])
        models[2].partial_fit(IRIS[part], IRIS_CLASSES[part])
    np.testing.assert_allclose(models[0].frequencies_, models[1].frequencies_, atol=1e-5)
    assert not np.allclose(models[0].frequencies_, models[2].frequencies_, atol=1e-5)


def test_after_a_fit_learning_goes_on_and_a_fit_begins_again():
    """New rows with a new rule: the model follows them."""
    model = FourierClassifier(5, alpha=0.5, random_state=0).fit(IRIS, IRIS_CLASSES)
    before = model.score(IRIS, IRIS_CLASSES)
    model.partial_fit(IRIS, IRIS_CLASSES)
    assert model.alpha_ == 0.5
    assert model.score(IRIS, IRIS_CLASSES) > before - 0.03
    taught(model, IRIS, 2 - IRIS_CLASSES, 40, 150)
    assert model.score(IRIS, 2 - IRIS_CLASSES) > 0.9
    model.fit(IRIS, IRIS_CLASSES)
    assert not hasattr(model, "_stream")
    assert model.score(IRIS, IRIS_CLASSES) == before


def test_a_call_removes_the_certificate_of_an_earlier_fit():
    model = FourierClassifier(2, alpha=1.0, piecewise=False, certify=0.3, random_state=0)
    model.fit(IRIS, IRIS_CLASSES).set_params(certify=False)
    assert not hasattr(model.partial_fit(IRIS, IRIS_CLASSES), "certificate_")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda model: model.partial_fit(IRIS, IRIS_CLASSES + 1),
            r"known classes \[0, 1, 2\], got",
        ),
        (lambda model: model.partial_fit(IRIS[:, :3], IRIS_CLASSES), "X has 3 features"),
        (
            lambda model: model.partial_fit(IRIS, IRIS_CLASSES, classes=[0, 1]),
            "classes must be those of the first call",
        ),
        (
            lambda model: model.set_params(certify=0.2).partial_fit(IRIS, IRIS_CLASSES),
            "certify must be False if rows come in parts",
        ),
        (
            lambda model: model.set_params(class_weight="balanced").partial_fit(IRIS, IRIS_CLASSES),
            "class_weight must be a dict or None",
        ),
    ],
)
def test_calls_that_do_not_fit_the_first_are_refused(call, message):
    model = FourierClassifier(2, random_state=0).partial_fit(IRIS, IRIS_CLASSES)
    before = model._stream
    with pytest.raises(ValueError, match=message):
        call(model)
    assert model._stream is before


def test_codes_need_all_rows():
    with pytest.raises(ValueError, match="piecewise must be False"):
        FourierClassifier(2, piecewise=True).partial_fit(IRIS, IRIS_CLASSES)
