import copy

import numpy as np
import pandas as pd
import pytest
import skrub
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder

from pacfourier.errors import InputError
from pacfourier.tabular import column_encodings
from pacfourier.tabular.column_encodings import Category, Date, Numbers, Text
from pacfourier.tabular.encoding import Encoding, _distinct_names, learned_encoding
from pacfourier.tabular.plain_files import plain_bytes, plain_data

KINDS = {
    "age": "number",
    "far": "number",
    "job": "category",
    "town": "category",
    "when": "date",
    "note": "text",
}
WORDS = ("nurse", "teacher", "engineer", "carpenter", "naïve", "漢字かな", "Über", "x-ray")


def texts(values):
    return pd.array(list(values), dtype="str")


def table(n_rows=500, seed=0):
    """Return a frame with all kinds of columns and gaps in four of them."""
    rng = np.random.default_rng(seed)
    seconds = pd.to_timedelta(rng.integers(0, 10**8, n_rows), unit="s")
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n_rows),
            "far": 1e12 + rng.random(n_rows),
            "job": texts(rng.choice(WORDS, n_rows)),
            "town": texts(f"town {each}" for each in rng.geometric(0.02, n_rows)),
            "when": (pd.Timestamp("2020-01-01") + seconds).astype("datetime64[ns]"),
            "note": texts(" ".join(rng.choice(WORDS, 5)) for _ in range(n_rows)),
        }
    )
    for name in ("age", "job", "when", "note"):
        frame.loc[rng.random(n_rows) < 0.1, name] = None
    return frame


@pytest.fixture(scope="module")
def encoding():
    return learned_encoding(table(), KINDS, seed=0)


def columns_of(encoding, frame, source):
    """Return the encoded columns of one column, as a frame."""
    is_chosen = np.array(encoding.sources) == source
    names = [
        name for name, each in zip(encoding.names, encoding.sources, strict=True) if each == source
    ]
    return pd.DataFrame(encoding.encoded(frame)[:, is_chosen], columns=names)


def test_names_and_sources_belong_to_the_columns(encoding):
    array = encoding.encoded(table(40, seed=1))
    assert array.dtype == np.float32
    assert array.shape == (40, len(encoding.names))
    assert array.flags.c_contiguous
    assert np.isfinite(array).all()
    assert len(encoding.sources) == len(encoding.offsets) == len(encoding.names)
    assert set(encoding.sources) == set(KINDS)
    assert {"age", "age is missing", "job = nurse", "when: month"} <= set(encoding.names)
    assert len(set(encoding.names)) == len(encoding.names)


def test_one_row_no_rows_and_other_orders_are_encoded(encoding):
    frame = table(30, seed=2)
    array = encoding.encoded(frame)
    np.testing.assert_array_equal(encoding.encoded(frame.iloc[3:4]), array[3:4])
    np.testing.assert_array_equal(encoding.encoded(frame.iloc[::-1]), array[::-1])
    np.testing.assert_array_equal(encoding.encoded(frame[frame.columns[::-1]]), array)
    np.testing.assert_array_equal(encoding.encoded(frame.assign(more=1.0)), array)
    assert encoding.encoded(frame.iloc[:0]).shape == (0, array.shape[1])


def test_encoding_is_reproducible_and_the_seed_matters_to_texts_only(encoding):
    frame = table()
    again = learned_encoding(frame, KINDS, seed=0)
    np.testing.assert_array_equal(again.encoded(frame), encoding.encoded(frame))
    assert learned_encoding(frame, KINDS, seed=2**40).names == encoding.names


# Numbers


def test_numbers_are_centred_in_double_precision(encoding):
    frame = table(seed=1)
    found = columns_of(encoding, frame, "far")["far"]
    expected = frame["far"] - table()["far"].median()
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    # Single precision alone would lose everything.
    assert len(np.unique(frame["far"].astype(np.float32))) == 1


def test_gaps_get_the_median_and_a_mark(encoding):
    frame = table(seed=1)
    found = columns_of(encoding, frame, "age")
    is_gap = frame["age"].isna().to_numpy()
    assert is_gap.any()
    np.testing.assert_array_equal(found["age is missing"], is_gap)
    assert (found["age"][is_gap] == 0).all()
    offset = encoding.offsets[encoding.names.index("age")]
    assert offset == table()["age"].median()
    np.testing.assert_allclose(found["age"][~is_gap] + offset, frame["age"][~is_gap], rtol=1e-6)


