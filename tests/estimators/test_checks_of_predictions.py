"""Arrays are checked while they are scored or mapped. Nothing else may change by that."""

from functools import partial

import numpy as np
import pytest
import sklearn
from sklearn.utils.validation import validate_data

from pacfourier import PBRFF, FourierClassifier, FourierRegressor
from pacfourier.data.samples import _LARGEST, is_plain

N_ROWS = 1500
X = np.random.default_rng(0).standard_normal((N_ROWS, 4))
MODELS = {
    kind.__name__: kind(5, alpha=3.0, piecewise=False, random_state=0).fit(X, X[:, 0] > 0)
    for kind in (FourierClassifier, FourierRegressor)
} | {"PBRFF": PBRFF(5, random_state=0).fit(X, X[:, 0] > 0)}
# The first is checked without threads.
SIZES = (1, N_ROWS)
TOO_LARGE = {np.float32: 1e16, np.float64: 1e76}


def answers(model, rows):
    return model.transform(rows) if hasattr(model, "transform") else model.predict(rows)


def spoiled(bad, n_rows, dtype):
    rows = X[:n_rows].astype(dtype)
    rows[-1, 2] = bad
    return rows


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("dtype", TOO_LARGE)
@pytest.mark.parametrize("n_rows", SIZES)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused_as_scikit_learn_does(bad, n_rows, dtype, name):
    rows = spoiled(bad, n_rows, dtype)
    with pytest.raises(ValueError, match="Input X contains") as expected:
        validate_data(MODELS[name], rows, reset=False, dtype=dtype)
    with pytest.raises(ValueError, match="Input X contains") as found:
        answers(MODELS[name], rows)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("dtype", TOO_LARGE)
@pytest.mark.parametrize("n_rows", SIZES)
def test_huge_numbers_are_refused(n_rows, dtype, name):
    with pytest.raises(ValueError, match=r"X must lie between .* got -1e\+"):
        answers(MODELS[name], spoiled(-TOO_LARGE[dtype], n_rows, dtype))


@pytest.mark.parametrize("n_rows", SIZES)
def test_numbers_that_are_said_to_be_finite_are_not_checked(n_rows):
    model = MODELS["FourierClassifier"]
    with sklearn.config_context(assume_finite=True):
        found = model.predict_proba(spoiled(np.nan, n_rows, np.float64))
    assert len(found) == n_rows
    np.testing.assert_array_equal(found[:-1], model.predict_proba(X[:n_rows])[:-1])
    with sklearn.config_context(assume_finite=True):
        mapped = MODELS["PBRFF"].transform(spoiled(np.nan, n_rows, np.float64) * 1e80)
    np.testing.assert_array_equal(np.isnan(mapped).any(axis=1), np.arange(1, n_rows + 1) == n_rows)


@pytest.mark.parametrize("name", MODELS)
def test_whatever_holds_the_rows_gives_the_same_answers(name):
    pd = pytest.importorskip("pandas")
    model, rows = MODELS[name], X[:100].round(1)
    whole = (10 * rows).astype(int)
    score = getattr(model, "decision_function", partial(answers, model))
    expected = score(rows)
    for other in (rows.tolist(), np.asfortranarray(rows), pd.DataFrame(rows), rows[::-1][::-1]):
        np.testing.assert_array_equal(score(other), expected)
    np.testing.assert_array_equal(score(whole), score(whole.astype(float)))
    np.testing.assert_allclose(score(rows.astype(np.float32)), expected, atol=1e-4)


@pytest.mark.parametrize("rows", [X[:, :3], X[0], X[:0], X[np.newaxis]])
def test_rows_of_another_shape_are_refused(rows):
    assert not is_plain(rows, MODELS["FourierClassifier"])
    with pytest.raises(ValueError, match=r"features|array|sample"):
        MODELS["FourierClassifier"].predict(rows)


def test_a_model_of_a_frame_still_looks_for_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = FourierClassifier(5, alpha=3.0, piecewise=False, random_state=0).fit(frame, X[:, 0] > 0)
    assert not is_plain(X, model)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    np.testing.assert_array_equal(model.predict(frame), MODELS["FourierClassifier"].predict(X))


def test_rows_are_read_once_if_nothing_is_wrong(monkeypatch):
    model = MODELS["FourierClassifier"]
    monkeypatch.setattr(model, "_numbers", None, raising=False)
    assert len(model.predict(X)) == N_ROWS
    with sklearn.config_context(assume_finite=True):
        assert len(model.predict(10 * _LARGEST * X)) == N_ROWS
