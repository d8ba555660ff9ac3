import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_every_block_runs_and_prints_what_is_shown(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert blocks
    for code in blocks:
        exec(code, {})
        printed = [float(line) for line in capsys.readouterr().out.split()]
        shown = re.findall(r"# ([0-9.]+)$", code, re.MULTILINE)
        assert len(printed) == len(shown)
        for value, text in zip(printed, shown, strict=True):
            # Numbers hold to the last digit that is shown.
            assert value == pytest.approx(float(text), abs=10.0 ** -len(text.partition(".")[2]))


def test_every_verb_of_the_readme_is_in_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    for verb in set(re.findall(r"\bmake (\w+)", README)):
        assert re.search(rf"^{verb}:", makefile, re.MULTILINE), verb


def test_every_link_of_the_readme_leads_to_a_file():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert links
    for link in links:
        assert (ROOT / link).exists(), link


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 90
