from itertools import pairwise
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from scipy import sparse

from pacfourier import PBRFF, PBLandmarks, RBFLandmarks
from pacfourier.plots import (
    CertificateDisplay,
    LossSpectrumDisplay,
    SimilarityDisplay,
    drawn_yardsticks,
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
