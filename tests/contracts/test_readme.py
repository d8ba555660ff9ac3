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
        shown = [float(number) for number in re.findall(r"# ([0-9.]+)$", code, re.MULTILINE)]
        assert printed == pytest.approx(shown, abs=1e-3)


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
