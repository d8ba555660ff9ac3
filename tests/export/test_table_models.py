import json

import numpy as np
import pandas as pd
import pytest
import skops.io

from pacfourier import FourierClassifier, FourierRegressor
from pacfourier.errors import InputError
from pacfourier.export import to_c, to_json
from pacfourier.export.predictor_files import load_predictor
from pacfourier.tabular.encoding import learned_encoding
from pacfourier.tabular.model_files import _predictor_data
from pacfourier.tabular.plain_files import TABLE_FORMAT, plain_bytes


def table_model(is_regression=False):
    """Return a frame, its encoding, and a predictor that reads encoded rows."""
    rng = np.random.default_rng(0)
    age = rng.normal(40, 10, 300)
    job = pd.array(rng.choice(["nurse", "teacher"], 300), dtype="str")
    frame = pd.DataFrame({"age": np.where(rng.random(300) < 0.1, np.nan, age), "job": job})
    encoding = learned_encoding(frame, {"age": "number", "job": "category"}, 0)
    rows = encoding.encoded(frame)
    if is_regression:
        model = FourierRegressor(3, piecewise=True, alpha=3.0, random_state=0).fit(rows, age)
    else:
        model = FourierClassifier(3, piecewise=False, alpha=3.0, random_state=0)
        model.fit(rows, np.where(age > 40, "old", "young"))
    return frame, encoding, model


def saved(path, encoding, model, changes=None):
    data = {
        "format": TABLE_FORMAT,
        "predictor": _predictor_data(model.model_),
        "encoding": encoding.to_data(),
        "record": {"seconds": 1.0},
    }
    path.write_bytes(plain_bytes(data | (changes or {})))
    return path


@pytest.mark.parametrize("is_regression", [False, True])
def test_the_exported_columns_are_the_encoded_ones_with_numbers_as_in_the_table(
    tmp_path, is_regression
):
    frame, encoding, model = table_model(is_regression)
    found, _ = load_predictor(saved(tmp_path / "m.skops", encoding, model))
    assert found.names.tolist() == encoding.names
    assert encoding.names == ["age", "age is missing", "job = nurse", "job = teacher"]
    assert json.loads(to_json(found))["columns"] == encoding.names
    assert '"job = nurse"' in to_c(found)
    rows = pd.DataFrame(
        {
            "age": frame["age"].fillna(frame["age"].median()),
            "age is missing": frame["age"].isna() * 1.0,
            "job = nurse": (frame["job"] == "nurse") * 1.0,
            "job = teacher": (frame["job"] == "teacher") * 1.0,
        }
    )
    expected = model._scores(encoding.encoded(frame).astype(np.float64))
    np.testing.assert_allclose(found.scores(rows), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "pacfourier table 99"}, "'format' must be one of pacfourier table 2"),
        ({"predictor": None}, "predictor must be a dict"),
        ({"encoding": {"numbers": 1, "others": []}}, "encoding must be a dict"),
    ],
)
def test_forged_models_are_refused(tmp_path, changes, message):
    _, encoding, model = table_model()
    path = saved(tmp_path / "m.skops", encoding, model, changes)
    with pytest.raises(InputError, match=message) as caught:
        load_predictor(path)
    assert "\n" not in str(caught.value)


def test_a_model_whose_parts_do_not_fit_is_refused(tmp_path):
    _, _, model = table_model()
    other = learned_encoding(pd.DataFrame({"age": [1.0, 2.0]}), {"age": "number"}, 0)
    with pytest.raises(InputError, match="'encoding' must have 4 columns, got 1"):
        load_predictor(saved(tmp_path / "m.skops", other, model))


@pytest.mark.parametrize("data", [{"a": 1}, [1, 2], ()], ids=str)
def test_other_plain_files_are_refused(tmp_path, data):
    path = tmp_path / "m.skops"
    path.write_bytes(skops.io.dumps(data))
    with pytest.raises(InputError, match="model must be a file that 'pacfourier fit' wrote"):
        load_predictor(path)


def test_files_of_objects_are_refused(tmp_path):
    _, _, model = table_model()
    path = tmp_path / "m.skops"
    path.write_bytes(skops.io.dumps(model))
    with pytest.raises(InputError, match="FourierClassifier', which is not plain data"):
        load_predictor(path)
