"""Integers of a table's model: what they are trained on, and what is certified about them."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.tabular.command import TABLES, fitted, patients, refused, squeezed, written

from pacfourier import bounds
from pacfourier.errors import InputError
from pacfourier.export import table_integers
from pacfourier.tabular import FitSettings, fit_table

SETTINGS = FitSettings(n_frequencies=5, integers=True)
# The encoded columns of the patients.
NAMES = ("pulse", "weight", "weight is missing", "ward = east", "ward = north", "ward = west")


def numbers_of(table, weight):
    """Return the rows of a table as a program in C would make them; gaps are a given weight."""
    wards = [table["ward"] == name for name in ("east", "north", "west")]
    columns = [table["pulse"], table["weight"].fillna(weight), table["weight"].isna(), *wards]
    return np.column_stack(columns).astype(np.float32)


def weights_of_patients(n_rows, seed=0):
    """Return patients whose weight is to be predicted from the pulse, with an amount for each."""
    table = patients(n_rows, seed)
    noise = np.random.default_rng([TABLES, seed]).standard_normal(n_rows)
    return table.assign(state=0.1 * table["pulse"] + 0.5 * noise)


@pytest.fixture(scope="module")
def fit():
    return fit_table(patients(), "state", SETTINGS)


def test_columns_are_the_encoded_ones_with_numbers_as_in_the_table(fit, program):
    found = table_integers(fit).model
    assert found.columns == NAMES
    table = patients(1000, seed=99)
    rows = numbers_of(table, patients()["weight"].median())
    expected = fit.model.predict(table)
    assert np.mean(found.predict(rows) == expected) > 0.97
    compiled = program(found.to_c(), ("unsigned char", "int32_t"), 1, found.classes)
    scores, classes = compiled(found.rows(rows))
    np.testing.assert_array_equal(scores, found.scores(rows))
    np.testing.assert_array_equal(np.array(found.classes)[classes[:, 0]], found.predict(rows))


def test_the_certificate_counts_the_errors_of_the_integers(fit):
    found = table_integers(fit, bits=4)
    held_out = fit.held_out
    rows = numbers_of(held_out.frame, fit.model.encoding.offsets[1])
    n_errors = int((found.model.predict(rows) != held_out.truth).sum())
    assert found.certificate.n_samples == len(held_out.truth) == 60
    assert found.certificate.observed_error == found.error == n_errors / 60
    expected = bounds.holdout(n_errors=n_errors, n_samples=60, epsilon=0.05).value
    assert found.certificate.error == expected
    assert found.statement == f"Error of the classifier <= {expected:.4f}, with probability 0.95"
    assert found.to_c().startswith(f"/* {found.statement}. */\n")


def test_amounts_are_certified_too():
    fit = fit_table(weights_of_patients(300), "state", SETTINGS)
    found = table_integers(fit)
    width, expected = (each.half_width(0.8) for each in (found.certificate, fit.certificate))
    assert abs(width - expected) < 0.2 * expected
    fresh = weights_of_patients(4000, seed=99)
    rows = numbers_of(fresh, fit.model.encoding.offsets[1])
    errors = np.abs(found.model.predict(rows) - fresh["state"])
    assert np.mean(errors <= width) >= 0.8


def test_labels_held_out_have_no_part_in_the_integers():
    """The rows that certify are the same, whatever their labels are."""
    table = patients()
    fit = fit_table(table, "state", SETTINGS)
    places = np.flatnonzero(table["pulse"].isin(fit.held_out.frame["pulse"]))
    assert len(places) == len(fit.held_out.truth)
    turned = table.copy()
    turned.loc[places, "state"] = np.where(table.loc[places, "state"] == "ill", "well", "ill")
    others = table_integers(fit_table(turned, "state", SETTINGS))
    integers = table_integers(fit)
    assert others.model.to_c() == integers.model.to_c()
    assert others.certificate.observed_error == 1 - integers.certificate.observed_error


def test_bytes_are_those_of_numbers_of_the_table():
    """A program has numbers in single precision: the certificate must be about their bytes."""
    far = patients().assign(pulse=lambda table: table["pulse"] + 12_345.678)
    fit = fit_table(far, "state", SETTINGS)
    offsets = fit.model.encoding.offsets
    rows, numbers = fit.rows.held_out.moved(offsets).X, numbers_of(fit.held_out.frame, offsets[1])
    # A number is rounded once before its median is taken off, and once after it is added again.
    np.testing.assert_array_max_ulp(rows, np.float32(numbers), 1)
    model = table_integers(fit).model
    np.testing.assert_array_equal(model.rows(rows), model.rows(numbers))


def test_numbers_too_far_from_zero_for_bytes_are_refused():
    times = patients().assign(pulse=lambda table: table["pulse"] + 1e8)
    with pytest.raises(ValueError, match=r"1 / 65,536 .* got less in column 'pulse': subtract"):
        table_integers(fit_table(times, "state", SETTINGS))


def test_the_header_has_a_row_without_values(fit):
    found = table_integers(fit)
    pulse, weight = fit.model.encoding.offsets[:2]
    assert found.model.table_row.empty == [pulse, weight, 1, 0, 0, 0]
    _, _, after = found.to_c().partition("float model_empty_row[6] = {")
    numbers = np.float32(re.findall(r"[-0-9.e]+(?=f)", after.partition("}")[0]))
    np.testing.assert_array_equal(numbers, np.float32(found.model.table_row.empty))


def test_a_program_may_follow_the_guide_of_the_header(fit, guide_output):
    model = table_integers(fit).model
    weight = fit.model.encoding.offsets[1]
    row = np.float32([[1.5, weight, 1, 1, 0, 0]])
    assert guide_output(model.to_c()) == str(model.classes.index(model.predict(row)[0]))


def test_few_rows_say_what_is_not_bounded():
    found = table_integers(fit_table(weights_of_patients(40), "state", SETTINGS))
    assert found.statement.startswith("Too few rows to bound the absolute error")
    assert "with probability" not in found.statement


def test_without_a_certificate_integers_learn_from_all_rows():
    settings = replace(SETTINGS, certify=None)
    found = table_integers(fit_table(patients(), "state", settings))
    assert found.certificate is None
    assert found.to_c().startswith("/* Nothing is certified: all rows were learned from")
    part = table_integers(fit_table(patients(), "state", SETTINGS))
    assert part.model.to_c() != found.model.to_c()


def test_a_statement_cannot_end_the_comment():
    copies = pd.concat([patients()] * 2, ignore_index=True)
    found = table_integers(fit_table(copies, "state", SETTINGS))
    assert found.statement.startswith("Nothing is certified: ")
    first, *_ = found.to_c().splitlines()
    assert first.count("*/") == 1
    assert first.endswith("*/")


def test_codes_and_texts_are_refused():
    coded = fit_table(patients(), "state", replace(SETTINGS, integers=False))
    with pytest.raises(ValueError, match=r"FitSettings\(integers=True\), got integers=False"):
        table_integers(coded)
    rng = np.random.default_rng(TABLES)
    words = rng.choice(["good", "rather", "long", "short", "odd"], (300, 6))
    remarks = patients().assign(remark=[" ".join(row) for row in words])
    with pytest.raises(InputError, match="got texts in 'remark'"):
        fit_table(remarks, "state", replace(SETTINGS, types={"remark": "text"}))


def test_the_command_writes_the_same_header(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = written(patients(), tmp_path / "data.csv")
    _, result = fitted(data, "--integers", "small.h")
    expected = table_integers(fit_table(data, "state", SETTINGS))
    assert (tmp_path / "small.h").read_text() == expected.to_c(prefix="small")
    printed = squeezed(result.stdout)
    assert f"In integers: {expected.model.n_bytes} bytes of constants." in printed
    assert f"their error is {100 * expected.error:.2f} %." in printed
    assert f"{expected.statement}." in printed
    assert "hold together with probability 0.9." in printed
    before = (tmp_path / "small.h").read_bytes()
    options = ("fit", data, "--target", "state", "--out", "m.skops", "--integers")
    assert "small.h" in refused(*options, "small.h")
    assert "must end in .h" in refused(*options, "small.c")
    assert (tmp_path / "small.h").read_bytes() == before
