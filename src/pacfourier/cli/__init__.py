"""The command ``pacfourier``: its arguments, and what it prints.

Each command imports what it needs when it runs, so that the help is shown at once.
"""

from typing import Annotated

from pacfourier.extras import explain_missing_extra

with explain_missing_extra():
    import typer

    from pacfourier.cli import tables
    from pacfourier.cli.printing import OneLineErrors

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, cls=OneLineErrors)


def _show_version(is_wanted: bool) -> None:
    """Print the version, and stop."""
    if is_wanted:
        from importlib.metadata import version

        typer.echo(f"pacfourier {version('pacfourier')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Learn small certified models from tables."""


for _command in (tables.fit, tables.predict, tables.certify, tables.export):
    app.command()(_command)
