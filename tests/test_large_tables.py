from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from pacfourier import tabular
from pacfourier.cli import app
from pacfourier.tabular import (
    InputError,
    fit_file,
    fit_table,
    is_large,
    large,
    load_model,
    model,
    save_model,
)


def patients(n_rows=600, seed=0):
    """Numbers, categories and truths, with gaps in the first of the rows only."""
    rng = np.random.default_rng(seed)
    is_ill = rng.random(n_rows) < 0.4
    table = pd.DataFrame(
        {
            "pulse": 60 + 25 * is_ill + 8 * rng.standard_normal(n_rows),
            "visits": rng.integers(0, 9, n_rows),
            "ward": np.where(rng.random(n_rows) < 0.8, np.where(is_ill, "east", "west"), "north"),
            "smokes": rng.random(n_rows) < 0.5,
            "ticket": [f"ticket {row}" for row in range(n_rows)],
            "state": np.where(is_ill, "ill", "well"),
        }
    )
    table["visits"] = table["visits"].astype("Int64")
    is_missing = rng.random(n_rows) < np.where(np.arange(n_rows) < 200, 0.1, 0)
    table.loc[is_missing, ["visits", "ward"]] = None
    table.loc[3, "pulse"] = None
    return table


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(large, "BATCH_ROWS", 70)
    # The index is no column.
    patients().set_index(np.arange(600) + 7).to_parquet(
        tmp_path / "data.parquet", row_group_size=150
    )
    return tmp_path / "data.parquet"


def test_a_file_gives_the_model_of_the_table(file, tmp_path, monkeypatch):
    monkeypatch.setattr(model, "noisy_counts", lambda counts, _: counts)
    advance = Mock()
    streamed = fit_file(file, "state", ties="genuine", n_frequencies=10, advance=advance)
    whole = fit_table(tabular.read_table(file), "state", ties="genuine", n_frequencies=10)
    assert sum(call.args[0] for call in advance.call_args_list) == tabular.n_rows_to_read(file)
    assert streamed.columns == whole.columns
    unequal = ("seconds", "certificate")
    for name in set(whole.record) - set(unequal):
        assert streamed.record[name] == whole.record[name], name
    np.testing.assert_array_equal(streamed.row_counts, whole.row_counts)
    features = [model.pipeline["features"] for model in (streamed, whole)]
    np.testing.assert_allclose(features[0].losses_, features[1].losses_, rtol=1e-10)
    assert streamed.certificate().value == pytest.approx(whole.certificate().value, rel=1e-9)
    fresh = patients(seed=1)
    predictions = [model.predictions(fresh)["probability_ill"] for model in (streamed, whole)]
    np.testing.assert_allclose(*predictions, atol=1e-4)
    save_model(streamed, tmp_path / "model.skops")
    assert load_model(tmp_path / "model.skops").record == streamed.record


def test_numbers_of_rows_and_dropped_columns_are_left_out_of_files(file):
    patients(140).assign(id=np.arange(140)).to_parquet(file)
    model = fit_file(file, "state", drop=["ward"], n_frequencies=3)
    assert "near each other" in model.columns.left_out["id"]
    assert model.columns.left_out["ward"] == "it is named in drop"


def test_few_rows_are_in_memory_at_once(file, monkeypatch):
    monkeypatch.setattr(large, "MOST_PREPROCESSING", 40)
    monkeypatch.setattr(large, "MOST_CLASSIFIER", 100)
    model = fit_file(file, "state", n_frequencies=10)
    assert model.pipeline["features"].sums_.n_samples == 360
    assert model.record["rows"] == [90, 360, 150]
    assert model.held_out_error.n_samples == 150
    assert model.record["notes"][-2:] == [
        "columns are preprocessed with about 40 of 90 rows.",
        "the classifier is fitted on about 100 of 360 rows.",
    ]


def test_rare_classes_are_classified_and_counted(file, monkeypatch):
    monkeypatch.setattr(large, "MOST_CLASSIFIER", 20)
    table = patients()
    table.loc[table.index % 30 == 0, "state"] = "rare"
    table.to_parquet(file)
    model = fit_file(file, "state", n_frequencies=3)
    assert model.record["classes"] == ["ill", "rare", "well"]
    assert model.held_out_error.n_samples == 150


@pytest.mark.parametrize(
    ("change", "options", "error"),
    [
        (lambda table: table, {"target_column": "status"}, "target must be one of 'pulse'"),
        (lambda table: table, {"epsilon": 2.0}, "epsilon must lie between 0 and 1"),
        (lambda table: table, {"drop": ["state"]}, "drop must be among 'pulse'.*, got 'state'"),
        (lambda table: table.head(40), {}, "must have 50 rows or more, got 40"),
        (lambda table: table.assign(state="ill"), {}, "must have two classes or more"),
        (lambda table: table.assign(state=np.arange(600)), {}, "looks like regression"),
        (
            lambda table: table.assign(state=table["state"].where(table.index > 0, "rare")),
            {},
            "5 rows or more of each class",
        ),
        (lambda table: table.assign(state=table["state"].where(table.index > 0)), {}, "1 without"),
    ],
)
def test_what_is_refused_of_tables_is_refused_of_files(change, options, error, tmp_path):
    change(patients()).to_parquet(tmp_path / "data.parquet")
    with pytest.raises(InputError, match=error):
        fit_file(tmp_path / "data.parquet", **{"target_column": "state", **options})


