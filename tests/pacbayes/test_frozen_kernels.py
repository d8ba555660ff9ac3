"""Certificates of frozen kernels: bounds by name, and the guard against rows of the fit."""

import math
from dataclasses import replace
from inspect import signature
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from pacfourier.core.alignment import summary as summaries
from pacfourier.core.alignment.summary import sample_summary
from pacfourier.pacbayes.holdout import _FALSE_ALARM, _HOLDOUT_RECORDS, _overlap_log_chance


def summary_of(X):
    """Return the summary of rows that all have one label."""
    return sample_summary(X, sparse.csr_array(np.ones((len(X), 1))))


def chance(first, second):
    return _overlap_log_chance(summary_of(first), summary_of(second))


def is_refused(first, second):
    return chance(first, second) < math.log(_FALSE_ALARM)


def continuous(rng, n):
    return rng.normal(size=(n, 2))


def surveys(rng, n):
    """Three answers on a five-point scale: every row occurs many times."""
    return rng.integers(1, 6, size=(n, 3)).astype(float)


def coins(rng, n):
    return rng.integers(0, 2, size=(n, 1)).astype(float)


def heavy(rng, n):
    """A few rows make up most of the sample."""
    return np.minimum(rng.zipf(1.5, size=(n, 1)), 10**6).astype(float)


LAWS = [continuous, surveys, coins, heavy]


@pytest.mark.parametrize("sizes", [(200, 200), (400, 100), (60, 300)])
@pytest.mark.parametrize("law", LAWS)
def test_independent_samples_pass(law, sizes):
    """At a false-alarm rate of 1e-3, two or more in 100 have probability below 0.005."""
    rng = np.random.default_rng(5)
    alarms = sum(is_refused(law(rng, sizes[0]), law(rng, sizes[1])) for _ in range(100))
    assert alarms < 2


@pytest.mark.parametrize("law", [continuous, surveys, heavy])
def test_the_rows_of_the_fit_are_refused(law, rng):
    rows = law(rng, 1000)
    assert is_refused(rows, rows)
    assert is_refused(rows, rng.permutation(rows))


def test_some_rows_of_the_fit_are_refused_too(rng):
    rows, others = continuous(rng, 1000), continuous(rng, 1000)
    assert is_refused(rows, rows[::3])
    assert is_refused(rows, np.concatenate([others, rows[:50]]))
    assert not is_refused(rows, np.concatenate([others, rows[:3]]))
    # A few rows of the fit alone, beside which the fit has many others.
    assert is_refused(rows, rows[:20])
    assert not is_refused(rows, rows[:1])


def test_long_samples_are_compared_where_both_were_counted(rng, monkeypatch):
    monkeypatch.setattr(summaries, "MOST_FINGERPRINTS", 400)
    monkeypatch.setattr("pacfourier.pacbayes.holdout.MOST_FINGERPRINTS", 400)
    rows, others = continuous(rng, 5000), continuous(rng, 5000)
    first, second, third = (
        summary_of(part[:2500]).merge(summary_of(part[2500:]))
        for part in (rows, rows[1000:], others)
    )
    assert len(first.fingerprints) == len(second.fingerprints) == 400
    assert _overlap_log_chance(first, second) < math.log(_FALSE_ALARM)
    assert _overlap_log_chance(first, third) > math.log(_FALSE_ALARM)


def test_the_chance_of_an_overlap_is_bounded():
    """All ways to split 9 rows with repeats into 5 and 4: no event is likelier than its bound."""
    pool = np.asarray([1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0, 5.0])[:, None]
    found = []
    for chosen in combinations(range(9), 5):
        rest = np.setdiff1d(np.arange(9), chosen)
        found.append(chance(pool[list(chosen)], pool[rest]))
    found = np.asarray(found)
    for bound in found:
        assert (found <= bound + 1e-9).mean() <= math.exp(min(bound, 0)) + 1e-12


@pytest.mark.parametrize("name", _HOLDOUT_RECORDS)
def test_a_record_calls_its_function_with_what_it_takes(name):
    record = _HOLDOUT_RECORDS[name]
    parameters = signature(record.function).parameters
    required = {key for key, item in parameters.items() if item.default is item.empty}
    assert record.name == name
    assert required <= {"epsilon", *record.needs} <= set(parameters)


def test_weights_of_the_fit_do_not_matter(rng):
    """Only the fresh rows must be independent draws."""
    first, second = (summary_of(continuous(rng, 50)) for _ in range(2))
    weighted = replace(first, is_weighted=True)
    assert _overlap_log_chance(weighted, second) == _overlap_log_chance(first, second)
