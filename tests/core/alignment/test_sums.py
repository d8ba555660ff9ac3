import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from threadpoolctl import threadpool_limits

from pacfourier import alignment_losses
from pacfourier.core.alignment.sums import _on_used_columns, alignment_sums, balanced_losses
from pacfourier.core.alignment.targets import target_of
from pacfourier.core.prior.frequencies import ChosenFrequencies, FrequencyPool
from pacfourier.core.products import FREQUENCY_BAND, ROW_BLOCK, row_parts
from pacfourier.spectra import RBF, Laplacian, Matern, multiscale

KINDS = ["binary", "multiclass", "multilabel", "continuous", "multioutput"]
TOLERANCE = {np.float64: 1e-10, np.float32: 1e-5}


def labels_of(kind, n_samples, rng):
    if kind == "binary":
        return np.resize([-1, 1], n_samples)
    if kind == "multiclass":
        return np.resize(["a", "b", "c"], n_samples)
    if kind == "multilabel":
        return np.resize(np.eye(2, 4), (n_samples, 4)).astype(int)
    shape = (n_samples,) if kind == "continuous" else (n_samples, 3)
    return rng.standard_normal(shape) * 3 + 7


def agreement(y, weights, i, j):
    """The agreement of two labels, from its definition."""
    if y.ndim == 2 and y.dtype.kind == "i":
        return np.mean((2 * y[i] - 1) * (2 * y[j] - 1))
    if y.dtype.kind == "f":
        values = y.reshape(len(y), -1)
        centred = values - np.average(values, axis=0, weights=weights)
        return np.mean(centred[i] * centred[j] / np.abs(centred).max(axis=0) ** 2)
    return 1.0 if y[i] == y[j] else -1.0


