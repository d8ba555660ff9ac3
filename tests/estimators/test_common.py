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
# These try several recipes in every fit. One is enough here.
QUICK = {
    each: each(5, alpha=1.0, piecewise=False)
    for each in (pacfourier.FourierClassifier, pacfourier.FourierRegressor)
}


def expected_failures(estimator):
    """Return the checks that an estimator fails, and why."""
    if type(estimator) not in QUICK:
        return {}
    reason = "mini-batches are drawn by row, so a row of weight two is not a row that comes twice"
    checks = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
    return dict.fromkeys(checks, reason)


@parametrize_with_checks(
    [QUICK.get(estimator) or estimator() for estimator in ESTIMATORS],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_contract(estimator, check):
    if isinstance(estimator, pacfourier.BoostedRFF) and "weight_equivalence" in str(check):
        pytest.skip("four rounds of twenty steps amplify rounding: held to it with fewer, below")
    check(estimator)


@parametrize_with_checks(
    [
        pacfourier.PBRFF(20, n_candidates=200, draw="replacement", class_weight=None),
        pacfourier.PBRFF(20, n_candidates=200, draw="distinct", gamma="scale", precision="double"),
        pacfourier.OKRFF(20, n_candidates=200, mu=1.5, gamma=0.3),
        pacfourier.RFF(20, kernel="matern", gamma="median"),
        pacfourier.BoostedRFF(20, n_rounds=1, n_steps=10),
        pacfourier.GibbsRFF(5, n_particles=5, n_steps=2, certify=1 / 3),
        pacfourier.FourierRegressor(5, loss="huber", alpha=3.0, piecewise=False),
    ],
    expected_failed_checks=expected_failures,
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
