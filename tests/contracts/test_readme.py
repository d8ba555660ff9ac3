import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text()


def number_after(text, words):
    return float(re.search(rf"{re.escape(words)}\s*([0-9.]+)", text).group(1))


def test_the_ten_lines_run_and_print_what_is_shown(capsys):
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    exec(code, {})
    printed = capsys.readouterr().out
    shown = float(re.search(r"# ([0-9.]+) with 20 columns", README).group(1))
    assert float(printed.split()[0]) == pytest.approx(shown, abs=1e-3)
    for words in ("deployed kernel <=", "empirical loss", "divergence", "over samples of"):
        assert number_after(printed, words) == pytest.approx(number_after(README, words), abs=2e-3)


def test_every_verb_of_the_readme_is_in_the_makefile():
    makefile = (Path(__file__).parents[2] / "Makefile").read_text()
    for verb in set(re.findall(r"\bmake (\w+)", README)):
        assert re.search(rf"^{verb}:", makefile, re.MULTILINE), verb
