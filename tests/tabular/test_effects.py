from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from tests.tabular.table_fits import Column, HeldOut, TableColumns, Target, amounts, rare_class

from pacfourier.tabular import effects as module
from pacfourier.tabular.effects import (
    MOST_ROWS,
    _best_columns,
    _divided,
    _encoded_places,
    _most_shuffled_rows,
    _shuffled,
    _spread,
    _tried_values,
    effects,
    importances,
)


@dataclass
class Recorder:
    """A model that is a function of the frame, and remembers the shapes of what it was asked."""

    columns: TableColumns
    function: object
    task: str = "regression"

    def __post_init__(self):
        self.shapes = []
        self.target = Target("y", self.task, ["a", "b"] if self.task != "regression" else [])

    @property
    def encoding(self):
        return self

    @property
    def predictor(self):
        return self

    @property
    def sources(self):
        return [column.name for column in self.columns.used]

    def encoded(self, frame):
        return frame[self.sources].to_numpy(dtype=float)

    def predict(self, X):
        self.shapes.append(X.shape)
        return np.asarray(self.function(pd.DataFrame(X, columns=self.sources)), dtype=float)

    def predict_proba(self, X):
        second = self.predict(X)
        return np.column_stack([1 - second, second])


def numbers(rng, n_rows, n_columns):
    return pd.DataFrame(
        rng.normal(size=(n_rows, n_columns)), columns=list(map(str, range(n_columns)))
    )


def recorder(frame, function, **options):
    columns = TableColumns(tuple(Column(name, "number") for name in frame), {})
    return Recorder(columns, function, **options)


def rises(found):
    return {item.column: item.rise for item in found}


def test_importances_are_those_of_a_loop_over_the_columns():
    fit = rare_class()
    found = importances(fit.model, fit.held_out, seed=3)
    frame, truth = fit.held_out.frame, fit.held_out.truth
    places = np.searchsorted(fit.model.target.classes, truth)

    def mean_loss(changed):
        return np.mean(
            [1 - row[k] for row, k in zip(fit.model.probabilities(changed), places, strict=True)]
        )

    for item in found:
        losses = []
        for repeat in range(2):
            order = np.random.default_rng([3, repeat]).permutation(len(frame))
            changed = frame.copy()
            changed[item.column] = frame[item.column].to_numpy()[order]
            losses.append(mean_loss(changed))
        assert item.rise == pytest.approx(np.mean(losses) - mean_loss(frame), abs=1e-12)
    assert {item.column for item in found[:2]} == {"age", "job"}
    assert [item.rise for item in found] == sorted((item.rise for item in found), reverse=True)


def test_importances_depend_on_the_seed_and_on_nothing_else():
    fit = amounts()
    first, again, other = (rises(importances(fit.model, fit.held_out, seed)) for seed in (0, 0, 1))
    assert first == again
    assert first != other


def test_a_column_that_is_not_used_has_no_importance(rng):
    frame = numbers(rng, 100, 3)
    model = recorder(frame, lambda rows: 2 * rows["0"] + rows["1"])
    held_out = HeldOut(frame, model.function(frame).to_numpy(), None, None)
    found = rises(importances(model, held_out))
    assert found["2"] == 0.0
    assert found["0"] > found["1"] > 0


def test_the_rise_of_a_perfect_classifier_is_the_error_of_a_random_guess(rng):
    # Shuffled, the prediction is independent of the label: it is wrong with probability 2 p (1-p).
    frame = pd.DataFrame({"x": (rng.random(20_000) < 0.2).astype(float)})
    model = recorder(frame, lambda rows: rows["x"], task="classification")
    held_out = HeldOut(frame, np.where(frame["x"] > 0, "b", "a"), None, None)
    (found,) = importances(model, held_out)
    assert found.rise == pytest.approx(2 * 0.2 * 0.8, abs=0.05)


def test_shuffled_columns_move_together_and_keep_their_places(rng):
    X = rng.standard_normal((10, 4))
    order, before = rng.permutation(10), X.copy()
    changed = _shuffled(X, np.array([1, 3]), order)
    assert (changed[:, [1, 3]] == X[order][:, [1, 3]]).all()
    assert (changed[:, [0, 2]] == X[:, [0, 2]]).all()
    assert (before == X).all()


def test_columns_of_the_table_are_found_among_the_encoded_ones():
    fit = amounts()
    sources = fit.model.encoding.sources
    places = _encoded_places(fit.model)
    assert sum(map(len, places.values())) == len(sources)
    assert all(sources[each] == name for name, found in places.items() for each in found)
    assert len(places["job"]) > 1


@pytest.mark.parametrize("n_columns", [65, 1000, 5003])
def test_a_search_by_groups_finds_the_columns_of_a_search_one_by_one(rng, n_columns):
    names = tuple(map(str, range(n_columns)))
    important = set(rng.choice(n_columns, size=5, replace=False).astype(str))
    calls = []

    def rise(group):
        calls.append(group)
        return float(len(important & set(group)))

    found = _best_columns(names, rise)
    assert important <= set(found)
    assert len(set(found)) == len(found) <= 32
    assert len(calls) <= 32 * np.log(n_columns)


def test_all_columns_of_a_narrow_table_are_kept():
    names = tuple(map(str, range(64)))
    assert _best_columns(names, lambda group: pytest.fail(str(group))) == names


