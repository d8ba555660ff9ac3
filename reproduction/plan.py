"""What can be run: the grids of the paper's supplement, three profiles, and cells of work."""

import hashlib
import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from reproduction.published import published_curves

CS = tuple(10.0**k for k in range(-5, 5))
GAMMAS = tuple(10.0**k for k in range(-7, 3))
BETAS = tuple(10.0**k for k in range(-3, 4))
# The values of rho in the supplement, divided by the number of candidate frequencies.
RHOS = tuple(10.0**k for k in range(-4, 1))
N_CANDIDATES = 20_000
LANDMARK_WIDTHS = (8, 16, 32, 64, 128)
# Table 1 uses this percentage of the training rows as landmarks.
TABLE_PERCENTAGE = 10

TOYS = ("two moons", "four squares")
N_TOY_LANDMARKS = 5
# Toy samples are drawn anew, so there are at least as many.
N_TOY_SAMPLES = 20
GREEDY = ("RFF", "OKRFF", "PBRFF")
LANDMARKS = ("RBF-C", "RBF-R", "PB-C", "PB-R")
ONLY_IN_TABLE = ("PB-C(beta=1)", "PB-C(D=64)")
EXPERIMENTS = ("toy", "landmarks", "greedy")
# An experiment, its methods, and its widths in increasing order.
Grid = tuple[str, Iterable[str], tuple[int, ...]]


@dataclass(frozen=True, order=True)
class Cell:
    """One independent piece of work: its results depend on no other cell.

    The methods of "landmarks" and "greedy" only need the bandwidth of their split.

    Beside ``EXPERIMENTS`` there are "svm", the RBF SVM that chooses the bandwidth, and "posterior",
    the time in which a posterior is computed. The width is the number of frequencies ("greedy"), of
    candidate frequencies ("posterior") or of landmarks ("toy"), or the landmarks in percent of the
    training rows ("landmarks"). The SVM has 0.
    """

    experiment: str
    dataset: str
    split: int
    method: str
    width: float


@dataclass(frozen=True)
class Profile:
    """How much of the paper's grids is run."""

    datasets: tuple[str, ...]
    # Numbers D of frequencies of the greedy methods, and landmarks in percent of the training rows.
    widths: tuple[int, ...]
    percentages: tuple[int, ...]
    n_splits: int = 1
    # Numbers of frequencies per landmark and values of beta, but not at the percentage of Table 1.
    landmark_widths: tuple[int, ...] = LANDMARK_WIDTHS
    landmark_betas: tuple[float, ...] = BETAS
    # At most this many training rows (None: all) and steps (-1: no limit) choose the bandwidth.
    svm_rows: int | None = None
    svm_iterations: int = -1

    def landmark_grid(self, percentage: float) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Return the numbers of frequencies and the betas to try; Table 1 has the whole grid."""
        if percentage == TABLE_PERCENTAGE:
            return LANDMARK_WIDTHS, BETAS
        return self.landmark_widths, self.landmark_betas


# Longest first, so that no worker is left with a long cell at the end.
PAPER_ORDER = ("adult", "mnist17", "mnist49", "mnist56", "farm", "ads", "breast")
STANDARD_WIDTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
PUBLISHED_WIDTHS = tuple(map(int, published_curves()["greedy", "breast", "RFF", "test"]))

PROFILES = {
    "quick": Profile(("breast",), STANDARD_WIDTHS, (1, 5, 10, 25), n_splits=5),
    "standard": Profile(
        PAPER_ORDER,
        STANDARD_WIDTHS,
        (1, 5, 10, 25),
        landmark_widths=(64,),
        landmark_betas=(0.1, 10.0, 1000.0),
        svm_rows=5000,
        svm_iterations=10**6,
    ),
    "full": Profile(PAPER_ORDER, PUBLISHED_WIDTHS, (1, 5, 10, 15, 20, 25)),
}


def cells_of(
    profile: Profile, experiments: Iterable[str], datasets: Iterable[str], n_splits: int
) -> list[Cell]:
    """Return the cells of some experiments of the paper, grouped by split, the widest first."""
    cells: list[Cell] = []
    if "toy" in experiments:
        places = itertools.product(TOYS, range(max(N_TOY_SAMPLES, n_splits)), ("RBF-R", "PB-R"))
        cells += [Cell("toy", *place, N_TOY_LANDMARKS) for place in places]
    grids: list[Grid] = []
    if "landmarks" in experiments:
        grids.append(("landmarks", ONLY_IN_TABLE, (TABLE_PERCENTAGE,)))
        grids.append(("landmarks", LANDMARKS, profile.percentages))
    if "greedy" in experiments:
        grids.append(("greedy", GREEDY, profile.widths))
        grids.append(("posterior", ("OKRFF", "PBRFF"), (N_CANDIDATES,)))
    return cells + grid_cells(grids, datasets, n_splits)


def grid_cells(grids: list[Grid], datasets: Iterable[str], n_splits: int) -> list[Cell]:
    """Return the cells of methods at all their widths, and the SVM cell of each split."""
    cells = []
    for dataset, split in itertools.product(datasets, range(n_splits) if grids else ()):
        cells.append(Cell("svm", dataset, split, "SVM", 0))
        cells += [
            Cell(experiment, dataset, split, method, width)
            for experiment, methods, widths in grids
            for method in methods
            for width in reversed(widths)
        ]
    return cells


def seed_of(*key: object) -> int:
    """Return the seed of a key: 32 bits of its hash, so that no seed depends on the order of work.

    >>> seed_of("breast", 0, "RFF", 10)
    1012763688
    """
    # 10 and 10.0 frequencies must give the same seed.
    whole = (int(part) if isinstance(part, float) and part.is_integer() else part for part in key)
    return int.from_bytes(hashlib.sha256(repr(tuple(whole)).encode()).digest()[:4], "big")
