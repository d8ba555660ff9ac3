"""Rows of one group are not independent, and later rows may follow another law: both are named.

Each law is known exactly, so a bound can be compared with the truth.
"""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import LinearRegression, LogisticRegression

from pacfourier import BoostedRFF, FourierClassifier, FourierRegressor, certify

N_PATIENTS, N_VISITS = 40, 50
PATIENTS = np.repeat(np.arange(N_PATIENTS), N_VISITS)


def patients(rng):
    """Return 50 visits of each of 40 patients, whose label is a coin flip: no model can know it."""
    centres = rng.normal(size=(N_PATIENTS, 5))
    rows = centres[PATIENTS] + 0.01 * rng.normal(size=(len(PATIENTS), 5))
    return rows, rng.integers(0, 2, N_PATIENTS)[PATIENTS]


def small(kind=FourierClassifier, **parameters):
    return kind(20, alpha=0.3, piecewise=False, random_state=0, **parameters)


def lines(certificate):
    return {item.name: item for item in certificate.assumptions}


@pytest.mark.parametrize("has_groups", [True, False])
def test_bounds_of_fresh_groups_hold_and_those_of_their_rows_do_not(has_groups):
    """All visits of a patient are right or wrong together. More failures have a chance of 1e-6."""
    rng, n_trials, n_false = np.random.default_rng(0), 100, 0
    model = LogisticRegression().fit(*patients(rng))
    for _ in range(n_trials):
        groups = PATIENTS if has_groups else None
        n_false += certify(model, *patients(rng), groups=groups).error < 0.5
    assert (n_false <= binom.isf(1e-6, n_trials, 0.05)) == has_groups


