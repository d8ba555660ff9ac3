import pytest

from reproduction.plan import EXPERIMENTS, PROFILES, cells_of
from reproduction.runner import read_lines, run

QUICK = PROFILES["quick"]


# Some widths of every experiment, so that a run takes about ten seconds.
WIDTHS = (0, 5, 10, 500, 20_000)


@pytest.fixture(scope="session")
def cells():
    """Some cells of the quick profile, of every experiment."""
    found = cells_of(QUICK, EXPERIMENTS, ("breast",), 2)
    return [cell for cell in found if cell.width in WIDTHS and cell.split < 2]


@pytest.fixture(scope="session")
def lines(cells, tmp_path_factory):
    """The lines of a run of these cells that nobody interrupted."""
    path = tmp_path_factory.mktemp("whole") / "cells.jsonl"
    assert set(run(cells, QUICK, path, n_jobs=1)) == set(cells)
    return read_lines(path)
