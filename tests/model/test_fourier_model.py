"""The record of a fitted predictor: its formula by plain loops, sums, multiples and limits."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from pacfourier import FourierClassifier, FourierModel, FourierRegressor
from pacfourier.core.boosting.columns import described_columns
from pacfourier.core.boosting.cosine_model import CosineModel
from pacfourier.errors import InputError
from pacfourier.export.expressible import _without_limits, check_single
from pacfourier.model.folding import folded_model
from pacfourier.model.fourier_model import turned


def table(rng, n_samples=300):
    """Columns near zero, far from zero, with two values, and constant."""
    numbers = rng.standard_normal((n_samples, 3)) * [1, 10, 0.1] + [0, 200, 5]
    pair = rng.random((n_samples, 1)) < 0.4
    return np.hstack([numbers, pair, np.ones((n_samples, 1))])


def random_model(rng, X, *, coded, n_waves=6, n_scores=2):
    columns = described_columns(X, np.ones(len(X)), coded=coded)
    n_inputs = len(columns.centres)
    shapes = [(n_waves, n_inputs), (n_waves, n_scores), (n_waves, n_scores), (n_inputs, n_scores)]
    parts = [rng.standard_normal(shape) / np.sqrt(n_inputs) for shape in (*shapes, n_scores)]
    return folded_model(CosineModel(*parts), columns)


def limited(model, X):
    """Return the model with limits inside the rows X in two columns."""
    low, high = model.low.copy(), model.high.copy()
    low[:2], high[:2] = np.quantile(X[:, :2], [0.1, 0.8], axis=0)
    return replace(model, low=low, high=high)


def naive_scores(model, x):
    """Return the scores of one row, as the documentation of the record says."""
    x = np.minimum(np.maximum(x, model.low), model.high)
    z = model.constants.copy()
    for j in range(model.n_columns):
        z += model.weights[j] * (x[j] - model.origins[j])
        is_here = model.knot_columns == j
        if is_here.any():
            knots, values = model.knots[is_here], model.tables[is_here]
            z += [np.interp(x[j], knots, column) for column in values.T]
    scores = z[model.n_waves :].copy()
    for m in range(model.n_waves):
        angle = 2 * np.pi * z[m]
        scores += model.cosines[m] * np.cos(angle) + model.sines[m] * np.sin(angle)
    return scores


@pytest.mark.parametrize("n_scores", [1, 3])
@pytest.mark.parametrize("has_limits", [False, True])
@pytest.mark.parametrize("coded", [False, True])
def test_scores_are_the_formula(rng, coded, has_limits, n_scores):
    X = table(rng)
    model = random_model(rng, X, coded=coded, n_scores=n_scores)
    model = limited(model, X) if has_limits else model
    rows = np.vstack([X[:20], 3 * X[:5] - 1])
    expected = [naive_scores(model, x) for x in rows]
    np.testing.assert_allclose(model.scores(rows), expected, rtol=0, atol=1e-11)
    # Sparse rows, and the rows one by one.
    found = model.scores(sparse.csr_array(rows))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(
        np.vstack([model.scores(x[None]) for x in rows]), expected, atol=1e-11
    )
    single = model.scores(rows.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=0, atol=1e-3)


def test_sums_of_models_with_and_without_knots_and_multiples_are_models(rng):
    X = table(rng)
    plain, coded = (limited(random_model(rng, X, coded=each), X) for each in (False, True))
    other = replace(coded, origins=coded.origins + 1.0, knots=coded.knots + 0.01)
    for first, second in ((plain, coded), (coded, plain), (coded, other)):
        total = first + 0.25 * second
        assert isinstance(total, FourierModel)
        assert total.n_waves == 12
        rows = np.vstack([X[:50], 3 * X[:5] - 1])
        expected = first.scores(rows) + 0.25 * second.scores(rows)
        np.testing.assert_allclose(total.scores(rows), expected, rtol=0, atol=1e-11)
        again = FourierModel.from_arrays(total.arrays())
        np.testing.assert_array_equal(again.scores(rows), total.scores(rows))


def test_models_of_other_columns_or_labels_cannot_be_added(rng):
    X = table(rng)
    model = random_model(rng, X, coded=False)
    for other in (limited(model, X), replace(model, unit=model.unit + 1)):
        with pytest.raises(InputError, match=r"models must have the same (low|unit) to be added"):
            model + other


def test_two_recipes_are_one_sum():
    """An average of regressors predicts the average amount, and one of classifiers of log-odds."""
    rng = np.random.default_rng(0)
    X = rng.normal(loc=[0, 50, 0], size=(400, 3))
    y = np.sin(X[:, 0]) + (X[:, 1] > 50)
    recipes = [{"piecewise": False, "alpha": 1.0}, {"piecewise": True, "alpha": 3.0}]
    first, second = (FourierRegressor(5, random_state=0, **each).fit(X, y) for each in recipes)
    average = 0.5 * first.model_ + 0.5 * second.model_
    expected = (first.predict(X) + second.predict(X)) / 2
    np.testing.assert_allclose(average.predict(X), expected, atol=1e-10)
    labels = np.array(["low", "high"])[(y > 0.5) * 1]
    first, second = (FourierClassifier(5, random_state=0, **e).fit(X, labels) for e in recipes)
    average = 0.5 * first.model_ + 0.5 * second.model_
    odds = (first.decision_function(X) + second.decision_function(X)) / 2
    np.testing.assert_array_equal(average.predict(X) == "low", odds > 0)


def test_wide_sparse_rows_are_read_by_the_record(tmp_path):
    X = sparse.random_array((120, 4200), density=0.01, rng=0, format="csr")
    y = np.arange(120) % 3
    estimator = FourierClassifier(3, alpha=1.0, random_state=0).fit(X, y)
    model = estimator.model_
    assert model.is_wide
    assert not model.origins.any()
    expected = [naive_scores(model, x) for x in X[:10].toarray()]
    np.testing.assert_allclose(model.scores(X[:10]), expected, atol=1e-10)
    np.testing.assert_allclose(model.scores(X[:10].toarray()), expected, atol=1e-10)
    np.testing.assert_array_equal(model.scores(X), estimator.decision_function(X))
    doubled = model + model
    np.testing.assert_allclose(doubled.scores(X), 2 * model.scores(X), atol=1e-10)
    limits = {"low": np.full(4200, -0.5), "high": np.full(4200, 0.5)}
    rows = X[:10]
    expected = [naive_scores(replace(model, **limits), x) for x in rows.toarray()]
    np.testing.assert_allclose(replace(model, **limits).scores(rows), expected, atol=1e-10)
    model.save(tmp_path / "m.npz")
    np.testing.assert_array_equal(FourierModel.load(tmp_path / "m.npz").scores(X), model.scores(X))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_rows_without_a_score_are_an_error(rng, bad):
    X = table(rng)
    for coded in (False, True):
        model = random_model(rng, X, coded=coded)
        rows = X[:5].copy()
        rows[2, 0] = bad
        for each in (rows, rows.astype(np.float32)):
            with pytest.raises(InputError, match="X must hold finite numbers"):
                model.scores(each)
    with pytest.raises(
        InputError, match=r"X must have 5 columns as in the fit, got shape \(5, 2\)"
    ):
        model.scores(X[:5, :2])


def test_whole_numbers_are_rows_too(rng):
    X = table(rng)
    model = random_model(rng, X, coded=True)
    rows = np.rint(X[:5]).astype(int)
    np.testing.assert_array_equal(model.scores(rows), model.scores(rows.astype(float)))
    np.testing.assert_array_equal(model.scores(rows.tolist()), model.scores(rows.astype(float)))


def test_what_makes_predictions_fast_is_not_pickled(rng):
    X = table(rng)
    model = random_model(rng, X, coded=True)
    before = len(pickle.dumps(model))
    expected = model.scores(X)
    assert len(pickle.dumps(model)) == before
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).scores(X), expected)


def test_a_moved_model_reads_moved_rows(rng):
    X, offsets = table(rng), np.array([1000.0, -3.0, 0.0, 1.0, 0.5])
    for coded in (False, True):
        model = limited(random_model(rng, X, coded=coded), X)
        found = model.moved(offsets).scores(X + offsets)
        np.testing.assert_allclose(found, model.scores(X), rtol=0, atol=1e-9)


def test_turned_amplitudes_are_the_same_waves(rng):
    a, b, phases = rng.normal(size=(4, 2)), rng.normal(size=(4, 2)), rng.normal(size=4)
    new_a, new_b = turned(a, b, phases)
    t = rng.normal(size=(4, 1))
    shifted = t + phases[:, np.newaxis]
    np.testing.assert_allclose(
        new_a * np.cos(t) + new_b * np.sin(t), a * np.cos(shifted) + b * np.sin(shifted)
    )


@pytest.mark.parametrize("coded", [False, True])
def test_limits_are_tables(rng, coded):
    X = table(rng)
    model = limited(random_model(rng, X, coded=coded), X)
    found = _without_limits(model)
    assert np.isinf([found.low, found.high]).all()
    assert (np.unique(found.knot_columns, return_counts=True)[1] >= 2).all()
    rows = np.vstack([X, 3 * X - 1])
    np.testing.assert_allclose(found.scores(rows), model.scores(rows), rtol=0, atol=1e-11)
    low = model.low.copy()
    low[0] = -np.inf
    with pytest.raises(ValueError, match=r"must both be finite or both be infinite .* in column 0"):
        _without_limits(replace(model, low=low))


def test_amounts_are_scores_in_units_of_the_labels(rng):
    X = table(rng)
    model = random_model(rng, X, coded=True)
    model = replace(model, unit=np.array([2.0, 0.5]), centre=np.array([100.0, -3.0]))
    np.testing.assert_allclose(model.amounts.scores(X), model.predict(X), rtol=1e-12)


def test_numbers_that_single_precision_cannot_hold_are_refused(rng):
    X = table(rng)
    model = random_model(rng, X, coded=True)
    check_single(model)
    for name in ("origins", "constants", "knots", "tables", "cosines"):
        with pytest.raises(ValueError, match=r"must be at most 3\.4e\+38 in single precision"):
            check_single(replace(model, **{name: getattr(model, name) * 1e300}))
    tiny = model.slopes.copy(), model.turns.copy()
    for part in tiny:
        part[1] *= 1e-50
    with pytest.raises(ValueError, match=r"slopes must be at least .* in column 1"):
        check_single(replace(model, slopes=tiny[0], turns=tiny[1]))
