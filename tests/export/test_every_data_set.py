"""ONNX and torch have our outputs on every data set that the predictors are measured on."""

from functools import cache

import numpy as np
import onnxruntime
import pytest
import torch
from benchmarks.predictors_data import SETS
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.pipeline import make_pipeline

from pacfourier import PBRFF, RFF, FourierClassifier, FourierRegressor
from pacfourier.export import to_onnx, to_torch

EMBEDDED = ("breast", "wine", "digits", "diabetes", "friedman1", "friedman2", "friedman3")
WIDE = "farm"
# Columns of images and of the advertisements are not coded, by default either.
CODED = (*EMBEDDED, "adult")
PREDICTORS = [(name, False) for name in SETS if name != WIDE] + [(name, True) for name in CODED]
MAPS = [RFF(7, random_state=0), PBRFF(7, n_candidates=500, random_state=0)]
N_LEARNED, N_ROWS = 1000, 300
SINGLE, DOUBLE = 1e-5, 1e-9


@cache
def parts(name):
    """Return a few rows to learn from, their labels, and other rows in single precision."""
    rows, _, is_amount, _ = SETS[name]()
    order = np.random.default_rng(0).permutation(len(rows.y))
    some = order[: min(N_LEARNED, len(order) // 2)]
    others = order[len(some) : len(some) + N_ROWS]
    return rows.X[some], rows.y[some], rows.X[others].astype(np.float32), is_amount


@pytest.fixture
def name(request):
    """Return the name of a data set, if its files are there."""
    if request.param not in EMBEDDED:
        request.getfixturevalue("data_folder")
    return request.param


def dense(X):
    return X.toarray() if hasattr(X, "toarray") else X


def run(model, X):
    session = onnxruntime.InferenceSession(
        to_onnx(model, X).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {session.get_inputs()[0].name: X})


def outputs(call, X):
    with torch.no_grad():
        return call(torch.as_tensor(X)).numpy()


@pytest.mark.parametrize(("name", "codes"), PREDICTORS, indirect=["name"])
def test_predictors(name, codes):
    X, y, rows, is_amount = parts(name)
    kind = FourierRegressor if is_amount else FourierClassifier
    model = kind(8, piecewise=codes, alpha=1.0, random_state=0).fit(X, y)
    largest = np.abs(y).max() if is_amount else 1.0
    ours = model.predict if is_amount else model.predict_proba
    found = run(model, rows)[-1]
    assert found.dtype == np.float32
    exact = rows.astype(np.float64)
    truth = ours(exact)
    np.testing.assert_allclose(found.reshape(truth.shape), truth, atol=SINGLE * largest)
    module = to_torch(model)
    theirs = module if is_amount else module.predict_proba
    np.testing.assert_allclose(outputs(theirs, exact), truth, atol=DOUBLE * largest)
    module.float()
    np.testing.assert_allclose(outputs(theirs, rows), truth, atol=SINGLE * largest)


@pytest.mark.parametrize("name", SETS, indirect=True)
@pytest.mark.parametrize("model", MAPS, ids=str)
def test_maps(name, model):
    X, y, rows, is_amount = parts(name)
    # Amounts that are whole numbers would be read as classes.
    model.fit(X, y - y.mean() if is_amount else y)
    rows = dense(rows)
    exact = rows.astype(np.float64)
    truth = model.transform(exact)
    np.testing.assert_allclose(run(model, rows)[0], truth, atol=SINGLE)
    np.testing.assert_allclose(outputs(to_torch(model), exact), truth, atol=DOUBLE)


@pytest.mark.parametrize("name", [WIDE], indirect=True)
def test_predictor_of_a_wide_table_needs_chosen_columns(name):
    X, y, rows, _ = parts(name)
    model = FourierClassifier(8, piecewise=False, alpha=1.0, random_state=0)
    model.fit(X, y)
    for export in (to_torch, lambda wide: to_onnx(wide, dense(rows[:1]))):
        with pytest.raises(ValueError, match=r"at most 4096 columns .* with 54877 columns"):
            export(model)
    pipeline = make_pipeline(SelectKBest(chi2, k=500), model).fit(X, y)
    labels, probabilities = run(pipeline, dense(rows))
    assert np.array_equal(labels, pipeline.predict(rows))
    np.testing.assert_allclose(probabilities, pipeline.predict_proba(rows), atol=SINGLE)
