"""The command ``certify``, end to end: what it shows, and which tables it refuses."""

import re

import numpy as np
import pandas as pd
import pytest
from tests.tabular.command import (
    TABLES,
    bounds,
    error_on,
    fitted,
    notes,
    patients,
    record,
    refused,
    squeezed,
    succeeded,
    written,
)

TABLE = patients(600)
FRESH = patients(500, seed=1)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The current folder, to which nothing is written."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    return fitted(written(TABLE, folder / "data.csv"), out=folder / "model.skops")[0]


def survey(n_rows, seed):
    """Five yes/no questions: rows of independent people repeat."""
    rng = np.random.default_rng([TABLES, seed])
    answers = rng.integers(0, 2, (n_rows, 5))
    agrees = answers[:, 0] ^ (rng.random(n_rows) < 0.1)
    return pd.DataFrame(answers, columns=[*"abcde"]).assign(state=np.where(agrees, "in", "out"))


# What is shown


def test_a_model_alone_shows_its_bound(model):
    result = succeeded("certify", model)
    [bound] = bounds(result.stdout)
    assert f"<= {bound:.4f}" in record(model)["headline"]
    assert notes(result) == ""


def test_fresh_rows_give_an_error_and_a_bound(model):
    result = succeeded("certify", model, written(FRESH, "fresh.csv"))
    printed = squeezed(result.stdout)
    assert "500" in printed
    error = error_on(model, FRESH)
    assert f"{error:.4f}" in printed or f"{error:.3f}" in printed or f"{100 * error:.1f}" in printed
    # Hoeffding's radius is larger than that of the binomial law, here also for a bound that fails
    # with probability 0.0125.
    radius = np.sqrt(np.log(4 / 0.05) / (2 * 500))
    assert any(error < bound <= error + radius for bound in bounds(result.stdout))


def test_a_smaller_epsilon_gives_a_larger_bound(model):
    data = written(FRESH, "fresh.csv")
    usual = bounds(succeeded("certify", model, data).stdout)
    surer = bounds(succeeded("certify", model, data, "--epsilon", 0.001).stdout, 0.001)
    assert surer
    assert min(surer) > min(usual)


@pytest.mark.parametrize("epsilon", ["0", "1", "2", "-1", "nan", "tiny"])
def test_epsilon_lies_between_zero_and_one(epsilon, model):
    line = refused("certify", model, written(FRESH, "fresh.csv"), "--epsilon", epsilon)
    assert "--epsilon" in line
    assert epsilon in line


def test_columns_may_be_extra_and_in_any_order(model):
    expected = succeeded("certify", model, written(FRESH, "fresh.csv")).stdout
    other = FRESH.assign(more=1)[["more", *reversed(FRESH.columns)]]
    found = succeeded("certify", model, written(other, "other.csv")).stdout
    assert bounds(found) == bounds(expected)


def test_parquet_and_semicolons_give_the_same_bound(model):
    expected = bounds(succeeded("certify", model, written(FRESH, "fresh.csv")).stdout)
    FRESH.to_parquet("fresh.parquet")
    written(FRESH, "semicolons.csv", sep=";")
    for name in ("fresh.parquet", "semicolons.csv"):
        assert bounds(succeeded("certify", model, name).stdout) == expected


def test_rows_without_label_are_left_out_with_a_note(model):
    table = FRESH.copy()
    table.loc[:49, "state"] = None
    result = succeeded("certify", model, written(table, "fresh.csv"))
    assert re.search(r"\b50\b", notes(result))
    expected = succeeded("certify", model, written(FRESH.iloc[50:], "labelled.csv"))
    assert bounds(result.stdout) == bounds(expected.stdout)


