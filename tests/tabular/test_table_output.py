import os
import stat

import numpy as np
import pandas as pd
import pytest

from pacfourier.errors import InputError
from pacfourier.tabular.reading.table_files import open_table
from pacfourier.tabular.table_output import check_output, written_table

FRAME = pd.DataFrame(
    {
        "number": [0.1, 1e-300, np.nan],
        "whole": pd.array([1, None, -3], dtype="Int64"),
        "word": ["a", None, "é"],
        "flag": pd.array([True, False, None], dtype="boolean"),
        "when": pd.to_datetime(["2020-01-31 00:00", None, "2020-02-01 10:30"]),
        "object": [1, "x", None],
    }
)


def save(path, *frames, overwrite=False, last=lambda: None):
    """Write a table, and call a function before the file is complete."""
    with written_table(path, overwrite) as writer:
        for frame in frames:
            writer.write(frame)
        last()


def files(folder):
    return sorted(path.name for path in folder.iterdir())


# Formats


def test_csv_holds_the_blocks_one_after_the_other(tmp_path):
    save(tmp_path / "out.csv", FRAME, FRAME.head(1))
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "number,whole,word,flag,when,object",
        "0.1,1,a,True,2020-01-31 00:00:00,1",
        "1e-300,,,False,,x",
        ",-3,é,,2020-02-01 10:30:00,",
        "0.1,1,a,True,2020-01-31 00:00:00,1",
    ]


def test_parquet_holds_the_blocks_one_after_the_other_with_their_types(tmp_path):
    save(tmp_path / "out.parquet", FRAME, FRAME.head(1))
    read = pd.read_parquet(tmp_path / "out.parquet", dtype_backend="numpy_nullable")
    assert len(read) == 4
    assert list(read.columns) == list(FRAME.columns)
    assert read["number"].tolist()[:2] == [0.1, 1e-300]
    assert read["whole"].tolist()[:3] == [1, pd.NA, -3]
    assert read["when"].tolist()[0] == pd.Timestamp("2020-01-31")
    assert read["object"].tolist()[:2] == ["1", "x"]


def test_a_first_block_of_gaps_does_not_decide_the_type_of_texts(tmp_path):
    blocks = [pd.DataFrame({"a": [None]}, dtype=object), pd.DataFrame({"a": ["x"]}, dtype=object)]
    save(tmp_path / "out.parquet", *blocks)
    assert pd.read_parquet(tmp_path / "out.parquet")["a"].tolist()[1] == "x"


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_categories_may_differ_from_block_to_block(name, tmp_path):
    blocks = [pd.DataFrame({"a": pd.Categorical(values)}) for values in (["x", None], ["y", "z"])]
    save(tmp_path / name, *blocks)
    read = pd.read_csv if name == "out.csv" else pd.read_parquet
    assert read(tmp_path / name)["a"].fillna("-").tolist() == ["x", "-", "y", "z"]


@pytest.mark.parametrize("cell", ["a,b", 'a"b', "a\nb", "a\r\nb", " a ", "", "a;b", "é"])
def test_every_text_survives_in_csv(cell, tmp_path):
    frame = pd.DataFrame({cell or "empty": [cell, "plain", None]})
    save(tmp_path / "out.csv", frame, frame.tail(2))
    # pandas has to read carriage returns as they are.
    with (tmp_path / "out.csv").open(newline="") as file:
        read = pd.read_csv(file, keep_default_na=False, skip_blank_lines=False)
    assert list(read.columns) == list(frame.columns)
    assert read.iloc[:, 0].tolist() == [cell, "plain", "", "plain", ""]


def test_numbers_survive_to_the_last_digit(tmp_path):
    numbers = np.random.default_rng(0).standard_normal(500) * 10.0 ** np.arange(-250, 250)
    save(tmp_path / "out.csv", pd.DataFrame({"x": numbers}))
    lines = (tmp_path / "out.csv").read_text().splitlines()
    np.testing.assert_array_equal([float(line) for line in lines[1:]], numbers)


@pytest.mark.parametrize(
    "cell", ["=1+1", "+cmd", "-x", "@sum", "\tx", "\rx", "-", "+1 2", "=", "-1-1"]
)
def test_texts_that_a_spreadsheet_would_run_begin_with_an_apostrophe(cell, tmp_path):
    frame = pd.DataFrame({cell: [cell, "a"]})
    save(tmp_path / "out.csv", frame)
    with (tmp_path / "out.csv").open(newline="") as file:
        read = pd.read_csv(file)
    assert read.columns[0] == f"'{cell}"
    assert read.iloc[:, 0].tolist() == [f"'{cell}", "a"]
    save(tmp_path / "out.parquet", frame)
    assert pd.read_parquet(tmp_path / "out.parquet")[cell].tolist() == [cell, "a"]


@pytest.mark.parametrize("cell", ["-1", "+2.5", "-1e-5", "a=b", "1-2", "'=x", "-.5", "x@y.org"])
def test_other_texts_stay_as_they_are(cell, tmp_path):
    save(tmp_path / "out.csv", pd.DataFrame({"a": [cell]}))
    assert pd.read_csv(tmp_path / "out.csv", dtype=str)["a"].tolist() == [cell]


