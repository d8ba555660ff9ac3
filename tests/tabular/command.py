"""Small tables, and the command run on them: what the tests of the command share."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import skops.io
from threadpoolctl import threadpool_limits
from typer.testing import CliRunner

import pacfourier
from pacfourier.cli import app

# The seeds of the tables are not those of the command.
TABLES = 17
FEW = ("--n-frequencies", 5)
WIDE = {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}


def invoke(*arguments):
    """Run the command in this process.

    The threads of OpenMP wait for each other actively, which takes minutes on a busy machine.
    """
    with threadpool_limits(1, user_api="openmp"):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], env=WIDE)


def succeeded(*arguments):
    """Run the command, which must end well, and return what it printed."""
    result = invoke(*arguments)
    # What is no exit is an error of ours, and pytest shows it best.
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.stderr
    assert not re.search(r"^Error", result.stderr, re.MULTILINE)
    return result


def contents(folder):
    """Return every file below a folder, with its bytes."""
    return {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def refused(*arguments):
    """Run the command, which must refuse in one line and write nothing, and return the line.

    The current folder must be the one that the command would write to.
    """
    before = contents(".")
    result = invoke(*arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 2, result.stdout + result.stderr
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1, result.stderr
    assert result.stderr.endswith("\n")
    assert contents(".") == before
    return result.stderr


def squeezed(text):
    """Return printed text without frames, line breaks and repeated spaces."""
    return " ".join(re.sub(r"[│┃|]", " ", text).split())


def patients(n_rows=300, seed=0):
    """Rows whose state shows in the pulse and the ward; the best error is 5 %."""
    rng = np.random.default_rng([TABLES, seed])
    is_ill = rng.random(n_rows) < 0.4
    anywhere = rng.choice(["east", "west", "north"], n_rows)
    ward = np.where(rng.random(n_rows) < 0.4, np.where(is_ill, "east", "west"), anywhere)
    return pd.DataFrame(
        {
            "pulse": 60 + 25 * is_ill + 8 * rng.standard_normal(n_rows),
            "weight": np.where(rng.random(n_rows) < 0.9, rng.normal(70, 9, n_rows), np.nan),
            "ward": ward,
            "state": np.where(is_ill, "ill", "well"),
        }
    )


def written(table, path, **settings):
    """Write a table as CSV and return its path."""
    table.to_csv(path, index=False, **settings)
    return path


def fitted(data, *options, target="state", out="model.skops"):
    """Fit a small model on a file, and return the model file and what was printed."""
    result = succeeded("fit", data, "--target", target, "--out", out, *FEW, *options)
    assert Path(out).is_file()
    return Path(out), result


def predicted(model, table, *options, out="predicted.csv", **settings):
    """Return the table with predictions, with every cell as text."""
    data = written(table, Path(out).with_name("rows to predict.csv"), **settings)
    succeeded("predict", model, data, "--out", out, "--overwrite", *options)
    return pd.read_csv(out, dtype=str, keep_default_na=False)


def error_on(model, table, target="state"):
    """Return the share of wrong classes on a table."""
    columns = predicted(model, table.drop(columns=target))
    return np.mean(columns[f"predicted_{target}"].to_numpy() != table[target].to_numpy())


def probabilities(columns, classes):
    """Return the probabilities of classes in a table with predictions."""
    names = [f"probability_{name}" for name in classes]
    return columns[names].astype(float).to_numpy()


def record(model):
    """Return the record in a model file, as skops reads it."""
    assert skops.io.get_untrusted_types(file=model) == []
    return _found(skops.io.load(model, trusted=[]))


def _found(data):
    """Return the dictionary that holds the record, wherever it stands."""
    if isinstance(data, dict) and {"results", "headline", "rows"} <= data.keys():
        return data
    inner = data.values() if isinstance(data, dict) else data
    if isinstance(data, dict | list | tuple):
        return next((found for found in map(_found, inner) if found is not None), None)
    return None


def bounds(text, epsilon=0.05):
    """Return the printed bounds that hold with a probability."""
    pattern = rf"<= (\d+\.\d+)(?:,| holds) with probability {1 - epsilon:g}\b"
    return [float(bound) for bound in re.findall(pattern, squeezed(text))]


def notes(result):
    """Return the notes that a command printed, as one text."""
    assert all(not line or line.startswith(("Note: ", " ")) for line in result.stderr.splitlines())
    return squeezed(result.stderr)


def started(*arguments):
    """Start the command in a process of its own."""
    command = [sys.executable, "-m", "pacfourier", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(Path(pacfourier.__file__).parents[1])}
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        # In the background of a shell, interrupts are ignored, and processes inherit this.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
