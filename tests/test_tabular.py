import dataclasses
import gzip
import io
import itertools
import json
import tempfile
import zipfile
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
import skops.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pacfourier import PBRFF
from pacfourier.core.alignment.summary import sample_summary
from pacfourier.core.alignment.targets import ClassTarget
from pacfourier.reports.tabular_report import fit_report
from pacfourier.tabular import (
    InputError,
    ObservedError,
    certificate_facts,
    check_output,
    error_facts,
    fit_facts,
    fit_table,
    load_model,
    read_table,
    save_model,
    write_file,
)
from pacfourier.tabular.class_labels import check_classes, table_labels
from pacfourier.tabular.columns import MOST_CATEGORIES, column_encoder, numbers, table_columns
from pacfourier.tabular.model import random_split
from pacfourier.tabular.model_files import TYPES
from pacfourier.trusted_files import PLAIN_TYPES, types_in


def patients(n_rows=400, seed=0):
    """Two measurements and a category that tell two classes apart, and gaps in them."""
    rng = np.random.default_rng(seed)
    is_ill = rng.random(n_rows) < 0.4
    table = pd.DataFrame(
        {
            "pulse": 60 + 25 * is_ill + 8 * rng.standard_normal(n_rows),
            "age": rng.uniform(20, 80, n_rows).round(2),
            "ward": np.where(rng.random(n_rows) < 0.8, np.where(is_ill, "east", "west"), "north"),
            "smokes": rng.random(n_rows) < 0.5,
            "state": np.where(is_ill, "ill", "well"),
        }
    )
    table.loc[rng.random(n_rows) < 0.05, "pulse"] = np.nan
    table.loc[rng.random(n_rows) < 0.05, "ward"] = None
    return table


@pytest.fixture(scope="module")
def table():
    return patients()


@pytest.fixture(scope="module")
def model(table):
    return fit_table(table, "state", n_frequencies=10)


# Reading


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_every_kind_of_file_gives_the_same_predictions(suffix, model, table, tmp_path):
    path = tmp_path / f"data{suffix}"
    table.to_parquet(path) if suffix == ".parquet" else table.to_csv(path, index=False)
    read = read_table(path)
    assert list(read.columns) == list(table.columns)
    expected, found = model.predictions(table), model.predictions(read)
    assert list(expected) == ["predicted_state", "probability_ill", "probability_well"]
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name])


