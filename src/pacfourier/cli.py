"""The command ``pacfourier``: arguments only."""

import typer

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def main() -> None:
    """Learn Fourier features with a certificate, and repeat the paper's experiments."""
