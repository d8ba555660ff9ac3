"""A rough guess of how long a cell takes: only the progress bar uses it, never a result."""

from pacfourier.experiments.plan import (
    BETAS,
    CS,
    N_CANDIDATES,
    PROFILES,
    RHOS,
    Cell,
    landmark_grid,
)

# Number of training rows, and of inputs per row that are not zero.
SIZES = {
    "ads": (1967, 1554),
    "adult": (26048, 108),
    "breast": (340, 30),
    "farm": (2485, 2000),
    "mnist17": (9101, 784),
    "mnist49": (8268, 784),
    "mnist56": (7912, 784),
}
SMALL = (300, 64)
# Multiplications per second on one core: maps in single precision, SVMs in double precision.
MAP_SPEED, MACHINE_SPEED = 8e10, 1.5e10
NEWTON_STEPS = 3


def expected_seconds(cell: Cell) -> float:
    """Return roughly how many seconds a cell takes, from its number of multiplications."""
    n, d = SIZES.get(cell.dataset, SMALL)
    profile = PROFILES[cell.profile]
    frequencies, n_settings, columns = 0.0, 0, 0.0
    if cell.experiment == "svm":
        rows = n if cell.method == "SVM" else min(n, profile.svm_rows or n)
        return 0.05 + 3000 * rows**2 / MACHINE_SPEED
    if cell.experiment in ("greedy", "small-d"):
        n_settings = {"PBRFF": len(BETAS), "OKRFF": len(RHOS)}.get(cell.method.split()[0], 1)
        columns = 2 * cell.width
        frequencies = n_settings * cell.width + (N_CANDIDATES if n_settings > 1 else 0)
    if cell.experiment == "landmarks":
        widths, betas = landmark_grid(profile, cell.width)
        columns = n * cell.width / 100
        is_learned = cell.method.startswith("PB")
        n_settings = len(widths) * len(betas) if is_learned else 1
        frequencies = 2 * columns * sum(widths) if is_learned else 0
    return 0.05 + n * d * frequencies / MAP_SPEED + n_settings * path_seconds(n, columns)


def path_seconds(n_samples: float, n_columns: float) -> float:
    """Return the seconds of a linear SVM path: a Gram matrix, then a few Newton steps per C."""
    columns = min(n_samples, n_columns)
    step = columns**3 / 3 + 40 * n_samples * columns
    return (n_samples * columns**2 + NEWTON_STEPS * len(CS) * step) / MACHINE_SPEED