def test_csv_with_a_byte_order_mark_quotes_and_blank_lines(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes('\ufeffa,"b, c"\r\n\r\n1,"x\r\ny"\r\n2,\r\n'.encode())
    table = read_table(path)
    assert list(table.columns) == ["a", "b, c"]
    assert table["b, c"].isna().tolist() == [False, True]


def test_text_of_a_csv_is_kept_as_it_stands(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("class,x\n01,1.50\n1,1.5\n")
    assert read_table(path)["class"].tolist() == ["01", "1"]


BAD_FILES = {
    "long line": (b"a,b\n1,2\n1,2,3\n", "line 3 must have 2 fields, as the first line, got 3"),
    "short line": (b"a,b\n1,2\n1\n", "line 3 must have 2 fields, as the first line, got 1"),
    "all lines long": (b"a,b\n1,2,3\n1,2,3\n", "line 2 must have 2 fields"),
    "open quote": (b'a,b\n1,"2\n', "must be valid CSV"),
    "empty": (b"", "must begin with the names of its columns, got none"),
    "header only": (b"a,b\n", "must have rows, got none"),
    "same names": (b"a,b,a\n1,2,3\n", "distinct column names, got 'a' twice"),
    "binary": (bytes(range(256)), "must be UTF-8 text"),
    "semicolons": (b"a;b;c\n1,5;2;3\n", "must be separated by commas, got ';' in the first"),
    "tabs": (b"a\tb\n1\t2\n", r"must be separated by commas, got '\\t' in the first"),
    "zero bytes": (b"a\0b\n1\n", "got zero bytes"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_csv_is_refused(case, tmp_path):
    content, message = BAD_FILES[case]
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_table(path)


@pytest.mark.parametrize("name", ["data.csv.gz", "data.parquet"])
@pytest.mark.parametrize("content", [b"", b"no such format", gzip.compress(b"a,b\n1,2\n")[:-9]])
def test_broken_files_are_refused(name, content, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(
        InputError, match=r"data must be readable|data must be a readable|data must begin"
    ):
        read_table(path)


def test_files_must_exist_with_a_known_suffix(tmp_path):
    with pytest.raises(InputError, match="data must be a file, got"):
        read_table(tmp_path / "none.csv")
    (tmp_path / "data.xlsx").write_bytes(b"a")
    with pytest.raises(InputError, match=r"must end in one of .*, got 'data.xlsx'"):
        read_table(tmp_path / "data.xlsx")


# Columns


def test_columns_are_numbers_categories_or_left_out():
    n_rows = 60
    columns = table_columns(
        pd.DataFrame(
            {
                "Unnamed: 0": range(n_rows),
                "text of numbers": ["1", "2.5", "-1e3"] * 20,
                "amount": pd.array([1, 2, None] * 20, dtype="Int64"),
                "words": ["a", "b", None] * 20,
                "flag": [True, False] * 30,
                "flag with gaps": [True, False, None] * 20,
                "kind": pd.Categorical([1, 2] * 30),
                "when": pd.date_range("2020-01-01", periods=n_rows),
                "name": [f"row {i}" for i in range(n_rows)],
                "nothing": [None] * n_rows,
                "price": ["1,234.50", "-2,000", "+12,345,678.", "7"] * 15,
                "one number": [2, None] * 30,
                "one word": "a",
                "one word with gaps": ["a", None] * 30,
            }
        )
    )
    assert columns.numbers == ["text of numbers", "amount", "kind", "price"]
    assert columns.categories == ["words", "flag", "flag with gaps", "one word with gaps"]
    constant = ["one number", "one word"]
    assert list(columns.left_out) == ["Unnamed: 0", "when", "name", "nothing", *constant]
    assert all("a single value" in columns.left_out[name] for name in constant)
    assert "60 different texts in 60 rows" in columns.left_out["name"]
    assert "it looks like dates" in columns.left_out["when"]


def test_commas_of_thousands_are_read_over():
    texts = ["1,234.50", "-2,000", "+12,345,678.", "1,23", "0,512", "1,2345", ",5", None]
    read = numbers(pd.Series(texts))
    np.testing.assert_array_equal(read, [1234.5, -2000, 12345678, *[np.nan] * 5])


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d/%m/%Y %H:%M", "%d %B %Y"])
def test_dates_are_left_out_as_such(form):
    dates = pd.date_range("2020-01-01", periods=60).strftime(form)
    columns = table_columns(pd.DataFrame({"when": dates, "x": np.linspace(0, 1, 60)}))
    assert columns.left_out["when"].startswith("it looks like dates: replace them by numbers")


def sampled(values, n_rows=75, *, in_order=False):
    """Rows of a preparation, drawn blindly."""
    rows = np.random.default_rng(0).permutation(len(values))[:n_rows]
    values = values[np.sort(rows) if in_order else rows]
    return pd.DataFrame({"id": values, "x": np.linspace(0, 1, n_rows)})


@pytest.mark.parametrize(
    "preparation",
    [
        sampled(np.arange(500)),
        sampled(np.arange(500).astype(str)),
        sampled(np.arange(1e6, 1e6 + 500)),
        sampled(np.cumsum(np.random.default_rng(1).integers(1, 4, 1000)), 150),
        sampled(np.arange(140), 21, in_order=True),
        sampled(-np.arange(140) * 2, 21, in_order=True),
        sampled(np.arange(3_000_000), 10_000),
    ],
)
def test_numbers_of_rows_are_left_out(preparation):
    columns = table_columns(preparation)
    assert columns.numbers == ["x"]
    why = "different whole numbers near each other look like row numbers"
    assert columns.left_out == {"id": f"{len(preparation):,} {why}"}


@pytest.mark.parametrize(
    "values",
    [
        np.arange(500) / 2,
        np.random.default_rng(0).integers(0, 500, 500),
        np.random.default_rng(0).integers(0, 10**6, 500),
        np.arange(500) * 1000,
    ],
)
def test_whole_numbers_that_may_be_amounts_are_read(values):
    for in_order in (True, False):
        assert table_columns(sampled(values, in_order=in_order)).numbers == ["id", "x"]


def test_a_few_numbers_in_order_are_read():
    assert table_columns(sampled(np.arange(60), 9)).numbers == ["id", "x"]
    assert table_columns(pd.DataFrame({"id": range(4)})).numbers == ["id"]
    # Few rows of a table that is sorted by a real column.
    ages = pd.DataFrame({"age": [31, 38, 44, 47, 52, 58, 63]})
    assert table_columns(ages).numbers == ["age"]


def test_dropped_columns_are_remembered(table, tmp_path):
    dropped = fit_table(table, "state", drop=["age", "ward"], n_frequencies=5)
    assert dropped.columns.names == ["pulse", "smokes"]
    assert "column 'age' is left out: it is named in drop." in dropped.record["notes"]
    save_model(dropped, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    assert loaded.notes(table) == loaded.notes(table.drop(columns="age")) == []
    predicted = [loaded.predictions(rows) for rows in (table, table.drop(columns=["age", "ward"]))]
    np.testing.assert_array_equal(*(each["probability_ill"] for each in predicted))


@pytest.mark.parametrize("name", ["state", "none"])
def test_what_is_dropped_must_be_a_column_besides_the_target(name, table):
    with pytest.raises(InputError, match=f"drop must be among 'pulse'.*, got '{name}'"):
        fit_table(table, "state", drop=[name])


def test_a_name_is_no_list_of_columns_to_drop(table):
    with pytest.raises(InputError, match="drop must be a list of names, got 'age'"):
        fit_table(table, "state", drop="age")


def test_values_that_are_no_numbers_are_missing_and_said_to_be():
    preparation = pd.DataFrame({"a": ["1", "2", "3"]})
    table = pd.DataFrame({"a": ["1", "two", "inf", "1e200", None]})
    columns = table_columns(preparation)
    assert np.isnan(columns.values(table)["a"]).tolist() == [False, True, True, True, True]
    assert columns.notes(table) == ["3 values of 'a' are not usable numbers and count as missing."]
    encoded = column_encoder(columns).fit(columns.values(preparation))
    # The median of the preparation is its mean here: zero after scaling.
    np.testing.assert_allclose(encoded.transform(columns.values(table))[1:], 0, atol=1e-12)


def test_categories_missing_unknown_and_rare():
    names = [f"c{i}" for i in range(30)]
    preparation = pd.DataFrame({"a": [*names, *names[:18] * 3, None, None]})
    columns = table_columns(preparation)
    encoder = column_encoder(columns).fit(columns.values(preparation))
    table = pd.DataFrame({"a": ["c0", None, "never seen", "c28", "c29"]})
    encoded = np.asarray(encoder.transform(columns.values(table)).todense())
    assert encoded.shape == (5, MOST_CATEGORIES)
    assert encoded.sum(axis=1).tolist() == [1, 1, 0, 1, 1]
    assert encoded[0] @ encoded[1] == 0
    assert encoded[3] @ encoded[4] == 1


def test_a_table_without_usable_columns_is_refused():
    with pytest.raises(InputError, match="column to learn from besides the target, got none"):
        table_columns(pd.DataFrame(index=range(5)))
    with pytest.raises(InputError, match="it has no values"):
        table_columns(pd.DataFrame({"a": [None] * 5}))


# Labels


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.rename(columns={"state": "z"}), "target must be one of 'pulse'.*got 'state'"),
        (lambda t: t.assign(state="ill"), "must have two classes or more, got 'ill'"),
        (lambda t: t.assign(state=t["state"].where(t.index > 2)), "every row, got 3 without"),
        (
            lambda t: t.assign(state=np.arange(len(t)) / 7),
            "more than 30 different numbers.*regression",
        ),
        (lambda t: t.head(49), "data must have 50 rows or more, got 49"),
        (lambda t: t.assign(state=t["state"].where(t.index > 2, "odd")), "got fewer of 'odd'"),
        (lambda t: t[["state"]], "column to learn from"),
    ],
)
def test_tables_that_cannot_be_learned_are_refused(change, message, table):
    with pytest.raises(InputError, match=message):
        fit_table(change(table), "state")


@pytest.mark.parametrize("epsilon", [0.0, 1.0, -1.0, float("nan")])
def test_epsilon_is_checked(epsilon, table):
    with pytest.raises(InputError, match="epsilon must lie between 0 and 1, got"):
        fit_table(table, "state", epsilon=epsilon)


@pytest.mark.parametrize("start", [pd.Timedelta(0), pd.Timestamp(0), pd.Timestamp(0, tz="UTC")])
def test_times_are_named_alike_in_every_part_of_a_table(start):
    table = pd.DataFrame({"when": [start + pd.Timedelta(hours=hours) for hours in (0, 24, 30)]})
    names = table_labels(table, "when").tolist()
    assert [table_labels(table.loc[[row]], "when").item() for row in range(3)] == names


@pytest.mark.parametrize("hours", [[0, 24], [0, 30]])
def test_times_are_named_alike_in_every_kind_of_file(hours, tmp_path):
    """pandas writes midnights alone as days, among other times in full."""
    times = pd.Timestamp("2020-01-01") + pd.to_timedelta(hours, "h")
    table = pd.DataFrame({"when": times})
    table.to_csv(tmp_path / "data.csv", index=False)
    table.to_parquet(tmp_path / "data.parquet")
    names = [table_labels(read_table(path), "when") for path in tmp_path.iterdir()]
    assert names[0].tolist() == names[1].tolist()
    assert names[0][0] == "2020-01-01"


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (np.float32([0.1, 2]), ["0.1", "2.0"]),
        (pd.array([1, 2], dtype="Int64"), ["1", "2"]),
        ([True, False], ["True", "False"]),
        ([b"a", b"b"], ["a", "b"]),
    ],
)
def test_labels_are_texts(values, names):
    assert table_labels(pd.DataFrame({"y": values}), "y").tolist() == names


def test_many_words_or_few_numbers_are_classes():
    words = np.array([f"w{i}" for i in range(1001)])
    check_classes(words[:1000], "y")
    with pytest.raises(InputError, match="must have 1000 classes or fewer, got more"):
        check_classes(words, "y")
    check_classes(np.arange(30).astype(str), "y")
    with pytest.raises(InputError, match="more than 30 different numbers"):
        check_classes(np.arange(31).astype(str), "y")


def test_long_lists_of_names_are_cut(table):
    wide = table.assign(**{f"column {i}": 0 for i in range(20)})
    with pytest.raises(InputError, match="'column 4' and 15 more, got 'z'"):
        fit_table(wide, "z")


# Fitting


def test_splits_are_disjoint_whole_and_blind():
    split = random_split(1001, seed=3)
    assert [len(part) for part in split] == [150, 601, 250]
    assert sorted(itertools.chain(*split)) == list(range(1001))
    again, other = random_split(1001, seed=3), random_split(1001, seed=4)
    assert all((one == two).all() for one, two in zip(split, again, strict=True))
    assert not (split.held_out == other.held_out).all()


def test_each_part_serves_its_own_purpose(model, table):
    split = random_split(len(table), seed=0)
    X = model.columns.values(table)
    encoder = model.pipeline["columns"]
    scaler = encoder.named_transformers_["numbers"]
    assert scaler["simpleimputer"].statistics_[0] == X["pulse"].iloc[split.preprocessing].median()
    np.testing.assert_allclose(scaler["standardscaler"].mean_[1], X["age"].iloc[split[0]].mean())
    learning = table.iloc[split.training]
    expected = PBRFF(10, target_type="binary", random_state=0).fit(
        encoder.transform(X.iloc[split.training]), learning["state"]
    )
    np.testing.assert_array_equal(model.pipeline["features"].losses_, expected.losses_)
    held_out = table.iloc[split.held_out]
    predicted = model.predictions(held_out)["predicted_state"]
    n_errors = int((predicted != held_out["state"]).sum())
    assert model.held_out_error == ObservedError(n_errors, len(held_out), 0.05)
    assert 0 < n_errors < 20


def test_two_classes_are_declared_never_counted(model, table, tmp_path):
    assert model.certificate().ceiling == 1.0
    binary = fit_table(table, "state", binary=True, n_frequencies=10)
    declared = binary.certificate()
    assert declared.ceiling == 0.5
    assert declared.empirical_loss == model.certificate().empirical_loss
    save_model(binary, tmp_path / "model.skops")
    assert load_model(tmp_path / "model.skops").certificate() == declared
    three = table.assign(state=np.resize(["a", "b", "c"], len(table)))
    with pytest.raises(InputError, match="binary must come with two classes, got 3"):
        fit_table(three, "state", binary=True)


def test_changing_held_out_rows_changes_nothing_learned(model, table):
    split = random_split(len(table), seed=0)
    changed = table.astype({"pulse": object})
    changed.loc[split.held_out, "pulse"] = "high"
    changed.loc[split.held_out, "ward"] = "elsewhere"
    other = fit_table(changed, "state", n_frequencies=10)
    assert other.columns == model.columns
    assert other.record["notes"] == [
        "100 values of 'pulse' are not usable numbers and count as missing."
    ]
    np.testing.assert_array_equal(other.pipeline[-1].coef_, model.pipeline[-1].coef_)
    assert other.record["certificate"] == model.record["certificate"]


def test_held_out_bound_is_clopper_pearson(model):
    error = model.held_out_error
    expected = stats.beta.isf(0.05, error.n_errors + 1, error.n_samples - error.n_errors)
    assert error.bound == pytest.approx(expected, rel=1e-9)


def test_certificate_is_given_on_prepared_rows_and_refused_on_rows_scaled_by_themselves(table):
    split = random_split(len(table), seed=0)
    numbers = table[["pulse", "age"]].fillna(70)
    learning, labels = numbers.iloc[split.training], table["state"].iloc[split.training]
    learner = PBRFF(10, target_type="binary", random_state=0)
    prepared = StandardScaler().fit(numbers.iloc[split.preprocessing]).transform(learning)
    assert learner.fit(prepared, labels).certificate().value < 0.5
    leaked = StandardScaler().fit_transform(learning)
    with pytest.raises(ValueError, match=r"No certificate\. inputs: columns have mean 0"):
        _ = learner.fit(leaked, labels).certificate().value


def test_deployed_certificate_holds_its_value(model):
    certificate = model.certificate()
    assert certificate.violations == ()
    assert certificate.value < certificate.ceiling == 1.0
    assert certificate.to_dict() == model.record["certificate"]


def test_refused_certificate_is_said_not_raised(table):
    repeated = pd.concat([table.head(100)] * 4, ignore_index=True)
    twice = fit_table(repeated, "state", n_frequencies=5)
    assert twice.record["certificate"]["value"] is None
    facts = dict(certificate_facts(twice.certificate()))
    assert facts["certificate"] == "No certificate for the deployed kernel"
    assert "--ties genuine" in facts["violated: sample"]
    bound = dict(fit_facts(twice))["bound from held-out rows"]
    assert bound == f"none: {facts['violated: sample']}"
    [note] = twice.record["notes"]
    assert note == f"there is no certificate: {facts['violated: sample']}"


@pytest.mark.parametrize("n_rows", [400, 2000])
def test_tables_of_few_values_are_certified_when_their_ties_are_genuine(n_rows, rng, tmp_path):
    answers = rng.integers(1, 6, (n_rows, 3))
    table = pd.DataFrame(answers, columns=["a", "b", "c"]).assign(y=answers[:, 0] > 3)
    refused = fit_table(table, "y", n_frequencies=5)
    assert refused.certificate().violations
    assert dict(fit_facts(refused))["bound from held-out rows"].startswith("none: ")
    save_model(fit_table(table, "y", ties="genuine", n_frequencies=5), tmp_path / "model.skops")
    model = load_model(tmp_path / "model.skops")
    assert model.record["ties"] == "genuine"
    assert model.record["notes"] == []
    facts = dict(certificate_facts(model.certificate()))
    assert "declared, against" in facts["declared: sample"]
    assert dict(fit_facts(model))["bound from held-out rows"].startswith("error on future rows <=")
    with pytest.raises(InputError, match="ties must be 'genuine' or left out, got 'copies'"):
        fit_table(table, "y", ties="copies")


def test_own_scaler_does_not_look_like_one_fitted_on_the_training_rows():
    """Columns of few values, whose means in two parts of a table are often equal.

    At the rate of 1e-3 per table, three alarms or more in 60 tables have probability 4e-5.
    """
    rng, alarms = np.random.default_rng(0), 0
    for seed in range(60):
        table = pd.DataFrame(rng.integers(0, [2, 3, 20], (80, 3)), columns=["a", "b", "c"])
        table["d"], table["y"] = rng.standard_normal(80).round(1), np.resize(["p", "q"], 80)
        columns = table_columns(table[["a", "b", "c", "d"]])
        split = random_split(80, seed)
        encoder = column_encoder(columns).fit(columns.values(table.iloc[split.preprocessing]))
        X = encoder.transform(columns.values(table.iloc[split.training]))
        summary = sample_summary(X, ClassTarget(np.arange(2)).encode(np.arange(len(X)) % 2))
        alarms += summary.is_standardised or summary.is_range_scaled
    assert alarms <= 2


def test_several_classes_and_word_columns(rng):
    y = np.repeat(["a", "b", "c"], 60)
    table = pd.DataFrame({"x": rng.standard_normal(180) + 4 * np.repeat([0, 1, 2], 60), "y": y})
    model = fit_table(table, "y", n_frequencies=10, epsilon=0.1)
    assert model.record["classes"] == ["a", "b", "c"]
    assert model.certificate().epsilon == 0.1
    assert model.held_out_error.bound < 0.4
    total = sum(model.predictions(table)[f"probability_{name}"] for name in "abc")
    np.testing.assert_allclose(total, 1)


@pytest.mark.parametrize(("small", "large"), [(1e-69, 1e69), (1e-70, 1e70), (1, 1e200)])
def test_extreme_numbers_outside_the_preparation_overflow_nothing(small, large, rng):
    split, x = random_split(100, seed=0), rng.standard_normal(100) * small
    x[split.training[:3]], x[split.held_out[:3]] = large, -large
    table = pd.DataFrame({"x": x, "z": rng.standard_normal(100), "y": np.resize(["a", "b"], 100)})
    model = fit_table(table, "y", n_frequencies=3)
    assert model.columns.numbers == ["x", "z"]
    assert model.certificate().violations == ()


VALUES = {
    "float": st.floats(),
    "whole": st.integers(-(10**20), 10**20),
    "word": st.one_of(st.none(), st.text(max_size=3)),
    "flag": st.booleans(),
    "mixed": st.one_of(st.none(), st.booleans(), st.floats(), st.text(max_size=2)),
}


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=4), st.data())
def test_mixed_tables_are_fitted_and_saved(kinds, data):
    columns = {
        f"{place} {kind}": data.draw(st.lists(VALUES[kind], min_size=60, max_size=60))
        for place, kind in enumerate(kinds)
    }
    table = pd.DataFrame(columns).assign(z=np.linspace(0, 1, 60), y=np.resize(["p", "q"], 60))
    model = fit_table(table, "y", n_frequencies=3)
    reordered = table[[*reversed(table.columns)]].drop(columns="y")
    predictions = model.predictions(reordered)
    assert set(predictions["predicted_y"]) <= {"p", "q"}
    np.testing.assert_allclose(predictions["probability_p"] + predictions["probability_q"], 1)
    with tempfile.TemporaryDirectory() as folder:
        save_model(model, Path(folder) / "model.skops")
        loaded = load_model(Path(folder) / "model.skops")
    for name, values in loaded.predictions(table).items():
        np.testing.assert_array_equal(values, predictions[name])


