import codecs
import gzip
import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from pacfourier.errors import InputError
from pacfourier.tabular.reading import csv_files, json_files, table_blocks, text_files
from pacfourier.tabular.reading.csv_files import _found_separator
from pacfourier.tabular.reading.table_files import _READERS, Reading, open_table
from pacfourier.tabular.reading.text_files import _Lines


def whole(table, names=None):
    """All rows of a table in one frame."""
    return pd.concat(table.blocks(names), ignore_index=True)


def written(folder, content, name="data.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that small files have many."""
    for module in (json_files, table_blocks):
        monkeypatch.setattr(module, "BLOCK_BYTES", 200, raising=True)
    monkeypatch.setattr(table_blocks, "BLOCK_BYTES_PER_COLUMN", 1)
    monkeypatch.setattr(csv_files, "PIECE_BYTES", 200)
    monkeypatch.setattr(csv_files, "PIECE_BYTES_PER_COLUMN", 1)


# Texts


def test_cells_of_text_files_stay_texts(tmp_path):
    table = open_table(written(tmp_path, "class,x\n01,1.50\n1,NA\n,None\n"))
    frame = whole(table)
    assert (table.names, table.notes, table.name) == (["class", "x"], [], "data.csv")
    assert table.n_rows == 4
    assert frame["class"].tolist()[:2] == ["01", "1"]
    assert frame["x"].tolist() == ["1.50", "NA", "None"]
    assert frame["class"].isna().tolist() == [False, False, True]
    assert all(dtype == table_blocks.TEXT for dtype in frame.dtypes)


def test_byte_order_mark_quotes_and_blank_lines(tmp_path):
    content = '\ufeff\r\n"a",\'"b, ""c"""\r\n\r\n1,"x\r\ny"\r\n\r\n2,""\r\n'.replace("'", "")
    frame = whole(open_table(written(tmp_path, content)))
    assert list(frame.columns) == ["a", 'b, "c"']
    assert frame['b, "c"'].tolist()[0] == "x\r\ny"
    assert frame['b, "c"'].isna().tolist() == [False, True]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_all_ends_of_lines_are_read(end, tmp_path):
    frame = whole(open_table(written(tmp_path, end.join(["a,b", "1,2", "3,4"]))))
    assert frame.to_numpy().tolist() == [["1", "2"], ["3", "4"]]


@pytest.mark.parametrize(
    ("header", "separator"),
    [("a,b", ","), ("a;b", ";"), ("a\tb", "\t"), ("a|b", "|"), ("a", ","), ('"a;b",c', ",")],
)
def test_separators_are_found(header, separator):
    line = header.replace("a", "1,5" if separator != "," else "1;5|6")
    assert _found_separator([header + "\n", line + "\n", line + "\n"]) == separator
    assert _found_separator([header + "\n"]) == separator


def test_the_separator_of_ragged_lines_is_that_of_the_first_line():
    assert _found_separator(["a;b;c\n", "1;2\n", "1,5;2;3\n"]) == ";"


def test_lines_that_are_too_long_for_another_separator_are_read():
    line = ",".join(["12345"] * 50_000)
    assert _found_separator([line, line]) == ","
    assert _found_separator([]) == ","


@pytest.mark.parametrize("spelled", ["\t", "tab", "\\t"])
def test_a_separator_can_be_named(spelled, tmp_path):
    path = written(tmp_path, "a,b\tc\n1,2\t3\n", "data.txt")
    assert open_table(path, Reading(separator=spelled)).names == ["a,b", "c"]
    assert open_table(written(tmp_path, "a_b\n1_2\n"), Reading(separator="_")).names == ["a", "b"]


@pytest.mark.parametrize("separator", ["", ";;", "\n", '"', "é"])
def test_a_separator_is_one_character(separator, tmp_path):
    with pytest.raises(InputError, match=r"--separator must be one character.*got"):
        open_table(written(tmp_path, "a,b\n1,2\n"), Reading(separator=separator))


def test_names_are_trimmed_and_blank_names_are_filled(tmp_path):
    table = open_table(written(tmp_path, ", age ,,name\n0,1,2,3\n"))
    assert table.names == ["Unnamed: 0", "age", "column 3", "name"]
    assert table.notes == ["column 3 has no name."]
    assert whole(table)["column 3"].tolist() == ["2"]


def test_further_words_can_mean_no_value(tmp_path):
    path = written(tmp_path, "a,b\n-999,x\n1,none\n,\n")
    assert whole(
        open_table(path, Reading(missing=("-999", "none")))
    ).isna().to_numpy().tolist() == [
        [True, False],
        [False, True],
        [True, True],
    ]
    assert whole(open_table(path)).isna().sum().tolist() == [1, 1]


# Encodings


def test_latin_1_is_read_with_a_note(tmp_path):
    table = open_table(written(tmp_path, "naïve;x\né;1\n".encode("latin-1")))
    assert whole(table)["naïve"].tolist() == ["é"]
    assert len(table.notes) == 1
    assert "'data.csv' is not UTF-8 and is read as Latin-1" in table.notes[0]


def test_utf_8_is_read_without_a_note(tmp_path):
    table = open_table(written(tmp_path, "naïve;x\né€;1\n"))
    assert (table.notes, whole(table)["naïve"].tolist()) == ([], ["é€"])


def test_utf_8_that_ends_within_a_character_is_read_as_latin_1(tmp_path):
    assert open_table(written(tmp_path, b"a,b\n1,\xc3")).notes


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-le", "cp1252", "utf-8", "UTF8", "utf-8-sig"]
)
def test_an_encoding_can_be_named(encoding, tmp_path):
    path = written(tmp_path, "\n\nnaïve,x\né,1\nü,2\n".encode(encoding))
    table = open_table(path, Reading(encoding=encoding))
    assert table.names == ["naïve", "x"]
    assert whole(table)["naïve"].tolist() == ["é", "ü"]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_bytes_come_in_the_pieces_that_are_asked_for(encoding, size, monkeypatch):
    monkeypatch.setattr(text_files, "_CHUNK_BYTES", 7)
    text = "é,b\n" + "ü,2\n" * 20
    file = text_files._Utf8Bytes(io.BytesIO(("\r\n" + text).encode(encoding)), encoding)
    pieces = list(iter(lambda: file.read(size), b""))
    assert b"".join(pieces) == (text + "\n").encode()
    assert {len(piece) for piece in pieces[:-1]} <= {size}


