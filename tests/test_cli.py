"""What all commands share: help, errors of one line, and what is printed."""

import subprocess
import sys
from unittest.mock import Mock

import pytest
from typer.testing import CliRunner

from pacfourier.__main__ import main
from pacfourier.cli import app
from pacfourier.cli.printing import show

COMMANDS = ("fit", "predict", "certify", "export")


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_question_ends_with_its_mark():
    result = invoke("fti")
    assert result.exit_code == 2
    assert result.stderr.endswith("Did you mean 'fit'?\n")


def test_an_interrupt_of_the_imports_is_quiet(monkeypatch):
    class Interrupted:
        @property
        def app(self):
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "pacfourier.cli", Interrupted())
    with pytest.raises(SystemExit) as exit_info:
        main()
    assert exit_info.value.code == 130


@pytest.mark.parametrize("failure", [ZeroDivisionError, EOFError])
def test_a_failure_of_ours_is_not_hidden(monkeypatch, failure):
    """The end of a damaged file is no Ctrl-C, which typer takes it for."""
    failing = Mock(side_effect=failure)
    monkeypatch.setattr("pacfourier.tabular.model_files.load_model", failing)
    result = invoke("certify", "model.skops")
    assert isinstance(result.exception, failure)


def test_an_interrupt_of_a_command_is_quiet(monkeypatch):
    interrupted = Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setattr("pacfourier.tabular.model_files.load_model", interrupted)
    result = invoke("certify", "model.skops")
    assert (result.exit_code, result.output.strip()) == (130, "")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command):
    result = invoke(command, "--help")
    assert result.exit_code == 0
    assert "Usage:" in result.stdout


def test_help_waits_for_no_command():
    code = "import sys, pacfourier.cli; print({'skops', 'pacfourier.tabular'} & {*sys.modules})"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "set()\n"


def test_the_installed_command_refuses_without_a_traceback(tmp_path):
    code = "from pacfourier.cli import app; app()"
    command = [sys.executable, "-c", code, "certify", str(tmp_path / "none.skops")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("Error: model must be a file")
    assert "Traceback" not in result.stderr


def test_names_in_brackets_are_printed_as_they_stand(capsys):
    show([("classes", "[red], [/blue]")])
    assert "[red], [/blue]" in capsys.readouterr().out


def test_tables_are_neither_broken_nor_padded_in_a_file(capsys):
    long = "x" * 100
    show([("一", "2.5"), (long, "10")], ["model", "error"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "model" + " " * 97 + "error"
    assert lines[1:] == ["一" + " " * 102 + "2.5", f"{long}     10"]
    show([("data", "a"), ("rows", "bcd")])
    assert capsys.readouterr().out == "data  a\nrows  bcd\n"


@pytest.mark.parametrize(("given", "expected"), [(None, "passive"), ("active", "active")])
def test_waiting_threads_leave_their_cores_to_others(given, expected, monkeypatch):
    """OpenMP reads the setting when scikit-learn is loaded, which must not have happened yet."""
    script = (
        "import os, sys\n"
        "from pacfourier.__main__ import main\n"
        "sys.argv = ['pacfourier', '--version']\n"
        "try:\n    main()\n"
        "except SystemExit:\n    print(os.environ['OMP_WAIT_POLICY'], 'sklearn' in sys.modules)\n"
    )
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    if given:
        monkeypatch.setenv("OMP_WAIT_POLICY", given)
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout.split()[-2:] == [expected, "False"]
