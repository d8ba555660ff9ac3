"""The cells of the library against a plain loop over settings and C, with refits."""

import pytest
from benchmarks.reproduction import plain_cell, plain_svm

from pacfourier.datasets import load
from pacfourier.experiments.methods import METHODS
from pacfourier.experiments.plan import Cell
from pacfourier.experiments.protocol import Bench, split_parts
from pacfourier.experiments.runner import Bandwidth, run_cell


@pytest.mark.parametrize(
    ("name", "width"), [("RFF", 10), ("PBRFF", 10), ("OKRFF", 10), ("RBF-R", 5), ("PB-R", 5)]
)
def test_the_plain_loop_selects_with_as_many_validation_errors(name, width):
    gamma = 1e-5
    plain = plain_cell(Bench("breast", 0, split_parts(load("breast"), 0), gamma), name, width)
    assert plain.has_converged
    cell = Cell("quick", METHODS[name].experiments[0], "breast", 0, name, width)
    row = run_cell(cell, Bandwidth(gamma, 1.0), None)[name]
    assert row["valid_errors"] == plain.valid_errors


def test_the_plain_svm_is_the_published_one():
    gamma, chosen = plain_svm(Bench("breast", 0, split_parts(load("breast"), 0), 1.0))
    assert gamma == 1e-5
    assert chosen.test_errors == 7
