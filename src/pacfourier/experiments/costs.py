"""How long a cell will take, roughly: for the time that is left, not for any result."""

from pacfourier.experiments.plan import BETAS, CS, N_CANDIDATES, PROFILES, RHOS, Cell

# Training samples, and inputs of each that are not zero.
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
# Multiplications a second of one core: in single precision for maps, in double for machines.
MAP_SPEED, MACHINE_SPEED = 8e10, 1.5e10
NEWTON_STEPS = 3


def expected_seconds(cell: Cell) -> float:
    """Return a rough number of seconds of a cell, from its count of multiplications."""
    n, d = SIZES.get(cell.dataset, SMALL)
    profile = PROFILES[cell.profile]
    frequencies, settings, columns = 0.0, 0, 0.0
    if cell.experiment == "svm":
        rows = n if cell.method == "SVM" else min(n, profile.svm_rows or n)
        return 0.05 + 3000 * rows**2 / MACHINE_SPEED
    if cell.experiment in ("greedy", "small-d"):
        settings = {"PBRFF": len(BETAS), "OKRFF": len(RHOS)}.get(cell.method.split()[0], 1)
        columns = 2 * cell.width
        frequencies = settings * cell.width + (N_CANDIDATES if settings > 1 else 0)
    if cell.experiment == "landmarks":
        widths, betas = profile.landmark_grid(cell.width)
        columns = n * cell.width / 100
        is_learned = cell.method.startswith("PB")
        settings = len(widths) * len(betas) if is_learned else 1
        frequencies = 2 * columns * sum(widths) if is_learned else 0
    return 0.05 + n * d * frequencies / MAP_SPEED + settings * path_seconds(n, columns)


def path_seconds(n_samples: float, n_columns: float) -> float:
    """Return the seconds of a linear SVM path: a Gram matrix, then a few Newton steps a C."""
    columns = min(n_samples, n_columns)
    step = columns**3 / 3 + 40 * n_samples * columns
    return (n_samples * columns**2 + NEWTON_STEPS * len(CS) * step) / MACHINE_SPEED
