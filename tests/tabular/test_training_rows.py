"""Rows are divided at random, groups as a whole, and held-out rows decide nothing."""

import numpy as np
import pandas as pd
import pytest

from pacfourier.data.holdout import one_of_each
from pacfourier.errors import InputError
from pacfourier.tabular import training_rows as module
from pacfourier.tabular.first_pass import (
    Division,
    Draws,
    _RowSample,
    group_numbers,
    limit_for_two_labels,
    split_limit,
)
from pacfourier.tabular.reading import csv_files, table_blocks
from pacfourier.tabular.reading.table_files import open_table
from pacfourier.tabular.training_rows import (
    training_rows,
)


def divided(table, **options):
    return training_rows(open_table(table), Division("y", **options), print)


def table_of(n_rows, rng):
    x = rng.standard_normal(n_rows)
    groups = [f"g{number}" for number in rng.integers(0, n_rows // 4, n_rows)]
    return pd.DataFrame({"x": x, "z": rng.standard_normal(n_rows), "group": groups}).assign(
        y=np.where(x > 0, "up", "down")
    )


def test_a_fifth_of_the_rows_is_held_out(rng):
    rows = divided(table_of(500, rng)[["x", "z", "y"]])
    assert len(rows.held_out.y) == 100
    assert len(rows.learned.y) == 400
    # The median is that of the learned rows, which become zero on average.
    assert np.median(rows.learned.X[:, 0]) == pytest.approx(0, abs=1e-6)


def test_a_seed_gives_one_split_and_another_seed_another(rng):
    table = table_of(200, rng)[["x", "z", "y"]]
    first, again, other = (divided(table, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.held_out.X, again.held_out.X)
    assert not np.array_equal(first.frame["x"], other.frame["x"])


def test_blocks_do_not_change_the_split(rng, tmp_path, monkeypatch):
    table = table_of(3000, rng)[["x", "z", "y"]]
    table.to_csv(tmp_path / "t.csv", index=False)
    whole = divided(tmp_path / "t.csv")
    monkeypatch.setattr(csv_files, "PIECE_BYTES", 10_000)
    monkeypatch.setattr(table_blocks, "BLOCK_BYTES", 10_000)
    monkeypatch.setattr(table_blocks, "BLOCK_BYTES_PER_COLUMN", 1)
    assert len(list(open_table(tmp_path / "t.csv").blocks())) > 5
    parts = divided(tmp_path / "t.csv")
    np.testing.assert_array_equal(whole.held_out.X, parts.held_out.X)
    np.testing.assert_array_equal(whole.learned.y, parts.learned.y)


@pytest.mark.parametrize("n_rows", [50, 100, 101, 130, 2000])
def test_a_sample_has_the_rows_with_the_smallest_numbers(n_rows, rng):
    """Whatever the blocks are. The twin sorts all rows at once."""
    table = pd.DataFrame({"x": rng.standard_normal(n_rows)})
    draws = Draws(rng.random(n_rows), rng.random(n_rows))
    sample = _RowSample(100)
    for rows in np.array_split(np.arange(n_rows), 7):
        sample.add(table.iloc[rows], Draws(*(each[rows] for each in draws)))
        assert len(sample.draws.samples) <= max(1.25 * 100, len(rows) + 100)
    chosen = np.sort(np.argsort(draws.samples)[:100])
    found, splits = sample.finished()
    assert found["x"].tolist() == table["x"].to_numpy()[chosen].tolist()
    assert splits.tolist() == draws.splits[chosen].tolist()


def test_groups_are_never_on_both_sides(rng):
    table = table_of(800, rng)
    rows = divided(table, group="group")
    assert not np.isin(rows.held_out.groups, rows.learned.groups).any()
    assert "group" not in rows.columns.names
    held_out = table[table["x"].isin(rows.frame["x"])]
    learned = table[~table["x"].isin(rows.frame["x"])]
    assert not set(held_out["group"]) & set(learned["group"])
    n_groups = table["group"].nunique()
    assert held_out["group"].nunique() == np.ceil(0.2 * n_groups)


def test_one_row_of_each_group_certifies(rng):
    rows = divided(table_of(800, rng), group="group").held_out
    places = one_of_each(rows.groups, rows.samples)
    assert len(places) == len(np.unique(rows.groups)) < len(rows.y)
    assert len(np.unique(rows.groups[places])) == len(places)


def test_without_groups_all_rows_certify(rng):
    rows = divided(table_of(300, rng)[["x", "z", "y"]]).held_out
    np.testing.assert_array_equal(one_of_each(rows.groups, rows.samples), np.arange(len(rows.y)))


def test_numbers_of_groups_are_uniform_and_a_row_without_group_stands_alone(rng):
    groups = pd.Series([f"g{number}" for number in range(2000)])
    numbers = group_numbers(groups, np.zeros(2000), seed=0)
    # Kolmogorov and Smirnov, at 1e-6 (Massart's constant).
    distance = np.abs(np.sort(numbers) - np.arange(2000) / 2000).max()
    assert distance < np.sqrt(np.log(2 / 1e-6) / 4000) + 1 / 2000
    alone = rng.random(3)
    np.testing.assert_array_equal(
        group_numbers(pd.Series([None, "a", None]), alone, 0)[[0, 2]], alone[[0, 2]]
    )


def test_held_out_rows_do_not_decide_what_columns_hold(rng):
    """A category that only occurs in rows held out has no column of its own."""
    table = table_of(400, rng)[["x", "z", "y"]].assign(kind=rng.choice(["a", "b"], 400))
    rows = divided(table)
    is_held_out = table["x"].isin(rows.frame["x"])
    changed = table.assign(kind=table["kind"].mask(is_held_out, "only here"))
    assert divided(changed).encoding.names == rows.encoding.names


def test_rows_without_label_are_left_out_and_counted(rng):
    table = table_of(200, rng)[["x", "z", "y"]]
    table.loc[:9, "y"] = None
    rows = divided(table)
    assert rows.counts["without label"] == 10
    assert rows.counts["learned"] + rows.counts["held out"] == 190
    assert any("10 of 200 rows have no value of 'y'" in note for note in rows.notes)


def test_large_tables_are_thinned_with_a_note(rng, monkeypatch):
    table = table_of(2000, rng)[["x", "z", "y"]]
    monkeypatch.setattr(module, "_MOST_NUMBERS", 1000)
    rows = divided(table)
    # A quarter of 1,600 rows, within six standard deviations.
    assert len(rows.learned.y) == pytest.approx(400, abs=6 * np.sqrt(300))
    assert len(rows.held_out.y) == 400
    assert any("learned from a random 25.0% of its rows" in note for note in rows.notes)


def test_a_limit_leaves_something_on_both_sides():
    splits = np.linspace(0.1, 1, 10)
    assert (splits <= split_limit(splits, 0.2)).sum() == 2
    with pytest.raises(InputError, match="--certify must leave rows or groups"):
        split_limit(splits, 0.95)


def test_a_class_with_two_rows_is_learned_from(rng):
    """With half of the rows held out, a quarter of the fits had a single class."""
    table = table_of(60, rng)[["x", "z"]].assign(y=["rare"] * 2 + ["usual"] * 58)
    for seed in range(12):
        rows = divided(table, share=0.5, seed=seed)
        assert len(np.unique(rows.learned.y)) == 2
        assert len(rows.held_out.y) <= 30
        assert len(rows.learned.y) + len(rows.held_out.y) == 60


def test_the_limit_moves_only_if_a_second_label_is_missing():
    splits = np.linspace(0.1, 1, 10)
    labels = pd.Series(["b", None, *"baaaaaa", None])
    assert limit_for_two_labels(0.55, splits, labels) == pytest.approx(0.3)
    assert limit_for_two_labels(0.25, splits, labels) == 0.25
    # No row would be left, so nothing is moved, and the fit says that there is one class.
    assert limit_for_two_labels(0.55, splits, pd.Series([*"baaaaaaaaa"])) == 0.55
    assert limit_for_two_labels(0.55, splits, pd.Series([None] * 10)) == 0.55


def test_columns_that_do_not_exist(rng):
    table = table_of(100, rng)
    with pytest.raises(InputError, match="--group must be one of the columns"):
        divided(table, group="nobody")
    with pytest.raises(InputError, match="--group must differ from the target"):
        divided(table, group="y")
    with pytest.raises(InputError, match="data must have 20 rows or more, got 12"):
        divided(table[:12])
