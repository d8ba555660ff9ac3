"""Results in one SQLite file, with one transaction per cell: a run may be interrupted any time."""

import json
import platform
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import astuple
from datetime import UTC, datetime
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from pacfourier.errors import InputError
from pacfourier.experiments.plan import Cell
from pacfourier.written_files import claimed_file

VERSION = version("pacfourier")
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "joblib")
KEY = ("profile", "experiment", "dataset", "split", "method", "width")
VALUES = (
    "settings",
    "C",
    "train_errors",
    "valid_errors",
    "test_errors",
    "n_train",
    "n_valid",
    "n_test",
    "certificate",
    "train_loss",
    "test_loss",
)
# Run times differ from run to run, so they have a table of their own.
TABLES = {
    "results": (*KEY, *VALUES),
    "finished": (*KEY, "seconds"),
    "runs": ("started", "versions"),
}
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS results ({", ".join(TABLES["results"])}, PRIMARY KEY ({", ".join(KEY)}))
WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS finished
({", ".join(TABLES["finished"])}, PRIMARY KEY ({", ".join(KEY)})) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs ({", ".join(TABLES["runs"])});
"""


def versions() -> dict[str, str]:
    """Return the versions that results may depend on."""
    found = {name: version(name) for name in LIBRARIES}
    return {"python": platform.python_version(), "pacfourier": VERSION, **found}


@contextmanager
def open_records(folder: Path) -> Iterator["Records"]:
    """Open the records of a folder, creating both if needed, and note that a run begins.

    One process at a time may have the records of a folder open in this way.

    Parameters
    ----------
    folder : pathlib.Path

    Yields
    ------
    records : Records

    Raises
    ------
    InputError
        If the folder cannot be written to, is in use, or holds something else.
    """
    with ExitStack() as opened:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            opened.enter_context(_only_run_in(folder))
            records = opened.enter_context(Records(folder / "results.sqlite"))
            _check_version(records, folder)
            records.start(datetime.now(UTC).isoformat(timespec="seconds"), versions())
        except (OSError, sqlite3.Error) as error:
            message = f"out must be a folder that can be written to, got {str(folder)!r}"
            raise InputError(f"{message}: {error}") from error
        yield records


def _only_run_in(folder: Path) -> BinaryIO:
    """Return a file that is locked until it is closed; raise an error if another run has it."""
    lock = claimed_file(folder / ".running")
    if lock is None:
        raise InputError(
            "out must be a folder that no other process writes results to, got "
            f"{str(folder)!r}: wait for the other run to end, or choose another folder."
        )
    return lock


def _check_version(records: "Records", folder: Path) -> None:
    """Raise an error if there are results of another version: the two must not be mixed."""
    others = {run["versions"].get("pacfourier") for run in records.runs()} - {VERSION}
    if others and records.finished():
        raise InputError(
            f"out must hold results of pacfourier {VERSION} or none, got {str(folder)!r} with "
            f"results of {', '.join(sorted(map(str, others)))}: choose another folder."
        )


class Records:
    """The results of a run, by cell.

    Parameters
    ----------
    path : path
        The SQLite file; it is created if it does not exist.

    Raises
    ------
    InputError
        If the file is something else.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = path
        self._database = sqlite3.connect(path)
        self._database.row_factory = sqlite3.Row
        try:
            self._check_tables()
            self._database.executescript(SCHEMA)
        except BaseException:
            self._database.close()
            raise

    def _check_tables(self) -> None:
        rule = (
            f"the results must be a file that 'pacfourier reproduce' wrote, got {str(self._path)!r}"
        )
        for table, names in TABLES.items():
            try:
                columns = self._database.execute(f"PRAGMA table_info({table})").fetchall()
            except sqlite3.DatabaseError as error:
                raise InputError(f"{rule}: {error}.") from error
            found = tuple(column["name"] for column in columns)
            if found not in ((), names):
                raise InputError(f"{rule}: its table {table} has the columns {', '.join(found)}.")

    def __enter__(self) -> "Records":
        return self

    def __exit__(self, *exception: object) -> None:
        self._database.close()

    def write(self, cell: Cell, rows: dict[str, dict[str, Any]], seconds: float) -> None:
        """Write the rows of a finished cell in one transaction; ``rows`` are by method.

        If the disk is full, nothing of them is written.
        """
        try:
            self._write(cell, rows, seconds)
        except sqlite3.OperationalError as error:
            raise InputError(
                f"the results must be writable, got {str(self._path)!r}: {error}. What is in the "
                "file is whole, and another run of the command will continue it."
            ) from error

    def _write(self, cell: Cell, rows: dict[str, dict[str, Any]], seconds: float) -> None:
        with self._database:
            for method, row in rows.items():
                values = {**row, "settings": json.dumps(row["settings"], sort_keys=True)}
                key = (*astuple(cell)[:4], method, cell.width)
                self._insert("results", (*key, *(values.get(name) for name in VALUES)))
            self._insert("finished", (*astuple(cell), seconds))

    def _insert(self, table: str, values: tuple[Any, ...]) -> None:
        marks = ", ".join("?" * len(values))
        self._database.execute(f"INSERT INTO {table} VALUES ({marks})", values)

    def start(self, started: str, versions: dict[str, str]) -> None:
        """Note when a run began, and with which versions."""
        with self._database:
            self._insert("runs", (started, json.dumps(versions)))

    def finished(self) -> dict[Cell, float]:
        """Return the finished cells, with their run times in seconds."""
        rows = self._database.execute("SELECT * FROM finished")
        return {Cell(*row[: len(KEY)]): row["seconds"] for row in rows}

    def results(self) -> list[dict[str, Any]]:
        """Return all rows, sorted by their keys."""
        rows: Iterable[sqlite3.Row] = self._database.execute(
            f"SELECT * FROM results ORDER BY {', '.join(KEY)}"
        )
        return [{**row, "settings": json.loads(row["settings"])} for row in rows]

    def runs(self) -> list[dict[str, Any]]:
        """Return when each run began, and its versions."""
        rows = self._database.execute("SELECT * FROM runs ORDER BY started")
        return [{**row, "versions": json.loads(row["versions"])} for row in rows]
