import uuid

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacfourier.errors import InputError
from pacfourier.tabular.cells import (
    DATE_FORMATS,
    _plain_numbers,
    arrow_texts,
    dates_of_texts,
    found_date_format,
    found_decimal,
    numbers,
)
from pacfourier.tabular.columns import (
    _KINDS,
    Column,
    Strays,
    TableColumns,
    decided_columns,
    numbers_of_texts,
    stray_notes,
)
from pacfourier.tabular.reading.table_blocks import TEXT

N_ROWS = 60
RNG = np.random.default_rng(0)
AMOUNTS = RNG.random(N_ROWS).round(4)


def decided(values, **forced):
    """What is decided about one column, beside another one that is always a number."""
    column = pd.Series(values, name="it")
    if column.dtype == object:
        column = column.astype(TEXT) if column.dropna().map(type).eq(str).all() else column
    other = pd.Series(RNG.random(len(column)), name="other")
    columns = decided_columns(pd.concat([column, other], axis=1), forced)
    return columns.left_out.get("it") or next(c for c in columns.used if c.name == "it")


# Numbers


@pytest.mark.parametrize(
    ("text", "decimal", "number"),
    [
        ("1.5", ".", 1.5),
        (" -2e3 ", ".", -2000),
        ("+7", ".", 7),
        (".5", ".", 0.5),
        ("1,234.50", ",.", 1234.5),
        ("+12,345,678.", ",.", 12345678),
        ("1 234.5", ".", 1234.5),
        ("1\u00a0234", ".", 1234),
        ("3,14", ",", 3.14),
        ("1.234,5", ".,", 1234.5),
        ("1.234", ".,", 1234),
        ("1 234,5", ",", 1234.5),
        ("-0,5", ",", -0.5),
        ("true", ".", 1),
        ("FALSE", ".", 0),
        ("1e-90", ".", 0),
        *[(text, ".", np.nan) for text in ("1,23", "0,512", "1,234", ",5", "1.2.3", "0x1", "1_0")],
        *[(text, ".", np.nan) for text in ("inf", "-Infinity", "nan", "1e80", "?", "", " ", "e5")],
        *[(text, ",", np.nan) for text in ("1.5", "1,5,5", "1.23,5", "1.234", "two")],
    ],
)
def test_texts_are_read_as_numbers(text, decimal, number):
    # The words beside it take the quick way, the slow way, and neither.
    for others in ([], ["x"], [None]):
        read = numbers_of_texts([text, *others], decimal)
        np.testing.assert_array_equal(read[0], number)
        assert np.isnan(read[1:]).all()


@given(st.floats(min_value=-1e70, max_value=1e70, allow_subnormal=False))
def test_every_number_is_read_as_python_does(number):
    expected = 0.0 if abs(number) < 1e-70 else number
    assert numbers_of_texts([repr(number)]) == numbers_of_texts([repr(number), "x"])[0] == expected


@given(st.floats(min_value=-1e12, max_value=1e12))
def test_grouped_numbers_are_read_with_either_decimal_point(number):
    text = f"{number:,.3f}"
    swapped = text.translate(str.maketrans(",.", ".,"))
    expected = [float(f"{number:.3f}")]
    # Python groups no leading zero, so "-0.500" is a plain number.
    np.testing.assert_array_equal(numbers_of_texts([text, "x"])[:1], expected)
    np.testing.assert_array_equal(numbers_of_texts([swapped, "x"], ".,")[:1], expected)


def test_the_quick_way_and_the_slow_way_agree():
    texts = pa.array([*map(str, RNG.standard_normal(500) * 10.0 ** RNG.integers(-9, 9, 500)), None])
    slow = _plain_numbers(texts, ".")
    assert slow.equals(texts)
    np.testing.assert_array_equal(numbers_of_texts(texts), numbers_of_texts(slow))


