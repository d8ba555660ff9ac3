"""Predictors learn from tensors what they learn from arrays."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_multilabel_classification

torch = pytest.importorskip("torch")

from pacfourier import BoostedRFF, FourierClassifier, FourierRegressor  # noqa: E402
from pacfourier.core.boosting.columns import described_columns  # noqa: E402
from pacfourier.core.boosting.cosine_model import (  # noqa: E402
    CosineModel,
    Penalties,
    square_losses,
)
from pacfourier.core.boosting.descent import (  # noqa: E402
    Decays,
    Descent,
    Labelled,
    passes_over,
)

DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()
X, Y = load_iris(return_X_y=True)


@pytest.fixture(params=DEVICES)
def device(request):
    return torch.device(request.param)


def predictor(kind=FourierClassifier, **parameters):
    return kind(5, **{"alpha": 1.0, "piecewise": False, "random_state": 0, **parameters})


def predictions(model, rows):
    """Return probabilities, or amounts."""
    found = model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)
    return found if isinstance(found, np.ndarray) else found.cpu().numpy()


@pytest.mark.parametrize("kind", [FourierClassifier, FourierRegressor])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "parameters", [{}, {"piecewise": True}, {"piecewise": "auto", "certify": 0.3}]
)
def test_tensors_teach_what_arrays_teach(kind, dtype, parameters, device):
    """On the CPU exactly. On a GPU 2000 steps amplify the rounding of sums in single precision."""
    rows = X.astype(dtype)
    expected = predictor(kind, duplicates="genuine", **parameters).fit(rows, Y)
    tensor = torch.tensor(rows, device=device)
    model = predictor(kind, duplicates="genuine", **parameters).fit(tensor, torch.tensor(Y))
    assert model.piecewise_ == expected.piecewise_
    np.testing.assert_allclose(
        predictions(model, tensor),
        predictions(expected, rows),
        rtol=0,
        atol=1e-6 if device.type == "cpu" else 0.02,
    )


def test_the_steps_on_tensors_are_those_on_arrays(device, rng):
    """Twenty steps, before rounding is amplified: sums of 40 terms in single precision."""
    found = []
    rows = rng.standard_normal((120, 3)).astype(np.float32)
    labels, ones = rng.standard_normal((120, 2)).astype(np.float32), np.ones(120, np.float32)
    start = CosineModel.constant(3, np.zeros(2)).sloped().extended(rng.standard_normal((4, 3)))
    for each in (rows, torch.tensor(rows, device=device)):
        descent = Descent.start(start, square_losses, Decays(0.5, 0.1, 0.1))
        for _ in range(20):
            descent.move(Labelled(each, labels, ones), 0.01)
        found.append(descent.model.packed())
    np.testing.assert_allclose(*found, rtol=0, atol=1e-4)


def test_passes_over_tensors_are_those_over_arrays(device, rng):
    """Twenty steps with decays and penalties, on mini-batches of 40 rows."""
    found = []
    rows = rng.standard_normal((120, 3)).astype(np.float32)
    labels, ones = rng.standard_normal((120, 2)).astype(np.float32), np.ones(120, np.float32)
    start = CosineModel.constant(3, np.zeros(2)).sloped().extended(rng.standard_normal((4, 3)))
    for each in (rows, torch.tensor(rows, device=device)):
        descent = Descent.start(start, square_losses, Decays(0.5, 0.1, 0.1), Penalties(0.3, 0.7))
        losses = [
            descent.pass_over(Labelled(each, labels, ones), np.arange(120), 40, lambda _: 0.01)
            for _ in range(7)
        ]
        found.append([*descent.model.packed(), *losses])
    np.testing.assert_allclose(*found, rtol=0, atol=1e-4)


def passes(rows, monkeypatch, fewest):
    """Return the model and the losses of two passes of 17 whole mini-batches and a smaller one."""
    monkeypatch.setattr("pacfourier.tensors.boosting.descent._FEWEST_RECORDED", fewest)
    rng = np.random.default_rng(0)
    labels, ones = rng.standard_normal((700, 2)).astype(np.float32), np.ones(700, np.float32)
    start = CosineModel.constant(3, np.zeros(2)).sloped().extended(rng.standard_normal((4, 3)))
    descent = Descent.start(start, square_losses, Decays(0.5, 0.1, 0.1), Penalties(0.3, 0.7))
    orders = [rng.permutation(700) for _ in range(2)]
    losses = list(
        passes_over(
            rows, descent, Labelled(rows, labels, ones), orders, 40, lambda t: 0.01 / (1 + t)
        )
    )
    assert descent.step == 36
    return [*descent.model.packed(), *descent.second.packed(), *losses]


def test_recorded_steps_are_those_on_arrays(device, monkeypatch, rng):
    """On CUDA, recorded steps are the same as launched ones, too."""
    rows = rng.standard_normal((700, 3)).astype(np.float32)
    tensor = torch.tensor(rows, device=device)
    recorded = passes(tensor, monkeypatch, fewest=2)
    np.testing.assert_allclose(recorded, passes(rows, monkeypatch, fewest=2), rtol=0, atol=1e-4)
    launched = passes(tensor, monkeypatch, fewest=1000)
    np.testing.assert_allclose(recorded, launched, rtol=0, atol=1e-4)


def test_a_large_tensor_is_boosted_as_its_array(device, monkeypatch, rng):
    """Mini-batches of an array on the host. Elsewhere, rounding is amplified by many steps."""
    monkeypatch.setattr("pacfourier.estimators.boosted_rff.LARGE_SAMPLE", 400)
    monkeypatch.setattr("pacfourier.estimators.training._START_ROWS", 300)
    rows = rng.standard_normal((500, 12))
    labels = (rows[:, 0] > 0).astype(int)
    model = BoostedRFF(4, random_state=0)
    expected = model.fit(rows, labels).kernel_matrix(rows)
    found = model.fit(torch.tensor(rows, device=device), labels).kernel_matrix(rows)
    atol = 1e-6 if device.type == "cpu" else 0.2
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


def test_what_is_returned_lies_beside_the_tensor(device):
    tensor = torch.tensor(X, device=device, dtype=torch.float32)
    classifier = predictor().fit(tensor, Y)
    amounts = predictor(FourierRegressor).fit(tensor, Y).predict(tensor)
    for found in (classifier.predict_proba(tensor), classifier.decision_function(tensor), amounts):
        assert (found.device.type, found.dtype) == (device.type, torch.float32)
    # Classes may be strings, so they are always an array.
    assert isinstance(classifier.predict(tensor), np.ndarray)


def test_label_sets_and_weights_may_be_tensors(device):
    rows, labels = make_multilabel_classification(200, random_state=0)
    weights = np.arange(200) % 3
    expected = predictor().fit(rows, labels, sample_weight=weights)
    tensors = [torch.tensor(each, device=device) for each in (rows, labels, weights)]
    model = predictor().fit(*tensors)
    np.testing.assert_allclose(
        predictions(model, tensors[0]), predictions(expected, rows), rtol=0, atol=0.01
    )


@pytest.mark.parametrize("coded", [False, True])
def test_columns_of_tensors_are_those_of_arrays(coded, device, rng):
    rows = np.column_stack([rng.gamma(2, size=300), np.resize([1.0, 5], 300), np.full(300, 0.1)])
    copies = rng.uniform(0.5, 1.5, 300)
    expected = described_columns(rows, copies, coded=coded)
    found = described_columns(torch.tensor(rows, device=device), copies, coded=coded)
    np.testing.assert_allclose(found.units, expected.units, rtol=1e-12)
    np.testing.assert_allclose(found.centres, expected.centres, atol=1e-12)
    assert found.knots.keys() == expected.knots.keys()
    inputs = found.inputs(torch.tensor(rows, device=device)).cpu().numpy()
    np.testing.assert_allclose(inputs, expected.inputs(rows), atol=1e-12)
