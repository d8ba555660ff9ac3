import re
import shutil

import pytest
from tests.chromium import found_in, needs_chromium
from typer.testing import CliRunner

from pacfourier.cli import app
from pacfourier.experiments.records import Records
from pacfourier.reports.reproduction_report import write_report

FIGURES = (
    "figure1_toy_two_moons",
    "figure2_landmarks",
    "figure3_greedy",
    "figure3_greedy_train",
    "figure4_toy_four_squares",
    "figure5_methods",
    "figure6_certificates",
)
# What a reader would notice.
NOTICED = """
const frame = document.querySelector("iframe");
frame.addEventListener("load", () => {
  const inner = frame.contentDocument, images = [...inner.images];
  document.title = JSON.stringify([
    inner.scrollingElement.scrollWidth, images.length,
    images.filter((image) => image.complete && image.naturalWidth > 0).length,
    inner.querySelectorAll("details").length,
  ]);
});
"""


@pytest.fixture(scope="module")
def html(reproduction):
    return (reproduction / "report.html").read_text("utf-8")


def test_every_output_is_there(reproduction):
    for name in FIGURES:
        assert (reproduction / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (reproduction / f"{name}.svg").read_bytes()
    for name in ("table1", "table1_intervals", "greedy"):
        for suffix in ("csv", "md", "tex"):
            assert "breast" in (reproduction / f"{name}.{suffix}").read_text("utf-8")


def test_the_page_needs_no_network(html):
    addresses = re.findall(r"""(?:src|href)\s*=\s*["']([^"']*)""", html)
    assert len(addresses) == len(FIGURES)
    assert all(address.startswith("data:image/png;base64,") for address in addresses)
    assert "url(" not in html
    assert "@import" not in html
    assert "<script" not in html


def test_the_page_has_what_a_reader_asks_for(html):
    for text in (
        "Table 1",
        "published %",
        "inside",
        "certificate",
        "Run time",
        "Versions and seeds",
        "scikit-learn",
        "seeds 42 to 43",
        "published errors lie inside",
    ):
        assert text in html
    assert html.count("data:image/png;base64") == len(FIGURES)


@needs_chromium
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_shows_the_page_without_scrolling_sideways(html, tmp_path, width):
    scroll_width, n_images, n_shown, n_details = found_in(html, NOTICED, tmp_path, width=width)
    assert scroll_width <= width
    assert n_images == n_shown == len(FIGURES)
    assert n_details >= 4


def test_the_same_results_give_the_same_bytes(reproduction, tmp_path):
    with Records(reproduction / "results.sqlite") as records:
        write_report(records, "quick", tmp_path)
    for name in (*(f"{name}.svg" for name in FIGURES), "report.html", "table1.tex"):
        assert (tmp_path / name).read_bytes() == (reproduction / name).read_bytes()


def test_the_command_resumes_and_reports(reproduction, tmp_path):
    shutil.copy(reproduction / "results.sqlite", tmp_path)
    arguments = ["--experiment", "toy", "--seeds", "3", "--jobs", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, ["reproduce", *arguments])
    assert result.exit_code == 0, result.output
    assert f"Report: {tmp_path / 'report.html'}" in result.output.replace("\n", "")
    with Records(tmp_path / "results.sqlite") as records:
        assert {cell.split for cell in records.finished() if cell.experiment == "toy"} == {0, 1, 2}
        assert len(records.runs()) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--profile", "slow"], "profile must be among quick, standard, full, got 'slow'."),
        (["--experiment", "kernel"], "experiment must be among all, toy, landmarks, greedy"),
        (["--datasets", "iris"], "datasets must be among"),
        (["--datasets", "ads", "--data", "{empty}"], "ad.data"),
        (["--out", "{file}"], "out must be a folder that can be written to"),
        (["--out", "{broken}"], "file is not a database"),
    ],
)
def test_bad_arguments_give_one_line_and_exit_2(arguments, message, tmp_path, monkeypatch):
    monkeypatch.setenv("PACFOURIER_DATA", "")
    monkeypatch.setattr("pacfourier.datasets.public_files._downloads", _refused)
    places = {name: tmp_path / name for name in ("empty", "file", "broken")}
    places["empty"].mkdir()
    places["file"].write_text("x")
    places["broken"].mkdir()
    (places["broken"] / "results.sqlite").write_text("no database, surely not one of SQLite's")
    filled = [argument.format(**places) for argument in arguments]
    result = CliRunner().invoke(app, ["reproduce", "--jobs", "1", *filled])
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert "Traceback" not in result.output


def _refused(source, names):
    raise FileNotFoundError(f"{names[0]} of {source.title} could not be downloaded")
