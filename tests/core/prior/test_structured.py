"""Structured frequencies: their law, their explicit rows, and the sums by fast transforms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse, stats
from scipy.special import hyp1f1
from tests.core.alignment.test_sums import KINDS, labels_of
from threadpoolctl import threadpool_limits

from pacfourier.core.alignment.sums import alignment_sums
from pacfourier.core.alignment.targets import target_of
from pacfourier.core.precision import LARGEST_SINGLE_PHASE
from pacfourier.core.prior import hadamard, structured
from pacfourier.core.prior.frequencies import _UNIT, FrequencyPool
from pacfourier.core.prior.structured import (
    _SMALLEST_SIZE,
    WIDTH,
    padded_size,
    structured_directions,
    structured_phase_sizes,
)
from pacfourier.spectra import RBF, Laplacian, Matern, Mixture, multiscale

DIMENSIONS = [1, 2, 3, 5, 64, 100, 129, 300]
UNIT_VARIANCE = RBF(0.5)
# Covers every plan of passes: none, one or two stages left, eight, and eight with some left.
SIZES = [128, 256, 512, 1024, 2048, 4096, 8192]


def structured_pool(n_frequencies, n_features, seed=0, spectrum=UNIT_VARIANCE):
    return FrequencyPool(spectrum, n_frequencies, n_features, seed, "structured")


def sums_and_twin(X, y, pool, **options):
    """The sums by transforms, and those of the explicit rows in double precision."""
    target = target_of(y)
    fast = alignment_sums(X, y, target, pool, **options)
    options["precision"] = "double"
    return fast, alignment_sums(X, y, target, pool[:], **options)


def assert_same_sums(fast, twin):
    """Means of waves differ by no more than the rounding that the sums themselves state."""
    for field, scale in (("waves", fast.weight), ("harmonics", fast.n_samples)):
        error = np.abs(getattr(fast, field) - getattr(twin, field)) / scale
        # A harmonic doubles the phase, and its error; in double precision 1e6 errs by 1e-10.
        assert (error <= 2 * fast.rounding + 1e-9).all(), field


def walsh_hadamard(vectors):
    """The transform along the first axis, from its recursive definition."""
    if len(vectors) == 1:
        return vectors
    first, second = (walsh_hadamard(half) for half in np.split(vectors, 2))
    return np.concatenate([first + second, first - second])


@pytest.mark.parametrize("size", SIZES)
def test_transforms_equal_the_recursion(size, rng):
    vectors = rng.integers(-3, 4, (size, WIDTH)).astype(np.float64)
    signs = 1.0 - 2 * rng.integers(0, 2, (3, size))
    expected = vectors
    for diagonal in signs:
        expected = walsh_hadamard(diagonal[:, np.newaxis] * expected)
    np.testing.assert_array_equal(hadamard.transformed(vectors, signs), expected)


@pytest.mark.parametrize("n_features", [1, 100, 128, 300])
def test_explicit_rows_are_those_of_the_product(n_features, rng):
    size = padded_size(n_features)
    signs = structured.random_signs(rng, size)
    product = np.eye(size)
    for diagonal in signs:
        product = linalg.hadamard(size) @ (diagonal[:, np.newaxis] * product)
    positions = rng.permutation(size)[: size // 2 + 1]
    directions = structured_directions(signs, positions, n_features)
    expected = product[positions, :n_features] / size**1.5
    np.testing.assert_allclose(directions, expected, rtol=1e-15)


def test_padding_goes_to_the_next_power_of_two():
    sizes = {1: 128, 128: 128, 129: 256, 784: 1024, 1024: 1024, 1025: 2048, 54_877: 65_536}
    assert {n_features: padded_size(n_features) for n_features in sizes} == sizes


@pytest.mark.parametrize("size", [128, 1024])
def test_blocks_without_padding_are_orthogonal(size):
    block = structured_pool(2 * size, size)[size:].astype(np.float64)
    lengths = np.linalg.norm(block, axis=1)
    cosines = block @ block.T / np.outer(lengths, lengths)
    np.testing.assert_allclose(cosines, np.eye(size), rtol=0, atol=1e-6)


@pytest.mark.parametrize("n_features", [1, 2, 5, 100, 128, 784])
def test_lengths_have_the_chi_law(n_features):
    """Exact at a power of two; after a cut, to what 20 units can see at level 1e-6."""
    rows = structured_pool(20 * _UNIT, n_features)[:].astype(np.float64)
    squares = np.sum(rows**2, axis=1)
    assert stats.kstest(squares, "chi2", args=(n_features,)).pvalue > 1e-6


@pytest.mark.parametrize("n_features", [3, 100, 300])
def test_rows_have_mean_zero_and_unit_covariance(n_features):
    """Five standard errors at independent rows, over all entries of the covariance."""
    rows = structured_pool(16 * _UNIT, n_features)[:].astype(np.float64)
    n_entries = n_features * (n_features + 1) / 2
    z = stats.norm.isf(1e-6 / n_entries)
    assert np.abs(rows.mean(axis=0)).max() < z / np.sqrt(len(rows))
    covariance = rows.T @ rows / len(rows) - np.eye(n_features)
    assert np.abs(covariance).max() < z * np.sqrt(2 / len(rows))


@pytest.mark.parametrize("shape", ["one feature", "two features", "flat", "normal"])
@pytest.mark.parametrize("size", [128, 1024])
def test_kernel_of_structured_directions_is_the_rbf_kernel(size, shape, rng):
    """Blocks are independent: five standard errors of their means, no bias beside them.

    The mean over the chi radius r of cos(r a) is 1F1(p/2; 1/2; -a^2/2), in closed form, so that
    the directions alone are random here; 20 blocks of 1,024 or 160 of 128 rows.
    """
    delta = {
        "one feature": np.eye(1, size)[0],
        "two features": np.eye(2, size).sum(axis=0),
        "flat": np.ones(size),
        "normal": rng.standard_normal(size),
    }[shape]
    deltas = np.outer([0.5, 1.0, 2.0], delta / np.linalg.norm(delta))
    blocks = []
    for _ in range(160 * 128 // size):
        vectors = np.zeros((size, WIDTH))
        vectors[:, : len(deltas)] = deltas.T
        signs = structured.random_signs(rng, size).astype(float)
        angles = hadamard.transformed(vectors, signs)[:, : len(deltas)] / size**1.5
        blocks.append(hyp1f1(size / 2, 0.5, -0.5 * angles**2).mean(axis=0))
    errors = np.stack(blocks) - RBF(0.5).kernel(deltas)
    assert (np.abs(errors.mean(axis=0)) < 5 * stats.sem(errors)).all()


@given(
    n_features=st.sampled_from(DIMENSIONS),
    n_samples=st.integers(2, 3 * WIDTH),
    n_frequencies=st.integers(1, 3 * _SMALLEST_SIZE),
    kind=st.sampled_from(KINDS),
    dtype=st.sampled_from([np.float32, np.float64]),
    weighted=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=80, deadline=None)
def test_transforms_give_the_sums_of_the_explicit_rows(
    n_features, n_samples, n_frequencies, kind, dtype, weighted, seed
):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features)).astype(dtype)
    y = labels_of(kind, n_samples, rng)
    weights = rng.uniform(0.2, 3, n_samples) if weighted else None
    pool = structured_pool(n_frequencies, n_features, seed, multiscale())
    fast, twin = sums_and_twin(X, y, pool, sample_weight=weights)
    assert (fast.rounding > 0).all()
    # Codes of numbers reach a few units: the rounding is stated for codes of one.
    if kind in ("continuous", "multioutput"):
        fast.rounding[:] *= 1 + np.abs(target_of(y).encode(y)).max()
    assert_same_sums(fast, twin)


def test_transforms_are_used(rng, monkeypatch):
    """The twin tests above would pass without them."""
    X, y = rng.standard_normal((10, 5), dtype=np.float32), np.resize([0, 1], 10)
    pool = structured_pool(50, 5)
    monkeypatch.setattr(FrequencyPool, "__getitem__", None)
    alignment_sums(X, y, target_of(y), pool)


def test_rows_beyond_one_copy_are_added(rng, monkeypatch):
    """Rows are laid side by side a few groups at a time."""
    X, y = rng.standard_normal((5 * WIDTH + 7, 100), dtype=np.float32), np.arange(5 * WIDTH + 7) % 3
    pool = structured_pool(300, 100)
    monkeypatch.setattr(structured, "_SIDE_NUMBERS", 2 * WIDTH * 100)
    assert_same_sums(*sums_and_twin(X, y, pool))


def test_phases_too_large_for_single_precision_are_taken_in_double(rng):
    X = (1e4 * rng.standard_normal((40, 100))).astype(np.float32)
    y = np.resize([0, 1], 40)
    pool = structured_pool(500, 100, spectrum=multiscale())
    sizes = structured_phase_sizes(pool.radii(), np.abs(X).max(axis=0))
    fast, twin = sums_and_twin(X, y, pool)
    large = sizes > LARGEST_SINGLE_PHASE
    assert 0.2 < large.mean() < 0.8
    np.testing.assert_array_equal(fast.rounding == 0, large)
    assert_same_sums(fast, twin)


def test_double_precision_takes_the_explicit_rows(rng):
    X, y = rng.standard_normal((40, 7)), np.resize([0, 1, 2], 40)
    pool = structured_pool(200, 7)
    fast, twin = sums_and_twin(X, y, pool, precision="double")
    np.testing.assert_allclose(fast.waves, twin.waves, rtol=0, atol=1e-12)
    assert not fast.rounding.any()


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, np.asfortranarray])
def test_sparse_and_fortran_samples(container, rng):
    X = rng.standard_normal((90, 30), dtype=np.float32) * (rng.random((90, 30)) < 0.2)
    y = np.resize([0, 1], 90)
    assert_same_sums(*sums_and_twin(container(X), y, structured_pool(200, 30)))


@pytest.mark.parametrize("spectrum", [Laplacian(0.5), Mixture([RBF(), Laplacian()])], ids=repr)
def test_spectra_that_scale_features_apart_take_the_explicit_rows(spectrum, rng):
    X, y = rng.standard_normal((30, 4), dtype=np.float32), np.resize([0, 1], 30)
    pool = structured_pool(150, 4, spectrum=spectrum)
    assert not pool.is_structured
    assert_same_sums(*sums_and_twin(X, y, pool))


def test_only_structured_pools_are_structured():
    assert not FrequencyPool(RBF(), 10, 3, 0, "iid").is_structured
    assert structured_pool(10, 3, spectrum=Matern()).is_structured


def test_radii_are_the_lengths_of_rows_without_padding():
    pool = structured_pool(2 * _UNIT + 5, 128, spectrum=multiscale())
    np.testing.assert_allclose(np.linalg.norm(pool[:], axis=1), pool.radii(), rtol=1e-5)


def test_threads_do_not_change_a_bit(rng):
    X, y = rng.standard_normal((300, 50), dtype=np.float32), np.resize([0, 1, 2], 300)
    sums = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            sums.append(alignment_sums(X, y, target_of(y), structured_pool(1000, 50)))
    np.testing.assert_array_equal(sums[0].waves, sums[1].waves)
    np.testing.assert_array_equal(sums[0].harmonics, sums[1].harmonics)


def test_read_only_samples_are_accepted(rng):
    X, y = rng.standard_normal((30, 4), dtype=np.float32), np.resize([0, 1], 30)
    expected = alignment_sums(X, y, target_of(y), structured_pool(50, 4)).waves
    X.flags.writeable = False
    frozen = alignment_sums(X, y, target_of(y), structured_pool(50, 4)).waves
    np.testing.assert_array_equal(frozen, expected)
