import copy

import numpy as np
import pytest
from sklearn.base import clone

from pacfourier import (
    OKRFF,
    PBRFF,
    RFF,
    BoostedRFF,
    FourierClassifier,
    FourierRegressor,
    RBFLandmarks,
    alignment_losses,
)

X = np.random.default_rng(0).standard_normal((12, 3))
Y = np.resize([0, 1], 12)


def with_value(value):
    bad = X.copy()
    bad[3, 1] = value
    return bad


def small(estimator=PBRFF, **parameters):
    return estimator(**{"n_frequencies": 5, "n_candidates": 50, "random_state": 0, **parameters})


# Fitted here, so that the cases below begin after it.
FITTED, FITTED_ELSEWHERE = small().fit(X, Y), small(random_state=1).fit(X, Y)
FITTED_ON_NUMBERS = small().fit(X, X[:, 0])


def clone_of(estimator):
    return copy.copy(estimator)


CASES = {
    "nan": (lambda: small().fit(with_value(np.nan), Y), "NaN"),
    "infinity": (lambda: small().fit(with_value(np.inf), Y), "infinity"),
    "nan in y": (lambda: small().fit(X, np.where(Y, np.nan, 0.5)), "NaN"),
    "one class": (lambda: small().fit(X, np.zeros(12)), "at least two classes"),
    "one sample": (lambda: small().fit(X[:1], Y[:1]), "minimum of 2 is required"),
    "no features": (lambda: small().fit(X[:, :0], Y), "0 feature"),
    "no y": (lambda: small().fit(X, None), "requires y to be passed"),
    "y of another length": (lambda: small().fit(X, Y[:-1]), "inconsistent numbers of samples"),
    "three axes": (lambda: small().fit(X[..., np.newaxis], Y), "dim 3"),
    "strings": (lambda: small().fit([["a", "b", "c"]] * 12, Y), "convert"),
    "constant numbers": (
        lambda: small(target_type="continuous").fit(X, Y * 0.0),
        "not be constant",
    ),
    "negative gamma": (lambda: small(gamma=-1.0).fit(X, Y), "gamma must be positive"),
    "zero gamma": (lambda: small(gamma=0).fit(X, Y), "gamma must be positive"),
    "unknown gamma": (lambda: small(gamma="auto").fit(X, Y), "gamma must be positive or one of"),
    "unknown spectrum": (lambda: small(kernel="poly").fit(X, Y), "kernel must be a Spectrum"),
    "unknown labels": (lambda: small(target_type="ranks").fit(X, Y), "target_type must be"),
    "unknown precision": (lambda: small(precision="half").fit(X, Y), "precision must be one of"),
    "unknown draw": (lambda: small(draw="best").fit(X, Y), "draw must be one of"),
    "zero beta": (lambda: small(beta=0.0).fit(X, Y), "beta must be positive and finite or 'ess'"),
    "negative beta": (lambda: small(beta=-2).fit(X, Y), "beta must be positive"),
    "unknown beta": (lambda: small(beta="best").fit(X, Y), "beta must be positive"),
    "zero rho": (lambda: small(OKRFF, rho=0).fit(X, Y), "rho must be positive and finite or 'ess'"),
    "negative rho": (lambda: small(OKRFF, rho=-1.0).fit(X, Y), "rho must be positive"),
    "mu of one": (lambda: small(OKRFF, mu=1.0).fit(X, Y), "mu must be greater than 1"),
    "no frequencies": (lambda: small(n_frequencies=0).fit(X, Y), "n_frequencies must be a pos"),
    "half a frequency": (lambda: RFF(1.5).fit(X), "n_frequencies must be a positive integer"),
    "no candidates": (lambda: small(n_candidates=-1).fit(X, Y), "n_candidates must be a pos"),
    "too many distinct": (
        lambda: small(n_frequencies=51, draw="distinct").fit(X, Y),
        "n_frequencies must be at most n_candidates=50",
    ),
    "unseen label": (
        lambda: clone_of(FITTED).partial_fit(X, Y + 1),
        "known classes \\[0, 1\\], got \\[2\\]",
    ),
    "other width later": (
        lambda: clone_of(FITTED).partial_fit(X[:, :2], Y),
        "X has 2 features",
    ),
    "merge across pools": (
        lambda: FITTED.merge(FITTED_ELSEWHERE),
        "same candidates",
    ),
    "negative weight": (
        lambda: small().fit(X, Y, sample_weight=np.resize([-1, 1], 12)),
        r"non-negative, got -1\.0",
    ),
    "weights of another length": (
        lambda: small().fit(X, Y, sample_weight=np.ones(5)),
        "inconsistent numbers of samples",
    ),
    "weight on one sample": (
        lambda: small().fit(X, Y, sample_weight=np.eye(12)[0]),
        "for at least 2 samples, got 1",
    ),
    "weights out of range": (
        lambda: small().fit(X, Y, sample_weight=np.full(12, 1e200)),
        "between 1e-100 and 1e100",
    ),
    "huge gamma": (lambda: small(gamma=1e300).fit(X, Y), "gamma must be positive and at most"),
    "other classes later": (
        lambda: clone_of(FITTED).partial_fit(X, Y, classes=[0, 1, 2]),
        "classes must be those of the first call",
    ),
    "merge of other labels": (
        lambda: FITTED.merge(FITTED_ON_NUMBERS),
        "same kind of labels",
    ),
    "frequencies of another width": (
        lambda: alignment_losses(X, Y, np.ones((2, 4))),
        "frequencies must have 3 columns as X has, got 4",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_a_clear_error_before_any_work(name, monkeypatch):
    call, message = CASES[name]
    monkeypatch.setattr("pacfourier.core.alignment.sums.run_tasks", _no_work)
    with pytest.raises(ValueError, match=message):
        call()


def _no_work(work, blocks):
    del work, blocks
    raise AssertionError("work was begun before the input was checked")


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (RFF(5, gamma="median", random_state=0), {"gamma": -0.1}),
        (RBFLandmarks("random", n_landmarks=2, random_state=0), {"gamma": -1.0}),
        (BoostedRFF(2, n_steps=2, random_state=0), {"target_type": "binary"}),
        (FourierClassifier(2, alpha=1.0, random_state=0), {"certify": 0.999}),
        (FourierRegressor(2, alpha=1.0, random_state=0), {"certify": 0.999}),
    ],
)
def test_a_fit_that_fails_leaves_an_earlier_one_as_it_was(model, change):
    model = clone(model).fit(X, Y)
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}
    model.set_params(**change)
    with pytest.raises(ValueError, match="must"):
        model.fit(np.hstack([X, X]), np.arange(12) % 3)
    after = {name: value for name, value in vars(model).items() if name.endswith("_")}
    assert before.keys() == after.keys()
    assert all(before[name] is after[name] for name in before)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_one_sample_that_outweighs_all_pairs_is_refused(precision):
    weights = np.append(1e15, np.ones(11))
    with pytest.raises(ValueError, match="more than one sample count, got one with a share of"):
        small(precision=precision).fit(X, Y, sample_weight=weights)
    with pytest.raises(ValueError, match="more than one sample count"):
        alignment_losses(X, Y, np.ones((2, 3)), sample_weight=weights)


@pytest.mark.parametrize("weight", [1e-50, 1e50])
def test_weights_that_single_precision_does_not_hold(weight):
    expected = small(precision="single").fit(X, Y)
    found = small(precision="single").fit(X, Y, sample_weight=np.full(12, weight))
    np.testing.assert_allclose(found.losses_, expected.losses_, rtol=1e-6)


@pytest.mark.parametrize("change", [{"n_candidates": 1, "n_frequencies": 1}, {"mu": 1e6}])
def test_extreme_divergence_balls_are_fitted(change):
    model = small(OKRFF, **change).fit(X, Y)
    assert model.posterior_.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array(["2020-01-01", "NaT"] * 6, dtype="datetime64[D]"), "no missing labels"),
        (np.array([[1], [2]] * 6 + [None], dtype=object)[:12], "must hold numbers or text, got"),
    ],
)
def test_labels_that_are_no_labels(y, message):
    with pytest.raises(ValueError, match=message):
        small().fit(X, y)
