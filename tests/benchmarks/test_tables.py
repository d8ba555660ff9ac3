"""The benchmark of tables: how far means over splits of the same rows can be trusted."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.tables import Measured, line, split_standard_error


def test_the_standard_error_covers_means_over_splits_that_share_rows(rng):
    """The means of parts of one sample play the role of differences, because their law is known.

    Five parts of a fifth of the rows each overlap. The spread of their mean over many samples must
    be what the formula says; s / sqrt(5) would be a third too small.
    """
    n, k = 200, 5
    means, errors = [], []
    for _ in range(400):
        values = rng.standard_normal(n)
        splits = [rng.permutation(n)[: n // 5] for _ in range(k)]
        found = np.array([values[rows].mean() for rows in splits])
        means.append(found.mean())
        errors.append(split_standard_error(found, 0.25))
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(means), rel=0.15)


@pytest.mark.parametrize(
    ("difference", "verdict"), [(-0.02, "better"), (0.005, "equal"), (0.02, "worse")]
)
def test_a_line_says_whether_a_difference_exceeds_its_standard_error(difference, verdict):
    table = pd.DataFrame({"x": [1, 2], "target": ["a", "b"]})
    errors = np.array([0.1 + difference, 0.1, 0.2, 0.5])
    text = line("small", table, Measured(errors, difference, 0.01))
    assert text.endswith(f"{100 * difference:+.2f} ± 1.00 | {verdict} |")
    assert text.startswith(f"| small | 2 x 1 | {100 * errors[0]:.2f} % | 10.00 % |")
