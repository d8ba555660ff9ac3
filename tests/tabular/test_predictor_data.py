import copy
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification

from pacfourier import FourierClassifier, FourierRegressor
from pacfourier.errors import InputError
from pacfourier.tabular.plain_files import plain_bytes, plain_data
from pacfourier.tabular.predictor_data import moved_predictor, predictor_data, predictor_of
from pacfourier.tabular.stored_predictor import stored_predictor

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


def through_bytes(data):
    return plain_data(plain_bytes(data), "file")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_stored_predictor_predicts_the_same_to_the_last_bit(name, dtype):
    model, X = fitted(name)
    found = predictor_of(through_bytes(predictor_data(model)))
    assert type(found) is type(model)
    new = (10 * X[::-1]).astype(dtype)
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, method):
            expected, again = getattr(model, method)(new), getattr(found, method)(new)
            assert expected.dtype == again.dtype
            np.testing.assert_array_equal(expected, again)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_predictions_without_scikit_learn_are_the_same_to_the_last_bit(name, dtype):
    model, X = fitted(name)
    found = stored_predictor(through_bytes(predictor_data(model)))
    new = (10 * X[::-1]).astype(dtype)
    np.testing.assert_array_equal(found.predict(new), model.predict(new))
    assert hasattr(found, "predict_proba") is hasattr(model, "predict_proba")
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(found.predict_proba(new), model.predict_proba(new))
        np.testing.assert_array_equal(found.classes_, model.classes_)
    with pytest.raises(ValueError, match=r"X must have 5 columns as in the fit, got \(400, 2\)"):
        found.predict(new[:, :2])


def test_predictions_import_neither_scikit_learn_nor_other_large_libraries(tmp_path):
    model, _ = fitted("codes")
    (tmp_path / "m.skops").write_bytes(plain_bytes(predictor_data(model)))
    code = """if True:
        import sys
        from pathlib import Path
        import numpy as np
        import pacfourier.tabular.encoding
        from pacfourier.tabular.plain_files import plain_data
        from pacfourier.tabular.stored_predictor import stored_predictor

        data = plain_data(Path(sys.argv[1]).read_bytes(), "file")
        stored_predictor(data).predict_proba(np.zeros((2, 5), dtype=np.float32))
        late = {"sklearn", "scipy.stats", "scipy.optimize", "skops", "skrub", "matplotlib", "torch"}
        print(*late & set(sys.modules))
    """
    words = [sys.executable, "-c", code, str(tmp_path / "m.skops")]
    result = subprocess.run(words, check=False, capture_output=True, text=True)
    assert (result.returncode, result.stdout.strip(), result.stderr) == (0, "", "")


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_predictor_is_fitted(name):
    model, X = fitted(name)
    found = predictor_of(predictor_data(model))
    for attribute in ("n_features_in_", "alpha_", "piecewise_", "frequencies_", "cosines_"):
        np.testing.assert_array_equal(getattr(found, attribute), getattr(model, attribute))
    for attribute in ("sines_", "linear_", "intercept_"):
        np.testing.assert_array_equal(getattr(found, attribute), getattr(model, attribute))
    if hasattr(model, "classes_"):
        np.testing.assert_array_equal(found.classes_, model.classes_)
        assert found.classes_.dtype == model.classes_.dtype
    assert found.get_params()["n_frequencies"] == 4
    assert not hasattr(found, "certificate_")
    with pytest.raises(ValueError, match="features"):
        found.predict(X[:, :2])
    again = clone(found).set_params(alpha=3.0, piecewise=False)
    assert again.fit(X, model.predict(X)).n_features_in_ == X.shape[1]


def test_the_data_are_compact():
    X = np.random.default_rng(0).normal(size=(300, 100)).astype(np.float32)
    model = FourierClassifier(100, piecewise=False, **QUICK).fit(X, X[:, 0] > 0)
    assert len(plain_bytes(predictor_data(model))) < 1.1 * 4 * (100 * 100)
    coded = FourierClassifier(4, piecewise=True, **QUICK).fit(X[:, :5], X[:, 0] > 0)
    assert predictor_data(coded)["knots"].dtype == np.float32


def test_a_moved_predictor_reads_moved_rows():
    offsets = np.array([1000.0, -3.0, 0.0, 1.0, 0.5])
    for name in ("two classes", "codes", "coded amounts"):
        model, X = fitted(name)
        rows = X.astype(np.float64)
        moved = moved_predictor(predictor_of(predictor_data(model)), offsets)
        expected = model._scores(rows)
        np.testing.assert_allclose(moved._scores(rows + offsets), expected, atol=1e-9)
        np.testing.assert_array_equal(model._scores(rows), expected)


def test_models_that_are_more_than_arrays_are_refused():
    pd = pytest.importorskip("pandas")
    X, y = rows()
    frame = pd.DataFrame(X)
    frame.loc[0, 0] = np.nan
    model = FourierClassifier(4, piecewise=False, **QUICK).fit(frame, y)
    with pytest.raises(ValueError, match="encode the columns before the fit"):
        predictor_data(model)
    model = copy.copy(fitted("three classes")[0])
    model.classes_ = np.array([(1,), "a", None], dtype=object)
    with pytest.raises(ValueError, match="classes must be texts or numbers"):
        predictor_data(model)


