"""Text files as bytes and characters: compressed or not, in UTF-8 or another encoding."""

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from pacfourier.errors import InputError

_CHUNK_BYTES = 2**20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class _TextFile:
    """A text file whose encoding is known and whose bytes have been checked.

    Attributes
    ----------
    path : pathlib.Path
    encoding : str
        Its name, as Python writes it.
    lines : Lines
        What its lines are like.
    """

    path: Path
    encoding: str
    lines: "_Lines"

    @contextmanager
    def characters(self) -> Iterator[io.TextIOBase]:
        """Open the file as text; a byte order mark is skipped, and line ends are kept."""
        encoding = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        with _reading_errors(self.path), _opened(self.path) as file:
            yield io.TextIOWrapper(file, encoding=encoding, newline="")

    @contextmanager
    def utf8(self) -> Iterator[io.RawIOBase]:
        """Open the file as bytes in UTF-8, without blank lines at its beginning."""
        with _reading_errors(self.path), _opened(self.path) as file:
            yield _Utf8Bytes(file, self.encoding)


class _Lines:
    """What the lines of a text file are like, from its bytes.

    Attributes
    ----------
    n_quotes : int
        How many double quotes there are.
    longest : int
        The number of bytes of the longest line. If cells hold line ends, rows may be longer.
    """

    def __init__(self) -> None:
        self.n_quotes = self.longest = self._n_begun = 0
        self._n_ends = {b"\n": 0, b"\r": 0}

    def add(self, data: bytes) -> None:
        """Count more bytes of the file."""
        self.n_quotes += data.count(b'"')
        for end in self._n_ends:
            self._n_ends[end] += data.count(end)
        first, *later = map(len, data.replace(b"\r", b"\n").split(b"\n"))
        self.longest = max(self.longest, self._n_begun + first, *later)
        self._n_begun = later[-1] if later else self._n_begun + first

    def __len__(self) -> int:
        """Return the number of lines, with the last one."""
        return max(self._n_ends.values()) + (self._n_begun > 0)


class _Utf8Bytes(io.RawIOBase):
    """The bytes of a text file in UTF-8, without byte order mark and leading blank lines.

    Parameters
    ----------
    file : binary file
    encoding : str
        The encoding of the file.
    """

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        super().__init__()
        self._pieces = _utf8_pieces(file, encoding)
        self._ready = b""

    def readable(self) -> bool:
        """Return that bytes can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return exactly as many bytes as are asked for, and fewer only at the end of the file."""
        pieces, n_bytes = [self._ready], len(self._ready)
        while size < 0 or n_bytes < size:
            piece = next(self._pieces, None)
            if piece is None:
                break
            pieces.append(piece)
            n_bytes += len(piece)
        data = b"".join(pieces)
        end = len(data) if size < 0 else size
        self._ready = data[end:]
        return data[:end]


def _utf8_pieces(file: BinaryIO, encoding: str) -> Iterator[bytes]:
    """Yield the bytes of a text file in UTF-8, piece by piece, with a line end after the last.

    A byte order mark and blank lines at the beginning are left out.
    """
    decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)()
    is_at_start = True
    while data := file.read(_CHUNK_BYTES):
        if decoder is not None:
            data = decoder.decode(data).encode()
        if is_at_start:
            data = data.removeprefix(_BYTE_ORDER_MARK).lstrip(b"\r\n")
        is_at_start = is_at_start and not data
        yield data
    # Arrow cannot read a line of names without an end.
    yield b"\n"


def _opened(path: Path) -> Any:
    """Open a file that may be compressed, to read its bytes."""
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")


@contextmanager
def _reading_errors(path: Path) -> Iterator[None]:
    """Turn the errors of a damaged or unreadable file into an ``InputError``."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"data must be a readable file, got {path.name!r}: {error}.") from None


def checked_text_file(path: Path, encoding: str | None) -> tuple[_TextFile, list[str]]:
    """Read a file once to find its encoding and to check its bytes.

    Parameters
    ----------
    path : pathlib.Path
    encoding : str or None
        None means UTF-8, or Latin-1 if the file is not UTF-8.

    Returns
    -------
    file : TextFile
    notes : list of str
    """
    try:
        decoder = codecs.getincrementaldecoder(encoding or "utf-8")()
        name = codecs.lookup(encoding or "utf-8").name
    except LookupError:
        raise InputError(
            f"--encoding must be the name of an encoding, such as latin-1, got {encoding!r}."
        ) from None
    decodes, lines = True, _Lines()
    with _reading_errors(path), _opened(path) as file:
        while data := file.read(_CHUNK_BYTES):
            text, decodes = _decoded(decoder, data) if decodes else ("", False)
            _check_zero_bytes(path, text if decodes else data)
            lines.add(data)
    decodes = decodes and _decoded(decoder, b"", final=True)[1]
    if decodes:
        return _TextFile(path, name, lines), []
    if encoding is not None:
        raise InputError(
            f"data must be text in the encoding {encoding!r}, got other bytes in {path.name!r}: "
            "name another with --encoding."
        )
    note = f"{path.name!r} is not UTF-8 and is read as Latin-1: see --encoding for others."
    return _TextFile(path, "iso8859-1", lines), [note]


def _decoded(decoder: Any, data: bytes, final: bool = False) -> tuple[str, bool]:
    """Return the text of some bytes, and whether they are valid in the encoding."""
    try:
        return decoder.decode(data, final), True
    except UnicodeDecodeError:
        return "", False


def _check_zero_bytes(path: Path, data: str | bytes) -> None:
    """Raise an error if a piece of a text file has a zero byte, as binary files have."""
    has_zero = "\0" in data if isinstance(data, str) else b"\0" in data
    if has_zero:
        raise InputError(
            f"data must be text, got zero bytes in {path.name!r}: save it as CSV, or name its "
            "encoding with --encoding, such as utf-16."
        )
