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
    check(estimator)


@parametrize_with_checks(
    [
        pacfourier.PBRFF(20, n_candidates=200, draw="replacement", balance=False),
        pacfourier.PBRFF(20, n_candidates=200, draw="distinct", gamma="scale", precision="double"),
        pacfourier.OKRFF(20, n_candidates=200, mu=1.5, gamma=0.3, sampling="orthogonal"),
        pacfourier.RFF(20, spectrum="matern", gamma="median", sampling="sobol"),
    ]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_contract_beyond_the_defaults(estimator, check):
    check(estimator)


def test_every_estimator_is_checked():
    assert {estimator.__name__ for estimator in ESTIMATORS} == {"RFF", "PBRFF", "OKRFF"}
