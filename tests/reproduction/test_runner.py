import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.reproduction.conftest import QUICK

from reproduction import runner
from reproduction.methods import METHODS, random_features
from reproduction.plan import EXPERIMENTS, GAMMAS, PROFILES, Cell, cells_of, seed_of
from reproduction.runner import cell_of, read_lines, run, run_cell

# Times differ from run to run.
TIMES = ("seconds", "posterior_seconds")


def results(lines):
    """Return the results of lines by cell, without times."""
    return {
        cell: {name: value for name, value in line.items() if name not in TIMES}
        for cell, line in lines.items()
    }


def test_a_plan_has_every_cell_once():
    cells = cells_of(QUICK, EXPERIMENTS, ("breast",), 5)
    assert len(cells) == len(set(cells))
    # Two toys with two maps. An SVM, three greedy methods, two posteriors, four maps of landmarks
    # and two columns of Table 1.
    assert len(cells) == 20 * 2 * 2 + 5 * (1 + 3 * 9 + 2 + 4 * 4 + 2)
    assert QUICK.n_splits == 5


@pytest.mark.parametrize("name", PROFILES)
def test_an_experiment_left_out_has_no_cells(name):
    cells = cells_of(PROFILES[name], ("landmarks",), ("breast", "ads"), 1)
    assert {cell.experiment for cell in cells} == {"svm", "landmarks"}
    assert {cell.dataset for cell in cells} == {"breast", "ads"}
    assert {c.experiment for c in cells_of(PROFILES[name], ("toy",), ("ads",), 1)} == {"toy"}


def test_seeds_are_those_of_the_key_alone():
    assert seed_of("breast", 0, "RFF", 10) == seed_of("breast", 0, "RFF", 10.0)
    keys = [("breast", s, m, w) for s in range(5) for m in METHODS for w in range(20)]
    seeds = {seed_of(*key) for key in keys}
    assert len(seeds) == len(keys)
    assert all(0 <= seed < 2**32 for seed in seeds)


def test_every_cell_has_one_line_of_json(cells, lines):
    assert set(lines) == set(cells)
    for cell, line in lines.items():
        assert cell_of(json.loads(json.dumps(line))) == cell
        assert ("test_errors" in line) == (cell.experiment != "posterior")


def test_nothing_is_left_to_do_after_a_run(cells, lines, tmp_path, monkeypatch):
    path = tmp_path / "cells.jsonl"
    path.write_text("\n".join(map(json.dumps, lines.values())))
    monkeypatch.setattr(runner, "run_cell", None)
    assert list(run(cells, QUICK, path, n_jobs=1)) == []
    assert read_lines(path) == lines


@pytest.mark.parametrize("seed", [0, 1])
def test_neither_order_nor_what_is_finished_matters(cells, lines, tmp_path, seed):
    """Cells shuffled; some of them run before, in a run of their own."""
    rng, path = random.Random(seed), tmp_path / "cells.jsonl"
    chosen = [cell for cell in cells if cell.experiment in ("svm", "toy") or cell.width == 5]
    shuffled = rng.sample(chosen, len(chosen))
    some = run(shuffled, QUICK, path, n_jobs=1)
    first = {next(some) for _ in range(rng.randrange(5, 20))}
    some.close()
    assert first.isdisjoint(run(shuffled, QUICK, path, n_jobs=1))
    assert results(read_lines(path)) == {cell: results(lines)[cell] for cell in chosen}


@pytest.mark.slow
def test_one_worker_and_two_give_the_same_rows(cells, lines, tmp_path):
    list(run(cells, QUICK, tmp_path / "cells.jsonl", n_jobs=2))
    assert results(read_lines(tmp_path / "cells.jsonl")) == results(lines)