def test_bytes_of_another_encoding_are_refused(tmp_path):
    path = written(tmp_path, "é,x\n1,2\n".encode("latin-1"))
    for encoding in ("utf-8", "ascii"):
        with pytest.raises(InputError, match=f"in the encoding '{encoding}', got other bytes"):
            open_table(path, Reading(encoding=encoding))
    with pytest.raises(
        InputError, match=r"--encoding must be the name of an encoding.*got 'klingon'"
    ):
        open_table(path, Reading(encoding="klingon"))


# Errors

BAD_TEXTS = {
    "long line": (b"a,b\n1,2\n1,2,3\n", "line 3 must have 2 fields, as the first line, got 3"),
    "short line": (b"a,b\n1,2\n1\n", "line 3 must have 2 fields, as the first line, got 1"),
    "all lines long": (b"a,b\n1,2,3\n1,2,3\n", "line 2 must have 2 fields"),
    "after a cell of two lines": (b'a,b\n\n1,"2\n3"\n1\n', "line 5 must have 2 fields"),
    "open quote": (b'a,b\n1,"2\n3,4\n', "must be valid CSV"),
    "empty": (b"", "must begin with the names of its columns, got none"),
    "blank lines": (b"\n\n\n", "must begin with the names of its columns, got none"),
    "blank names": (b",,\n1,2,3\n", "must begin with the names of its columns, got none"),
    "header only": (b"a,b\n", "data must have rows, got none"),
    "header without end": (b"a,b", "data must have rows, got none"),
    "same names": (b"a,b,a\n1,2,3\n", "distinct column names, got 'a' twice"),
    "same trimmed names": (b"a,a \n1,2\n", "distinct column names, got 'a' twice"),
    "binary": (bytes(range(256)), "got zero bytes"),
    "zero byte": (b"a,b\n1,2\n\x00,4\n", "got zero bytes in 'data.csv'.*--encoding"),
    "zero byte after other bytes": (b"a,b\n\xff,2\n\x00,4\n", "got zero bytes"),
}


