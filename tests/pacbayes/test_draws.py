import numpy as np
import pytest
from scipy import stats

from pacfourier.pacbayes.posteriors import draw_frequencies

POSTERIOR = np.array([0.5, 0.2, 0.15, 0.1, 0.05, 0.0])


def test_replacement_draws_follow_the_posterior(rng):
    indices, weights = draw_frequencies(POSTERIOR, 50_000, "replacement", rng)
    counts = np.bincount(indices, minlength=6)
    assert counts[5] == 0
    assert stats.chisquare(counts[:5], 50_000 * POSTERIOR[:5]).pvalue > 1e-6
    np.testing.assert_allclose(weights, 1 / 50_000)


def test_distinct_draws_are_sequential_draws_without_replacement(rng):
    """P(first i, then j) = Q_i Q_j / (1 - Q_i)."""
    pairs = np.zeros((6, 6))
    for _ in range(20_000):
        (first, second), _ = draw_frequencies(POSTERIOR, 2, "distinct", rng)
        pairs[first, second] += 1
    expected = 20_000 * np.outer(POSTERIOR, POSTERIOR) / (1 - POSTERIOR[:, np.newaxis])
    np.fill_diagonal(expected, 0)
    possible = expected > 0
    assert pairs[~possible].sum() == 0
    assert stats.chisquare(pairs[possible], expected[possible]).pvalue > 1e-6


def test_distinct_draws_take_weightless_frequencies_last(rng):
    posterior = np.concatenate([np.full(3, 1 / 3), np.zeros(50)])
    indices, weights = draw_frequencies(posterior, 10, "distinct", rng)
    assert set(indices[:3]) == {0, 1, 2}
    assert len(set(indices)) == 10
    np.testing.assert_allclose(weights, 0.1)


def test_weighted_draws_keep_the_heaviest_with_their_weights(rng):
    indices, weights = draw_frequencies(POSTERIOR[::-1], 3, "weighted", rng)
    assert indices.tolist() == [5, 4, 3]
    np.testing.assert_allclose(weights, np.array([0.5, 0.2, 0.15]) / 0.85)


@pytest.mark.parametrize("draw", ["distinct", "weighted"])
def test_all_frequencies_can_be_kept(draw, rng):
    indices, _ = draw_frequencies(POSTERIOR, 6, draw, rng)
    assert sorted(indices) == list(range(6))
    with pytest.raises(ValueError, match="n_frequencies must be at most n_candidates=6"):
        draw_frequencies(POSTERIOR, 7, draw, rng)


def test_unknown_draws_are_refused(rng):
    with pytest.raises(ValueError, match="draw must be one of"):
        draw_frequencies(POSTERIOR, 2, "systematic", rng)


def test_a_choice_on_rows_is_made_by_a_function(rng):
    chosen = np.array([3, 1])
    indices, weights = draw_frequencies(POSTERIOR, 2, "complementary", rng, lambda: chosen)
    assert indices is chosen
    assert weights.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="needs rows of the data"):
        draw_frequencies(POSTERIOR, 2, "complementary", rng)
