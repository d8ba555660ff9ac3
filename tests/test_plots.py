from itertools import pairwise
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from scipy import sparse
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LinearRegression

from pacfourier import PBRFF, FourierClassifier, FourierRegressor, PBLandmarks, RBFLandmarks
from pacfourier.core.boosting.columns import Columns, described_columns
from pacfourier.plots import (
    CertificateDisplay,
    LossSpectrumDisplay,
    PredictionDisplay,
    SimilarityDisplay,
    WavesDisplay,
    column_weights,
    drawn_yardsticks,
    phase_turns,
    spread,
)

mpl.use("agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    mpl.pyplot.close("all")


@pytest.fixture
def sample(rng):
    y = np.resize([0, 1], 60)
    return rng.standard_normal((60, 2)) + 2 * y[:, np.newaxis], y


def test_similarity_display_draws_what_the_estimator_says(sample):
    X, y = sample
    learned = PBLandmarks("random", n_landmarks=3, gamma=0.3, random_state=0).fit(X, y)
    display = SimilarityDisplay.from_estimator(learned, X, y, landmark=1, n_grid=15)
    points = np.column_stack([display.grid_x.ravel(), display.grid_y.ravel()])
    np.testing.assert_allclose(display.similarity.ravel(), learned.similarity(points, 1))
    np.testing.assert_array_equal(display.landmark, learned.landmarks_[1])
    prior = SimilarityDisplay.from_estimator(learned, X, y, landmark=1, prior=True, n_grid=15)
    kernel = RBFLandmarks("random", n_landmarks=3, gamma=0.3, random_state=0).fit(X, y)
    expected = SimilarityDisplay.from_estimator(kernel, X, y, landmark=1, n_grid=15)
    np.testing.assert_allclose(prior.similarity, expected.similarity)
    assert len(display.ax_.collections) > 2


def test_displays_take_what_estimators_take(sample):
    X, y = sample
    model = PBLandmarks("random", n_landmarks=3, gamma=0.3, random_state=0)
    model.fit(sparse.csr_array(X), y.astype(str))
    display = SimilarityDisplay.from_estimator(model, X.tolist(), y.astype(str).tolist(), n_grid=9)
    assert sum(len(item.get_offsets()) == 30 for item in display.ax_.collections) == 2
    spectrum = LossSpectrumDisplay.from_estimator(model, landmark=2)
    np.testing.assert_array_equal(spectrum.losses, model.losses_[2])
    kernel = RBFLandmarks("random", n_landmarks=3, random_state=0).fit(X, y)
    SimilarityDisplay.from_estimator(kernel, X, y, prior=True, n_grid=9)


def test_bounds_are_shown_rounded_up():
    display = CertificateDisplay(values={"kl": 0.53741}, empirical_loss=0.3, held_out_loss=0.9)
    labels = [text.get_text() for text in display.plot().ax_.texts]
    assert labels == ["0.538", "held-out loss 0.900", "empirical loss 0.300"]
    assert display.ax_.get_xlim()[1] > 0.9


def test_yardsticks_are_drawn_where_they_are():
    yardsticks = {"perfect": 0.4, "unrelated": 0.5, "constant": 0.9}
    display = CertificateDisplay(values={"kl": 0.6}, empirical_loss=0.45, yardsticks=yardsticks)
    lines = display.plot().lines_
    names = ["constant 0.900", "unrelated 0.500", "empirical loss 0.450", "perfect 0.400"]
    assert [line.get_text() for line in lines] == names
    assert [line.xy for line in lines] == [(0.9, 0), (0.5, 0), (0.45, 0), (0.4, 0)]
    assert display.ax_.get_xlim()[1] > 0.9


def test_lines_are_vertical_and_no_label_meets_another_line():
    """Also where two losses are nearly the same."""
    yardsticks = {"perfect": 0.0, "unrelated": 0.5, "constant": 0.503}
    display = CertificateDisplay(values={"kl": 0.52}, empirical_loss=0.499, yardsticks=yardsticks)
    lines = display.plot().lines_
    display.figure_.canvas.draw()
    # The start is the corner of the label, and the end is the loss on the axis, in pixels.
    starts, ends = zip(*(line.arrow_patch._posA_posB for line in lines), strict=True)
    losses = display.ax_.transData.transform([(line.xy[0], 0) for line in lines])
    # Text is placed on whole pixels.
    np.testing.assert_allclose(np.array(starts)[:, 0], losses[:, 0], atol=1)
    np.testing.assert_allclose(np.array(ends)[:, 0], losses[:, 0], atol=1e-6)
    boxes = [mpl.text.Text.get_window_extent(line) for line in lines]
    for right, left in pairwise(boxes):
        assert left.y0 >= right.y1


@pytest.mark.parametrize(
    ("losses", "drawn"),
    [
        ((0.4, 0.5, 0.9), {"perfect": 0.4, "unrelated": 0.5, "constant": 0.9}),
        ((0.0, 0.42, 0.42), {"perfect": 0.0, "unrelated, constant": 0.42}),
        ((0.0, 0.5, 0.5001), {"perfect": 0.0, "unrelated, constant": 0.5}),
        ((0.0, 0.0, 0.0), {"perfect, unrelated, constant": 0.0}),
        ((None, 0.5, 0.7), {"unrelated": 0.5, "constant": 0.7}),
    ],
)
def test_yardsticks_that_look_equal_share_a_line(losses, drawn):
    names = ("perfect", "unrelated", "constant")
    assert drawn_yardsticks(SimpleNamespace(**dict(zip(names, losses, strict=True)))) == drawn


def test_only_planes_are_drawn(rng):
    X, y = rng.standard_normal((20, 3)), np.resize([0, 1], 20)
    model = PBLandmarks("random", n_landmarks=3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="two columns to be drawn, got 3"):
        SimilarityDisplay.from_estimator(model, X, y)


def test_loss_spectrum_display_shows_every_candidate(sample):
    model = PBRFF(5, n_candidates=1500, random_state=0).fit(*sample)
    display = LossSpectrumDisplay.from_estimator(model)
    assert display.points_.get_offsets().shape == (1500, 2)
    np.testing.assert_allclose(display.norms, np.linalg.norm(model.pool_[:], axis=1), rtol=1e-6)
    assert display.ax_.get_xscale() == "log"


def test_weights_are_coloured_by_their_order_of_magnitude():
    weights, places = np.array([1, 1e-2, 1e-4, 0]), np.arange(1.0, 5)
    display = LossSpectrumDisplay(norms=places, losses=places, weights=weights, kept=[1]).plot()
    points, kept = display.ax_.collections
    np.testing.assert_allclose(points.norm(points.get_array()), [0, 0, 0.5, 1])
    np.testing.assert_allclose(kept.norm(kept.get_array()), 0.5)


def test_certificate_display_orders_the_bounds(sample):
    model = PBRFF(5, n_candidates=300, target_type="binary", random_state=0).fit(*sample)
    names = ("kl", "hoeffding_grid", "catoni_grid")
    ax = mpl.pyplot.subplots()[1]
    display = CertificateDisplay.from_estimator(model, bounds=names, held_out_loss=0.3, ax=ax)
    widths = [bar.get_width() for bar in display.bars_]
    assert widths == sorted(widths, reverse=True)
    assert display.values == {name: model.certificate(bound=name).value for name in names}
    assert display.ax_ is ax
    own = model.certificate().yardsticks
    assert display.yardsticks == {name: getattr(own, name) for name in display.yardsticks}
    assert list(display.yardsticks) == ["perfect", "unrelated", "constant"]
    assert len(display.lines_) == 5


QUICK = {"strength": 3.0, "codes": False, "random_state": 0}


@pytest.fixture
def table(rng):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("skrub")
    n = 90
    frame = pd.DataFrame(
        {
            "size": rng.standard_normal(n),
            "kind": pd.Categorical(np.resize(["oak", "oak", "elm", "fir"], n)),
            "count": rng.integers(0, 4, n),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D"),
            "old": rng.random(n) < 0.5,
        }
    )
    frame.loc[:4, "kind"] = None
    frame.loc[3:6, ["size", "day"]] = None
    return frame


@pytest.fixture
def model(table):
    y = np.where(table["kind"] == "oak", "high", "low")
    return FourierClassifier(4, **QUICK).fit(table, y)


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


@pytest.mark.parametrize("coded", [False, True])
def test_weights_are_deviations_of_the_phase(coded, rng):
    """Phases of the inputs themselves, while one column moves and the others stay."""
    X = np.column_stack([rng.standard_normal((400, 2)), rng.random(400) < 0.3, np.ones(400)])
    columns = described_columns(X, np.ones(400), coded=coded)
    assert set(columns.knots) == ({0, 1} if coded else set())
    frequencies = rng.standard_normal((6, len(columns.centres)))
    turns = phase_turns(frequencies, columns)
    for place in range(4):
        unit = columns.units[place] if place < 3 else 1.0
        values = columns.knots.get(place, np.array([-unit, unit]))
        rows = np.zeros((len(values), 4))
        rows[:, place] = values
        phases = columns.inputs(rows) @ frequencies.T
        np.testing.assert_allclose(np.abs(turns[:, place]) * np.pi, phases.std(axis=0), atol=1e-12)
        if place < 3:
            np.testing.assert_array_equal(np.sign(turns[:, place]), np.sign(phases[-1] - phases[0]))


def test_columns_that_frequencies_do_not_see_have_no_weight():
    columns = Columns(np.ones(4), {}, np.zeros(4), order=np.array([2, 0, 1, 3]), n_seen=2)
    turns = phase_turns(np.array([[np.pi, -3 * np.pi]]), columns)
    np.testing.assert_allclose(turns, [[-3, 0, 1, 0]])


def test_encoded_columns_are_put_together(model, table):
    sources = model._encoder.sources
    turns = phase_turns(model.frequencies_, model._trained.columns)
    weights = column_weights(model)
    assert weights.shape == (4, table.shape[1])
    for place in range(table.shape[1]):
        expected = np.linalg.norm(turns[:, sources == place], axis=1)
        np.testing.assert_allclose(weights[:, place], expected)


def test_waves_are_ordered_and_named(model, table):
    display = WavesDisplay.from_estimator(model, n_waves=3, n_columns=2)
    amplitudes = np.sqrt((model.cosines_**2 + model.sines_**2).sum(axis=1))
    np.testing.assert_allclose(display.amplitudes, np.sort(amplitudes)[::-1][:3])
    weights = column_weights(model)[np.argsort(-amplitudes)[:3]]
    kept = np.sort(np.argsort(-(display.amplitudes @ weights))[:2])
    assert display.names == list(table.columns[kept])
    np.testing.assert_allclose(display.image_.get_array(), weights[:, kept])
    assert [bar.get_width() for bar in display.bars_] == list(display.amplitudes)
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == display.names


def test_pixels_are_shown_as_images(rng):
    X = rng.random((80, 49))
    model = FourierClassifier(5, **QUICK).fit(X, X[:, 0] > 0.5)
    display = WavesDisplay.from_estimator(model)
    assert display.image_shape == (7, 7)
    assert len(display.images_) == 5
    drawn = display.images_[0].get_array()
    np.testing.assert_allclose(drawn.ravel(), display.weights[0])
    assert WavesDisplay.from_estimator(model, image_shape=None).names[0] == "0"
    with pytest.raises(ValueError, match=r"one pixel for each of the 49 columns, got \(5, 5\)"):
        WavesDisplay.from_estimator(model, image_shape=(5, 5))
    few = FourierClassifier(5, **QUICK).fit(X[:, :36], X[:, 0] > 0.5)
    assert WavesDisplay.from_estimator(few).image_shape is None


def test_waves_of_other_estimators_are_refused(sample):
    with pytest.raises(ValueError, match=r"must be a FourierClassifier .* got PBRFF"):
        WavesDisplay.from_estimator(PBRFF(5).fit(*sample))
