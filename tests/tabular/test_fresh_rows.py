"""New rows are told from those of the fit, and no row of the fit can be looked up."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pacfourier.errors import InputError
from pacfourier.tabular.certifying import COINCIDENCE, fresh_certificate
from pacfourier.tabular.fitting import fit_table
from pacfourier.tabular.fresh_rows import (
    NOISE_CUMULANT,
    NOISE_VARIANCE,
    ODDS_FACTOR,
    agreement_probability,
    bucket_counts,
    n_buckets,
    noisy_counts,
    row_counts,
)
from pacfourier.tabular.model import FitSettings
from pacfourier.tabular.reading.table_files import open_table

FEW = FitSettings(n_frequencies=5)

VALUES = np.arange(-60, 61)
# Proportional to 3^-|k|, with sum one.
NOISE = 0.5 * float(ODDS_FACTOR) ** -np.abs(VALUES)


def measurements(n_rows, seed):
    """Rows that never repeat."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n_rows, 2))
    return pd.DataFrame(x, columns=["a", "b"]).assign(
        y=np.where(x[:, 0] + 0.5 * rng.standard_normal(n_rows) > 0, "up", "down")
    )


def survey(n_rows, seed):
    """Five yes/no questions: 64 possible rows with their classes, all of which repeat."""
    rng = np.random.default_rng(seed)
    answers = rng.integers(0, 2, (n_rows, 5))
    agrees = answers[:, 0] ^ (rng.random(n_rows) < 0.3)
    return pd.DataFrame(answers, columns=[*"abcde"]).assign(y=np.where(agrees, "in", "out"))


TABLES = {"measurements": measurements, "survey": survey}


@pytest.fixture(scope="module", params=TABLES)
def fitted(request):
    make = TABLES[request.param]
    table = make(400, seed=0)
    return make, table, fit_table(table, "y", FEW).model


def seeded(model, table, seed):
    """Return the model with the noise of a seed."""
    X = model.encoding.encoded(model.columns.typed(table))
    counts = row_counts([(X, table["y"].to_numpy(str))], np.random.default_rng(seed))
    return dataclasses.replace(model, row_counts=counts)


def certified(model, table):
    return fresh_certificate(model, open_table(table), is_fresh=True, duplicates="genuine")


# What is refused and what is accepted


def test_the_table_of_the_fit_is_refused_as_fresh(fitted):
    _, table, model = fitted
    shuffled = table.sample(frac=1, random_state=0)[[*reversed(table.columns)]]
    for seed in range(20):
        with pytest.raises(InputError, match="must be new rows, got 400 rows, many of which"):
            certified(seeded(model, table, seed), shuffled)


def test_a_rounded_copy_is_refused_as_fresh(fitted):
    _, table, model = fitted
    for seed in range(20):
        with pytest.raises(InputError, match="must be new rows"):
            certified(seeded(model, table, seed), table.round(6))


def test_new_tables_of_the_same_law_are_accepted(fitted):
    make, table, model = fitted
    for seed in range(1, 11):
        for n_rows in (30, 400, 2000):
            certificate = certified(seeded(model, table, seed), make(n_rows, seed))
            assert certificate.n_samples == n_rows


def test_the_class_of_a_row_counts(fitted):
    """The same rows with other classes are another table."""
    make, table, model = fitted
    other = make(400, seed=1)["y"].to_numpy()
    assert certified(seeded(model, table, 0), table.assign(y=other)).n_samples == 400


def test_few_rows_of_the_fit_need_a_declaration():
    model = fit_table(measurements(100, seed=0), "y", FEW).model
    fresh = open_table(measurements(100, seed=1))
    with pytest.raises(InputError, match="too few to be recognised: pass --fresh"):
        fresh_certificate(model, fresh)
    assert fresh_certificate(model, fresh, is_fresh=True).n_samples == 100


def test_repeated_fresh_rows_give_no_bound(fitted):
    make, table, model = fitted
    copies = pd.concat([make(200, seed=3)] * 5)
    certificate = fresh_certificate(seeded(model, table, 0), open_table(copies), is_fresh=True)
    assert certificate.violations


def agreement(law, n_rows, n_stored, n_common, rng):
    """Probability of agreement of two tables of a law over buckets, with common rows."""
    common = rng.multinomial(n_common, law)
    stored = noisy_counts(common + rng.multinomial(n_stored - n_common, law), rng)
    counts = common + rng.multinomial(n_rows - n_common, law)
    return agreement_probability(stored, counts, n_stored=n_stored, n_rows=n_rows)


def atoms(n_atoms, n_buckets, rng):
    """A law with few different rows, of very different probabilities."""
    law = np.bincount(rng.integers(0, n_buckets, n_atoms), rng.dirichlet(np.ones(n_atoms)))
    return np.pad(law, (0, n_buckets - len(law))) / law.sum()


