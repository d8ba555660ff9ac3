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
def test_the_program_of_the_page_prints_zero(tmp_path, monkeypatch):
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    monkeypatch.chdir(tmp_path)
    exec(block("python"), {})
    Path("main.c").write_text(block("c"))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2"]
    subprocess.run(["gcc", *flags, "main.c", "-o", "main"], check=True)
    assert subprocess.run(["./main"], capture_output=True, text=True).stdout == "0\n"


@pytest.mark.slow
def test_every_block_of_python_prints_what_is_shown(tmp_path, monkeypatch, capsys):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    exec(compile(code, "export.md", "exec"), {})
    shown = re.findall(r"print\(.*\)  # (\S+)$", code, re.MULTILINE)
    assert len(shown) == 3
    assert capsys.readouterr().out.split() == shown


def test_the_page_is_measured():
    measured = PAGE.split("<!-- measured: begin -->")[1].split("<!-- measured: end -->")[0]
    assert "integers of 4 bits" in measured
