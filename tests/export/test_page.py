"""The blocks of docs/export.md run as they are printed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "export.md").read_text()


def block(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[1]


@pytest.mark.slow
def test_the_program_of_the_page_prints_zero(tmp_path, monkeypatch, capsys):
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    monkeypatch.chdir(tmp_path)
    exec(block("python"), {})
    n_bytes, accuracy = map(float, capsys.readouterr().out.split())
    assert n_bytes < 3000
    assert accuracy > 0.97
    Path("main.c").write_text(block("c"))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2"]
    subprocess.run(["gcc", *flags, "main.c", "-o", "main"], check=True)
    assert subprocess.run(["./main"], capture_output=True, text=True).stdout == "0\n"


def test_the_page_is_measured():
    measured = PAGE.split("<!-- measured: begin -->")[1].split("<!-- measured: end -->")[0]
    assert "integers of 4 bits" in measured
