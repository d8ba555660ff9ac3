import numpy as np
import pytest
from tests.export.test_formula import HOSTILE, MODELS

from pacfourier import FourierClassifier
from pacfourier.export import to_c
from pacfourier.export.c_source import _without_small_origins
from pacfourier.export.expressible import exported_model

FLOATS = ("float", "float")


def compiled(program, model, names=()):
    parts = exported_model(model)
    return program(to_c(model), FLOATS, parts.n_scores, parts.classes.tolist() or None, names)


@pytest.mark.parametrize("name", MODELS)
def test_c_agrees_with_predict(program, name):
    """Within 1e-5 of the largest sum of amplitudes and slopes: rounding in single precision."""
    model, X = MODELS[name]()
    rng = np.random.default_rng(0)
    rows = rng.normal(X.mean(axis=0), 2 * X.std(axis=0), (10_000, X.shape[1])).astype(np.float32)
    scores, found = compiled(program, model)(rows)
    predict = getattr(model, "decision_function", model.predict)
    expected = predict(rows.astype(np.float64)).reshape(len(rows), -1)
    parts = exported_model(model)
    size = np.abs(expected).max() + np.abs(parts.cosines).sum() + np.abs(parts.sines).sum()
    np.testing.assert_allclose(scores, expected, atol=1e-5 * size)
    if not len(parts.classes):
        np.testing.assert_array_equal(found, scores)
    else:
        agrees = np.array(parts.classes)[found[:, 0]] == model.predict(rows)
        assert agrees.mean() > 0.999


@pytest.mark.parametrize(
    ("shift", "scale", "message"),
    [
        (0.0, 1e-60, "slopes must be at most 3"),
        (0.0, 1e60, "slopes must be at least 1"),
        (3e7, 1.0, r"around 3e\+07 in column \d: subtract a constant"),
        (3e7, 1e4, None),
        (0.0, 1e30, None),
    ],
)
def test_numbers_that_single_precision_cannot_hold_are_refused(program, shift, scale, message):
    """They were written as infinity, as zeros, or so far from zero that waves were lost."""
    model, X = MODELS["two classes"]()
    rows = X * scale + shift
    fitted = FourierClassifier(7, piecewise=False, alpha=1.0, random_state=0)
    fitted.fit(rows, model.predict(X))
    if message is not None:
        with pytest.raises(ValueError, match=message):
            to_c(fitted)
        return
    _, found = compiled(program, fitted)(rows)
    assert np.mean(found[:, 0] == fitted.predict(rows)) > 0.99


def test_extreme_rows_are_defined(program):
    model, X = MODELS["codes"]()
    extremes = np.array([np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-45, 0.0], dtype=np.float32)
    scores, found = compiled(program, model)(np.repeat(extremes[:, np.newaxis], X.shape[1], axis=1))
    assert scores.shape == (7, 3)
    assert np.isin(found, [0, 1, 2]).all()


def test_columns_that_never_vary_cost_nothing(program):
    model, X = MODELS["two classes"]()
    wide = np.hstack([np.ones((len(X), 50)), X[:, :3], np.ones((len(X), 50)), X[:, 3:]])
    y = model.predict(X)
    wider = FourierClassifier(7, piecewise=False, alpha=1.0, random_state=0).fit(wide, y)
    assert len(to_c(wider)) < len(to_c(model)) + 300
    scores, _ = compiled(program, wider)(wide)
    np.testing.assert_allclose(scores[:, 0], wider.decision_function(wide), atol=1e-3)


def test_a_model_of_constant_columns_is_its_intercept(program):
    X, y = np.ones((90, 3)), np.arange(90) % 3
    model = FourierClassifier(2, piecewise=False, alpha=1.0, random_state=0).fit(X, y)
    scores, _ = compiled(program, model)(X)
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-5)


def test_hostile_names_survive(program):
    pd = pytest.importorskip("pandas")
    model, X = MODELS["two classes"]()
    y = np.where(model.predict(X) == 1, "".join(HOSTILE), "0123\n")
    frame = pd.DataFrame(np.hstack([X, X[:, :1]]), columns=list(HOSTILE))
    named = FourierClassifier(2, piecewise=False, alpha=1.0, random_state=0).fit(frame, y)
    names = compiled(program, named, ("model_class_names", "model_column_names")).names()
    assert names == [*named.classes_.tolist(), *HOSTILE]


def test_a_null_character_in_a_name_is_refused():
    model, X = MODELS["two classes"]()
    y = np.where(model.predict(X) == 1, "a\0b", "c")
    named = FourierClassifier(2, piecewise=False, alpha=1.0, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="null characters"):
        to_c(named)


@pytest.mark.parametrize("prefix", ["", "1st", "a-b", "é", "a b", "_x", "a\n"])
def test_a_prefix_that_c_does_not_allow_is_refused(prefix):
    with pytest.raises(ValueError, match="prefix must start with a letter"):
        to_c(MODELS["amount"]()[0], prefix=prefix)


def test_the_prefix_starts_every_name():
    text = to_c(MODELS["amount"]()[0], prefix="Pump_2")
    assert "Pump_2_predict(" in text
    assert "model_" not in text


def shifted_model(shift):
    model, X = MODELS["two classes"]()
    moved = (X + shift).astype(np.float32)
    fitted = FourierClassifier(7, piecewise=False, alpha=1.0, random_state=0)
    return fitted.fit(moved, model.predict(X)), moved


@pytest.mark.parametrize(("shift", "is_kept"), [(0.0, False), (1e5, True)])
def test_only_small_centres_are_folded_into_constants(program, shift, is_kept):
    """Far from zero, centres must be subtracted first, or phases would lose all digits."""
    model, X = shifted_model(shift)
    parts = _without_small_origins(exported_model(model))
    assert parts.origins.any() == is_kept
    scores, _ = compiled(program, model)(X)
    expected = model.decision_function(X.astype(np.float64))
    # Centres are rounded to single precision too: by at most 2^-24 of their size.
    slopes = 2 * np.pi * np.abs(parts.turns).sum(axis=0)
    lost = shift * 2.0**-24 * (slopes @ np.hypot(parts.cosines, parts.sines)[:, 0])
    lost += shift * 2.0**-24 * np.abs(parts.slopes).sum()
    np.testing.assert_allclose(scores[:, 0], expected, atol=1e-4 * np.abs(expected).max() + lost)
