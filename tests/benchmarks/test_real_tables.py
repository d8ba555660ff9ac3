import numpy as np
import pandas as pd
import pytest
from benchmarks import real_tables, real_tables_data
from benchmarks.real_tables import FEW, TableCell, error_of
from benchmarks.real_tables_choices import Recipes, chosen, log_ratios
from benchmarks.real_tables_data import RealTable, parts_of, with_wild_values
from benchmarks.real_tables_fits import (
    Preparation,
    ScaledDescent,
    Trainer,
    TrainingRun,
    limits_of,
    p_value,
)

from pacfourier.core.boosting.cosine_model import CosineModel, square_losses
from pacfourier.core.boosting.descent import Decays, Descent, Labelled


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def table(rng):
    X = pd.DataFrame({"a": rng.standard_normal(120), "b": rng.choice(["x", "y", "z"], 120)})
    return RealTable("made", X, X["a"].to_numpy() + (X["b"] == "x"), True)


def test_limits_cut_wild_values_and_keep_common_ones(rng):
    wild = np.append(rng.standard_normal(200), 1e6)
    mostly_zero = np.append(np.zeros(150), np.arange(1.0, 52.0))
    pair = np.append(np.zeros(200), 1.0)
    low, high = limits_of(np.stack([wild, mostly_zero, pair], axis=1), 0.01, 0.0)
    assert -4 < low[0] < high[0] < 4
    assert low[1] == 0
    assert 50 < high[1] < 51
    assert np.isinf([low[2], high[2]]).all()


@pytest.mark.parametrize("is_amount", [True, False])
def test_categories_pass_their_test_only_if_labels_depend_on_them(rng, is_amount):
    levels = rng.integers(4, size=400)
    column = pd.Series([f"level {k}" if k else None for k in levels])
    useless = pd.Series(rng.permutation(column.to_numpy()))
    y = levels + rng.standard_normal(400) if is_amount else levels // 2
    assert p_value(column, y, is_amount=is_amount) < 1e-10
    assert p_value(useless, y, is_amount=is_amount) > 0.01


def test_wild_values_are_in_rows_to_learn_from(table):
    parts = parts_of(table, 0)
    changed = with_wild_values(table, parts.learned, 0).X["a"] != table.X["a"]
    assert changed.sum() == 1
    assert changed.to_numpy()[parts.learned].sum() == 1


def test_validation_rows_are_no_test_rows(table):
    _, _, test = parts_of(table, 0, on_test=True)
    assert not np.intersect1d(np.concatenate(parts_of(table, 0)), test).size


def test_errors_of_amounts_and_classes():
    labels = np.array([[0.0], [1.0], [1.0], [0.0]])
    assert error_of(labels.mean() + 0 * labels, labels, is_amount=True) == pytest.approx(1)
    assert error_of(np.array([[-1.0], [2.0], [-1.0], [-3.0]]), labels, is_amount=False) == 0.25
    assert error_of(np.eye(3)[[0, 1, 2]], np.eye(3)[[0, 2, 2]], is_amount=False) == pytest.approx(
        1 / 3
    )


def test_ratios_add_half_a_row_and_take_unchanged_cells_from_their_base():
    runs = {FEW[0].name: {"loss": 0.1, "error": 0.2}, FEW[1].name: {"loss": 0.2, "error": 0.1}}
    facts = {"is_amount": False, "n": [60, 20, 50]}
    records = {
        TableCell("t", 0, "limits"): facts | {"runs": runs},
        TableCell("t", 0, "pairs 2"): facts | {"runs": {}, "is_same": True},
        TableCell("t", 0, "today"): facts | {"runs": {FEW[0].name: {"loss": 0.1, "error": 0.09}}},
    }
    first, same, other = (chosen(records, Recipes(v, FEW)) for v in ("limits", "pairs 2", "today"))
    assert first("t", 0) == same("t", 0) == 0.2
    assert log_ratios(records, first, other, ["t"])["t"] == pytest.approx(np.log(0.21 / 0.1))


def test_without_learned_scales_a_step_is_that_of_the_package(rng):
    model = CosineModel(*(rng.standard_normal(s) for s in ((5, 3), (5, 1), (5, 1), (3, 1), 1)))
    X, y = rng.standard_normal((40, 3)).astype(np.float32), rng.standard_normal((40, 1))
    rows = Labelled(X, y.astype(np.float32), np.ones(40, dtype=np.float32))
    ours, theirs = (
        kind.start(model, square_losses, Decays(0.3, 0.1, 1.0)) for kind in (ScaledDescent, Descent)
    )
    for descent in (ours, theirs):
        for _ in range(5):
            descent.move(rows, 0.01)
    for part, other in zip(ours.model, theirs.model, strict=True):
        np.testing.assert_allclose(part, other, rtol=1e-4, atol=1e-6)


def test_learned_scales_leave_out_a_column_of_noise(rng):
    X = pd.DataFrame(rng.standard_normal((600, 2)))
    made = RealTable("made", X, np.sin(2 * X[0].to_numpy()), True)
    trainer = Trainer(made, parts_of(made, 0), Preparation(tail=0.01))
    model = trainer.trained(TrainingRun(1.0, size=20, scale_rate=6.0))
    first, second = np.abs(model.frequencies).mean(axis=0)
    assert second < first / 2


def test_without_tables_there_is_a_message(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(real_tables_data, "FOLDER", tmp_path)
    monkeypatch.setattr("sys.argv", ["real_tables"])
    real_tables.main()
    assert "set PACFOURIER_DATA" in capsys.readouterr().out
