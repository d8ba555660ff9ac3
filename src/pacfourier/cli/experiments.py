"""The command that reproduces the paper's experiments."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from pacfourier.cli.printing import input_errors

if TYPE_CHECKING:
    from pacfourier.experiments.plan import Cell


def reproduce(
    experiment: Annotated[
        str, typer.Option(help="toy, landmarks, greedy, all (these three) or small-d.")
    ] = "all",
    datasets: Annotated[
        str, typer.Option(help="Names separated by commas; by default, those of the profile.")
    ] = "",
    methods: Annotated[
        str, typer.Option(help="Names separated by commas; by default, all of the experiment.")
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
        plan = experiments.plan_of(profile, experiment, datasets, seeds, methods)
        experiments.check_data(plan, folder)
        with experiments.open_records(out) as records:
            wanted = experiments.all_cells(plan)
            expected = {cell: experiments.expected_seconds(cell) for cell in wanted}
            cells = experiments.run_plan(plan, records, folder, jobs, scheduler)
            watch(cells, expected, done=records.finished())
            typer.echo(f"Report: {write_report(records, profile, out)}")


def watch(cells: Iterator["Cell"], expected: dict["Cell", float], done: Collection["Cell"]) -> None:
    """Show the progress of a run, weighting each cell by the seconds it is expected to take."""
    columns = (TextColumn("{task.description:<36}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn()) as progress:
        task = progress.add_task("", total=sum(expected.values()))
        progress.update(task, completed=sum(expected.get(cell, 0) for cell in done))
        for cell in cells:
            label = f"{cell.dataset} {cell.split}, {cell.method} {cell.width:g}"
            progress.update(task, advance=expected[cell], description=label)
