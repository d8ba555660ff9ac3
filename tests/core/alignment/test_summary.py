from functools import reduce

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.preprocessing import StandardScaler

from pacfourier.core.alignment.summary import (
    MOST_FINGERPRINTS,
    SampleSummary,
    row_fingerprints,
    sample_summary,
)
from pacfourier.core.alignment.targets import ClassTarget, _LabelSetTarget
from pacfourier.core.products import ROW_BLOCK

CONTAINERS = [np.asarray, sparse.csr_matrix, sparse.csr_array]


FIELDS = ("fingerprints", "counts", "first_labels", "last_labels")


def summary_of(X, y=None):
    """Return the summary of samples that all have the same label, unless y is given."""
    y = np.zeros(X.shape[0], dtype=int) if y is None else y
    return sample_summary(X, ClassTarget(np.arange(3)).encode(y))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_summaries_of_arrays_equal_those_of_sparse_rows(dtype, order, rng):
    """Some parts of two blocks, with zeros of both signs."""
    X = rng.standard_normal((9_500, 3)).round(2).astype(dtype)
    X[rng.random(X.shape) < 0.2] = -0.0
    y = rng.integers(0, 3, len(X))
    found, expected = summary_of(X.copy(order), y), summary_of(sparse.csr_array(X), y)
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    # Sums of n numbers in any order differ by n roundings of the sum of absolute values at most.
    for power in range(4):
        size = (np.abs(X.astype(np.float64)) ** (power + 1)).sum(axis=0)
        error = np.abs(found.powers[power] - expected.powers[power])
        assert (error <= 2 * len(X) * 2.0**-53 * size).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", CONTAINERS)
def test_summary_counts_repeated_rows_and_columns(container, dtype, rng):
    X = rng.standard_normal((50, 4)).astype(dtype)
    X[:, 2] = 0
    X[10:13] = X[:3]
    X[20] = X[0]
    summary = summary_of(container(X))
    assert (summary.n_samples, summary.counts.sum(), len(summary.counts)) == (50, 50, 46)
    assert summary.repeated_share == pytest.approx(4 / 50)
    assert (summary.n_repeated, summary.n_disputed) == (3, 0)
    for power, sums in enumerate(summary.powers, start=1):
        np.testing.assert_allclose(sums, (X.astype(float) ** power).sum(axis=0), atol=1e-9)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("size", [1, 7, 300])
def test_equal_rows_with_different_labels_are_counted(container, size, rng):
    """Whatever the blocks and the container: three rows out of the four that occur twice."""
    X, y = rng.standard_normal((300, 2)), rng.integers(0, 3, 300)
    X[100:104] = X[:4]
    y[100:104] = y[:4]
    y[101:104] = (y[1:4] + 1) % 3
    blocks = [summary_of(container(X[i : i + size]), y[i : i + size]) for i in range(0, 300, size)]
    summary = reduce(SampleSummary.merge, blocks)
    assert (summary.n_repeated, summary.n_disputed) == (4, 3)
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(summary, name), getattr(summary_of(X, y), name))


def test_labels_of_a_set_are_compared_as_a_whole(rng):
    X, y = np.repeat(rng.standard_normal((5, 2)), 2, axis=0), np.zeros((10, 3), dtype=int)
    y[1, 2] = y[2:4, 0] = 1
    summary = sample_summary(X, _LabelSetTarget(3).encode(y))
    assert (summary.n_repeated, summary.n_disputed) == (5, 1)


@pytest.mark.parametrize("container", CONTAINERS)
def test_fingerprints_are_equal_exactly_for_equal_rows(container, rng):
    X = rng.integers(0, 3, (400, 5)).astype(float)
    fingerprints = row_fingerprints(container(X))
    _, rows = np.unique(X, axis=0, return_inverse=True)
    same = fingerprints[:, np.newaxis] == fingerprints
    np.testing.assert_array_equal(same, rows.ravel()[:, np.newaxis] == rows.ravel())


def test_fingerprints_do_not_see_the_sign_of_zero():
    assert len(set(row_fingerprints(np.array([[0.0, 1.0], [-0.0, 1.0]])))) == 1


def test_repetitions_are_seen_across_blocks(rng):
    X = rng.standard_normal((3 * ROW_BLOCK, 2))
    X[-5:] = X[:5]
    summary = summary_of(X)
    assert summary.counts.sum() - len(summary.counts) == 5


def test_a_sample_given_twice_is_seen_in_constant_memory(rng):
    X = rng.standard_normal((2 * MOST_FINGERPRINTS, 2))
    once = summary_of(X)
    assert len(once.fingerprints) == MOST_FINGERPRINTS
    assert once.repeated_share == 0
    twice = once.merge(summary_of(X, np.ones(len(X), dtype=int)))
    assert len(twice.fingerprints) == len(twice.first_labels) == MOST_FINGERPRINTS
    assert twice.repeated_share == 0.5
    assert twice.n_disputed == twice.n_repeated == MOST_FINGERPRINTS


