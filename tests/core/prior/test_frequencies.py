import copy
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pacfourier.core import loops
from pacfourier.core.prior import frequencies
from pacfourier.core.prior.frequencies import (
    _UNIT,
    _UNITS_TOGETHER,
    ChosenFrequencies,
    FrequencyPool,
    _standard_normals,
)
from pacfourier.spectra import RBF, Laplacian, Matern, multiscale

SPECTRA = [RBF(0.5), Laplacian(0.5), Matern(0.5), multiscale()]


@pytest.mark.parametrize("spectrum", SPECTRA, ids=lambda s: type(s).__name__)
def test_pool_does_not_depend_on_how_it_is_read(spectrum, rng):
    pool = FrequencyPool(spectrum, 3 * _UNIT + 17, 5, 11)
    whole = pool[:]
    pieces = np.concatenate([pool[start : start + 100] for start in range(0, len(pool), 100)])
    indices = rng.integers(0, len(pool), 50)
    np.testing.assert_array_equal(pieces, whole)
    np.testing.assert_array_equal(pool[indices], whole[indices])
    assert whole.shape == pool.shape
    assert whole.dtype == np.float32


@pytest.mark.parametrize("spectrum", SPECTRA, ids=lambda s: type(s).__name__)
def test_scales_that_are_kept_are_those_that_are_drawn(spectrum, rng):
    """The scales of a small pool are kept, those of a large one are drawn at every call."""
    small = FrequencyPool(spectrum, 2000, 5, 11)
    large = FrequencyPool(spectrum, _UNITS_TOGETHER * _UNIT + 1, 5, 11)
    rows = rng.integers(0, 2000, 50)
    for _ in range(2):
        np.testing.assert_array_equal(small.scales(rows), large.scales(rows))


def test_equal_pools_share_their_scales(monkeypatch):
    frequencies._few_scales.cache_clear()
    drawn, draw = [], FrequencyPool._drawn_scales
    monkeypatch.setattr(
        FrequencyPool, "_drawn_scales", lambda *given: drawn.append(given) or draw(*given)
    )
    for seed in (1, 1, 2, 1):
        FrequencyPool(multiscale(), 2000, 5, seed).scales(np.arange(9))
    assert len(drawn) == 2


def test_kernels_that_have_no_hash_are_drawn_every_time():
    @dataclass(frozen=True)
    class Unhashable(RBF):
        __hash__ = None

    pool = FrequencyPool(Unhashable(0.5), 2000, 5, 11)
    np.testing.assert_array_equal(pool[:9], FrequencyPool(RBF(0.5), 2000, 5, 11)[:9])


def test_pool_is_a_prefix_of_a_larger_pool():
    small = FrequencyPool(RBF(), 100, 4, 3)[:]
    large = FrequencyPool(RBF(), 2000, 4, 3)[:100]
    np.testing.assert_array_equal(small, large)


def test_pools_are_equal_when_their_recipes_are():
    pool = FrequencyPool(multiscale(), 100, 4, 3)
    assert pool == pickle.loads(pickle.dumps(pool)) == copy.deepcopy(pool)
    assert pool != FrequencyPool(multiscale(), 100, 4, 4)
    assert pool != FrequencyPool(RBF(), 100, 4, 3)


def test_seeds_give_other_frequencies():
    pools = [FrequencyPool(RBF(), 64, 3, seed)[:] for seed in (0, 1, 2**32, 2**63)]
    for i, first in enumerate(pools):
        for second in pools[:i]:
            assert not np.isclose(first, second).any(axis=1).all()


def test_no_frequency_comes_twice():
    pool = FrequencyPool(RBF(0.5), 4 * _UNIT, 3, 11)
    assert len(np.unique(np.abs(pool[:]), axis=0)) == len(pool)


def test_philox_known_answers():
    """The published vectors of Philox4x32-10 (Random123 distribution)."""
    zeros, ones = np.uint32(0), np.uint32(0xFFFFFFFF)
    assert [hex(int(w)) for w in loops._philox(*[zeros] * 6)] == [
        "0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8",
    ]  # fmt: skip
    assert [hex(int(w)) for w in loops._philox(*[ones] * 6)] == [
        "0x408f276d", "0x41c83b0e", "0xa20bc7c6", "0x6d5451fd",
    ]  # fmt: skip


def test_normals_are_standard_and_independent():
    """Each test has failure probability 1e-6 for a perfect generator."""
    normals = _standard_normals(5, np.arange(20_000), 50).astype(np.float64)
    assert stats.kstest(normals.ravel(), "norm").pvalue > 1e-6
    z = stats.norm.isf(1e-6 / (2 * 50 * 49 / 2))
    correlations = np.corrcoef(normals.T) - np.eye(50)
    assert np.abs(correlations).max() < z / np.sqrt(len(normals))
    lagged = np.mean(normals[1:] * normals[:-1])
    assert abs(lagged) < 4.9 / np.sqrt(normals.size)
    squares = np.corrcoef((normals**2).T) - np.eye(50)
    assert np.abs(squares).max() < z / np.sqrt(len(normals))


@given(
    st.integers(1, 70), st.integers(1, 40), st.integers(0, 2**64 - 1), st.data(),
    st.sampled_from(SPECTRA),
)  # fmt: skip
@settings(deadline=None, max_examples=60)
def test_some_columns_have_the_bits_of_the_whole_rows(n_features, n_rows, seed, data, spectrum):
    """Also where the number of columns is not a multiple of four, and for one scale per column."""
    chosen = data.draw(st.sets(st.integers(0, n_features - 1), min_size=1))
    columns = np.array(sorted(chosen))
    pool = FrequencyPool(spectrum, 1000, n_features, seed)
    rows = np.random.default_rng(seed).integers(0, 1000, n_rows)
    found = pool.columns(rows, columns)
    assert found.flags.f_contiguous
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, pool[rows][:, columns])


def test_some_columns():
    pool = FrequencyPool(RBF(0.5), 2 * _UNIT, 9, 3)
    columns = np.array([0, 4, 8])
    np.testing.assert_array_equal(pool.columns(slice(3, 40), columns), pool[3:40][:, columns])
    chosen = ChosenFrequencies(pool, np.array([700, 2, 30]), columns)
    assert (len(chosen), chosen.n_features) == (3, 3)
    np.testing.assert_array_equal(chosen[1:], pool[:][[2, 30]][:, columns])
