"""The command ``pacfourier``: arguments only.

Each command imports what it needs, so that the others and the help need not wait for it.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from pacfourier.errors import InputError

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

Data = Annotated[Path, typer.Argument(help="A .csv, .csv.gz or .parquet file.")]
Model = Annotated[Path, typer.Argument(help="A .skops file that 'fit' wrote.")]


@app.callback()
def main() -> None:
    """Learn Fourier features with a certificate, and repeat the paper's experiments."""


@app.command()
def fit(
    data: Data,
    target: Annotated[str, typer.Option(help="The column that holds the classes.")],
    out: Annotated[Path, typer.Option(help="Where the model goes.")] = Path("model.skops"),
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out.")] = None,
    binary: Annotated[
        bool, typer.Option("--binary", help="The target can have two classes only.")
    ] = False,
    n_frequencies: Annotated[int, typer.Option(min=1, max=20000)] = 100,
    epsilon: Annotated[float, typer.Option(help="Probability that a bound fails.")] = 0.05,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1)] = 0,
    report: Annotated[Path | None, typer.Option(help="Where an .html report goes.")] = None,
) -> None:
    """Train a certified classifier on a table, and save it."""
    from pacfourier import tabular
    from pacfourier.reports.tabular_report import fit_report

    with input_errors():
        tabular.check_output(out, ".skops")
        if report:
            tabular.check_output(report, ".html")
        learner = {"n_frequencies": n_frequencies, "epsilon": epsilon, "seed": seed}
        options = {"drop": drop or (), "binary": binary, **learner}
        if tabular.is_large(data):
            with rows_read(tabular.n_rows_to_read(data)) as advance:
                model = tabular.fit_file(data, target, advance=advance, **options)
        else:
            model = tabular.fit_table(tabular.read_table(data), target, **options)
        html = fit_report(model).encode() if report else b""
        tabular.save_model(model, out)
        if report:
            tabular.write_file(report, html)
    notes(model.record["notes"])
    facts = [*tabular.fit_facts(model), *tabular.certificate_facts(model.certificate())]
    show([*facts, ("seconds", f"{model.record['seconds']:.1f}")])


@app.command()
def predict(
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option(help="Where the table goes.")] = Path("predictions.csv"),
) -> None:
    """Add the predicted class and the probabilities of the classes to a table."""
    from pacfourier import tabular

    with input_errors():
        tabular.check_output(out, ".csv")
        fitted, table = tabular.load_model(model), tabular.read_table(data)
        predicted = table.assign(**fitted.predictions(table))
        tabular.write_file(out, predicted.to_csv(index=False).encode())
    notes(fitted.notes(table))
    typer.echo(f"{len(table)} predictions in {out}")


@app.command()
def certify(model: Model, data: Annotated[Path | None, typer.Argument()] = None) -> None:
    """Show what a model is worth: its certificate, and its error on fresh labelled rows."""
    from pacfourier import tabular

    with input_errors():
        fitted = tabular.load_model(model)
        facts = [*tabular.fit_facts(fitted), *tabular.certificate_facts(fitted.certificate())]
        if data:
            error = fitted.fresh_error(tabular.read_table(data))
            facts += tabular.error_facts("fresh", error)
    show(facts)


@app.command()
def reproduce(
    experiment: Annotated[
        str, typer.Option(help="toy, landmarks, greedy, all (these three) or small-d.")
    ] = "all",
    datasets: Annotated[str, typer.Option(help="Names with commas; else the profile's.")] = "",
    profile: Annotated[str, typer.Option(help="quick, standard or full.")] = "quick",
    seeds: Annotated[int, typer.Option(min=1, help="How many splits.")] = 1,
    data: Annotated[Path | None, typer.Option(help="The folder of the public files.")] = None,
    out: Annotated[Path, typer.Option(help="Where results and report go.")] = Path("results"),
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; one a core.")] = None,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask cluster.")] = None,
) -> None:
    """Repeat the paper's experiments; a run that was killed goes on where it was."""
    from pacfourier import experiments
    from pacfourier.reports.reproduction_report import write_report

    folder = str(data) if data else None
    with input_errors():
        plan = experiments.plan_of(profile, experiment, datasets, seeds)
        experiments.check_data(plan, folder)
        records = experiments.open_records(out)
    with records:
        wanted = experiments.all_cells(plan)
        expected = {cell: experiments.expected_seconds(cell) for cell in wanted}
        cells = experiments.run_plan(plan, records, folder, jobs, scheduler)
        watch(cells, expected, done=records.finished())
        typer.echo(f"Report: {write_report(records, profile, out)}")


@contextmanager
def input_errors() -> Iterator[None]:
    """Turn what the user can repair into one line and the exit code 2."""
    try:
        yield
    except InputError as error:
        typer.echo(f"Error: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(2) from None


def notes(lines: list[str]) -> None:
    """Print what was not read, aside from the results."""
    for line in lines:
        typer.echo(f"Note: {line}", err=True)


def show(facts: list[tuple[str, str]]) -> None:
    """Print facts as a table."""
    table = Table(show_header=False)
    for fact in facts:
        table.add_row(*map(Text, fact))
    Console().print(table)


class RowsASecond(ProgressColumn):
    """How fast rows are read."""

    def render(self, task: Task) -> Text:
        """Return the speed, in words."""
        return Text(f"{task.finished_speed or task.speed or 0:,.0f} rows a second")


@contextmanager
def rows_read(total: int) -> Iterator[Callable[[int], None]]:
    """Show how many rows were read, on standard error; yield what counts them."""
    columns = (BarColumn(), TaskProgressColumn(), RowsASecond(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=total)
        yield lambda n_rows: progress.advance(task, n_rows)


def watch(cells: Iterator[Any], expected: dict[Any, float], done: Collection[Any]) -> None:
    """Show how far a run is; cells count by the seconds they are expected to take."""
    columns = (TextColumn("{task.description:<36}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn()) as progress:
        before = sum(expected.get(cell, 0) for cell in done)
        task = progress.add_task("", total=sum(expected.values()), completed=before)
        for cell in cells:
            label = f"{cell.dataset} {cell.split}, {cell.method} {cell.width:g}"
            progress.update(task, advance=expected[cell], description=label)
