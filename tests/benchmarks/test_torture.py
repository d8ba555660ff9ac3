from pathlib import Path

import numpy as np
import pytest
from benchmarks import torture


@pytest.mark.parametrize("seed", range(20))
def test_random_fits_agree_with_the_naive_twin(seed):
    assert torture.fits(seed, Path()) is None


def test_a_wrong_loss_is_found(monkeypatch):
    naive = torture.naive_losses
    monkeypatch.setattr(torture, "naive_losses", lambda *rows: naive(*rows) + 0.01)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        torture.fits(0, Path())


def test_a_failure_is_printed_with_its_seed(monkeypatch, capsys):
    def fails_at_three(seed, folder):
        assert folder.is_dir()
        if seed == 3:
            raise FloatingPointError("no such number")

    monkeypatch.setitem(torture.ATTACKS, "made up", (5, fails_at_three))
    assert not torture.survived("made up", 1.0)
    shown = capsys.readouterr().out
    assert "5 tries       4 survived" in shown
    assert "seed 3: FloatingPointError: no such number" in shown
    assert torture.survived("made up", 0.5)


def test_the_wanted_numbers_of_tries():
    wanted = {"fits": 25_000, "model_files": 40, "tables": 40, "forks": 150}
    assert wanted.items() <= {name: size for name, (size, _) in torture.ATTACKS.items()}.items()
    kills = [size for name, (size, _) in torture.ATTACKS.items() if name.startswith("kills")]
    assert np.sum(kills) >= 40