@pytest.mark.parametrize("case", BAD_TEXTS)
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_bad_texts_are_refused(case, suffix, tmp_path):
    content, message = BAD_TEXTS[case]
    path = written(tmp_path, gzip.compress(content) if suffix else content, f"data.csv{suffix}")
    with pytest.raises(InputError, match=message.replace("data.csv", path.name)):
        whole(open_table(path))


def test_quotes_within_a_cell_are_read(tmp_path):
    """An odd number of quotes is an error only if one of them is never closed."""
    frame = whole(open_table(written(tmp_path, 'a,b\n5" pipe,2\n3,4\n')))
    assert frame["a"].tolist() == ['5" pipe', "3"]


@pytest.mark.usefixtures("small_blocks")
def test_ragged_lines_far_down_are_found(tmp_path):
    lines = ["a,b", *["1,2"] * 500, "1", *["1,2"] * 500]
    with pytest.raises(InputError, match="line 502 must have 2 fields"):
        whole(open_table(written(tmp_path, "\n".join(lines))))


@pytest.mark.parametrize("suffix", _READERS)
@pytest.mark.parametrize(
    "content",
    [b"no such format", gzip.compress(b'{"a": 1}\n' * 99, mtime=0)[:-9]],
    ids=["no such format", "cut"],
)
def test_broken_files_are_refused(suffix, content, tmp_path):
    path = written(tmp_path, content, f"data{suffix}")
    with pytest.raises(InputError) as raised:
        open_table(path)
    assert "\n" not in str(raised.value)


def test_a_damaged_parquet_file_is_refused_while_it_is_read(tmp_path):
    path = tmp_path / "data.parquet"
    pd.DataFrame({"a": np.random.default_rng(0).random(5000)}).to_parquet(path)
    content = bytearray(path.read_bytes())
    content[10:4000] = b"\xff" * 3990
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"must be readable Parquet, got 'data.parquet'"):
        whole(open_table(path))


def test_files_must_exist_with_a_known_suffix(tmp_path):
    with pytest.raises(InputError, match=r"data must be a file, got.*no such file"):
        open_table(tmp_path / "none.csv")
    with pytest.raises(InputError, match="data must be a file"):
        open_table(tmp_path)
    with pytest.raises(InputError, match=r"must end in one of .csv, .*, got 'data.xlsx'"):
        open_table(written(tmp_path, b"a", "data.xlsx"))
    assert open_table(written(tmp_path, b"a\n1\n", "DATA.CSV")).names == ["a"]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_long_lines_are_read(end, tmp_path):
    for length in (150, 199, 900, 2**21):
        lines = ["a,b", f"1,{'é' * length}", "1,2", ""]
        for encoding in ("utf-8", "latin-1"):
            path = written(tmp_path, end.join(lines).encode(encoding))
            assert whole(open_table(path))["b"].tolist() == ["é" * length, "2"]


@pytest.mark.usefixtures("small_blocks")
def test_rows_that_are_too_long_are_refused_with_advice(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_files, "LARGEST_PIECE", 400)
    assert len(whole(open_table(written(tmp_path, f"a,b\n1,{'x' * 300}\n1,2\n")))) == 2
    with pytest.raises(InputError, match=r"a row of more than 400 bytes.*save the table as Parq"):
        whole(open_table(written(tmp_path, f"a,b\n1,{'x' * 900}\n1,2\n")))


def test_lines_are_counted_across_pieces_of_a_file():
    lines = _Lines()
    for piece in (b'ab,"c', b'd"e\r\n', b"f\r\n", b"gh"):
        lines.add(piece)
    assert (len(lines), lines.n_quotes, lines.longest) == (3, 2, 8)


