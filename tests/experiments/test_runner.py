import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from pacfourier.errors import InputError
from pacfourier.experiments import runner
from pacfourier.experiments.methods import METHODS, Method, random_features
from pacfourier.experiments.plan import GAMMAS, PAPER_EXPERIMENTS, Cell, seed_of
from pacfourier.experiments.planned_cells import Plan, all_cells, method_cells, plan_of, toy_cells
from pacfourier.experiments.records import Records
from pacfourier.experiments.runner import Bandwidth, run_cell, run_plan

# A few seconds of work with learned and unlearned maps, and the toys.
SMALL = Plan("quick", PAPER_EXPERIMENTS, ("breast",), 1, methods=("RFF", "RBF-R", "PB-R"))


def results_of(plan, path=":memory:", **options):
    with Records(path) as records:
        written = list(run_plan(plan, records, **options))
        assert set(written) == set(records.finished())
        return records.results()


@pytest.fixture(scope="module")
def expected():
    return results_of(SMALL, n_jobs=1)


def test_a_plan_has_every_cell_once():
    plan = Plan("quick", PAPER_EXPERIMENTS, ("breast",), 2)
    cells = all_cells(plan)
    assert len(cells) == len(set(cells))
    greedy = sum("greedy" in method.experiments for method in METHODS.values())
    landmarks = sum("landmarks" in method.experiments for method in METHODS.values())
    # Two toys with two maps, ten bandwidths, an SVM, nine widths and four percentages.
    assert len(cells) == 2 * (2 * 2 + len(GAMMAS) + 1 + 9 * greedy + 4 * landmarks)


def test_the_comparison_at_small_d_has_all_maps_of_frequencies():
    cells = method_cells(plan_of("quick", "small-d", "", 1))
    methods = {cell.method for cell in cells}
    assert methods == {"SVM", *(n for n, m in METHODS.items() if "small-d" in m.experiments)}
    assert "BoostedRFF" in methods
    assert {cell.width for cell in cells} == {0, 5, 10, 20, 50, 100}


def test_an_experiment_left_out_has_no_cells():
    assert method_cells(Plan("quick", ("toy",), ("breast",), 1)) == []
    assert toy_cells(Plan("quick", ("greedy",), ("breast",), 1)) == []
    cells = method_cells(Plan("quick", ("landmarks",), ("breast",), 1))
    assert {cell.experiment for cell in cells} == {"svm", "landmarks"}


def test_a_command_line_is_a_plan():
    assert plan_of("quick", "toy", "", 2) == Plan("quick", ("toy",), ("breast",), 2)
    named = plan_of("standard", "all", "ads,breast", 1)
    assert named == Plan("standard", PAPER_EXPERIMENTS, ("ads", "breast"), 1)
    assert len(set(all_cells(named))) == len(all_cells(named))
    few = plan_of("quick", "greedy", "", 1, "RFF,PBRFF distinct")
    assert few == Plan("quick", ("greedy",), ("breast",), 1, ("RFF", "PBRFF distinct"))


def test_methods_with_defaults_need_no_bandwidth():
    """Their rows are those of a run that looks for bandwidths, too."""
    plan = plan_of("quick", "small-d", "", 1, "RFF median,PBRFF default")
    assert {cell.method for cell in all_cells(plan)} == {"RFF median", "PBRFF default"}
    assert "SVM grid" in {cell.method for cell in all_cells(plan._replace(methods=("RFF",)))}
    with Records(":memory:") as records:
        run = set(run_plan(plan, records, n_jobs=1))
        rows = {(row["method"], row["width"]): row for row in records.results()}
    assert run == set(all_cells(plan))
    for cell in run:
        (found,) = run_cell(cell, Bandwidth(1e-5, 1.0), None).values()
        assert found["test_errors"] == rows[cell.method, cell.width]["test_errors"]
    with pytest.raises(ValueError, match="bandwidth must be chosen before"):
        run_cell(Cell("quick", "small-d", "breast", 0, "RFF", 5), None, None)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("slow", "all", "", 1), "profile must be among quick, standard, full, got 'slow'"),
        (("quick", "tables", "", 1), "experiment must be among all, toy, .* got 'tables'"),
        (("quick", "all", "breast,iris", 1), "datasets must be among .* got 'iris'"),
        (("quick", "all", "", 1, "RFF,SVC"), "methods must be among RFF, .* got 'SVC'"),
    ],
)
def test_unknown_names_are_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        plan_of(*arguments)


def test_seeds_are_those_of_the_key_alone():
    assert seed_of("breast", 0, "RFF", 10) == seed_of("breast", 0, "RFF", 10)
    keys = [("breast", s, m, w) for s in range(5) for m in METHODS for w in range(20)]
    seeds = {seed_of(*key) for key in keys}
    assert len(seeds) == len(keys)
    assert all(0 <= seed < 2**32 for seed in seeds)


