"""The command ``predict``, end to end: what it reads, writes and refuses."""

import io
import os
import pickle
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from tests.tabular.command import (
    TABLES,
    contents,
    fitted,
    invoke,
    notes,
    patients,
    predicted,
    probabilities,
    refused,
    succeeded,
    written,
)

import pacfourier

ADDED = ["predicted_state", "probability_ill", "probability_well"]
FRESH = patients(200, seed=1)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The current folder, to which everything is written."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of a table that also has row numbers, which are left out."""
    folder = tmp_path_factory.mktemp("model")
    data = written(patients().assign(id=np.arange(1, 301)), folder / "data.csv")
    return fitted(data, out=folder / "model.skops")[0]


@pytest.fixture(scope="module")
def frauds_model(tmp_path_factory):
    """A model of two classes, of which 'fraud' has 5 % of the rows."""
    folder = tmp_path_factory.mktemp("frauds")
    return fitted(written(frauds(600, seed=0), folder / "data.csv"), out=folder / "m.skops")[0]


def frauds(n_rows, seed):
    rng = np.random.default_rng([TABLES, seed])
    is_fraud = rng.random(n_rows) < 0.05
    amount = rng.standard_normal(n_rows) + 2 * is_fraud
    return pd.DataFrame({"amount": amount, "state": np.where(is_fraud, "fraud", "a fine one")})


# Which columns come in


def test_predictions_are_added_to_the_rows_in_their_order(model):
    data = written(FRESH, "new.csv")
    result = succeeded("predict", model, data, "--out", "out.csv")
    assert "200" in result.stdout
    assert "out.csv" in result.stdout
    assert notes(result) == ""
    columns = pd.read_csv("out.csv")
    assert list(columns) == [*FRESH, *ADDED]
    pd.testing.assert_frame_equal(columns[[*FRESH]], pd.read_csv("new.csv"))
    assert np.mean(columns["predicted_state"] == columns["state"]) > 0.9
    shares = probabilities(columns, ["ill", "well"])
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-5)
    likeliest = np.array(["ill", "well"])[shares.argmax(axis=1)]
    assert (columns["predicted_state"] == likeliest).all()


def test_the_default_output_is_predictions_csv(model):
    succeeded("predict", model, written(FRESH, "new.csv"))
    assert set(contents(".")) == {Path("new.csv"), Path("predictions.csv")}


def test_missing_columns_are_refused(model):
    data = written(FRESH.drop(columns=["pulse", "ward"]), "narrow.csv")
    line = refused("predict", model, data)
    assert "'pulse'" in line
    assert "'ward'" in line
    assert "'weight'" not in line


def test_neither_the_label_nor_what_was_left_out_is_needed(model):
    whole = predicted(model, FRESH.assign(id=5))
    narrow = predicted(model, FRESH.drop(columns="state"))
    pd.testing.assert_frame_equal(whole[ADDED], narrow[ADDED])


def test_extra_columns_are_kept_and_said_to_be_ignored(model):
    data = written(FRESH.assign(more=range(200)), "new.csv")
    result = succeeded("predict", model, data, "--out", "out.csv")
    assert "'more'" in notes(result)
    columns = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    assert columns["more"].tolist() == [str(number) for number in range(200)]
    pd.testing.assert_frame_equal(columns[ADDED], predicted(model, FRESH)[ADDED])


def test_the_order_of_columns_does_not_matter(model):
    backwards = predicted(model, FRESH[[*reversed(FRESH.columns)]])
    pd.testing.assert_frame_equal(backwards[ADDED], predicted(model, FRESH)[ADDED])


def test_the_order_of_rows_does_not_matter(model):
    order = np.random.default_rng([TABLES, 0]).permutation(200)
    shuffled = predicted(model, FRESH.iloc[order])
    expected = predicted(model, FRESH).iloc[order].reset_index(drop=True)
    assert (shuffled["predicted_state"] == expected["predicted_state"]).all()


def test_unseen_categories_and_gaps_get_a_prediction(model):
    rows = FRESH.head(3).assign(pulse=[90, np.nan, np.nan], weight=np.nan)
    columns = predicted(model, rows.assign(ward=["never seen", "", "south"]))
    shares = probabilities(columns, ["ill", "well"])
    assert np.isfinite(shares).all()
    assert columns["predicted_state"][0] == "ill"


def test_stray_words_count_as_gaps_and_are_noted(model):
    cells = FRESH["pulse"].astype(object)
    cells[[3, 5]] = ["unknown", "?"]
    data = written(FRESH.assign(pulse=cells), "new.csv")
    result = succeeded("predict", model, data, "--out", "out.csv")
    assert re.search(r"\b2 of 200 values of 'pulse'", notes(result))
    gaps = predicted(model, FRESH.assign(pulse=FRESH["pulse"].drop([3, 5])))
    strays = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(strays[ADDED], gaps[ADDED])
    assert strays["pulse"][3] == "unknown"


