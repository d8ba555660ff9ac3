import numpy as np

from pacfourier.core.boosting.folded import interpolation_table


def test_tables_hold_the_sums_of_codes_at_the_knots(rng):
    weights = rng.standard_normal((4, 3))
    found = interpolation_table(weights)
    for k in range(5):
        np.testing.assert_allclose(found[k], 2 * sum(weights[:k], np.zeros(3)), atol=1e-14)