@pytest.mark.slow
def test_one_worker_and_two_give_the_same_rows(expected):
    assert results_of(SMALL, n_jobs=2) == expected


def test_nothing_is_left_to_do_after_a_run(expected, tmp_path, monkeypatch):
    assert results_of(SMALL, tmp_path / "results", n_jobs=1) == expected
    monkeypatch.setattr(runner, "run_cell", None)
    with Records(tmp_path / "results") as records:
        assert list(run_plan(SMALL, records, n_jobs=1)) == []
        assert records.results() == expected


@pytest.mark.parametrize("seed", [0, 1])
def test_neither_order_nor_what_is_finished_matters(expected, seed, monkeypatch):
    """Cells shuffled; some of them run before, in a run of their own."""
    rng = random.Random(seed)

    def shuffled(cells):
        return lambda plan: rng.sample(cells(plan), len(cells(plan)))

    for wave in ("toy_cells", "grid_cells", "method_cells"):
        monkeypatch.setattr(runner, wave, shuffled(getattr(runner, wave)))
    with Records(":memory:") as records:
        for _ in zip(run_plan(SMALL, records, n_jobs=1), range(rng.randrange(5, 30)), strict=False):
            pass
        started = records.finished()
        assert 0 < len(started) < len(expected)
        rest = list(run_plan(SMALL, records, n_jobs=1))
        assert set(rest).isdisjoint(started)
        assert records.results() == expected


def test_a_cell_alone_gives_the_rows_of_the_run(expected):
    """In a process that has other fits in memory, and in an order of its own."""
    (svm,) = [row for row in expected if row["method"] == "SVM"]
    bandwidth = Bandwidth(svm["settings"]["gamma"], svm["C"])
    for width in (10, 1, 5):
        rows = run_cell(Cell("quick", "landmarks", "breast", 0, "PB-R", width), bandwidth, None)
        for method, row in rows.items():
            (found,) = [
                each
                for each in expected
                if (each["experiment"], each["method"], each["width"])
                == ("landmarks", method, width)
            ]
            assert {name: found[name] for name in row} == row


def test_a_cell_without_its_bandwidth_is_an_error():
    with pytest.raises(ValueError, match="bandwidth must be chosen before"):
        run_cell(Cell("quick", "greedy", "breast", 0, "RFF", 1), None, None)


def test_a_failing_cell_is_named_and_what_was_written_stays(monkeypatch, expected):
    def broken(bench, profile, width):
        if width == 10:
            raise FloatingPointError("no such number")
        return random_features(bench, profile, width)

    plan = SMALL._replace(methods=("RFF",))
    with Records(":memory:") as records:
        with monkeypatch.context() as patch:
            patch.setitem(METHODS, "RFF", replace(METHODS["RFF"], settings=broken))
            with pytest.raises(RuntimeError, match=r"'RFF', width=10\) failed: no such number"):
                list(run_plan(plan, records, n_jobs=1))
        widths = {cell.width for cell in records.finished() if cell.method == "RFF"}
        # Widest first.
        assert widths == {500, 200, 100, 50, 20}
        repaired = list(run_plan(plan, records, n_jobs=1))
        assert [cell.width for cell in repaired] == [10, 5, 2, 1]
        wanted = [row for row in expected if row["experiment"] != "landmarks"]
        assert records.results() == wanted


def test_a_cell_that_fails_in_a_worker_is_named():
    """With the error and its traceback, from another process."""
    with Records(":memory:") as records:
        plan = Plan("quick", ("greedy",), ("nowhere",), 1)
        with pytest.raises(RuntimeError, match=r"dataset='nowhere'.* failed: name must be one of"):
            list(run_plan(plan, records, n_jobs=2))
        assert records.finished() == {}


@pytest.mark.slow
def test_a_method_is_a_few_lines_in_the_registry(monkeypatch):
    monkeypatch.setitem(METHODS, "RFF again", Method(("greedy",), random_features))
    plan = Plan("quick", ("greedy",), ("breast",), 1, methods=tuple(METHODS))
    assert "RFF again" in {cell.method for cell in method_cells(plan)}
    # Workers have a registry of their own, without it.
    rows = results_of(plan._replace(methods=("RFF", "RFF again")), n_jobs=2)
    ours, theirs = (
        [{**row, "method": ""} for row in rows if row["method"] == name]
        for name in ("RFF", "RFF again")
    )
    assert ours == theirs
    assert len(ours) == 9


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_rows(expected):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        assert results_of(SMALL, scheduler=cluster.scheduler_address) == expected