# Files


def test_saved_model_is_the_same_model(model, table, tmp_path):
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    for name, values in model.predictions(table).items():
        np.testing.assert_array_equal(loaded.predictions(table)[name], values)
    assert loaded.certificate() == model.certificate()
    assert loaded.certificate().to_dict() == loaded.record["certificate"]
    assert loaded.record == json.loads(json.dumps(model.record)) == model.record
    assert loaded.held_out_error == model.held_out_error
    assert (loaded.row_counts == model.row_counts).all()
    assert [path.name for path in tmp_path.iterdir()] == ["model.skops"]


def schema_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return json.loads(archive.read("schema.json"))


def test_accepted_types_are_exactly_those_of_a_model(model, table):
    declared = fit_table(table, "state", binary=True, n_frequencies=10)
    found = set().union(*(types_in(schema_of(skops.io.dumps(each))) for each in (model, declared)))
    assert found - PLAIN_TYPES == TYPES


class Foreign:
    pass


def test_model_with_a_foreign_type_is_refused(model, tmp_path):
    path = tmp_path / "model.skops"
    skops.io.dump([model, Foreign()], path)
    with pytest.raises(InputError, match=r"types that no model has, '.*Foreign'\.$"):
        load_model(path)


def test_model_with_another_type_of_scikit_learn_is_refused(model, tmp_path):
    """skops trusts an SVC, which crashes the process if its numbers were forged."""
    path, X, y = tmp_path / "model.skops", np.eye(4), [0, 1, 0, 1]
    steps = [*model.pipeline.steps[:-1], ("classifier", SVC().fit(X, y))]
    save_model(dataclasses.replace(model, pipeline=Pipeline(steps)), path)
    with pytest.raises(InputError, match=r"types that no model has, 'sklearn.svm._classes.SVC'"):
        load_model(path)


