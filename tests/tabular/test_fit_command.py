"""The command ``fit``, end to end: what it reads, prints, writes and refuses."""

import gzip
import html
import json
import re
import signal
import time
import uuid
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather
from sklearn.metrics import r2_score, roc_auc_score
from tests.tabular.command import (
    FEW,
    TABLES,
    bounds,
    contents,
    error_on,
    fitted,
    invoke,
    notes,
    patients,
    predicted,
    probabilities,
    record,
    refused,
    squeezed,
    started,
    succeeded,
    written,
)

import pacfourier

FRESH = patients(1000, seed=99)
# The best error is 0.05. That of 1,000 rows has a standard deviation of 0.007.
GOOD_ERROR = 0.08


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The current folder, to which everything is written."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    """A folder with a table, a model of it, and what was printed."""
    folder = tmp_path_factory.mktemp("clinic")
    data = written(patients(), folder / "data.csv")
    _, result = fitted(data, out=folder / "model.skops")
    (folder / "stdout.txt").write_text(result.stdout)
    (folder / "stderr.txt").write_text(result.stderr)
    return folder


def results(model):
    """Return the error of each model of the small table that was printed."""
    return {each["name"]: each["error"] for each in record(model)["results"]}


# What is printed and written


def test_fit_prints_its_result_two_baselines_the_bound_and_the_file(clinic):
    printed = squeezed((clinic / "stdout.txt").read_text())
    for name in ("this model", "logistic regression", "boosted trees"):
        assert re.search(rf"{name} \d+\.\d+ %", printed)
    assert bounds(printed)
    assert "model.skops" in printed
    assert (clinic / "stderr.txt").read_text() == ""


def test_the_bound_holds_on_new_rows(clinic):
    """It fails with probability 0.05 over tables; this table is fixed."""
    [bound] = bounds((clinic / "stdout.txt").read_text())
    assert error_on(clinic / "model.skops", FRESH) <= bound < 0.4


def test_the_record_says_what_was_done(clinic):
    saved = record(clinic / "model.skops")
    assert saved["data"] == "data.csv"
    assert saved["rows"]["read"] == 300
    assert saved["rows"]["without label"] == 0
    assert saved["settings"]["n_frequencies"] == 5
    assert saved["is_certified"]
    [bound] = bounds((clinic / "stdout.txt").read_text())
    assert f"<= {bound:.4f}, with probability 0.95" in saved["headline"]
    assert len(saved["results"]) >= 3
    assert np.sum(saved["confusion"]) == saved["rows"]["held out"]


def test_the_model_file_is_small(clinic):
    """The 20,000 candidates alone would take several hundred kilobytes."""
    assert (clinic / "model.skops").stat().st_size < 100_000


def test_report_and_card_say_what_is_certified(clinic):
    model, _ = fitted(clinic / "data.csv", "--report", "report.html", "--card", "card.md")
    assert set(contents(".")) == {Path("model.skops"), Path("report.html"), Path("card.md")}
    headline = record(model)["headline"]
    report, card = (Path(name).read_text(encoding="utf-8") for name in ("report.html", "card.md"))
    assert headline in html.unescape(report).replace("≤", "<=")
    for page in (report, card):
        assert re.search(r"0\.\d{4}", headline)[0] in page
        assert "data.csv" in page
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", report)


def test_fit_is_repeatable_and_its_seed_matters(clinic):
    def predictions(seed):
        model, _ = fitted(clinic / "data.csv", "--seed", seed, out=f"{seed}.skops")
        return predicted(model, FRESH)

    saved = predicted(clinic / "model.skops", FRESH)
    pd.testing.assert_frame_equal(predictions(0), saved)
    assert not predictions(1).equals(saved)


def test_the_default_output_is_a_model_in_the_current_folder(clinic):
    succeeded("fit", clinic / "data.csv", "--target", "state", *FEW)
    assert [*contents(".")] == [Path("model.skops")]


def test_version():
    assert pacfourier.__version__ in succeeded("--version").stdout


def test_help_lists_every_option():
    printed = succeeded("fit", "--help").stdout
    options = (
        "target out report card certify epsilon duplicates n-frequencies group class-weight seed"
    )
    for name in (*options.split(), "separator", "encoding", "missing", "type", "overwrite"):
        assert f"--{name}" in printed


# Columns


@pytest.mark.parametrize("words", [["unknown", "?"], ["inf", "-inf", "Infinity"], ["1e80"]])
def test_a_numeric_column_with_stray_cells_stays_numeric(words):
    table = patients(600)
    cells = table["pulse"].astype(str)
    rows = np.random.default_rng([TABLES, 1]).choice(600, 3, replace=False)
    cells.iloc[rows] = [words[place % len(words)] for place in range(3)]
    data = written(table.assign(pulse=cells), "stray.csv")
    model, result = fitted(data, out="stray.skops")
    assert re.search(r"\b3 of 600 values of 'pulse'", notes(result))
    assert any(f"'{word}'" in notes(result) for word in words)
    assert "left out" not in notes(result)
    assert error_on(model, FRESH) < GOOD_ERROR


def test_row_numbers_are_left_out():
    """The table is sorted by class, so that the number of a row tells its class."""
    table = patients(400).sort_values("state").reset_index(drop=True)
    table.insert(0, "id", np.arange(1, 401))
    model, result = fitted(written(table, "data.csv"))
    assert re.search(r"'id'.*left out", notes(result))
    assert error_on(model, FRESH) < GOOD_ERROR


def test_row_numbers_as_pandas_writes_them_are_left_out():
    table = patients(400).sort_values("state").reset_index(drop=True)
    table.to_csv("data.csv")
    model, result = fitted("data.csv")
    assert "left out" in notes(result)
    assert error_on(model, FRESH) < GOOD_ERROR


@pytest.mark.parametrize("kind", ["uuid", "name"])
def test_names_of_rows_are_left_out(kind):
    rng = np.random.default_rng([TABLES, 0])
    ids = {
        "uuid": [str(uuid.UUID(bytes=rng.bytes(16))) for _ in range(300)],
        "name": [f"P-{number:05d}" for number in rng.permutation(300)],
    }
    model, result = fitted(written(patients().assign(ticket=ids[kind]), "data.csv"))
    assert re.search(r"'ticket'.*left out", notes(result))
    assert error_on(model, FRESH) < GOOD_ERROR


@pytest.mark.parametrize("value", ["always", 7, ""], ids=["word", "number", "blank"])
def test_a_column_that_says_nothing_is_left_out(value):
    model, result = fitted(written(patients().assign(same=value), "data.csv"))
    assert re.search(r"'same'.*left out", notes(result))
    assert error_on(model, FRESH) < GOOD_ERROR


def seasons(n_rows, seed):
    """Days of three years, of which the second half of each year is warm."""
    rng = np.random.default_rng([TABLES, seed])
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1096, n_rows), "D")
    state = np.where(days.month >= 7, "warm", "cold")
    return pd.DataFrame({"day": days, "noise": rng.standard_normal(n_rows), "state": state})


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%d/%m/%Y", "%m/%d/%Y"])
def test_a_date_becomes_features(form):
    table, fresh = seasons(600, seed=0), seasons(400, seed=1)
    for each in (table, fresh):
        each["day"] = each["day"].dt.strftime(form)
    model, result = fitted(written(table, "data.csv"))
    assert "left out" not in notes(result)
    assert error_on(model, fresh) < 0.1


def test_a_typed_date_becomes_features():
    seasons(600, seed=0).to_parquet("data.parquet")
    model, _ = fitted("data.parquet")
    seasons(400, seed=1).to_parquet("fresh.parquet")
    succeeded("predict", model, "fresh.parquet", "--out", "out.csv")
    predictions = pd.read_csv("out.csv")
    assert np.mean(predictions["predicted_state"] != predictions["state"]) < 0.1


def letters_of_customers(n_rows, seed):
    """Sentences of twelve words, four of which tell the mood."""
    rng = np.random.default_rng([TABLES, seed])
    text = "we ordered the box on monday and it came with post to our house by noon"
    common = text.split()
    telling = {"angry": ["broken", "late", "refund", "terrible"], "glad": ["lovely", "thanks"]}
    moods = rng.choice([*telling], n_rows)
    texts = [
        " ".join(rng.permutation([*rng.choice(common, 8), *rng.choice(telling[mood], 4)]))
        for mood in moods
    ]
    return pd.DataFrame({"letter": texts, "noise": rng.random(n_rows), "state": moods})


def test_a_text_becomes_features():
    model, result = fitted(written(letters_of_customers(400, seed=0), "data.csv"))
    assert "left out" not in notes(result)
    assert error_on(model, letters_of_customers(400, seed=1)) < 0.1


def test_a_type_can_be_forced():
    """Numbers of shops, of which the odd ones are closed: no number, but a category."""
    rng = np.random.default_rng([TABLES, 0])
    shops = rng.integers(1, 21, 900)
    table = pd.DataFrame(
        {"shop": shops, "secret": shops % 2 + 0.0, "noise": rng.standard_normal(900)}
    ).assign(state=np.where(shops % 2, "closed", "open"))
    data = written(table.head(600), "data.csv")
    options = ("--type", "shop=category", "--type", "secret=drop")
    model, _ = fitted(data, *options)
    assert error_on(model, table.tail(300).drop(columns="secret")) < 0.05


@pytest.mark.parametrize(
    "text", ["pulse=colour", "nothing=number", "pulse", "=number", "state=drop"]
)
def test_a_wrong_type_is_refused(text, clinic):
    assert "--type" in refused("fit", clinic / "data.csv", "--target", "state", "--type", text)


def test_words_for_no_value_can_be_named():
    """-999 means that the pulse is unknown, and happens to the ill and the well alike."""
    table = patients(600)
    data = written(table.assign(pulse=table["pulse"].where(table.index % 3 > 0, -999)), "data.csv")
    told, result = fitted(data, "--missing", "-999", "--missing", "never there", out="told.skops")
    assert notes(result) == ""
    rows = FRESH.assign(pulse=FRESH["pulse"].where(FRESH.index % 3 > 0).astype(object))
    gaps = predicted(told, rows)
    words = predicted(told, rows.fillna({"pulse": -999}), "--missing", "-999")
    added = ["predicted_state", "probability_ill"]
    pd.testing.assert_frame_equal(gaps[added], words[added])
    known = (FRESH.index % 3 > 0).nonzero()[0]
    is_wrong = (gaps["predicted_state"] != FRESH["state"]).to_numpy()
    assert is_wrong[known].mean() < GOOD_ERROR


# Files


def typed(table):
    """Return a table without gaps of text, for formats that have types."""
    return pa.Table.from_pandas(table, preserve_index=False)


def lines_of_json(table):
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def in_lines(table, **settings):
    return table.to_csv(index=False, **settings).encode()


WRITERS = {
    "data.csv.gz": lambda table, path: path.write_bytes(gzip.compress(in_lines(table))),
    "data.tsv": lambda table, path: path.write_bytes(in_lines(table, sep="\t")),
    "data.txt": lambda table, path: path.write_bytes(in_lines(table, sep="|")),
    "bom.csv": lambda table, path: path.write_bytes(b"\xef\xbb\xbf" + in_lines(table)),
    "windows.csv": lambda table, path: path.write_bytes(in_lines(table, lineterminator="\r\n")),
    "semicolons.csv": lambda table, path: path.write_bytes(in_lines(table, sep=";", decimal=",")),
    "data.jsonl": lambda table, path: path.write_bytes(lines_of_json(table)),
    "data.ndjson.gz": lambda table, path: path.write_bytes(gzip.compress(lines_of_json(table))),
    "data.parquet": lambda table, path: table.to_parquet(path),
    "data.feather": lambda table, path: feather.write_feather(typed(table), path),
    "data.arrow": lambda table, path: feather.write_feather(
        typed(table), path, compression="uncompressed"
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_gives_the_same_model(name, clinic, folder):
    # The target comes first, so that a byte order mark would hide it.
    table = patients()[["state", "ward", "pulse", "weight"]]
    WRITERS[name](table, folder / name)
    model, result = fitted(name)
    assert notes(result) == ""
    expected = predicted(clinic / "model.skops", FRESH)
    form = {"sep": ";", "decimal": ","} if name == "semicolons.csv" else {}
    found = predicted(model, FRESH, **form)
    # The order of the columns enters the draw of the frequencies, and nothing else differs.
    assert np.mean(expected["predicted_state"] == found["predicted_state"]) > 0.95
    assert np.mean(found["predicted_state"] != FRESH["state"]) < GOOD_ERROR


def test_a_file_without_its_order_of_columns_changed_gives_the_same_predictions(clinic):
    patients().to_parquet("data.parquet")
    model, _ = fitted("data.parquet")
    expected, found = (predicted(each, FRESH) for each in (clinic / "model.skops", model))
    pd.testing.assert_series_equal(expected["predicted_state"], found["predicted_state"])
    differences = [probabilities(each, ["ill", "well"]) for each in (expected, found)]
    np.testing.assert_allclose(*differences, atol=1e-5)


def cities(n_rows, seed=0):
    table = patients(n_rows, seed)
    ward = table["ward"].map({"east": "Zürich", "west": "Besançon", "north": "Köln"})
    return table.assign(ward=ward, state=table["state"].map({"ill": "übel", "well": "gut"}))


def test_latin_1_is_read_and_said():
    data = written(cities(300), "data.csv", encoding="latin-1")
    model, result = fitted(data)
    assert re.search(r"latin-?1", notes(result), re.IGNORECASE)
    fresh = cities(1000, seed=99)
    assert error_on(model, fresh) < GOOD_ERROR
    assert set(predicted(model, fresh)["predicted_state"]) == {"übel", "gut"}


def test_a_named_encoding_is_used():
    data = written(cities(300), "data.csv", encoding="latin-1")
    _, result = fitted(data, "--encoding", "latin-1")
    assert notes(result) == ""
    assert "utf-8" in refused(
        "fit", data, "--target", "state", "--encoding", "utf-8", "--overwrite"
    )
    line = refused("fit", data, "--target", "state", "--encoding", "klingon", "--overwrite")
    assert "klingon" in line


def test_a_named_separator_is_used():
    data = written(patients().assign(ward="north; or east"), "data.csv", sep="|")
    model, _ = fitted(data, "--separator", "|")
    assert error_on(model, FRESH) < 0.1
    line = refused("fit", data, "--target", "state", "--separator", "||", "--overwrite")
    assert "--separator" in line


GOOD = in_lines(patients())
BAD_FILES = {
    "ragged.csv": (GOOD + b"1,2,east,ill,5\n", "302"),
    "short.csv": (GOOD + b"1,2\n", "302"),
    "names.csv": (GOOD.replace(b"weight", b"pulse", 1), "'pulse'"),
    "empty.csv": (b"", "empty.csv|empty|names"),
    "header.csv": (GOOD.split(b"\n")[0] + b"\n", "rows"),
    "two.csv": (b"\n".join(GOOD.split(b"\n")[:3]) + b"\n", r"rows.*\b2\b"),
    "zeros.csv": (GOOD + b"\0" * 20, "zero"),
    "broken.csv.gz": (gzip.compress(GOOD)[:-200], "broken.csv.gz"),
    "plain.csv.gz": (GOOD, "plain.csv.gz"),
    "broken.parquet": (b"PAR1 and then nothing", "broken.parquet"),
    "broken.arrow": (b"ARROW1 and then nothing", "broken.arrow"),
    "broken.jsonl": (b'{"pulse": 1, "state": "ill"}\n{"pulse":\n', "line 2"),
    "data.xlsx": (GOOD, r"\.csv"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_refused(name, folder):
    content, message = BAD_FILES[name]
    (folder / name).write_bytes(content)
    line = refused("fit", name, "--target", "state", *FEW, "--report", "report.html")
    assert re.search(message, line)


def test_a_file_that_is_not_there_is_refused():
    line = refused("fit", "none.csv", "--target", "state")
    assert line.endswith("got 'none.csv': no such file.\n")
    assert refused("fit", ".", "--target", "state").endswith("got '.': it is a folder.\n")


def test_a_wrong_separator_is_suggested_if_there_is_one_column(clinic):
    line = refused("fit", clinic / "data.csv", "--target", "state", "--separator", ";")
    assert "or see --separator" in line


# The target


def test_a_target_must_be_named(clinic):
    assert "--target" in refused("fit", clinic / "data.csv")


def test_a_target_that_is_no_column_is_refused(clinic):
    line = refused("fit", clinic / "data.csv", "--target", "stat")
    assert "'stat'" in line
    assert "'state'" in line


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (["ill"] * 300, "ill"),
        ([""] * 300, "state"),
        ([f"person {i}" for i in range(300)], "state"),
    ],
    ids=["one class", "no class", "all different"],
)
def test_a_target_without_classes_is_refused(state, message):
    data = written(patients().assign(state=state), "data.csv")
    assert message in refused("fit", data, "--target", "state", *FEW)


def test_a_table_of_the_target_only_is_refused():
    data = written(patients()[["state"]], "data.csv")
    assert "column" in refused("fit", data, "--target", "state", *FEW)


def test_rows_without_label_are_left_out_with_a_note():
    table = patients(400)
    table.loc[::10, "state"] = None
    model, result = fitted(written(table, "data.csv"))
    assert re.search(r"\b40\b.*label|\b40\b.*target|\b40\b.*'state'", notes(result))
    assert record(model)["rows"]["read"] == 400
    assert record(model)["rows"]["without label"] == 40
    assert error_on(model, FRESH) < GOOD_ERROR


def test_na_and_none_are_classes():
    def coasts(n_rows, seed):
        table = patients(n_rows, seed)
        names = np.where(table["pulse"] < 60, "NA", np.where(table["pulse"] < 80, "None", "EU"))
        return table[["pulse", "weight"]].assign(state=names)

    data = written(coasts(600, seed=0), "data.csv")
    model, result = fitted(data)
    assert "label" not in notes(result)
    predictions = predicted(model, coasts(300, seed=1))
    assert set(predictions["predicted_state"]) == {"NA", "None", "EU"}
    assert {"probability_NA", "probability_None"} <= set(predictions)
    assert error_on(model, coasts(300, seed=1)) < 0.15
    fewer, result = fitted(data, "--missing", "NA", out="fewer.skops")
    assert "label" in notes(result) or "'state'" in notes(result)
    assert set(predicted(fewer, coasts(300, seed=1))["predicted_state"]) == {"None", "EU"}


def test_missing_labels_of_parquet_are_no_class():
    table = patients()
    table.loc[:29, "state"] = None
    table.to_parquet("data.parquet")
    model, _ = fitted("data.parquet")
    assert record(model)["rows"]["without label"] == 30
    assert set(predicted(model, FRESH)["predicted_state"]) == {"ill", "well"}


def test_numbers_with_few_values_are_classes():
    table = patients().assign(state=lambda rows: (rows["state"] == "ill").astype(int))
    model, _ = fitted(written(table, "data.csv"))
    assert set(predicted(model, FRESH)["predicted_state"]) == {"0", "1"}


def alphabet(n_rows, seed):
    rng = np.random.default_rng([TABLES, seed])
    number = rng.integers(0, 26, n_rows)
    place = np.stack([number % 6, number // 6], axis=1) + 0.15 * rng.standard_normal((n_rows, 2))
    letters = np.array([*"abcdefghijklmnopqrstuvwxyz"])[number]
    return pd.DataFrame(place, columns=["across", "down"]).assign(state=letters)


@pytest.mark.slow
def test_26_classes():
    """The best error is about 0.2 %, and that of guessing 96 %."""
    data = written(alphabet(780, seed=0), "data.csv")
    model, _ = fitted(data, "--n-frequencies", 20)
    fresh = alphabet(500, seed=1)
    assert error_on(model, fresh) < 0.25
    columns = predicted(model, fresh)
    shares = probabilities(columns, "abcdefghijklmnopqrstuvwxyz")
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-4)


# Rare classes


def frauds(n_rows, seed):
    """One row in a hundred is a fraud, and its amount is high."""
    rng = np.random.default_rng([TABLES, seed])
    is_fraud = rng.permutation(n_rows) < n_rows // 100
    return pd.DataFrame(
        {
            "amount": rng.standard_normal(n_rows) + 3.5 * is_fraud,
            "hour": rng.uniform(0, 24, n_rows),
            "state": np.where(is_fraud, "fraud", "fine"),
        }
    )


def recall(predictions, table):
    is_fraud = (table["state"] == "fraud").to_numpy()
    return np.mean(predictions["predicted_state"].to_numpy()[is_fraud] == "fraud")


@pytest.fixture(scope="module")
def rare(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rare")
    data = written(frauds(1000, seed=0), folder / "data.csv")
    _, result = fitted(data, out=folder / "plain.skops")
    fitted(data, "--class-weight", "balanced", out=folder / "balanced.skops")
    (folder / "stdout.txt").write_text(result.stdout)
    return folder


def test_one_per_cent_of_positives_works(rare):
    fresh = frauds(2000, seed=1)
    for name in ("plain", "balanced"):
        shares = probabilities(predicted(rare / f"{name}.skops", fresh), ["fraud"])
        assert roc_auc_score(fresh["state"] == "fraud", shares[:, 0]) > 0.9


def test_too_few_rows_for_a_threshold_are_said_once(rare):
    """Two or three frauds are held out. Seven would be needed to promise half of them."""
    printed = squeezed((rare / "stdout.txt").read_text())
    assert "Too few rows of 'fraud' were held out for a threshold" in printed
    assert "--certify" in printed
    assert "predicted as 'fraud'" not in printed


def test_thresholds_are_printed():
    data = written(frauds(6000, seed=0), "data.csv")
    model, result = fitted(data)
    printed = squeezed(result.stdout)
    for word in ("recall", "precision", "--threshold", "predicted as 'fraud'"):
        assert word in printed
    thresholds = record(model)["thresholds"]
    assert thresholds
    assert all({"recall", "threshold", "precision", "alarms"} <= row.keys() for row in thresholds)


def test_balanced_weights_find_more_of_the_rare_class(rare):
    fresh = frauds(2000, seed=1)
    plain, balanced = (predicted(rare / f"{n}.skops", fresh) for n in ("plain", "balanced"))
    assert recall(balanced, fresh) >= 0.75
    assert recall(balanced, fresh) > recall(plain, fresh)


def test_a_class_can_be_given_a_weight(rare):
    fresh = frauds(2000, seed=1)
    weighted, _ = fitted(rare / "data.csv", "--class-weight", "fraud=99,fine=1")
    assert recall(predicted(weighted, fresh), fresh) >= 0.75


@pytest.mark.parametrize("text", ["fraude=3", "fraud=much", "fraud=-1", "fraud", "even"])
def test_a_wrong_weight_is_refused(text, rare):
    line = refused("fit", rare / "data.csv", "--target", "state", "--class-weight", text, *FEW)
    assert "--class-weight" in line


# Regression


def prices(n_rows, seed):
    rng = np.random.default_rng([TABLES, seed])
    area, place = rng.uniform(30, 150, n_rows), rng.choice(["town", "country"], n_rows)
    price = 2.5 * area + 80 * (place == "town") + 10 * rng.standard_normal(n_rows)
    return pd.DataFrame({"area": area, "place": place, "price": price})


def test_regression():
    """The best R2 is 0.987."""
    model, result = fitted(written(prices(400, seed=0), "data.csv"), target="price")
    printed = squeezed(result.stdout)
    for name in ("this model", "ridge regression", "boosted trees"):
        assert re.search(rf"{name} \d+\.\d+", printed)
    assert re.search(r"<= \d", printed)
    assert "with probability 0.95" in printed
    fresh = prices(500, seed=1)
    columns = predicted(model, fresh.drop(columns="price"))
    assert r2_score(fresh["price"], columns["predicted_price"].astype(float)) > 0.95
    assert not [name for name in columns if name.startswith("probability")]
    assert record(model)["results"][0]["r2"] > 0.95


def test_regression_leaves_out_rows_whose_amount_is_no_number():
    table = prices(400, seed=0)
    cells = table["price"].astype(str)
    cells.iloc[:4] = ["", "NA", "unknown", ""]
    model, result = fitted(written(table.assign(price=cells), "data.csv"), target="price")
    assert re.search(r"\b[24]\b", notes(result))
    assert record(model)["results"][0]["r2"] > 0.95


def test_weights_of_classes_are_refused_for_amounts():
    data = written(prices(300, seed=0), "data.csv")
    line = refused("fit", data, "--target", "price", "--class-weight", "balanced", *FEW)
    assert "--class-weight" in line


# Groups


def test_rows_of_a_group_are_never_on_both_sides():
    """A site tells the class, but only of the hospital it belongs to.

    Whoever has seen rows of a hospital predicts its other rows without error. If no hospital is
    on both sides, the site says nothing. The classes of the hospitals held out are then rarer
    among those learned from, so every predictor errs on half of the rows or more.
    """
    rng = np.random.default_rng([TABLES, 0])
    hospitals = rng.permutation(np.repeat(np.arange(16), 36))
    table = pd.DataFrame(
        {
            "hospital": [f"hospital {number}" for number in hospitals],
            "site": [f"site {number}" for number in hospitals],
            "noise": rng.standard_normal(576),
            "state": np.where(hospitals % 2, "ill", "well"),
        }
    )
    data = written(table, "data.csv")
    leaking, _ = fitted(data, "--type", "hospital=drop", out="leaking.skops")
    grouped, result = fitted(data, "--group", "hospital", out="grouped.skops")
    # The constant prediction comes last and cannot leak.
    assert all(error < 0.05 for error in [*results(leaking).values()][:3])
    assert all(error > 0.3 for error in [*results(grouped).values()][:3])
    assert "one of each group" in squeezed(result.stdout)
    # Four hospitals of 36 rows each: rows that count as independent would give 0.04 at most.
    assert record(grouped)["results"][0]["standard_error"] > 0.05
    assert all(bound > 0.3 for bound in bounds(result.stdout))


@pytest.mark.parametrize("name", ["none", "state"])
def test_a_wrong_group_is_refused(name, clinic):
    line = refused("fit", clinic / "data.csv", "--target", "state", "--group", name)
    assert "--group" in line
    assert f"'{name}'" in line


def test_a_single_group_is_refused():
    data = written(patients().assign(hospital="the same"), "data.csv")
    line = refused("fit", data, "--target", "state", "--group", "hospital", *FEW)
    assert "group" in line


# Certificates


def test_nothing_is_certified_on_demand(clinic):
    model, result = fitted(clinic / "data.csv", "--certify", "no", "--report", "report.html")
    assert "Nothing is certified" in squeezed(result.stdout)
    assert "<=" not in result.stdout
    assert "Nothing is certified" in Path("report.html").read_text(encoding="utf-8")
    assert not record(model)["is_certified"]
    assert "Nothing is certified" in squeezed(succeeded("certify", model).stdout)


def test_the_share_of_certifying_rows_is_that_of_the_option(clinic):
    counts = [
        record(fitted(clinic / "data.csv", "--certify", share, out=f"{share}.skops")[0])["rows"]
        for share in (0.1, 0.5)
    ]
    assert counts[0]["certifying"] == pytest.approx(30, abs=3)
    assert counts[1]["certifying"] == pytest.approx(150, abs=3)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--epsilon", "0"),
        ("--epsilon", "1"),
        ("--epsilon", "-0.1"),
        ("--epsilon", "nan"),
        ("--epsilon", "small"),
        ("--certify", "0"),
        ("--certify", "1.5"),
        ("--certify", "nan"),
        ("--certify", "perhaps"),
        ("--duplicates", "copies"),
        ("--n-frequencies", "0"),
        ("--n-frequencies", "many"),
        ("--seed", "-1"),
    ],
)
def test_a_value_out_of_range_is_refused(option, value, clinic):
    line = refused("fit", clinic / "data.csv", "--target", "state", option, value)
    assert option in line
    assert value in line


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--out", "model.pkl"),
        ("--out", "none/model.skops"),
        ("--report", "report.pdf"),
        ("--card", "card.docx"),
    ],
)
def test_a_wrong_name_of_an_output_is_refused(option, value, clinic):
    assert f"'{value}'" in refused("fit", clinic / "data.csv", "--target", "state", option, value)


def test_an_unknown_option_is_refused(clinic):
    line = refused("fit", clinic / "data.csv", "--target", "state", "--colour", "red")
    assert "--colour" in line


def test_epsilon_is_the_probability_of_failure(clinic):
    _, result = fitted(clinic / "data.csv", "--epsilon", 0.01)
    [wide] = bounds(result.stdout, epsilon=0.01)
    assert wide > bounds((clinic / "stdout.txt").read_text())[0]


def test_repeated_rows_are_certified_only_if_declared_genuine():
    rng = np.random.default_rng([TABLES, 0])
    table = pd.DataFrame(rng.integers(1, 4, (400, 3)), columns=["a", "b", "c"])
    table["state"] = np.where(table["a"] > 2, "ill", "well")
    data = written(table, "data.csv")
    model, result = fitted(data, out="unsure.skops")
    assert "Nothing is certified" in squeezed(result.stdout)
    assert "--duplicates genuine" in squeezed(result.stdout + result.stderr)
    assert "duplicates='genuine'" not in squeezed(result.stdout + result.stderr)
    assert not record(model)["is_certified"]
    model, result = fitted(data, "--duplicates", "genuine")
    assert bounds(result.stdout)
    assert record(model)["is_certified"]


def test_the_rows_held_out_are_independent_of_tables_that_numpy_drew():
    """The first draw of NumPy's generator with the same seed is the target.

    If it also chose the rows held out, their targets would be the smallest. The mean of 60 of 300
    uniform numbers has a standard deviation of 0.034 around that of the others.
    """
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame({"y": rng.random(300), "x": rng.random(300)})
        model, _ = fitted(written(table, "data.csv"), "--seed", seed, "--overwrite", target="y")
        # Always predicting the mean explains nothing, and is little worse than that.
        assert record(model)["results"][-1]["r2"] > -0.3


# Existing files


@pytest.mark.parametrize("option", ["--out", "--report", "--card"])
def test_an_existing_file_is_refused_before_any_work(option, folder):
    """The table is broken, but the command does not come so far as to read it."""
    name = {"--out": "my.skops", "--report": "my.html", "--card": "my.md"}[option]
    (folder / name).write_bytes(b"mine")
    (folder / "data.csv").write_bytes(b"a,b\n1\n")
    line = refused("fit", "data.csv", "--target", "b", option, name)
    assert name in line
    assert "--overwrite" in line


def test_an_existing_file_is_overwritten_on_demand(clinic, folder):
    outputs = {"--out": "model.skops", "--report": "report.html", "--card": "card.md"}
    for name in outputs.values():
        (folder / name).write_bytes(b"mine")
    options = [part for pair in outputs.items() for part in pair]
    succeeded("fit", clinic / "data.csv", "--target", "state", *FEW, *options, "--overwrite")
    assert set(contents(".")) == {Path(name) for name in outputs.values()}
    assert b"mine" not in contents(".").values()


def test_a_failed_overwrite_leaves_the_file_as_it_was(folder):
    (folder / "model.skops").write_bytes(b"mine")
    (folder / "data.csv").write_bytes(b"a,b\n1\n")
    line = refused("fit", "data.csv", "--target", "b", "--overwrite")
    assert "data.csv" in line or "line 2" in line


def test_two_outputs_must_not_be_one_file(clinic):
    result = invoke(
        "fit", clinic / "data.csv", "--target", "state", "--report", "a.html", "--card", "a.html"
    )
    assert result.exit_code == 2
    assert contents(".") == {}


# In a process of its own


def test_a_refusal_in_a_process_of_its_own_has_no_traceback(folder):
    (folder / "data.csv").write_bytes(b"a,b\n1\n")
    process = started("fit", "data.csv", "--target", "b")
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 2
    assert stdout == ""
    assert stderr.startswith("Error: ")
    assert stderr.count("\n") == 1
    assert [*contents(".")] == [Path("data.csv")]


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [1.0, 4.0, 8.0])
def test_an_interrupt_is_quiet_and_leaves_no_file(seconds, folder):
    """The fit of 60,000 rows and ten columns takes far longer than any of the waits."""
    rng = np.random.default_rng([TABLES, 0])
    table = pd.DataFrame(rng.standard_normal((60_000, 10))).rename(columns="x{}".format)
    table["state"] = np.where(np.sin(table.to_numpy() * 2).sum(axis=1) > 0, "ill", "well")
    written(table, folder / "data.csv", float_format="%.4f")
    outputs = ("--out", "model.skops", "--report", "report.html", "--card", "card.md")
    process = started("fit", "data.csv", "--target", "state", "--n-frequencies", 400, *outputs)
    time.sleep(seconds)
    assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode in (130, -signal.SIGINT)
    assert "Traceback" not in stderr
    assert len(stderr.strip().splitlines()) <= 1
    assert [*contents(".")] == [Path("data.csv")]


@pytest.mark.slow
def test_200_000_rows():
    rng = np.random.default_rng([TABLES, 0])
    table = patients(200_000).assign(noise=rng.standard_normal(200_000))
    model, result = fitted(written(table, "data.csv", float_format="%.3f"))
    assert record(model)["rows"]["read"] == 200_000
    assert "200,000" in squeezed(result.stdout)
    succeeded("predict", model, "data.csv", "--columns", "state", "--out", "out.parquet")
    predictions = pd.read_parquet("out.parquet")
    assert len(predictions) == 200_000
    assert (predictions["state"] == table["state"]).all()
    # The best error is 0.0495, and its standard deviation here is 0.0005.
    assert np.mean(predictions["predicted_state"] != table["state"]) < 0.055