def double_loop(X, y, frequencies, weights):
    """The alignment loss, pair by pair."""
    total, losses = 0.0, np.zeros(len(frequencies))
    for i in range(len(X)):
        for j in range(len(X)):
            if i != j:
                cosines = np.cos(frequencies @ (X[i] - X[j]))
                pair = weights[i] * weights[j]
                losses += pair * (1 - agreement(y, weights, i, j) * cosines) / 2
                total += pair
    return losses / total


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_samples", [2, 3, 40])
@pytest.mark.parametrize("kind", KINDS)
def test_losses_equal_the_double_loop(kind, n_samples, dtype, container, weighted, rng):
    X = rng.standard_normal((n_samples, 5)).astype(dtype)
    y = labels_of(kind, n_samples, rng)
    frequencies = rng.standard_normal((30, 5)).astype(np.float32)
    weights = rng.uniform(0.2, 3, n_samples) if weighted else None
    expected = double_loop(
        X.astype(float), y, frequencies, np.ones(n_samples) if weights is None else weights
    )
    losses = alignment_losses(container(X), y, frequencies, sample_weight=weights)
    np.testing.assert_allclose(losses, expected, rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_losses_equal_the_plain_formula_across_block_borders(dtype, rng):
    n_samples, n_frequencies = 2 * ROW_BLOCK + 3, 2 * FREQUENCY_BAND + 5
    X = rng.standard_normal((n_samples, 7)).astype(dtype)
    y = np.where(rng.random(n_samples) < 0.4, -1, 1)
    frequencies = rng.standard_normal((n_frequencies, 7)).astype(np.float32)
    waves = y @ np.exp(1j * (X.astype(float) @ frequencies.T.astype(float)))
    n = n_samples
    expected = n / (2 * (n - 1)) - np.abs(waves) ** 2 / (2 * n * (n - 1))
    losses = alignment_losses(X, y, frequencies)
    np.testing.assert_allclose(losses, expected, rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_large_phases_are_taken_in_double_precision(offset, rng):
    """float32 alone would lose the phase: 1e5 * 100 is not known to a radian there."""
    X = (offset + rng.standard_normal((50, 3))).astype(np.float32)
    frequencies = np.concatenate([rng.standard_normal((4, 3)), 100 * rng.standard_normal((4, 3))])
    y = np.resize([0, 1], 50)
    expected = double_loop(X.astype(float), y, frequencies, np.ones(50))
    losses = alignment_losses(X, y, frequencies)
    np.testing.assert_allclose(losses, expected, rtol=0, atol=2e-5)


def test_an_offset_of_continuous_targets_costs_no_precision(rng):
    X = rng.standard_normal((60, 3)).astype(np.float32)
    y = rng.standard_normal(60)
    frequencies = rng.standard_normal((20, 3))
    plain = alignment_losses(X, y, frequencies)
    shifted = alignment_losses(X, y + 1e6, frequencies)
    np.testing.assert_allclose(shifted, plain, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_merge_is_associative_and_equals_the_whole(kind, rng):
    X, y = rng.standard_normal((90, 4)), labels_of(kind, 90, rng)
    pool = FrequencyPool(RBF(0.5), 50, 4, seed=1)
    target = target_of(y)
    parts = [
        alignment_sums(X[rows], y[rows], target, pool, precision="double")
        for rows in (slice(0, 20), slice(20, 60), slice(60, 90))
    ]
    whole = alignment_sums(X, y, target, pool, precision="double")
    left = parts[0].merge(parts[1]).merge(parts[2])
    right = parts[0].merge(parts[1].merge(parts[2]))
    for merged in (left, right):
        losses = merged.losses(target.agreement(merged.totals))
        expected = whole.losses(target.agreement(whole.totals))
        np.testing.assert_allclose(losses, expected, rtol=0, atol=1e-12)
        assert merged.effective_samples == pytest.approx(90)


@pytest.mark.parametrize(("n_samples", "n_frequencies"), [(700, 5000), (9_000, 40), (3_000, 1500)])
def test_threads_do_not_change_a_bit(n_samples, n_frequencies, rng):
    """Threads take bands of many frequencies, or parts of the rows if there are few."""
    X, y = rng.standard_normal((n_samples, 6)), np.resize([0, 1, 2], n_samples)
    pool = FrequencyPool(RBF(0.1), n_frequencies, 6, seed=2)
    target = target_of(y)
    with threadpool_limits(1, user_api="blas"):
        one = alignment_sums(X, y, target, pool)
    with threadpool_limits(3, user_api="blas"):
        two = alignment_sums(X, y, target, pool)
    np.testing.assert_array_equal(one.waves, two.waves)
    np.testing.assert_array_equal(one.harmonics, two.harmonics)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_sums_over_parts_of_the_rows_equal_the_naive_ones(container, rng):
    """More rows than one part has, some frequencies that need double precision, and weights."""
    X, y = rng.standard_normal((9_000, 3)), rng.integers(0, 3, 9_000)
    weights = rng.uniform(0.5, 2, len(y))
    frequencies = rng.standard_normal((20, 3)) * np.where(np.arange(20) % 3, 1, 1e4)[:, np.newaxis]
    sums = alignment_sums(container(X), y, target_of(y), frequencies, sample_weight=weights)
    waves = np.exp(1j * (X @ frequencies.T))
    # A mean of waves is wrong by the stated rounding at most, and one of harmonics by four of it.
    rounding = sums.rounding + 1e-10
    for code in range(3):
        naive = weights[y == code] @ waves[y == code]
        assert (np.abs(sums.waves[code] - naive) <= rounding * weights.sum()).all()
    assert (np.abs(sums.harmonics - (waves**2).sum(axis=0)) <= 4 * rounding * len(y)).all()
    assert (sums.rounding[::3] == 0).all()
    assert (sums.rounding[1::3] > 0).all()


def test_rows_are_cut_into_eight_parts_of_whole_blocks():
    for n_samples, n_parts in ((1, 1), (1024, 1), (1025, 2), (8192, 8), (8193, 5), (100_000, 8)):
        parts = row_parts(n_samples)
        rows = np.concatenate([np.arange(n_samples)[part] for part in parts])
        np.testing.assert_array_equal(rows, np.arange(n_samples))
        assert len(parts) == n_parts
        assert all(part.start % ROW_BLOCK == 0 for part in parts)


def test_errors_in_threads_are_raised(rng):
    class Broken:
        shape = (5000, 3)

        def __len__(self):
            return 5000

        def __getitem__(self, rows):
            raise RuntimeError("no frequencies here")

    X, y = rng.standard_normal((10, 3)), np.resize([0, 1], 10)
    for threads in (1, 2):
        with (
            threadpool_limits(threads, user_api="blas"),
            pytest.raises(RuntimeError, match="no frequencies here"),
        ):
            alignment_sums(X, y, target_of(y), Broken())


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_balanced_losses_equal_the_double_loop(n_classes, rng):
    """Classes weigh the same; other classes agree by -1 / (C - 1)."""
    y = np.concatenate([np.arange(n_classes), rng.integers(0, 2, 40)])
    X = rng.standard_normal((len(y), 3))
    frequencies = rng.standard_normal((10, 3))
    weights = 1 / np.bincount(y)[y]
    total, expected = 0.0, np.zeros(10)
    for i in range(len(y)):
        for j in range(len(y)):
            if i != j:
                agrees = 1.0 if y[i] == y[j] else -1 / (n_classes - 1)
                pair = weights[i] * weights[j]
                expected += pair * (1 - agrees * np.cos(frequencies @ (X[i] - X[j]))) / 2
                total += pair
    sums = alignment_sums(X, y, target_of(y), frequencies, precision="double")
    np.testing.assert_allclose(balanced_losses(sums, target_of(y)), expected / total, atol=1e-12)


def test_balanced_losses_of_two_equal_classes_are_the_losses(rng):
    X, y = rng.standard_normal((40, 3)), np.resize([0, 1], 40)
    target = target_of(y)
    sums = alignment_sums(X, y, target, rng.standard_normal((10, 3)))
    expected = sums.losses(target.agreement(sums.totals))
    np.testing.assert_allclose(balanced_losses(sums, target), expected, atol=1e-12)


def test_balanced_losses_ignore_classes_that_never_came(rng):
    X, y = rng.standard_normal((40, 3)), np.resize([0, 1], 40)
    frequencies = rng.standard_normal((10, 3))
    two = alignment_sums(X, y, target_of(y), frequencies)
    four = alignment_sums(X, y, target_of(y, classes=[0, 1, 2, 3]), frequencies)
    np.testing.assert_allclose(
        balanced_losses(four, target_of(y, classes=[0, 1, 2, 3])),
        balanced_losses(two, target_of(y)),
    )


def test_balanced_losses_of_one_class_so_far_are_the_losses(rng):
    X, y = rng.standard_normal((10, 3)), np.zeros(10, dtype=int)
    target = target_of(y, classes=[0, 1])
    sums = alignment_sums(X, y, target, rng.standard_normal((5, 3)))
    expected = sums.losses(target.agreement(sums.totals))
    np.testing.assert_array_equal(balanced_losses(sums, target), expected)


problems = st.tuples(
    st.integers(2, 25), st.integers(1, 4), st.sampled_from(KINDS), st.integers(0, 2**32 - 1)
)


def make_problem(problem):
    n_samples, n_features, kind, seed = problem
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    return X, labels_of(kind, n_samples, rng), rng.standard_normal((6, n_features)), rng


@given(problems)
@settings(max_examples=60, deadline=None)
def test_losses_lie_in_the_unit_interval(problem):
    X, y, frequencies, _ = make_problem(problem)
    losses = alignment_losses(X, y, frequencies)
    assert losses.min() >= -1e-12
    assert losses.max() <= 1 + 1e-12


@given(problems)
@settings(max_examples=60, deadline=None)
def test_losses_do_not_change_when_samples_are_shifted_or_permuted(problem):
    X, y, frequencies, rng = make_problem(problem)
    expected = alignment_losses(X, y, frequencies)
    shifted = alignment_losses(X + 5 * rng.standard_normal(X.shape[1]), y, frequencies)
    order = rng.permutation(len(X))
    permuted = alignment_losses(X[order], y[order], frequencies)
    np.testing.assert_allclose(shifted, expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(permuted, expected, rtol=0, atol=1e-10)


@given(problems.filter(lambda problem: problem[2] in ("binary", "multiclass")))
@settings(max_examples=30, deadline=None)
def test_losses_do_not_change_when_classes_are_renamed(problem):
    X, y, frequencies, rng = make_problem(problem)
    classes, codes = np.unique(y, return_inverse=True)
    renamed = rng.permutation(["x", "y", "z"])[: len(classes)][codes]
    np.testing.assert_allclose(
        alignment_losses(X, renamed, frequencies), alignment_losses(X, y, frequencies), atol=1e-12
    )


@given(problems)
@settings(max_examples=30, deadline=None)
def test_only_ratios_of_weights_matter(problem):
    X, y, frequencies, rng = make_problem(problem)
    weights = rng.uniform(0.1, 2, len(X))
    np.testing.assert_allclose(
        alignment_losses(X, y, frequencies, sample_weight=1000 * weights),
        alignment_losses(X, y, frequencies, sample_weight=weights),
        atol=1e-10,
    )


def sparse_rows(kind, n_features, rng):
    """Sparse samples of 30 rows, some of whose columns have no entry."""
    dense = rng.standard_normal((30, n_features)) * (rng.random((30, n_features)) < 0.4)
    if kind == "all zero":
        return sparse.csr_array(np.zeros_like(dense))
    if kind == "one column":
        dense[:, np.arange(n_features) != n_features // 2] = 0
    if kind == "empty columns":
        dense[:, ::3] = 0
        dense[5] = 0
    if kind == "all columns":
        dense[0] = 1.5
    rows = sparse.csr_array(dense)
    if kind == "stored zeros":
        rows.data[rows.indices % 2 == 0] = 0
    return rows


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("spectrum", [RBF(0.5), Laplacian(0.5), multiscale()])
@pytest.mark.parametrize("n_features", [1, 8, 13])
@pytest.mark.parametrize(
    "kind", ["all zero", "one column", "empty columns", "all columns", "stored zeros"]
)
def test_columns_without_entries_add_nothing(kind, n_features, spectrum, precision, rng):
    """The sums over columns in use are those with all frequencies, written down as an array."""
    X = sparse_rows(kind, n_features, rng)
    y = np.resize([-1, 1, 1], 30)
    target = target_of(y)
    pool = FrequencyPool(spectrum, 700, n_features, 3)
    some = ChosenFrequencies(pool, np.arange(699, 0, -7))
    for frequencies in (pool, some):
        found = alignment_sums(X, y, target, frequencies, precision=precision)
        expected = alignment_sums(X, y, target, frequencies[:], precision=precision)
        error = np.maximum(found.rounding, 1e-12) * 30
        assert (np.abs(found.waves - expected.waves) <= error).all()
        assert (np.abs(found.harmonics - expected.harmonics) <= 4 * error).all()
        np.testing.assert_allclose(found.rounding, expected.rounding)


@pytest.mark.parametrize("spectrum", [Matern(0.5), multiscale()])
def test_scales_of_a_large_pool_are_drawn_once_for_sparse_rows(spectrum, monkeypatch):
    """Bands are sorted by scale, and each would draw the scales of many units again."""
    drawn = []
    draw = FrequencyPool._drawn_scales
    monkeypatch.setattr(
        FrequencyPool,
        "_drawn_scales",
        lambda pool, indices: drawn.append(len(indices)) or draw(pool, indices),
    )
    X = sparse.random_array((30, 5), density=0.5, format="csr", rng=0)
    pool = FrequencyPool(spectrum, 40_000, 5, 3)
    alignment_sums(X, np.resize([-1, 1], 30), target_of(np.array([-1, 1])), pool)
    assert drawn == [40_000]


def test_used_columns():
    X = sparse.csr_array(np.array([[0, 1.0, 0, 0, 2.0], [0, 0, 0, 0, 3.0]]))
    pool = FrequencyPool(RBF(0.5), 50, 5, 3)
    kept, frequencies = _on_used_columns(X, pool)
    np.testing.assert_array_equal(kept.toarray(), [[1.0, 2.0], [0, 3.0]])
    np.testing.assert_array_equal(frequencies[:], pool[:][:, [1, 4]])
    others = pool[:]
    same, unchanged = _on_used_columns(X, others)
    assert same is X
    assert unchanged is others


@pytest.mark.parametrize("n_frequencies", [1, 16, 100])
def test_sums_of_large_phases_of_sparse_rows_keep_their_digits(n_frequencies, rng):
    """Frequencies of very different scales share a band, so some of them are taken out of it."""
    X = sparse.csr_array(rng.standard_normal((40, 9)) * (rng.random((40, 9)) < 0.5) * 300)
    y = np.resize([-1, 1], 40)
    pool = FrequencyPool(multiscale(), n_frequencies, 9, 3)
    sums = alignment_sums(X, y, target_of(y), pool)
    waves = np.exp(1j * (X.toarray() @ pool[:].astype(float).T)).sum(axis=0)
    error = 40 * np.maximum(sums.rounding, 1e-11)
    assert (np.abs(sums.waves.sum(axis=0) - waves) <= error).all()
