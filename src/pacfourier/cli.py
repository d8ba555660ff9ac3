"""The command ``pacfourier``: its arguments, and what it prints.

Each command imports what it needs when it runs, so that the help is shown at once.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pacfourier.errors import InputError
from pacfourier.extras import explain_missing_extra

with explain_missing_extra():
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

if TYPE_CHECKING:
    from pacfourier.experiments.plan import Cell
    from pacfourier.tabular import TabularModel

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

Data = Annotated[Path, typer.Argument(help="A .csv, .csv.gz or .parquet file.")]
Model = Annotated[Path, typer.Argument(help="A .skops file written by 'pacfourier fit'.")]


@app.callback()
def main() -> None:
    """Train certified classifiers on tables, and reproduce the paper's experiments."""


@app.command()
def fit(
    data: Data,
    target: Annotated[str, typer.Option(help="Name of the column that holds the classes.")],
    out: Annotated[Path, typer.Option(help="Where to save the model.")] = Path("model.skops"),
    drop: Annotated[
        list[str] | None, typer.Option(help="A column to leave out; may be repeated.")
    ] = None,
    binary: Annotated[
        bool,
        typer.Option(
            "--binary",
            help="Declare that there are only two classes, for a tighter certificate.",
        ),
    ] = False,
    ties: Annotated[
        str | None,
        typer.Option(
            help="Say 'genuine' if rows repeat because the data take few values, not as copies."
        ),
    ] = None,
    n_frequencies: Annotated[
        int, typer.Option(min=1, max=20000, help="Number of frequencies of the Fourier map.")
    ] = 100,
    epsilon: Annotated[
        float, typer.Option(help="Probability with which each bound may fail.")
    ] = 0.05,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")] = 0,
    report: Annotated[
        Path | None, typer.Option(help="Where to write an .html report, if wanted.")
    ] = None,
) -> None:
    """Train a certified classifier on a table, and save it."""
    from pacfourier import tabular
    from pacfourier.reports.tabular_report import fit_report

    with input_errors():
        tabular.check_output(out, ".skops")
        if report:
            tabular.check_output(report, ".html")
        learner = {"n_frequencies": n_frequencies, "epsilon": epsilon, "seed": seed}
        declared = {"binary": binary, "ties": ties}
        model = fitted_model(data, target, {"drop": drop or (), **declared, **learner})
        html = fit_report(model).encode() if report else b""
        tabular.save_model(model, out)
        if report:
            tabular.write_file(report, html)
    notes(model.record["notes"])
    facts = [*tabular.fit_facts(model), *tabular.certificate_facts(model.certificate())]
    show([*facts, ("run time", f"{model.record['seconds']:.1f} seconds")])


def fitted_model(data: Path, target_column: str, options: dict[str, Any]) -> "TabularModel":
    """Fit a model on a file: in memory if the table fits there, else in passes over the file."""
    from pacfourier import tabular

    if not tabular.is_large(data):
        return tabular.fit_table(tabular.read_table(data), target_column, **options)
    with rows_read(tabular.n_rows_to_read(data)) as advance:
        return tabular.fit_file(data, target_column, advance=advance, **options)


@app.command()
def predict(
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option(help="Where to write the table with the predictions.")] = (
        Path("predictions.csv")
    ),
) -> None:
    """Add the predicted class and the class probabilities to a table."""
    from pacfourier import tabular

    with input_errors():
        tabular.check_output(out, ".csv")
        fitted, table = tabular.load_model(model), tabular.read_table(data)
        predicted = tabular.with_columns(table, fitted.predictions(table))
        tabular.write_file(out, predicted.to_csv(index=False).encode())
    notes(fitted.notes(table))
    typer.echo(f"{len(table)} predictions in {out}")


@app.command()
def certify(
    model: Model,
    data: Annotated[
        Path | None, typer.Argument(help="A table of new rows with their classes, if you have one.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Declare that no row of it was in the table of the fit.")
    ] = False,
) -> None:
    """Show the certificate of a model and its bound on the error, also on new labelled rows."""
    from pacfourier import tabular

    with input_errors():
        fitted = tabular.load_model(model)
        facts = [*tabular.fit_facts(fitted), *tabular.certificate_facts(fitted.certificate())]
        if data:
            error = fitted.fresh_error(tabular.read_table(data), is_fresh=fresh)
            facts += tabular.error_facts("new", error)
    show(facts)


