import io
import json
import pickle
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.linear_model import Ridge

from pacfourier.errors import InputError
from pacfourier.tabular import plain_files
from pacfourier.tabular.plain_files import plain_bytes, plain_data

RULE = "model must be a file, got 'm.skops'"
EXAMPLE = {
    "name": "a naïve name",
    "sizes": [1, 2.5, -3, 10**30],
    "flags": (True, False, None),
    "table": np.arange(6, dtype=np.float32).reshape(2, 3),
    "nested": {"empty": {}, "list": [], "tuple": ()},
}

arrays = hnp.arrays(
    dtype=st.sampled_from(["f2", "f4", "f8", "i1", "i4", "i8", "u2", "u8", "?", ">f8"]),
    shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
plain = st.recursive(
    scalars | arrays | arrays.map(np.asfortranarray),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=15,
)


def assert_same(first, second):
    assert type(first) is type(second)
    if isinstance(first, dict):
        assert list(first) == list(second)
        first, second = list(first.values()), list(second.values())
    if isinstance(first, list | tuple):
        assert len(first) == len(second)
        for one, other in zip(first, second, strict=True):
            assert_same(one, other)
    elif isinstance(first, np.ndarray):
        assert first.dtype == second.dtype
        np.testing.assert_array_equal(first, second)
    else:
        assert repr(first) == repr(second)


@settings(deadline=None)
@given(plain)
def test_the_reader_returns_what_was_written_and_what_skops_returns(data):
    content = plain_bytes(data)
    assert skops.io.get_untrusted_types(data=content) == []
    found = plain_data(content, RULE)
    assert_same(found, data)
    assert_same(found, skops.io.loads(content))


def test_an_array_that_occurs_twice_is_stored_once():
    values = np.random.default_rng(0).normal(size=10_000)
    content = plain_bytes([values, values])
    assert len(content) < 1.2 * len(plain_bytes([values]))
    assert_same(plain_data(content, RULE), [values, values])


def test_arrays_that_were_read_can_be_written_to():
    found = plain_data(plain_bytes([np.zeros(3)]), RULE)[0]
    found[0] = 1
    assert found.tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ([1, {"a": np.float64(3)}], r"data\[1\]\['a'\] must be .* got numpy.float64"),
        ({1: 2}, "the keys of data must be texts, got 1"),
        ({"x": {1, 2}}, r"data\['x'\] must be .* got builtins.set"),
        (np.array(["a"]), "array of numbers, got dtype <U1"),
        (np.array([None]), "array of numbers, got dtype object"),
        (np.zeros(2, dtype=complex), "array of numbers, got dtype complex128"),
        (np.ma.zeros(2), "got numpy.ma.*MaskedArray"),
        (b"bytes", "got builtins.bytes"),
        (Ridge(), "got sklearn.linear_model._ridge.Ridge"),
    ],
)
def test_other_data_are_not_written(data, place):
    with pytest.raises(TypeError, match=place):
        plain_bytes(data)


def archive_of(parts):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return file.getvalue()


def parts_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def refusal(content):
    with pytest.raises(InputError) as caught:
        plain_data(content, RULE)
    message = str(caught.value)
    assert message.startswith(f"{RULE}: ")
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "data",
    [{1, 2}, Ridge(), np.array([None, 1]), np.float64(1), b"x", {1: 2}, slice(1), np.sum],
    ids=lambda data: type(data).__name__,
)
def test_files_of_skops_with_other_types_are_refused(data):
    assert "it holds" in refusal(skops.io.dumps([data]))


@pytest.mark.parametrize("content", [b"", b"no zip", archive_of({"a": b""}), b"PK\x03\x04" * 9])
def test_damaged_files_are_refused(content):
    assert "it is damaged" in refusal(content)


def with_array(data):
    content = plain_bytes([np.arange(3.0)])
    return archive_of({n: data if n.endswith("npy") else d for n, d in parts_of(content).items()})


def npy(header):
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