@pytest.mark.parametrize(
    ("texts", "decimal"),
    [
        (["1,234", "5,678"], ",."),
        (["1.5", "2,5"], "."),
        (["1,5", "2", "1.234,5"], ".,"),
        (["0,512"], ","),
        (["1.234"], "."),
        (["words"], "."),
    ],
)
def test_the_decimal_point_is_found(texts, decimal):
    assert found_decimal(pa.array(texts)) == decimal


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pd.array([1, None], dtype="Int64"), [1, np.nan]),
        (pd.array([True, None], dtype="boolean"), [1, np.nan]),
        ([True, False], [1, 0]),
        (np.float32([0.5, np.inf]), [0.5, np.nan]),
        (pd.Categorical(["1.5", None]), [1.5, np.nan]),
        (pd.Categorical([2, 3]), [2, 3]),
        ([1, "2.5"], [1, 2.5]),
        (pd.to_timedelta(["1h", None]), [3600, np.nan]),
        (pd.to_datetime(["1970-01-02", None]), [86400, np.nan]),
        (pd.to_datetime(["1970-01-02 01:00+01:00", None]), [86400, np.nan]),
    ],
)
def test_columns_of_every_type_become_numbers(values, expected):
    np.testing.assert_array_equal(numbers(pd.Series(values)), expected)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 2.5, None], ["1", "2.5", None]),
        ([1e300, np.inf, -0.5], [str(int(1e300)), "inf", "-0.5"]),
        (pd.array([1, None], dtype="Int64"), ["1", None]),
        ([True, False], ["True", "False"]),
        ([b"a", b"\xff"], ["a", "\ufffd"]),
        (pd.Categorical([1, None, 2]), ["1", None, "2"]),
        (pd.to_datetime(["2020-01-31"]), ["2020-01-31 00:00:00"]),
    ],
)
def test_columns_of_every_type_become_texts(values, expected):
    assert arrow_texts(pd.Series(values)).to_pylist() == expected


# Dates


@pytest.mark.parametrize("date_format", DATE_FORMATS)
def test_dates_are_read_in_every_format(date_format):
    days = pd.Series(pd.date_range("1999-01-01", "2010-01-01", freq="97D4h5min6s"))
    texts = days.dt.strftime(date_format or "%Y-%m-%dT%H:%M:%S").tolist()
    found = found_date_format(pa.array(texts))
    expected = pd.to_datetime(pd.Series(texts), format=date_format or "ISO8601")
    np.testing.assert_array_equal(dates_of_texts(texts, found), expected.to_numpy())
    assert getattr(decided(texts), "kind", "left out") == "date"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["31/01/2020", "01/02/2020"], ["2020-01-31", "2020-02-01"]),
        (["01/31/2020", "01/02/2020"], ["2020-01-31", "2020-01-02"]),
        (["01/02/2020"], ["2020-01-02"]),
        (["01.02.2020"], ["2020-02-01"]),
        (["2020-01", "2020/3/1", "2020.05.06"], ["2020-01-01", "2020-03-01", "2020-05-06"]),
        (["2020-01-01 00:30+01:00", "2020-01-01T00:00Z"], ["2019-12-31T23:30", "2020-01-01"]),
    ],
)
def test_the_column_decides_what_a_date_means(texts, expected):
    read = dates_of_texts(texts, found_date_format(pa.array(texts)))
    assert read.dtype == "datetime64[ns]"
    np.testing.assert_array_equal(read, np.array(expected, dtype="datetime64[ns]"))


@pytest.mark.parametrize("text", ["now", "today", "May", "9999-12-31", "0001-01-01", "12", "x", ""])
def test_other_texts_are_no_dates(text):
    read = [dates_of_texts([text, "2020-01-01"], date_format)[0] for date_format in DATE_FORMATS]
    assert np.isnat(read).all()