@pytest.mark.parametrize("has_groups", [True, False])
def test_a_fit_holds_out_whole_groups(has_groups):
    """A model that knows patients by heart is certified on visits of the same patients else."""
    rng, n_trials, n_false = np.random.default_rng(0), 5, 0
    for _ in range(n_trials):
        X, y = patients(rng)
        model = small(certify=0.5).fit(X, y, groups=PATIENTS if has_groups else None)
        n_false += model.certificate_.error < 0.5
        assert model.certificate_.n_samples == (N_PATIENTS // 2 if has_groups else 1000)
    assert n_false <= binom.isf(1e-4, n_trials, 0.05) if has_groups else n_false == n_trials


def test_texts_name_the_groups():
    pandas = pytest.importorskip("pandas")
    X, y = patients(np.random.default_rng(0))
    named = pandas.Series(PATIENTS, name="patient").astype(str)
    model = small(certify=0.5).fit(X, y, groups=named)
    for certificate in (model.certificate_, certify(small().fit(X, y), X + 1, y, groups=named)):
        assert "on random rows of random new groups ('patient') <=" in str(certificate)
        assert "one random row of each group" in str(certificate)
        assert lines(certificate)["groups"].status == "declared"
        assert "groups ('patient') are independent draws" in lines(certificate)["sample"].reason
    amounts = small(FourierRegressor, certify=0.5).fit(X, X[:, 0], groups=PATIENTS)
    assert amounts.certificate_.group == "groups"
    assert lines(small(certify=0.5).fit(X, y).certificate_).keys().isdisjoint({"groups", "time"})


def test_learned_rows_are_recognised_by_one_row_of_each_group():
    X, y = patients(np.random.default_rng(0))
    model = small().fit(X, y)
    (refusal,) = certify(model, X, y, groups=PATIENTS).violations
    assert "some of them were learned from" in refusal.reason


def test_kernels_have_groups_and_times_too():
    X, y = patients(np.random.default_rng(0))
    model = BoostedRFF(3, n_steps=5, random_state=0).fit(X[::2], y[::2])
    fresh = X[1::2], y[1::2]
    by_group = certify(model, *fresh, groups=PATIENTS[1::2])
    assert by_group.n_samples == N_PATIENTS
    assert "random new groups ('groups')" in lines(by_group)["groups"].reason
    by_time = certify(model, *fresh, time=PATIENTS[1::2])
    assert by_time.n_samples == len(fresh[0])
    assert "new rows from 0 to 39" in lines(by_time)["time"].reason


def drifting(rng, n_rows=1000):
    """Return rows whose label is a sign of the first column, and a coin flip in the last fifth."""
    X, days = rng.normal(size=(n_rows, 3)), np.arange(n_rows) // 10
    y = (X[:, 0] > 0).astype(int)
    y[-n_rows // 5 :] = rng.integers(0, 2, n_rows // 5)
    order = rng.permutation(n_rows)
    return X[order], y[order], days[order]


def test_a_drift_is_seen_and_named_if_times_are_given():
    """The error on the last fifth is 1/2 for every model; rows held out at random hide it."""
    X, y, days = drifting(np.random.default_rng(0))
    assert small(certify=0.2).fit(X, y).certificate_.error < 0.3
    certificate = small(certify=0.2).fit(X, y, time=days).certificate_
    assert certificate.n_samples == 200
    assert 0.5 <= certificate.error < 0.65
    assert "Error of the classifier on new rows from 80 to 99 <=" in str(certificate)
    assert lines(certificate)["time"].status == "declared"
    assert "Later periods are not promised" in lines(certificate)["time"].reason
    assert "held out as the last ones by time" in lines(certificate)["rows"].reason


def test_fresh_rows_are_certified_for_their_period():
    rng = np.random.default_rng(0)
    X, y, days = drifting(rng)
    model = LogisticRegression().fit(X[days < 40], y[days < 40])
    for start, end, is_low in ((40, 79, True), (80, 99, False)):
        is_then = (start <= days) & (days <= end)
        certificate = certify(model, X[is_then], y[is_then], time=days[is_then])
        assert certificate.period == f"from {start} to {end}"
        assert (certificate.error < 0.1) == is_low
    amounts = LinearRegression().fit(X[:100], X[:100, 0])
    found = certify(amounts, X[100:], X[100:, 1], time=np.datetime64("2024-01-01") + days[100:])
    assert str(found).splitlines()[0].endswith("new rows from 2024-01-01 to 2024-04-09")


def test_rows_of_weight_zero_take_their_groups_and_times_with_them():
    X, y, days = drifting(np.random.default_rng(0))
    weights = (days < 50).astype(float)
    by_time = small(certify=0.2).fit(X, y, weights, time=days).certificate_
    assert by_time.period == "from 40 to 49"
    by_group = small(certify=0.2).fit(X, y, weights, groups=days).certificate_
    assert by_group.n_samples == 10


def test_bad_groups_and_times_are_refused():
    X, y, days = drifting(np.random.default_rng(0))
    model, fixed = small(certify=0.2), LogisticRegression().fit(X, y)
    for call in (model.fit, lambda *rows, **given: certify(fixed, *rows, **given)):
        with pytest.raises(ValueError, match="groups and time must not be given both"):
            call(X, y, groups=days, time=days)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            call(X, y, groups=days[1:])
        with pytest.raises(ValueError, match="groups must have one value per row, got the shape"):
            call(X, y, groups=X)
        with pytest.raises(ValueError, match="time must have a value for each row, got gaps"):
            call(X, y, time=np.where(days > 3, days, np.nan))
        with pytest.raises(ValueError, match="groups must have a value for each row, got gaps"):
            call(X, y, groups=[None, *days[1:]])
        with pytest.raises(ValueError, match="time must hold numbers or dates, got text such as"):
            call(X, y, time=days.astype(str))
    with pytest.raises(ValueError, match="groups and time must be None with certify=False"):
        small().fit(X, y, groups=days)
    with pytest.raises(ValueError, match="of 1000 rows in 1 of 'groups'"):
        model.fit(X, y, groups=np.zeros(1000))
    with pytest.raises(ValueError, match="of 1000 rows at 1 times"):
        model.fit(X, y, time=np.zeros(1000))