# Every kind of file


def mixed(n_rows=300):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "number": rng.random(n_rows).round(9),
            "whole": pd.array(rng.integers(0, 9, n_rows), dtype="Int64"),
            "word": rng.choice(["a", "b, c", 'd"e', "é\nf"], n_rows),
            "flag": pd.array(rng.random(n_rows) < 0.5, dtype="boolean"),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, :] = None
    return frame.astype({"word": table_blocks.TEXT})


def saved(frame, path):
    kind = path.name.removesuffix(".gz").rpartition(".")[2]
    if kind in ("csv", "tsv", "txt"):
        frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    elif kind in ("jsonl", "ndjson"):
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    elif kind == "parquet":
        frame.to_parquet(path, row_group_size=100)
    else:
        feather.write_feather(frame, str(path), chunksize=100)
    return path


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("suffix", _READERS)
def test_every_kind_of_file_holds_the_same_rows(suffix, tmp_path):
    frame = mixed()
    table = open_table(saved(frame, tmp_path / f"data{suffix}"))
    assert table.names == list(frame.columns)
    blocks = list(table.blocks())
    assert len(blocks) > 5
    assert {str(block.dtypes.to_dict()) for block in blocks} == {str(blocks[0].dtypes.to_dict())}
    read = pd.concat(blocks, ignore_index=True)
    assert read["word"].fillna("").tolist() == frame["word"].fillna("").tolist()
    assert read["flag"].isna().tolist() == frame["flag"].isna().tolist()
    np.testing.assert_allclose(pd.to_numeric(read["number"]), frame["number"], rtol=1e-15)
    pd.testing.assert_frame_equal(whole(table), read)
    chosen = whole(table, ["flag", "number"])
    pd.testing.assert_frame_equal(chosen, read[["flag", "number"]])


@pytest.mark.parametrize("suffix", _READERS)
def test_types_are_kept(suffix, tmp_path):
    read = whole(open_table(saved(mixed(), tmp_path / f"data{suffix}")))
    is_text = suffix.startswith((".csv", ".tsv", ".txt"))
    expected = ["str"] * 4 if is_text else ["float64", "Int64", "str", "boolean"]
    assert [str(dtype) for dtype in read.dtypes] == expected


@pytest.mark.parametrize("suffix", _READERS)
def test_unknown_columns_are_refused_and_no_columns_can_be_read(suffix, tmp_path):
    table = open_table(saved(mixed(), tmp_path / f"data{suffix}"))
    with pytest.raises(InputError, match="must have the columns 'none', got 'number'"):
        next(table.blocks(["number", "none"]))


def test_row_numbers_of_pandas_in_parquet_are_no_column(tmp_path):
    frame = mixed().iloc[::2]
    frame.to_parquet(tmp_path / "data.parquet")
    assert open_table(tmp_path / "data.parquet").names == list(frame.columns)
    frame.set_index("word").to_parquet(tmp_path / "named.parquet")
    assert sorted(open_table(tmp_path / "named.parquet").names) == sorted(frame.columns)


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
def test_files_without_rows_or_with_equal_names_are_refused(suffix, tmp_path):
    path = tmp_path / f"data{suffix}"
    for table, message in [
        (pa.table({"a": pa.array([], pa.int64())}), "data must have rows, got none"),
        (pa.table([[1], [2]], names=["a", "a"]), "distinct column names, got 'a' twice"),
    ]:
        if suffix == ".parquet":
            parquet.write_table(table, path)
        else:
            with ipc.new_file(path, table.schema) as file:
                file.write_table(table)
        with pytest.raises(InputError, match=message):
            open_table(path)


def test_streams_of_arrow_are_read(tmp_path):
    table = pa.table({"a": [1, 2, None]})
    with ipc.new_stream(tmp_path / "data.arrow", table.schema) as file:
        file.write_table(table)
    assert whole(open_table(tmp_path / "data.arrow"))["a"].tolist() == [1, 2, pd.NA]