@app.command()
def export(
    model: Annotated[
        Path, typer.Argument(help="A .skops file of a FourierClassifier or a FourierRegressor.")
    ],
    c: Annotated[Path | None, typer.Option("--c", help="Where to write a C99 header.")] = None,
    json: Annotated[
        Path | None, typer.Option("--json", help="Where to write the formula as JSON.")
    ] = None,
    onnx: Annotated[
        Path | None, typer.Option("--onnx", help="Where to write an ONNX graph of float32.")
    ] = None,
) -> None:
    """Write a fitted predictor as C, as JSON or as ONNX."""
    from pacfourier import export, tabular
    from pacfourier.export.predictor_files import load_predictor, onnx_bytes

    formats = (
        (c, ".h", lambda model: export.to_c(model).encode()),
        (json, ".json", lambda model: export.to_json(model).encode()),
        (onnx, ".onnx", onnx_bytes),
    )
    wanted = [(path, suffix, content) for path, suffix, content in formats if path is not None]
    with input_errors():
        if not wanted:
            raise InputError(
                "export must have at least one output, got none: pass --c, --json or --onnx."
            )
        for path, suffix, _ in wanted:
            tabular.check_output(path, suffix)
        fitted = load_predictor(model)
        for path, _, content in wanted:
            try:
                data = content(fitted)
            except ValueError as error:
                raise InputError(str(error)) from None
            tabular.write_file(path, data)
            typer.echo(f"{len(data)} bytes in {path}")


@app.command()
def reproduce(
    experiment: Annotated[
        str, typer.Option(help="toy, landmarks, greedy, all (these three) or small-d.")
    ] = "all",
    datasets: Annotated[
        str, typer.Option(help="Names separated by commas; by default, those of the profile.")
    ] = "",
    profile: Annotated[str, typer.Option(help="quick, standard or full.")] = "quick",
    seeds: Annotated[int, typer.Option(min=1, help="Number of random splits.")] = 1,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the public data files; by default, $PACFOURIER_DATA."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results and the report.")] = (
        Path("results")
    ),
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Number of processes; by default, one per core.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask cluster to run on instead.")
    ] = None,
) -> None:
    """Reproduce the paper's experiments. If interrupted, the command resumes where it stopped."""
    from pacfourier import experiments
    from pacfourier.reports.reproduction_report import write_report

    folder = str(data) if data else None
    with input_errors():
        plan = experiments.plan_of(profile, experiment, datasets, seeds)
        experiments.check_data(plan, folder)
        with experiments.open_records(out) as records:
            wanted = experiments.all_cells(plan)
            expected = {cell: experiments.expected_seconds(cell) for cell in wanted}
            cells = experiments.run_plan(plan, records, folder, jobs, scheduler)
            watch(cells, expected, done=records.finished())
            typer.echo(f"Report: {write_report(records, profile, out)}")


@contextmanager
def input_errors() -> Iterator[None]:
    """Print an ``InputError`` as one line, and exit with code 2."""
    try:
        yield
    except InputError as error:
        typer.echo(f"Error: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(2) from None


def notes(lines: list[str]) -> None:
    """Print notes on standard error, so that they do not mix with the results."""
    for line in lines:
        typer.echo(f"Note: {line}", err=True)


def show(facts: list[tuple[str, str]]) -> None:
    """Print pairs of a name and a value as a table."""
    table = Table(show_header=False)
    for fact in facts:
        table.add_row(*map(Text, fact))
    Console().print(table)


class RowsPerSecond(ProgressColumn):
    """How fast rows are read."""

    def render(self, task: Task) -> Text:
        """Return the speed as text."""
        return Text(f"{task.finished_speed or task.speed or 0:,.0f} rows per second")


@contextmanager
def rows_read(total: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on standard error; yield a function that counts rows."""
    columns = (BarColumn(), TaskProgressColumn(), RowsPerSecond(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=total)
        yield lambda n_rows: progress.advance(task, n_rows)


def watch(cells: Iterator["Cell"], expected: dict["Cell", float], done: Collection["Cell"]) -> None:
    """Show the progress of a run, weighting each cell by the seconds it is expected to take."""
    columns = (TextColumn("{task.description:<36}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn()) as progress:
        task = progress.add_task("", total=sum(expected.values()))
        progress.update(task, completed=sum(expected.get(cell, 0) for cell in done))
        for cell in cells:
            label = f"{cell.dataset} {cell.split}, {cell.method} {cell.width:g}"
            progress.update(task, advance=expected[cell], description=label)
