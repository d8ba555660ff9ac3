"""What a table's model loses when it is written in integers, on the tables of benchmarks/tables.py.

Each table is fitted with 30 frequencies and several seeds: with the default codes, without codes,
and without codes in integers of 8 and of 4 bits. The errors are those on the rows held out.
``--write`` puts the result into docs/export.md.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from benchmarks.pages import markdown
from benchmarks.tables import TABLES

from pacfourier.export import table_integers
from pacfourier.tabular.fitting import fit_table
from pacfourier.tabular.model import FitSettings

PAGE = Path(__file__).parents[1] / "docs" / "export.md"
START, END = "<!-- table of benchmarks/table_integers.py -->", "<!-- end of the table -->"
NO_BREAK = "\N{NO-BREAK SPACE}"
HEADER = (
    "table",
    "default",
    "without codes",
    "integers, 8 bits",
    "integers, 4 bits",
    "constants, 8 bits",
    "constants, 4 bits",
)


def measured(table: pd.DataFrame, seed: int) -> list[float]:
    """Return four errors and two numbers of bytes, in the order of the header."""
    settings = FitSettings(n_frequencies=30, duplicates="genuine", seed=seed)
    coded = fit_table(table, "target", settings)
    plain = fit_table(table, "target", replace(settings, integers=True))
    small = [table_integers(plain, bits=bits) for bits in (8, 4)]
    return [
        coded.results[0].error,
        plain.results[0].error,
        *(found.error for found in small),
        *(found.model.n_bytes for found in small),
    ]


def lines(names: list[str], n_seeds: int) -> Iterator[list[str]]:
    """Give one line per table: the means over seeds."""
    for name in names:
        table = TABLES[name]()
        means = np.mean([measured(table, seed) for seed in range(n_seeds)], axis=0)
        is_amount = table["target"].dtype.kind in "fi" and table["target"].nunique() > 30
        factor, digits, unit = (1, ".3g", "") if is_amount else (100, ".2f", f"{NO_BREAK}%")
        errors = [f"{factor * mean:{digits}}{unit}" for mean in means[:4]]
        yield [name, *errors, *(f"{mean:,.0f}{NO_BREAK}B" for mean in means[4:])]


def main() -> None:
    """Measure tables, and write the page if wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=",".join(TABLES), help="names, by commas")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    options = parser.parse_args()
    found = []
    for line in lines(options.tables.split(","), options.seeds):
        print(line, flush=True)
        found.append(line)
    if options.write:
        before, rest = PAGE.read_text("utf-8").split(START)
        text = markdown(HEADER, found)
        PAGE.write_text(f"{before}{START}\n{text}\n{END}{rest.split(END)[1]}", "utf-8")


if __name__ == "__main__":
    main()