def test_merge_adds_up(rng):
    X = rng.standard_normal((60, 3))
    merged = summary_of(X[:20]).merge(summary_of(X[20:]))
    whole = summary_of(X)
    for name in (*FIELDS, "n_samples", "powers"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(80, 1), (200, 10), (400, 784), (4000, 3)])
def test_scalers_fitted_on_the_sample_are_noticed(shape, dtype, rng):
    X = rng.gamma(2.0, size=shape) * rng.choice([1, 10, 100], shape[1])
    standardised = StandardScaler().fit_transform(X).astype(dtype)
    assert summary_of(standardised).is_standardised
    assert summary_of(StandardScaler().fit_transform(X.astype(dtype))).is_standardised
    unbiased = ((X - X.mean(axis=0)) / X.std(axis=0, ddof=1)).astype(dtype)
    assert summary_of(unbiased).is_standardised
    indicators = rng.integers(0, 2, (len(X), 1)).astype(dtype)
    assert summary_of(np.hstack([standardised, indicators])).is_standardised
    halves = summary_of(standardised[:40]).merge(summary_of(standardised[40:]))
    assert halves.is_standardised


LAWS = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "single": lambda rng, shape: rng.standard_normal(shape).astype(np.float32),
    "one digit": lambda rng, shape: rng.standard_normal(shape).round(1),
    "two digits": lambda rng, shape: rng.standard_normal(shape).round(2),
    "zero or one": lambda rng, shape: rng.integers(0, 2, shape).astype(float),
    "signs": lambda rng, shape: rng.choice([-1.0, 1.0], shape),
    "uniform": lambda rng, shape: rng.random(shape),
    "uniform single": lambda rng, shape: rng.random(shape).astype(np.float32),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n_features", [1, 10, 784, 10_000])
def test_honest_columns_do_not_look_scaled(law, n_features):
    """No more alarms than a rate of 1e-3 gives with probability 0.99.

    The columns are in truth what a scaler makes: mean 0 and variance 1, or signs. These few fits
    find a rule that is far too loose; the rate itself is derived in the docstring.
    """
    rng = np.random.default_rng(n_features)
    sizes, n_fits = {
        1: ((2, 20, 50, 200), 100),
        10: ((2, 30, 50, 200), 50),
        784: ((200, 1500), 8),
        10_000: ((200, 400), 3),
    }[n_features]
    alarms = 0
    for size in sizes * n_fits:
        summary = summary_of(LAWS[law](rng, (size, n_features)))
        alarms += summary.is_standardised
    assert alarms <= stats.binom.isf(0.01, len(sizes) * n_fits, 1e-3)


def levels(n_levels, shape):
    """Return a function that draws whole numbers below ``n_levels``, all equally likely."""
    return lambda rng: rng.integers(0, n_levels, shape).astype(float)


# How whole numbers are drawn, and whether a scaler that was fitted on them is noticed.
FEW_VALUES = {
    "two levels": (levels(2, (3000, 10)), False),
    "three levels": (levels(3, (3000, 4)), True),
    "three levels, few rows": (levels(3, (300, 4)), True),
    "five levels": (levels(5, (600, 4)), True),
    "counts": (lambda rng: rng.poisson(3, (900, 3)).astype(float), True),
    "twenty levels": (levels(20, (150, 1)), True),
}


@pytest.mark.parametrize("name", FEW_VALUES)
def test_columns_of_few_values_are_noticed_only_if_scaled_on_the_sample(name):
    """Means of two samples of few values are often equal.

    At the rate of 1e-3 per table, 4 alarms or more in 300 tables have probability 3e-4.
    """
    draw, is_noticed = FEW_VALUES[name]
    rng, alarms = np.random.default_rng(1), 0
    for _ in range(300):
        scaler = StandardScaler().fit(draw(rng))
        alarms += summary_of(scaler.transform(draw(rng))).is_standardised
    assert alarms <= 3
    assert summary_of(StandardScaler().fit_transform(draw(rng))).is_standardised == is_noticed


def test_one_scaled_column_among_others_is_no_trace_of_a_scaler(rng):
    """A scaler of the table leaves its trace in most columns that have more than two values."""
    X = rng.gamma(2.0, size=(200, 4))
    X[:, :2] = StandardScaler().fit_transform(X[:, :2])
    assert not summary_of(X).is_standardised
    assert summary_of(X[:, :3]).is_standardised


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_squares_of_single_precision_do_not_overflow(container, rng):
    X = (1e30 * rng.standard_normal((50, 3))).astype(np.float32)
    found = summary_of(container(X)).powers[1]
    np.testing.assert_allclose(found, np.square(X.astype(np.float64)).sum(axis=0))


def test_sums_of_sparse_columns_are_in_double_precision(rng):
    X = 1e6 * rng.standard_normal((50, 3)).astype(np.float32)
    sparse_summary, summary = summary_of(sparse.csr_array(X)), summary_of(X)
    np.testing.assert_allclose(sparse_summary.powers, summary.powers, rtol=1e-12)
    np.testing.assert_array_equal(sparse_summary.fingerprints, summary.fingerprints)
