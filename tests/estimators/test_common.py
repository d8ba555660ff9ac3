import importlib
import inspect
import pkgutil

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import pacfourier

ESTIMATORS = [
    getattr(pacfourier, name)
    for name in pacfourier.__all__
    if isinstance(getattr(pacfourier, name), type)
    and issubclass(getattr(pacfourier, name), BaseEstimator)
]


@parametrize_with_checks([estimator() for estimator in ESTIMATORS])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_contract(estimator, check):
    if isinstance(estimator, pacfourier.BoostedRFF) and "weight_equivalence" in str(check):
        pytest.skip("four rounds of twenty steps amplify rounding: held to it with fewer, below")
    check(estimator)


@parametrize_with_checks(
    [
        pacfourier.PBRFF(20, n_candidates=200, draw="replacement", class_weight=None),
        pacfourier.PBRFF(20, n_candidates=200, draw="distinct", gamma="scale", precision="double"),
        pacfourier.OKRFF(20, n_candidates=200, mu=1.5, gamma=0.3, sampling="orthogonal"),
        pacfourier.RFF(20, kernel="matern", gamma="median", sampling="sobol"),
        pacfourier.BoostedRFF(20, n_rounds=1, n_steps=10),
        pacfourier.PBRFF(20, n_candidates=200, sampling="structured"),
        pacfourier.GibbsRFF(5, n_particles=5, n_steps=2, certify_on=1 / 3),
    ]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_contract_beyond_the_defaults(estimator, check):
    check(estimator)


def test_every_estimator_is_public_and_checked():
    """A public estimator is a class of ``pacfourier.estimators`` with parameters of its own."""
    found = set()
    for module in pkgutil.iter_modules(pacfourier.estimators.__path__, "pacfourier.estimators."):
        for _, item in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(item, BaseEstimator) and "__init__" in vars(item):
                found.add(item)
    assert {item for item in found if item.__module__.startswith("pacfourier")} == set(ESTIMATORS)