# Kinds


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (AMOUNTS, "number"),
        (AMOUNTS.astype(str), "number"),
        (pd.array([1, 2, None] * 20, dtype="Int64"), "number"),
        (["1,234.50", "-2,000", "+12,345,678.", "7"] * 15, "number"),
        (["1,5", "2,25", "1.000,5"] * 20, "number"),
        ([True, False] * 30, "number"),
        (["True", "False", None] * 20, "number"),
        ([*["1", "2"] * 27, *["unknown word"] * 6], "number"),
        (["1", "2", "NA", "nan", "None"] * 12, "number"),
        (["1", "2", "?", "?", "?", "?"] * 10, "number"),
        ([*["?"] * 40, *["1", "2"] * 10], "number"),
        ([2, None] * 30, "number"),
        (pd.Categorical([1, 2] * 30), "number"),
        (pd.to_timedelta(range(60), unit="h") * 1.37, "number"),
        ([*["1", "2"] * 26, *["word"] * 8], "category"),
        (["a", "b", None] * 20, "category"),
        (["a", None] * 30, "category"),
        (["yes", "no"] * 30, "category"),
        (["NA", "None"] * 30, "category"),
        (["A1", "B2"] * 30, "category"),
        (["10:30", "11:45"] * 30, "category"),
        (pd.Categorical(["a", "b"] * 30), "category"),
        ([f"word {i}" for i in range(20)], "category"),
        ([f"w{i}" for i in range(40)] * 2, "category"),
        (pd.date_range("2020-01-01", periods=60), "date"),
        (pd.date_range("2020-01-01", periods=60, tz="Asia/Tokyo"), "date"),
        (pd.period_range("2020-01", periods=60, freq="M"), "date"),
        (pd.date_range("2020-01-01", periods=60).date, "date"),
        ([*pd.date_range("2020-01-01", periods=55).astype(str), *["never"] * 5], "date"),
        (["2020-01-01", "2020-01-02", "?", "NA"] * 15, "date"),
        (["2020.01.31", "2020.02.01"] * 30, "date"),
        ([f"w{i}" for i in range(41)] * 2, "text"),
        ([f"sentence {i} with {'a' * (i % 7)} tail" for i in range(60)], "text"),
        ([f"the same long sentence of type {chr(65 + i)}{'b' * i}" for i in range(45)] * 9, "text"),
    ],
)
def test_kinds_of_columns(values, kind):
    assert getattr(decided(values), "kind", "left out") == kind


def test_plain_whole_numbers_are_no_dates():
    assert decided([20200101, 20200102, 20200103, 20200101] * 15).kind == "number"
    assert decided(["2019", "2020"] * 30).kind == "number"
    assert decided(["20200101", "20200102"] * 30, it="date").kind == "date"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (["a"] * 9, "it has a single value"),
        ([2] * 9, "it has a single value"),
        (["2"] * 9, "it has a single value"),
        ([pd.Timestamp(0)] * 9, "it has a single value"),
        ([None] * 9, "it has no values"),
        ([" "] * 9, "it has no values"),
        ([np.inf] * 9, "it has no values"),
        ([str(uuid.UUID(int=i * 7**40)) for i in range(60)], "60 different texts in 60 rows"),
        ([f"row {i}" for i in range(60)], "look like row names"),
        ([f"{'ab' * i}@mail.org" for i in range(60)], "look like row names"),
        ([f"A{i:02} B" for i in range(60)], "look like row names"),
    ],
)
def test_columns_that_say_nothing_are_left_out(values, reason):
    assert reason in decided(values)


@pytest.mark.parametrize("name", ["Unnamed: 0", "Unnamed: 7"])
def test_columns_without_a_name_are_left_out_unless_asked_for(name):
    sample = pd.DataFrame({name: AMOUNTS, "x": AMOUNTS})
    assert decided_columns(sample).left_out == {name: "it has no name"}
    assert decided_columns(sample, {name: "number"}).names == [name, "x"]


def sampled(values, n_rows=75, *, in_order=False):
    """Some rows of a table, drawn blindly."""
    rows = np.random.default_rng(0).permutation(len(values))[:n_rows]
    return values[np.sort(rows) if in_order else rows]