@pytest.mark.parametrize(
    ("name", "error"), [("", "looks like regression"), ("row ", "1000 classes or fewer")]
)
def test_targets_that_are_no_classes_are_not_read_to_their_end(name, error, tmp_path, monkeypatch):
    monkeypatch.setattr(large, "BATCH_ROWS", 600)
    labels = Mock(side_effect=large.table_labels)
    monkeypatch.setattr(large, "table_labels", labels)
    table = pd.DataFrame({"x": 0, "state": [f"{name}{row}" for row in range(6000)]})
    table.to_parquet(tmp_path / "data.parquet")
    with pytest.raises(InputError, match=error):
        fit_file(tmp_path / "data.parquet", "state")
    assert labels.call_count == 2


def test_numbers_are_classes_if_a_word_follows(file):
    numbers = pd.Series(np.resize(np.arange(31), 600).astype(str))
    patients().assign(state=numbers.where(numbers.index < 570, "unknown")).to_parquet(file)
    assert len(fit_file(file, "state", n_frequencies=3).record["classes"]) == 32


def test_times_are_classes_of_a_file(file):
    """Batches of midnights among others."""
    times = pd.to_datetime(["2020-01-01 00:00", "2021-01-01 12:00"])
    patients().assign(state=np.repeat(times, 300)).to_parquet(file)
    model = fit_file(file, "state", n_frequencies=3)
    assert model.record["classes"] == ["2020-01-01", "2021-01-01 12:00:00"]


def test_only_large_parquet_files_are_large(file, tmp_path, monkeypatch):
    assert not is_large(file)
    patients().to_csv(tmp_path / "data.csv")
    monkeypatch.setattr(large, "LARGE_BYTES", 1000)
    assert is_large(file)
    assert not is_large(tmp_path / "data.csv")
    assert not is_large(tmp_path / "nowhere.parquet")


def test_what_counts_is_the_room_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(large, "LARGE_BYTES", 2**20)
    path = tmp_path / "data.parquet"
    # Short in the first group, and repeated in all: a few kilobytes of file.
    table = pd.DataFrame({"text": np.repeat(["short", "long" * 100], [1000, 9000])})
    table.to_parquet(path, row_group_size=1000)
    assert path.stat().st_size < 2**16
    assert is_large(path)
    table.head(2000).to_parquet(path)
    assert not is_large(path)


@pytest.mark.parametrize("columns", [["pulse"], []])
def test_files_without_rows_are_not_large(columns, tmp_path):
    patients().head(0)[columns].to_parquet(tmp_path / "data.parquet")
    assert not is_large(tmp_path / "data.parquet")


def test_the_command_reads_large_files_in_passes(file, tmp_path, monkeypatch):
    monkeypatch.setattr(large, "LARGE_BYTES", 1000)
    out = tmp_path / "model.skops"
    result = fitted_by_command(file, "state", out)
    assert result.exit_code == 0, result.stderr
    assert "rows per second" in result.stderr
    assert load_model(out).record["rows"] == [90, 360, 150]


def fitted_by_command(file, target, out):
    arguments = ["fit", file, "--target", target, "--out", out, "--n-frequencies", 5]
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def break_page(file, column):
    """Write over the first page of a column in the last group of rows."""
    place = parquet.read_schema(file).names.index(column)
    start = parquet.read_metadata(file).row_group(3).column(place).data_page_offset
    content = bytearray(file.read_bytes())
    content[start : start + 16] = b"\xff" * 16
    file.write_bytes(content)


@pytest.mark.parametrize("most_bytes", [1000, large.LARGE_BYTES])
@pytest.mark.parametrize("n_sampled", [1, 4])
@pytest.mark.parametrize("broken", ["pulse", "state"])
def test_broken_pages_are_refused(most_bytes, n_sampled, broken, file, tmp_path, monkeypatch):
    monkeypatch.setattr(large, "LARGE_BYTES", most_bytes)
    monkeypatch.setattr(large, "SAMPLED_GROUPS", n_sampled)
    break_page(file, broken)
    result = fitted_by_command(file, "state", tmp_path / "model.skops")
    assert result.exit_code == 2
    assert "\nError: data must be readable Parquet, got 'data.parquet': " in "\n" + result.stderr
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("most_bytes", [1000, large.LARGE_BYTES])
def test_the_index_is_no_target(most_bytes, tmp_path, monkeypatch):
    monkeypatch.setattr(large, "LARGE_BYTES", most_bytes)
    file = tmp_path / "data.parquet"
    patients().set_index("ticket").to_parquet(file)
    result = fitted_by_command(file, "ticket", tmp_path / "model.skops")
    assert result.exit_code == 2
    assert "Error: target must be one of 'pulse'" in result.stderr


def test_a_file_that_is_none_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"must be readable Parquet, got 'none\.parquet'"):
        fit_file(tmp_path / "none.parquet", "state")


def test_categories_are_counted_once(tmp_path, monkeypatch):
    """Every batch of a dictionary column brings all of its texts."""
    names = np.array([f"a long name of a category, number {number}" for number in range(5_000)])
    column = pd.Categorical(names[np.arange(20_000) % 5_000])
    path = tmp_path / "categories.parquet"
    pd.DataFrame({"name": column, "x": np.arange(20_000.0)}).to_parquet(path)
    monkeypatch.setattr(large, "LARGE_BYTES", 10**6)
    assert not is_large(path)
