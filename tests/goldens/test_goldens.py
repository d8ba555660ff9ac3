"""The results of every estimator are those in ``outputs``.

``python -m tests.goldens.make`` writes them anew. A commit that does so says why.
"""

import json
import shutil

import pytest
from tests.goldens.comparison import TOLERANCE, changes
from tests.goldens.make import FOLDER, observations, path, runs

RUNS = runs()


@pytest.mark.parametrize("run", RUNS, ids=lambda run: path(*run).stem)
def test_results_are_the_goldens(run):
    name, *_ = run
    if name.endswith("Programs") and shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    if name == "FrameClassifier":
        pytest.importorskip("skrub")
    lines = changes(name, observations(*run), json.loads(path(*run).read_text("utf-8")))
    assert not lines, "\n".join([f"{path(*run).name} has other numbers:", *lines])


def test_every_golden_has_its_run():
    assert {each.name for each in FOLDER.iterdir()} == {path(*run).name for run in RUNS}


GOLDEN = {"scores": [[1.0, 2.0], [3.0, 3.0 + TOLERANCE]], "classes": ["b", "b"], "bound": [0.5]}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("scores", [[1.0, 2.0], [3.0, 3.0 + 2.5 * TOLERANCE]]),
        ("classes", ["b", "a"]),
        ("bound", [0.5 * (1 + 0.5 * TOLERANCE)]),
    ],
)
def test_rounding_passes(key, value):
    assert changes("PBRFF", GOLDEN | {key: value}, GOLDEN) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("scores", [[1.0, 2.0], [3.0, 3.0 + 6 * TOLERANCE]]),
        ("scores", [[1.0, 2.0]]),
        ("scores", [[1.0, 2.0], [3.0, float("nan")]]),
        ("classes", ["a", "b"]),
        ("bound", [0.5 * (1 + 2 * TOLERANCE)]),
        ("another", [1.0]),
    ],
)
def test_changes_are_caught(key, value):
    (line,) = changes("PBRFF", GOLDEN | {key: value}, GOLDEN)
    assert line.startswith(f"{key}: ")
