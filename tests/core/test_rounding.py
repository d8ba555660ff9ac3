"""The allowance for single precision is a proved bound: its constants, and data that strain it."""

import numpy as np
import pytest
from numba import njit
from scipy import sparse

from pacfourier.core import loops
from pacfourier.core.alignment.sums import alignment_sums, signed_waves
from pacfourier.core.alignment.targets import ClassTarget
from pacfourier.core.precision import magnitudes_of, mean_phase_sizes, phase_sizes, single_rounding
from pacfourier.core.products import ROW_BLOCK, turn_blocks

TURNS = np.linspace(-0.5, 0.5, 200_001)


@njit(fastmath=True)
def waves_of(turns):
    waves = np.empty((2, turns.size), turns.dtype)
    for k in range(turns.size):
        waves[0, k], waves[1, k] = loops._cosine_sine(turns[k])
    return waves


def test_polynomials_have_the_errors_and_terms_of_the_proof():
    """In double precision, from the coefficients as they are stored."""
    powers = np.square(TURNS) ** np.arange(5)[:, np.newaxis]
    sine, cosine = (np.float64(each) for each in (loops.SIN_SINGLE, loops.COS_SINGLE))
    assert np.abs(TURNS * (sine @ powers) - np.sin(np.pi * TURNS)).max() < 3.3e-8
    assert np.abs(cosine @ powers - np.cos(np.pi * TURNS)).max() < 8.3e-8
    assert (np.abs(TURNS) * (np.abs(sine) @ powers)).max() < 2.31
    assert (np.abs(cosine) @ powers).max() < 2.51


def test_waves_in_single_precision_are_within_the_proved_error():
    turns = TURNS.astype(np.float32)
    exact = np.stack([np.cos(2 * np.pi * np.float64(turns)), np.sin(2 * np.pi * np.float64(turns))])
    errors = np.linalg.norm(waves_of(turns) - exact, axis=0)
    # Rounding errors cancel, so the proof has room to spare, but the errors are there.
    assert 1e-8 < errors.max() < 1.3e-5


def alike(n_features, value, scale):
    """Rows in which every sum of products is rounded in the same direction."""
    X = np.full((300, n_features), value)
    return X, np.linspace(0.9, 1.1, 30)[:, np.newaxis] * np.full((30, n_features), scale)


def alternating(rng):
    """Large terms that cancel, so that the phase is small and its rounding is not."""
    X = rng.uniform(1, 2, (300, 400)) * np.resize([1, -1], 400)
    return X, np.abs(rng.standard_normal((30, 400))) * 30


STRAINS = {
    "one feature": lambda _: alike(1, 1 + 2.0**-13 + 2.0**-24, 1500.0),
    "sixteen features": lambda _: alike(16, 1 / 3, 300.0),
    "many features": lambda _: alike(4096, 0.7, 15.0),
    "cancelling terms": alternating,
    "normal": lambda rng: (rng.standard_normal((300, 784)), rng.standard_normal((30, 784))),
    "sparse": lambda rng: (
        sparse.random_array((300, 2000), density=0.02, format="csr", rng=rng),
        30 * rng.standard_normal((30, 2000)),
    ),
}


def both_precisions(X, frequencies):
    y = (np.arange(X.shape[0]) % 3 == 0).astype(int)
    target = ClassTarget(np.arange(2))
    return (
        alignment_sums(X, y, target, frequencies, precision=precision)
        for precision in ("single", "double")
    )


@pytest.mark.parametrize("name", STRAINS)
def test_no_data_exceed_the_allowance(name, rng):
    single, double = both_precisions(*STRAINS[name](rng))
    assert_within(single, double)


