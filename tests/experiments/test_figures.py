"""What figures draw, on results made up for them: errors in % of 1,000 test samples."""

import pytest

from pacfourier.experiments.figures import (
    BAND,
    OTHERS,
    greedy_figure,
    landmarks_figure,
    methods_figure,
    toy_figure,
)
from pacfourier.experiments.results_summary import ResultsSummary, estimate

SVM = ("svm", "breast", "SVM", 0)


def summary_of(errors):
    """Return the summary of errors by (experiment, data set, method, width), a list over splits."""
    rows = []
    for (experiment, dataset, method, width), percents in errors.items():
        key = {"profile": "quick", "experiment": experiment, "dataset": dataset}
        for split, percent in enumerate(percents):
            place = {"method": method, "width": width, "split": split}
            rows.append(key | place | {"test_errors": 10 * percent, "n_test": 1000})
    return ResultsSummary(rows, "quick")


def curve(figure, label):
    """Return the points of the line of a method in the first panel."""
    lines = [line for line in figure.axes[0].get_lines() if line.get_label() == label]
    assert len(lines) == 1
    return dict(zip(lines[0].get_xdata(), lines[0].get_ydata(), strict=True))


def entries(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_curve_has_the_same_splits_at_all_points():
    """At 10 there are two splits, elsewhere one: the mean at 10 would be a dip."""
    where = ("landmarks", "breast", "RBF-C")
    errors = {(*where, 1): [8], (*where, 10): [8, 2], (*where, 25): [8], SVM: [5, 1]}
    figure = landmarks_figure(summary_of(errors))
    assert curve(figure, "RBF-C") == {1: 8, 10: 8, 25: 8}
    assert set(curve(figure, "RBF SVM").values()) == {5}


def test_a_curve_is_the_mean_of_the_splits_it_has_everywhere():
    where = ("landmarks", "breast", "RBF-C")
    errors = {(*where, 1): [8, 6], (*where, 10): [4, 2, 9], SVM: [5, 1, 1]}
    figure = landmarks_figure(summary_of(errors))
    assert curve(figure, "RBF-C") == {1: 7, 10: 3}
    assert set(curve(figure, "RBF SVM").values()) == {3}


def test_curves_without_a_common_split_are_left_out():
    rows = summary_of({("landmarks", "breast", "RBF-C", 1): [8, 6], SVM: [5, 5]}).rows
    rows[1]["width"] = 10
    assert "RBF-C" not in entries(landmarks_figure(ResultsSummary(rows, "quick")))


def test_legends_name_what_is_dashed_and_what_is_shaded():
    one = {("greedy", "breast", "PBRFF", width): [8] for width in (10, 100)}
    assert entries(greedy_figure(summary_of(one))) == ["PBRFF", "published"]
    two = {key: [8, 6] for key in one} | {SVM: [5, 5]}
    names = ["PBRFF", "RBF SVM", "published", BAND]
    assert entries(greedy_figure(summary_of(two))) == names


def test_zeros_stand_on_the_floor_of_the_panel():
    errors = {("small-d", "breast", "BoostedRFF", 5): [2], ("small-d", "breast", "RFF", 5): [0]}
    figure = methods_figure(summary_of(errors), "small-d")
    ax, floor = figure.axes[0], figure.axes[0].get_ylim()[0]
    assert curve(figure, OTHERS) == curve(figure, "no errors") == {5: floor}
    assert 0 < floor < 2
    assert ax.get_yticks()[0] == floor
    assert ax.get_yticklabels()[0].get_text() == "0"
    assert "no errors" in entries(figure)


def test_an_svm_without_errors_stands_on_the_floor_and_has_no_marks():
    errors = {("small-d", "breast", "RFF", width): [2] for width in (10, 100)} | {SVM: [0]}
    ax = methods_figure(summary_of(errors), "small-d").axes[0]
    assert "no errors" not in [line.get_label() for line in ax.get_lines()]
    assert ax.get_xlim()[0] > 1


def test_panels_without_any_error_are_drawn():
    figure = methods_figure(summary_of({("small-d", "breast", "RFF", 5): [0]}), "small-d")
    assert figure.axes[0].get_yticklabels()[0].get_text() == "0"


def test_five_methods_are_in_colours_and_the_others_share_an_entry():
    methods = ("RFF", "GibbsRFF", "OKRFF", "PBRFF", "Nystroem k-means", "GBRFF", "BoostedRFF")
    errors = {("small-d", "breast", method, 5): [2] for method in methods} | {SVM: [5]}
    figure = methods_figure(summary_of(errors), "small-d")
    names = ["BoostedRFF", "GBRFF", "Nystroem k-means", "PBRFF", "OKRFF", OTHERS, "RBF SVM"]
    assert entries(figure) == names
    lines = [line for line in figure.axes[0].get_lines() if line.get_label() != "RBF SVM"]
    assert len({line.get_color() for line in lines}) == len(names) - 1


@pytest.mark.parametrize(
    ("errors", "samples"), [([7, 5], "mean of 2 samples"), ([6], "one sample")]
)
def test_the_toy_figure_speaks_in_words(errors, samples):
    found = estimate(dict(enumerate(errors)))
    figure = toy_figure("two moons", {"RBF-R": found, "PB-R": found})
    titles = [row.get_suptitle() for row in figure.subfigs]
    assert titles == [
        f"RBF kernel, random landmarks: test error 6.0 % ({samples})",
        f"Learned similarities, same landmarks: test error 6.0 % ({samples})",
    ]
