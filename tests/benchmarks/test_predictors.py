import json
import math

import numpy as np
import pytest
from benchmarks.pages import BEGIN, END
from benchmarks.predictors import (
    calibration_error,
    planned_cells,
    read_records,
    run_cells,
    timed_record,
)
from benchmarks.predictors_certified import Pool, Recorded, share_kept
from benchmarks.predictors_data import N_SPLITS, SETS, parts_of
from benchmarks.predictors_models import (
    MODELS,
    FrequentColumns,
    TunedMachine,
    is_run_on,
    kind_of,
)
from benchmarks.predictors_page import (
    Cells,
    bars,
    error_text,
    few_frequencies_table,
    loss_list,
    more_splits_table,
    write_page,
)
from scipy import sparse


@pytest.fixture(scope="module")
def wine_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("results") / "cells.jsonl"
    run_cells(list(planned_cells(["wine"], ["ours", "linear"], 2)), path)
    return path


def test_every_cell_is_measured_once_and_kept(wine_file):
    records = read_records(wine_file)
    assert set(records) == {("wine", s, m) for s in (0, 1) for m in ("ours", "linear")}
    for record in records.values():
        assert record["error"] < 0.1
        assert record["seconds"] > 0
        assert 0 < record["log_loss"] < 0.5
        assert (record["n_train"], record["n_test"]) == (133, 45)


def test_the_last_line_on_a_cell_counts(tmp_path):
    path = tmp_path / "cells.jsonl"
    lines = [{"set": "wine", "split": 0, "model": "ours", "error": error} for error in (0.5, 0.1)]
    path.write_text("\n".join(map(json.dumps, lines)))
    (record,) = read_records(path).values()
    assert record["error"] == 0.1


def test_the_page_shows_what_was_measured_and_says_what_was_not(wine_file, tmp_path):
    (tmp_path / "images").mkdir()
    page = tmp_path / "page.md"
    few = tmp_path / "small-d.md"
    for path in (page, few):
        path.write_text(f"before {BEGIN} old {END} after")
    records = list(read_records(wine_file).values())
    write_page(records, page)
    text = page.read_text()
    assert text.startswith("before ")
    assert text.endswith(" after")
    assert " old " not in text
    errors = [record["error"] for record in records if record["model"] == "ours"]
    row = next(line for line in text.splitlines() if line.startswith("| wine | "))
    assert f"| wine | {100 * np.mean(errors):.2f} ± " in row
    assert "(2 of 5 splits)" in row
    assert row.count("not run") == 6
    assert "| adult | at most 13.2 % | not run | not run |" in text
    assert (tmp_path / "images" / "predictors.png").stat().st_size > 1000
    write_page(records, page)
    assert page.read_text() == text
    assert "| breast | FourierClassifier, D frequencies |" in few.read_text()
    assert " old " not in few.read_text()


def test_sizes_stand_in_the_order_of_their_columns():
    record = {"set": "breast", "split": 0, "n_test": 10, "seconds": 1.0}
    errors = {"ours, D = 5": 0.4, "ours, D = 50": 0.2, "ours": 0.1, "linear": 0.5}
    cells = Cells([{**record, "model": name, "error": value} for name, value in errors.items()])
    row = next(line for line in few_frequencies_table(cells).splitlines() if "breast" in line)
    values = [cell.strip() for cell in row.strip("| ").split("|")]
    assert values[2:] == ["50.00", "40.00", "not run", "not run", "20.00", "10.00"]


def cells_of(*errors, name="breast", n_test=100):
    """Return cells with errors of ours and of every rival, split by split."""
    records = []
    for split, pair in enumerate(errors):
        for model, error in zip(("ours", "linear"), pair, strict=True):
            cell = {"set": name, "model": model, "split": split, "error": error}
            records.append({**cell, "n_test": n_test, "seconds": 1.0})
    return Cells(records)


@pytest.mark.parametrize(("shift", "is_met"), [(-0.01, True), (0.0, True), (0.02, False)])
def test_the_linear_bar_fails_beyond_one_standard_error_of_the_differences(shift, is_met):
    gaps = np.array([0.01, -0.01, 0.0, 0.01, -0.01])
    cells = cells_of(*((0.1 + shift + gap, 0.1) for gap in gaps))
    bar = next(bar for bar in bars(cells) if "ridge" in bar.what)
    assert bar.is_met is is_met
    excess, deviation = cells.excess("breast", "linear")
    assert excess == pytest.approx(shift)
    assert deviation == pytest.approx(gaps.std(ddof=1) / np.sqrt(5))