def test_negative_numbers_are_no_formulas(tmp_path):
    save(tmp_path / "out.csv", pd.DataFrame({"a": [-1.5]}))
    assert (tmp_path / "out.csv").read_text() == "a\n-1.5\n"


@pytest.mark.parametrize("values", [["x", None], ["x", ""], [1.5, None]])
def test_a_gap_in_a_single_column_is_no_blank_line(values, tmp_path):
    save(tmp_path / "out.csv", pd.DataFrame({"a": values}))
    assert pd.read_csv(tmp_path / "out.csv")["a"].isna().tolist() == [False, True]
    (block,) = open_table(tmp_path / "out.csv").blocks()
    assert block["a"].isna().tolist() == [False, True]


def test_blocks_must_have_the_same_columns(tmp_path):
    with pytest.raises(ValueError, match="blocks must have the columns"):
        save(tmp_path / "out.csv", FRAME, FRAME[["word"]])
    assert files(tmp_path) == []


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_table_without_rows_is_no_file(name, tmp_path):
    with pytest.raises(InputError, match="data must have rows, got none"):
        save(tmp_path / name)
    assert files(tmp_path) == []


# Completely or not at all


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit, OSError])
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_an_interrupted_file_is_removed_and_the_old_one_stays(error, name, tmp_path):
    def interrupted(overwrite):
        expected = InputError if error is OSError else error
        with pytest.raises(expected):
            save(tmp_path / name, FRAME, overwrite=overwrite, last=stop)

    def stop():
        assert len([each for each in files(tmp_path) if each.startswith(".out")]) == 1
        raise error

    interrupted(overwrite=False)
    assert files(tmp_path) == []
    (tmp_path / name).write_text("old")
    interrupted(overwrite=True)
    assert files(tmp_path) == [name]
    assert (tmp_path / name).read_text() == "old"


def test_the_file_appears_only_at_the_end(tmp_path):
    with written_table(tmp_path / "out.csv", overwrite=False) as writer:
        writer.write(FRAME)
        assert "out.csv" not in files(tmp_path)
    assert files(tmp_path) == ["out.csv"]


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path):
    path = tmp_path / "out.csv"
    with pytest.raises(InputError, match="use --overwrite"):
        save(path, FRAME, last=lambda: path.write_text("mine"))
    assert files(tmp_path) == ["out.csv"]
    assert (tmp_path / "out.csv").read_text() == "mine"


KILLED = """
import pandas as pd, sys, time
from pathlib import Path
from pacfourier.tabular.reading.table_files import open_table
from pacfourier.tabular.table_output import written_table
with written_table(Path(sys.argv[1]), False) as writer:
    writer.write(pd.DataFrame({"a": [1]}))
    print("writing", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o444])
def test_the_permissions_of_an_overwritten_file_are_kept(mode, tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(mode)
    save(path, FRAME, overwrite=True)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_text().startswith("number")


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_new_file_has_the_usual_permissions(tmp_path):
    usual = tmp_path / "usual"
    usual.write_text("")
    save(tmp_path / "out.csv", FRAME)
    assert (tmp_path / "out.csv").stat().st_mode == usual.stat().st_mode


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_a_link_stays_a_link(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "real.csv").write_text("old")
    (tmp_path / "out.csv").symlink_to(folder / "real.csv")
    save(tmp_path / "out.csv", FRAME, overwrite=True)
    assert (tmp_path / "out.csv").is_symlink()
    assert (folder / "real.csv").read_text().startswith("number")


@pytest.mark.parametrize("name", ["out.csv", "out.PARQUET", "a.b.csv"])
def test_outputs_that_can_be_written_pass(name, tmp_path):
    check_output(tmp_path / name, (".csv", ".parquet"), overwrite=False)
    (tmp_path / name).write_text("old")
    check_output(tmp_path / name, (".csv", ".parquet"), overwrite=True)
    assert files(tmp_path) == [name]


def test_an_existing_file_needs_the_option(tmp_path):
    (tmp_path / "out.csv").write_text("old")
    with pytest.raises(InputError, match=r"'.*out.csv', which exists: .*use --overwrite"):
        check_output(tmp_path / "out.csv", (".csv",), overwrite=False)
    with pytest.raises(InputError, match="use --overwrite"):
        save(tmp_path / "out.csv", FRAME)
    assert (tmp_path / "out.csv").read_text() == "old"


def test_the_suffix_and_the_folder_are_checked(tmp_path):
    with pytest.raises(InputError, match=r"must end in .csv or .parquet, got '.*out.txt'"):
        check_output(tmp_path / "out.txt", (".csv", ".parquet"), overwrite=True)
    (tmp_path / "folder.csv").mkdir()
    for path in (tmp_path / "none" / "out.csv", tmp_path / "folder.csv"):
        with pytest.raises(InputError, match="a file in a writable folder, got"):
            check_output(path, (".csv",), overwrite=True)
