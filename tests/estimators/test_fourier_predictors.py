"""The classifier and the regressor: what they accept, promise and refuse."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    make_circles,
    make_friedman1,
    make_multilabel_classification,
)
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss, recall_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from pacfourier import FourierClassifier, FourierRegressor
from pacfourier.estimators import training

# Digits come sorted by writer: a permutation makes the rows draws of one distribution.
ORDER = np.random.default_rng(0).permutation(1797)
DIGITS, DIGIT_CLASSES = (part[ORDER] for part in load_digits(return_X_y=True))
IRIS, IRIS_CLASSES = load_iris(return_X_y=True)
AMOUNTS = make_friedman1(500, noise=0.5, random_state=0)


def quick(kind=FourierClassifier, n_frequencies=10, **parameters):
    """Return a predictor that tries one recipe only."""
    given = {"alpha": 0.3, "piecewise": False, "random_state": 0, **parameters}
    return kind(n_frequencies, **given)


def crossed(n_samples, rng):
    """Return points in four quarters: the class is the product of the signs."""
    X = rng.uniform(-1, 1, (n_samples, 2))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def test_two_classes():
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["benign", "malign"])[y]
    model = quick().fit(X[::2], names[::2])
    assert model.classes_.tolist() == ["benign", "malign"]
    assert model.score(X[1::2], names[1::2]) > 0.94
    scores = model.decision_function(X[1::2])
    assert scores.shape == (284,)
    np.testing.assert_array_equal(model.predict(X[1::2]), model.classes_[(scores > 0).astype(int)])
    probabilities = model.predict_proba(X[1::2])
    np.testing.assert_allclose(probabilities[:, 1], 1 / (1 + np.exp(-scores)), rtol=1e-5)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)


def test_many_classes():
    model = quick(n_frequencies=30).fit(DIGITS[:1200], DIGIT_CLASSES[:1200] * 10)
    X, y = DIGITS[1200:], DIGIT_CLASSES[1200:] * 10
    assert model.classes_.tolist() == list(range(0, 100, 10))
    assert model.score(X, y) > 0.95
    probabilities, scores = model.predict_proba(X), model.decision_function(X)
    assert scores.shape == probabilities.shape == (597, 10)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(model.predict(X), model.classes_[probabilities.argmax(axis=1)])
    logs = np.log(probabilities[:, 1] / probabilities[:, 0])
    np.testing.assert_allclose(logs, scores[:, 1] - scores[:, 0], atol=1e-4)
    assert log_loss(y, probabilities) < 0.3


def test_several_labels_per_row():
    X, y = make_multilabel_classification(600, n_classes=4, random_state=0)
    model = quick().fit(X[:400], y[:400])
    assert model.classes_.tolist() == [0, 1, 2, 3]
    found, probabilities = model.predict(X[400:]), model.predict_proba(X[400:])
    assert found.shape == probabilities.shape == (200, 4)
    np.testing.assert_array_equal(found, probabilities > 0.5)
    share = y[:400].mean(axis=0)
    assert (found == y[400:]).mean() > np.maximum(share, 1 - share).mean() + 0.05


def test_several_columns_of_classes_are_refused():
    y = np.column_stack([IRIS_CLASSES, IRIS_CLASSES])
    with pytest.raises(ValueError, match=r"one column of classes.*fit one classifier per column"):
        quick().fit(IRIS, y)


def test_several_amounts():
    X, y = AMOUNTS
    both = np.column_stack([y, -3 * y + 100])
    model = quick(FourierRegressor).fit(X[:400], both[:400])
    assert model.predict(X).shape == (500, 2)
    assert model.score(X[400:], both[400:]) > 0.85


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber"])
@pytest.mark.parametrize(("unit", "centre"), [(1.0, 0.0), (1e-6, 1e-3), (1e9, -1e12)])
def test_the_unit_of_amounts_does_not_matter(loss, unit, centre):
    X, y = AMOUNTS
    expected = quick(FourierRegressor, loss=loss).fit(X[:300], y[:300]).predict(X)
    found = quick(FourierRegressor, loss=loss).fit(X[:300], y[:300] * unit + centre).predict(X)
    # The labels themselves are rounded when a large number is added to them.
    np.testing.assert_allclose((found - centre) / unit, expected, atol=0.1)


def test_constant_amounts_are_predicted():
    model = quick(FourierRegressor).fit(IRIS, np.full(150, 7.0))
    np.testing.assert_allclose(model.predict(IRIS), 7, atol=0.05)


@pytest.mark.parametrize("kind", [FourierClassifier, FourierRegressor])
def test_a_row_of_weight_zero_is_not_there(kind):
    weights = (np.arange(150) % 3 > 0).astype(float)
    kept = weights > 0
    wrong = np.where(kept, IRIS_CLASSES, 2 - IRIS_CLASSES)
    found = quick(kind).fit(IRIS, wrong, sample_weight=7 * weights)
    expected = quick(kind).fit(IRIS[kept], IRIS_CLASSES[kept])
    np.testing.assert_array_equal(found.predict(IRIS), expected.predict(IRIS))


def test_heavy_rows_decide():
    """Two labels of each row: that which weighs nine times more is learned, with 9 to 1 odds."""
    X = np.vstack([IRIS[:100], IRIS[:100]])
    y = np.concatenate([IRIS_CLASSES[:100], 1 - IRIS_CLASSES[:100]])
    model = quick().fit(X, y, sample_weight=np.repeat([9.0, 1.0], 100))
    assert model.score(IRIS[:100], IRIS_CLASSES[:100]) > 0.99
    truth = model.predict_proba(IRIS[:100])[np.arange(100), IRIS_CLASSES[:100]]
    assert truth.mean() == pytest.approx(0.9, abs=0.03)


def test_balanced_weights_find_more_of_a_rare_class(rng):
    y = (rng.random(1500) < 0.08).astype(int)
    X = rng.standard_normal((1500, 2)) + y[:, np.newaxis]
    recalls = [
        recall_score(y[700:], quick(class_weight=weight).fit(X[:700], y[:700]).predict(X[700:]))
        for weight in (None, "balanced", {0: 1, 1: 12})
    ]
    assert min(recalls[1:]) > recalls[0] + 0.2


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_rows(container):
    model = quick().fit(container(DIGITS[:400]), DIGIT_CLASSES[:400])
    assert model.score(container(DIGITS[1200:]), DIGIT_CLASSES[1200:]) > 0.85
    dense = model.decision_function(DIGITS[1200:])
    found = model.decision_function(container(DIGITS[1200:]))
    # The columns are measured in the same units, and only rounding is left.
    np.testing.assert_allclose(found, dense, atol=1e-3)


def test_single_precision():
    """Rounding of the rows moves probabilities by little, though descent amplifies it."""
    X = IRIS.astype(np.float32)
    model = quick().fit(X, IRIS_CLASSES)
    assert model.score(X, IRIS_CLASSES) > 0.95
    expected = quick().fit(IRIS, IRIS_CLASSES).predict_proba(IRIS)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=0.1)


@pytest.mark.parametrize("kind", [FourierClassifier, FourierRegressor])
def test_constant_columns_change_nothing(kind, rng):
    wide = np.column_stack([np.full(150, 0.1), IRIS, np.full(150, -1e6)])
    model = quick(kind).fit(wide, IRIS_CLASSES)
    assert model.score(wide, IRIS_CLASSES) > 0.9
    other = wide.copy()
    other[:, [0, -1]] = rng.standard_normal((150, 2))
    np.testing.assert_array_equal(model.predict(other), model.predict(wide))


def test_nothing_but_constant_columns():
    y = np.resize([0, 0, 1], 90)
    model = quick().fit(np.ones((90, 2)), y)
    np.testing.assert_allclose(model.predict_proba(np.ones((1, 2))), [[2 / 3, 1 / 3]], atol=0.02)


def test_one_column(rng):
    X = rng.uniform(-3, 3, (600, 1))
    y = np.sin(5 * X[:, 0])
    for kind, labels in ((FourierClassifier, y > 0), (FourierRegressor, y)):
        model = quick(kind, alpha=0.03).fit(X[:300], labels[:300])
        assert model.score(X[300:], labels[300:]) > 0.95


@pytest.mark.parametrize("kind", [FourierClassifier, FourierRegressor])
def test_a_seed_gives_one_model_whatever_the_threads(kind):
    """With all recipes tried, and rows held out."""
    models = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            model = kind(2, certify=0.2, random_state=3, duplicates="genuine")
            models.append(model.fit(IRIS[::2], IRIS_CLASSES[::2]))
    first, second = models
    for name in ("frequencies_", "cosines_", "sines_", "linear_", "intercept_"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert (first.piecewise_, first.alpha_) == (second.piecewise_, second.alpha_)
    other = kind(2, alpha=1.0, piecewise=False, random_state=4).fit(IRIS[::2], IRIS_CLASSES[::2])
    assert not np.array_equal(other.frequencies_, first.frequencies_)


def test_verbose_writes_a_line_per_pass_and_per_recipe(capsys):
    FourierClassifier(5, random_state=0, verbose=True).fit(IRIS, IRIS_CLASSES)
    captured = capsys.readouterr()
    assert not captured.out
    lines = captured.err.splitlines()
    assert all(line.startswith("FourierClassifier: ") for line in lines)
    assert sum("epoch" in line for line in lines) == training.epochs(150)
    assert sum("on validation rows" in line for line in lines) >= 2
    quick().fit(IRIS, IRIS_CLASSES)
    assert not capsys.readouterr().err


def test_no_row_of_the_certificate_was_learned_from(monkeypatch):
    """Other labels on the rows held out give the same model, and another certificate."""
    held_out = []
    read = FourierClassifier._read
    monkeypatch.setattr(
        FourierClassifier, "_read", lambda *args: held_out.append(read(*args)) or held_out[-1]
    )
    y = DIGIT_CLASSES[:600] % 3
    given = {"certify": 0.3, "class_weight": "balanced"}
    first = quick(**given).fit(DIGITS[:600], y)
    rows = held_out[0].held_out
    assert len(rows) == first.certificate_.n_samples == 180
    assert not np.isin(rows, held_out[0].learned).any()
    changed = y.copy()
    changed[rows] = 9
    second = quick(**given).fit(DIGITS[:600], changed)
    np.testing.assert_array_equal(first.frequencies_, second.frequencies_)
    np.testing.assert_array_equal(first.intercept_, second.intercept_)
    assert second.certificate_.error == 1
    mistakes = (first.predict(DIGITS[rows]) != y[rows]).mean()
    assert mistakes == first.certificate_.observed_error < first.certificate_.error < 0.3


def test_a_rare_class_fails_no_fit(rng):
    """Half of the rows are held out, and both of a class with two rows in a fit of four."""
    X, y = rng.normal(size=(40, 2)), np.append(np.zeros(38, int), [1, 1])
    for seed in range(20):
        model = quick(certify=0.5, random_state=seed).fit(X, y)
        assert model.classes_.tolist() == [0, 1]
        assert model.certificate_.n_samples <= 20


def test_a_share_is_held_out_as_given(rng):
    X, y = rng.normal(size=(20_400, 1)), rng.choice(["a", "b"], 20_400)
    assert quick(n_frequencies=1, certify=0.5).fit(X, y).certificate_.n_samples == 10_200
    assert quick(n_frequencies=1, certify=True).fit(X, y).certificate_.n_samples == 4_080


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_a_weighted_error_is_not_certified(kind, rng):
    """Rows of weight one are all right, and those of weight two wrong: the weighted error is 2/3.

    All weights equal are no weights.
    """
    X, weights = rng.normal(size=(400, 2)), rng.choice([1.0, 2.0], 400)
    y = np.where(weights == 1, X[:, 0] > 0, X[:, 0] < 0).astype(int)
    if kind == "frame":
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("skrub")
        X = pandas.DataFrame(X, columns=["a", "b"]).assign(c=pandas.Series(["x", "z"] * 200))
    model = quick(certify=0.5)
    reason = "No certificate. sample: the samples have different weights: fit without sample_weight"
    for unequal in (weights, weights - 1):
        with pytest.raises(ValueError, match=reason):
            _ = model.fit(X, y, sample_weight=unequal).certificate_.error
    plain = model.fit(X, y).certificate_
    equal = model.fit(X, y, sample_weight=np.full(400, 3.0)).certificate_
    assert equal.error == pytest.approx(plain.error, abs=0.05)


def test_the_certificate_of_a_regressor_covers_new_rows():
    X, y = AMOUNTS
    model = quick(FourierRegressor, certify=0.5).fit(X[:400], y[:400])
    width = model.certificate_.half_width(0.9)
    assert np.mean(np.abs(model.predict(X[400:]) - y[400:]) <= width) > 0.85


def test_a_fit_without_a_certificate_removes_an_earlier_one():
    model = quick(certify=0.3).fit(DIGITS[:300], DIGIT_CLASSES[:300])
    assert hasattr(model, "certificate_")
    model.set_params(certify=False).fit(DIGITS[:300], DIGIT_CLASSES[:300])
    assert not hasattr(model, "certificate_")


def test_repeated_rows_must_be_declared_genuine():
    X, y = np.tile(DIGITS[:100], (5, 1)), np.tile(DIGIT_CLASSES[:100], 5)
    with pytest.raises(ValueError, match="rows"):
        _ = quick(certify=0.3).fit(X, y).certificate_.error
    assert quick(certify=0.3, duplicates="genuine").fit(X, y).certificate_.error < 0.2


BAD = [
    (FourierClassifier, {"n_frequencies": 0}, "n_frequencies must be a positive integer"),
    (FourierClassifier, {"n_frequencies": 2.5}, "n_frequencies must be a positive integer"),
    (FourierClassifier, {"alpha": 0.0}, "alpha must be positive"),
    (FourierClassifier, {"alpha": "strong"}, "alpha must be positive"),
    (FourierClassifier, {"piecewise": "some"}, "piecewise must be one of"),
    (FourierClassifier, {"certify": 0.0}, "certify must be False.* or the share"),
    (FourierClassifier, {"certify": 1}, "certify must be False.* or the share"),
    (FourierClassifier, {"certify": "True"}, "certify must be False.* or the share"),
    (FourierRegressor, {"certify": "pac-bayes"}, "certify must be False, True or the share"),
    (FourierClassifier, {"certify": 0.995}, "leave at least 2 rows to learn from"),
    (FourierClassifier, {"duplicates": "copies"}, "duplicates must be one of"),
    (FourierClassifier, {"class_weight": "even"}, "class_weight"),
    (FourierRegressor, {"loss": "hinge"}, "loss must be one of"),
]


@pytest.mark.parametrize(("kind", "parameters", "message"), BAD)
def test_bad_parameters_are_refused_and_nothing_changes(kind, parameters, message):
    model = quick(kind, **{"n_frequencies": 5, **parameters})
    with pytest.raises(ValueError, match=message):
        model.fit(IRIS, IRIS_CLASSES)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_codes_of_sparse_rows_are_refused():
    with pytest.raises(ValueError, match="piecewise must be False"):
        quick(piecewise=True).fit(sparse.csr_array(IRIS), IRIS_CLASSES)


def test_a_class_with_a_single_row_is_learned_nevertheless():
    y = np.append(IRIS_CLASSES[:-1], 3)
    model = FourierClassifier(5, random_state=0).fit(IRIS, y)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert np.isfinite(model.predict_proba(IRIS)).all()
    assert model.score(IRIS, y) > 0.9


@pytest.mark.parametrize("kind", [FourierClassifier, FourierRegressor])
def test_a_model_survives_pickling_and_a_clone_is_not_fitted(kind):
    model = quick(kind).fit(IRIS, IRIS_CLASSES)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(IRIS), model.predict(IRIS))
    assert not [name for name in vars(clone(model)) if name.endswith("_")]
    assert clone(model).get_params() == model.get_params()


def test_permutation_importance_finds_the_columns_that_matter():
    X, y = AMOUNTS
    model = quick(FourierRegressor).fit(X[:400], y[:400])
    found = permutation_importance(model, X[400:], y[400:], n_repeats=3, random_state=0)
    # Friedman's function is of the first five columns.
    assert found.importances_mean[:5].min() > 3 * np.abs(found.importances_mean[5:]).max()


def test_a_grid_search_chooses_the_size(rng):
    X, y = crossed(300, rng)
    search = GridSearchCV(quick(), {"n_frequencies": [1, 30]}, cv=3).fit(X, y)
    assert search.best_params_ == {"n_frequencies": 30}


def calibration_error(chances, y, n_bins=10):
    """Return the expected calibration error: how far chances are from shares, by bins."""
    bins = np.minimum((chances * n_bins).astype(int), n_bins - 1)
    gaps = [abs((chances - y)[bins == number].sum()) for number in range(n_bins)]
    return sum(gaps) / len(y)


def test_probabilities_are_calibrated(rng):
    """Labels are drawn with known chances: the loss is near theirs, which is the best."""
    X = rng.standard_normal((5000, 4))
    chances = 1 / (1 + np.exp(-2 * np.sin(2 * X[:, 0]) - X[:, 1]))
    y = (rng.random(5000) < chances).astype(int)
    model = FourierClassifier(20, random_state=0).fit(X[:1500], y[:1500])
    found = model.predict_proba(X[1500:])[:, 1]
    assert calibration_error(found, y[1500:]) < 0.05
    assert log_loss(y[1500:], found) < log_loss(y[1500:], chances[1500:]) + 0.05


def test_on_a_linear_problem_it_is_a_linear_model(rng):
    """At most a point worse than the right model, where about 11 % of labels are noise."""
    X = rng.standard_normal((3000, 8)) * np.geomspace(0.01, 100, 8)
    scores = (X / np.geomspace(0.01, 100, 8)) @ rng.standard_normal(8)
    y = (scores + 1.0 * rng.standard_normal(3000) > 0).astype(int)
    right = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:1000], y[:1000])
    model = FourierClassifier(20, random_state=0).fit(X[:1000], y[:1000])
    assert model.score(X[1000:], y[1000:]) > right.score(X[1000:], y[1000:]) - 0.015
    amounts = scores + 0.5 * rng.standard_normal(3000)
    line = make_pipeline(StandardScaler(), Ridge()).fit(X[:1000], amounts[:1000])
    curve = FourierRegressor(20, random_state=0).fit(X[:1000], amounts[:1000])
    assert curve.score(X[1000:], amounts[1000:]) > line.score(X[1000:], amounts[1000:]) - 0.01


@pytest.mark.parametrize("shape", ["circles", "crossed"])
def test_where_no_line_separates_it_is_far_better_than_a_linear_model(shape, rng):
    if shape == "circles":
        X, y = make_circles(800, noise=0.1, factor=0.4, random_state=0)
    else:
        X, y = crossed(800, rng)
    assert LogisticRegression().fit(X[:400], y[:400]).score(X[400:], y[400:]) < 0.7
    model = quick(n_frequencies=30).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.93


def test_codes_see_a_threshold(rng):
    """A step at one of many amounts, which few cosines cannot draw."""
    X = rng.exponential(size=(2000, 3))
    y = (X[:, 0] > 3) ^ (X[:, 1] > 0.2)
    plain, coded = (
        quick(n_frequencies=2, piecewise=codes, alpha=3.0).fit(X[:1000], y[:1000])
        for codes in (False, True)
    )
    assert coded.piecewise_
    assert coded.score(X[1000:], y[1000:]) > plain.score(X[1000:], y[1000:]) + 0.01


def test_wild_labels_hardly_move_the_huber_loss(rng):
    X, y = AMOUNTS
    wild = y.copy()
    places = rng.choice(300, 15, replace=False)
    wild[places] += 500
    errors = {}
    for loss in ("squared_error", "absolute_error", "huber"):
        model = quick(FourierRegressor, loss=loss).fit(X[:300], wild[:300])
        errors[loss] = np.abs(model.predict(X[300:]) - y[300:]).mean()
    clean = quick(FourierRegressor, loss="huber").fit(X[:300], y[:300])
    usual = np.abs(clean.predict(X[300:]) - y[300:]).mean()
    assert max(errors["huber"], errors["absolute_error"]) < 1.5 * usual
    assert errors["squared_error"] > 3 * errors["huber"]


@pytest.mark.parametrize("n_samples", [3, training._START_ROWS, 10 * training._START_ROWS])
def test_frequencies_start_from_rows_of_all_parts_of_a_sorted_table(n_samples):
    rows = training.start_rows(n_samples)
    assert len(rows) == min(n_samples, training._START_ROWS)
    assert rows[0] == 0
    assert rows[-1] == n_samples - 1
    # Neighbours are equally far apart, up to rounding.
    assert np.ptp(np.diff(rows)) <= 1
