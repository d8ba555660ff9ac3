import numpy as np
import pytest
from scipy import sparse
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LinearRegression

from pacfourier import FourierClassifier, FourierRegressor
from pacfourier.plots import (
    PredictionDisplay,
)
from pacfourier.plots.grid_axis import spread

QUICK = {"alpha": 3.0, "piecewise": False, "random_state": 0}


def naive_dependence(model, frame, column, value):
    """Return the mean probability of the second class if one column has one value."""
    return model.predict_proba(frame.assign(**{column: value}))[:, 1].mean()


def test_predictions_are_those_of_scikit_learn(rng):
    X = rng.random((50, 3))
    model = FourierRegressor(4, **QUICK).fit(X, X[:, 0] * X[:, 1])
    display = PredictionDisplay.from_estimator(model, X, 1, n_grid=7)
    (axis,) = display.axes
    expected = partial_dependence(
        model, X, [1], custom_values={1: axis.positions}, kind="average", method="brute"
    )
    np.testing.assert_allclose(display.predictions, expected["average"], rtol=1e-5)
    np.testing.assert_allclose(display.lines_[0].get_ydata(), display.predictions[0])
    np.testing.assert_allclose(axis.positions[[0, -1]], np.percentile(X[:, 1], (1, 99)))


def test_predictions_along_every_kind_of_column(model, table):
    for column in table.columns:
        display = PredictionDisplay.from_estimator(model, table, column, n_grid=9)
        (axis,) = display.axes
        values = [value if value == value else None for value in list(axis.column)]
        expected = [naive_dependence(model, table, column, value) for value in values]
        np.testing.assert_allclose(display.predictions[0], expected, rtol=1e-5, err_msg=column)
        assert display.ax_.get_xlabel() == column
        assert display.ax_.get_ylabel() == "mean probability of low"


def test_categories_come_by_their_share_and_gaps_are_one(model, table):
    display = PredictionDisplay.from_estimator(model, table, "kind")
    (axis,) = display.axes
    assert axis.labels == ["oak", "elm", "fir", "missing"]
    counts = table["kind"].value_counts()
    np.testing.assert_allclose(axis.rows[:3] * len(table), counts[axis.labels[:3]])
    heights = [bar.get_height() for bar in display.ax_.patches]
    assert heights == sorted(heights, reverse=True)
    ticks = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert ticks == axis.labels


def test_few_numbers_are_shown_one_by_one(model, table):
    counted = PredictionDisplay.from_estimator(model, table, ["count"]).axes[0]
    np.testing.assert_array_equal(counted.positions, [0, 1, 2, 3])
    dates = PredictionDisplay.from_estimator(model, table, 3, n_grid=5).axes[0]
    assert dates.kind == "dates"
    assert len(dates.positions) == 5
    assert dates.positions[-1] == np.datetime64(table["day"].max())


def test_maps_have_the_first_column_across(table):
    rows = table[["size", "count"]].dropna()
    model = LinearRegression().fit(rows, rows["size"] + 10 * rows["count"])
    display = PredictionDisplay.from_estimator(model, rows, ["size", "count"], n_grid=6)
    across, upward = (axis.positions for axis in display.axes)
    expected = across[:, np.newaxis] + 10 * upward
    np.testing.assert_allclose(display.predictions[0], expected)
    assert display.ax_.get_xlabel() == "size"
    limits = display.surface_.zmin, display.surface_.zmax
    np.testing.assert_allclose(limits, [expected.min(), expected.max()])
    np.testing.assert_allclose(display.ax_.get_xlim(), across[[0, -1]])


def test_maps_of_categories_have_one_cell_per_value(model, table):
    display = PredictionDisplay.from_estimator(model, table, ["size", "kind"], n_grid=5)
    assert display.surface_.get_array().size == 5 * 4
    np.testing.assert_allclose(
        np.ravel(display.surface_.get_array()), display.predictions[0].T.ravel()
    )
    one = display.axes[0].positions[2]
    expected = naive_dependence(model, table.assign(kind="elm"), "size", one)
    assert display.predictions[0][2, 1] == pytest.approx(expected, rel=1e-5)


def test_one_line_per_class_or_the_one_that_is_asked_for(rng):
    X, y = rng.standard_normal((60, 2)), np.resize(["a", "b", "c"], 60)
    model = FourierClassifier(3, **QUICK).fit(X, y)
    display = PredictionDisplay.from_estimator(model, sparse.csr_array(X), 0)
    assert [line.get_label() for line in display.lines_[:3]] == ["a", "b", "c"]
    np.testing.assert_allclose(display.predictions.sum(axis=0), 1)
    single = PredictionDisplay.from_estimator(model, X.tolist(), -2, target="b")
    np.testing.assert_allclose(single.predictions[0], display.predictions[1])
    assert single.quantity == "mean probability of b"
    with pytest.raises(ValueError, match=r"target must be one of \['a', 'b', 'c'\] to show two"):
        PredictionDisplay.from_estimator(model, X, [0, 1])
    with pytest.raises(ValueError, match=r"target must be one of .* got 'd'"):
        PredictionDisplay.from_estimator(model, X, 0, target="d")


def test_label_sets_and_several_amounts_have_a_line_each(rng):
    X = rng.standard_normal((60, 2))
    sets = FourierClassifier(3, **QUICK).fit(X, (X > 0).astype(int))
    assert len(PredictionDisplay.from_estimator(sets, X, 0).predictions) == 2
    amounts = FourierRegressor(3, **QUICK).fit(X, X)
    assert PredictionDisplay.from_estimator(amounts, X, 0).quantity == "mean prediction"
    one = PredictionDisplay.from_estimator(amounts, X, 0, target=1)
    assert one.quantity == "mean prediction 1"


def test_many_rows_are_thinned_evenly():
    np.testing.assert_array_equal(spread(5, 9), np.arange(5))
    np.testing.assert_array_equal(spread(9, 3), [0, 4, 8])
    X = np.column_stack([np.arange(5000.0), np.ones(5000)])
    model = LinearRegression().fit(X, X[:, 0])
    display = PredictionDisplay.from_estimator(model, X, 1)
    np.testing.assert_allclose(display.predictions, X[:, 0].mean())


@pytest.mark.parametrize("columns", ["none", 5, -6, [], ["size", "kind", "count"], [None]])
def test_columns_that_are_not_there_are_refused(model, table, columns):
    with pytest.raises(ValueError, match="columns must"):
        PredictionDisplay.from_estimator(model, table, columns)


def test_a_column_of_gaps_is_refused(model, table):
    with pytest.raises(ValueError, match="column 'size' must have values to be drawn"):
        PredictionDisplay.from_estimator(model, table.assign(size=np.nan), "size")
    with pytest.raises(ValueError, match="must hold a number below 2, got 'a'"):
        PredictionDisplay.from_estimator(LinearRegression().fit([[1, 2]], [1]), [[1, 2]], "a")
