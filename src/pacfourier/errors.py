"""The error of the command line: one line to the user, no traceback."""

# How many names an error message lists.
MOST_NAMES = 10


class InputError(ValueError):
    """What a user can repair: a file, a column, an argument."""


def listed(names):
    """Write names for a message, the first few of many."""
    shown = ", ".join(repr(str(name)) for name in list(names)[:MOST_NAMES])
    n_more = len(names) - MOST_NAMES
    return f"{shown} and {n_more} more" if n_more > 0 else shown
