"""What is to be run: cells, the grids of the supplement, and three profiles."""

import hashlib
from dataclasses import dataclass

CS = tuple(10.0**k for k in range(-5, 5))
GAMMAS = tuple(10.0**k for k in range(-7, 3))
BETAS = tuple(10.0**k for k in range(-3, 4))
# The supplement's rho, as fractions of the number of candidates.
RHOS = tuple(10.0**k for k in range(-4, 1))
N_CANDIDATES = 20_000
LANDMARK_WIDTHS = (8, 16, 32, 64, 128)
# Table 1 has landmarks of this share of the training set.
TABLE_PERCENTAGE = 10

PAPER_EXPERIMENTS = ("toy", "landmarks", "greedy")
EXPERIMENTS = (*PAPER_EXPERIMENTS, "small-d")
# Numbers of frequencies of the comparison at small D.
SMALL_WIDTHS = (5, 10, 20, 50, 100)


@dataclass(frozen=True, order=True)
class Cell:
    """One independent piece of work; its results do not depend on any other's.

    Attributes
    ----------
    profile, experiment, dataset : str
    split : int
    method : str
        A name of ``METHODS``, or "SVM grid" and "SVM".
    width : float
        Frequencies ("greedy"), percentage of landmarks ("landmarks"), bandwidth ("SVM grid").
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
        Landmarks, of the training set.
    landmark_widths, landmark_betas : tuples
        Frequencies a landmark and values of beta, away from the percentage of Table 1, which
        has all.
    svm_rows : int or None
        At most this many training rows choose the bandwidth.
    svm_iterations : int
        At most this many steps of the RBF SVM while it does; -1 means no limit.
    """

    datasets: tuple[str, ...]
    widths: tuple[int, ...]
    percentages: tuple[int, ...]
    landmark_widths: tuple[int, ...] = LANDMARK_WIDTHS
    landmark_betas: tuple[float, ...] = BETAS
    svm_rows: int | None = None
    svm_iterations: int = -1

    def landmark_grid(self, percentage: float) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Return the grids of D and of beta at a percentage of landmarks."""
        if percentage == TABLE_PERCENTAGE:
            return LANDMARK_WIDTHS, BETAS
        return self.landmark_widths, self.landmark_betas


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
    """Return the seed of a key: 32 bits of its hash, whoever asks and in whatever order.

    >>> seed_of("breast", 0, "RFF", 10)
    1012763688
    """
    # Ten frequencies are ten, whether they were written 10 or 10.0.
    whole = (int(part) if isinstance(part, float) and part.is_integer() else part for part in key)
    return int.from_bytes(hashlib.sha256(repr(tuple(whole)).encode()).digest()[:4], "big")