def test_a_gap_where_the_fit_had_none_gets_the_median(encoding):
    frame = table(5, seed=1)
    frame["far"] = [np.nan, np.inf, -np.inf, 1e12, 1e70]
    found = columns_of(encoding, frame, "far")
    assert list(found) == ["far"]
    assert (found["far"][:3] == 0).all()
    assert np.isfinite(found["far"]).all()


@pytest.mark.parametrize("scale", [1e-60, 1e-20, 1e-3, 1.0, 1e14, 1e20, 1e70])
def test_numbers_of_any_size_are_told_apart(scale):
    values = scale * np.array([1.0, 2.0, 3.0, 5.0, 8.0])
    numbers = Numbers.learned(pd.DataFrame({"x": values}))
    found = numbers.encoded(pd.DataFrame({"x": values}))[:, 0]
    np.testing.assert_allclose(found * numbers.units, values - np.median(values), rtol=1e-6)
    assert numbers.names == ["x" if numbers.units == 1 else f"x / {numbers.units[0]:g}"]
    assert np.abs(found).max() <= 1e15


def test_blank_and_constant_columns_become_zeros():
    frame = pd.DataFrame({"blank": [np.nan, np.nan], "constant": [7.0, 7.0]})
    encoding = learned_encoding(frame, dict.fromkeys(frame, "number"), 0)
    assert encoding.names == ["blank", "constant", "blank is missing"]
    assert encoding.encoded(frame).tolist() == [[0, 0, 1], [0, 0, 1]]


def test_a_table_without_numbers_is_encoded():
    frame = pd.DataFrame({"a": texts(["x", "x", "y", "y"])})
    encoding = learned_encoding(frame, {"a": "category"}, 0)
    assert encoding.names == ["a = x", "a = y"]
    assert encoding.encoded(frame).tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]


# Categories


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=30), st.integers(1, 8))
def test_categories_are_encoded_as_by_scikit_learn(values, most):
    column = pd.Series(texts(values), name="c")
    # The encoder of scikit-learn, which skrub uses, counts the column of rare ones in its limit.
    twin = OneHotEncoder(
        handle_unknown="infrequent_if_exist",
        sparse_output=False,
        min_frequency=2,
        max_categories=most + 1,
    )
    expected = twin.fit(column.to_frame().astype(object))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_encodings, "MOST_LEVELS", most)
        category = Category.learned(column)
    new = pd.Series(texts([*"abcdefgh", *values]), name="c")
    np.testing.assert_array_equal(
        category.encoded(new.to_frame()), expected.transform(new.to_frame().astype(object))
    )


def test_rare_and_unseen_categories_share_a_column():
    column = pd.Series(texts(["a"] * 5 + ["b"] * 3 + ["once", "twice"]), name="c")
    category = Category.learned(column)
    assert category.names == ["c = a", "c = b", "c is rare"]
    new = pd.DataFrame({"c": texts(["a", "once", "never", None])})
    assert category.encoded(new).tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1]]


def test_without_rare_ones_unseen_categories_are_zeros():
    category = Category.learned(pd.Series(texts(["a", "a", "b", "b"]), name="c"))
    new = pd.DataFrame({"c": texts(["b", "never", None])})
    assert category.encoded(new).tolist() == [[0, 1], [0, 0], [0, 0]]


def test_gaps_of_categories_have_a_column():
    category = Category.learned(pd.Series(texts(["a", "a", "b", None]), name="c"))
    assert category.names == ["c = a", "c is rare", "c is missing"]
    new = pd.DataFrame({"c": texts(["a", "never", None])})
    assert category.encoded(new).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_the_number_of_columns_of_a_category_is_bounded(encoding):
    assert table()["town"].nunique() > 100
    found = columns_of(encoding, table(), "town")
    assert found.shape[1] == column_encodings.MOST_LEVELS + 1
    assert (found.sum(axis=1) == 1).all()
    counts = table()["town"].value_counts()
    assert found["town is rare"].sum() == counts.iloc[column_encodings.MOST_LEVELS :].sum()


# Dates


