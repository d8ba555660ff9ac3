"""Every example of the gallery runs, draws a figure, and shows what its text claims."""

import ast
import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import pacfourier
from pacfourier import export, plots

FOLDER = Path(__file__).parents[2] / "examples"
# Names that an example may import from this package.
PUBLIC = {"pacfourier": pacfourier, "pacfourier.export": export, "pacfourier.plots": plots}
# What an example needs beside matplotlib.
NEEDS = {
    "dask": ["dask", "distributed"],
    "gpu": ["torch"],
    "large_file": ["pandas", "pyarrow"],
    "table": ["pandas", "skrub"],
}


def abstention(found):
    assert found["accepted_error"] <= 0.02 < found["model"].certificate_.error
    assert 0.5 < found["is_accepted"].mean() < 1


def certificate(found):
    value = found["certificate"].value
    assert sum(found["parts"]) == pytest.approx(value, abs=1e-3)
    assert found["new_loss"] < value < found["unrelated"]
    assert min(found["parts"]) > 0


def certified_classifier(found):
    assert found["error"] <= found["certificate"].error < 0.1
    assert np.all(found["promised"] < found["recall"])


def dask(found):
    assert found["difference"] <= 1e-12
    assert len(found["workers"]) == 2


def demo(found):
    assert found["test_error"] < found["model"].certificate_.error
    friedman, digits = found["tasks"]
    assert found["learned"][friedman][1] < found["random"][friedman][-1] / 2
    # The text says that random features win on the digits, with enough of them.
    assert found["random"][digits][1] > found["learned"][digits][1] > found["random"][digits][-1]


def export_c(found):
    np.testing.assert_array_equal(found["read"], found["small"].predict(found["X_test"]))
    assert len(found["wrong"]) / len(found["read"]) < 0.03
    sizes = [size for size, _ in found["sizes"].values()]
    assert sizes == sorted(sizes, reverse=True)


def gpu(found):
    # Losses in single precision agree to 1e-6, as docs/cluster.md and docs/scale.md say.
    assert found["difference"] < 1e-6
    table = (FOLDER.parent / "docs" / "scale.md").read_text(encoding="utf-8")
    for name, seconds in found["SAVED"].items():
        assert f"| {name} | {' | '.join(f'{second:g}' for second in seconds)} |" in table


def landmarks(found):
    before, after = found["errors"]["before learning"], found["errors"]["after learning"]
    five = found["SIZES"].index(5)
    assert after[five] < before[five] / 2
    assert before[-1] < after[-1] + 1


def large_file(found):
    assert found["difference"] < 1e-6
    assert found["batched_memory"][-1] < found["whole_memory"][-1] / 2
    assert found["batched_memory"][-1] < 1.2 * found["batched_memory"][1]


def paper_toy(found):
    before, after = found["mean_errors"]
    assert after < before / 2
    assert found["learned"].posterior_[0].max() > 2 / len(found["frequencies"])


def regression(found):
    assert found["coverage"] >= 0.9
    assert found["half_width"] < 2 * 1.645 * 1.5  # at most twice the half width of the noise


def stream(found):
    assert np.all(np.array(found["losses"]) < found["certified"])
    assert found["certified"][found["stop"]] < found["GOAL"] <= found["certified"][0]
    assert found["certified"][-1] < found["certified"][found["stop"]]


def table(found):
    assert found["new_error"] <= found["model"].certificate_.error < 0.15
    december = found["new_table"]["sent"].dt.month == 12
    late = found["model"].predict(found["new_table"]) == "late"
    assert late[december].mean() > 2 * late[~december].mean()


CLAIMS = {
    check.__name__: check
    for check in (
        abstention,
        certificate,
        certified_classifier,
        dask,
        demo,
        export_c,
        gpu,
        landmarks,
        large_file,
        paper_toy,
        regression,
        stream,
        table,
    )
}
QUICK = {"certificate", "paper_toy", "stream"}
PARAMETERS = [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in CLAIMS
]


def test_every_example_has_a_claim():
    assert {path.stem for path in FOLDER.glob("*.py")} == {f"plot_{name}" for name in CLAIMS}


@pytest.mark.parametrize("name", CLAIMS)
def test_examples_are_titled_and_import_public_names_only(name):
    tree = ast.parse((FOLDER / f"plot_{name}.py").read_text(encoding="utf-8"))
    title, line, *_ = ast.get_docstring(tree).splitlines()
    assert line == "=" * len(title)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in imports if node.module.startswith("pacfourier")]
    assert ours
    for node in ours:
        assert {alias.name for alias in node.names} <= set(PUBLIC[node.module].__all__)


@pytest.mark.parametrize("name", PARAMETERS)
def test_examples_draw_figures_and_keep_their_word(name, tmp_path, monkeypatch):
    for library in NEEDS.get(name, ()):
        pytest.importorskip(library)
    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plt, "show", lambda: None)
    try:
        found = runpy.run_path(str(FOLDER / f"plot_{name}.py"), run_name="__main__")
        assert plt.get_fignums()
    finally:
        plt.close("all")
    assert not any(tmp_path.iterdir())
    CLAIMS[name](found)
