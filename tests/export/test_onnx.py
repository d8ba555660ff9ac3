from functools import cache

import numpy as np
import onnxruntime
import pytest
import skl2onnx
from sklearn.compose import make_column_transformer
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_friedman1,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from pacfourier import (
    OKRFF,
    PBRFF,
    RFF,
    BoostedRFF,
    FourierClassifier,
    FourierRegressor,
    GibbsRFF,
    PBLandmarks,
    RBFLandmarks,
)
from pacfourier.export import register_onnx, to_onnx
from pacfourier.spectra import RBF, Laplacian, Matern, Mixture

CLASSES = {
    "breast_cancer": load_breast_cancer,
    "wine": load_wine,
    "digits": load_digits,
    "iris": load_iris,
}
MAPS = [
    RFF(7, random_state=0),
    RFF(7, gamma="multiscale", random_state=0),
    PBRFF(7, random_state=0),
    OKRFF(7, random_state=0),
    GibbsRFF(7, random_state=0),
    BoostedRFF(4, random_state=0),
    PBLandmarks(n_landmarks=5, n_frequencies=8, random_state=0),
    *(
        RBFLandmarks(n_landmarks=5, kernel=kernel, gamma=gamma, random_state=0)
        for kernel in ("rbf", "rational_quadratic")
        for gamma in ("median", "multiscale")
    ),
]
NAMES = np.array(['a "quoted" name', "two\nlines", "Zürich, 東京"], dtype=object)


@cache
def classifier(name, codes):
    X, y = CLASSES[name](return_X_y=True)
    return FourierClassifier(8, piecewise=codes, alpha=1.0, random_state=0).fit(X, y), X


def session(onnx_model):
    content = onnx_model.SerializeToString()
    return onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])


def run(onnx_model, X):
    running = session(onnx_model)
    return running.run(None, {running.get_inputs()[0].name: X})


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("model", MAPS, ids=str)
def test_graph_of_a_map_has_its_features(model, name):
    X, y = CLASSES[name](return_X_y=True)
    X = X[::3].astype(np.float32)
    model.fit(X, y[::3])
    (found,) = run(to_onnx(model, X), X)
    assert found.dtype == np.float32
    # Double precision is the truth: our single precision may round phases by up to 1e-4.
    truth = model.transform(X.astype(np.float64))
    np.testing.assert_allclose(found, truth, atol=1e-5)
    (found,) = run(to_onnx(model, X.astype(np.float64)), X.astype(np.float64))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, truth, atol=1e-6)


@pytest.mark.parametrize("codes", [True, False])
@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize(("dtype", "atol"), [(np.float32, 1e-5), (np.float64, 1e-12)])
def test_graph_of_a_classifier_has_its_labels_and_probabilities(name, codes, dtype, atol):
    model, X = classifier(name, codes)
    X = X.astype(dtype)
    labels, probabilities = run(to_onnx(model, X), X)
    assert probabilities.dtype == dtype
    assert np.array_equal(labels, model.predict(X))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=atol)


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("codes", [True, False])
@pytest.mark.parametrize("name", ["diabetes", "friedman"])
def test_graph_of_a_regressor_has_its_amounts(name, codes, n_outputs):
    is_real = name == "diabetes"
    X, y = load_diabetes(return_X_y=True) if is_real else make_friedman1(300, random_state=0)
    y = y if n_outputs == 1 else np.column_stack([y, -2 * y + 100])
    model = FourierRegressor(8, piecewise=codes, alpha=1.0, random_state=0).fit(X, y)
    for dtype, rtol in ((np.float32, 1e-5), (np.float64, 1e-12)):
        rows = X.astype(dtype)
        (found,) = run(to_onnx(model, rows), rows)
        assert found.shape == (len(X), n_outputs)
        truth = model.predict(rows).reshape(found.shape)
        np.testing.assert_allclose(found, truth, rtol=rtol, atol=rtol * np.abs(y).max())


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["names", "integers", "truth values"])
def test_labels_of_every_kind(kind, n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes].astype(np.float32), y[y < n_classes]
    labels = {"names": NAMES[y], "integers": 10 * y - 7, "truth values": y > 0}[kind]
    model = FourierClassifier(4, alpha=1.0, piecewise=False, random_state=0).fit(X, labels)
    found, probabilities = run(to_onnx(model, X), X)
    assert np.array_equal(found, model.predict(X))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-5)


def test_label_sets():
    X, y = load_iris(return_X_y=True)
    X, sets = X.astype(np.float32), np.column_stack([y == 0, y > 0, y == 2]).astype(int)
    model = FourierClassifier(4, alpha=1.0, piecewise=False, random_state=0).fit(X, sets)
    found, probabilities = run(to_onnx(model, X), X)
    assert np.array_equal(found, model.predict(X))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-5)