def test_amounts_are_certified_too():
    def prices(n_rows, seed):
        rng = np.random.default_rng([TABLES, seed])
        area = rng.uniform(30, 150, n_rows)
        return pd.DataFrame({"area": area, "price": 2.5 * area + 10 * rng.standard_normal(n_rows)})

    model, _ = fitted(written(prices(500, seed=0), "data.csv"), target="price")
    printed = squeezed(succeeded("certify", model, written(prices(400, seed=1), "new.csv")).stdout)
    assert "with probability 0.95" in printed
    # 90 % of the errors lie below 16.4 and the best median is 6.7.
    assert 14 < float(re.search(r"<= (\d+\.\d+)", printed)[1]) < 25
    refused("certify", model, "data.csv")


# What is refused


def test_a_table_without_labels_is_refused_plainly(model):
    line = refused("certify", model, written(FRESH.drop(columns="state"), "fresh.csv"))
    assert "'state'" in line
    assert "true values" in line


def other_forms(table):
    """Return the same rows in other orders and files, by name."""
    return {
        "as it is": written(table, "data.csv"),
        "shuffled": written(table.sample(frac=1, random_state=0), "shuffled.csv"),
        "columns": written(table[[*reversed(table.columns)]], "columns.csv"),
        "Parquet": parquet(table, "data.parquet"),
    }


def parquet(table, path):
    table.to_parquet(path)
    return path


FORMS = ["as it is", "shuffled", "columns", "Parquet"]


@pytest.mark.parametrize("form", FORMS)
def test_the_table_of_the_fit_is_refused(form, model):
    line = refused("certify", model, other_forms(TABLE)[form])
    assert "must be new rows" in line


@pytest.mark.parametrize("form", FORMS)
def test_a_fresh_table_is_accepted_in_every_form(form, model):
    assert bounds(succeeded("certify", model, other_forms(FRESH)[form]).stdout)


def test_a_small_table_of_a_fit_is_refused_and_a_fresh_one_is_not():
    data = written(patients(60), "data.csv")
    model, _ = fitted(data)
    assert "must be new rows" in refused("certify", model, data)
    assert bounds(succeeded("certify", model, written(FRESH, "fresh.csv")).stdout)


def test_repeated_rows_are_refused_unless_declared_genuine():
    model, _ = fitted(written(survey(600, seed=0), "data.csv"), "--duplicates", "genuine")
    data = written(survey(500, seed=1), "fresh.csv")
    line = refused("certify", model, data)
    assert "--duplicates genuine" in line
    assert "duplicates='genuine'" not in line
    assert bounds(succeeded("certify", model, data, "--duplicates", "genuine").stdout)
    assert "--duplicates" in refused("certify", model, data, "--duplicates", "copies")


def test_copied_rows_are_refused(model):
    """A bound of 2,000 rows would be too small if they are four copies of 500."""
    data = written(pd.concat([FRESH] * 4), "fresh.csv")
    assert "--duplicates genuine" in refused("certify", model, data)


def test_missing_columns_are_refused(model):
    line = refused("certify", model, written(FRESH.drop(columns="pulse"), "fresh.csv"))
    assert "'pulse'" in line


@pytest.mark.parametrize("content", [b"", b"pulse,weight,ward,state\n", b"pulse,state\n1\n"])
def test_a_bad_table_is_refused(content, model, folder):
    (folder / "fresh.csv").write_bytes(content)
    refused("certify", model, "fresh.csv")


def test_a_table_whose_labels_are_all_missing_is_refused(model):
    line = refused("certify", model, written(FRESH.assign(state=""), "fresh.csv"))
    assert "'state'" in line


def test_a_class_that_the_model_does_not_know_is_an_error_of_it_and_noted(model):
    table = FRESH.copy()
    table.loc[:99, "state"] = "dead"
    result = succeeded("certify", model, written(table, "fresh.csv"))
    assert max(bounds(result.stdout)) > 0.2
    assert "100 of 500 rows have a class of 'state' that the model does not know" in notes(result)


def test_options_about_a_table_need_one(model):
    assert "certified" in squeezed(succeeded("certify", model).stdout) or bounds(
        succeeded("certify", model).stdout
    )
    assert "none.csv" in refused("certify", model, "none.csv")
    assert "none.skops" in refused("certify", "none.skops")
