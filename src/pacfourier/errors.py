"""Errors that the command line prints as one line, without a traceback."""

from collections.abc import Collection

# The most names that an error message lists.
_MOST_NAMES = 10
# The most characters that it shows of one.
_MOST_CHARACTERS = 80


class InputError(ValueError):
    """A file, a column or an argument cannot be used; the user can correct it."""


def brief(text: str) -> str:
    """Return a text for a message; of a long one, only the beginning."""
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."


def listed(names: Collection[object]) -> str:
    """Return names as text for a message; of a long list, only the first few."""
    shown = ", ".join(repr(brief(str(name))) for name in list(names)[:_MOST_NAMES])
    n_more = len(names) - _MOST_NAMES
    return f"{shown} and {n_more} more" if n_more > 0 else shown