def test_ratios_add_half_a_wrong_row_per_split_and_use_shared_splits_only():
    cells = cells_of((0.02, 0.0), (0.0, 0.0))
    assert cells.ratio("breast", "linear") == pytest.approx((2 + 1) / (0 + 1))
    cells.records.pop(("breast", "linear", 1))
    assert cells.ratio("breast", "linear") == pytest.approx((2 + 0.5) / 0.5)
    assert math.isnan(cells.ratio("breast", "SVM"))
    assert cells_of((0.3, 0.2), name="diabetes").ratio("diabetes", "linear") == pytest.approx(1.5)


def test_losses_are_listed_and_wins_are_not():
    assert loss_list(cells_of((0.1, 0.2), name="adult")) == "On no set."
    text = loss_list(cells_of((0.2, 0.1), name="adult"))
    assert text == "- adult, ours 20.00 ± 4.00: logistic or ridge (10.00 ± 3.00)"


def test_one_test_part_has_the_standard_error_of_a_proportion():
    cells = cells_of((0.1, 0.2), name="adult", n_test=900)
    assert error_text(cells, "adult", "ours") == "10.00 ± 1.00"


def test_calibration_error_is_zero_for_honest_probabilities_and_large_for_boasting(rng):
    confidences = rng.uniform(0.5, 1, 100_000)
    probabilities = np.stack([confidences, 1 - confidences], axis=1)
    is_right = rng.random(100_000) < confidences
    # A bin holds about 13,000 rows: its standard error is at most 0.005.
    assert calibration_error(probabilities, is_right) < 0.01
    assert calibration_error(probabilities, rng.random(100_000) < 0.5) == pytest.approx(
        0.25, abs=0.01
    )


@pytest.mark.parametrize("is_honest", [True, False])
def test_certified_abstention_is_checked_in_both_directions(rng, is_honest, monkeypatch):
    confidences = rng.uniform(0.9, 1, 4000)
    probabilities = np.stack([confidences, 1 - confidences], axis=1)
    is_wrong = rng.random(4000) < 5 * (1 - confidences) ** 2
    pool = Pool(Recorded(np.arange(2), probabilities), confidences, is_wrong, is_wrong.astype(int))
    if not is_honest:
        monkeypatch.setattr(Pool, "threshold", lambda *_: 0.0)
    found = share_kept(pool, 10)
    assert (found > 0.7) == is_honest


def test_a_machine_is_chosen_and_fitted():
    train, test = parts_of(SETS["wine"](), 0)
    machine = TunedMachine(kind_of(*train, is_amount=False, seed=0)).fit(*train)
    assert np.mean(machine.predict(test.X) != test.y) < 0.1
    assert machine.n_rows_ == len(train.y)


def test_special_models_run_on_their_sets_only():
    assert is_run_on("ours", "wine")
    assert not is_run_on("ours, D = 20", "wine")
    assert {model for model in MODELS if is_run_on(model, "mnist10")} >= {"ours, D = 500", "SVM"}


def test_times_of_predictions_are_per_row(monkeypatch):
    monkeypatch.setattr("benchmarks.predictors.light_gbm", MODELS["linear"])
    monkeypatch.setattr("benchmarks.predictors.TIMED_ROUNDS", 2)
    record = timed_record("wine", SETS["wine"]())
    assert record["model"] == "prediction time"
    assert record["ours, us"] > 0
    assert record["LightGBM, error"] < 0.1


def test_only_models_with_more_than_the_usual_splits_are_listed():
    records = [
        {"set": "wine", "model": model, "split": split, "error": 0.1, "n_test": 20}
        for model, n_splits in (("ours", 7), ("linear", N_SPLITS))
        for split in range(n_splits)
    ]
    lines = more_splits_table(Cells(records)).splitlines()
    assert lines[2:] == ["| wine | 7 | ours | 14 of 140 | 10.00 |"]


def test_the_columns_with_most_entries_are_kept():
    X = sparse.csr_matrix(np.array([[0, 1, 0, 2], [0, 3, 4, 5], [6, 0, 0, 7]]))
    found = FrequentColumns(2).fit_transform(X)
    np.testing.assert_array_equal(found, X[:, [1, 3]].toarray())