def test_other_kinds_of_files_are_read(model):
    expected = predicted(model, FRESH)[ADDED]
    written(FRESH, "new.csv.gz")
    written(FRESH, "semicolons.csv", sep=";")
    written(FRESH, "bars.csv", sep="|")
    FRESH.to_parquet("new.parquet")
    FRESH.to_json("new.jsonl", orient="records", lines=True, double_precision=15)
    options = {"bars.csv": ("--separator", "|")}
    for name in ("new.csv.gz", "semicolons.csv", "bars.csv", "new.parquet", "new.jsonl"):
        settings = ("--out", "out.csv", "--overwrite", *options.get(name, ()))
        succeeded("predict", model, name, *settings)
        found = pd.read_csv("out.csv", dtype=str)[ADDED]
        assert (found["predicted_state"] == expected["predicted_state"]).all(), name
        np.testing.assert_allclose(
            *(probabilities(each, ["ill", "well"]) for each in (found, expected)), atol=1e-5
        )


def test_decimal_commas_after_a_fit_with_points_are_read_or_noted(model):
    """They must not become other numbers in silence: 61,234 is not 61234."""
    expected = predicted(model, FRESH)
    data = written(FRESH, "semicolons.csv", sep=";", decimal=",", float_format="%.3f")
    result = succeeded("predict", model, data, "--out", "out.csv")
    found = pd.read_csv("out.csv", sep=None, engine="python", dtype=str)
    if (found["predicted_state"] != expected["predicted_state"]).any():
        assert "'pulse'" in notes(result)


# Which columns come out


def test_probabilities_can_be_left_out(model):
    assert list(predicted(model, FRESH, "--no-proba")) == [*FRESH, "predicted_state"]
    assert list(predicted(model, FRESH, "--proba")) == [*FRESH, *ADDED]


def test_columns_can_be_chosen(model):
    assert list(predicted(model, FRESH, "--columns", "none")) == ADDED
    assert list(predicted(model, FRESH, "--columns", "all")) == [*FRESH, *ADDED]
    rows = FRESH.assign(name=[f"row {number}" for number in range(200)])
    chosen = predicted(model, rows, "--columns", "name,ward", "--no-proba")
    assert set(chosen) == {"name", "ward", "predicted_state"}
    assert chosen["name"].tolist() == rows["name"].tolist()
    data = written(rows, "new.csv")
    line = refused("predict", model, data, "--columns", "name,wards")
    assert "--columns" in line
    assert "'wards'" in line


def test_parquet_has_the_same_predictions(model):
    data = written(FRESH, "new.csv")
    succeeded("predict", model, data, "--out", "out.parquet")
    table = pd.read_parquet("out.parquet")
    assert list(table) == [*FRESH, *ADDED]
    expected = predicted(model, FRESH)
    assert table["predicted_state"].tolist() == expected["predicted_state"].tolist()
    assert all(table[name].dtype.kind == "f" for name in ADDED[1:])
    found = table[ADDED[1:]].to_numpy()
    np.testing.assert_allclose(found, probabilities(expected, ["ill", "well"]), atol=1e-5)


def test_a_threshold_decides_from_which_probability_on_the_rare_class_is_predicted(frauds_model):
    fresh = frauds(400, seed=1)
    for threshold in (0.02, 0.2, 0.9):
        columns = predicted(frauds_model, fresh, "--threshold", threshold)
        share = probabilities(columns, ["fraud"])[:, 0]
        # Printed digits may round across the threshold.
        is_clear = np.abs(share - threshold) > 1e-4
        is_alarm = (columns["predicted_state"] == "fraud").to_numpy()
        np.testing.assert_array_equal(is_alarm[is_clear], share[is_clear] > threshold)


@pytest.mark.parametrize("threshold", ["-0.1", "1.5", "nan", "low"])
def test_a_threshold_is_a_probability(threshold, model):
    data = written(FRESH, "new.csv")
    line = refused("predict", model, data, "--threshold", threshold)
    assert "--threshold" in line
    assert threshold in line


def test_a_threshold_needs_two_classes():
    rng = np.random.default_rng([TABLES, 0])
    x = rng.standard_normal(300)
    table = pd.DataFrame({"x": x, "kind": np.digitize(x, [-0.5, 0.5]).astype(str)})
    amounts = table.assign(kind=3 * x + rng.standard_normal(300))
    for name, each in {"three": table, "amounts": amounts}.items():
        data = written(each, f"{name}.csv")
        many, _ = fitted(data, target="kind", out=f"{name}.skops")
        line = refused("predict", many, data, "--threshold", 0.3)
        assert f"'kind' has {'3 classes' if name == 'three' else name}: " in line
        assert "--threshold" in line


