"""How commands print results, notes, errors and progress."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from typer.core import TyperGroup

from pacfourier.errors import InputError

# The base class of all errors in the use of options.
_UsageError: Any = typer.BadParameter.__base__


class OneLineErrors(TyperGroup):
    """A group of commands whose errors are one line each. Ctrl-C ends them without a word."""

    def main(self, args: Any = None, *others: Any, **settings: Any) -> Any:
        """Run a command and exit."""
        words = sys.argv[1:] if args is None else list(args)
        settings["standalone_mode"] = False
        try:
            code = super().main(words, *others, **settings)
        except _UsageError as error:
            if not words:
                error.show()
            else:
                message = error.format_message().rstrip(".") + _given_value(words, error)
                end = "" if message.endswith("?") else "."
                typer.echo(f"Error: {' '.join(message.split())}{end}", err=True)
            sys.exit(2)
        except (typer.Abort, KeyboardInterrupt) as error:
            # Commands ask no questions, so the end of a file is a failure.
            if isinstance(error.__cause__, EOFError):
                raise error.__cause__ from None
            sys.exit(130)
        sys.exit(code if isinstance(code, int) else 0)


def _given_value(words: list[str], error: Any) -> str:
    """Return what the user passed to the option of an error, for its message."""
    for option in getattr(getattr(error, "param", None), "opts", ()):
        for word, following in pairwise([*words, ""]):
            name, equals, value = word.partition("=")
            if name == option and (equals or following):
                return f", got {value if equals else following!r}"
    return ""


@contextmanager
def input_errors() -> Iterator[None]:
    """Print an ``InputError`` as one line, and exit with code 2."""
    try:
        yield
    except InputError as error:
        typer.echo(f"Error: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(2) from None


def notes(lines: Iterable[str]) -> None:
    """Print notes on standard error, so that they do not mix with the results."""
    for line in lines:
        typer.echo(f"Note: {line}", err=True)


def show(rows: Iterable[Iterable[str]], headers: Iterable[str] = ()) -> None:
    """Print rows as a table, with numbers aligned to the right if there are headers.

    Lines are not cut to the width of a terminal: in a file, they would be broken.
    """
    names = list(headers)
    lines = [*([names] if names else []), *map(list, rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        rooms = [width - cell_len(cell) for cell, width in zip(line, widths, strict=True)]
        cells = [line[0] + " " * rooms[0]]
        for cell, room in zip(line[1:], rooms[1:], strict=True):
            cells.append(" " * room + cell if names else cell + " " * room)
        typer.echo("  ".join(cells).rstrip())


@contextmanager
def progress_bar() -> Iterator[Callable[[str, float], None]]:
    """Show a bar on a terminal; yield a function of what is done and the share that is done."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    console = Console(stderr=True)
    with Progress(
        *columns,
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task("starting", total=1.0)
        yield lambda stage, share: progress.update(task, description=stage, completed=share)
