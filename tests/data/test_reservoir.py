import numpy as np
import pytest
from scipy import sparse, stats

from pacfourier.data import reservoir
from pacfourier.data.reservoir import _row_keys, reservoir_of
from pacfourier.data.samples import Block


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(reservoir, "_MOST_ROWS", 20)


@pytest.fixture
def block(rng):
    return Block(rng.standard_normal((100, 3)), np.arange(100), rng.uniform(1, 2, 100))


@pytest.mark.usefixtures("few")
def test_the_rows_do_not_depend_on_the_blocks(block, rng):
    whole = reservoir_of(block, seed=1)
    assert whole.X.shape == (20, 3)
    np.testing.assert_array_equal(whole.X, block.X[whole.y])
    np.testing.assert_array_equal(whole.weights, block.weights[whole.y])
    order = rng.permutation(100)
    parts = [
        reservoir_of(Block(*(part[rows] for part in block[:3])), seed=1)
        for rows in np.split(order, [1, 30, 31])
    ]
    left = parts[0].merge(parts[1]).merge(parts[2]).merge(parts[3])
    right = parts[0].merge(parts[1].merge(parts[2].merge(parts[3])))
    for merged in (left, right):
        for mine, theirs in zip(merged, whole, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.usefixtures("few")
def test_sparse_rows_are_the_dense_ones(block):
    thin = reservoir_of(block._replace(X=sparse.csr_array(block.X)), seed=1)
    np.testing.assert_array_equal(thin.X.toarray(), reservoir_of(block, seed=1).X)
    merged = thin.merge(thin)
    assert sparse.issparse(merged.X)
    assert merged.X.shape == (20, 3)


def test_a_small_sample_is_kept_as_it_is(block):
    kept = reservoir_of(block._replace(weights=None), seed=0)
    assert sorted(kept.y) == list(range(100))
    assert (kept.weights == 1).all()


def test_keys_are_uniform_and_differ_from_seed_to_seed():
    """Rows that differ in one small integer; the Kolmogorov distance at level 1e-6."""
    X = np.arange(5000.0)[:, np.newaxis]
    keys = [_row_keys(X, seed).astype(float) / 2.0**64 for seed in (0, 1, 2**64 - 1)]
    for each in keys:
        assert stats.kstest(each, "uniform").pvalue > 1e-6
    for first, second in ((0, 1), (1, 2), (0, 2)):
        assert abs(np.corrcoef(keys[first], keys[second])[0, 1]) < 5 / np.sqrt(5000)
