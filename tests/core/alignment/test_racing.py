import numpy as np
import pytest

from pacfourier.core.alignment.racing import (
    first_rows,
    representatives,
    represented_weights,
    size_of_race,
)
from pacfourier.core.prior.frequencies import ChosenFrequencies, FrequencyPool
from pacfourier.spectra import RBF


def naive_representatives(losses, n_best, n_groups):
    ranked = sorted(range(len(losses)), key=lambda m: losses[m])
    found = {m: m for m in ranked[:n_best]}
    others = ranked[n_best:]
    start = 0
    for k in range(n_groups):
        size = len(others) // n_groups + (k < len(others) % n_groups)
        group = others[start : start + size]
        start += size
        for m in group:
            found[m] = group[size // 2]
    return [found[m] for m in range(len(losses))]


@pytest.mark.parametrize(
    ("n_candidates", "n_best", "n_groups"),
    [(100, 12, 6), (7, 3, 2), (5, 5, 1), (5, 9, 3), (4, 0, 1), (3, 1, 5)],
)
def test_representatives_equal_the_naive_ones(n_candidates, n_best, n_groups, rng):
    losses = rng.permutation(n_candidates) / n_candidates
    found = representatives(losses, n_best, n_groups)
    assert found.tolist() == naive_representatives(losses, n_best, n_groups)


def test_equal_losses_form_groups_too():
    found = representatives(np.zeros(20), 4, 4)
    assert len(np.unique(found)) == 8
    assert (found[found] == found).all()


def test_weights_move_to_representatives(rng):
    weights = rng.dirichlet(np.ones(50))
    found = representatives(rng.random(50), 5, 6)
    moved = represented_weights(weights, found)
    assert moved.sum() == pytest.approx(1)
    assert np.flatnonzero(moved).tolist() == np.unique(found).tolist()
    one = found[7]
    assert moved[one] == pytest.approx(weights[found == one].sum())


def test_a_sixteenth_of_the_rows_but_not_fewer_than_2000(rng):
    rows = first_rows(64_000, rng)
    assert len(rows) == 4_000
    assert (np.diff(rows) > 0).all()
    assert rows[-1] < 64_000
    assert len(first_rows(4_000, rng)) == 2_000
    assert first_rows(3_999, rng).tolist() == list(range(3_999))


def test_the_size_of_a_race():
    assert size_of_race(20_000, 100) == (2_500, 1_250)
    assert size_of_race(20_000, 1_000) == (4_000, 1_250)
    assert size_of_race(10, 1) == (4, 1)


@pytest.mark.parametrize("sampling", ["iid", "orthogonal", "sobol"])
def test_chosen_frequencies_are_those_of_the_pool(sampling):
    pool = FrequencyPool(RBF(0.5), 2_000, 5, seed=3, sampling=sampling)
    rows = np.array([3, 700, 701, 1_999])
    chosen = ChosenFrequencies(pool, rows)
    assert (len(chosen), chosen.n_features) == (4, 5)
    np.testing.assert_array_equal(chosen[1:3], pool[:][[700, 701]])
    np.testing.assert_array_equal(chosen[np.array([3, 0])], pool[:][[1_999, 3]])