def assert_within(single, double):
    """Means of waves, harmonics, losses and second moments, and both sides of two classes."""
    n, allowance = single.n_samples, single.rounding + 1e-12
    assert (single.rounding > 0).all()
    assert (double.rounding == 0).all()
    for code in range(2):
        assert (np.abs(single.waves[code] - double.waves[code]) / n <= allowance).all()
    assert (np.abs(single.harmonics - double.harmonics) / n <= 4 * allowance).all()
    agreement = np.array([[1.0, -1.0], [-1.0, 1.0]])
    slack = single.loss_rounding + 1e-12
    assert (np.abs(single.losses(agreement) - double.losses(agreement)) <= slack).all()
    assert (np.abs(single.second_moments() - double.second_moments()) <= slack).all()
    amplitudes, harmonics = signed_waves(single)
    mean = single.waves[1] - single.waves[0]
    direction = mean / np.abs(mean)
    exact = (double.waves[1] - double.waves[0]) / n * direction.conj()
    assert (amplitudes <= exact.real + 1e-12).all()
    assert (harmonics >= (double.harmonics / n * direction.conj() ** 2).real - 1e-12).all()


def test_a_random_walk_is_no_bound():
    """The reason for the proof: equal features have an error far above the usual estimate."""
    X, frequencies = alike(4096, 0.7, 15.0)
    single, double = both_precisions(X, frequencies)
    sizes = np.linalg.norm(frequencies * 0.7, axis=1)
    walk = 3e-6 + (4 + np.sqrt(4096)) * 2.0**-24 * sizes
    errors = np.abs(single.waves.sum(axis=0) - double.waves.sum(axis=0)) / 300
    assert errors.max() > 10 * walk.max()


def test_what_the_allowance_is_computed_from(rng):
    X = rng.standard_normal((3000, 4)) * (rng.random((3000, 4)) < 0.5)
    for container in (np.asarray, np.asfortranarray, sparse.csr_array):
        found = magnitudes_of(container(X))
        np.testing.assert_array_equal(found.largest, np.abs(X).max(axis=0))
        np.testing.assert_allclose(found.means, np.abs(X).mean(axis=0))
        assert found.most_products == (X != 0).sum(axis=1).max()
    frequencies = rng.standard_normal((70, 4)).astype(np.float32)
    terms = np.abs(frequencies.astype(np.float64) * found.largest)
    sums = np.abs(X[:, np.newaxis] * frequencies).sum(axis=2).mean(axis=0)
    for order in (np.ascontiguousarray, np.asfortranarray):
        sizes = phase_sizes(order(frequencies), found.largest)
        np.testing.assert_allclose(sizes, np.hypot.reduce(terms, 1))
        np.testing.assert_allclose(mean_phase_sizes(order(frequencies), found.means), sums)
    steps = 104 * 2.0**-24
    assert single_rounding(np.array([3.0]), 100) == pytest.approx(2e-5 + 3 * steps / (1 - steps))


@pytest.mark.parametrize("shape", [(1, 1), (33, 65), (70, 100)])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("order", [np.ascontiguousarray, np.asfortranarray])
def test_turns_are_the_product_with_rounded_frequencies(shape, kind, dtype, container, order, rng):
    frequencies = order(rng.standard_normal(shape).astype(kind))
    ((rows, turns),) = turn_blocks(container(np.eye(shape[1])), frequencies, dtype)
    assert rows == slice(0, shape[1])
    # The product with the identity is exact, so the turns have the very bits of this expression.
    np.testing.assert_array_equal(turns, (frequencies.astype(dtype) * dtype(0.5 / np.pi)).T)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_turns_of_sparse_rows_across_block_borders(dtype, index, rng):
    """Rows of no, one and many entries, unsorted and repeated."""
    n_samples, n_features = ROW_BLOCK + 5, 23
    counts = rng.integers(0, 12, n_samples)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(index)
    indices = rng.integers(0, n_features, indptr[-1]).astype(index)
    X = sparse.csr_array(
        (rng.standard_normal(indptr[-1]), indices, indptr), shape=(n_samples, n_features)
    )
    frequencies = rng.standard_normal((37, n_features)).astype(np.float32)
    expected = X.toarray() @ frequencies.T.astype(np.float64) / (2 * np.pi)
    # At most 11 terms, of which none is larger than 20 turns.
    error = 16 * 11 * 20 * np.finfo(dtype).eps
    blocks = [(rows, turns.copy()) for rows, turns in turn_blocks(X, frequencies, dtype)]
    assert [rows.stop for rows, _ in blocks] == [ROW_BLOCK, n_samples]
    for rows, turns in blocks:
        np.testing.assert_allclose(turns, expected[rows], rtol=0, atol=error)
