"""Every public fitted attribute is documented, and every documented attribute exists."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris

import pacfourier
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

X, Y = load_iris(return_X_y=True, as_frame=True)
GIVEN = (X.to_numpy()[::30], Y.to_numpy()[::30])
ESTIMATORS = {
    "RFF": RFF(5, random_state=0),
    "PBRFF": PBRFF(5, n_candidates=40, random_state=0),
    "OKRFF": OKRFF(5, n_candidates=40, random_state=0),
    "GibbsRFF": GibbsRFF(5, n_particles=10, n_steps=3, random_state=0),
    "BoostedRFF": BoostedRFF(3, n_rounds=2, n_steps=2, random_state=0),
    "RBFLandmarks": RBFLandmarks(n_landmarks=6, random_state=0),
    "PBLandmarks": PBLandmarks(GIVEN, n_frequencies=8, gamma=0.5, random_state=0),
    "FourierClassifier": FourierClassifier(5, alpha=1.0, certify=0.2, random_state=0),
    "FourierRegressor": FourierRegressor(5, alpha=1.0, certify=0.2, random_state=0),
}
IN_PARTS = [name for name, model in ESTIMATORS.items() if hasattr(model, "merge")]


def documented(cls, section):
    """Return the types in a section of a class docstring, by name."""
    parts = re.split(r"^(\w[\w ]*)\n-+$", inspect.getdoc(cls), flags=re.MULTILINE)
    body = dict(zip(parts[1::2], parts[2::2], strict=True))[section]
    return dict(re.findall(r"^(\w+) : (.+)$", body, flags=re.MULTILINE))


def fitted_attributes(model):
    """Return the public attributes that a fit has set: they end with an underscore."""
    return {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}


def undocumented(model):
    return fitted_attributes(model) - documented(type(model), "Attributes").keys()


def test_every_public_estimator_is_here():
    public = {
        name
        for name in pacfourier.__all__
        if inspect.isclass(getattr(pacfourier, name))
        and issubclass(getattr(pacfourier, name), BaseEstimator)
    }
    assert public == ESTIMATORS.keys()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_fitted_attributes_and_documented_ones_are_the_same(name):
    """If this fails, document the attribute in the class docstring, or make it private."""
    model = clone(ESTIMATORS[name]).fit(X, Y)
    assert fitted_attributes(model) == documented(type(model), "Attributes").keys()


@pytest.mark.parametrize("name", ["PBRFF", "OKRFF", "GibbsRFF", "BoostedRFF"])
@pytest.mark.parametrize("y", [X.iloc[:, 0] * Y, pd.get_dummies(Y).astype(int)])
def test_attributes_are_documented_whatever_y_holds(name, y):
    model = clone(ESTIMATORS[name]).fit(X, y)
    assert not undocumented(model)
    assert documented(type(model), "Attributes").keys() - fitted_attributes(model) == {"classes_"}


@pytest.mark.parametrize("name", IN_PARTS)
def test_attributes_are_documented_after_every_way_to_learn(name):
    classes = np.unique(Y)
    first, second = (
        clone(ESTIMATORS[name]).partial_fit(X[part::2], Y[part::2], classes=classes)
        for part in range(2)
    )
    merged = first.merge(second)
    redrawn = merged.redraw(**({"mu": 3.0} if name == "OKRFF" else {"beta": 2.0}))
    first.partial_fit(X[1::2], Y[1::2])
    for model in (first, merged, redrawn):
        assert not undocumented(model)


def test_an_attribute_that_is_not_documented_is_found():
    model = clone(ESTIMATORS["RFF"]).fit(X)
    model.secret_ = 1
    model._internal = 1
    assert undocumented(model) == {"secret_"}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_documented_shapes_are_those_of_the_arrays(name):
    """Sizes that share a name are equal, and those named after a parameter have its value."""
    model = clone(ESTIMATORS[name]).fit(X, Y)
    sizes = {"n_features": 4, "n_features_in_": 4, "n_classes": 3}
    counts = ("n_frequencies", "n_candidates", "n_particles")
    sizes |= {key: value for key, value in model.get_params().items() if key in counts}
    for attribute, kind in documented(type(model), "Attributes").items():
        shape = re.search(r"of shape \((.*?)\)", kind)
        if shape is None:
            assert not isinstance(getattr(model, attribute), np.ndarray), attribute
            continue
        value = getattr(model, attribute)
        if value is None:
            assert kind.endswith(" or None")
            continue
        names = [part.strip() for part in shape[1].split(",") if part.strip()]
        assert len(value.shape) == len(names), attribute
        for size, actual in zip(names, value.shape, strict=True):
            assert sizes.setdefault(size, actual) == actual, (attribute, size)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_documented_parameters_are_those_of_the_signature(name):
    """Parameters, their order and their defaults."""
    cls = type(ESTIMATORS[name])
    parameters = inspect.signature(cls).parameters
    kinds = documented(cls, "Parameters")
    assert list(kinds) == list(parameters)
    for parameter in parameters.values():
        default = parameter.default
        written = f'"{default}"' if isinstance(default, str) else repr(default)
        assert kinds[parameter.name].endswith(f"default={written}"), parameter.name


def test_okrff_and_pbrff_document_shared_parameters_alike():
    shared = set(documented(PBRFF, "Parameters")) & set(documented(OKRFF, "Parameters"))
    assert all(entry(PBRFF, name) == entry(OKRFF, name) for name in shared)


def entry(cls, name):
    """Return a parameter's entry in a class docstring, to the line where the next one begins."""
    return re.search(rf"^{name} : .*\n(?:(?: .*)?\n)+?(?=\S)", inspect.getdoc(cls), re.MULTILINE)[0]