def test_divided_parts_cover_everything():
    names = tuple("abcdefg")
    for n_parts in range(1, 10):
        parts = _divided(names, n_parts)
        assert len(parts) == min(n_parts, 7)
        assert sum(parts, ()) == names
        assert {len(part) for part in parts} <= {7 // len(parts), 7 // len(parts) + 1}


def test_the_work_is_bounded_for_long_and_for_wide_tables(rng, monkeypatch):
    long = numbers(rng, 50_000, 3)
    model = recorder(long, lambda rows: rows["0"])
    importances(model, HeldOut(long, np.zeros(50_000), None, None))
    assert max(shape[0] for shape in model.shapes) == MOST_ROWS
    monkeypatch.setattr(module, "MOST_CELLS", 10**7)
    wide = numbers(rng, 300, 400)
    model = recorder(wide, lambda rows: rows["7"])
    found = importances(model, HeldOut(wide, wide["7"].to_numpy(), None, None))
    assert found[0].column == "7"
    assert n_cells(model) <= 10**7


def n_cells(model):
    return sum(n_rows * n_columns for n_rows, n_columns in model.shapes)


def test_effects_of_wide_tables_use_fewer_rows(rng, monkeypatch):
    monkeypatch.setattr(module, "MOST_CELLS", 10**6)
    frame = numbers(rng, 600, 400)
    model = recorder(frame, lambda rows: rows["7"])
    assert len(effects(model, frame, ["7", "8"])) == 2
    assert 0 < n_cells(model) <= 10**6


def test_a_table_that_is_too_wide_is_not_searched(rng, monkeypatch):
    assert _most_shuffled_rows(100_000) < module.FEWEST_ROWS < _most_shuffled_rows(10_000)
    monkeypatch.setattr(module, "MOST_CELLS", 10_000)
    frame = numbers(rng, 60, 4)
    model = recorder(frame, lambda rows: rows["0"])
    assert importances(model, HeldOut(frame, np.zeros(60), None, None)) == []
    assert model.shapes == []
    # With few rows, there is nothing better.
    few = frame[:30]
    assert len(importances(model, HeldOut(few, np.zeros(30), None, None))) == 4


def test_a_table_without_columns_has_no_importances(rng):
    model = Recorder(TableColumns((), {}), lambda rows: np.zeros(len(rows)))
    assert importances(model, HeldOut(numbers(rng, 3, 2), np.zeros(3), None, None)) == []


@pytest.mark.parametrize(("n_rows", "n_repeats"), [(10, 5), (1000, 2), (2000, 1)])
def test_few_rows_are_shuffled_several_times(rng, n_rows, n_repeats):
    frame = numbers(rng, n_rows, 1)
    model = recorder(frame, lambda rows: rows["0"])
    importances(model, HeldOut(frame, np.zeros(n_rows), None, None))
    assert model.shapes == [(n_rows, 1)] * (1 + n_repeats)


def test_the_effect_on_a_sum_is_the_term_of_the_column(rng):
    frame = numbers(rng, 200, 2)
    model = recorder(frame, lambda rows: np.sin(rows["0"]) + 3 * rows["1"])
    (found,) = effects(model, frame, ["0"])
    expected = np.sin(found.values) + 3 * frame["1"].mean()
    assert found.averages.shape == (24, 1)
    assert found.averages[:, 0] == pytest.approx(expected)


def test_effects_follow_categories_dates_and_gaps_and_skip_texts():
    fit = amounts()
    names = ["remark", "job", "since", "age"]
    job, since, age = effects(fit.model, fit.held_out.frame, names)
    assert [job.kind, since.kind, age.kind] == ["category", "date", "number"]
    assert set(job.values) == {
        "missing",
        "nurse",
        "teacher",
        "pilot",
        "baker & pastry cook <master>",
    }
    assert job.values[job.averages[:, 0].argmax()] == "nurse"
    assert (np.diff(since.values) > np.timedelta64(0)).all()
    assert since.averages[-1] > since.averages[0] + 3
    assert (np.diff(age.values) > 0).all()
    # Gaps are predicted as they are, not as another value.
    rows = fit.held_out.frame.iloc[_spread(len(fit.held_out.frame), len(fit.held_out.frame))]
    gap = fit.model.predictions(rows.assign(job=pd.Series([None] * len(rows), dtype="str")))
    assert job.averages[list(job.values).index("missing"), 0] == pytest.approx(gap.mean())


def test_values_to_try():
    assert _tried_values(pd.Series([3.0, 1.0, np.nan, 3.0]), "number").tolist() == [1.0, 3.0]
    assert _tried_values(pd.Series([np.nan, np.nan]), "number").tolist() == []
    assert _tried_values(pd.Series(["a", "b"]), "text").tolist() == []
    many = _tried_values(pd.Series(np.arange(1001.0)), "number")
    assert many.tolist()[::23] == [10.0, 990.0]
    texts = pd.Series([f"c{k}" for k in range(30) for _ in range(k + 1)])
    assert _tried_values(texts, "category").tolist() == [f"c{k}" for k in range(29, 19, -1)]


def test_a_column_with_one_value_has_no_effect(rng):
    frame = numbers(rng, 20, 2).assign(**{"1": 5.0})
    model = recorder(frame, lambda rows: rows["0"])
    assert [each.column for each in effects(model, frame, ["0", "1"])] == ["0"]