def test_files_that_unpack_to_too_much_are_refused_before_they_are_unpacked(
    model, tmp_path, monkeypatch
):
    path = tmp_path / "model.skops"
    save_model(model, path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(50_000_000))
    assert path.stat().st_size < 5_000_000
    load_model(path)
    monkeypatch.setattr("pacfourier.trusted_files.MOST_BYTES", 50_000_000)
    read = Mock(side_effect=AssertionError("read"))
    monkeypatch.setattr(zipfile.ZipFile, "read", read)
    with pytest.raises(InputError, match=r"it unpacks to [\d,]+ bytes, more than 50,000,000"):
        load_model(path)
    read.assert_not_called()


def test_files_that_are_no_models_are_refused(tmp_path):
    path = tmp_path / "model.skops"
    with pytest.raises(InputError, match="no such file"):
        load_model(path)
    path.write_bytes(b"not a model")
    with pytest.raises(InputError, match=r"'pacfourier fit' wrote, got .*BadZipFile"):
        load_model(path)
    skops.io.dump(Pipeline([("scaler", StandardScaler())]), path)
    with pytest.raises(InputError, match=r"it holds a Pipeline\.$"):
        load_model(path)


@pytest.mark.parametrize("where", ["skops.io.dumps", "os.fsync", "pathlib.Path.replace"])
@pytest.mark.parametrize("failure", [OSError("disk is full"), KeyboardInterrupt()])
def test_nothing_is_left_of_a_write_that_fails(where, failure, model, tmp_path, monkeypatch):
    path = tmp_path / "model.skops"
    path.write_bytes(b"the model before")

    monkeypatch.setattr(where, Mock(side_effect=failure))
    with pytest.raises((OSError, InputError, KeyboardInterrupt)):
        save_model(model, path)
    assert [item.name for item in tmp_path.iterdir()] == ["model.skops"]
    assert path.read_bytes() == b"the model before"


