"""Models that ``pacfourier fit`` wrote, exported by ``pacfourier export``."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.tabular.command import fitted, patients, predicted, probabilities, refused, succeeded

from pacfourier.export import to_torch
from pacfourier.export.predictor_files import load_predictor

# Everything that a table may hold in a column, except texts.
COLUMNS = ["pulse", "weight", "weight is missing", "ward = east", "ward = north", "ward = west"]
COLUMNS += [
    f"admitted: {part}"
    for part in ("year", "month", "day", "days since 1970", "day of the week", "day of the year")
]


def admissions(n_rows, seed):
    """Return patients with the days of their admission, which do not tell anything."""
    days = np.random.default_rng(seed).integers(0, 1096, n_rows)
    dates = pd.Timestamp("2020-01-01") + pd.to_timedelta(days, "D")
    return patients(n_rows, seed).assign(admitted=dates)


def numbers_of(table, weight):
    """Return the rows of a table as a program in C would make them; gaps are a given weight."""
    dates = table["admitted"].dt
    days = (table["admitted"] - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    parts = [dates.year, dates.month, dates.day, days, dates.day_of_week + 1, dates.day_of_year]
    wards = [table["ward"] == name for name in ("east", "north", "west")]
    weights = table["weight"].fillna(weight)
    columns = [table["pulse"], weights, table["weight"].isna(), *wards, *parts]
    return np.column_stack(columns).astype(np.float32)


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """Return a model file, rows as numbers, and the probabilities that the command says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("table"))
        admissions(300, 0).to_csv("data.csv", index=False)
        model, _ = fitted("data.csv", "--certify", "no")
        table = admissions(200, 1)
        said = probabilities(predicted(model, table), ["ill", "well"])
        succeeded("export", model, "--json", "model.json")
        weight = json.loads(Path("model.json").read_text())["empty_row"][1]
        return model.absolute(), numbers_of(table, weight), said[:, 1]


def share(scores):
    return 1 / (1 + np.exp(-np.ravel(scores)))


def test_json_names_the_columns_and_says_what_gaps_are(case):
    found = json.loads((case[0].parent / "model.json").read_text())
    assert found["columns"] == COLUMNS
    pulse, weight, is_missing, *wards = found["empty_row"][:6]
    assert 50 < pulse < 100
    assert 65 < weight < 75
    assert [is_missing, *wards] == [1, 0, 0, 0]
    cells = {each["column"]: each for each in found["cells"]}
    assert list(cells) == ["pulse", "weight", "ward", "admitted"]
    assert [each["kind"] for each in cells.values()] == ["number", "number", "category", "date"]
    assert [cells[name]["missing"] for name in cells] == [None, 2, None, None]
    assert cells["ward"]["places"] == [3, 4, 5]
    assert cells["ward"]["parts"] == ["east", "north", "west"]
    assert [COLUMNS[place] for place in cells["admitted"]["places"]] == COLUMNS[6:]


def test_c(case, tmp_path, program):
    model, rows, said = case
    succeeded("export", model, "--c", tmp_path / "m.h")
    # Names in the header start with that of the file.
    text = (tmp_path / "m.h").read_text().replace("m_", "model_").replace("M_", "MODEL_")
    compiled = program(text, ("float", "float"), 1, ["ill", "well"])
    scores, found = compiled(rows)
    np.testing.assert_allclose(share(scores), said, atol=1e-4)
    assert np.array_equal(found[:, 0], said > 0.5)


def test_a_program_may_follow_the_guide_of_a_header(case, tmp_path, guide_output, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model, _, _ = case
    succeeded("export", model, "--c", "m.h")
    shown = {"pulse": [1.5], "weight": [np.nan], "ward": ["east"], "admitted": ["2026-12-31"]}
    said = probabilities(predicted(model, pd.DataFrame(shown)), ["ill", "well"])
    assert guide_output(Path("m.h").read_text()) == str(said[0].argmax())


def test_onnx(case, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    model, rows, said = case
    succeeded("export", model, "--onnx", tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    labels, found = session.run(None, {"X": rows})
    np.testing.assert_allclose(found[:, 1], said, atol=1e-5)
    assert np.array_equal(labels, np.where(said > 0.5, "well", "ill"))


def test_torch(case):
    torch = pytest.importorskip("torch")
    model, rows, said = case
    module = to_torch(load_predictor(model).model)
    with torch.no_grad():
        scores = module(torch.as_tensor(rows, dtype=torch.float64)).numpy()
    np.testing.assert_allclose(share(scores), said, atol=1e-5)


def test_texts_are_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = patients(300)
    words = np.random.default_rng(0).choice(["pain", "cough", "fever", "rest"], (300, 8))
    table["remark"] = [" ".join(each) for each in words]
    table.to_csv("data.csv", index=False)
    model, _ = fitted("data.csv", "--certify", "no", "--type", "remark=text")
    for output in (("--c", "m.h"), ("--json", "m.json"), ("--onnx", "m.onnx")):
        message = refused("export", model, *output)
        assert "got texts in 'remark'" in message
        assert "--type COLUMN=drop" in message
