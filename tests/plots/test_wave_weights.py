import numpy as np
import pytest

from pacfourier.core.boosting.columns import Columns, described_columns
from pacfourier.plots.wave_weights import phase_turns


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
