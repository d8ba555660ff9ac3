import importlib
from pathlib import Path

import matplotlib as mpl
import pytest

FIGURES = {
    "plot_certificate": ["certificate.png"],
    "plot_demo": ["demo.png"],
    "plot_predictor": ["predictor.png"],
    "plot_toy_landmarks": ["toy_four_squares.png", "toy_two_moons.png"],
}


def test_every_example_is_run():
    folder = Path(__file__).parents[2] / "examples"
    assert {path.stem for path in folder.glob("*.py")} == set(FIGURES)


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_examples_run_and_save_their_figures(name, tmp_path, monkeypatch):
    if name == "plot_predictor":
        pytest.importorskip("skrub")
    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    importlib.import_module(f"examples.{name}").main()
    mpl.pyplot.close("all")
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == FIGURES[name]
