"""Processes that are killed while they fit or write."""

import os
import time
from pathlib import Path

import numpy as np
from benchmarks.torture.attacks import attack
from benchmarks.torture.commands import killed, started, survived
from benchmarks.torture.tables import csv_bytes, fitted_model, random_table

from pacfourier.written_files import write_file

N_BYTES = 3_000_000


def delay(seed: int, most: float) -> float:
    """Return a random number of seconds."""
    return float(np.random.default_rng([seed, 2]).uniform(0, most))


@attack(20)
def kills_while_writing(seed: int, folder: Path) -> None:
    """Kill a process that writes a file again and again: the file is always whole."""
    path = folder / "file"
    write_file(path, b"a" * N_BYTES)
    child = os.fork()
    if child == 0:
        while True:
            for digit in b"ab":
                write_file(path, bytes([digit]) * N_BYTES)
    assert killed(child, delay(seed, 0.1))
    content = path.read_bytes()
    assert len(content) == N_BYTES
    assert len(set(content)) == 1
    write_file(path, b"")
    assert [each.name for each in folder.iterdir()] == ["file"]


@attack(20)
def kills_while_fitting(seed: int, folder: Path) -> None:
    """Kill ``pacfourier fit`` while it replaces a model: the old or the new one predicts."""
    path, model, log = folder / "table.csv", folder / "model.skops", folder / "log"
    path.write_bytes(csv_bytes(random_table(seed)))
    model.write_bytes(fitted_model())
    fit = ("fit", path, "--target", "y", "--n-frequencies", 4, "--out", model, "--overwrite")
    start = time.monotonic()
    assert survived(*fit, folder=folder).code == 0
    seconds = time.monotonic() - start
    killed(started(*fit, log=log), delay(seed, 1.2 * seconds))
    predict = ("predict", model, path, "--out", folder / "predictions.csv")
    assert survived(*predict, folder=folder).code == 0
    assert survived(*fit, folder=folder).code == 0
    names = {each.name for each in folder.iterdir()}
    assert names == {"log", "model.skops", "predictions.csv", "table.csv"}, names
