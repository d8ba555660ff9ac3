"""The playground is one small file that needs nothing else."""

import re
import runpy

from tests.playground.javascript import FOLDER, PAGE

LARGEST_SIZE = 250_000


def test_the_page_is_made_from_its_parts():
    build = runpy.run_path(str(FOLDER / "build.py"))
    assert PAGE.read_text("utf-8") == build["assembled"]()
    used = {name for names in build["PARTS"].values() for name in names}
    assert used == {path.name for path in FOLDER.iterdir() if path.suffix in {".js", ".css"}}


def test_the_page_is_small_and_complete():
    page = PAGE.read_text("utf-8")
    assert len(page.encode()) <= LARGEST_SIZE
    assert "{{" not in page
    assert (
        re.findall(r"https?:|//\w+\.\w|\bimport\b|\bfetch\(|XMLHttpRequest|WebSocket", page) == []
    )
    assert (
        re.findall(r"<(?:link|img|iframe|object|embed)\b|\b(?:src|href|action)=|url\(", page) == []
    )


def test_every_control_has_a_name():
    page = PAGE.read_text("utf-8")
    for name in re.findall(r'<input id="(\w+)" type="range"', page):
        assert f'<label for="{name}">' in page
        assert f'id="{name}-value"' in page
    for name in re.findall(r'aria-(?:labelledby|describedby)="([\w -]+)"', page):
        for each in name.split():
            assert f'id="{each}"' in page
