"""Model files that were damaged, forged or bombed."""

import io
import json
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import skops.io
from benchmarks.torture.attacks import attack
from benchmarks.torture.commands import survived
from benchmarks.torture.tables import csv_bytes, damaged, fitted_model, random_table
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from pacfourier.tabular.plain_files import plain_bytes, plain_data

Forger = Callable[[bytes, np.random.Generator], bytes]
STRANGE: list[Any] = [
    None, True, -1, 0, 2**70, float("nan"), float("inf"), -1e308, "", "x" * 10**5, [], {}, [[[]]],
    np.array([]), np.array(np.nan), np.zeros((3, 0)), np.full((2, 2), np.nan), np.full(3, -np.inf),
    np.array([2**63 - 1]), np.zeros(10**5), np.zeros((1,) * 30),
]  # fmt: skip


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container of plain data, with each of its keys."""
    keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in keys:
        yield data, key
        yield from places(data[key])


def strange_values(content: bytes, rng: np.random.Generator) -> bytes:
    """Replace one or two values by others, of any type."""
    data = plain_data(content, "model")
    for _ in range(int(rng.integers(1, 3))):
        every = list(places(data))
        container, key = every[rng.integers(len(every))]
        container[key] = STRANGE[rng.integers(len(STRANGE))]
    return plain_bytes(data)


def wrong_numbers(content: bytes, rng: np.random.Generator) -> bytes:
    """Change an array: its numbers, its shape or its type."""
    data = plain_data(content, "model")
    every = [(c, k) for c, k in places(data) if isinstance(c[k], np.ndarray) and c[k].size]
    container, key = every[rng.integers(len(every))]
    array = container[key]
    with np.errstate(over="ignore"):
        enlarged = array * 1e300
    changes = [
        array * np.nan, array * -1.0, enlarged, array[..., :0], array[:1], array.T.copy(),
        np.tile(array, 2), array.astype(np.float32), array.astype(np.int8), array > 0,
        array[np.newaxis], np.zeros_like(array), np.resize(array, array.size + 1),
    ]  # fmt: skip
    container[key] = changes[rng.integers(len(changes))]
    return plain_bytes(data)


def other_types(_content: bytes, rng: np.random.Generator) -> bytes:
    """Return a model of scikit-learn or of NumPy, alone or inside a dictionary."""
    X, y = rng.standard_normal((20, 2)), np.resize([0, 1], 20)
    models = [SVC(), DecisionTreeClassifier(), LogisticRegression()]
    model = models[rng.integers(3)].fit(X, y)
    whole = {"format": "pacfourier table 1", "predictor": model, "target": np.float64(1)}
    return bytes(skops.io.dumps([model, whole][rng.integers(2)]))


def with_schema(content: bytes, change: Callable[[str], str]) -> bytes:
    """Return an archive with a changed tree of nodes, which is a text in JSON."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, change(part.decode()) if name == "schema.json" else part)
    return file.getvalue()


def forged_nodes(content: bytes, rng: np.random.Generator) -> bytes:
    """Let nodes of the tree name a function, another loader or another file."""
    values = ["os", "system", "builtins", "eval", "ObjectNode", "ReduceNode", "../x", None, [], 7]

    def forge(text: str) -> str:
        schema = json.loads(text)
        for _ in range(int(rng.integers(1, 4))):
            nodes = [(c, k) for c, k in places(schema) if isinstance(k, str)]
            container, key = nodes[rng.integers(len(nodes))]
            container[key] = values[rng.integers(len(values))]
        return json.dumps(schema)

    return with_schema(content, forge)


def nested(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a tree of nodes that is very deep or very wide."""
    leaf = '{"__module__": "builtins", "__loader__": "JsonNode", "content": "1"}'
    start = '{"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": ['
    if rng.random() < 0.5:
        return with_schema(content, lambda _: start + f"{leaf}, " * 10**6 + leaf + "]}")
    depth = int(10 ** rng.uniform(2, 5.5))
    return with_schema(content, lambda _: start * depth + leaf + "]}" * depth)


def bomb(_content: bytes, rng: np.random.Generator) -> bytes:
    """Return a small archive that unpacks to hundreds of megabytes or more."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        name = str(rng.choice(["schema.json", "0.npy"]))
        with archive.open(name, "w", force_zip64=True) as part:
            for _ in range(int(rng.integers(200, 1500))):
                part.write(b" " * 2**20)
    packed = bytearray(file.getvalue())
    if rng.random() < 0.5:
        # The archive lies about its size, in the list of its parts at its end.
        start = packed.rindex(b"PK\x01\x02")
        packed[start + 24 : start + 28] = struct.pack("<I", 1000)
    return bytes(packed)


def huge_shape(content: bytes, rng: np.random.Generator) -> bytes:
    """Claim that an array is larger than its file."""
    shapes = [b"(99999999999999,)", b"(-1, 3)", b"(2**60,)", b"(1, 99999999, 9999)", b"()"]
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name.endswith(".npy"):
                start = part.index(b"'shape': ") + 9
                stop = part.index(b"), }", start) + 1
                claim = shapes[rng.integers(len(shapes))]
                part = part[:start] + claim.ljust(stop - start) + part[stop:]
            new.writestr(name, part)
    return file.getvalue()


FORGERS: list[Forger] = [
    damaged, strange_values, wrong_numbers, other_types, forged_nodes, huge_shape, strange_values,
    wrong_numbers, forged_nodes, nested, bomb,
]  # fmt: skip


@attack(330)
def model_files(seed: int, folder: Path) -> None:
    """Predict, certify and export with a bad model: a result with finite numbers, or one line."""
    table, model, out = folder / "table.csv", folder / "model.skops", folder / "predictions.csv"
    table.write_bytes(csv_bytes(random_table(1)))
    rng = np.random.default_rng([seed, 0])
    model.write_bytes(FORGERS[seed % len(FORGERS)](fitted_model(), rng))
    result = survived("predict", model, table, "--out", out, folder=folder)
    assert out.is_file() == (result.code == 0)
    assert "nan" not in (out.read_text("utf-8") if out.is_file() else "")
    more = [
        ("certify", model, table),
        ("certify", model),
        ("export", model, "--json", folder / "model.json"),
        ("export", model, "--c", folder / "model.h"),
    ]
    survived(*more[seed // len(FORGERS) % len(more)], folder=folder)