def test_outputs_are_checked_before_work(tmp_path):
    check_output(tmp_path / "model.skops", ".skops")
    with pytest.raises(InputError, match=r"must end in \.skops, got .*data\.csv"):
        check_output(tmp_path / "data.csv", ".skops")
    (tmp_path / "folder.skops").mkdir()
    for bad in (tmp_path / "folder.skops", tmp_path / "none" / "model.skops"):
        with pytest.raises(InputError, match="must be a file in a writable folder"):
            check_output(bad, ".skops")
    with pytest.raises(InputError, match="the output must be writable"):
        write_file(tmp_path / "folder.skops", b"")


# Fresh data


def test_fresh_error_is_counted_and_bounded(model):
    fresh = patients(500, seed=1)
    error = model.fresh_error(fresh, is_fresh=True)
    predicted = model.predictions(fresh)["predicted_state"]
    assert error == ObservedError(int((predicted != fresh["state"]).sum()), 500, 0.05)
    assert error.n_errors / 500 < error.bound < 0.2


def test_labels_never_seen_are_errors(model):
    fresh = patients(100, seed=1).assign(state="new")
    assert model.fresh_error(fresh, is_fresh=True).n_errors == 100


# Words


def test_missing_columns_are_refused_and_extra_ones_noted(model, table):
    with pytest.raises(InputError, match="must have the columns 'age', 'ward' too"):
        model.predictions(table.drop(columns=["age", "ward"]))
    assert model.notes(table) == []
    [note] = model.notes(table.assign(more=1))
    assert note == "columns that the model does not know are ignored: 'more'."