@pytest.mark.parametrize("has_times", [True, False])
def test_dates_are_encoded_as_by_skrub(has_times):
    dates = table()["when"] if has_times else table()["when"].dt.normalize()
    date = Date.learned(dates)
    new = table(seed=1)[["when"]]
    twin = skrub.DatetimeEncoder(add_weekday=True, add_day_of_year=True).fit(dates)
    expected = twin.transform(new["when"]).fillna(twin.transform(dates).median())
    found = date.encoded(new).astype(np.float64) + date.offsets
    seconds = date.features.index("total_seconds")
    np.testing.assert_array_equal(
        np.delete(found[:, :-1], seconds, axis=1), np.delete(expected, seconds, axis=1)
    )
    # skrub keeps seconds in single precision, which is right to about a minute.
    np.testing.assert_allclose(found[:, seconds] * 86400, expected.iloc[:, seconds], atol=130)
    assert ("when: hour" in date.names) is has_times
    np.testing.assert_array_equal(found[:, -1], new["when"].isna())


def test_the_days_of_dates_are_right_to_the_second():
    dates = pd.Series(pd.date_range("2020-01-01", periods=9, freq="s"), name="d")
    date = Date.learned(dates)
    days = date.encoded(dates.to_frame())[:, date.features.index("total_seconds")]
    np.testing.assert_allclose(np.diff(days) * 86400, 1, rtol=1e-4)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_dates_of_all_resolutions_are_the_same(unit):
    frame = table()
    dates = frame["when"].dt.floor("s")
    expected = Date.learned(dates).encoded(pd.DataFrame({"when": dates}))
    other = dates.astype(f"datetime64[{unit}]")
    np.testing.assert_array_equal(
        Date.learned(other).encoded(pd.DataFrame({"when": other})), expected
    )


def test_a_column_without_a_date_becomes_zeros():
    dates = pd.Series([pd.NaT, pd.NaT], name="d", dtype="datetime64[ns]")
    found = Date.learned(dates).encoded(dates.to_frame())
    assert (found[:, :-1] == 0).all()
    assert (found[:, -1] == 1).all()


# Texts


def test_texts_are_encoded_as_by_skrub():
    learned, new = table()["note"], table(seed=1)[["note"]]
    text = Text.learned(learned, seed=3)
    assert len(text.grams.split("\n")) < column_encodings.MOST_GRAMS
    twin = skrub.StringEncoder(random_state=3).fit(learned)
    found = text.encoded(new)
    np.testing.assert_array_equal(found[:, :-1], twin.transform(new["note"]))
    np.testing.assert_array_equal(found[:, -1], new["note"].isna())


def test_only_the_most_frequent_parts_of_texts_are_kept(monkeypatch):
    monkeypatch.setattr(column_encodings, "MOST_GRAMS", 20)
    text = Text.learned(table()["note"], seed=0)
    assert text.components.shape == (19, 20)
    assert np.isfinite(text.encoded(table())).all()


def test_many_texts_are_thinned_out(monkeypatch):
    column = table()["note"]
    monkeypatch.setattr(column_encodings, "_MOST_TEXTS", 100)
    expected = Text.learned(column.iloc[::5], seed=0)
    found = Text.learned(column, seed=0)
    np.testing.assert_array_equal(found.components, expected.components)


@pytest.mark.parametrize(
    "values",
    [[None, None], ["", "  "], ["one"], ["!", "\u00a0"], ["same text"] * 5, ["a\nb", "c\rd\te"]],
    ids=str,
)
def test_poor_texts_are_encoded(values):
    frame = pd.DataFrame({"t": texts(values)})
    encoding = learned_encoding(frame, {"t": "text"}, 0)
    array = encoding.encoded(frame)
    assert array.shape == (len(values), len(encoding.names))
    assert np.isfinite(array).all()
    again = Encoding.from_data(plain_data(plain_bytes(encoding.to_data()), "file"))
    np.testing.assert_array_equal(again.encoded(frame), array)


# Plain data


def test_an_encoding_from_plain_data_encodes_the_same(encoding):
    content = plain_bytes(encoding.to_data())
    again = Encoding.from_data(plain_data(content, "file"))
    frame = table(seed=5)
    np.testing.assert_array_equal(again.encoded(frame), encoding.encoded(frame))
    assert again.names == encoding.names
    assert again.sources == encoding.sources
    np.testing.assert_array_equal(again.offsets, encoding.offsets)


