import copy
import io
import subprocess
import sys
import zipfile
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import make_classification

from pacfourier import FourierClassifier, FourierModel, FourierRegressor
from pacfourier.errors import InputError
from pacfourier.tabular.model_files import _predictor_data
from pacfourier.tabular.plain_files import plain_bytes, plain_data

QUICK = {"alpha": 3.0, "random_state": 0}


def rows(n_samples=400, dtype=np.float32):
    X, y = make_classification(
        n_samples, 5, n_informative=5, n_redundant=0, n_classes=3, random_state=0
    )
    X[:, 3] = X[:, 3] > 0
    return X.astype(dtype), y


@cache
def fitted(name):
    X, y = rows(dtype=np.float64 if name == "double precision" else np.float32)
    plain = FourierClassifier(4, piecewise=False, **QUICK)
    amounts = X[:, 0] * 3 + np.sin(X[:, 1]) + 100
    models = {
        "two classes": (plain, np.array(["no", "yes"])[(y > 0) * 1]),
        "three classes": (plain, y),
        "objects": (plain, np.array(["a", "b", "ccc"], dtype=object)[y]),
        "truth values": (plain, y > 0),
        "label sets": (plain, np.column_stack([y > 0, y > 1]).astype(int)),
        "codes": (FourierClassifier(4, piecewise=True, **QUICK), y),
        "double precision": (FourierClassifier(4, piecewise=True, **QUICK), y > 0),
        "calibrated": (FourierClassifier(4, random_state=0), y > 0),
        "held out": (FourierClassifier(4, piecewise=False, certify=0.2, **QUICK), y > 0),
        "amounts": (FourierRegressor(4, piecewise=False, **QUICK), amounts),
        "coded amounts": (FourierRegressor(4, piecewise=True, loss="huber", **QUICK), amounts),
        "two amounts": (FourierRegressor(4, piecewise=False, **QUICK), X[:, :2]),
    }
    model, labels = models[name]
    return model.fit(X, labels), X


NAMES = (
    "two classes",
    "three classes",
    "objects",
    "truth values",
    "label sets",
    "codes",
    "double precision",
    "calibrated",
    "held out",
    "amounts",
    "coded amounts",
    "two amounts",
)


def through_table_file(model, folder):
    del folder
    return FourierModel.from_arrays(plain_data(plain_bytes(_predictor_data(model)), "file"))


def through_own_file(model, folder):
    model.save(folder / "model.npz")
    return FourierModel.load(folder / "model.npz")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("through", [through_table_file, through_own_file])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_stored_model_predicts_the_same_to_the_last_bit(name, through, dtype, tmp_path):
    estimator, X = fitted(name)
    found = through(estimator.model_, tmp_path)
    new = (10 * X[::-1]).astype(dtype)
    expected, again = estimator.predict(new), found.predict(new)
    np.testing.assert_array_equal(again, expected)
    assert again.dtype == expected.dtype or expected.dtype == object
    np.testing.assert_array_equal(found.scores(new), estimator._scores(new))
    if hasattr(estimator, "predict_proba"):
        np.testing.assert_array_equal(found.predict_proba(new), estimator.predict_proba(new))
        np.testing.assert_array_equal(found.classes, estimator.classes_)
    else:
        with pytest.raises(ValueError, match="link must be one of classes for probabilities"):
            found.predict_proba(new)


def test_predictions_import_neither_scikit_learn_nor_other_large_libraries(tmp_path):
    model, _ = fitted("codes")
    model.model_.save(tmp_path / "m.npz")
    code = """if True:
        import sys
        import numpy as np
        from pacfourier.model import FourierModel

        FourierModel.load(sys.argv[1]).predict_proba(np.zeros((2, 5), dtype=np.float32))
        large = {"sklearn", "pandas", "scipy.stats", "scipy.optimize", "skops", "skrub", "torch"}
        print(*large & set(sys.modules))
    """
    words = [sys.executable, "-c", code, str(tmp_path / "m.npz")]
    result = subprocess.run(words, check=False, capture_output=True, text=True)
    assert (result.returncode, result.stdout.strip(), result.stderr) == (0, "", "")


