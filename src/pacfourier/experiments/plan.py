"""What can be run: the grids of the paper's supplement, three profiles, and cells of work."""

import hashlib
from dataclasses import dataclass

CS = tuple(10.0**k for k in range(-5, 5))
GAMMAS = tuple(10.0**k for k in range(-7, 3))
BETAS = tuple(10.0**k for k in range(-3, 4))
# The values of rho in the supplement, divided by the number of candidate frequencies.
RHOS = tuple(10.0**k for k in range(-4, 1))
N_CANDIDATES = 20_000
LANDMARK_WIDTHS = (8, 16, 32, 64, 128)
# Table 1 uses this percentage of the training rows as landmarks.
TABLE_PERCENTAGE = 10

PAPER_EXPERIMENTS = ("toy", "landmarks", "greedy")
EXPERIMENTS = (*PAPER_EXPERIMENTS, "small-d")
# Numbers of frequencies in the comparison at small D.
SMALL_WIDTHS = (5, 10, 20, 50, 100)


@dataclass(frozen=True, order=True)
class Cell:
    """One independent piece of work: its results depend on no other cell.

    The methods of "greedy", "landmarks" and "small-d" only need the bandwidth of their split.

    Attributes
    ----------
    profile, experiment, dataset : str
    split : int
    method : str
        A name of ``METHODS``, or "SVM grid" or "SVM".
    width : float
        The number of frequencies ("greedy", "small-d"), the percentage of landmarks
        ("landmarks") or the bandwidth ("SVM grid").
    """

    profile: str
    experiment: str
    dataset: str
    split: int
    method: str
    width: float


@dataclass(frozen=True)
class Profile:
    """How much of the paper's grids is run.

    Attributes
    ----------
    datasets : tuple of str
    widths : tuple of int
        Numbers D of frequencies of the greedy methods.
    percentages : tuple of int
        Numbers of landmarks, in percent of the training rows.
    landmark_widths, landmark_betas : tuples
        Numbers of frequencies per landmark, and values of beta. They do not apply to the
        percentage of Table 1, which always has the whole grid.
    svm_rows : int or None
        Use at most this many training rows to choose the bandwidth. None means all rows.
    svm_iterations : int
        Stop the RBF SVM after this many steps while the bandwidth is chosen; -1 means no limit.
    """

    datasets: tuple[str, ...]
    widths: tuple[int, ...]
    percentages: tuple[int, ...]
    landmark_widths: tuple[int, ...] = LANDMARK_WIDTHS
    landmark_betas: tuple[float, ...] = BETAS
    svm_rows: int | None = None
    svm_iterations: int = -1


def landmark_grid(profile: Profile, percentage: float) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the numbers of frequencies and the betas to try at a percentage of landmarks."""
    if percentage == TABLE_PERCENTAGE:
        return LANDMARK_WIDTHS, BETAS
    return profile.landmark_widths, profile.landmark_betas


# Longest first, so that no worker is left with a long cell at the end.
PAPER_ORDER = ("adult", "mnist17", "mnist49", "mnist56", "farm", "ads", "breast")
STANDARD_WIDTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
PUBLISHED_WIDTHS = (
    *range(1, 5),
    *range(5, 50, 5),
    *range(50, 100, 10),
    *range(100, 200, 20),
    *range(200, 300, 25),
    *range(300, 1000, 50),
    *range(1000, 2000, 250),
    *range(2000, 5001, 500),
)

PROFILES = {
    "quick": Profile(("breast",), STANDARD_WIDTHS, (1, 5, 10, 25)),
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


def seed_of(*key: object) -> int:
    """Return the seed of a key: 32 bits of its hash, so that no seed depends on the order of work.

    >>> seed_of("breast", 0, "RFF", 10)
    1012763688
    """
    # 10 and 10.0 frequencies must give the same seed.
    whole = (int(part) if isinstance(part, float) and part.is_integer() else part for part in key)
    return int.from_bytes(hashlib.sha256(repr(tuple(whole)).encode()).digest()[:4], "big")
