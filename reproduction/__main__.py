"""Run the paper's experiments and write a report. If interrupted, the command goes on where it was.

Files in the folder that PACFOURIER_DATA names are read first; others are downloaded.
"""

import argparse
import sys
from pathlib import Path

from reproduction.claims import CLAIMS, judge
from reproduction.datasets import DATASETS, load
from reproduction.plan import EXPERIMENTS, PROFILES, TOYS, cells_of
from reproduction.report import write_report
from reproduction.runner import read_lines, run


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser("python -m reproduction", description=__doc__)
    parser.add_argument("--profile", choices=PROFILES, default="quick")
    parser.add_argument("--experiments", nargs="+", choices=EXPERIMENTS, default=EXPERIMENTS)
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, help="default: the profile's")
    parser.add_argument("--splits", type=int, help="number of splits; default: the profile's")
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; default: one per core")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run what the command line asks for, print the claims and write the report."""
    options = options_of(arguments)
    profile, folder = PROFILES[options.profile], options.out / options.profile
    datasets, n_splits = options.datasets or profile.datasets, options.splits or profile.n_splits
    cells = cells_of(profile, options.experiments, datasets, n_splits)
    try:
        # A file that is missing is found before the work starts.
        for name in {cell.dataset for cell in cells} - {*TOYS}:
            load(name)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "cells.jsonl"
        for cell in run(cells, profile, path, options.jobs):
            print(cell.dataset, cell.split, cell.method, f"{cell.width:g}", file=sys.stderr)
        rows = [line for _, line in sorted(read_lines(path).items())]
        judgements = [judge(claim, rows) for claim in CLAIMS]
        print(*judgements, f"Report: {write_report(rows, judgements, folder)}", sep="\n")
    except (OSError, ValueError) as error:
        sys.exit(f"Error: {error}")


if __name__ == "__main__":
    main()
