"""Huge numbers and unusual labels give a right result, or an error that says what to do."""

import datetime as dt
import re

import numpy as np
import pytest
from scipy import sparse

from pacfourier import (
    OKRFF,
    PBRFF,
    RFF,
    BoostedRFF,
    FourierClassifier,
    FourierRegressor,
    GibbsRFF,
    PBLandmarks,
    RBFLandmarks,
    alignment_losses,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
Y = (X[:, 0] > 0).astype(int)
QUICK = {"alpha": 1.0, "piecewise": False, "random_state": 0}
LEARNED = {
    "PBRFF": PBRFF(5, n_candidates=40, random_state=0),
    "OKRFF": OKRFF(5, n_candidates=40, random_state=0),
    "GibbsRFF": GibbsRFF(5, random_state=0),
    "BoostedRFF": BoostedRFF(2, random_state=0),
    "RBFLandmarks": RBFLandmarks(n_landmarks=5, random_state=0),
    "PBLandmarks": PBLandmarks(n_landmarks=5, n_frequencies=8, random_state=0),
    "FourierClassifier": FourierClassifier(3, **QUICK),
    "FourierRegressor": FourierRegressor(3, **QUICK),
}
ALL = {"RFF": RFF(5, random_state=0), **LEARNED}


def outputs(model, rows):
    return model.predict(rows) if hasattr(model, "predict") else model.transform(rows)


def with_value(value, kind):
    rows = X.copy()
    rows[3, 1] = value
    return sparse.csr_matrix(rows) if kind == "sparse" else rows


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("value", [2e75, -1e200, 1e308])
@pytest.mark.parametrize("name", ALL)
def test_values_whose_powers_overflow_are_refused(name, value, kind):
    message = rf"X must lie between -1e75 and 1e75 for {name}, got {re.escape(f'{value:g}')}: "
    with pytest.raises(ValueError, match=message):
        ALL[name].fit(with_value(value, kind), Y)
    model = ALL[name].fit(X, Y)
    with pytest.raises(ValueError, match=message):
        outputs(model, with_value(value, kind))


@pytest.mark.parametrize("name", ALL)
def test_the_largest_values_give_finite_results(name):
    rows = X * 1e75 / np.abs(X).max()
    assert np.isfinite(outputs(ALL[name].fit(rows, Y), rows)).all()


def test_losses_refuse_values_whose_powers_overflow():
    with pytest.raises(ValueError, match="X must lie between -1e75 and 1e75"):
        alignment_losses(with_value(1e200, "dense"), Y, np.ones((2, 3)))


def test_amounts_whose_powers_overflow_are_refused():
    with pytest.raises(ValueError, match=r"y must lie between .* for FourierRegressor, got -1.3"):
        FourierRegressor(3, **QUICK).fit(X, X[:, 0] / X[:, 0].max() * 1e200)


# BoostedRFF measures columns in their own units first.
@pytest.mark.parametrize("size", [2e15, 3e38])
@pytest.mark.parametrize("name", [name for name in ALL if name != "BoostedRFF"])
def test_values_whose_squares_overflow_in_single_precision_are_refused(name, size):
    rows = (X / np.abs(X).max() * size).astype(np.float32)
    message = rf"X must lie between -1e15 and 1e15 for {name}, got .*: pass X in double precision"
    with pytest.raises(ValueError, match=message):
        ALL[name].fit(rows, Y)


@pytest.mark.parametrize("name", ALL)
def test_the_largest_values_in_single_precision_give_finite_results(name):
    rows = (X / np.abs(X).max() * 9.9e14).astype(np.float32)
    assert np.isfinite(outputs(ALL[name].fit(rows, Y), rows)).all()


def test_a_predictor_of_huge_rows_predicts_rows_in_single_precision():
    model = FourierClassifier(3, **QUICK).fit(X * 1e70, Y)
    expected = model.predict_proba(np.zeros((2, 3)))
    np.testing.assert_allclose(model.predict_proba(np.zeros((2, 3), np.float32)), expected)


@pytest.mark.parametrize("beta", [1e6, 1e12, 1e18, 1e100])
def test_the_posterior_sums_to_one_at_any_temperature(beta):
    model = GibbsRFF(5, beta=beta, random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.posterior_.sum(), 1.0, atol=1e-9)
    np.testing.assert_allclose(PBRFF(5, beta=beta, n_candidates=40).fit(X, Y).posterior_.sum(), 1)


@pytest.mark.parametrize("call", [lambda model: model.fit(X), lambda model: model.fit(X, None)])
@pytest.mark.parametrize("name", LEARNED)
def test_without_labels_the_error_names_the_estimator_and_what_to_do(name, call):
    with pytest.raises(ValueError, match=rf"{name} .*requires y .*: call fit\(X, y\)"):
        call(LEARNED[name])


MIXED = np.array([1, "a"] * 30, dtype=object)
DAYS = np.resize(np.array(["2020-01-01", "2020-01-02"], "M8[D]"), 60)
DATES = np.array([dt.date(2020, 1, 1), dt.date(2020, 1, 2)] * 30, dtype=object)
TEXTS = np.array([["a", "b"], ["c", "d"]] * 30)


@pytest.mark.parametrize("name", LEARNED)
def test_labels_of_several_types_are_refused_by_estimator_and_remedy(name):
    with pytest.raises(ValueError, match=rf"^y must .* for {name}, got .*int.*str.*astype"):
        LEARNED[name].fit(X, MIXED)


@pytest.mark.parametrize("y", [DAYS, DATES, DAYS - DAYS[0]], ids=["days", "dates", "spans"])
@pytest.mark.parametrize("name", ["FourierClassifier", "FourierRegressor"])
def test_times_are_refused_as_labels_of_predictors(name, y):
    if name == "FourierClassifier" and y is not DATES:
        assert set(LEARNED[name].fit(X, y).predict(X)) <= set(y)
        return
    with pytest.raises(ValueError, match=rf"^y must hold .* for {name}, got .*astype"):
        LEARNED[name].fit(X, y)


@pytest.mark.parametrize("y", [DAYS, DATES], ids=["days", "dates"])
@pytest.mark.parametrize("name", [name for name in LEARNED if not name.startswith("Fourier")])
def test_maps_take_times_as_classes(name, y):
    assert np.isfinite(LEARNED[name].fit(X, y).transform(X)).all()


@pytest.mark.parametrize("y", [TEXTS, TEXTS.astype(object)], ids=["text", "objects"])
@pytest.mark.parametrize("name", LEARNED)
def test_two_columns_of_text_are_refused_by_estimator_and_remedy(name, y):
    remedy = "numbers" if name == "FourierRegressor" else "column"
    with pytest.raises(ValueError, match=rf"^y must (have|hold) .*for {name}, got .*: .*{remedy}"):
        LEARNED[name].fit(X, y)


@pytest.mark.parametrize("alpha", [1e-300, 1e3, 1e300])
@pytest.mark.parametrize("estimator", [FourierClassifier, FourierRegressor])
def test_any_strength_gives_finite_predictions(estimator, alpha):
    """Above 200, a step of the descent would turn frequencies around and make them larger."""
    X = np.random.default_rng(0).standard_normal((60, 3))
    model = estimator(5, alpha=alpha, piecewise=False, random_state=0).fit(X, np.arange(60) % 2)
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.frequencies_).all()
