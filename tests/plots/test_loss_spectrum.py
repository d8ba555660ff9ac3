import numpy as np

from pacfourier import PBRFF
from pacfourier.plots import (
    LossSpectrumDisplay,
)


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