def refused(data):
    with pytest.raises(InputError) as caught:
        predictor_of(data)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 300
    return message


def test_every_part_is_needed():
    for name in ("codes", "amounts"):
        data = predictor_data(fitted(name)[0])
        for part in data:
            rest = {key: value for key, value in data.items() if key != part}
            assert f"must have the part {part!r}" in refused(rest)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("codes", {"kind": "tree"}, "'kind' must be one of classifier, regressor, got 'tree'"),
        ("codes", {"alpha": -1.0}, "'alpha' must be a positive number, got -1.0"),
        ("codes", {"alpha": float("nan")}, "'alpha' must be a positive number"),
        ("codes", {"alpha": 10**400}, "'alpha' must be a positive number"),
        ("codes", {"coded": 1}, "'coded' must be True or False, got 1"),
        ("codes", {"units": "abc"}, "'units' must be an array of float64"),
        ("codes", {"units": np.zeros(5)}, "'units' must be positive"),
        ("codes", {"units": np.full(5, np.nan)}, "'units' must be positive"),
        ("codes", {"units": np.full(5, 1e-300)}, "numbers of single precision"),
        ("codes", {"units": np.ones(4)}, "'coded_columns' must be sorted numbers of columns"),
        ("codes", {"units": np.zeros(0)}, "'units' must be positive"),
        ("codes", {"centres": np.zeros(7)}, "'centres' must be an array .* got \\(7,\\)"),
        ("codes", {"n_knots": np.array([10**18] * 4)}, "'n_knots' must be at least 2"),
        ("codes", {"n_knots": np.array([-1, 1, 1, 1])}, "'n_knots' must be at least 2"),
        ("codes", {"coded_columns": np.array([3, 2, 1, 0])}, "sorted numbers of columns"),
        ("codes", {"coded_columns": np.array([0, 1, 2, 10**9])}, "sorted numbers of columns"),
        ("codes", {"coded_columns": np.array([-1, 0, 1, 2])}, "sorted numbers of columns"),
        ("codes", {"frequencies": np.zeros((0, 5))}, "'frequencies' must be an array"),
        ("codes", {"intercepts": np.zeros(0)}, "at least one output"),
        ("codes", {"cosines": np.full((4, 3), np.inf)}, "'cosines' must be finite"),
        ("codes", {"cosines": np.full((4, 3), 1e300)}, "numbers of single precision"),
        ("codes", {"classes": ["a", "b"]}, "fit to 3 outputs, got '2 classes'"),
        ("codes", {"classes": ["b", "a", "c"]}, "'classes' must be distinct and sorted"),
        ("codes", {"classes": ["a", "a", "c"]}, "'classes' must be distinct and sorted"),
        ("codes", {"classes": [1, 2, "c"]}, "a list of texts or an array"),
        ("codes", {"classes": np.full(3, np.nan)}, "'classes' must be distinct and sorted"),
        ("codes", {"has_label_sets": None}, "'has_label_sets' must be True or False"),
        ("amounts", {"loss": "none"}, "'loss' must be one of squared_error"),
        ("amounts", {"label_unit": np.zeros(1)}, "'label_unit' must be positive"),
        ("amounts", {"label_centre": np.array([np.inf])}, "'label_centre' must be finite"),
        ("two amounts", {"is_flat": True}, "'is_flat' must be False with 2 outputs"),
    ],
)
def test_forged_data_are_refused(name, change, message):
    data = predictor_data(fitted(name)[0])
    assert predictor_of(data) is not None
    with pytest.raises(InputError, match=message):
        predictor_of(data | change)
    refused(data | change)


def test_unsorted_knots_are_refused():
    data = predictor_data(fitted("codes")[0])
    assert "'knots' must increase" in refused(data | {"knots": data["knots"][::-1].copy()})


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
            changed[:-1],
            changed[::-1],
            changed.astype(">f8"),
            changed.astype(object),
            changed.astype(complex),
            changed.astype(str),
        ]
        if wild and rng.random() < 0.6:
            with np.errstate(over="ignore"):
                changed.flat[rng.integers(changed.size)] = wild[rng.integers(len(wild))]
            return changed
        return forms[rng.integers(len(forms))]
    options = others + arrays
    return options[rng.integers(len(options))]


@pytest.mark.parametrize("name", ["codes", "two classes", "coded amounts"])
def test_corrupted_data_are_refused_or_give_a_predictor(name):
    model, X = fitted(name)
    data, rng = predictor_data(model), np.random.default_rng(0)
    n_refused = 0
    for _ in range(500):
        forged = copy.copy(data)
        for _ in range(rng.integers(1, 3)):
            part = list(data)[rng.integers(len(data))]
            forged[part] = junk(rng, data[part])
        message = error_of(forged)
        if message:
            assert "\n" not in message
            n_refused += 1
        else:
            with np.errstate(all="ignore"):
                assert len(predictor_of(forged).predict(X[:5])) == 5
    assert n_refused > 250


def error_of(data):
    try:
        predictor_of(data)
    except InputError as error:
        return str(error)
    return ""
