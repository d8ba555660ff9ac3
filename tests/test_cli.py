import subprocess
import sys
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pacfourier.cli import app, show

FEW = ("--n-frequencies", 5)
COMMANDS = ("fit", "predict", "certify")


def flowers(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n_rows)
    return pd.DataFrame(
        {
            "length": rng.standard_normal(n_rows) + 3 * kind,
            "colour": np.where(rng.random(n_rows) < 0.7, np.where(kind, "red", "blue"), "white"),
            "label [bold]": [f"flower {i}" for i in range(n_rows)],
            "kind": np.where(kind, "rose", "iris"),
        }
    )


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with data, and with a model and a report of them."""
    folder = tmp_path_factory.mktemp("cli")
    flowers().to_csv(folder / "data.csv", index=False)
    flowers(200, seed=1).to_csv(folder / "fresh.csv", index=False)
    outputs = ("--out", folder / "model.skops", "--report", folder / "report.html")
    result = invoke("fit", folder / "data.csv", "--target", "kind", *outputs, *FEW)
    (folder / "stdout").write_text(result.stdout)
    (folder / "stderr").write_text(result.stderr)
    assert result.exit_code == 0, result.stderr
    return folder


def squeezed(text):
    """Return text without the frame and the line breaks of a printed table."""
    return " ".join(text.replace("│", " ").split())


def test_fit_prints_the_two_bounds_and_writes_model_and_report(folder):
    printed = squeezed((folder / "stdout").read_text())
    assert "rows 300: 45 preprocessing, 180 training, 75 held out" in printed
    assert "columns 1 numeric, 1 categorical" in printed
    assert "classes kind: 'iris', 'rose'" in printed
    assert "bound from held-out rows error on future rows <= 0." in printed
    assert "error of always predicting 'rose' 0.4" in printed
    assert "yardsticks, this sample perfect 0.0000, unrelated to the labels 0.4" in printed
    assert "(0 is perfect, 1 is unrelated to the labels) below unrelated yes: the kernel" in printed
    assert "certificate Alignment loss of the deployed kernel <= 0." in printed
    assert "declared: inputs no transform of X was fitted on this sample." in printed
    assert "column 'label [bold]' is left out" in (folder / "stderr").read_text()
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "A certified classifier of kind" in report
    assert "label [bold]" in report


def test_fit_leaves_out_numbers_of_rows_and_what_is_dropped(tmp_path):
    """Sorted by the target, the number of a row tells its class."""
    data, model = tmp_path / "data.csv", tmp_path / "model.skops"
    flowers(160).sort_values("kind").reset_index(drop=True).rename_axis("id").to_csv(data)
    arguments = ("--target", "kind", "--drop", "colour", "--drop", "label [bold]", "--out", model)
    result = invoke("fit", data, *arguments, *FEW)
    assert result.exit_code == 0
    assert "Note: column 'id' is left out: 24 different whole numbers" in result.stderr
    assert "Note: column 'colour' is left out: it is named in drop." in result.stderr
    assert "columns 1 numeric, 0 categorical" in squeezed(result.stdout)
    assert invoke("certify", model, data).exit_code == 2
    fresh = tmp_path / "fresh.csv"
    flowers(200, seed=1)[["length", "kind"]].to_csv(fresh, index=False)
    assert_refused(invoke("certify", model, fresh), "the 160 rows of the fit are too few")
    assert invoke("certify", model, fresh, "--fresh").exit_code == 0


def test_genuine_ties_are_declared_once_and_printed_ever_after(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(1, 6, (400, 3)), columns=["a", "b", "c"])
    table["kind"] = np.where(table["a"] > 3, "rose", "iris")
    data, model, report = (tmp_path / name for name in ("data.csv", "model.skops", "r.html"))
    table.to_csv(data, index=False)
    arguments = ("fit", data, "--target", "kind", "--out", model, "--report", report, *FEW)
    refused = invoke(*arguments)
    assert refused.exit_code == 0
    assert "ties='genuine' (--ties genuine on the command line)" in refused.stderr
    assert "No certificate for the deployed kernel" in squeezed(refused.stdout)
    declared = invoke(*arguments, "--ties", "genuine")
    assert declared.stderr == ""
    for shown in (squeezed(declared.stdout), squeezed(invoke("certify", model).stdout)):
        assert "certificate Alignment loss of the deployed kernel <= 0." in shown
        assert "bound from held-out rows error on future rows <= 0." in shown
        assert "declared, against" in shown
    assert "declared, against" in report.read_text(encoding="utf-8")
    wrong = invoke(*arguments, "--ties", "copies")
    assert wrong.exit_code == 2
    assert wrong.stderr == "Error: ties must be 'genuine' or left out, got 'copies'.\n"


def test_fit_is_repeatable_and_its_seed_matters(folder, tmp_path):
    def predicted(seed):
        model, out = tmp_path / f"{seed}.skops", tmp_path / f"{seed}.csv"
        arguments = ("--target", "kind", "--out", model, "--seed", seed, *FEW)
        assert invoke("fit", folder / "data.csv", *arguments).exit_code == 0
        assert invoke("predict", model, folder / "fresh.csv", "--out", out).exit_code == 0
        return out.read_bytes()

    invoke("predict", folder / "model.skops", folder / "fresh.csv", "--out", tmp_path / "p.csv")
    assert predicted(0) == (tmp_path / "p.csv").read_bytes() != predicted(1)


def test_predict_adds_columns_in_any_order_of_the_others(folder, tmp_path):
    fresh = flowers(200, seed=1)
    fresh = fresh[["colour", "length"]].assign(more=1)
    fresh.loc[0, "colour"] = "never seen"
    fresh.loc[1, ["colour", "length"]] = None
    fresh.to_parquet(tmp_path / "new.parquet")
    out = tmp_path / "out.csv"
    result = invoke("predict", folder / "model.skops", tmp_path / "new.parquet", "--out", out)
    assert result.exit_code == 0
    assert "200 predictions in" in result.stdout
    assert result.stderr == "Note: columns that the model does not know are ignored: 'more'.\n"
    written = pd.read_csv(out)
    added = ["predicted_kind", "probability_iris", "probability_rose"]
    assert list(written.columns) == ["colour", "length", "more", *added]
    agreement = written["predicted_kind"] == flowers(200, seed=1)["kind"]
    assert agreement.mean() > 0.8
    np.testing.assert_allclose(written["probability_iris"] + written["probability_rose"], 1)


def test_certify_shows_the_certificate_and_the_error_on_fresh_rows(folder):
    model = folder / "model.skops"
    alone = invoke("certify", model)
    fresh = invoke("certify", model, folder / "fresh.csv", "--fresh")
    assert alone.exit_code == fresh.exit_code == 0
    assert squeezed(alone.stdout).rstrip("└┴─┘ ") in squeezed((folder / "stdout").read_text())
    assert "new rows" not in alone.stdout
    assert "of 200 rows)" in squeezed(fresh.stdout)
    for rows in ("held-out", "new"):
        assert f"bound from {rows} rows error on future rows <=" in squeezed(fresh.stdout)
    assert "run time" not in fresh.stdout


def test_certify_refuses_the_rows_of_the_fit(folder):
    result = invoke("certify", folder / "model.skops", folder / "data.csv")
    assert_refused(result, "data must be new rows, got 300 rows, many of which")


def assert_refused(result, message):
    """One line, exit code 2, no traceback."""
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1


def bad_data(name):
    table = flowers()
    tables = {
        "regression.csv": table.assign(kind=table["length"]),
        "one_class.csv": table.assign(kind="rose"),
        "gaps.csv": table.assign(kind=table["kind"].where(table.index > 4)),
        "no_target.csv": table.drop(columns="kind"),
        "few.csv": table.head(20),
        "rare.csv": table.assign(kind=table["kind"].where(table.index > 0, "tulip")),
        "only_target.csv": table[["kind"]],
    }
    contents = {
        "ragged.csv": b"a,kind\n1,x\n1,2,3\n",
        "empty.csv": b"",
        "binary.csv": bytes(range(256)) * 9,
        "broken.parquet": b"PAR1 and then nothing",
        "data.txt": b"a,kind\n",
    }
    return tables[name].to_csv(index=False).encode() if name in tables else contents[name]


REFUSALS = {
    "regression.csv": "looks like regression",
    "one_class.csv": "two classes or more, got 'rose'",
    "gaps.csv": "a value in every row, got 5 without",
    "no_target.csv": "target must be one of 'length'",
    "few.csv": "50 rows or more, got 20",
    "rare.csv": "got fewer of 'tulip'",
    "only_target.csv": "a column to learn from",
    "ragged.csv": "line 3 must have 2 fields, as the first line, got 3",
    "empty.csv": "names of its columns, got none",
    "binary.csv": "must be UTF-8 text",
    "broken.parquet": "must be readable Parquet",
    "data.txt": "must end in one of ('.csv', '.csv.gz', '.parquet'), got 'data.txt'",
}


@pytest.mark.parametrize("name", REFUSALS)
def test_fit_refuses_bad_data_in_one_line_and_writes_nothing(name, tmp_path):
    data = tmp_path / name
    data.write_bytes(bad_data(name))
    outputs = ("--out", tmp_path / "model.skops", "--report", tmp_path / "report.html")
    assert_refused(invoke("fit", data, "--target", "kind", *outputs), REFUSALS[name])
    assert list(tmp_path.iterdir()) == [data]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--out", "model.pkl"), "must end in .skops, got 'model.pkl'"),
        (("--out", "none/model.skops"), "must be a file in a writable folder"),
        (("--report", "report.pdf"), "must end in .html, got 'report.pdf'"),
        (("--epsilon", "0"), "epsilon must lie between 0 and 1, got 0.0"),
        (("--target", "sort"), "target must be one of"),
    ],
)
def test_fit_refuses_bad_arguments(arguments, message, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = invoke("fit", folder / "data.csv", "--target", "kind", *arguments)
    assert_refused(result, message)
    assert list(tmp_path.iterdir()) == []


def test_predict_never_overwrites_a_column_of_the_user(folder, tmp_path):
    data, out = tmp_path / "new.csv", tmp_path / "out.csv"
    flowers(20, seed=1).assign(predicted_kind="mine").to_csv(data, index=False)
    result = invoke("predict", folder / "model.skops", data, "--out", out)
    assert_refused(result, "must have no columns named 'predicted_kind'")
    assert not out.exists()


def test_predict_and_certify_refuse_what_they_cannot_use(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model, fresh = folder / "model.skops", folder / "fresh.csv"
    flowers().drop(columns="length").to_csv("narrow.csv", index=False)
    refused = {
        ("predict", model, "narrow.csv"): "must have the columns 'length' too",
        ("predict", model, "none.csv"): "data must be a file, got 'none.csv'",
        ("predict", model, fresh, "--out", "out.txt"): "must end in .csv, got 'out.txt'",
        ("predict", fresh, fresh): "model must be a file that 'pacfourier fit' wrote",
        ("certify", "none.skops"): "no such file",
        ("certify", model, "narrow.csv"): "must have the columns 'length' too",
    }
    for arguments, message in refused.items():
        assert_refused(invoke(*arguments), message)
    assert [path.name for path in tmp_path.iterdir()] == ["narrow.csv"]


def test_a_failure_of_ours_is_not_hidden(folder, monkeypatch):
    monkeypatch.setattr("pacfourier.tabular.load_model", Mock(side_effect=ZeroDivisionError))
    result = invoke("certify", folder / "model.skops")
    assert isinstance(result.exception, ZeroDivisionError)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command):
    result = invoke(command, "--help")
    assert result.exit_code == 0
    assert "Usage:" in result.stdout


def test_help_of_reproduce_names_every_experiment():
    assert "all (these three) or small-d." in squeezed(invoke("reproduce", "--help").stdout)


def test_help_waits_for_no_command():
    code = "import sys, pacfourier.cli; print({'skops', 'pacfourier.tabular'} & {*sys.modules})"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "set()\n"


def test_the_installed_command_refuses_without_a_traceback(tmp_path):
    code = "from pacfourier.cli import app; app()"
    command = [sys.executable, "-c", code, "certify", str(tmp_path / "none.skops")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("Error: model must be a file")
    assert "Traceback" not in result.stderr


def test_names_in_brackets_are_printed_as_they_stand(capsys):
    show([("classes", "[red], [/blue]")])
    assert "[red], [/blue]" in capsys.readouterr().out
