"""Copies that a column or the last digits hide are found, and honest tables are left alone."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import datasets

from pacfourier import PBRFF, FourierClassifier, FourierRegressor, certify
from pacfourier.core.alignment.summary import (
    MOST_COLUMNS,
    MOST_ROWS,
    _HiddenCopies,
    _n_pairs,
    _repeated_share,
)
from pacfourier.estimators.prediction_certificates import row_summary
from pacfourier.tabular.row_digests import _GAP

SETS = ["iris", "wine", "breast_cancer", "diabetes"]


def loaded(name):
    return getattr(datasets, f"load_{name}")(return_X_y=True)


def numbered(X, rng):
    """With the number of each row, in any order, in a last column."""
    return np.column_stack([X, rng.permutation(len(X))])


def stamped(X, rng):
    """With the second in which a row was written, in a column between the others."""
    return np.insert(X, 1, 1.7e9 + np.cumsum(rng.exponential(600, len(X))), axis=1)


def one_noisy(X, rng):
    noise = np.zeros_like(X)
    noise[:, 0] = 1e-9 * rng.standard_normal(len(X))
    return X + noise


def all_noisy(X, rng):
    return X + 1e-9 * X.std(axis=0) * rng.standard_normal(X.shape)


DISGUISES = [numbered, stamped, one_noisy, all_noisy]


def hidden(X, y):
    return row_summary(X, np.asarray(y)).hidden


def bootstrap(name, rng):
    X, y = loaded(name)
    rows = rng.integers(0, len(X), len(X))
    return X[rows], y[rows]


# What is found


@pytest.mark.parametrize("disguise", DISGUISES)
def test_all_of_sixty_disguised_bootstraps_are_found(disguise):
    for seed in range(15):
        for name in SETS:
            rng = np.random.default_rng(seed)
            X, y = bootstrap(name, rng)
            assert hidden(disguise(X, rng), y).share > 0.1


@pytest.mark.parametrize("disguise", [numbered, stamped])
def test_disguised_bootstraps_of_categories_are_found(disguise):
    """A hundred rows of six categories of four levels, drawn again and again."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 4, (100, 6)).astype(float), rng.choice([-1, 1], 100)
        rows = rng.integers(0, 100, 1000)
        assert hidden(disguise(X[rows], rng), y[rows]).share > 0.8


def test_a_table_joined_to_itself_is_found_and_the_column_is_named():
    X, y = loaded("wine")
    for place in (0, 6, 13):
        joined = np.insert(np.tile(X, (2, 1)), place, np.arange(2.0 * len(X)), axis=1)
        assert hidden(joined, np.tile(y, 2)) == _HiddenCopies(pytest.approx(0.5), place)
    names = [*"abcdefghijklmn"]
    found = hidden(pd.DataFrame(joined, columns=names), np.tile(y, 2))
    assert found.column == "n"
    assert str(found) == "50.0 % of the rows repeat others but for the column 'n'"


@pytest.mark.parametrize("gap", [np.nan, _GAP])
def test_gaps_hide_no_copies(gap, rng):
    X, y = bootstrap("wine", rng)
    noisy = np.where(X[:, [0]] < 13, gap, all_noisy(X, rng))
    noisy[:, 1:] = all_noisy(X, rng)[:, 1:]
    assert hidden(noisy, y).share > 0.1


def test_many_copies_are_found_in_a_large_sample(rng):
    X, y = rng.standard_normal((500, 5)), rng.integers(0, 2, 500)
    rows = rng.integers(0, 500, 10 * MOST_ROWS)
    assert hidden(numbered(X[rows], rng), y[rows]).column == 5


# What is left alone


@pytest.mark.parametrize("name", [*SETS, "digits"])
@pytest.mark.parametrize("kind", ["float64", "float32", "numbered"])
def test_clean_sets_are_left_alone(name, kind, rng):
    X, y = loaded(name)
    assert hidden(numbered(X, rng) if kind == "numbered" else X.astype(kind), y) is None


def survey(rng):
    """Five questions with five answers, two of which say something about the label."""
    answers = rng.integers(0, 5, (1000, 5)).astype(float)
    return answers, answers[:, 0] + answers[:, 1] + rng.normal(0, 2, 1000) > 4


def yes_or_no(rng):
    answers = rng.integers(0, 2, (1000, 8)).astype(float)
    return answers, answers[:, 0].astype(bool) ^ (rng.random(1000) < 0.1)


