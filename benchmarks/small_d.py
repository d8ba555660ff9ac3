"""Compare maps with few frequencies, under the protocol of the paper, for docs/small-d.md.

Beside the methods of the paper there are draws without repetition
("distinct"), Nystroem maps with as many columns as the Fourier maps, and maps with default
settings, which ignore the bandwidth. ``gbrff.py`` adds the method of another paper. A run that was
interrupted goes on where it was. It ends with the mean test errors in %, as Markdown.
"""

import argparse
from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from benchmarks.gbrff import boosted_waves
from sklearn.kernel_approximation import Nystroem

from pacfourier import OKRFF, PBRFF, RFF, BoostedRFF, GibbsRFF
from pacfourier.data.selection import _kmeans_centroids
from reproduction.datasets import DATASETS
from reproduction.methods import METHODS, Method, fitted_posterior, mapped
from reproduction.plan import BETAS, GREEDY, N_CANDIDATES, PROFILES, RHOS, grid_cells
from reproduction.protocol import Bench, Row, Setting
from reproduction.results import curve, datasets_of
from reproduction.runner import read_lines, run

WIDTHS = (5, 10, 20, 50, 100)


def distinct_features(bench: Bench, width: float, *, estimator: type) -> Iterator[Setting]:
    """Yield maps with frequencies of a posterior, drawn without repetition."""
    fitted = fitted_posterior(bench, estimator)
    name, grid = ("beta", BETAS) if estimator is PBRFF else ("rho", RHOS)
    for value in grid:
        chosen = {name: value if estimator is PBRFF else value * N_CANDIDATES}
        model = fitted.redraw(n_frequencies=int(width), draw="distinct", **chosen)
        yield mapped(bench, chosen, model)


def median_features(bench: Bench, width: float) -> Iterator[Setting]:
    """Yield one map of the prior whose bandwidth is the median distance; it needs no labels."""
    model = RFF(int(width), gamma="median", random_state=bench.seed("RFF median", width))
    yield mapped(bench, {}, model.fit(bench.parts.X_train))


@lru_cache(maxsize=1)
def fitted_pbrff(bench: Bench) -> PBRFF:
    """Return PBRFF with default settings, fitted once for all widths and draws of a split."""
    seed = bench.seed("candidates")
    model = PBRFF(draw="complementary", target_type="binary", random_state=seed)
    return model.fit(bench.parts.X_train, bench.parts.y_train)


def default_features(bench: Bench, width: float, *, draw: str) -> Iterator[Setting]:
    """Yield one map of PBRFF with default settings but for the draw."""
    yield mapped(bench, {}, fitted_pbrff(bench).redraw(n_frequencies=int(width), draw=draw))


@lru_cache(maxsize=1)
def fitted_gibbs(bench: Bench) -> GibbsRFF:
    """Return GibbsRFF with default settings, fitted once for all widths of a split."""
    model = GibbsRFF(max(WIDTHS), random_state=bench.seed("GibbsRFF"))
    return model.fit(bench.parts.X_train, bench.parts.y_train)


def sampled_features(bench: Bench, width: float) -> Iterator[Setting]:
    """Yield one map drawn from the continuous posterior."""
    yield mapped(bench, {}, fitted_gibbs(bench).redraw(n_frequencies=int(width)))


def boosted_features(bench: Bench, width: float) -> Iterator[Setting]:
    """Yield one boosted map with default settings."""
    model = BoostedRFF(int(width), random_state=bench.seed("BoostedRFF", width))
    yield mapped(bench, {}, model.fit(bench.parts.X_train, bench.parts.y_train))


def nystroem_features(bench: Bench, width: float, *, basis: str) -> Iterator[Setting]:
    """Yield one Nystroem map with as many columns as the Fourier maps have."""
    X = bench.parts.X_train
    count = min(2 * int(width), X.shape[0])
    seed = bench.seed("Nystroem", basis, width)
    points = X if basis == "uniform" else _kmeans_centroids(X, count, np.random.default_rng(seed))
    model = Nystroem(gamma=bench.gamma, n_components=count, random_state=seed).fit(points)
    yield mapped(bench, {}, model)


SMALL_D: dict[str, Method] = {
    **{name: METHODS[name] for name in GREEDY},
    "OKRFF distinct": partial(distinct_features, estimator=OKRFF),
    "PBRFF distinct": partial(distinct_features, estimator=PBRFF),
    "Nystroem uniform": partial(nystroem_features, basis="uniform"),
    "Nystroem k-means": partial(nystroem_features, basis="kmeans"),
    "RFF median": median_features,
    "PBRFF default": partial(default_features, draw="weighted"),
    "PBRFF complementary": partial(default_features, draw="complementary"),
    "GibbsRFF": sampled_features,
    "GBRFF": partial(boosted_waves, is_ensemble=False),
    "GBRFF ensemble": partial(boosted_waves, is_ensemble=True),
    "BoostedRFF": boosted_features,
}


def tables(rows: list[Row]) -> str:
    """Return one table per data set: mean test errors in % by method and width."""
    lines = []
    for dataset in datasets_of(rows, "small-d"):
        (svm,) = curve(rows, "svm", dataset, "SVM").values()
        lines += [f"### {dataset}", "", f"RBF SVM: {svm.mean:.2f} %.", ""]
        lines += ["| method | D = 5 | 10 | 20 | 50 | 100 |", "| --- " * 6 + "|"]
        for method in SMALL_D:
            errors = curve(rows, "small-d", dataset, method).values()
            if errors:
                lines.append(f"| {method} | {' | '.join(f'{e.mean:.2f}' for e in errors)} |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Run the cells that are not in the file yet, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=[*DATASETS])
    parser.add_argument("--methods", nargs="+", choices=SMALL_D, default=[*SMALL_D])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("results/small-d.jsonl"))
    parser.add_argument("--jobs", type=int, default=-1, help="processes; default: one per core")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    grid = [("small-d", options.methods, WIDTHS)]
    cells = grid_cells(grid, options.datasets, options.splits)
    for cell in run(cells, PROFILES["standard"], options.out, options.jobs, SMALL_D):
        print(f"{cell.dataset} {cell.split}, {cell.method} {cell.width:g}", flush=True)
    print(tables([*read_lines(options.out).values()]))


if __name__ == "__main__":
    main()
