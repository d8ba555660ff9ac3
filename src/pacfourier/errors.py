"""The error of the command line: one line to the user, no traceback."""


class InputError(ValueError):
    """What a user can repair: a file, a column, an argument."""