def test_batch_axis_is_free_and_the_opset_is_stated():
    model, X = classifier("iris", True)
    converted = to_onnx(model, X)
    assert {each.domain: each.version for each in converted.opset_import}[""] == 18
    running = session(converted)
    name = running.get_inputs()[0].name
    for n_rows in (0, 1, 7):
        labels, probabilities = running.run(None, {name: X[:n_rows]})
        assert labels.shape == (n_rows,)
        assert probabilities.shape == (n_rows, 3)


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler()], ids=str)
def test_pipelines_of_scalers_maps_and_linear_models(scaler):
    X, y = load_breast_cancer(return_X_y=True)
    X = X.astype(np.float32)
    model = make_pipeline(scaler, PBRFF(10, random_state=0), LogisticRegression()).fit(X, y)
    labels, probabilities = run(to_onnx(model, X), X)
    assert np.array_equal(labels, model.predict(X))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-5)
    model = make_pipeline(scaler, RFF(10, random_state=0), Ridge()).fit(X, y)
    (amounts,) = run(to_onnx(model, X), X)
    np.testing.assert_allclose(amounts[:, 0], model.predict(X), atol=1e-5)


def test_pipeline_with_an_encoder():
    X, y = load_iris(return_X_y=True)
    X[:, 3] = X[:, 3].round()
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False), [3]), (StandardScaler(), [0, 1, 2])
    )
    last = FourierClassifier(4, alpha=1.0, piecewise=False, random_state=0)
    model = make_pipeline(columns, last).fit(X, NAMES[y])
    labels, probabilities = run(to_onnx(model, X), X)
    assert np.array_equal(labels, model.predict(X))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-6)


def test_registered_converters_have_the_options_of_skl2onnx():
    register_onnx()
    X, y = load_iris(return_X_y=True)
    # onnxruntime makes dictionaries of probabilities in single precision only.
    X = X.astype(np.float32)
    model = FourierClassifier(4, alpha=1.0, piecewise=False, random_state=0).fit(X, NAMES[y])
    _, dictionaries = run(skl2onnx.to_onnx(model, X[:1]), X)
    found = np.array([[row[name] for name in model.classes_] for row in dictionaries])
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-6)
    options = {id(model): {"zipmap": False, "raw_scores": True}}
    _, scores = run(skl2onnx.to_onnx(model, X[:1], options=options, target_opset=13), X)
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-5)
    options = {id(model): {"zipmap": False, "nocl": True}}
    numbers, _ = run(skl2onnx.to_onnx(model, X[:1], options=options), X)
    assert np.array_equal(model.classes_[numbers], model.predict(X))


def test_integers_are_read_as_single_precision():
    X, y = load_digits(return_X_y=True)
    model = classifier("digits", False)[0]
    labels, _ = run(to_onnx(model, X.astype(np.int64)), X.astype(np.int64))
    assert np.mean(labels == model.predict(X)) == 1
    assert len(labels) == len(y)


def test_knots_that_agree_in_single_precision_make_a_step():
    rng = np.random.default_rng(0)
    column = np.where(rng.random(300) < 0.5, 1.0, 1.0 + 1e-12) + (rng.random(300) < 0.3)
    X = np.column_stack([column, rng.normal(size=300)])
    model = FourierClassifier(3, piecewise=True, alpha=1.0, random_state=0)
    model.fit(X, X[:, 1] + X[:, 0] > 1.2)
    rows = X.astype(np.float32)
    _, probabilities = run(to_onnx(model, rows), rows)
    assert np.isfinite(probabilities).all()


def test_rows_far_outside_the_knots():
    rng = np.random.default_rng(0)
    # Dense in the middle, so that some intervals are narrow and their slopes steep.
    X = rng.standard_t(2, size=(500, 3)) + np.array([0, 0, 50])
    model = FourierClassifier(5, piecewise=True, alpha=1.0, random_state=0)
    model.fit(X, np.abs(X[:, 0]) + X[:, 1] > 1)
    rows = np.vstack([X, 100 + X, X - 100]).astype(np.float32)
    _, probabilities = run(to_onnx(model, rows), rows)
    truth = model.predict_proba(rows.astype(np.float64))
    assert truth.std() > 0.1
    np.testing.assert_allclose(probabilities, truth, atol=1e-5)


@pytest.mark.parametrize(("shift", "n_subtractions"), [(0.0, 0), (1e4, 1)])
def test_origins_are_subtracted_only_if_columns_are_far_from_zero(shift, n_subtractions):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(np.float32) + np.float32(shift)
    model = FourierClassifier(5, piecewise=False, alpha=1.0, random_state=0)
    model.fit(X, X[:, 0] > X[:, 1])
    converted = to_onnx(model, X)
    assert [node.op_type for node in converted.graph.node].count("Sub") == n_subtractions
    _, probabilities = run(converted, X)
    truth = model.predict_proba(X.astype(np.float64))
    np.testing.assert_allclose(probabilities, truth, atol=1e-5)


def test_what_cannot_be_expressed_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NotFittedError):
        to_onnx(FourierRegressor(), X)
    for kernel in (Matern(1.0, 2.5), Laplacian(1.0), Mixture([RBF(1.0), Laplacian(1.0)])):
        model = RBFLandmarks(n_landmarks=5, kernel=kernel).fit(X, y)
        with pytest.raises(ValueError, match=r"^kernel must be RBF, .*: fit RBFLandmarks with"):
            to_onnx(model, X)


def test_fits_on_frames_with_gaps_are_refused():
    pd = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.loc[3, "a"] = np.nan
    model = FourierClassifier(3, alpha=1.0, piecewise=False, random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match=r"fitted on numbers .* encode the columns"):
        to_onnx(model, X)
