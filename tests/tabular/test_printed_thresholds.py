"""A promise holds for the number that a user reads, on a law with atoms that is known exactly."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from pacfourier.cli.tables import _show_thresholds
from pacfourier.reports.class_sections import _threshold_table
from pacfourier.tabular.evaluation import _RECALLS, recall_thresholds

EPSILON = 0.1
# What a model predicts for the 16 cells of a categorical table, and how often a row of the rare
# class, or of the other, lies in each. Every probability lies just below a short number, so that
# rounding to the nearest loses a cell.
PROBABILITIES = np.geomspace(0.1007, 0.9003, 16).round(4) * (1 - 2e-5)
RARE = np.linspace(1, 2, 16) / np.linspace(1, 2, 16).sum()
USUAL = RARE[::-1]


def sample(rng, n_rows=1000):
    """Return the predicted probabilities of rows, and whether they are of the rare class."""
    is_rare = rng.random(n_rows) < 0.4
    cells = [rng.choice(16, n_rows, p=law) for law in (USUAL, RARE)]
    return PROBABILITIES[np.where(is_rare, *cells[::-1])], is_rare


def model_with(found):
    """Return what is needed of a model to show its thresholds."""
    return SimpleNamespace(
        target=SimpleNamespace(classes=["fault", "fine"]),
        rarer_place=lambda: 0,
        record={"thresholds": [each._asdict() for each in found], "settings": {"group": None}},
    )


def in_the_command(found, capsys):
    """Return the thresholds that the command prints."""
    capsys.readouterr()
    _show_thresholds(model_with(found))
    lines = capsys.readouterr().out.splitlines()[-len(_RECALLS) :]
    return [line.split()[1].replace("too", "0") for line in lines]


def in_the_report(found, _):
    """Return the thresholds that the report shows."""
    shown = _threshold_table(SimpleNamespace(model=model_with(found)))
    return re.findall(r"<td[^>]*>(.*?)</td>", shown)[::3]


@pytest.mark.parametrize("place", [in_the_command, in_the_report])
def test_printed_thresholds_have_the_promised_recall(place, rng, capsys):
    """All five promises hold together in all but a share of epsilon of the samples.

    Rounded to the nearest number, a threshold lost a cell in most of the samples.
    """
    n_trials, n_failures = 200, 0
    for _ in range(n_trials):
        shown = [float(text) for text in place(recall_thresholds(*sample(rng), EPSILON), capsys)]
        recalls = np.array([RARE[each <= PROBABILITIES].sum() for each in shown])
        n_failures += bool((recalls < _RECALLS).any())
    assert n_failures <= stats.binom.isf(1e-6, n_trials, EPSILON)


@pytest.mark.parametrize("place", [in_the_command, in_the_report])
def test_printed_thresholds_are_those_that_are_stored(place, rng, capsys):
    found = recall_thresholds(*sample(rng), EPSILON)
    assert [float(text) for text in place(found, capsys)] == [each.threshold for each in found]


def test_a_threshold_is_less_than_one_unit_of_its_last_digit_below_a_predicted_probability(rng):
    for each in recall_thresholds(*sample(rng), EPSILON):
        above = PROBABILITIES[each.threshold <= PROBABILITIES].min()
        unit = 10.0 ** (np.floor(np.log10(above)) - 3)
        assert each.threshold == 0 or 0 <= above - each.threshold < unit