def test_names_of_classes_are_written_as_they_stand():
    names = {"ill": '[red], "so to say"', "well": "50 % blue; or green"}
    table = patients().assign(state=lambda rows: rows["state"].map(names))
    model, _ = fitted(written(table, "data.csv"))
    columns = predicted(model, FRESH)
    assert set(columns["predicted_state"]) == {*names.values()}
    assert {f"probability_{name}" for name in names.values()} <= set(columns)


# Refusals


def test_a_column_that_would_be_overwritten_is_refused(model):
    for name in ADDED:
        data = written(FRESH.assign(**{name: "mine"}), "new.csv")
        assert f"'{name}'" in refused("predict", model, data)


@pytest.mark.parametrize("name", ["mine.csv", "mine.parquet"])
def test_an_existing_file_is_refused_before_any_work(name, model, folder):
    """The table is broken, but the command does not come so far as to read it."""
    (folder / name).write_bytes(b"mine")
    (folder / "new.csv").write_bytes(b"a,b\n1\n")
    line = refused("predict", model, "new.csv", "--out", name)
    assert name in line
    assert "--overwrite" in line


def test_an_existing_file_is_kept_if_an_overwrite_fails(model, folder):
    """The last line is broken, when most rows are predicted already."""
    (folder / "predictions.csv").write_bytes(b"mine")
    (folder / "new.csv").write_bytes(Path(written(FRESH, "new.csv")).read_bytes() + b"1,2\n")
    assert "202" in refused("predict", model, "new.csv", "--overwrite")


def test_the_table_itself_is_never_overwritten(model):
    data = written(FRESH, "new.csv")
    refused("predict", model, data, "--out", data)


@pytest.mark.parametrize("name", ["out.xlsx", "out", "none/out.csv"])
def test_a_wrong_name_of_the_output_is_refused(name, model):
    line = refused("predict", model, written(FRESH, "new.csv"), "--out", name)
    assert re.search("--out|output", line)
    assert name in line


@pytest.mark.parametrize("content", [b"", b"pulse,weight,ward\n", b"pulse,weight,ward\n1,2\n"])
def test_a_bad_table_is_refused(content, model, folder):
    (folder / "new.csv").write_bytes(content)
    refused("predict", model, "new.csv")


def test_files_that_are_not_there_are_refused(model):
    data = written(FRESH, "new.csv")
    assert "none.csv" in refused("predict", model, "none.csv")
    assert "none.skops" in refused("predict", "none.skops", data)


def zipped(name, content):
    """Return a ZIP archive of one file."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(name, content)
    return archive.getvalue()


BROKEN = {
    "empty": b"",
    "words": b"this is no model",
    "pickle": pickle.dumps({"a": 1}),
    "zip": zipped("a.txt", "nothing"),
    "schema": zipped("schema.json", "{}"),
    "other": skops.io.dumps({"a": 1, "b": [1.0, 2.0]}),
    "estimator": skops.io.dumps(pacfourier.RFF()),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("command", ["predict", "certify"])
def test_a_file_that_is_no_model_is_refused(case, command, folder):
    data = written(FRESH, "new.csv")
    (folder / "bad.skops").write_bytes(BROKEN[case])
    assert "bad.skops" in refused(command, "bad.skops", data)


@pytest.mark.parametrize("n_bytes", [30, 3000])
def test_a_model_that_was_cut_is_refused(n_bytes, model, folder):
    data = written(FRESH, "new.csv")
    (folder / "bad.skops").write_bytes(model.read_bytes()[:-n_bytes])
    assert "bad.skops" in refused("predict", "bad.skops", data)


def test_a_changed_byte_of_a_model_is_noticed_or_harmless(model, folder):
    """A few bytes of the archive, such as those of its dates, have no meaning."""
    data, content = written(FRESH, "new.csv"), model.read_bytes()
    expected = predicted(model, FRESH)
    for place in np.linspace(40, len(content) - 40, 12).astype(int):
        changed = bytearray(content)
        changed[place] ^= 0x55
        (folder / "bad.skops").write_bytes(changed)
        if invoke("predict", "bad.skops", data, "--overwrite").exit_code == 0:
            found = pd.read_csv("predictions.csv", dtype=str, keep_default_na=False)
            pd.testing.assert_frame_equal(found, expected)
        else:
            assert "bad.skops" in refused("predict", "bad.skops", data, "--overwrite")


def test_predict_loads_no_library_that_it_does_not_need(model):
    """These take seconds to load, or are not part of predicting."""
    data = written(FRESH, "new.csv")
    command = [sys.executable, "-X", "importtime", "-m", "pacfourier", "predict", model, data]
    source = str(Path(pacfourier.__file__).parents[1])
    result = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": source}
    )
    loaded = {line.split("|")[-1].strip() for line in result.stderr.splitlines() if "|" in line}
    assert "numpy" in loaded
    assert not loaded & {"skops", "skrub", "matplotlib", "torch", "dask"}
    assert Path("predictions.csv").is_file()
