"""Results in one SQLite file, with one transaction per cell: a run may be interrupted any time."""

import json
import platform
import sqlite3
from collections.abc import Iterable
from dataclasses import astuple
from datetime import UTC, datetime
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

from pacfourier.errors import InputError
from pacfourier.experiments.plan import Cell

LIBRARIES = ("pacfourier", "numpy", "scipy", "scikit-learn", "numba", "joblib")
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
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS results ({", ".join(KEY + VALUES)}, PRIMARY KEY ({", ".join(KEY)}))
WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS finished ({", ".join(KEY)}, seconds, PRIMARY KEY ({", ".join(KEY)}))
WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (started, versions);
"""


def versions() -> dict[str, str]:
    """Return the versions that results may depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}


def open_records(folder: Path) -> "Records":
    """Open the records of a folder, creating both if needed, and note that a run begins."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        records = Records(folder / "results.sqlite")
        records.start(datetime.now(UTC).isoformat(timespec="seconds"), versions())
    except (OSError, sqlite3.Error) as error:
        message = f"out must be a folder that can be written to, got {str(folder)!r}"
        raise InputError(f"{message}: {error}") from error
    return records


class Records:
    """The results of a run, by cell.

    Parameters
    ----------
    path : path
        The SQLite file; it is created if it does not exist.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._database = sqlite3.connect(path)
        self._database.row_factory = sqlite3.Row
        self._database.executescript(SCHEMA)

    def __enter__(self) -> "Records":
        return self

    def __exit__(self, *exception: object) -> None:
        self._database.close()

    def write(self, cell: Cell, rows: dict[str, dict[str, Any]], seconds: float) -> None:
        """Write the rows of a finished cell in one transaction; ``rows`` are by method."""
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
