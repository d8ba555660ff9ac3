"""Every code block of the documentation runs, and prints what the comments beside it say."""

import ast
import inspect
import re
import shlex
import shutil
import subprocess
import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FOLDERS = (DOCS, DOCS / "tutorials", DOCS / "decisions")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
PAGES += sorted(path for folder in FOLDERS for path in folder.glob("*.md"))
# They need only the core of the package, and at most a few seconds.
QUICK = ("README.md", "CONTRIBUTING.md", "user-guide.md")
# Samplers differ a little between machines. Numbers of the README hold to the last digit shown.
TOLERANCE = 0.01
MODULES = (
    "pacfourier",
    "pacfourier.bounds",
    "pacfourier.bounds.printed",
    "pacfourier.export",
    "pacfourier.plots",
    "pacfourier.spectra",
    "pacfourier.tabular",
)


def title(path):
    return str(path.relative_to(ROOT))


def blocks(path):
    """Return the language and the text of every block of a page, directives of the site aside."""
    found = re.findall(r"^```([^\n]*)\n(.*?)^```$", path.read_text(), re.DOTALL | re.MULTILINE)
    return [(language, text) for language, text in found if not language.startswith("{")]


def statements(code):
    """Yield each statement of a program, with the comment after it if it prints something."""
    lines = code.splitlines()
    for node in ast.parse(code).body:
        source = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        is_print = source.startswith("print(")
        yield source, lines[node.end_lineno - 1].partition("  # ")[2] if is_print else ""


def run_python(code, names, capsys, tolerance=0.0):
    """Run a program. Decimal numbers in the comments after its prints must be printed."""
    for source, comment in statements(code):
        capsys.readouterr()
        exec(source, names)
        printed = capsys.readouterr().out
        for word in re.findall(r"True|False", comment):
            assert printed.strip() == word, source
        numbers = [float(text) for text in re.findall(r"\d+\.\d+", printed)]
        for text in re.findall(r"\d+\.\d+", comment):
            allowed = max(tolerance, 10.0 ** -len(text.partition(".")[2]))
            assert min(abs(number - float(text)) for number in numbers) <= allowed, source


def run_c(code):
    """Compile and run a program of docs/export.md. An image of the digit 0 must be recognised."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    Path("main.c").write_text(code)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2"]
    subprocess.run(["gcc", *flags, "main.c", "-o", "main"], check=True)
    done = subprocess.run(["./main"], capture_output=True, text=True, check=True)
    assert done.stdout in (("0\n",) if "image" in code else ("0\n", "1\n"))


def run_shell(text):
    """Run commands of ours. What takes hours, installs or builds is only looked up."""
    for line in text.splitlines():
        program, *arguments = shlex.split(line, comments=True)
        SHELL[program](arguments)


def run_pacfourier(arguments):
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from pacfourier.cli import app

    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output


def look_up_extras(arguments):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = re.findall(r"\w+", "".join(re.findall(r"\[(.*)\]", arguments[-1])))
    assert {*extras} <= {*project["optional-dependencies"]}


def look_up_verb(arguments):
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(rf"^{arguments[0]}:", makefile, re.MULTILINE), arguments


def look_up_program(arguments):
    if arguments[:2] == ["-m", "reproduction"]:
        pytest.importorskip("matplotlib")
        from reproduction.__main__ import options_of

        assert options_of(arguments[2:]).profile
        return
    name = arguments[1].replace(".", "/") + ".py" if arguments[0] == "-m" else arguments[0]
    assert (ROOT / name).is_file(), arguments


SHELL = {
    "pacfourier": run_pacfourier,
    "pip": look_up_extras,
    "make": look_up_verb,
    "python": look_up_program,
}


def write_files(folder):
    """Write the tables that pages read: rows to learn from, new ones and fresh ones."""
    table = load_breast_cancer(as_frame=True).frame.rename(columns={"target": "y"})
    rows = np.arange(len(table))
    people = table.assign(
        age=np.where(rows % 9, 30 + rows % 40, np.nan),
        job=np.array(["clerk", "nurse", "driver"])[rows % 3],
        since=np.datetime64("2020-01-01") + rows,
    )
    people.iloc[:460].to_csv(folder / "data.csv", index=False)
    people.iloc[460:500].drop(columns="y").to_csv(folder / "new.csv", index=False)
    people.iloc[500:].to_csv(folder / "fresh.csv", index=False)
    labelled = table.rename(columns={"y": "label"})
    labelled.to_parquet(folder / "big.parquet")
    (folder / "rows").mkdir()
    labelled.to_parquet(folder / "rows" / "part.parquet")


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=title(path), marks=() if path.name in QUICK else pytest.mark.slow)
        for path in PAGES
        if blocks(path)
    ],
)
def test_every_block_runs_and_prints_what_is_shown(path, tmp_path, monkeypatch, capsys):
    if path.name not in QUICK:
        write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    names, tolerance = {}, 0.0 if path.name == "README.md" else TOLERANCE
    run = {
        "python": lambda code: run_python(code, names, capsys, tolerance),
        "c": run_c,
        "sh": run_shell,
    }
    for language, text in blocks(path):
        if language != "text":
            run[language](text)


@pytest.mark.slow
@pytest.mark.parametrize("name", [path.name for path in sorted((DOCS / "lessons").glob("*.py"))])
def test_every_lesson_draws(name):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    exec((DOCS / "lessons" / name).read_text(), {})
    assert len(pyplot.get_fignums()) >= 2
    pyplot.close("all")


def test_a_wrong_number_is_noticed(capsys):
    run_python("x = 1 / 3\nprint(x)  # 0.33, a third", {}, capsys)
    with pytest.raises(AssertionError):
        run_python("print(1 / 3)  # 0.35", {}, capsys)
    with pytest.raises(AssertionError):
        run_python("print(1 > 3)  # True", {}, capsys)


@pytest.mark.parametrize("path", PAGES, ids=title)
def test_every_link_leads_to_a_file(path):
    """The site checks its own links. These are those of the files in a repository browser."""
    built = ("gallery/", "generated/", "lessons/")
    for link in re.findall(r"\]\(([^)#]+)", path.read_text()):
        is_elsewhere = "://" in link or any(name in link for name in built)
        assert is_elsewhere or (path.parent / link).exists(), link


def test_every_public_name_is_on_the_page_of_the_api():
    for library in ("matplotlib", "pandas", "pyarrow", "skl2onnx", "skops", "torch"):
        pytest.importorskip(library)
    page = (DOCS / "api.md").read_text()
    parts = re.findall(r"currentmodule:: (\S+)\n.*?\n\n(.*?)```", page, re.DOTALL)
    listed = {f"{module}.{name}" for module, names in parts for name in names.split()}
    public = {
        f"{module}.{name}"
        for module in MODULES
        for name in import_module(module).__all__
        if not inspect.ismodule(getattr(import_module(module), name))
    }
    assert listed == public


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 90


def test_every_verb_of_the_readme_is_in_the_makefile():
    for verb in set(re.findall(r"\bmake (\w+)", (ROOT / "README.md").read_text())):
        look_up_verb([verb])
