"""A few tries of every attack, and defects that the attacks must see."""

import multiprocessing
import os
from contextlib import contextmanager
from unittest.mock import Mock

import pytest

from pacfourier.core.alignment.sums import AlignmentSums
from pacfourier.pacbayes.certificate import Certificate

for optional in ("distributed", "pyarrow", "skops", "typer"):
    pytest.importorskip(optional)
torture = pytest.importorskip("benchmarks.torture")
workers = pytest.importorskip("benchmarks.torture.workers")
command = pytest.importorskip("benchmarks.torture.__main__")

ATTACKS, FORGERS = torture.ATTACKS, torture.model_files.FORGERS
FITS = [name for name in ATTACKS if name.startswith("fits")]
QUICK = ["kills_while_writing", "forks", "threads", "interrupts", "dask_bad_blocks"]
SLOW = ["kills_while_fitting", "dask_killed_workers"]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", FITS)
def test_random_fits_are_survived(name, seed):
    assert workers.make_try(name, seed) is None


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", QUICK)
def test_quick_attacks_are_survived(name, seed):
    assert workers.make_try(name, seed) is None


@pytest.fixture(scope="module")
def processes():
    """One new process for attacks that fork: here, threads of OpenMP would not survive a fork."""
    with pytest.MonkeyPatch.context() as patch:
        for name in command.THREADS:
            patch.setenv(name, "1")
        with workers.started(1) as found:
            yield found


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_slow_attacks_are_survived(name, processes):
    assert workers.failures_of(name, [0], processes) == []


@pytest.mark.slow
def test_forged_models_are_survived(processes):
    assert workers.failures_of("model_files", range(len(FORGERS)), processes) == []


@pytest.mark.slow
def test_hostile_tables_are_survived(processes):
    assert workers.failures_of("tables", range(0, 60, 10), processes) == []


def failed(name, seeds):
    """Return whether the library fails one of some tries."""
    for seed in seeds:
        try:
            workers.make_try(name, seed)
        except AssertionError:
            return True
    return False


@pytest.mark.parametrize("name", ["fits_of_pbrff", "fits_of_okrff", "fits_of_gibbs_rff"])
def test_wrong_losses_are_seen(name, monkeypatch):
    losses = AlignmentSums.losses
    monkeypatch.setattr(AlignmentSums, "losses", lambda *sums: losses(*sums) + 1e-3)
    assert failed(name, range(3))


def test_certificates_below_the_loss_are_seen(monkeypatch):
    too_small = property(lambda certificate: certificate.empirical_loss / 2)
    monkeypatch.setattr(Certificate, "value", too_small)
    assert failed("fits_of_rff", range(10))


def test_entries_that_do_not_add_up_are_seen(monkeypatch):
    monkeypatch.setattr("pacfourier.data.samples.canonical", lambda X: X)
    assert failed("fits_of_rbf_landmarks", range(60))


def test_torn_files_are_seen(monkeypatch):
    def torn(path, content):
        with path.open("wb") as file:
            for start in range(0, len(content), 10**5):
                file.write(content[start : start + 10**5])

    monkeypatch.setattr(torture.kills, "write_file", torn)
    assert failed("kills_while_writing", range(10))


def test_models_that_are_not_checked_are_seen(monkeypatch):
    monkeypatch.setattr("pacfourier.model.plain_fields.PlainFields.require", lambda *_: None)
    assert failed("model_files", range(1, 200, len(FORGERS)))


def test_children_that_cannot_fit_are_seen(monkeypatch):
    parent, losses = os.getpid(), AlignmentSums.losses

    def only_here(*sums):
        assert os.getpid() == parent
        return losses(*sums)

    monkeypatch.setattr(AlignmentSums, "losses", only_here)
    assert failed("forks", [0])


def test_half_fitted_models_are_seen(monkeypatch):
    @contextmanager
    def at_once(estimator):
        yield estimator

    for module in ("learned_map", "gibbs_rff", "boosted_rff", "pb_landmarks", "fourier_predictor"):
        monkeypatch.setattr(f"pacfourier.estimators.{module}.all_or_nothing", at_once)
    assert failed("interrupts", range(60))


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_failures_are_printed_with_the_command_that_repeats_them(monkeypatch, capsys):
    def made_up(seed, folder):
        assert folder.is_dir()
        if seed == 3:
            raise FloatingPointError("no such number")
        if seed == 5:
            os._exit(9)

    attack = torture.attacks.Attack("made_up", 8, made_up)
    # A forked worker knows the attack that is made up here. It would wait for ever for the watch
    # over hanging tests, which stays behind in its parent.
    monkeypatch.setattr(workers, "CONTEXT", multiprocessing.get_context("fork"))
    monkeypatch.setattr(workers, "faulthandler", Mock())
    for name in command.THREADS:
        monkeypatch.setenv(name, "1")
    monkeypatch.setitem(ATTACKS, "made_up", attack)
    monkeypatch.setattr("benchmarks.torture.__main__.N_FIRST", 0)
    assert command.main(["--only", "made_up", "--workers", "1"]) == 1
    line, *failures = capsys.readouterr().out.splitlines()[1:]
    assert line.split()[:3] == ["made_up", "8", "6"]
    assert failures == [
        "  FloatingPointError in made_up: no such number",
        "  Repeat it: python -m benchmarks.torture --only made_up --seed 3",
        "  The process ended with code 9.",
        "  Repeat it: python -m benchmarks.torture --only made_up --seed 5",
    ]
    assert command.main(["--only", "made_up", "--share", "0.25", "--workers", "1"]) == 0
    with pytest.raises(FloatingPointError, match="no such number"):
        command.main(["--only", "made_up", "--seed", "3"])


def test_the_wanted_numbers_of_tries():
    tries = {attack.name: attack.n_tries for attack in ATTACKS.values()}
    assert sum(tries[name] for name in FITS) >= 25_000
    assert sum(tries[name] for name in tries if name.startswith("kills")) >= 40
    assert tries["model_files"] >= 40
    assert tries["tables"] >= 40
    assert tries["forks"] >= 150
    assert tries["dask_bad_blocks"] + tries["dask_killed_workers"] >= 10
    assert not set(tries) - {*FITS, *QUICK, *SLOW, "model_files", "tables"}