def test_names_that_collide_are_told_apart():
    assert _distinct_names(["a", "b", "a", "a (2)", "a"]) == [
        "a",
        "b",
        "a (2)",
        "a (2) (2)",
        "a (3)",
    ]
    frame = pd.DataFrame({"a": [1.0, None], "a is missing": [2.0, 3.0]})
    names = learned_encoding(frame, dict.fromkeys(frame, "number"), 0).names
    assert names == ["a", "a is missing", "a is missing (2)"]


def changed(data, kind, part, value):
    """Return data in which one part of one kind of column is another."""
    data = copy.deepcopy(data)
    owner = data["numbers"] if kind == "number" else None
    owner = owner or next(each for each in data["others"] if each["kind"] == kind)
    owner[part] = value
    return data


@pytest.mark.parametrize(
    ("kind", "part", "value", "message"),
    [
        ("number", "columns", ["age", 3], "'columns' must be a list of texts"),
        ("number", "columns", ["age"], "'centres' must be an array of float64 of shape"),
        ("number", "centres", np.array([0.0, np.nan]), "'centres' must be finite"),
        ("number", "centres", np.array([0, 1]), "'centres' must be an array of float64"),
        ("number", "units", np.array([0.0, 1.0]), "'units' must be positive"),
        ("number", "units", np.array([1e-310, 1.0]), "'units' must be positive"),
        ("number", "has_gaps", [True, False], "'has_gaps' must be an array of bool"),
        ("category", "kind", "tree", "'kind' must be one of category, date, text"),
        ("category", "levels", ["a", "a"], "'levels' must be at most 39 distinct texts"),
        ("category", "levels", list(map(str, range(99))), "'levels' must be at most 39"),
        ("category", "has_rare", 1, "'has_rare' must be True or False"),
        ("category", "column", 1, "'column' must be a text"),
        ("date", "features", ["year", "eval"], "'features' must be some of year, month"),
        ("date", "features", ["year", "year"], "'features' must be some of year, month"),
        ("date", "medians", np.zeros(3), "'medians' must be an array of float64 of shape"),
        ("text", "grams", "abc\nabc", "'grams' must be at most 5,000 distinct lines"),
        ("text", "grams", "abc", "'rarities' must be an array of float64 of shape"),
        ("text", "components", np.zeros((1, 1)), "'components' must be an array of float32"),
        ("text", "factor", 0.0, "'factor' must be a positive number"),
        ("text", "factor", 1e-30, "'factor' must be of usual size"),
        ("text", "factor", float("nan"), "'factor' must be a positive number"),
    ],
)
def test_forged_data_are_refused(encoding, kind, part, value, message):
    data = encoding.to_data()
    assert Encoding.from_data(data).names == encoding.names
    with pytest.raises(InputError, match=message) as caught:
        Encoding.from_data(changed(data, kind, part, value))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [None, 3, [], {}, {"others": {}}, {"others": [1]}], ids=str)
def test_data_of_other_types_are_refused(data):
    with pytest.raises(InputError, match="encoding"):
        Encoding.from_data(data)


def error_of(data):
    try:
        Encoding.from_data(data)
    except InputError as error:
        return str(error)
    return ""


def test_corrupted_data_are_refused_or_encode(encoding):
    rng = np.random.default_rng(0)
    frame, n_refused = table(5), 0
    junk = [
        None,
        1,
        -1,
        10**9,
        1e300,
        "x",
        "",
        [],
        ["age"],
        {},
        True,
        np.zeros(0),
        np.zeros((3, 3)),
    ]
    wild = [0, -1, 1e30, 1e38, 1e300, np.nan, np.inf]
    for _ in range(500):
        data = copy.deepcopy(encoding.to_data())
        owner = [data["numbers"], *data["others"]][rng.integers(5)]
        part = list(owner)[rng.integers(len(owner))]
        if isinstance(owner[part], np.ndarray) and rng.random() < 0.7:
            with np.errstate(over="ignore"):
                owner[part].flat[rng.integers(owner[part].size)] = wild[rng.integers(len(wild))]
        else:
            owner[part] = junk[rng.integers(len(junk))]
        message = error_of(data)
        assert "\n" not in message
        n_refused += bool(message)
        # A forged name is of a column that no table has.
        if not message and set(Encoding.from_data(data).sources) <= set(frame):
            assert np.isfinite(Encoding.from_data(data).encoded(frame)).all()
    assert 250 < n_refused < 500