@pytest.mark.parametrize("n_atoms", [2, 16, 64, None])
@pytest.mark.parametrize(("n_stored", "n_rows"), [(50, 50), (1000, 200), (1000, 1000), (400, 4000)])
def test_false_alarms_are_rarer_than_one_in_a_thousand(n_atoms, n_stored, n_rows, rng):
    """With probability 1 - 1e-6 over this test, if the rate is 1e-3."""
    size, n_alarms = n_buckets(n_stored), 0
    for _ in range(1000):
        law = atoms(n_atoms, size, rng) if n_atoms else np.full(size, 1 / size)
        n_alarms += agreement(law, n_rows, n_stored, 0, rng) < COINCIDENCE
    assert n_alarms <= stats.binom.isf(1e-6, 1000, 1e-3)


@pytest.mark.parametrize(
    ("n_rows", "n_common"),
    [(1000, 1000), (600, 600), (500, 500), (1000, 600), (3000, 1000)],
    ids=["all", "training part", "half", "mixed", "all and more"],
)
def test_large_overlaps_are_found(n_rows, n_common, rng):
    """Nine times in ten or more, for a table of 1,000 rows that do not repeat."""
    law = np.full(n_buckets(1000), 1 / n_buckets(1000))
    found = [agreement(law, n_rows, 1000, n_common, rng) < COINCIDENCE for _ in range(100)]
    assert np.mean(found) >= 0.9


def test_small_overlaps_are_not_found(rng):
    """The documents say so: 5 % of 200 rows cannot be found without recognising single rows."""
    law = np.full(n_buckets(1000), 1 / n_buckets(1000))
    found = [agreement(law, 200, 1000, 10, rng) < COINCIDENCE for _ in range(100)]
    assert np.mean(found) <= 0.1


# What is stored


def test_noise_has_the_stated_law(rng):
    assert NOISE.sum() == pytest.approx(1)
    variance = NOISE @ VALUES**2
    assert variance == pytest.approx(NOISE_VARIANCE)
    assert NOISE @ VALUES**4 - 3 * variance**2 == pytest.approx(NOISE_CUMULANT)
    noise = noisy_counts(np.zeros(200_000, dtype=int), rng)
    # Hoeffding at 1e-6, for each of nine values.
    radius = np.sqrt(np.log(2 * 9 / 1e-6) / (2 * 200_000))
    for value in range(-4, 5):
        assert np.mean(noise == value) == pytest.approx(NOISE[60 + value], abs=radius)


def test_one_row_changes_the_odds_by_three_at_most():
    """Differential privacy of one bucket. A row is in one bucket, an exchange changes two."""
    with_row, without = NOISE[:-1], NOISE[1:]
    assert (np.maximum(with_row / without, without / with_row) <= ODDS_FACTOR * (1 + 1e-12)).all()


def test_the_best_attack_on_a_row_is_right_three_times_in_four(rng):
    """The attacker knows all other rows, and guesses by the likelihood ratio."""
    is_member = np.arange(200_000) % 2
    guess = noisy_counts(7 + is_member, rng) > 7
    radius = np.sqrt(np.log(2 / 1e-6) / (2 * 200_000))
    assert np.mean(guess == is_member) == pytest.approx(0.75, abs=radius)


def test_noise_is_not_that_of_the_seed(fitted):
    _, table, model = fitted
    again = fit_table(table, "y", FEW).model
    assert again.record["confusion"] == model.record["confusion"]
    assert (again.row_counts.counts != model.row_counts.counts).any()


def counted(X, labels, n_buckets):
    return bucket_counts(X, labels, np.ones(X.shape[1]), 0.0, n_buckets)


def test_buckets_do_not_depend_on_order_or_on_rounding(rng):
    X, labels = rng.integers(0, 3, (500, 4)).astype(float), rng.choice(["p", "q"], 500)
    counts = counted(X, labels, 40)
    order = rng.permutation(500)
    np.testing.assert_array_equal(counted(X[order], labels[order], 40), counts)
    np.testing.assert_array_equal(counted((X + 1e-6).astype(np.float32), labels, 40), counts)
    assert counts.sum() == 500


def test_buckets_of_distinct_rows_are_equally_likely(rng):
    X = rng.standard_normal((20_000, 6))
    assert stats.chisquare(counted(X, np.full(20_000, "p"), 100)).pvalue > 1e-6


def test_amounts_that_nearly_agree_are_one_label(rng):
    X, y = rng.standard_normal((500, 2)), rng.integers(0, 9, 500) * 1.0
    units = np.ones(2)
    counts = bucket_counts(X, y, units, 1.0, 40)
    np.testing.assert_array_equal(bucket_counts(X, y + 1e-4, units, 1.0, 40), counts)
    assert (bucket_counts(X, y + 1.0, units, 1.0, 40) != counts).any()