@pytest.mark.parametrize(
    "shape", ["(10**12,)", "(1000000000000,)", "(-1, -3)", "(2,)", "(3.0,)", "('a',)", "(True,)"]
)
def test_shapes_that_do_not_fit_to_the_file_are_refused(shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    refusal(with_array(npy(header) + np.arange(3.0).tobytes()))


def test_arrays_of_other_formats_are_refused():
    objects = io.BytesIO()
    np.save(objects, np.array([print], dtype=object), allow_pickle=True)
    assert "array of object, which are not numbers" in refusal(with_array(objects.getvalue()))
    header = "{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }"
    assert "array of complex128" in refusal(with_array(npy(header) + bytes(16)))
    second = io.BytesIO()
    np.lib.format.write_array(second, np.zeros(1), version=(2, 0))
    assert "an array in an unknown format" in refusal(with_array(second.getvalue()))
    refusal(with_array(pickle.dumps(np.zeros(3))))


def test_files_that_unpack_to_too_much_are_refused(monkeypatch):
    monkeypatch.setattr(plain_files, "MOST_BYTES", 10_000)
    content = plain_bytes([np.zeros(2000)])
    assert len(content) < 2000
    assert "bytes, more than 10,000" in refusal(content)
    assert plain_data(plain_bytes([np.zeros(200)]), RULE)[0].shape == (200,)


@pytest.mark.parametrize(
    ("limit", "data"), [("_MOST_NODES", [[]] * 9), ("MOST_SCHEMA_BYTES", "x" * 9)]
)
def test_large_structures_are_refused(monkeypatch, limit, data):
    content = plain_bytes([data])
    assert_same(plain_data(content, RULE), [data])
    monkeypatch.setattr(plain_files, limit, 10)
    assert "its structure has" in refusal(content)


def memory_of(call, *arguments):
    """Return how many bytes a call takes at most."""
    tracemalloc.start()
    try:
        call(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_part_that_lies_about_its_size_is_not_unpacked():
    size = 2**26
    content = archive_of({"schema.json": " " * size})
    # The sizes after unpacking, in the directory and before the data.
    assert content.count(struct.pack("<I", size)) == 2
    lie = content.replace(struct.pack("<I", size), struct.pack("<I", 128))
    assert "Bad CRC-32" in refusal(lie)
    assert memory_of(refusal, lie) < size / 4


def test_structures_that_are_too_long_are_not_unpacked(monkeypatch):
    monkeypatch.setattr(plain_files, "MOST_SCHEMA_BYTES", 2**20)
    content = archive_of({"schema.json": " " * 2**26})
    assert "its structure has 67,108,864 bytes, more than 1,048,576" in refusal(content)
    assert memory_of(refusal, content) < 2**24


def test_an_array_is_not_copied():
    content = plain_bytes([np.zeros(2**22)])
    assert memory_of(plain_data, content, RULE) < 1.5 * 2**25


def test_deep_structures_are_refused():
    node = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"}
    text = json.dumps(node)[:-1] + ', "content": ['
    deep = text * 20_000 + "]}" * 20_000
    assert "RecursionError" in refusal(archive_of({"schema.json": deep}))


def corrupted(content, rng):
    """Return a file in which a few bytes of one part, or of the archive, are others."""
    parts = parts_of(content)
    if rng.random() < 0.2:
        damaged = bytearray(content)
        for place in rng.integers(0, len(damaged), 3):
            damaged[place] = rng.integers(0, 256)
        return bytes(damaged)
    name = list(parts)[rng.integers(len(parts))]
    data = bytearray(parts[name])
    for place in rng.integers(0, min(len(data), 400), rng.integers(1, 4)):
        data[place] = rng.integers(32, 127)
    return archive_of(parts | {name: bytes(data)})


def test_corrupted_files_are_read_or_refused_in_one_line():
    rng = np.random.default_rng(0)
    content = plain_bytes(EXAMPLE)
    messages = [error_of(corrupted(content, rng)) for _ in range(500)]
    assert not any("\n" in message for message in messages)
    assert 10 < sum(map(bool, messages)) < 490


def error_of(content):
    try:
        plain_data(content, RULE)
    except InputError as error:
        return str(error)
    return ""


def nodes_of(schema):
    found = [schema] if isinstance(schema, dict) else []
    for value in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(value, dict | list):
            found += nodes_of(value)
    return found


def test_forged_nodes_are_read_or_refused_in_one_line():
    rng = np.random.default_rng(1)
    parts = parts_of(plain_bytes(EXAMPLE))
    junk = [None, 1, -1, "x", [], {}, [1], {"a": 1}, "builtins", "eval", "TypeNode", 10**30, "[]"]
    for _ in range(500):
        schema = json.loads(parts["schema.json"])
        nodes = nodes_of(schema)
        node = nodes[rng.integers(len(nodes))]
        if node:
            node[list(node)[rng.integers(len(node))]] = junk[rng.integers(len(junk))]
        message = error_of(archive_of(parts | {"schema.json": json.dumps(schema)}))
        assert "\n" not in message
