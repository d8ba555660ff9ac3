import numpy as np
import pytest
from sklearn.datasets import make_regression
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.preprocessing import StandardScaler

from pacfourier import FourierClassifier, FourierRegressor
from pacfourier.core.boosting.blending import Blend
from pacfourier.core.boosting.descent import Labelled
from pacfourier.core.boosting.objectives import OBJECTIVES
from pacfourier.estimators import training
from pacfourier.estimators.linear_trials import _PENALTIES, linear_model, linear_trial
from pacfourier.estimators.training import Recipe, Task, _promising, _Trial, splits, trials_of

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 5)) * [1, 10, 100, 1, 1]


def task_of(X, labels, objective):
    rows = Labelled(X, labels.astype(np.float32), np.ones(len(X), dtype=np.float32))
    return Task(rows, OBJECTIVES[objective], 5, 0)


def test_amounts_have_the_ridge_regression_of_their_penalty():
    """A penalty p of the mean loss is alpha = n p / 2 of scikit-learn, which has no half."""
    y = X[:, 0] - X[:, 1] / 10 + RNG.standard_normal(120)
    model = linear_model(task_of(X, y[:, np.newaxis], "squared_error"), 0.1)
    ridge = Ridge(alpha=120 * 0.1 / 2).fit(StandardScaler().fit_transform(X), y)
    np.testing.assert_allclose(model.linear[:, 0], ridge.coef_, atol=1e-3)
    np.testing.assert_allclose(model.intercepts, ridge.intercept_, atol=1e-3)


def test_classes_have_the_logistic_regression_of_their_penalty():
    y = X[:, 0] + RNG.standard_normal(120) > 0
    model = linear_model(task_of(X, y[:, np.newaxis] * 1.0, "logistic"), 0.01)
    regression = LogisticRegression(C=1 / (120 * 0.01)).fit(StandardScaler().fit_transform(X), y)
    np.testing.assert_allclose(model.linear[:, 0], regression.coef_[0], atol=5e-3)


def test_the_scores_of_a_trial_are_in_the_order_of_the_splits():
    y = X[:, 0]
    found = linear_trial(task_of(X, y[:, np.newaxis], "squared_error"))
    seen = np.concatenate([aside for _, aside in splits(120, 0)])
    np.testing.assert_allclose(found.scores[:, 0], y[seen], atol=0.05)
    assert found.penalty == min(_PENALTIES)


def test_recipes_that_are_clearly_worse_are_given_up():
    blend = Blend(np.zeros(1), np.ones(1))
    losses = [np.ones(100), 1 + 0.1 * RNG.standard_normal(100), 2 + 0.1 * RNG.standard_normal(100)]
    recipes = [Recipe(False, alpha) for alpha in (0.3, 1.0, 3.0)]
    trials = [_Trial(r, blend, each) for r, each in zip(recipes, losses, strict=True)]
    assert recipes[2] not in _promising(trials)
    assert _promising([trials[2]]) == [recipes[2]]


def test_a_recipe_that_is_given_up_is_not_trained_again(monkeypatch):
    tried = []
    plain = training.trained

    def counted(task, recipe, *rest):
        tried.append(recipe)
        return plain(task, recipe, *rest)

    monkeypatch.setattr(training, "trained", counted)
    y = np.sin(5 * X[:, 0])[:, np.newaxis]
    recipes = [Recipe(False, 0.03), Recipe(False, 10.0)]
    trials = trials_of(task_of(X[:, :1], y, "squared_error"), recipes, print)
    assert [trial.recipe for trial in trials] == recipes[:1]
    assert tried == [*recipes, recipes[0], recipes[0]]


def test_with_more_columns_than_rows_it_is_as_good_as_a_ridge_regression():
    """A descent alone leaves 1.4 times the error: its slopes are hardly penalised."""
    rows, y = make_regression(400, 250, n_informative=5, noise=50.0, random_state=0)
    ours = FourierRegressor(20, random_state=0).fit(rows[:110], y[:110])
    ridge = RidgeCV(np.logspace(-3, 4, 15)).fit(rows[:110], y[:110])
    errors = [np.mean((y[110:] - each.predict(rows[110:])) ** 2) for each in (ours, ridge)]
    assert errors[0] < 1.1 * errors[1]


def test_without_a_signal_predictions_are_nearly_constant():
    """Without validation rows, predictions spread by 0.24 to 1.07, depending on the alpha."""
    rng = np.random.default_rng(0)
    rows, y = rng.standard_normal((300, 10)), rng.standard_normal(300)
    model = FourierRegressor(20, random_state=0).fit(rows[:200], y[:200])
    assert model.predict(rows[200:]).std() < 0.1


@pytest.mark.parametrize("n_samples", [2, 11, 12, 59])
def test_few_rows_are_learned_from(n_samples):
    y = np.arange(n_samples) % 2
    rows = RNG.standard_normal((n_samples, 3)) + 6 * y[:, np.newaxis]
    model = FourierClassifier(5, random_state=0).fit(rows, y)
    assert model.score(rows, y) == 1


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, (False, 3.0)),
        ({"alpha": 1.0}, (False, 1.0)),
        ({"piecewise": True}, (True, 3.0)),
        ({"piecewise": False}, (False, 3.0)),
    ],
)
def test_few_rows_get_no_codes_unless_they_are_given(parameters, expected):
    model = FourierRegressor(3, random_state=0, **parameters).fit(X[:30], X[:30, 0])
    assert (model.piecewise_, model.alpha_) == expected


@pytest.mark.parametrize("n_samples", [13, 60])
@pytest.mark.parametrize("seed", range(4))
def test_rows_of_classes_of_weight_zero_are_not_there(n_samples, seed):
    """All others may be in one fold."""
    y = np.arange(n_samples).clip(0, 2)[::-1]
    model = FourierClassifier(3, class_weight={0: 1, 1: 1, 2: 0}, random_state=seed)
    is_there = y < 2
    found = model.fit(X[:n_samples], y).predict_proba(X[:n_samples])
    assert found[:, 2].max() < 1e-5
    two = FourierClassifier(3, random_state=seed).fit(X[:n_samples][is_there], y[is_there])
    np.testing.assert_array_equal(found.argmax(axis=1), two.predict(X[:n_samples]))
