"""Plain data in ``.skops`` files: dictionaries, lists, texts, numbers and arrays, but no objects.

skops writes such files and can read them. The reader here knows this part of the format only. It
imports no class that a file names, so a forged file cannot run code, and it starts fast.
"""

import io
import json
import zipfile
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacfourier.errors import InputError
from pacfourier.extras import explain_missing_extra
from pacfourier.model.array_files import (
    MOST_BYTES,
    UnreadableError,
    array_of,
    is_of_kind,
    unpacked,
)

# What the file of a table's model has under the key "format".
TABLE_FORMAT = "pacfourier table 2"

# The part that lists all others, and the most bytes of it: in memory it takes many times as much.
SCHEMA, MOST_SCHEMA_BYTES = "schema.json", 2**28
# A limit on the structure, which takes up to thirty times as much memory as text.
_MOST_NODES = 2**22
_SCALARS = (str, int, float, bool, type(None))


def plain_bytes(data: Any) -> bytes:
    """Return plain data as the content of a ``.skops`` file.

    Parameters
    ----------
    data : dict, list, tuple, str, int, float, bool, None or array
        Keys of dictionaries are texts. Arrays hold numbers or truth values. All of these may be
        nested.

    Returns
    -------
    content : bytes
        ``skops.io.loads`` and :func:`plain_data` both read it. skops asks for no trusted types.

    Raises
    ------
    TypeError
        If anything else is in the data. The message says where.
    """
    with explain_missing_extra():
        import skops.io
    _check_plain(data, "data")
    content: bytes = skops.io.dumps(data, compression=zipfile.ZIP_DEFLATED)
    return content


def _check_plain(data: Any, place: str) -> None:
    """Raise TypeError unless data are plain. Subclasses, such as NumPy scalars, are not."""
    if type(data) is dict:
        for key, value in data.items():
            _check_plain(value, f"{place}[{key!r}]")
            if type(key) is not str:
                raise TypeError(f"the keys of {place} must be texts, got {key!r}.")
    elif type(data) in (list, tuple):
        for number, value in enumerate(data):
            _check_plain(value, f"{place}[{number}]")
    elif type(data) not in _SCALARS:
        _check_array(data, place)


def _check_array(data: Any, place: str) -> None:
    """Raise TypeError unless data are an array of numbers."""
    if type(data) is not np.ndarray:
        name = f"{type(data).__module__}.{type(data).__qualname__}"
        raise TypeError(
            f"{place} must be a dict, list, tuple, text, number, truth value, None or array, got "
            f"{name}: turn it into one of these first."
        )
    if not is_of_kind(data.dtype):
        raise TypeError(f"{place} must be an array of numbers, got dtype {data.dtype}.")


def plain_data(content: bytes, rule: str) -> Any:
    """Return the plain data in a ``.skops`` file.

    Parameters
    ----------
    content : bytes
        The content of the file.
    rule : str
        What the file must be, and its name; errors start with it.

    Returns
    -------
    data : dict, list, tuple, str, int, float, bool, None or array
        The same as ``skops.io.loads`` returns.

    Raises
    ------
    InputError
        If the file is damaged, unpacks to more than 1 GiB, or holds anything but plain data.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _PlainReader(archive).data()
    except UnreadableError as error:
        reason = str(error)
    # zipfile, json and numpy raise many kinds of errors on a damaged file. RecursionError and
    # MemoryError are among them. To a user they all mean the same.
    except Exception as error:
        reason = f"it is damaged ({type(error).__name__}: {' '.join(str(error).split())[:200]})."
    raise InputError(f"{rule}: {reason}")


def _excess_size(archive: zipfile.ZipFile) -> str | None:
    """Return what is too large to be unpacked, if parts are as long as they claim."""
    n_bytes = sum(part.file_size for part in archive.infolist())
    if n_bytes > MOST_BYTES:
        return f"it unpacks to {n_bytes:,} bytes, more than {MOST_BYTES:,}."
    n_bytes = archive.getinfo(SCHEMA).file_size
    if n_bytes > MOST_SCHEMA_BYTES:
        return f"its structure has {n_bytes:,} bytes, more than {MOST_SCHEMA_BYTES:,}."
    return None


@dataclass
class _PlainReader:
    """Reads the nodes of one archive. Each array is unpacked once, however often it is named."""

    archive: zipfile.ZipFile
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)

    def data(self) -> Any:
        """Return all data of the archive."""
        return self.value(self.schema())

    def schema(self) -> Any:
        """Return the tree of nodes, after checks that it fits into memory."""
        if excess := _excess_size(self.archive):
            raise UnreadableError(excess)
        text = unpacked(self.archive, SCHEMA)
        n_nodes = text.count(b"{") + text.count(b"[")
        if n_nodes > _MOST_NODES:
            raise UnreadableError(
                f"its structure has {n_nodes:,} parts, more than {_MOST_NODES:,}."
            )
        return json.loads(text)

    def value(self, node: Any) -> Any:
        """Return what a node holds."""
        name, loader = _type_name(node), node.get("__loader__")
        if loader == "JsonNode":
            return _scalar(node["content"])
        if (name, loader) == ("builtins.dict", "DictNode"):
            return self.dictionary(node)
        if (name, loader) == ("builtins.list", "ListNode"):
            return [self.value(each) for each in _items(node)]
        if (name, loader) == ("builtins.tuple", "TupleNode"):
            return tuple(self.value(each) for each in _items(node))
        if (name, loader, node.get("type")) == ("numpy.ndarray", "NdArrayNode", "numpy"):
            return self.array(node["file"])
        raise UnreadableError(f"it holds a {name[:100]!r}, which is not plain data.")

    def dictionary(self, node: Any) -> dict[str, Any]:
        """Return a dictionary whose keys are texts."""
        content, types = node["content"], _items(node["key_types"])
        if not isinstance(content, dict) or len(types) != len(content):
            raise UnreadableError("it holds a dictionary whose keys and values do not match.")
        if any(_type_name(each) != "builtins.str" for each in types):
            raise UnreadableError("it holds a dictionary with a key that is not a text.")
        return {key: self.value(value) for key, value in content.items()}

    def array(self, name: Any) -> NDArray[Any]:
        """Return an array that is a part of the archive."""
        if name not in self.arrays:
            self.arrays[name] = array_of(unpacked(self.archive, name))
        return self.arrays[name]


def _type_name(node: Any) -> str:
    """Return the full name of the type of a node."""
    if not isinstance(node, dict):
        raise UnreadableError(f"it holds a {type(node).__name__} in place of a node.")
    return f"{node.get('__module__')}.{node.get('__class__')}"


def _items(node: Any) -> list[Any]:
    """Return the nodes in a list or a tuple."""
    content = node["content"]
    if not isinstance(content, list):
        raise UnreadableError("it holds a list without items.")
    return content


def _scalar(text: Any) -> Any:
    """Return a text, a number, a truth value or None, which a node holds as JSON."""
    value = json.loads(text)
    if type(value) not in _SCALARS:
        raise UnreadableError(f"it holds a {type(value).__name__} in place of a number or a text.")
    return value