@pytest.mark.parametrize("n_cut", [1, 40, 10_000])
def test_a_line_that_was_cut_short_is_run_again(cells, lines, tmp_path, n_cut):
    """Its rest stays in the file, and does no harm to the next line."""
    path, toys = tmp_path / "cells.jsonl", [cell for cell in cells if cell.experiment == "toy"]
    text = "\n".join(json.dumps(lines[cell]) for cell in toys)
    path.write_text(text[: -min(n_cut, len(text) // 2)])
    left = set(read_lines(path))
    assert left < set(toys)
    assert set(run(toys, QUICK, path, n_jobs=1)) == set(toys) - left
    assert results(read_lines(path)) == {cell: results(lines)[cell] for cell in toys}


def test_results_of_other_versions_are_refused(lines, tmp_path):
    path = tmp_path / "cells.jsonl"
    line = {**next(iter(lines.values())), "versions": "pacfourier 0.0"}
    path.write_text(json.dumps(line))
    with pytest.raises(ValueError, match=r"must have results of .*, got some of pacfourier 0\.0"):
        read_lines(path)


def test_a_cell_without_its_bandwidth_is_an_error():
    with pytest.raises(ValueError, match="bandwidth and method must be known, got None"):
        run_cell(Cell("greedy", "breast", 0, "RFF", 1), QUICK, None, random_features)


def test_a_failing_cell_is_named_and_what_was_written_stays(tmp_path):
    def broken(bench, width):
        if width == 10:
            raise FloatingPointError("no such number")
        return random_features(bench, width)

    path = tmp_path / "cells.jsonl"
    cells = [c for c in cells_of(QUICK, ("greedy",), ("breast",), 1) if c.method in ("SVM", "RFF")]
    with pytest.raises(RuntimeError, match=r"'RFF', width=10\) failed: no such number"):
        list(run(cells, QUICK, path, 1, {**METHODS, "RFF": broken}))
    # Widest first.
    assert {cell.width for cell in read_lines(path)} == {0, 500, 200, 100, 50, 20}
    assert [cell.width for cell in run(cells, QUICK, path, 1)] == [10, 5, 2, 1]


def n_lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kills a group of processes")
@pytest.mark.parametrize(("n_jobs", "n_kills"), [(1, 5), (2, 2)])
def test_kills_change_no_row(tmp_path, n_jobs, n_kills):
    """Kill -9 in the middle of the work, all workers with it; then let it end."""
    arguments = ["--experiments", "toy", "landmarks", "--splits", "1", "--jobs", str(n_jobs)]
    command = [sys.executable, "-m", "reproduction", *arguments, "--out"]
    path, rng = tmp_path / "killed" / "quick" / "cells.jsonl", random.Random(n_jobs)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    n_killed = 0
    for _ in range(n_kills):
        known = n_lines(path)
        process = subprocess.Popen(
            [*command, tmp_path / "killed"],
            env={**environment, "JOBLIB_TEMP_FOLDER": str(tmp_path)},
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        while n_lines(path) < known + rng.randrange(2, 9) and process.poll() is None:
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
        n_killed += process.wait() == -signal.SIGKILL
        for semaphore in Path("/dev/shm").glob(f"sem.loky-{process.pid}-*"):
            semaphore.unlink()
        assert n_lines(path) >= known
    assert n_killed == n_kills
    for folder in ("killed", "whole"):
        subprocess.run(
            [*command, tmp_path / folder], env=environment, check=True, capture_output=True
        )
    whole = read_lines(tmp_path / "whole" / "quick" / "cells.jsonl")
    assert results(read_lines(path)) == results(whole)
    assert len(whole) == 80 + 1 + 4 * 4 + 2


def test_the_bandwidth_is_that_of_the_split(lines):
    for split in (0, 1):
        (svm,) = (
            line for cell, line in lines.items() if cell.method == "SVM" and cell.split == split
        )
        assert svm["settings"]["gamma"] in GAMMAS
        greedy = Cell("greedy", "breast", split, "RFF", 5)
        again = run_cell(greedy, QUICK, svm["settings"]["gamma"], METHODS["RFF"])
        assert {name: lines[greedy][name] for name in again} == again