# JSON lines


def test_json_lines_of_mixed_types(tmp_path):
    rows = [
        {"x": 1, "y": 1.5, "z": "a", "large": 2**70, "list": [1, 2]},
        {"x": "unknown", "y": 2, "new": True, "large": 1, "z": ""},
        {"x": None, "list": {"b": 1}},
    ]
    content = "\n\n".join(map(json.dumps, rows))
    frame = whole(open_table(written(tmp_path, content, "data.jsonl")))
    assert list(frame.columns) == ["x", "y", "z", "large", "list", "new"]
    assert [str(dtype) for dtype in frame.dtypes] == [
        *("str", "float64", "str", "float64", "str", "boolean"),
    ]
    assert frame["x"].tolist()[:2] == ["1", "unknown"]
    assert frame["z"].isna().tolist() == [False, True, True]
    assert frame["list"].tolist()[0] == "[1, 2]"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1}\n\n{"a": \n', "line 3 must be valid JSON, got"),
        ('{"a": 1}\n[1, 2]\n', r"line 2 must be a JSON object, got '\[1, 2\]'"),
        ("", "data must have rows, got none in 'data.jsonl'"),
        ("{}\n", "names of its columns, got none"),
    ],
)
def test_bad_json_lines_are_refused(content, message, tmp_path):
    with pytest.raises(InputError, match=message):
        open_table(written(tmp_path, content, "data.jsonl"))


# Frames


@pytest.mark.usefixtures("small_blocks")
def test_frames_are_read_without_their_index():
    frame = mixed().set_index(pd.Index(range(300, 0, -1)))
    table = open_table(frame)
    assert len(list(table.blocks())) > 5
    assert (table.name, table.names) == ("data frame", list(frame.columns))
    pd.testing.assert_frame_equal(whole(table), frame.reset_index(drop=True))


def test_names_of_frames_become_texts():
    table = open_table(pd.DataFrame([[1, 2]]))
    assert table.names == list(whole(table).columns) == ["0", "1"]


def test_frames_that_cannot_be_used_are_refused():
    with pytest.raises(InputError, match="data must have rows"):
        open_table(pd.DataFrame({"a": []}))
    with pytest.raises(InputError, match="got none"):
        open_table(pd.DataFrame(index=range(3)))
    with pytest.raises(InputError, match="'1' twice"):
        open_table(pd.DataFrame([[1, 2]], columns=[1, "1"]))
    with pytest.raises(InputError, match=r"must be a path or a data frame.*got list"):
        open_table([1, 2])


class ForeignFrame:
    """A data frame of another library, as polars has them."""

    def to_arrow(self):
        return pa.table({"a": pa.array(["x", None], pa.large_string()), "b": [1, None]})


def test_frames_of_other_libraries_are_read_through_arrow():
    frame = whole(open_table(ForeignFrame()))
    assert [str(dtype) for dtype in frame.dtypes] == ["str", "Int64"]
    assert frame.isna().to_numpy().tolist() == [[False, False], [True, True]]


def test_frames_of_polars_are_read():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {"a": ["x", None], "b": [1, None], "c": [1.5, 2.0]},
        schema_overrides={"a": polars.Categorical},
    )
    read = whole(open_table(frame))
    assert read["a"].tolist()[0] == "x"
    assert read.isna().sum().tolist() == [1, 1, 0]


def test_words_for_gaps_hold_in_typed_tables_too():
    frame = pd.DataFrame({"a": [1, -999], "b": ["x", "?"], "c": [True, False], "d": [-999.0, 0]})
    read = whole(open_table(frame, Reading(missing=("-999", "?"))))
    assert read.isna().to_numpy().tolist() == [
        [False, False, False, True],
        [True, True, False, False],
    ]
    assert not whole(open_table(frame)).isna().any(axis=None)


def test_a_byte_order_mark_alone_is_an_empty_file(tmp_path):
    with pytest.raises(InputError, match="names of its columns, got none"):
        open_table(written(tmp_path, codecs.BOM_UTF8))