@pytest.mark.parametrize(
    "values",
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
def test_numbers_of_rows_are_left_out(values):
    why = "different whole numbers near each other look like row numbers"
    assert decided(values) == f"{len(values):,} {why}"


@pytest.mark.parametrize(
    "values",
    [
        np.arange(500) / 2,
        np.random.default_rng(0).integers(0, 500, 500),
        np.random.default_rng(0).integers(0, 10**6, 500),
        np.arange(500) * 1000,
    ],
)
@pytest.mark.parametrize("in_order", [True, False])
def test_whole_numbers_that_may_be_amounts_are_read(values, in_order):
    assert decided(sampled(values, in_order=in_order)).kind == "number"


def test_a_few_numbers_in_order_are_read():
    assert decided(sampled(np.arange(60), 9)).kind == "number"
    assert decided([31, 38, 44, 47, 52, 58, 63]).kind == "number"


# What the user asks for


@pytest.mark.parametrize("kind", _KINDS[:-1])
@pytest.mark.parametrize(
    "values", [["a"] * 9, range(60), [None] * 9, [True] * 9, [f"r{i}" for i in range(60)]]
)
def test_the_user_wins_over_every_rule(kind, values):
    column = decided(list(values), it=kind)
    assert (column.name, column.kind) == ("it", kind)
    typed = TableColumns((column,), {}).typed(pd.DataFrame({"it": list(values)}))
    expected = {"number": "float64", "date": "datetime64[ns]"}.get(kind, "str")
    assert str(typed["it"].dtype) == expected


def test_the_user_can_leave_a_column_out():
    assert decided(AMOUNTS, it="drop") == "it is named in --type"


def test_forced_numbers_and_dates_have_a_format():
    assert decided(["1,5", "x", "y"], it="number").decimal == ","
    assert decided(["31.1.2020", "x", "y"], it="date").date_format == "%d.%m.%Y"


def test_forced_names_and_kinds_are_checked():
    sample = pd.DataFrame({"a": AMOUNTS})
    with pytest.raises(InputError, match=r"--type must name columns among 'a', got 'b'"):
        decided_columns(sample, {"b": "number"})
    with pytest.raises(
        InputError, match=r"--type must give one of the kinds 'number'.*got 'float'"
    ):
        decided_columns(sample, {"a": "float"})


def test_a_table_without_usable_columns_is_refused():
    with pytest.raises(InputError, match=r"column to learn from besides the target, got none\."):
        decided_columns(pd.DataFrame(index=range(5)))
    with pytest.raises(InputError, match=r"\('a': it has no values\): name one with --type"):
        decided_columns(pd.DataFrame({"a": [None] * 5}))


# Typed rows


def table_columns():
    used = (
        Column("age", "number"),
        Column("price", "number", decimal=","),
        Column("when", "date", date_format="%d/%m/%Y"),
        Column("job", "category"),
        Column("note", "text"),
    )
    return TableColumns(used, {"id": "60 different texts"})


def block():
    return pd.DataFrame(
        {
            "note": [" a b ", "", None, "c"],
            "extra": [1, 2, 3, 4],
            "job": ["NA", " nurse", None, "  "],
            "when": ["31/12/2020", "2020-01-01", "never", None],
            "price": ["1,5", "1.5", "nan", None],
            "age": ["1", "unknown", "inf", "1e80"],
        },
        dtype=TEXT,
        index=[5, 6, 7, 8],
    )


def test_blocks_become_typed_whatever_their_order():
    frame = table_columns().typed(block())
    assert list(frame.columns) == table_columns().names == ["age", "price", "when", "job", "note"]
    assert [str(dtype) for dtype in frame.dtypes] == [
        *("float64", "float64", "datetime64[ns]", "str", "str"),
    ]
    assert frame.index.tolist() == [5, 6, 7, 8]
    np.testing.assert_array_equal(frame["age"], [1, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(frame["price"], [1.5, np.nan, np.nan, np.nan])
    assert frame["when"].tolist()[0] == pd.Timestamp("2020-12-31")
    assert frame["when"].isna().tolist() == [False, True, True, True]
    assert frame["job"].fillna("-").tolist() == ["NA", "nurse", "-", "-"]
    assert frame["note"].fillna("-").tolist() == ["a b", "-", "-", "c"]


def test_missing_columns_are_named():
    with pytest.raises(InputError, match="that the model uses, got none named 'when', 'note'"):
        table_columns().typed(block().drop(columns=["note", "when", "extra"]))


def test_blocks_of_one_row_and_of_none_are_typed():
    for rows in (block().head(1), block().head(0)):
        frame, strays = table_columns().read(rows)
        assert len(frame) == len(rows)
        assert frame.dtypes.equals(table_columns().typed(block()).dtypes)
        assert not strays.counts


def test_blocks_one_by_one_are_the_whole():
    whole, strays = table_columns().read(block())
    parts = [table_columns().read(block().iloc[[row]]) for row in range(4)]
    pd.testing.assert_frame_equal(pd.concat([frame for frame, _ in parts]), whole)
    total = Strays()
    for _, part in parts:
        total.update(part)
    assert total == strays


def test_strays_are_counted_and_gaps_are_not():
    strays = table_columns().strays(block())
    assert strays.counts == {"age": 3, "price": 1, "when": 2}
    assert stray_notes(strays) == [
        "3 of 4 values of 'age' are no numbers, such as 'unknown': they count as missing.",
        "1 of 4 values of 'price' are no numbers, such as '1.5': they count as missing.",
        "2 of 4 values of 'when' are no dates, such as '2020-01-01': they count as missing.",
    ]


def test_numbers_beyond_the_limit_are_strays_in_typed_tables_too():
    columns = TableColumns((Column("x", "number"),), {})
    strays = columns.strays(pd.DataFrame({"x": [1.0, np.inf, 1e80, np.nan]}))
    assert strays.counts == {"x": 2}
    assert stray_notes(columns.strays(pd.DataFrame({"x": [1.0, np.nan]}))) == []


def test_the_same_values_in_text_and_typed_tables_become_the_same():
    typed = pd.DataFrame(
        {
            "x": [1.0, 2.5, None],
            "flag": pd.array([True, None, False], dtype="boolean"),
            "when": pd.to_datetime(["2020-01-31", None, "2021-05-06"]),
            "code": pd.array([1, None, 2], dtype="Int64"),
        }
    )
    texts = pd.DataFrame({name: arrow_texts(typed[name]).to_pylist() for name in typed}, dtype=TEXT)
    kinds = {"x": "number", "flag": "number", "when": "date", "code": "category"}
    columns = TableColumns(tuple(Column(name, kind) for name, kind in kinds.items()), {})
    pd.testing.assert_frame_equal(columns.typed(typed), columns.typed(texts))


# Plain data


def test_columns_survive_as_plain_data():
    data = table_columns().to_data()
    assert TableColumns.from_data(data) == table_columns()
    assert {type(value) for value in data.values()} == {list, dict}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kinds": ["number"] * 4}, "lists of one length"),
        ({"kinds": ["number"] * 4 + ["drop"]}, "the kind of a column must be one of.*got 'drop'"),
        ({"decimals": ["x"] * 5}, "the decimal of a column must be one of.*got 'x'"),
        ({"date_formats": ["%c"] * 5}, "the date_format of a column must be one of.*got '%c'"),
        ({"names": ["a"] * 5}, "must have distinct names"),
        ({"names": ["age", "b", "c", "d", "id"]}, "must have distinct names"),
        ({"names": [1] * 5}, "lists of texts"),
        ({"names": "abcde"}, "lists of texts"),
        ({"names": None}, "lists of texts"),
        ({"left_out": {"a": 1}}, "lists of texts"),
        ({"left_out": {1: "a"}}, "lists of texts"),
        ({"left_out": ["a"]}, "lists of texts"),
        ({"more": 1}, "must have the entries"),
        ({"names": [], "kinds": [], "decimals": [], "date_formats": []}, "and one at least"),
    ],
)
def test_other_data_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        TableColumns.from_data(table_columns().to_data() | change)


@pytest.mark.parametrize("data", [None, [], {}, "columns"])
def test_data_of_another_type_is_refused(data):
    with pytest.raises(InputError, match="must have the entries"):
        TableColumns.from_data(data)
