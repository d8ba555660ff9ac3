from functools import cache

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_friedman1,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

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
from pacfourier.export import to_torch

CLASSES = {
    "breast_cancer": load_breast_cancer,
    "wine": load_wine,
    "digits": load_digits,
    "iris": load_iris,
}
AMOUNTS = {
    "diabetes": lambda return_X_y: load_diabetes(return_X_y=return_X_y),
    "friedman": lambda return_X_y: make_friedman1(300, random_state=0),  # noqa: ARG005
}
MAPS = [
    RFF(7, random_state=0),
    PBRFF(7, random_state=0),
    OKRFF(7, random_state=0),
    GibbsRFF(7, random_state=0),
    BoostedRFF(4, random_state=0),
]


@cache
def classifier(name, codes):
    X, y = CLASSES[name](return_X_y=True)
    return FourierClassifier(8, piecewise=codes, alpha=1.0, random_state=0).fit(X, y), X


@cache
def regressor(name, codes, n_outputs):
    X, y = AMOUNTS[name](return_X_y=True)
    y = y if n_outputs == 1 else np.column_stack([y, -2 * y + 100])
    return FourierRegressor(8, piecewise=codes, alpha=1.0, random_state=0).fit(X, y), X


def outputs(module, X):
    with torch.no_grad():
        return module(torch.as_tensor(X)).numpy()


@pytest.mark.parametrize("codes", [True, False])
@pytest.mark.parametrize("name", CLASSES)
def test_module_of_a_classifier_has_its_scores_and_probabilities(name, codes):
    model, X = classifier(name, codes)
    module = to_torch(model)
    np.testing.assert_allclose(outputs(module, X), model.decision_function(X), atol=1e-9)
    found = module.predict_proba(torch.as_tensor(X)).detach().numpy()
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-9)
    single = module.float()
    found = single.predict_proba(torch.as_tensor(X, dtype=torch.float32)).detach().numpy()
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("codes", [True, False])
@pytest.mark.parametrize("name", AMOUNTS)
def test_module_of_a_regressor_has_its_amounts(name, codes, n_outputs):
    model, X = regressor(name, codes, n_outputs)
    np.testing.assert_allclose(outputs(to_torch(model), X), model.predict(X), rtol=1e-9)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("model", MAPS, ids=str)
def test_module_of_a_map_has_its_features(model, name):
    X, y = CLASSES[name](return_X_y=True)
    X = (X[::3] - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-3)
    model.fit(X, y[::3])
    np.testing.assert_allclose(outputs(to_torch(model), X), model.transform(X), atol=1e-6)


def test_label_sets_have_scores_and_probabilities():
    X, y = load_iris(return_X_y=True)
    labels = np.column_stack([y == 0, y > 0]).astype(int)
    model = FourierClassifier(4, alpha=1.0, piecewise=False, random_state=0).fit(X, labels)
    module = to_torch(model)
    np.testing.assert_allclose(outputs(module, X), model.decision_function(X), atol=1e-9)
    found = module.predict_proba(torch.as_tensor(X)).detach().numpy()
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-9)


def test_constant_columns_and_large_offsets_do_no_harm():
    X, y = load_iris(return_X_y=True)
    X = np.hstack([X + 1e6, np.ones((len(X), 1))])
    model = FourierClassifier(4, alpha=1.0, piecewise=False, random_state=0).fit(X, y)
    np.testing.assert_allclose(outputs(to_torch(model), X), model.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("codes", [True, False])
def test_gradients_of_predictors_are_those_of_their_formula(codes):
    model, X = classifier("iris", codes)
    module = to_torch(model)
    # Between knots, where the codes have a slope.
    rows = torch.as_tensor(X[::50] + 0.0123, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(module, (rows,))
    names, values = zip(*module.named_parameters(), strict=True)

    def scores(*parameters):
        parts = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(module, parts, (rows.detach(),))

    assert torch.autograd.gradcheck(scores, values)


@pytest.mark.parametrize("model", MAPS, ids=str)
def test_gradients_of_maps_are_those_of_their_formula(model):
    X, y = load_iris(return_X_y=True)
    rows = torch.as_tensor(X[::50] + 0.0123).requires_grad_()
    assert torch.autograd.gradcheck(to_torch(model.fit(X, y)), (rows,))


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
@pytest.mark.filterwarnings("ignore::FutureWarning:torch")
@pytest.mark.parametrize("codes", [True, False])
def test_exported_program_takes_any_number_of_rows(codes):
    model, X = classifier("iris", codes)
    rows = torch.export.Dim("rows", min=1)
    sample = (torch.as_tensor(X[:5]),)
    program = torch.export.export(to_torch(model), sample, dynamic_shapes=({0: rows},))
    np.testing.assert_allclose(outputs(program.module(), X), model.decision_function(X), atol=1e-9)


def test_a_trained_module_has_less_loss_and_leaves_its_estimator_alone():
    model, X = classifier("wine", False)
    before = model.decision_function(X)
    module, rows, y = to_torch(model), torch.as_tensor(X), torch.as_tensor(load_wine().target)
    optimiser = torch.optim.Adam(module.parameters(), lr=1e-2)
    losses = []
    for _ in range(20):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(module(rows), y)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    assert np.array_equal(model.decision_function(X), before)


def test_what_cannot_go_to_torch_is_refused():
    X, y = load_iris(return_X_y=True)
    for model in (LogisticRegression(), RBFLandmarks().fit(X, y), PBLandmarks().fit(X, y)):
        with pytest.raises(TypeError, match=f"predictor or Fourier map .* {type(model).__name__}"):
            to_torch(model)
    with pytest.raises(NotFittedError):
        to_torch(FourierClassifier())


def test_frames_and_wide_sparse_rows_are_refused():
    pd = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.loc[3, "a"] = np.nan
    model = FourierClassifier(3, alpha=1.0, piecewise=False, random_state=0)
    with pytest.raises(ValueError, match="FourierClassifier must be fitted on numbers"):
        to_torch(model.fit(frame, y))
    wide = sparse.random_array((150, 5000), density=0.01, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"at most 4096 columns .* with 5000 columns"):
        to_torch(model.fit(wide.tocsr(), y))
    narrow = sparse.csr_array(X)
    assert np.allclose(outputs(to_torch(model.fit(narrow, y)), X), model.decision_function(X))