def test_column_names_are_kept(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = rows()
    model = FourierClassifier(2, piecewise=False, **QUICK).fit(
        pd.DataFrame(X, columns=[*"abcde"]), y
    )
    assert through_own_file(model.model_, tmp_path).names.tolist() == [*"abcde"]


def test_files_are_compact(tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 100)).astype(np.float32)
    model = FourierClassifier(100, piecewise=False, **QUICK).fit(X, X[:, 0] > 0).model_
    model.save(tmp_path / "m.npz")
    for size in (len(plain_bytes(_predictor_data(model))), (tmp_path / "m.npz").stat().st_size):
        assert size < 1.1 * 4 * (100 * 100)
    coded = FourierClassifier(4, piecewise=True, **QUICK).fit(X[:, :5], X[:, 0] > 0).model_
    arrays = coded.arrays()
    assert arrays["knots"].dtype == arrays["tables"].dtype == np.float32


def test_classes_that_are_more_than_texts_and_numbers_are_refused():
    model = copy.copy(fitted("three classes")[0].model_)
    object.__setattr__(model, "classes", np.array([(1,), "a", None], dtype=object))
    with pytest.raises(ValueError, match="classes must be texts or numbers"):
        model.arrays()


def refused(data):
    with pytest.raises(InputError) as caught:
        FourierModel.from_arrays(data)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 300
    return message


def test_every_part_is_needed():
    data = fitted("codes")[0].model_.arrays()
    for part in data:
        rest = {key: value for key, value in data.items() if key != part}
        assert f"must have the part {part!r}" in refused(rest)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("codes", {"link": "tree"}, "'link' must be one of .*'softmax'.*, got 'tree'"),
        ("codes", {"link": None}, "'link' must be one of"),
        ("codes", {"link": "identity"}, "'classes' must fit to 3 scores, got '3 classes'"),
        ("codes", {"origins": "abc"}, "'origins' must be an array of float32 or float64"),
        ("codes", {"origins": np.zeros(4)}, "'low' must be an array .* got \\(5,\\)"),
        ("codes", {"low": np.full(5, np.nan)}, "'low' must be smaller than 'high'"),
        ("codes", {"low": np.full(5, np.inf)}, "'low' must be smaller than 'high'"),
        ("codes", {"seen": np.arange(4)}, "'turns' must be an array"),
        ("codes", {"seen": np.array([0, 1, 2, 3, 9])}, "'seen' must be sorted numbers of columns"),
        ("codes", {"seen": np.array([1, 0, 2, 3, 4])}, "'seen' must be sorted numbers of columns"),
        ("codes", {"seen": np.arange(4), "turns": np.zeros((4, 4))}, "'knots' must be none"),
        ("codes", {"slopes": np.zeros((5, 2))}, "'slopes' must be an array"),
        ("codes", {"constants": np.zeros(3)}, "'constants' must be an array"),
        ("codes", {"cosines": np.full((4, 3), np.inf)}, "'cosines' must be finite"),
        ("codes", {"cosines": np.zeros((4, 0))}, "'cosines' must have at least one score"),
        ("codes", {"tables": np.zeros((2, 7))}, "'tables' must be an array"),
        ("codes", {"classes": ["a", "b"]}, "fit to 3 scores, got '2 classes'"),
        ("codes", {"classes": ["b", "a", "c"]}, "'classes' must be distinct and sorted"),
        ("codes", {"classes": ["a", "a", "c"]}, "'classes' must be distinct and sorted"),
        ("codes", {"classes": [1, 2, "c"]}, "'classes' must be texts, or an array of numbers"),
        ("codes", {"classes": np.full(3, np.nan)}, "'classes' must be distinct and sorted"),
        ("codes", {"names": ["a"]}, "'names' must be 5 or none"),
        ("amounts", {"unit": np.zeros(1)}, "'unit' must be positive"),
        ("amounts", {"centre": np.array([np.inf])}, "'centre' must be finite"),
        ("amounts", {"link": "logistic"}, "'classes' must fit to 1 scores, got '0 classes'"),
    ],
)
def test_forged_data_are_refused(name, change, message):
    data = fitted(name)[0].model_.arrays()
    assert FourierModel.from_arrays(data) is not None
    with pytest.raises(InputError, match=message):
        FourierModel.from_arrays(data | change)
    refused(data | change)