def test_facts_say_what_the_record_holds(model):
    facts = dict(fit_facts(model))
    assert facts["rows"] == "400: 60 preprocessing, 240 training, 100 held out"
    assert facts["columns"] == "2 numeric, 2 categorical"
    assert facts["classes"] == "state: 'ill', 'well'"
    error = model.held_out_error
    observed = facts["error on held-out rows"]
    assert observed == f"{error.n_errors / 100:.4f} ({error.n_errors} of 100 rows)"
    held_out = patients().iloc[random_split(400, seed=0).held_out]
    n_ill = int((held_out["state"] == "ill").sum())
    assert facts["error of always predicting 'well'"] == f"{n_ill / 100:.4f} ({n_ill} of 100 rows)"


@pytest.mark.parametrize("n_errors", range(5))
def test_bounds_are_shown_rounded_up(n_errors):
    error = ObservedError(n_errors, 100, 0.05)
    _, (_, bound) = error_facts("error", error)
    assert error.bound <= float(bound.split()[5].rstrip(",")) < error.bound + 1e-4


def test_report_escapes_names_and_embeds_its_figure(table):
    named = table.rename(columns={"state": "<b>"}).assign(name=[f"<i>{i}" for i in range(400)])
    html = fit_report(fit_table(named, "<b>", n_frequencies=5))
    assert "<b>" not in html
    assert "A certified classifier of &lt;b&gt;" in html
    assert "column &#x27;name&#x27; is left out" in html
    assert "data:image/png;base64," in html
    assert "<tr><td>numeric</td><td>pulse, age</td></tr>" in html
    assert "lower is better" in html
    assert "http" not in html


def test_report_without_notes_has_no_section_of_notes(model):
    assert "<h2>Notes</h2>" not in fit_report(model)


def test_report_has_a_matrix_of_few_classes_and_the_errors_of_many(model):
    def report(n_classes):
        confusion = 1000 * np.eye(n_classes, dtype=int)
        confusion[2, 1] = 7
        classes = [f"c{place}" for place in range(n_classes)]
        record = model.record | {"classes": classes, "confusion": confusion.tolist()}
        return fit_report(dataclasses.replace(model, record=record))

    few, many = report(8), report(12)
    assert "predicted c7" in few
    assert '<td>c2</td><td class="number">0</td><td class="number">7</td>' in few
    assert "predicted" not in many
    number = '<td class="number">{}</td>'.format
    first = f"<td>c2</td>{number('1,007')}{number('7')}<td>c1</td>"
    assert many.index(first) < many.index(f"<td>c0</td>{number('1,000')}{number('0')}<td></td>")
    assert "&#x27;c9&#x27; and 2 more" in many
