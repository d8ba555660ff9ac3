from dataclasses import replace

import numpy as np
import pytest

from pacfourier.tabular import baselines
from pacfourier.tabular.baselines import _ALL, _best_columns, fitted_baselines
from pacfourier.tabular.training_rows import LabelledRows


def learned_rows(rng, task, n_columns):
    """The label depends on the second column, and the first one is constant."""
    X = rng.standard_normal((400, n_columns)).astype(np.float32)
    X[:, 0] = 1.0
    y = X[:, 1].astype(float) if task == "regression" else np.where(X[:, 1] > 0, "yes", "no")
    return LabelledRows(X, y, np.zeros(400), np.zeros(400))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_trees_see_the_best_columns_of_a_wide_table(task, rng, monkeypatch):
    monkeypatch.setattr(baselines, "_MOST_BOOSTED", 4)
    rows = learned_rows(rng, task, 30)
    linear, trees = fitted_baselines(task, rows, None, 0)
    assert trees.name == "boosted trees (4 columns)"
    assert len(trees.columns) == 4
    assert 1 in trees.columns
    assert 0 not in trees.columns
    assert trees.model.n_features_in_ == 4
    assert linear.columns == _ALL
    agreement = trees.predict(rows.X) == rows.y
    if task == "classification":
        assert agreement.mean() > 0.9
    else:
        assert np.corrcoef(trees.predict(rows.X), rows.y)[0, 1] > 0.9


def test_trees_see_all_columns_of_other_tables(rng):
    rows = learned_rows(rng, "classification", 5)
    assert _best_columns(rows.X, rows.y, "classification") == _ALL
    names = [each.name for each in fitted_baselines("classification", rows, "balanced", 0)]
    assert names == ["logistic regression", "boosted trees"]


def test_the_linear_model_is_searched_for_in_spite_of_a_rare_class(rng):
    rows = learned_rows(rng, "classification", 5)
    y = rows.y.astype("<U4")
    y[0] = "rare"
    linear, _ = fitted_baselines("classification", replace(rows, y=y), None, 0)
    assert linear.model.best_params_


def test_the_linear_model_is_not_searched_for_if_a_fold_could_have_one_class(rng):
    rows = learned_rows(rng, "classification", 5)
    y = np.where(np.arange(400) < 2, "rare", "rest")
    linear, _ = fitted_baselines("classification", replace(rows, y=y), None, 0)
    assert set(linear.predict(rows.X)) <= {"rare", "rest"}


def test_large_amounts_are_not_rounded(rng):
    rows = learned_rows(rng, "regression", 5)
    linear, _ = fitted_baselines("regression", replace(rows, y=rows.y + 1e12), None, 0)
    assert np.abs(linear.predict(rows.X) - 1e12 - rows.y).max() < 0.01
