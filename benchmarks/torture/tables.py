"""Tables that nobody should write."""

import gzip
import io
import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from benchmarks.torture.attacks import attack
from benchmarks.torture.commands import run_here, survived

N_ROWS = 60
HOSTILE = [
    "", "\n", "a,b,y", "a,b,y\n1,2,x", "y\nx\nz", "a,a,y\n1,2,x\n", "a,y\n1e400,x\n2,z\n",
    "\x00\x01", "a,y\n" + "nan,x\n" * 9, "a,y\n" + ",\n" * 9, 'a,y\n"1,x\n', "a,y\n1,x,3\n",
    "a;y\n1;x\n", "\ufeffa,y\n1,x\n2,z\n", "a,y\n" + "=1+1,=cmd\n" * 5, "a,y\n" + "9" * 5000 + ",x",
    "a,y\n" + "1,x\n2,z\n" * 20 + "1," + "x" * 10**5, ",,y\n1,2,x\n3,4,z\n", "a,y\r1,x\r2,z\r",
    "a,y\n" + "1e308,x\n-1e308,z\n" * 20, "a,y\n" + "1e-320,x\n2e-320,z\n" * 20,
    "a,y\n" + "inf,x\n-inf,z\n" * 20, "a,y\n" + "".join(f"{k},c{k}\n" for k in range(50)),
    "a,y\n" + "2020-01-01,x\n9999-12-31,z\n" * 20, "a,y\n" + "0000-00-00,x\n1-1-1,z\n" * 20,
    "a,y\n" + "\u202ea,x\n\U0001f600,z\n" * 20, ",".join(f"c{k}" for k in range(3000)) + ",y\n",
]  # fmt: skip


def random_table(seed: int) -> pd.DataFrame:
    """Return a table with numbers, categories, dates, texts, gaps and two classes."""
    rng = np.random.default_rng(seed)
    numbers = rng.standard_normal(N_ROWS)
    return pd.DataFrame(
        {
            "number": np.where(rng.random(N_ROWS) < 0.1, np.nan, numbers),
            "category": rng.choice(["red", "green", "blue", None], N_ROWS),
            "date": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 999, N_ROWS), "D"),
            "y": np.where(numbers > 0, "yes", "no"),
        }
    )


def csv_bytes(table: pd.DataFrame) -> bytes:
    """Return a table as text."""
    return table.to_csv(index=False).encode()


def parquet_bytes(table: pd.DataFrame) -> bytes:
    """Return a table as a Parquet file."""
    file = io.BytesIO()
    table.to_parquet(file)
    return file.getvalue()


def feather_bytes(table: pd.DataFrame) -> bytes:
    """Return a table as an Arrow file."""
    file = io.BytesIO()
    table.to_feather(file)
    return file.getvalue()


def json_bytes(table: pd.DataFrame) -> bytes:
    """Return a table as JSON lines, the first of which has another structure."""
    lines = table.to_json(orient="records", lines=True, date_format="iso")
    return (json.dumps({"y": {"a": [1]}}) + "\n" + lines).encode()


def packed_bytes(table: pd.DataFrame) -> bytes:
    """Return a table as packed text, with a column that unpacks to megabytes."""
    return gzip.compress(csv_bytes(table.assign(long="0" * 10**5)))


FORMS: dict[str, Callable[[pd.DataFrame], bytes]] = {
    "table.csv": csv_bytes,
    "table.parquet": parquet_bytes,
    "table.feather": feather_bytes,
    "table.jsonl": json_bytes,
    "table.csv.gz": packed_bytes,
}


def changed_cells(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return a table with some cells of other types, and a column twice."""
    strange = [1e308, -1e308, "", " ", "=1+1", "\u0000", "9" * 400, None, "1,5", "0x1F", "1e5"]
    changed = table.astype(object)
    for _ in range(int(rng.integers(1, 30))):
        place = (int(rng.integers(len(table))), int(rng.integers(table.shape[1])))
        changed.iat[place] = strange[rng.integers(len(strange))]
    return changed.astype(str)


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a file with some bytes changed, and sometimes without its end."""
    changed = bytearray(content)
    for place in rng.integers(0, len(content), int(rng.integers(1, 20))):
        changed[place] = rng.integers(256)
    return bytes(changed[: rng.integers(len(content))] if rng.random() < 0.3 else changed)


@cache
def fitted_model() -> bytes:
    """Fit a model in this process, and return the content of its file."""
    with tempfile.TemporaryDirectory() as folder:
        table, model = Path(folder, "table.csv"), Path(folder, "model.skops")
        table.write_bytes(csv_bytes(random_table(0)))
        run_here("fit", table, "--target", "y", "--n-frequencies", 4, "--out", model)
        run_here("predict", model, table, "--out", Path(folder, "predictions.csv"))
        return model.read_bytes()


@attack(120)
def tables(seed: int, folder: Path) -> None:
    """Fit on a hostile, a strange or a damaged table: a model, or one line and no file."""
    fitted_model()
    rng = np.random.default_rng([seed, 0])
    names = list(FORMS)
    name = names[seed % len(names)]
    if seed < len(HOSTILE):
        path = folder / "table.csv"
        path.write_text(HOSTILE[seed], "utf-8", newline="")
    else:
        path, table = folder / name, random_table(seed)
        table = changed_cells(table, rng) if rng.random() < 0.5 else table
        content = FORMS[name](table)
        path.write_bytes(damaged(content, rng) if rng.random() < 0.7 else content)
    model = folder / "model.skops"
    few = ("--target", "y", "--n-frequencies", 4, "--out", model)
    result = survived("fit", path, *few, folder=folder)
    assert model.is_file() == (result.code == 0)
    assert {each.name for each in folder.iterdir()} <= {path.name, "log", model.name}
