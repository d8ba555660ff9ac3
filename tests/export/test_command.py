import json

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import Ridge
from tests.export.test_formula import MODELS
from tests.export.test_table_models import saved as saved_table

from pacfourier import FourierClassifier
from pacfourier.export import to_c, to_json
from pacfourier.export.predictor_files import load_predictor
from pacfourier.tabular.encoding import learned_encoding

runner = pytest.importorskip("typer.testing").CliRunner()


@pytest.fixture
def invoke():
    from pacfourier.cli import app

    return lambda *words: runner.invoke(app, ["export", *map(str, words)])


def saved(model, path, X):
    """Write a model of the table with the rows X, whose columns are numbers."""
    frame = pd.DataFrame(X, columns=[f"x{number}" for number in range(X.shape[1])])
    encoding = learned_encoding(frame, dict.fromkeys(frame, "number"), 0)
    return saved_table(path, encoding, model)


@pytest.mark.parametrize("name", ["two classes", "codes", "amount"])
def test_the_command_writes_what_the_functions_return(invoke, tmp_path, name):
    model, X = MODELS[name]()
    path = saved(model, tmp_path / "m.skops", X)
    header, formula = tmp_path / "m.h", tmp_path / "m.json"
    result = invoke(path, "--c", header, "--json", formula)
    assert result.exit_code == 0, result.output
    # Names in the header start with that of the file.
    found = load_predictor(path)
    model, row = found
    assert header.read_text() == to_c(model, prefix="m", table_row=row)
    assert json.loads(formula.read_text()) == json.loads(to_json(model, table_row=row))


@pytest.mark.parametrize("name", ["two classes", "amount"])
def test_the_command_writes_onnx(invoke, tmp_path, name):
    onnxruntime = pytest.importorskip("onnxruntime")
    model, X = MODELS[name]()
    source, path = saved(model, tmp_path / "m.skops", X), tmp_path / "m.onnx"
    result = invoke(source, "--onnx", path)
    assert result.exit_code == 0, result.output
    rows = X.astype(np.float32)
    predictions = onnxruntime.InferenceSession(path.read_bytes()).run(None, {"X": rows})[0]
    found, _ = load_predictor(source)
    expected = found.predict(rows)
    if name == "amount":
        np.testing.assert_allclose(predictions.ravel(), expected, rtol=1e-4, atol=1e-4)
    else:
        assert np.mean(predictions == expected) == 1.0


def test_certified_models_are_exported(invoke, tmp_path):
    model, X = MODELS["two classes"]()
    y = model.predict(X)
    certified = FourierClassifier(3, piecewise=False, certify=0.3, random_state=0).fit(X, y)
    result = invoke(saved(certified, tmp_path / "m.skops", X), "--c", tmp_path / "m.h")
    assert result.exit_code == 0, result.output


def refusal(result):
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    return result.stderr


def test_an_output_is_needed(invoke, tmp_path):
    assert "pass --c, --json or --onnx" in refusal(invoke(tmp_path / "m.skops"))


def test_wrong_suffixes_and_missing_files_are_refused(invoke, tmp_path):
    assert "must end in .h" in refusal(invoke(tmp_path / "m.skops", "--c", tmp_path / "m.c"))
    assert "no such file" in refusal(invoke(tmp_path / "m.skops", "--c", tmp_path / "m.h"))


def test_files_with_other_contents_are_refused(invoke, tmp_path):
    out = ("--json", tmp_path / "m.json")
    (tmp_path / "bad.skops").write_text("not a zip")
    assert "must be a file that 'pacfourier fit' wrote" in refusal(
        invoke(tmp_path / "bad.skops", *out)
    )
    for name, model in (("Ridge", Ridge()), ("FourierClassifier", MODELS["two classes"]()[0])):
        path = tmp_path / f"{name}.skops"
        path.write_bytes(skops.io.dumps(model))
        assert f"{name}', which is not plain data" in refusal(invoke(path, *out))
    assert not (tmp_path / "m.json").exists()


def test_a_model_that_cannot_be_expressed_is_refused_by_name(invoke, tmp_path):
    model, X = MODELS["two classes"]()
    y = model.predict(X)
    sets = FourierClassifier(3, piecewise=False, alpha=1.0, random_state=0)
    path = saved(sets.fit(X, np.column_stack([y, 1 - y])), tmp_path / "m.skops", X)
    assert "2 labels per row" in refusal(invoke(path, "--c", tmp_path / "m.h"))
