"""Optional libraries: which extra of the package installs each, and the error if one is missing."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

# The libraries that are not installed with the package itself, and the extra that installs them.
_EXTRA_OF_LIBRARY = {
    "matplotlib": "plot",
    "typer": "cli",
    "rich": "cli",
    "pandas": "cli",
    "pyarrow": "cli",
    "skops": "cli",
    "skrub": "tables",
    "torch": "torch",
    "skl2onnx": "onnx",
    "onnxruntime": "onnx",
    "dask": "dask",
    "distributed": "dask",
}


class MissingExtraError(ModuleNotFoundError):
    """An optional library is not installed; the message says how to install it."""


def check_installed(library: str) -> None:
    """Raise MissingExtraError if a library that is needed later is not installed.

    Parameters
    ----------
    library : str
        One of ``_EXTRA_OF_LIBRARY``. It is not imported.
    """
    with explain_missing_extra():
        if find_spec(library) is None:
            raise ModuleNotFoundError(f"No module named {library!r}", name=library)


@contextmanager
def explain_missing_extra() -> Iterator[None]:
    """Import optional libraries in this context to get a helpful error if one is missing.

    Raises
    ------
    MissingExtraError
        If a library of ``_EXTRA_OF_LIBRARY`` is not installed. The message is one line, which
        names the library and the command that installs it. Other errors are not changed.

    Examples
    --------
    >>> with explain_missing_extra():
    ...     raise ModuleNotFoundError("No module named 'dask'", name="dask.array")
    Traceback (most recent call last):
    pacfourier.extras.MissingExtraError: dask is not installed: pip install "pacfourier[dask]"
    """
    try:
        yield
    except MissingExtraError:
        raise
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in _EXTRA_OF_LIBRARY:
            raise
        raise MissingExtraError(
            f'{library} is not installed: pip install "pacfourier[{_EXTRA_OF_LIBRARY[library]}]"',
            name=library,
        ) from error
