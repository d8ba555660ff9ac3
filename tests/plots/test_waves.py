import numpy as np
import pytest

from pacfourier import PBRFF, FourierClassifier
from pacfourier.core.boosting.columns import Columns, described_columns
from pacfourier.plots import (
    WavesDisplay,
)
from pacfourier.plots.wave_weights import column_weights, phase_turns

QUICK = {"strength": 3.0, "codes": False, "random_state": 0}


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
