"""Pieces of C99 text that the float and the integer headers share."""

import re
from collections.abc import Iterable, Sequence
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacfourier.arrays import IntArray

# The widest line of a table.
_LINE = 100
_FLOAT_DIGITS = 9

_CLASSES = Template("""
#define ${PREFIX}_N_CLASSES $n_classes
$names

/* The number of the predicted class; its name is in ${prefix}_class_names. */
static inline int ${prefix}_predict(const $input row[])
{
    $score scores[${PREFIX}_N_SCORES];
    int best = 0;
    ${prefix}_scores(row, scores);
$choice
    return best;
}
""")
_SIGN = "    best = scores[0] > 0;"
_LARGEST = """    for (int k = 1; k < ${PREFIX}_N_SCORES; ++k)
        if (scores[k] > scores[best]) best = k;"""


def check_prefix(prefix: str) -> None:
    """Raise ValueError unless names that start with the prefix are legal in C."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", prefix):
        raise ValueError(
            "prefix must start with a letter, followed by letters, digits and underscores, got "
            f"{prefix!r}."
        )


def prefix_of(name: str) -> str:
    """Return how the names of a header start, given the name of its file."""
    stem = re.sub(r"[^A-Za-z0-9_]", "_", name.rpartition(".")[0])
    return stem if stem[:1].isalpha() else f"model_{stem}"


def string(text: str) -> str:
    """Return a C string literal in ASCII that holds the UTF-8 bytes of a text.

    Every byte that is not a plain character becomes an octal escape of three digits, which no
    following digit can extend. Question marks are escaped because C99 has trigraphs.
    """
    if "\0" in text:
        raise ValueError(
            f"names must not have null characters, where C strings end, got {text!r}: rename it."
        )
    data = text.encode("utf-8", errors="surrogatepass")
    plain = set(range(32, 127)) - set(b'"\\?')
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in data) + '"'


def names_text(name: str, names: Sequence[Any]) -> str:
    """Return the definition of an array of strings."""
    lines = ",\n".join(f"    {string(str(each))}" for each in names)
    return f"static const char *const {name}[{len(names)}] = {{\n{lines}\n}};"


def constants(kind: str, name: str, values: NDArray[Any]) -> str:
    """Return the definition of a flat array of numbers. An empty one gets a zero."""
    flat = np.ravel(values) if np.size(values) else np.zeros(1, dtype=np.asarray(values).dtype)
    words = map(float_text, flat) if kind == "float" else map(str, flat.tolist())
    lines = "\n".join(_wrapped(words))
    return f"static const {kind} {name}[{len(flat)}] = {{\n{lines}\n}};"


def float_text(value: Any) -> str:
    """Return a float literal that is read back as the same number in single precision."""
    text = f"{np.float32(value):.{_FLOAT_DIGITS}g}"
    return f"{text}f" if set(text) & set(".e") else f"{text}.0f"


def _wrapped(words: Iterable[str]) -> list[str]:
    """Return words with commas, in lines of limited width."""
    lines, line = [], "   "
    for word in words:
        if len(line) + len(word) + 2 > _LINE:
            lines.append(line)
            line = "   "
        line += f" {word},"
    return [*lines, line]


def column_runs(is_used: NDArray[np.bool_]) -> IntArray:
    """Return where runs of used columns start and end, of shape (n_runs, 2)."""
    edges = np.diff(np.concatenate([[False], is_used, [False]]).astype(np.int8))
    return np.column_stack([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)])


def prediction_text(prefix: str, classes: tuple[Any, ...], n_scores: int, kinds: Any) -> str:
    """Return the function that names the predicted class, for given types of rows and scores."""
    words = {"prefix": prefix, "PREFIX": prefix.upper(), "input": kinds[0], "score": kinds[1]}
    return _CLASSES.substitute(
        words,
        n_classes=len(classes),
        names=names_text(f"{prefix}_class_names", classes),
        choice=_SIGN if n_scores == 1 else Template(_LARGEST).substitute(words),
    )
