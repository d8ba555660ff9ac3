"""The rows of a fit are recognised as a whole, in any order, and no row can be looked up."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from tests.tabular.command import patients

from pacfourier.errors import InputError
from pacfourier.tabular import FitSettings, fit_table, load_model, save_model
from pacfourier.tabular.certifying import certified_rows
from pacfourier.tabular.first_pass import Division
from pacfourier.tabular.reading.table_files import open_table
from pacfourier.tabular.row_digests import RowDigests, _digest, comparable, row_sum

FEW = FitSettings(n_frequencies=5, duplicates="genuine")
UNCERTIFIED = dataclasses.replace(FEW, certify=None)


def survey(n_rows, seed):
    """Five yes/no questions: 64 possible rows with their classes, all of which repeat."""
    rng = np.random.default_rng(seed)
    answers = rng.integers(0, 2, (n_rows, 5))
    agrees = answers[:, 0] ^ (rng.random(n_rows) < 0.3)
    return pd.DataFrame(answers, columns=[*"abcde"]).assign(y=np.where(agrees, "in", "out"))


def prices(n_rows, seed):
    """A regression, with gaps and a column of text."""
    rng = np.random.default_rng(seed)
    area = rng.uniform(30, 150, n_rows)
    table = pd.DataFrame({"area": area, "town": rng.choice([*"pqr"], n_rows)})
    table.loc[::7, "town"] = None
    return table.assign(y=2.5 * area + 10 * rng.standard_normal(n_rows))


def people(n_rows, seed):
    return patients(n_rows, seed=seed).rename(columns={"state": "y"})


TABLES = {"survey": survey, "prices": prices, "people": people}


@pytest.fixture(scope="module", params=TABLES)
def fitted(request):
    make = TABLES[request.param]
    table = make(150, seed=0)
    return make, table, fit_table(table, "y", FEW)


def certified(model, table):
    return certified_rows(model, open_table(table), 0.05, "genuine")


def parts(table, fit):
    """Return the rows learned from and the rows held out."""
    draws = next(Division("y", True).drawn_blocks(open_table(table), print))[1]
    is_held_out = draws.splits <= np.sort(draws.splits)[len(fit.held_out.truth) - 1]
    return table[~is_held_out], table[is_held_out]


def shuffled(table):
    return table.sample(frac=1, random_state=1)[[*reversed(table.columns)]]


# What is refused and what is accepted


def test_the_table_of_the_fit_is_refused_in_any_order(fitted):
    _, table, fit = fitted
    for form in (table, shuffled(table)):
        with pytest.raises(InputError, match="got all rows of the table that the model was"):
            certified(fit.model, form)


def test_the_rows_learned_from_are_refused_in_any_order(fitted):
    _, table, fit = fitted
    with pytest.raises(InputError, match="got the rows that the model was fitted on"):
        certified(fit.model, shuffled(parts(table, fit)[0]))


def test_the_rows_held_out_are_named(fitted):
    _, table, fit = fitted
    found = certified(fit.model, shuffled(parts(table, fit)[1]))
    assert "that the fit held out" in found.notes[0]
    # The certificate is the same, but for the order of its rows and what is assumed about them.
    same = ("n_samples", "observed_error", "half_width")
    found, known = found.certificate.to_dict(), fit.certificate.to_dict()
    assert [found.get(name) for name in same] == [known.get(name) for name in same]


def test_without_a_certificate_all_rows_were_learned_from():
    table = people(150, seed=0)
    model = fit_table(table, "y", UNCERTIFIED).model
    with pytest.raises(InputError, match="must be new rows"):
        certified(model, table)


def test_other_tables_are_accepted(fitted):
    """New rows, most rows of the fit, and its rows with other labels are declared to be fresh."""
    make, table, fit = fitted
    relabelled = table.assign(y=np.roll(table["y"], 1))
    for other in (make(150, seed=1), make(30, seed=2), table[1:], relabelled):
        found = certified(fit.model, other)
        assert found.certificate.n_samples == len(other)
        assert not [note for note in found.notes if "held out" in note]
        [rows] = [each for each in found.certificate.assumptions if each.name == "rows"]
        assert rows.status == "declared"


def test_a_loaded_model_knows_its_table(fitted, tmp_path):
    _, table, fit = fitted
    save_model(fit.model, tmp_path / "model.skops")
    with pytest.raises(InputError, match="must be new rows"):
        certified(load_model(tmp_path / "model.skops"), shuffled(table))


# The sum of rows


def sum_of(frame):
    return row_sum(comparable(frame.drop(columns="y")), frame["y"].to_numpy())


@pytest.mark.parametrize("name", TABLES)
def test_a_sum_does_not_depend_on_order_or_blocks(name):
    table = TABLES[name](200, seed=0)
    whole = sum_of(table)
    np.testing.assert_array_equal(sum_of(table.sample(frac=1, random_state=0)), whole)
    np.testing.assert_array_equal(sum_of(table[:60]) + sum_of(table[60:]), whole)
    np.testing.assert_array_equal(sum_of(table[:0]), [0, 0, 0])


def mixed(print_, factor):
    """The naive twin of the mixing, in whole numbers of Python."""
    value = (print_ ^ (print_ >> 32)) * factor % 2**64
    return value ^ (value >> 32)


def test_a_sum_is_that_of_the_docstring(monkeypatch):
    prints = [1, 2**63 + 5, 2**64 - 1, 1]
    monkeypatch.setattr(
        "pacfourier.tabular.row_digests.row_fingerprints",
        lambda rows: np.array(prints, dtype=np.uint64)[: len(rows)],
    )
    factors = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
    expected = [4, *(sum(mixed(each, c) for each in prints) % 2**64 for c in factors)]
    found = row_sum(np.zeros((4, 1)), np.zeros(4))
    assert found.tolist() == expected


def test_another_pairing_of_the_same_columns_has_another_sum():
    """A sum that is linear in the cells would not see it."""
    table = people(100, seed=0)
    other = table.assign(pulse=np.roll(table["pulse"], 1))
    assert (sum_of(other)[1:] != sum_of(table)[1:]).all()


def test_rows_are_compared_by_all_their_cells():
    frame = pd.DataFrame(
        {
            "number": [1.0, np.nan, 1.0, np.nan],
            "text": pd.array(["a", None, "b", None], dtype="str"),
            "day": pd.to_datetime(["2020-01-01", None, "2020-01-01", None]),
        }
    )
    found = comparable(frame)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found[1], found[3])
    assert (found[0] != found[2]).tolist() == [False, True, False]
    assert (found[0] != found[1]).all()


# What is stored


def test_files_of_one_table_have_nothing_in_common(fitted):
    *_, fit = fitted
    first, second = fit.model.row_digests, RowDigests.of(*fit.rows.sums)
    assert not set(first.to_data().values()) & set(second.to_data().values())
    total = fit.rows.sums.sum(axis=0, dtype=np.uint64)
    assert second.part_of(total) == first.part_of(total) == "table"


def test_a_file_holds_digests_and_no_sums(fitted):
    """From the sums of two parts others would know the third, and a sum betrays its rows."""
    *_, fit = fitted
    data, hidden = fit.model.row_digests.to_data(), fit.rows.sums
    for total in (*hidden, hidden.sum(axis=0, dtype=np.uint64)):
        assert not any(f"{part:016x}" in text for part in total[1:] for text in data.values())
    assert data["learned"] == _digest(hidden[0], data["salt"]) != _digest(hidden[0], "0" * 32)


@pytest.mark.parametrize("name", ["salt", "table", "learned", "held_out"])
@pytest.mark.parametrize("value", ["", "0" * 31, "0" * 33, "G" * 32, "A" * 32, 0, None, b"0" * 32])
def test_forged_digests_are_refused(fitted, name, value):
    data = fitted[-1].model.row_digests.to_data()
    assert RowDigests.from_data(data) == fitted[-1].model.row_digests
    with pytest.raises(InputError, match=f"row digests: '{name}' must be"):
        RowDigests.from_data(data | {name: value})
    with pytest.raises(InputError, match="row digests"):
        RowDigests.from_data({key: each for key, each in data.items() if key != name})
