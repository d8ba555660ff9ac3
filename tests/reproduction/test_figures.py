"""What figures draw, on results made up for them: errors in % of 1,000 test samples."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from reproduction.figures import greedy_figure, landmarks_figure


def rows_of(experiment, errors, n_splits=2):
    """Return rows with errors by (method, width)."""
    errors = {("SVM", 0): 3} | errors
    return [
        {
            "experiment": "svm" if method == "SVM" else experiment,
            "dataset": "breast",
            "split": split,
            "method": method,
            "width": width,
            **{f"{part}_errors": 10 * (percent + split) for part in ("train", "test")},
            **{f"n_{part}": 1000 for part in ("train", "test")},
        }
        for (method, width), percent in errors.items()
        for split in range(n_splits)
    ]


def landmark_rows(**options):
    methods = ("RBF-C", "RBF-R", "PB-C", "PB-R")
    errors = {(name, width): 5 for name in methods for width in (1, 10, 25)}
    return rows_of("landmarks", errors, **options)


def entries(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def lines_of(figure, label):
    """Return the lines of a method in the first panel, ours and published."""
    lines = figure.axes[0].get_lines()
    bars = [box.lines[0] for box in figure.axes[0].containers if box.get_label() == label]
    return bars or [line for line in lines if line.get_label() == label]


def test_equal_curves_do_not_hide_each_other():
    """Every method and width has the same error: marks stand beside each other."""
    figure = landmarks_figure(landmark_rows())
    (rbf,), (pb,) = (lines_of(figure, name) for name in ("RBF", "PB"))
    np.testing.assert_array_equal(rbf.get_ydata(), pb.get_ydata())
    ax = figure.axes[0]
    places = [ax.transAxes.inverted().transform(ax.transData.transform(each.get_xydata()))[:, 0]
              for each in (rbf, pb)]  # fmt: skip
    # By more than a percent of the panel, and by less than the distance of widths.
    assert np.all((places[1] - places[0] > 0.01) & (places[1] - places[0] < 0.05))
    assert rbf.get_marker() != pb.get_marker()
    assert rbf.get_color() != pb.get_color()


def test_published_marks_stand_at_our_widths():
    figure = landmarks_figure(landmark_rows())
    (ours,), (published,) = (lines_of(figure, name) for name in ("PB", "PB, published"))
    np.testing.assert_allclose(published.get_xdata(), ours.get_xdata())
    assert published.get_markerfacecolor() == "white"
    # Table 1 has 3.50 % at 10 %.
    assert published.get_ydata()[1] == pytest.approx(3.50, abs=0.005)


def test_legends_name_all_curves_once():
    names = ["PB", "PB, published", "RBF", "RBF, published", "RBF SVM"]
    assert entries(landmarks_figure(landmark_rows())) == names
    assert entries(landmarks_figure(landmark_rows(n_splits=1))) == names


def test_the_greedy_figure_has_test_and_training_errors():
    errors = {(name, width): 5 for name in ("RFF", "OKRFF", "PBRFF") for width in (10, 100)}
    figure = greedy_figure(rows_of("greedy", errors))
    assert [ax.get_title() for ax in figure.axes] == ["breast, test", "breast, training"]
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["10", "100"]


@pytest.mark.parametrize("smallest", [0, 0.1])
def test_zeros_are_shown_below_all_other_errors(smallest):
    errors = {("RFF", 5): smallest, ("RFF", 50): 2, ("PBRFF", 5): 40}
    figure = greedy_figure(rows_of("greedy", errors, n_splits=1))
    ax = figure.axes[0]
    bottom, top = ax.get_ylim()
    assert bottom < smallest < 40 < top
    labels = {text.get_text() for text in ax.get_yticklabels()}
    assert ("0" in labels) == (smallest == 0)
    assert "10" in labels


def test_panels_without_any_error_are_drawn():
    errors = {("RFF", 5): 0, ("RFF", 50): 0, ("SVM", 0): 0}
    figure = greedy_figure(rows_of("greedy", errors, n_splits=1))
    figure.draw_without_rendering()
    assert "0" in [text.get_text() for text in figure.axes[0].get_yticklabels()]