def test_a_dask_cluster_hands_over_each_cell_as_it_ends(monkeypatch):
    """The last waits for the first to be written: a cluster that returns all at once would not."""
    distributed = pytest.importorskip("distributed")
    is_written, run = Event(), runner.run_cell

    def spy(cell, *arguments):
        if cell.width == GAMMAS[-1]:
            assert is_written.wait(30)
        return run(cell, *arguments)

    monkeypatch.setattr(runner, "run_cell", spy)
    plan = SMALL._replace(experiments=("greedy",), methods=("RFF",))
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", processes=False
        ) as cluster,
        Records(":memory:") as records,
    ):
        for _ in run_plan(plan, records, scheduler=cluster.scheduler_address):
            is_written.set()
        assert len(records.finished()) == len(GAMMAS) + 1 + 9


# Each cell that starts is noted in a log by the worker that runs it.
SCRIPT = """
import json, os, sys
from dataclasses import astuple
from pacfourier.errors import InputError
from pacfourier.experiments import runner
from pacfourier.experiments.planned_cells import Plan, all_cells, method_cells, plan_of, toy_cells
from pacfourier.experiments.records import Records

path, log, plan, n_jobs = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), int(sys.argv[4])
timed = runner._timed

def logged(cell, *arguments):
    with open(log, "a") as file:
        file.write(json.dumps(astuple(cell)) + "\\n")
    return timed(cell, *arguments)

if __name__ == "__main__":
    runner._timed = logged
    plan = runner.Plan(*(tuple(each) if isinstance(each, list) else each for each in plan))
    with Records(path) as records:
        for _ in runner.run_plan(plan, records, n_jobs=n_jobs):
            pass
"""
KILLED = Plan("quick", ("greedy", "landmarks"), ("breast",), 6, methods=("RFF", "RBF-R"))
N_KILLS = 20


def alive(group):
    """Return the processes of a group that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, process_group = stat.read_text().rpartition(")")[2].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(process_group) == group and state != "Z":
            found.append(int(stat.parent.name))
    return found


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def lines(log):
    return log.read_text().splitlines() if log.exists() else []


class Session:
    """A run in processes of its own, which can be killed."""

    def __init__(self, folder, log, n_jobs):
        script = folder / "run.py"
        script.write_text(SCRIPT)
        arguments = [str(folder / "killed"), str(log), json.dumps(KILLED), str(n_jobs)]
        self.log = log
        self.process = subprocess.Popen(
            [sys.executable, str(script), *arguments],
            start_new_session=True,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                "JOBLIB_TEMP_FOLDER": str(folder),
            },
        )

    def kill(self, rng):
        """Kill all its processes in the midst of the work; return whether it was not done."""
        n_cells = rng.randrange(1, 6)
        wait_until(lambda: len(lines(self.log)) >= n_cells or self.process.poll() is not None)
        time.sleep(rng.uniform(0, 0.03))
        is_running = self.process.poll() is None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        wait_until(lambda: not alive(self.process.pid))
        # What would have cleared these away was killed too.
        for semaphore in Path("/dev/shm").glob(f"sem.loky-{self.process.pid}-*"):
            semaphore.unlink()
        return is_running


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_twenty_kills_change_no_row(tmp_path):
    """Kill -9 at random moments, all workers with it, until the rest is let through."""
    rng = random.Random(0)
    known, n_kills = {}, 0
    for session in range(N_KILLS + 1):
        log = tmp_path / f"log{session}"
        # Most sessions have one process, which starts sooner.
        running = Session(tmp_path, log, n_jobs=2 if session % 4 == 3 else 1)
        if session < N_KILLS:
            n_kills += running.kill(rng)
        else:
            assert running.process.wait(timeout=300) == 0
            wait_until(lambda group=running.process.pid: not alive(group))
        # A kill may leave the last line half written.
        started = [line for line in lines(log) if line.endswith("]")]
        again = {Cell(*json.loads(line)) for line in started} & known.keys()
        assert not again, "what was recorded is not run again"
        with Records(tmp_path / "killed") as records:
            finished, results = records.finished(), records.results()
        assert finished.items() >= known.items()
        assert len(results) == len(finished)
        known = finished
    assert n_kills == N_KILLS
    assert results == results_of(KILLED, n_jobs=2)
    assert len(results) == KILLED.n_splits * (len(GAMMAS) + 1 + 9 + 4)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_workers_of_a_killed_parent_end(tmp_path):
    """The parent alone is killed, while its workers are busy."""
    log = tmp_path / "log"
    running = Session(tmp_path, log, n_jobs=2)
    wait_until(lambda: len(lines(log)) >= 3)
    assert len(alive(running.process.pid)) > 2
    running.process.kill()
    running.process.wait()
    try:
        wait_until(lambda: not alive(running.process.pid), seconds=30)
    finally:
        for process in alive(running.process.pid):
            os.kill(process, signal.SIGKILL)
        for semaphore in Path("/dev/shm").glob(f"sem.loky-{running.process.pid}-*"):
            semaphore.unlink()
