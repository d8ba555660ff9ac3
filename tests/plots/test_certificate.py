from itertools import pairwise
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest

from pacfourier import PBRFF
from pacfourier.plots import (
    CertificateDisplay,
)
from pacfourier.plots.certificate import drawn_yardsticks


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
