import bisect
import json
import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification, make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

from pacfourier import FourierClassifier, FourierRegressor
from pacfourier.export import to_json

HOSTILE = (
    'say "no"',
    "back\\slash",
    "two\nlines",
    "trigraph ??/",
    "naïve 中文 😀",
    "\x01\x7f",
    "$x",
)


def classes_model(n_classes, *, piecewise=False, names=None):
    X, y = make_classification(
        400, 6, n_informative=4, n_classes=n_classes, random_state=0, shift=3.0
    )
    labels = y if names is None else np.array(names)[y]
    return FourierClassifier(7, piecewise=piecewise, alpha=1.0, random_state=0).fit(X, labels), X


def amounts_model(n_outputs=1, **options):
    X, y = make_friedman1(500, 5, random_state=0)
    table = y if n_outputs == 1 else np.column_stack([y * (k + 1) - 7 for k in range(n_outputs)])
    model = FourierRegressor(6, alpha=1.0, random_state=0, **{"piecewise": False, **options})
    return model.fit(X, table), X


MODELS = {
    "two classes": lambda: classes_model(2),
    "many classes": lambda: classes_model(4),
    "codes": lambda: classes_model(3, piecewise=True),
    "amount": amounts_model,
    "amounts": lambda: amounts_model(3),
    "coded amount": lambda: amounts_model(piecewise=True),
    "median": lambda: amounts_model(loss="absolute_error"),
}


def naive_scores(document, row):
    """The scores of one row from the JSON alone, by plain loops, as its equation says."""
    u = [value - centre for value, centre in zip(row, document["centres"], strict=True)]
    turns = [
        wave["phase"] + sum(f * x for f, x in zip(wave["turns_per_unit"], u, strict=True))
        for wave in document["waves"]
    ]
    scores = [
        c + sum(a * x for a, x in zip(slopes, u, strict=True))
        for c, slopes in zip(document["intercepts"], document["slopes"], strict=True)
    ]
    for table in document["tables"]:
        knots, value = table["knots"], row[table["column"]]
        high = min(max(bisect.bisect_right(knots, value), 1), len(knots) - 1)
        share = (value - knots[high - 1]) / (knots[high] - knots[high - 1])
        share = min(max(share, 0), 1)
        for key, target in (("phases", turns), ("scores", scores)):
            below, above = table[key][high - 1], table[key][high]
            for i in range(len(target)):
                target[i] += below[i] + share * (above[i] - below[i])
    for wave, turn in zip(document["waves"], turns, strict=True):
        for k in range(len(scores)):
            scores[k] += wave["cosine"][k] * math.cos(2 * math.pi * turn)
            scores[k] += wave["sine"][k] * math.sin(2 * math.pi * turn)
    return scores


@pytest.mark.parametrize("name", MODELS)
def test_json_evaluated_by_plain_loops_gives_the_predictions(name):
    model, X = MODELS[name]()
    document = json.loads(to_json(model))
    rows = np.vstack([X[:20], X.min(axis=0) - 1, X.max(axis=0) + 1])
    scores = np.array([naive_scores(document, row) for row in rows.tolist()])
    predict = getattr(model, "decision_function", model.predict)
    expected = predict(rows).reshape(len(rows), -1)
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    if document["classes"] is not None:
        best = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        found = np.array(document["classes"])[best.astype(int)]
        np.testing.assert_array_equal(found, model.predict(rows))


def test_json_is_ascii_and_keeps_hostile_names():
    pd = pytest.importorskip("pandas")
    X, y = make_classification(300, 7, n_informative=4, n_classes=3, random_state=0)
    frame = pd.DataFrame(X, columns=list(HOSTILE))
    classes = np.array(HOSTILE[:3])
    model = FourierClassifier(3, piecewise=False, alpha=1.0, random_state=0).fit(frame, classes[y])
    text = to_json(model)
    document = json.loads(text)
    assert text.isascii()
    assert document["columns"] == list(HOSTILE)
    assert document["classes"] == model.classes_.tolist()


def test_json_without_column_names_numbers_them():
    model, _ = MODELS["amount"]()
    assert json.loads(to_json(model))["columns"] == ["x0", "x1", "x2", "x3", "x4"]


@pytest.mark.parametrize(("name", "words"), [("amount", "amounts"), ("two classes", "second")])
def test_the_equation_says_how_to_predict(name, words):
    document = json.loads(to_json(MODELS[name]()[0]))
    assert words in document["equation"][-1]
    assert not any("table" in line for line in document["equation"])


def test_the_equation_explains_tables_if_there_are_any():
    document = json.loads(to_json(MODELS["codes"]()[0]))
    assert any("table" in line for line in document["equation"])


def test_other_estimators_are_refused():
    with pytest.raises(ValueError, match=r"must be a FourierClassifier, .* got a Ridge"):
        to_json(Ridge())


def test_an_unfitted_model_is_refused():
    with pytest.raises(NotFittedError):
        to_json(FourierClassifier())


def test_several_labels_per_row_are_refused():
    X, y = make_classification(100, 5, random_state=0)
    model = FourierClassifier(3, piecewise=False, alpha=1.0, random_state=0)
    model.fit(X, np.column_stack([y, 1 - y]))
    with pytest.raises(ValueError, match="2 labels per row"):
        to_json(model)


def test_an_encoded_frame_is_refused_and_a_numeric_one_is_not():
    pytest.importorskip("skrub")
    pd = pytest.importorskip("pandas")
    X, y = make_classification(100, 4, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = FourierClassifier(3, piecewise=False, alpha=1.0, random_state=0)
    assert json.loads(to_json(model.fit(frame, y)))["columns"] == list("abcd")
    with pytest.raises(ValueError, match="with text, categories or gaps"):
        to_json(model.fit(frame.assign(e=np.where(y, "yes", "no")), y))


@pytest.mark.parametrize(("n_columns", "is_refused"), [(40, False), (4097, True)])
def test_wide_sparse_fits_are_refused(n_columns, is_refused):
    X = sparse.random_array((80, n_columns), density=0.05, random_state=0, format="csr")
    y = np.arange(80) % 2
    model = FourierClassifier(2, alpha=1.0, random_state=0).fit(X, y)
    if is_refused:
        with pytest.raises(
            ValueError,
            match="at most 4096 columns to be exported, got a fit on sparse samples with 4097",
        ):
            to_json(model)
    else:
        assert len(json.loads(to_json(model))["columns"]) == n_columns
