"""The cells of the library against a plain loop over settings and C, with refits."""

import pytest
from benchmarks.plain_loop import plain_cell, plain_svm
from tests.reproduction.conftest import QUICK

from reproduction.datasets import load
from reproduction.methods import METHODS
from reproduction.protocol import Bench, select, split_parts


@pytest.mark.parametrize(
    ("name", "width"), [("RFF", 10), ("PBRFF", 10), ("OKRFF", 10), ("RBF-R", 5), ("PB-R", 5)]
)
def test_the_plain_loop_selects_with_as_many_validation_errors(name, width):
    bench = Bench(QUICK, "breast", 0, split_parts(load("breast"), 0), 1e-5)
    plain = plain_cell(bench, name, width)
    assert plain.has_converged
    row = select(METHODS[name](bench, width), bench.parts)
    assert row["valid_errors"] == plain.valid_errors


def test_the_plain_svm_is_the_published_one():
    gamma, chosen = plain_svm(split_parts(load("breast"), 0))
    assert gamma == 1e-5
    assert chosen.test_errors == 7
