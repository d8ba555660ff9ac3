"""The command ``reproduce`` says in one line why it cannot use a folder, and damages no file."""

import errno
import os
import sqlite3
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from pacfourier.cli import app
from pacfourier.errors import InputError
from pacfourier.experiments.plan import Cell
from pacfourier.experiments.records import Records, open_records
from pacfourier.reports import reproduction_report

CELL = Cell("quick", "toy", "two moons", 0, "RFF", 10)
ROW = {"settings": {}, "C": 1.0}


def reproduce(folder):
    return CliRunner().invoke(
        app, ["reproduce", "--experiment", "toy", "--jobs", "1", "--out", str(folder)]
    )


def assert_refused(result, *words):
    assert result.exit_code == 2, result.output
    (line,) = result.stderr.strip().splitlines()
    for word in words:
        assert word in line


def test_a_folder_that_another_process_uses_is_refused(tmp_path):
    code = f"""
from pathlib import Path
from pacfourier.experiments import open_records
with open_records(Path({str(tmp_path)!r})):
    print("open", flush=True)
    input()
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as process:
        assert process.stdout.readline().strip() == b"open"
        assert_refused(reproduce(tmp_path), "no other process", str(tmp_path))
        process.stdin.write(b"\n")
    with open_records(tmp_path) as records:
        assert len(records.runs()) == 2


def test_after_a_run_was_killed_its_folder_can_be_used(tmp_path):
    code = f"""
import os
from pathlib import Path
from pacfourier.experiments import open_records
with open_records(Path({str(tmp_path)!r})):
    os._exit(9)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    with open_records(tmp_path) as records:
        assert len(records.runs()) == 2


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE TABLE results (name, score)",
        "CREATE TABLE finished (cell)",
        "CREATE TABLE runs (started, versions, host)",
    ],
)
def test_a_database_of_something_else_is_refused(schema, tmp_path):
    database = sqlite3.connect(tmp_path / "results.sqlite")
    database.execute(schema)
    database.close()
    content = (tmp_path / "results.sqlite").read_bytes()
    assert_refused(reproduce(tmp_path), "that 'pacfourier reproduce' wrote", "results.sqlite")
    assert (tmp_path / "results.sqlite").read_bytes() == content


def test_results_of_another_version_are_refused(tmp_path, monkeypatch):
    with open_records(tmp_path) as records:
        records.write(CELL, {"RFF": ROW}, 1.0)
    monkeypatch.setattr("pacfourier.experiments.records.VERSION", "99.0")
    assert_refused(reproduce(tmp_path), "99.0", "another folder")
    with Records(tmp_path / "results.sqlite") as records:
        assert list(records.finished()) == [CELL]
        assert len(records.runs()) == 1


def test_runs_of_another_version_without_results_are_no_obstacle(tmp_path, monkeypatch):
    with open_records(tmp_path):
        pass
    monkeypatch.setattr("pacfourier.experiments.records.VERSION", "99.0")
    with open_records(tmp_path) as records:
        assert len(records.runs()) == 2


def test_a_full_disk_is_one_line_and_keeps_what_was_written(tmp_path, monkeypatch):
    start = Records.start

    def start_on_a_small_disk(records, *arguments):
        start(records, *arguments)
        records._database.execute("PRAGMA max_page_count = 1")
        records._database.execute(
            "CREATE TEMP TRIGGER full BEFORE INSERT ON finished BEGIN "
            "INSERT INTO runs VALUES (zeroblob(100000), ''); END"
        )

    monkeypatch.setattr(Records, "start", start_on_a_small_disk)
    assert_refused(reproduce(tmp_path), "results.sqlite", "full")
    with Records(tmp_path / "results.sqlite") as records:
        assert records.results() == []
        assert len(records.runs()) == 1


def test_a_disk_that_is_full_when_the_report_is_written_leaves_the_old_report(
    reproduction, tmp_path, monkeypatch
):
    (tmp_path / "report.html").write_text("old")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with (
        Records(reproduction / "results.sqlite") as records,
        pytest.raises(InputError, match="No space left"),
    ):
        reproduction_report.write_report(records, "quick", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text() == "old"
