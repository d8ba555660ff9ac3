import re
import shutil
import sys

import pytest
from tests.chromium import found_in, needs_chromium

from reproduction.__main__ import main
from reproduction.claims import CLAIMS, judge
from reproduction.report import write_report

FIGURES = ("figure2_landmarks", "figure3_greedy")
# What a reader would notice.
NOTICED = """
const frame = document.querySelector("iframe");
frame.addEventListener("load", () => {
  const inner = frame.contentDocument, images = [...inner.images];
  document.title = JSON.stringify([
    inner.scrollingElement.scrollWidth, images.length,
    images.filter((image) => image.complete && image.naturalWidth > 0).length,
  ]);
});
"""


@pytest.fixture(scope="module")
def folder(lines, tmp_path_factory):
    folder, rows = tmp_path_factory.mktemp("report"), [line for _, line in sorted(lines.items())]
    write_report(rows, [judge(claim, rows) for claim in CLAIMS], folder)
    return folder


@pytest.fixture(scope="module")
def html(folder):
    return (folder / "report.html").read_text("utf-8")


def test_the_page_needs_no_network(html, folder):
    for name in FIGURES:
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    addresses = re.findall(r"""(?:src|href)\s*=\s*["']([^"']*)""", html)
    assert len(addresses) == len(FIGURES)
    assert all(address.startswith("data:image/png;base64,") for address in addresses)
    assert "<script" not in html


def test_the_page_has_a_sentence_per_claim(html):
    sentences = re.findall(r"<p>((?:Confirmed|Refuted|Cannot tell): [^<]*)</p>", html)
    assert len(sentences) == len(CLAIMS)
    # Every one has an interval: two splits were run.
    assert all(re.search(r"breast [-\d.]+ \[[-\d.]+, [-\d.]+\]|moons", each) for each in sentences)


def test_the_page_has_what_a_reader_asks_for(html):
    for text in ("Table 1", "published", "inside", "Versions and seeds", "scikit-learn"):
        assert text in html
    for text in ("seeds 42 to", "published points lie inside", "two moons"):
        assert text in html


@needs_chromium
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_shows_the_page_without_scrolling_sideways(html, tmp_path, width):
    scroll_width, n_images, n_shown = found_in(html, NOTICED, tmp_path, width=width)
    assert scroll_width <= width
    assert n_images == n_shown == len(FIGURES)


def test_the_command_prints_the_claims_and_resumes(tmp_path, capsys):
    arguments = ["--experiments", "toy", "--jobs", "1", "--out", str(tmp_path)]
    main(arguments)
    printed = capsys.readouterr()
    assert printed.out.count("Cannot tell") + printed.out.count("Confirmed") == len(CLAIMS)
    assert f"Report: {tmp_path / 'quick' / 'report.html'}" in printed.out
    assert len(printed.err.splitlines()) == 80
    main(arguments)
    again = capsys.readouterr()
    assert (again.out, again.err) == (printed.out, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--profile", "slow"], "invalid choice: 'slow'"),
        (["--experiments", "kernel"], "invalid choice: 'kernel'"),
        (["--datasets", "iris"], "invalid choice: 'iris'"),
        (["--experiments", "toy", "--out", "{file}"], "Error: [Errno 20] Not a directory"),
        (
            ["--datasets", "ads", "--out", "{file}"],
            "ad.data must be in the folder that PACFOURIER_",
        ),
    ],
)
def test_bad_arguments_give_one_line(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PACFOURIER_DATA", str(tmp_path))
    monkeypatch.setitem(sys.modules, "pooch", None)
    (tmp_path / "file").write_text("x")
    with pytest.raises(SystemExit) as exited:
        main([each.format(file=tmp_path / "file") for each in arguments])
    assert exited.value.code not in (0, None)
    assert message in f"{exited.value.code}{capsys.readouterr().err}"


def test_results_of_another_version_are_one_line_too(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "quick")
    (tmp_path / "quick" / "cells.jsonl").write_text(
        '{"experiment": "toy", "dataset": "two moons", "split": 0, "method": "RBF-R", "width": 5,'
        ' "versions": "pacfourier 0.0"}'
    )
    with pytest.raises(SystemExit, match="choose another folder"):
        main(["--experiments", "toy", "--jobs", "1", "--out", str(tmp_path)])