def flags(rng):
    """Rare events: most rows are all zeros."""
    events = (rng.random((1000, 10)) < 0.02).astype(float)
    return events, rng.random(1000) < 0.05


def one_hot(rng):
    return np.eye(8)[rng.integers(0, 8, 1000)], rng.random(1000) < 0.3


def rounded_measures(rng):
    """Three columns with one decimal that depend on each other."""
    base = rng.standard_normal((1000, 1))
    return (base + 0.5 * rng.standard_normal((1000, 3))).round(1), base[:, 0] > 0


def one_number(rng):
    """One measured column and the label; all else is one category."""
    X = np.column_stack([rng.standard_normal(1000), rng.integers(0, 3, 1000)])
    return X, X[:, 0] > 0


def amounts(rng):
    """Heavy tails: the millionth of a standard deviation is coarse for most rows."""
    X = np.exp(4 * rng.standard_normal((4000, 2)))
    return X, X[:, 0] > 1


@pytest.mark.parametrize(
    "draw", [survey, yes_or_no, flags, one_hot, rounded_measures, one_number, amounts]
)
@pytest.mark.parametrize("disguise", [None, numbered, stamped])
def test_honest_tables_are_left_alone(draw, disguise):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = draw(rng)
        assert hidden(X if disguise is None else disguise(X, rng), y) is None


def test_sparse_and_very_wide_samples_are_not_looked_at(rng):
    X, y = bootstrap("wine", rng)
    assert hidden(sparse.csr_array(numbered(X, rng)), y) is None
    wide = np.hstack([numbered(X, rng), np.zeros((len(X), MOST_COLUMNS))])
    assert hidden(wide, y) is None


@pytest.mark.parametrize("value", [0.0, 1e300, -1e300])
def test_constants_and_huge_values_are_no_problem(value):
    X = np.full((50, 3), value)
    X[::2] *= 0.5
    assert hidden(X, np.arange(50)) is None


# Where it is shown


def sample_line(certificate):
    [line] = [each for each in certificate.assumptions if each.name == "sample"]
    return line


def test_certificates_warn_of_hidden_copies(rng):
    X, y = bootstrap("breast_cancer", rng)
    X = numbered(X, rng)
    frame = pd.DataFrame(X).rename(columns={X.shape[1] - 1: "id"}).rename(columns=str)
    model = FourierClassifier(3, certify=0.3, random_state=0).fit(frame, y)
    lines = [
        sample_line(model.certificate_),
        sample_line(PBRFF(5, random_state=0).fit(X, y).certificate()),
        sample_line(certify(model, frame, y)),
    ]
    assert {line.status for line in lines} == {"declared"}
    assert "declared, although" in lines[0].reason
    assert "% of the rows repeat others but for the column 'id'" in lines[0].reason
    assert "% of the rows repeat others but for column 30 of X" in lines[1].reason
    assert "% of the rows repeat others but for the column 'id'" in lines[2].reason


def test_certificates_of_clean_rows_say_what_they_said():
    X, y = loaded("diabetes")
    model = FourierRegressor(3, certify=0.3, random_state=0).fit(X, y)
    assert "(0.0 % of the rows repeat others)" in sample_line(model.certificate_).reason


def test_what_exact_repeats_say_comes_first(rng):
    X, y = bootstrap("wine", rng)
    model = PBRFF(5, random_state=0).fit(X, y)
    line = sample_line(model.certificate(duplicates="genuine"))
    assert "% of the rows repeat others)" in line.reason
    assert sample_line(model.certificate()).status == "violated"


def test_merged_summaries_keep_the_larger_share(rng):
    X, y = bootstrap("wine", rng)
    copies = row_summary(numbered(X, rng), y)
    clean = row_summary(np.insert(loaded("wine")[0], 13, 0.5, axis=1), loaded("wine")[1])
    assert clean.merge(copies).hidden == copies.merge(clean).hidden == copies.hidden
    assert clean.merge(clean).hidden is None


def test_counts_agree_with_their_naive_twins(rng):
    prints = rng.integers(0, 40, 60).astype(np.uint64)
    pairs = sum(prints[i] == prints[j] for i in range(60) for j in range(i))
    assert _n_pairs(prints) == pairs
    assert _repeated_share(prints) == pytest.approx(1 - len(set(prints.tolist())) / 60)