def test_unsorted_knots_are_refused():
    data = fitted("codes")[0].model_.arrays()
    assert "'knots' must increase" in refused(data | {"knots": data["knots"][::-1].copy()})
    for columns in (data["knot_columns"][::-1].copy(), np.arange(len(data["knots"]))):
        assert "'knot_columns' must be sorted" in refused(data | {"knot_columns": columns})


@pytest.mark.parametrize("data", [None, 3, "x", [], np.zeros(3)], ids=str)
def test_data_of_other_types_are_refused(data):
    assert "must be a dict" in refused(data)


def junk(rng, value):
    """Return something in place of a value, often much like it."""
    others = [None, -1, 10**9, 10**400, "x" * 1000, [], {}, 1e300, float("nan"), True, [[1]], "\n"]
    arrays = [np.zeros(0), np.zeros((2, 2, 2)), np.array(3.0), np.ones(10**6), np.eye(3) > 0]
    if isinstance(value, np.ndarray) and value.size and rng.random() < 0.7:
        changed = value.copy()
        wild = [np.nan, np.inf, -1, 0, 1e30, 1e38, 1e-38, 1e300] if value.dtype.kind == "f" else []
        wild += [-1, 0, 10**9, 2**62, -(2**62)] if value.dtype.kind == "i" else []
        forms = [
            changed.T,
            changed.ravel(),
            changed[:-1] if changed.ndim else changed,
            changed[::-1] if changed.ndim else changed,
            changed.astype(object),
            changed.astype(str),
        ]
        if changed.dtype.kind != "U":
            forms += [changed.astype(">f8"), changed.astype(complex)]
        if wild and rng.random() < 0.6:
            with np.errstate(over="ignore"):
                changed.flat[rng.integers(changed.size)] = wild[rng.integers(len(wild))]
            return changed
        return forms[rng.integers(len(forms))]
    options = others + arrays
    return options[rng.integers(len(options))]


def is_refused(predictions):
    """Return whether five predictions are refused in one line."""
    try:
        found = predictions()
    except InputError as error:
        return "\n" not in str(error)
    assert len(found) == 5
    return False


@pytest.mark.parametrize("name", ["codes", "two classes", "coded amounts"])
def test_corrupted_data_are_refused_or_give_a_model(name):
    """Numbers of a model that are possible, but too large, are an error when rows are scored."""
    estimator, X = fitted(name)
    data, rng = estimator.model_.arrays(), np.random.default_rng(0)
    n_refused = 0
    for _ in range(500):
        forged = copy.copy(data)
        for _ in range(rng.integers(1, 3)):
            part = list(data)[rng.integers(len(data))]
            forged[part] = junk(rng, data[part])
        with np.errstate(all="ignore"):
            n_refused += is_refused(lambda: FourierModel.from_arrays(forged).predict(X[:5]))  # noqa: B023
    assert n_refused > 250


def file_of(arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def test_files_that_hold_something_else_are_refused(tmp_path):
    data = fitted("codes")[0].model_.arrays()
    path = tmp_path / "m.npz"
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("low.npy", bytes(2**30 + 1))
    contents = {
        b"": "it is damaged",
        b"abc": "it is damaged",
        file_of(data)[:500]: "it is damaged",
        file_of({}): "must have the part 'cosines'",
        file_of(data | {"low": np.array([None] * 5)}): "an array of object",
        bomb.getvalue(): "it unpacks to 1,073,741,825 bytes",
    }
    for content, message in contents.items():
        path.write_bytes(content)
        with pytest.raises(InputError, match=message) as caught:
            FourierModel.load(path)
        assert str(caught.value).startswith("model must be a file that FourierModel.save wrote")
    with pytest.raises(InputError, match="no such file"):
        FourierModel.load(tmp_path / "other.npz")


def test_mutated_files_are_refused_or_give_a_model(tmp_path):
    estimator, X = fitted("codes")
    content, rng = file_of(estimator.model_.arrays()), np.random.default_rng(0)
    path, n_refused = tmp_path / "m.npz", 0
    for _ in range(200):
        changed = bytearray(content)
        for place in rng.integers(len(changed), size=rng.integers(1, 4)):
            changed[place] = rng.integers(256)
        path.write_bytes(changed)
        n_refused += is_refused(lambda: FourierModel.load(path).predict(X[:5]))
    assert n_refused > 100
